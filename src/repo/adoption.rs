//! How far a path has taken a session over (`import --onto`).
//!
//! Kept as pairs of a commit of the session and the commit that it became; a pair counts where the
//! latter is on the path. So a reset or an undo takes back what was taken over with it. What the
//! session has made anew since (its last group, while it grew) is a pair whose commit of the session
//! its path no longer has.

use std::collections::{HashMap, HashSet};

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
        let on_path: Vec<AdoptedRow> = rows.filter_map(|(row, on)| on.then_some(row)).collect();
        let mut held = in_force(view, on_path)?;
        let were: Vec<CommitHash> = held.iter().map(|row| row.theirs).collect();
        let there = view.are_ancestors(&were, theirs)?;
        let newest = there.iter().rposition(|there| *there);
        let mut stale = held.split_off(newest.map_or(0, |newest| newest + 1));
        // What stands for a commit that the session has stays.
        let kept: HashSet<CommitHash> = held.iter().map(|row| row.ours).collect();
        stale.retain(|row| !kept.contains(&row.ours));
        Ok(Self { held, stale })
    }

    /// The newest commit of the session's path that was taken over.
    pub(crate) fn newest(&self) -> Option<CommitHash> {
        self.held.last().map(|row| row.theirs)
    }
}

/// The rows that the last of them left in force. What the session's path did not have then was dropped, and is taken
/// over anew if the session has it again, but where it stands for what was kept. Each commit of the session is what it
/// became last.
fn in_force(view: &dyn View, mut rows: Vec<AdoptedRow>) -> Result<Vec<AdoptedRow>> {
    let Some(last) = rows.last() else {
        return Ok(rows);
    };
    let theirs: Vec<CommitHash> = rows.iter().map(|row| row.theirs).collect();
    let were_there = view.are_ancestors(&theirs, &last.theirs)?;
    let kept = rows.iter().zip(&were_there);
    let kept: HashSet<CommitHash> = kept
        .filter_map(|(row, was)| was.then_some(row.ours))
        .collect();
    let mut became = HashMap::new();
    for (at, row) in rows
        .iter()
        .enumerate()
        .filter(|(_, row)| kept.contains(&row.ours))
    {
        became.insert(row.theirs, at);
    }
    let mut at = 0..;
    rows.retain(|row| became.get(&row.theirs).copied() == at.next());
    Ok(rows)
}
