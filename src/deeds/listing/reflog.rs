//! What was done, newest first, and where refs were.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LISTED;
use crate::deeds::facts::held;
use crate::deeds::{ApiError, At, AuthorFacts, Deed, Method, OperationAnswer};
use crate::model::RefName;
use crate::repo::{OperationEntry, ReflogEntry};

/// List past commands, and where each ref was
///
/// Without a ref, it lists every command that moved something, newest first, with its number (for undo)
/// and what it moved. With a ref, it lists where that ref was, as REF@{N} names it. Where others
/// were at work too, it says who did what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract reflog             every command
  tract reflog main        where main was
  tract show main@{2}      what it was two moves ago")
)]
pub struct ReflogParams {
    /// A branch, tag or session, HEAD, ORIG_HEAD or PREV_HEAD
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "cli", arg(id = "ref", value_name = "REF"))]
    pub reference: Option<String>,
    /// List at most N; by default 20; 0: all
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N"))]
    pub limit: Option<usize>,
}

/// Commands, or with a ref where it was, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReflogAnswer {
    /// The commands.
    pub operations: Vec<OperationAnswer>,
    /// The moves of the ref.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<ReflogMove>,
}

/// A move of a ref.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReflogMove {
    /// The revision that names where it went, such as `main@{2}`.
    pub name: String,
    /// Where it was before: a commit, a branch's name, or null where it was not there.
    pub old: Option<String>,
    /// Where it went; likewise.
    pub new: Option<String>,
    /// The number of the command.
    pub operation: u64,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
    /// What the command was; texts of messages are left out.
    pub what: String,
    /// Who did it, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AuthorFacts>,
}

/// What a log of operations tells.
pub enum Reflogged {
    /// What was done.
    Operations(Vec<OperationEntry>),
    /// Where a ref was.
    Moves(RefName, Vec<ReflogEntry>),
}

impl ReflogParams {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// Where there never was such a ref; the store's.
    pub fn listed(&self, at: &At<'_>) -> Result<Reflogged, ApiError> {
        let limit = self.limit.unwrap_or(LISTED);
        let Some(name) = &self.reference else {
            return Ok(Reflogged::Operations(at.repo.operations(limit)?));
        };
        let name = at.repo.reference_named(name)?;
        let rows = at.repo.reflog(&name, limit)?;
        Ok(Reflogged::Moves(name, rows))
    }
}

impl Method for ReflogParams {
    const NAME: &'static str = "reflog";
    const CHANGES: bool = false;
    type Answer = ReflogAnswer;

    fn act(self, at: &mut At<'_>) -> Result<ReflogAnswer, ApiError> {
        let (operations, moves) = match self.listed(at)? {
            Reflogged::Operations(entries) => (
                entries.iter().map(OperationAnswer::of).collect(),
                Vec::new(),
            ),
            Reflogged::Moves(name, rows) => {
                let rows = rows.iter().enumerate();
                let moves = rows.map(|(back, (row, operation))| ReflogMove {
                    name: format!("{}@{{{back}}}", name.short()),
                    old: row.old.as_ref().map(held),
                    new: row.new.as_ref().map(held),
                    operation: operation.id,
                    time_ms: operation.time.0,
                    what: operation.what.clone(),
                    by: operation.by.as_ref().map(Into::into),
                });
                (Vec::new(), moves.collect())
            }
        };
        Ok(ReflogAnswer { operations, moves })
    }
}

impl Deed for ReflogParams {
    const PLACES: &'static [&'static str] = &["ref"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("limit", "-n")];
}
