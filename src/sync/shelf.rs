//! Bundles on a shelf: a place that keeps files and knows nothing of what is in them, as a git host or a bucket does. All
//! refs there share the bundles; an index says which there are, and it alone decides what is there.

mod bring;

use std::collections::{BTreeMap, BTreeSet};

use super::carried::Carried;
use super::carry::{self, Load, Want};
use super::erased::{erased_on, named_on};
use super::here::Here;
use super::layout::{Layout, New};
use super::shelf_push::Putting;
use super::shelved::{Shelf, Shelved};
use super::{Answers, Carries, ErasedThere, Peer, PeerRef, PeerRefs, RefMove, strange};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, hex};
use crate::repo::ancestry::leads_to;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::View;
use crate::sync::bundle::{BundleTip, Files, KeptFile, Packing, Survey, begins_with, here};

/// How often it begins again where others put something meanwhile.
const TRIES: usize = 32;

/// A shelf, as somebody whose repository is `mine` sees it.
pub struct OnShelf<'a, S> {
    mine: &'a Repo,
    shelf: S,
    is: Shelved,
    /// What is put there once refs move.
    pending: Vec<New>,
}

/// What is to become of a shelf.
#[derive(Default)]
struct Change<'a> {
    moves: &'a [RefMove],
    /// Messages that were erased here.
    erased: &'a [ContentHash],
}

impl<'a, S: Shelf> OnShelf<'a, S> {
    /// Looks what is there.
    ///
    /// # Errors
    ///
    /// The shelf's.
    pub fn new(mine: &'a Repo, mut shelf: S) -> Result<Self> {
        Ok(Self {
            mine,
            is: shelf.look()?,
            shelf,
            pending: Vec::new(),
        })
    }

    /// The session files behind a path that no bundle there holds, and those that may hold what was erased there.
    fn unshelved(&self, mine: &mut Here<'_>, path: &BundleTip) -> Result<(Vec<KeptFile>, u64)> {
        let mut files = mine.kept_files(&[path.commit])?;
        let there = self.is.bundles.iter().flat_map(|it| &it.files);
        let pending = self.pending.iter().flat_map(|it| &it.files);
        let known: Vec<&KeptFile> = there.chain(pending).collect();
        files.retain(|file| {
            let is_it =
                |it: &&&KeptFile| it.session == file.session && it.fingerprint == file.fingerprint;
            let commits = known.iter().filter(is_it).map(|it| it.commits);
            commits.max().is_none_or(|commits| commits < file.commits)
        });
        if files.is_empty() || self.is.erased.is_empty() {
            return Ok((files, 0));
        }
        let named = named_on(&*self.mine.store.read()?, &[path.commit])?;
        match self
            .is
            .erased
            .iter()
            .any(|it| named.binary_search(it).is_ok())
        {
            true => Ok((Vec::new(), files.len() as u64)),
            false => Ok((files, 0)),
        }
    }

