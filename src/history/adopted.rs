//! How far a path has taken a session over (`import --onto`).
//!
//! Kept as pairs of a commit of the session and the commit that it became; a pair counts where the
//! latter is on the path. So a reset or an undo takes back what was taken over with it.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::store::View;

/// The newest commit of `session` that the path to `tip` has taken over.
pub(crate) fn newest(
    view: &dyn View,
    session: &RefName,
    tip: &CommitHash,
) -> Result<Option<CommitHash>> {
    for adopted in view.adopted(session)?.into_iter().rev() {
        if view.is_ancestor(&adopted.ours, tip)? {
            return Ok(Some(adopted.theirs));
        }
    }
    Ok(None)
}
