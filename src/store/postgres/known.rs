//! What a session knows of objects: it has put them itself, or has looked for them. Nobody else writes while a
//! transaction is open, and a view is a snapshot, so it stays so until something is taken out.

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

    /// What is not here, and is for nobody else to put while this one writes.
    pub(super) fn saw_none(&self, contents: impl IntoIterator<Item = ContentHash>) {
        let mut absent = self.absent.borrow_mut();
        if absent.len() >= NAMES {
            absent.clear();
        }
        absent.extend(contents);
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

    pub(super) fn path(&self, tip: &CommitHash) -> Option<Path> {
        let last = self.path.borrow();
        let (known, path) = last.as_ref()?;
        (known == tip).then(|| Arc::clone(path))
    }

    pub(super) fn saw_path(&self, tip: CommitHash, path: &Path) {
        self.path.replace(Some((tip, Arc::clone(path))));
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
    }
}
