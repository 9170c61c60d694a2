//! What a session knows of objects: it has put them itself, or has looked for them. Nobody takes anything out while a
//! transaction is open, and a view is a snapshot, so what is there stays there. What is not may be put by somebody who commits
//! beside a transaction, which a unique index finds then.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::hash::{CommitHash, ContentHash};
use crate::store::lineage::{Path, Place};

/// How many names are remembered.
const NAMES: usize = if cfg!(test) { 150 } else { 50_000 };

/// What is known.
#[derive(Default)]
pub(super) struct Known {
    /// What was found or put here already.
    places: RefCell<HashMap<CommitHash, Place>>,
    contents: RefCell<HashMap<ContentHash, i64>>,
    /// Whether any of these was forgotten that may wait.
    forgot: Cell<bool>,
    /// What was looked for and is not here.
    absent: RefCell<HashSet<ContentHash>>,
    /// How deep lineages go that were gone on with here.
    ends: RefCell<HashMap<i64, i64>>,
    /// The last path that was asked for.
    path: RefCell<Option<(CommitHash, Path)>>,
    /// Where lineages begin: on which one, behind which depth; the first ones on none.
    forks: RefCell<HashMap<i64, Option<(i64, i64)>>>,
    /// How deep the newest checkpoint on a path is, if there is one.
    checkpoint: Cell<Option<(CommitHash, Option<i64>)>>,
}

impl Known {
    pub(super) fn saw(&self, hash: CommitHash, place: Place) {
        let mut places = self.places.borrow_mut();
        if places.len() >= NAMES {
            self.forgot.set(true);
            places.clear();
        }
        places.insert(hash, place);
    }

    pub(super) fn place(&self, hash: &CommitHash) -> Option<Place> {
        self.places.borrow().get(hash).copied()
    }

    pub(super) fn saw_content(&self, hash: ContentHash, id: i64) {
        let mut contents = self.contents.borrow_mut();
        if contents.len() >= NAMES {
            self.forgot.set(true);
            contents.clear();
        }
        contents.insert(hash, id);
    }

    pub(super) fn content(&self, hash: &ContentHash) -> Option<i64> {
        self.contents.borrow().get(hash).copied()
    }

    /// What is not here, as far as is known.
    pub(super) fn saw_none(&self, contents: impl IntoIterator<Item = ContentHash>) {
        let mut contents = contents.into_iter().peekable();
        let mut absent = self.absent.borrow_mut();
        if contents.peek().is_some() && absent.len() >= NAMES {
            absent.clear();
        }
        absent.extend(contents);
    }

    /// Whether it was looked for already, and is not here.
    pub(super) fn is_absent(&self, hash: &ContentHash) -> bool {
        self.absent.borrow().contains(hash)
    }

    /// Whether a content is known not to be here; from here on it is.
    pub(super) fn is_first(&self, hash: &ContentHash) -> bool {
        self.absent.borrow_mut().remove(hash)
    }

    /// How deep a lineage goes that was gone on with here.
    pub(super) fn end(&self, lineage: i64) -> Option<i64> {
        self.ends.borrow().get(&lineage).copied()
    }

    /// A lineage ends with a commit that was made here.
    pub(super) fn ends_at(&self, lineage: i64, depth: i64) {
        self.ends.borrow_mut().insert(lineage, depth);
    }

    /// The path to a commit, where it is known from which lineages it comes.
    pub(super) fn path(&self, tip: &CommitHash) -> Option<Path> {
        if let Some((known, path)) = &*self.path.borrow()
            && known == tip
        {
            return Some(Arc::clone(path));
        }
        let forks = self.forks.borrow();
        let place = self.place(tip)?;
        let (mut path, mut next) = (Vec::new(), Some((place.lineage, place.depth)));
        while let Some(part) = next {
            path.push(part);
            next = *forks.get(&part.0)?;
        }
        Some(Arc::new(path))
    }

    /// Where a lineage begins.
    pub(super) fn saw_fork(&self, lineage: i64, fork: Option<(i64, i64)>) {
        self.forks.borrow_mut().insert(lineage, fork);
    }

    /// The last path that was asked for.
    pub(super) fn last_path(&self) -> Option<Path> {
        self.path
            .borrow()
            .as_ref()
            .map(|(_, path)| Arc::clone(path))
    }

    pub(super) fn saw_path(&self, tip: CommitHash, path: &Path) {
        let parts = path.iter().copied();
        let forks = parts.clone().skip(1).map(Some).chain([None]);
        let forks = parts.map(|(lineage, _)| lineage).zip(forks);
        self.forks.borrow_mut().extend(forks);
        self.path.replace(Some((tip, Arc::clone(path))));
    }

    /// How deep the newest checkpoint is on the path to a commit, where that is known.
    pub(super) fn checkpoint(&self, tip: &CommitHash) -> Option<Option<i64>> {
        let (known, depth) = self.checkpoint.get()?;
        (known == *tip).then_some(depth)
    }

    pub(super) fn saw_checkpoint(&self, tip: CommitHash, depth: Option<i64>) {
        self.checkpoint.set(Some((tip, depth)));
    }

    /// There is another checkpoint.
    pub(super) fn forget_checkpoint(&self) {
        self.checkpoint.set(None);
    }

    /// A lineage goes on: what was known of the checkpoints before the commit before is known of this.
    pub(super) fn goes_on(&self, parent: &CommitHash, hash: CommitHash) {
        if let Some(checkpoint) = self.checkpoint(parent) {
            self.saw_checkpoint(hash, checkpoint);
        }
    }

    /// Whether anything was forgotten that may wait to be sent.
    pub(super) fn has_forgotten(&self) -> bool {
        self.forgot.get()
    }

    /// Nothing waits any more.
    pub(super) fn sent(&self) {
        self.forgot.set(false);
    }

    /// Rows were taken out.
    pub(super) fn forget(&self) {
        self.ends.borrow_mut().clear();
        self.places.borrow_mut().clear();
        self.contents.borrow_mut().clear();
        self.path.replace(None);
        self.forks.borrow_mut().clear();
        self.checkpoint.set(None);
    }
}
