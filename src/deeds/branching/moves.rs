//! Branches that move at once, each from where it is expected.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Method, MovedRef, unfit};
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::BranchMove;

/// One branch, and where it goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchMoveParams {
    /// The branch. One that is not there yet is made.
    pub branch: String,
    /// The commit; none: it goes before its first commit, so that it is no branch any more.
    #[serde(default)]
    pub to: Option<String>,
    /// Refuse (exit code 4) unless it is at this revision; `none`: unless it has no commit.
    #[serde(default)]
    pub expect: Option<String>,
}

/// On a command line it is JSON.
impl FromStr for BranchMoveParams {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| unfit(&error, text))
    }
}

/// Branches and where they go, as the history takes them.
pub(in crate::deeds) fn branch_moves(
    at: &At<'_>,
    moves: &[BranchMoveParams],
) -> Result<Vec<BranchMove>, ApiError> {
    let read = |it: &BranchMoveParams| {
        Ok(BranchMove {
            branch: RefName::branch(&it.branch)?,
            to: it.to.clone(),
            expect: at.expected(it.expect.as_deref())?,
        })
    };
    moves.iter().map(read).collect()
}

/// Which branches, and where to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveParams {
    /// The branches, in the order in which they move. One that goes to where it is expected is only looked at.
    pub moves: Vec<BranchMoveParams>,
    /// What the log of operations calls it.
    #[serde(default)]
    pub what: Option<String>,
}

/// What moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MovedAnswer {
    /// The branches, in the order in which they were given.
    pub moved: Vec<MovedRef>,
}

impl Method for MoveParams {
    const NAME: &'static str = "move";
    const ABOUT: &'static str = "Moves branches, each from where it is expected to be, as one operation: all of them, or none. Nothing but the log of operations keeps what they leave.";
    const CHANGES: bool = true;
    type Answer = MovedAnswer;

    fn act(self, at: &mut At<'_>) -> Result<MovedAnswer, ApiError> {
        if self.moves.is_empty() {
            return Err(ApiError::params("'moves' names no branch"));
        }
        let moves = branch_moves(at, &self.moves)?;
        let what = self.what.as_deref().unwrap_or("move");
        let moved = at.repo.move_branches(at.call(what), &moves)?;
        let text = |commit: Option<CommitHash>| commit.map(|commit| commit.to_string());
        let moved = moved.into_iter().map(|it| MovedRef {
            name: it.branch.to_string(),
            old: text(it.from),
            new: text(it.to),
        });
        Ok(MovedAnswer {
            moved: moved.collect(),
        })
    }
}
