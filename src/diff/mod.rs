//! What changed between two contexts, typed down to lines, words and JSON paths.
//!
//! Pure: messages in, a [`ContextDiff`] out; the same messages give the same diff. Deliberately
//! absent: reading a repository (that is `Repo::diff`), requests and their bytes (that is
//! [`crate::compile`]), and any layout.

mod align;
pub mod alike;
#[cfg(test)]
mod apply;
pub mod json;
pub mod keys;
#[cfg(test)]
mod laws;
pub mod lines;
pub mod list;
pub mod messages;
pub mod parts;
pub mod side;
pub mod tools;

pub use json::Json;
pub use keys::{JsonChange, JsonChanged};
pub use lines::{Hunk, HunkLine, LineDiff, Piece, Tag};
pub use list::Edit;
pub use messages::{Change, ContextDiff, Kind, SettingChange};
pub use parts::{MessageDiff, PartDiff, ValueDiff};
pub use side::{Omitted, Side};
pub use tools::answered;

/// How contexts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffOptions {
    /// How many unchanged lines stand around changed ones.
    pub context_lines: usize,
    /// Whether the ids of tool calls count. Two runs of one conversation differ in all of them.
    pub exact_ids: bool,
    /// Whether of very many neighbours that are all hidden, all brought back or all the same only the first and the last few
    /// are read, for whoever shows no more.
    pub ends_only: bool,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            context_lines: 3,
            exact_ids: false,
            ends_only: false,
        }
    }
}

/// One thing in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced<T> {
    /// What stood there.
    pub before: T,
    /// What stands there.
    pub after: T,
}

impl<T: PartialEq + Clone> Replaced<T> {
    /// The two, unless they are equal.
    pub(crate) fn unless_equal(before: &T, after: &T) -> Option<Self> {
        (before != after).then(|| Self {
            before: before.clone(),
            after: after.clone(),
        })
    }
}
