//! How far a path has taken a session over (`import --onto`).
//!
//! Kept as pairs of a commit of the session and the commit that it became; a pair counts where the
//! latter is on the path. So a reset or an undo takes back what was taken over with it.

use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::store::{Tx, View};

fn key(session: &RefName) -> String {
    format!("onto.{session}")
}

fn pairs(view: &dyn View, session: &RefName) -> Result<Vec<(CommitHash, CommitHash)>> {
    let text = view.config(&key(session))?.unwrap_or_default();
    let pair = |line: &str| -> Result<_> {
        let (theirs, ours) = line.split_once(' ').ok_or_else(|| Error::Damaged {
            detail: format!("the record of what was taken over of {session}"),
        })?;
        Ok((theirs.parse()?, ours.parse()?))
    };
    text.lines().map(pair).collect()
}

/// The newest commit of `session` that the path to `tip` has taken over.
pub(crate) fn newest(
    view: &dyn View,
    session: &RefName,
    tip: &CommitHash,
) -> Result<Option<CommitHash>> {
    for (theirs, ours) in pairs(view, session)?.into_iter().rev() {
        if view.is_ancestor(&ours, tip)? {
            return Ok(Some(theirs));
        }
    }
    Ok(None)
}

/// Remembers that `session` up to `theirs` is taken over, ending in `ours`.
pub(crate) fn remember(
    tx: &dyn Tx,
    session: &RefName,
    theirs: &CommitHash,
    ours: &CommitHash,
) -> Result<()> {
    let mut text = tx.config(&key(session))?.unwrap_or_default();
    text += &format!("{theirs} {ours}\n");
    tx.set_config(&key(session), Some(&text))
}
