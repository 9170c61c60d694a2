//! The ways back: undo, restore, revert, pick, reset, checkout; and branches.

mod checkout;
mod pick;
mod reset;
mod restore;
mod revert;
mod undo;

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use checkout::{CheckedOut, CheckoutParams};
pub use pick::PickParams;
pub use reset::{MoveAnswer, ResetParams};
pub use restore::RestoreParams;
pub use revert::RevertParams;
pub use undo::{RedoParams, UndoParams, Undone};

use super::facts::{AuthorFacts, Position, Tokens, held};
use super::{ApiError, At, Method, unfit};
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::{BranchMove, OperationEntry};

/// A command as the log of operations has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OperationAnswer {
    /// Its number.
    pub operation: u64,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
    /// What it was; texts of messages are left out.
    pub what: String,
    /// Who did it, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AuthorFacts>,
    /// Whether it is undone now.
    pub undone: bool,
    /// The refs that it moved.
    pub moved: Vec<MovedRef>,
    /// The numbers of the commands that were undone, or done again, along with it, in that order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<u64>,
    /// How many commands stayed, for they only took something in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captures: Option<u64>,
}

/// A ref that moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MovedRef {
    /// Its name.
    pub name: String,
    /// Where it was: a commit, a branch's name, or null where it was not there.
    pub old: Option<String>,
    /// Where it is; likewise.
    pub new: Option<String>,
}

impl OperationAnswer {
    fn of(entry: &OperationEntry) -> Self {
        let moved = entry.moved();
        Self {
            operation: entry.operation.id,
            time_ms: entry.operation.time.0,
            what: entry.operation.what.clone(),
            by: entry.operation.by.as_ref().map(Into::into),
            undone: entry.undone,
            also: Vec::new(),
            captures: None,
            moved: moved
                .iter()
                .map(|row| MovedRef {
                    name: row.name.to_string(),
                    old: row.old.as_ref().map(held),
                    new: row.new.as_ref().map(held),
                })
                .collect(),
        }
    }

    /// The first of several, which are never none, with the numbers of the others.
    fn all(entries: &[OperationEntry]) -> Self {
        let also = entries.iter().skip(1).map(|entry| entry.operation.id);
        Self {
            also: also.collect(),
            ..Self::of(&entries[0])
        }
    }
}

/// How many.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReflogParams {
    /// At most so many; 20 unless given, 0: all.
    pub limit: Option<usize>,
}

/// Commands, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReflogAnswer {
    /// They.
    pub operations: Vec<OperationAnswer>,
}

impl Method for ReflogParams {
    const NAME: &'static str = "reflog";
    const ABOUT: &'static str =
        "Lists the commands that were given, newest first, and what each moved.";
    const CHANGES: bool = false;
    type Answer = ReflogAnswer;

    fn call(self, at: &mut At<'_>) -> Result<ReflogAnswer, ApiError> {
        let found = at.repo.operations(self.limit.unwrap_or(20))?;
        let operations = found.iter().map(OperationAnswer::of).collect();
        Ok(ReflogAnswer { operations })
    }
}

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
pub(super) fn branch_moves(
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

    fn call(self, at: &mut At<'_>) -> Result<MovedAnswer, ApiError> {
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

/// Its name, and where it begins.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchParams {
    /// Its name.
    pub name: String,
    /// Where it begins; where HEAD is, unless given.
    #[serde(default)]
    pub rev: Option<String>,
    /// Delete it instead.
    #[serde(default)]
    pub delete: bool,
}

impl Method for BranchParams {
    const NAME: &'static str = "branch";
    const ABOUT: &'static str = "Makes a branch, or deletes one.";
    const CHANGES: bool = true;
    type Answer = Position;

    fn call(self, at: &mut At<'_>) -> Result<Position, ApiError> {
        let name = RefName::branch(&self.name)?;
        let commit = if self.delete {
            let what = format!("branch -d {}", self.name);
            at.repo.delete_reference(at.call(&what), &name)?
        } else {
            let rev = self.rev.as_deref().unwrap_or("HEAD");
            let what = format!("branch {} {rev}", self.name);
            at.repo.create_branch(at.call(&what), &name, rev)?.commit
        };
        Ok(Position {
            branch: Some(self.name),
            commit: Some(commit.to_string()),
        })
    }
}

/// Which branches.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BranchesParams {
    /// At most so many; all unless given, or 0.
    pub limit: Option<usize>,
    /// Only those that come behind this branch in the list: the last one of the page before.
    pub behind: Option<String>,
}

/// Branches, the one with the newest commit first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BranchesAnswer {
    /// They.
    pub branches: Vec<BranchFacts>,
    /// Whether there are more behind these.
    pub more: bool,
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BranchFacts {
    /// Its name.
    pub name: String,
    /// Its newest commit.
    pub commit: String,
    /// Whether HEAD is on it.
    pub is_head: bool,
    /// The title of the session that it came from, or else its first prompt. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// That session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The directory that it ran in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The time of its newest commit that has one, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
    /// The tokens of its context.
    pub tokens: Tokens,
    /// The compactions that are active in it.
    pub compactions: u32,
}

impl Method for BranchesParams {
    const NAME: &'static str = "branches";
    const ABOUT: &'static str = "Lists the branches, the one with the newest commit first.";
    const CHANGES: bool = false;
    type Answer = BranchesAnswer;

    fn call(self, at: &mut At<'_>) -> Result<BranchesAnswer, ApiError> {
        let behind = self.behind.as_deref().map(RefName::branch).transpose()?;
        let most = self.limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let mut pages = at
            .repo
            .branch_pages(behind.as_ref(), most, at.encoding()?)?;
        let mut rows = Vec::new();
        for page in pages.by_ref() {
            rows.extend(page?);
        }
        let branches = rows.into_iter().map(|row| BranchFacts {
            name: row.name.short().to_owned(),
            commit: row.tip.to_string(),
            is_head: row.is_head,
            title: row.title.or(row.prompt),
            session: row.session.map(|name| name.to_string()),
            directory: row.cwd,
            last_ms: row.last.map(|time| time.0),
            tokens: row.tokens.into(),
            compactions: row.compactions,
        });
        Ok(BranchesAnswer {
            branches: branches.collect(),
            more: pages.has_more(),
        })
    }
}
