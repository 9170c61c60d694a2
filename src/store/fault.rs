//! What a check of everything that is kept finds wrong.

use std::fmt;

use crate::hash::{CommitHash, ContentHash};
use crate::model::RefName;

/// Something that is not as it was written, or does not fit the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The engine's own files.
    File {
        /// What the engine says of them.
        detail: String,
    },
    /// An index that does not lead to its rows, which can be made again from them.
    Index {
        /// What the engine says of it.
        detail: String,
    },
    /// A row that is not as it was written.
    Row {
        /// Its table.
        table: String,
        /// Its key, as text.
        key: String,
    },
    /// A message.
    Content {
        /// Its name.
        hash: ContentHash,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What a listing shows of a message, which can be made again from it.
    Listing {
        /// The message's name.
        hash: ContentHash,
    },
    /// A commit, or its place on its path.
    Commit {
        /// Its name.
        hash: CommitHash,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A kept session file.
    Source {
        /// Its number.
        id: u64,
        /// The session that it feeds.
        session: RefName,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Checkpoints, counts or the search index: what can be made again from the rest.
    Derived {
        /// Which of them.
        what: &'static str,
        /// How many rows.
        rows: u64,
    },
}

impl Fault {
    /// Whether nothing is lost by it: what is wrong can be made again from the rest.
    pub fn is_derived(&self) -> bool {
        matches!(
            self,
            Self::Index { .. } | Self::Listing { .. } | Self::Derived { .. }
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { detail } => write!(f, "file: {detail}"),
            Self::Index { detail } => write!(f, "index: {detail}"),
            Self::Row { table, key } => write!(f, "{table} {key}: not as it was written"),
            Self::Content { hash, why } => write!(f, "message {hash:.10}: {why}"),
            Self::Listing { hash } => write!(f, "message {hash:.10}: listings show it wrongly"),
            Self::Commit { hash, why } => write!(f, "commit {hash:.10}: {why}"),
            Self::Source { session, why, .. } => {
                write!(f, "session file of {}: {why}", session.short())
            }
            Self::Derived { what, rows } => write!(f, "{what}: {rows} not as they were written"),
        }
    }
}

/// How much was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Messages.
    pub contents: u64,
    /// Commits.
    pub commits: u64,
    /// Kept session files.
    pub sources: u64,
    /// Whether the files still hold what a purge erased.
    pub unscrubbed: bool,
}