    /// Puts what is pending there and moves refs, all at once. Whoever is overtaken begins again with what is there then.
    fn settle(&mut self, change: &Change<'_>) -> Result<()> {
        let mut read = BTreeMap::new();
        for _ in 0..TRIES {
            if !self.goes_on()? {
                break;
            }
            match self.laid(change, &mut read) {
                Ok(Some(is)) => {
                    self.is = is;
                    self.pending.clear();
                    return Ok(());
                }
                Ok(None) => self.is = self.shelf.look()?,
                // A bundle is gone: somebody has folded it, or it is lost.
                Err(Error::Overtaken { .. }) => {
                    let now = self.shelf.look()?;
                    if now == self.is {
                        return Err(strange("has lost a bundle"));
                    }
                    self.is = now;
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::overtaken("what is there"))
    }

    /// Whether all that the pending bundles go on from is there still.
    fn goes_on(&self) -> Result<bool> {
        let needs = self
            .pending
            .iter()
            .flat_map(|it| it.survey.needs.iter().copied());
        let needs: Vec<CommitHash> = needs.collect();
        let there = Putting::of(self.mine, &self.is, &self.pending)?.has(&needs)?;
        Ok(!there.contains(&false))
    }

    /// What is there once it was put; none: it is not as it was looked at.
    fn laid(
        &mut self,
        change: &Change<'_>,
        read: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<Option<Shelved>> {
        let view = self.mine.store.read()?;
        let mut layout = Layout::of(&mut self.shelf, self.is.clone(), read);
        let mut loses = false;
        let mut erased: BTreeSet<ContentHash> = change.erased.iter().copied().collect();
        for to in change.moves {
            let was = layout.is.get(&to.name).map(|row| row.commit);
            // It may have come through before, and the answer got lost.
            if was != to.old && was != to.new {
                return Err(moved(to, was));
            }
            loses |= to.is_forced || to.new.is_none();
            let Some(commit) = to.new else {
                layout.is.unset(&to.name);
                continue;
            };
            if was.is_none() {
                erased.extend(erased_on(&*view, &[commit])?);
            }
            layout.is.set(PeerRef {
                name: to.name.clone(),
                commit,
                depth: load::commit(&*view, &commit)?.depth,
                beside: to.beside.clone(),
            });
        }
        erased.retain(|it| !layout.is.erased.contains(it));
        layout.is.erased.extend(&erased);
        for new in &self.pending {
            supersede(&*view, &mut layout.is, new)?;
            layout.add(new)?;
        }
        layout.erase(&*view, &erased)?;
        if loses {
            layout.prune()?;
        }
        layout.fold()?;
        drop(view);
        layout.put()
    }
}

impl<S: Shelf> OnShelf<'_, S> {
    /// A bundle with a session file alone, and its records of what leads to a commit.
    fn with_file(&self, path: &BundleTip, file: KeptFile, done: &mut Carried) -> Result<New> {
        let tips = [BundleTip {
            after: Some(path.commit),
            ..path.clone()
        }];
        let files = vec![file];
        let (bytes, made) = self
            .mine
            .bundle_packed(&tips, Files::These(&files), Packing::Small)?;
        done.brought.sources += made.sources;
        done.size_bytes += bytes.len() as u64;
        Ok(New {
            survey: Survey::of(&bytes)?,
            bytes,
            files,
        })
    }
}

impl<S: Shelf> Carries for OnShelf<'_, S> {
    fn compare(&mut self, mine: &mut Here<'_>, wants: &mut [Want]) -> Result<()> {
        let mut putting = Putting::of(self.mine, &self.is, &self.pending)?;
        carry::compare(mine, &mut putting, wants)
    }

    fn missing_files(&mut self, mine: &mut Here<'_>, paths: &[BundleTip]) -> Result<Vec<KeptFile>> {
        let mut files: Vec<KeptFile> = Vec::new();
        for path in paths {
            for file in self.unshelved(mine, path)?.0 {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        Ok(files)
    }

    fn send(&mut self, mine: &mut Here<'_>, mut load: Load<'_>) -> Result<Carried> {
        let is_still = load.wants.is_empty();
        let (paths, with_files) = (std::mem::take(&mut load.paths), load.sources);
        let mut putting = Putting::of(self.mine, &self.is, &self.pending)?;
        let mut done = carry::carry_commits(mine, &mut putting, load)?;
        self.pending.append(&mut putting.new);
        for path in paths.iter().filter(|_| with_files) {
            let (files, refused) = self.unshelved(mine, path)?;
            done.refused_files = done.refused_files.max(refused);
            for file in files {
                let new = self.with_file(path, file, &mut done)?;
                self.pending.push(new);
            }
        }
        // Otherwise it goes with the refs.
        if is_still && !self.pending.is_empty() {
            self.settle(&Change::default())?;
        }
        Ok(done)
    }

    fn bring(&mut self, mine: &mut Here<'_>, mut load: Load<'_>) -> Result<Carried> {
        let mut done = Carried::default();
        for _ in 0..TRIES {
            if self.brought(mine, &mut load, &mut done)? {
                return Ok(done);
            }
            let now = self.shelf.look()?;
            if now == self.is {
                break;
            }
            self.is = now;
        }
        let is_moved = |want: &&Want| {
            self.is
                .get(&want.name)
                .is_none_or(|it| it.commit != want.commit)
        };
        match load.wants.iter().find(is_moved) {
            Some(want) => Err(Error::RefMoved {
                name: want.name.short().to_owned(),
                expected: want.commit.short(),
                found: short(self.is.get(&want.name).map(|it| it.commit)),
            }),
            None => Err(strange("has lost a bundle")),
        }
    }
}

impl<S: Shelf> Peer for OnShelf<'_, S> {
    fn refs(&mut self) -> Result<PeerRefs> {
        Ok(PeerRefs {
            refs: self.is.refs.clone(),
            left_out: self.is.left_out.clone(),
            ..PeerRefs::default()
        })
    }

    fn move_refs(&mut self, _: &str, moves: &[RefMove]) -> Result<()> {
        self.settle(&Change {
            moves,
            ..Change::default()
        })
    }

    /// What was erased is taken out of the bundles, and written beside them for whoever has pulled it.
    fn erased(&mut self, contents: &[ContentHash]) -> Result<ErasedThere> {
        let tips: Vec<CommitHash> = self.is.refs.iter().map(|row| row.commit).collect();
        let new: Vec<ContentHash> = {
            let view = self.mine.store.read()?;
            let named = named_on(&*view, &here(&*view, &tips)?)?;
            let is_new =
                |it: &&ContentHash| named.binary_search(it).is_ok() && !self.is.erased.contains(it);
            contents.iter().filter(is_new).copied().collect()
        };
        if !new.is_empty() {
            self.settle(&Change {
                erased: &new,
                ..Change::default()
            })?;
        }
        Ok(ErasedThere {
            listed: new.len() as u64,
            ..ErasedThere::default()
        })
    }

    fn erasures(&mut self, _: &[PeerRef]) -> Result<Vec<ContentHash>> {
        Ok(self.is.erased.clone())
    }
}

/// Takes away the files of which a new one has all: the file of a session grows, and is sent whole each time.
fn supersede(view: &dyn View, is: &mut Shelved, new: &New) -> Result<()> {
    let ([file], Some(end)) = (&new.files[..], new.survey.ends().into_iter().next()) else {
        return Ok(());
    };
    let mut sources = view.sources(&file.session)?;
    sources.retain(|row| hex(&row.fingerprint) == file.fingerprint);
    let mut gone = Vec::new();
    for bundle in is.bundles.iter().filter(|it| it.is_of_files()) {
        if let ([old], [was]) = (&bundle.files[..], &bundle.ends[..])
            && old.session == file.session
            && old.commits <= file.commits
            && begins_with(view, &sources, old.size_bytes, &old.fingerprint)?.is_some()
            && view.commit(was)?.is_some()
            && leads_to(view, was, &end)?
        {
            gone.push(bundle.name.clone());
        }
    }
    is.bundles.retain(|it| !gone.contains(&it.name));
    Ok(())
}

fn moved(to: &RefMove, was: Option<CommitHash>) -> Error {
    Error::RefMoved {
        name: to.name.short().to_owned(),
        expected: short(to.old),
        found: short(was),
    }
}

fn short(commit: Option<CommitHash>) -> String {
    commit.map_or_else(|| "none".to_owned(), |it| it.short())
}
