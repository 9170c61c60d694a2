//! How far a path has taken a session over (`import --onto`).
//!
//! Kept as pairs of a commit of the session and the commit that it became; a pair counts where the
//! latter is on the path. So a reset or an undo takes back what was taken over with it. What the
//! session has made anew since (its last group, while it grew) is a pair whose commit of the session
//! its path no longer has.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::store::{AdoptedRow, View};

/// What a path has taken over of a session.
#[derive(Debug, Default)]
pub(crate) struct Adopted {
    /// Up to the newest commit that the session's path has, oldest first.
    pub(crate) held: Vec<AdoptedRow>,
    /// What came after that and is not on the session's path, oldest first.
    pub(crate) stale: Vec<AdoptedRow>,
}

impl Adopted {
    /// What the path to `ours` has taken over of the session that ends in `theirs`.
    pub(crate) fn of(
        view: &dyn View,
        session: &RefName,
        theirs: &CommitHash,
        ours: &CommitHash,
    ) -> Result<Self> {
        let rows = view.adopted(session)?;
        let became: Vec<CommitHash> = rows.iter().map(|row| row.ours).collect();
        let counts = view.are_ancestors(&became, ours)?;
        let rows = rows.into_iter().zip(counts);
        let mut held: Vec<AdoptedRow> = rows.filter_map(|(row, on)| on.then_some(row)).collect();
        let were: Vec<CommitHash> = held.iter().map(|row| row.theirs).collect();
        let there = view.are_ancestors(&were, theirs)?;
        let newest = there.iter().rposition(|there| *there);
        let stale = held.split_off(newest.map_or(0, |newest| newest + 1));
        Ok(Self { held, stale })
    }

    /// The newest commit of the session's path that was taken over.
    pub(crate) fn newest(&self) -> Option<CommitHash> {
        self.held.last().map(|row| row.theirs)
    }
}
