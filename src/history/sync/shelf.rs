//! Bundles on a shelf: a place that keeps files for each ref and knows nothing of what is in them, as a git host or a
//! bucket does. What is there already is what its bundles end with.

use std::collections::{BTreeMap, BTreeSet};

use super::carried::Carried;
use super::carry::{Load, Want};
use super::erased::{erased_on, named_on};
use super::here::Here;
use super::shelved::{OnOffer, Shelved, ShelvedFile};
use super::{Answers, Carries, ErasedThere, LeftOut, Peer, PeerRef, PeerRefs, RefMove};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::history::bundle::{BundleTip, FileState, KeptFile};
use crate::history::load;
use crate::history::repo::Repo;
use crate::model::RefName;
use crate::model::secret::Leaving;

/// Where bundles are put and taken from.
pub trait Shelf {
    /// All refs that there are, and what stands in the place of one and is none.
    fn list(&mut self) -> Result<OnOffer>;

    /// A bundle of a ref, by its number from 0.
    fn read(&mut self, row: &Shelved, number: usize) -> Result<Vec<u8>>;

    /// Puts a ref where it is to be, if it is still as it was: with the first of its bundles, as many as it has ends but for
    /// the new one, and that behind them.
    ///
    /// # Errors
    ///
    /// [`Error::RefMoved`] where it is not as it was.
    fn put(&mut self, was: Option<&Shelved>, is: &Shelved, bundle: Option<&[u8]>) -> Result<()>;

    /// Takes a ref away, if it is still as it was.
    ///
    /// # Errors
    ///
    /// As [`Shelf::put`].
    fn remove(&mut self, was: &Shelved) -> Result<()>;
}

/// What is put on a shelf with a ref.
struct Pending {
    /// How many of the bundles that there are stay.
    kept: usize,
    /// The new one.
    bundle: Vec<u8>,
    /// The session files in it.
    files: Vec<KeptFile>,
}

/// A shelf, as somebody whose repository is `mine` sees it.
pub struct OnShelf<'a, S> {
    mine: &'a Repo,
    shelf: S,
    rows: Vec<Shelved>,
    left_out: Vec<LeftOut>,
    /// What is put there once its ref moves.
    pending: BTreeMap<RefName, Pending>,
}

impl<'a, S: Shelf> OnShelf<'a, S> {
    /// Looks what is there.
    ///
    /// # Errors
    ///
    /// The shelf's.
    pub fn new(mine: &'a Repo, mut shelf: S) -> Result<Self> {
        let OnOffer { rows, left_out } = shelf.list()?;
        Ok(Self {
            mine,
            rows,
            left_out,
            shelf,
            pending: BTreeMap::new(),
        })
    }

    fn row(&self, name: &RefName) -> Option<&Shelved> {
        self.rows.iter().find(|row| row.row.name == *name)
    }

    /// How many of a ref's bundles are on the path to a commit, and the last of their ends with its depth.
    fn shared(
        &self,
        name: &RefName,
        tip: &CommitHash,
    ) -> Result<(usize, Option<(u64, CommitHash)>)> {
        let view = self.mine.store.read()?;
        let ends = self.row(name).map_or(&[][..], |row| &row.ends);
        for (at, end) in ends.iter().enumerate().rev() {
            if let Some(known) = view.commit(end)?
                && view.is_ancestor(end, tip)?
            {
                return Ok((at + 1, Some((known.depth, *end))));
            }
        }
        Ok((0, None))
    }

    /// The session files behind a path that its bundles there do not hold, as far as that was written down.
    fn unshelved(&self, mine: &mut Here<'_>, path: &BundleTip) -> Result<Vec<KeptFile>> {
        let (kept, _) = self.shared(&path.name, &path.commit)?;
        let shelved = self.row(&path.name).map_or(&[][..], |row| &row.files);
        let mut files = mine.kept_files(&[path.commit])?;
        files.retain(|file| {
            let is_it = |it: &&ShelvedFile| {
                it.bundle < kept
                    && it.file.session == file.session
                    && it.file.fingerprint == file.fingerprint
            };
            let known = shelved.iter().filter(is_it).map(|it| it.file.commits);
            known.max().is_none_or(|commits| commits < file.commits)
        });
        Ok(files)
    }

