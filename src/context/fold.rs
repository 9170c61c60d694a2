//! The fold: one operation after another over one total order of entries.
use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Commit;

/// The total order of entries with everything that decides what is visible.
#[derive(Clone, Debug, Default)]
pub struct Order {}

impl Order {
    /// Folds the next commit in.
    pub fn apply(&mut self, hash: CommitHash, commit: &Commit) -> Result<()> {
        let _ = (hash, commit);
        todo!()
    }
    /// All entries in order.
    pub fn entries(&self) -> impl Iterator<Item = crate::context::Entry> + '_ {
        std::iter::empty()
    }
    /// The visible part.
    pub fn context(&self) -> Context {
        todo!()
    }
}

impl Context {
    /// Folds the next commit into the visible list alone. `None` where that needs more than the visible list.
    pub fn step(&self, hash: CommitHash, commit: &Commit) -> Result<Option<Self>> {
        let _ = (hash, commit);
        todo!()
    }
}
