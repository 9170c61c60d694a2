//! What was carried from one repository to another.

use super::{Answers, Brought, strange};
use crate::error::Result;
use crate::sync::bundle::Packing;

/// What was carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// What came of it.
    pub brought: Brought,
    /// The bundles, in bytes.
    pub size_bytes: u64,
    /// Session files that were not taken: they may hold what was erased there.
    pub refused_files: u64,
}

impl Carried {
    pub(super) fn add(&mut self, bundle: &[u8], brought: Brought) {
        self.size_bytes += bundle.len() as u64;
        self.brought.commits += brought.commits;
        self.brought.contents += brought.contents;
        self.brought.sources += brought.sources;
        self.brought.erased += brought.erased;
    }
}

/// How a bundle is packed that the one gives the other.
pub(super) fn packing(from: &dyn Answers, to: &dyn Answers) -> Packing {
    if from.is_near() && to.is_near() {
        Packing::Quick
    } else {
        Packing::Small
    }
}

/// Refuses an answer to more or fewer questions than were asked.
pub(super) fn same(asked: usize, answered: usize) -> Result<()> {
    if asked == answered {
        Ok(())
    } else {
        Err(strange(format!(
            "gave {answered} answers to {asked} questions"
        )))
    }
}