    /// What goes with a ref that is put there: its new bundle, and what is written down of all.
    fn put(&mut self, row: PeerRef, pending: Option<Pending>) -> Result<()> {
        let (name, commit) = (row.name.clone(), row.commit);
        let was = self.row(&name).cloned();
        let mut is = match &was {
            Some(was) => Shelved { row, ..was.clone() },
            None => Shelved {
                erased: erased_on(&*self.mine.store.read()?, &[commit])?,
                row,
                ends: Vec::new(),
                files: Vec::new(),
            },
        };
        let kept = match &pending {
            Some(pending) => pending.kept,
            None => self.shared(&name, &commit)?.0,
        };
        is.ends.truncate(kept);
        is.files.retain(|it| it.bundle < kept);
        let bundle = pending.map(|pending| {
            is.ends.push(commit);
            let files = pending.files.into_iter();
            let files = files.map(|file| ShelvedFile { file, bundle: kept });
            is.files.extend(files);
            pending.bundle
        });
        if is.ends.last() != Some(&commit) {
            // It ends before the commit, and nothing was put behind it.
            return Err(Error::overtaken(name.to_string()));
        }
        self.shelf.put(was.as_ref(), &is, bundle.as_deref())?;
        self.rows.retain(|row| row.row.name != name);
        self.rows.push(is);
        Ok(())
    }
}

impl<S: Shelf> Carries for OnShelf<'_, S> {
    fn compare(&mut self, _: &mut Here<'_>, wants: &mut [Want]) -> Result<()> {
        for want in wants {
            let (_, base) = self.shared(&want.name, &want.commit)?;
            want.settle(base);
        }
        Ok(())
    }

    fn missing_files(&mut self, mine: &mut Here<'_>, paths: &[BundleTip]) -> Result<Vec<KeptFile>> {
        let mut files: Vec<KeptFile> = Vec::new();
        for path in paths {
            for file in self.unshelved(mine, path)? {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        Ok(files)
    }

    fn send(&mut self, mine: &mut Here<'_>, mut load: Load<'_>) -> Result<Carried> {
        let mut done = Carried::default();
        self.compare(mine, &mut load.wants)?;
        let all = load.wants.len() as u64;
        for (at, want) in load.wants.iter().enumerate() {
            (load.progress)(at as u64, all)?;
            let path = want.tip();
            let files = if load.sources {
                self.unshelved(mine, &path)?
            } else {
                Vec::new()
            };
            if want.is_there() && files.is_empty() {
                continue;
            }
            let pending = self.made(&path, files, &mut done)?;
            self.pending.insert(want.name.clone(), pending);
        }
        // Refs that stay where they are may lack files all the same.
        let moving = |name: &RefName| load.wants.iter().any(|want| want.name == *name);
        let staying = load.paths.iter().filter(|path| !moving(&path.name));
        for path in staying.filter(|_| load.sources) {
            let Some(row) = self.row(&path.name).map(|row| row.row.clone()) else {
                continue;
            };
            // Where it has gone on there, whoever did has the rest.
            let files = if row.commit == path.commit {
                self.unshelved(mine, path)?
            } else {
                Vec::new()
            };
            if !files.is_empty() {
                let pending = self.made(path, files, &mut done)?;
                self.put(row, Some(pending))?;
            }
        }
        Ok(done)
    }

    fn bring(&mut self, mine: &mut Here<'_>, load: Load<'_>) -> Result<Carried> {
        let mut done = Carried::default();
        let all = load.wants.len() as u64;
        for (at, want) in load.wants.iter().enumerate() {
            (load.progress)(at as u64, all)?;
            let Some(row) = self.rows.iter().find(|row| row.row.name == want.name) else {
                continue;
            };
            let here = mine.has(&row.ends)?;
            let first = here.iter().rposition(|is_here| *is_here);
            let first = first.map_or(0, |at| at + 1);
            for number in first..row.ends.len() {
                let bundle = self.shelf.read(row, number)?;
                let brought = mine.take(&bundle)?;
                done.add(&bundle, brought);
            }
            if !load.sources {
                continue;
            }
            let files: Vec<KeptFile> = row.files.iter().map(|it| it.file.clone()).collect();
            let states = mine.file_states(&[row.row.commit], &files)?;
            let mut numbers = BTreeSet::new();
            for (file, state) in row.files.iter().zip(states) {
                match state {
                    FileState::Here => {}
                    FileState::Refused => done.refused_files += 1,
                    FileState::Missing | FileState::Unrecorded => {
                        numbers.insert(file.bundle);
                    }
                }
            }
            for number in numbers.into_iter().filter(|number| *number < first) {
                let bundle = self.shelf.read(row, number)?;
                let brought = mine.take(&bundle)?;
                done.add(&bundle, brought);
            }
        }
        Ok(done)
    }
}

impl<S: Shelf> OnShelf<'_, S> {
    /// A bundle with what is missing of a path, and with these files.
    fn made(&self, path: &BundleTip, files: Vec<KeptFile>, done: &mut Carried) -> Result<Pending> {
        let (kept, _) = self.shared(&path.name, &path.commit)?;
        let tips = std::slice::from_ref(path);
        let (bundle, made) = self
            .mine
            .bundle_with_files(tips, &files, Leaving::Allowed)?;
        done.brought.commits += made.commits;
        done.brought.contents += made.contents;
        done.brought.sources += made.sources;
        done.size_bytes += bundle.len() as u64;
        Ok(Pending {
            kept,
            bundle,
            files,
        })
    }
}

