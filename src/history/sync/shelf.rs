//! Bundles on a shelf: a place that keeps files for each ref and knows nothing of what is in them, as a git host or a
//! bucket does. What is there already is what its bundles end with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::carry::{Carried, Load, Want};
use super::here::Here;
use super::{Answers, Carries, ErasedThere, Peer, PeerRef, PeerRefs, RefMove, strange};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::history::load;
use crate::history::repo::Repo;
use crate::model::RefName;

/// Where bundles are put and taken from.
pub trait Shelf {
    /// All refs that there are.
    fn list(&mut self) -> Result<Vec<Shelved>>;

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

/// A ref on a shelf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shelved {
    /// The ref.
    #[serde(flatten)]
    pub row: PeerRef,
    /// The commit that each of its bundles ends with, the oldest first. Each goes on from the one before it.
    pub ends: Vec<CommitHash>,
}

impl Shelved {
    /// What is written of it where its bundles are (`docs/sync.md`).
    ///
    /// # Errors
    ///
    /// None that a well-formed row has.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(Error::store)
    }

    /// The same, read again. It is a stranger's.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenPeer`] for what is none.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let shelved: Self = serde_json::from_slice(text)
            .map_err(|error| strange(format!("has a ref that is none: {error}")))?;
        shelved.row.refuse_name()?;
        Ok(shelved)
    }
}

/// A shelf, as somebody whose repository is `mine` sees it.
pub struct OnShelf<'a, S> {
    mine: &'a Repo,
    shelf: S,
    rows: Vec<Shelved>,
    /// What is put there once its ref moves: how many of the bundles that there are stay, and the new one.
    pending: BTreeMap<RefName, (usize, Vec<u8>)>,
}

impl<'a, S: Shelf> OnShelf<'a, S> {
    /// Looks what is there.
    ///
    /// # Errors
    ///
    /// The shelf's.
    pub fn new(mine: &'a Repo, mut shelf: S) -> Result<Self> {
        let rows = shelf.list()?;
        Ok(Self {
            mine,
            rows,
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
}

impl<S: Shelf> Carries for OnShelf<'_, S> {
    fn compare(&mut self, _: &mut Here<'_>, wants: &mut [Want]) -> Result<()> {
        for want in wants {
            let (_, base) = self.shared(&want.name, &want.commit)?;
            want.settle(base);
        }
        Ok(())
    }

    fn send(&mut self, mine: &mut Here<'_>, mut load: Load<'_>) -> Result<Carried> {
        let mut done = Carried::default();
        self.compare(mine, &mut load.wants)?;
        let all = load.wants.len() as u64;
        for (at, want) in load.wants.iter().enumerate() {
            (load.progress)(at as u64, all)?;
            if want.is_there() {
                continue;
            }
            let (kept, _) = self.shared(&want.name, &want.commit)?;
            let (bundle, made) = self.mine.bundle(&[want.tip()], load.sources)?;
            done.brought.commits += made.commits;
            done.brought.contents += made.contents;
            done.brought.sources += made.sources;
            done.size_bytes += bundle.len() as u64;
            self.pending.insert(want.name.clone(), (kept, bundle));
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
            let first = here
                .iter()
                .rposition(|is_here| *is_here)
                .map_or(0, |at| at + 1);
            for number in first..row.ends.len() {
                let bundle = self.shelf.read(row, number)?;
                let brought = mine.take(&bundle)?;
                done.add(&bundle, brought);
            }
        }
        Ok(done)
    }
}

impl<S: Shelf> Peer for OnShelf<'_, S> {
    fn refs(&mut self) -> Result<PeerRefs> {
        let refs = self.rows.iter().map(|row| row.row.clone());
        Ok(PeerRefs {
            head: None,
            refs: refs.collect(),
        })
    }

    fn move_refs(&mut self, _: &str, moves: &[RefMove]) -> Result<()> {
        for to in moves {
            let was = self.row(&to.name).cloned();
            let Some(commit) = to.new else {
                if let Some(was) = &was {
                    self.shelf.remove(was)?;
                }
                continue;
            };
            let (kept, bundle) = match self.pending.remove(&to.name) {
                Some((kept, bundle)) => (kept, Some(bundle)),
                None => (self.shared(&to.name, &commit)?.0, None),
            };
            let mut ends = was.as_ref().map_or(Vec::new(), |was| was.ends.clone());
            ends.truncate(kept);
            if bundle.is_some() {
                ends.push(commit);
            }
            if ends.last() != Some(&commit) {
                // It ends before the commit, and nothing was put behind it.
                return Err(Error::overtaken(to.name.to_string()));
            }
            let depth = load::commit(&*self.mine.store.read()?, &commit)?.depth;
            let is = Shelved {
                row: PeerRef {
                    name: to.name.clone(),
                    commit,
                    depth,
                    beside: to.beside.clone(),
                },
                ends,
            };
            self.shelf.put(was.as_ref(), &is, bundle.as_deref())?;
        }
        Ok(())
    }

    /// A shelf reads nothing, and keeps what it has.
    fn erased(&mut self, _: &[ContentHash]) -> Result<ErasedThere> {
        Ok(ErasedThere::default())
    }
}
