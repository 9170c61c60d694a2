//! Branches that part and meet again, and tags.

mod branch;
mod branches;
mod merge;
mod moves;
mod rebase;
mod resolve;
mod tag;

pub use branch::{BranchParams, Branched};
pub use branches::{BranchFacts, BranchesAnswer, BranchesParams};
pub use merge::*;
pub(super) use moves::branch_moves;
pub use moves::{BranchMoveParams, MoveParams, MovedAnswer};
pub use rebase::*;
pub use resolve::*;
pub use tag::{TagFacts, TagParams, TagsAnswer, TagsParams};

use super::{ApiError, At};
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::Call;

/// Deletes a branch or a tag; where it was.
fn delete(
    at: &At<'_>,
    call: Call<'_>,
    reference: &RefName,
    more: Option<&str>,
) -> Result<CommitHash, ApiError> {
    if let Some(rev) = more {
        let what = format!("'delete' takes one name, not '{rev}' too");
        return Err(ApiError::params(what));
    }
    Ok(at.repo.delete_reference(call, reference)?)
}