impl<S: Shelf> Peer for OnShelf<'_, S> {
    fn refs(&mut self) -> Result<PeerRefs> {
        let refs = self.rows.iter().map(|row| row.row.clone());
        Ok(PeerRefs {
            refs: refs.collect(),
            left_out: self.left_out.clone(),
            ..PeerRefs::default()
        })
    }

    fn move_refs(&mut self, _: &str, moves: &[RefMove]) -> Result<()> {
        for to in moves {
            let Some(commit) = to.new else {
                if let Some(was) = self.row(&to.name).cloned() {
                    self.shelf.remove(&was)?;
                    self.rows.retain(|row| row.row.name != to.name);
                }
                continue;
            };
            let depth = load::commit(&*self.mine.store.read()?, &commit)?.depth;
            let row = PeerRef {
                name: to.name.clone(),
                commit,
                depth,
                beside: to.beside.clone(),
            };
            let pending = self.pending.remove(&to.name);
            self.put(row, pending)?;
        }
        Ok(())
    }

    /// A shelf reads nothing, and keeps what it has: what was erased is written beside the refs, for whoever pulls.
    fn erased(&mut self, contents: &[ContentHash]) -> Result<ErasedThere> {
        let mut listed = BTreeSet::new();
        for was in self.rows.clone() {
            let named = {
                let view = self.mine.store.read()?;
                if view.commit(&was.row.commit)?.is_none() {
                    continue;
                }
                named_on(&*view, &[was.row.commit])?
            };
            let is_new = |it: &&ContentHash| named.contains(it) && !was.erased.contains(it);
            let new: Vec<ContentHash> = contents.iter().filter(is_new).copied().collect();
            if new.is_empty() {
                continue;
            }
            let mut is = was.clone();
            is.erased.extend(&new);
            match self.shelf.put(Some(&was), &is, None) {
                Ok(()) => {}
                // Who has gone on from it tells the rest, or the next push does.
                Err(Error::RefMoved { .. }) => continue,
                Err(error) => return Err(error),
            }
            listed.extend(new);
            let row = self.rows.iter_mut().find(|row| **row == was);
            if let Some(row) = row {
                *row = is;
            }
        }
        Ok(ErasedThere {
            listed: listed.len() as u64,
            ..ErasedThere::default()
        })
    }

    fn erasures(&mut self, refs: &[PeerRef]) -> Result<Vec<ContentHash>> {
        let rows = self.rows.iter();
        let rows = rows.filter(|row| refs.iter().any(|it| it.name == row.row.name));
        Ok(rows.flat_map(|row| row.erased.iter().copied()).collect())
    }
}
