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
        /// Whether a repair sets what is wrong aside.
        mends: bool,
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
        /// Whether its text says how it was.
        mends: bool,
    },
    /// A ref, or the log of its moves.
    Ref {
        /// Its full name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Rows that name rows which are not there.
    Dangling {
        /// Their table.
        table: String,
        /// How many.
        rows: u64,
    },
    /// A kept session file.
    Source {
        /// The session that it feeds, if that is known.
        session: Option<RefName>,
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
    /// Whether a repair helps: what is wrong is made again from the rest, or is set aside.
    pub fn mends(&self) -> bool {
        match self {
            // What is left of a kept file is worth more than the hole.
            Self::Row { table, .. } => table != "source_blocks",
            Self::Index { .. } | Self::Listing { .. } | Self::Ref { .. } | Self::Derived { .. } => {
                true
            }
            Self::Content { mends, .. } | Self::Commit { mends, .. } => *mends,
            Self::File { .. } | Self::Dangling { .. } | Self::Source { .. } => false,
        }
    }

    /// Whether it is in the pages of the file, where no repair in place is safe.
    pub fn is_of_pages(&self) -> bool {
        matches!(self, Self::File { .. })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { detail } => write!(f, "file: {detail}"),
            Self::Index { detail } => write!(f, "index: {detail}"),
            Self::Row { table, key } => write!(f, "{table} {key}: not as it was written"),
            Self::Content { hash, why, .. } => write!(f, "message {hash:.10}: {why}"),
            Self::Listing { hash } => write!(f, "message {hash:.10}: listings show it wrongly"),
            Self::Commit { hash, why, .. } => write!(f, "commit {hash:.10}: {why}"),
            Self::Ref { name, why } => write!(f, "{name}: {why}"),
            Self::Dangling { table, rows } => {
                write!(f, "{table}: {rows} name rows that are not there")
            }
            Self::Source { session, why } => match session {
                Some(session) => write!(f, "session file of {}: {why}", session.short()),
                None => write!(f, "a session file: {why}"),
            },
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
    /// How many rows repairs have set aside.
    pub aside: u64,
}

/// Rows of a table that a repair set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The table.
    pub table: String,
    /// How many.
    pub rows: u64,
}
