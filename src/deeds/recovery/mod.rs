//! The ways back: undo, restore, revert, pick, reset, checkout.

mod checkout;
mod pick;
mod reset;
mod restore;
mod revert;
mod undo;

use schemars::JsonSchema;
use serde::Serialize;

pub use checkout::{CheckedOut, CheckoutParams};
pub use pick::PickParams;
pub use reset::{MoveAnswer, ResetParams};
pub use restore::RestoreParams;
pub use revert::RevertParams;
pub use undo::{RedoParams, UndoOutcome, UndoParams, Undone};

use super::facts::{AuthorFacts, held};
use crate::repo::OperationEntry;

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
    /// Whether redo does not bring back what was undone, for a purge came between.
    #[serde(rename = "final", skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
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
    pub(super) fn of(entry: &OperationEntry) -> Self {
        let moved = entry.moved();
        Self {
            operation: entry.operation.id,
            time_ms: entry.operation.time.0,
            what: entry.operation.what.clone(),
            by: entry.operation.by.as_ref().map(Into::into),
            undone: entry.undone,
            also: entry.also.clone(),
            captures: None,
            is_final: false,
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
        let first = Self::of(&entries[0]);
        let own = first.also.iter().copied();
        Self {
            also: own.chain(also).collect(),
            ..first
        }
    }
}
