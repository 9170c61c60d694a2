//! What takes the room: the files by kinds of things, and each message by its bytes.

use crate::hash::ContentHash;
use crate::model::Role;

/// What the files hold, in whole bytes: together their size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room(pub Vec<(RoomOf, u64)>);

impl Room {
    /// Adds so many bytes of a kind.
    pub fn add(&mut self, of: RoomOf, size_bytes: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == of) {
            Some((_, sum)) => *sum += size_bytes,
            None => self.0.push((of, size_bytes)),
        }
    }

    /// The size of the files.
    pub fn size_bytes(&self) -> u64 {
        self.0.iter().map(|(_, size_bytes)| size_bytes).sum()
    }
}

/// A kind of thing that takes room in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RoomOf {
    /// What messages say.
    Messages,
    /// What listings show of them.
    Listings,
    /// Commits.
    Commits,
    /// What imports keep of session files.
    Sources,
    /// The search index.
    Index,
    /// What else can be made again from the rest: counts, checkpoints, totals, summaries.
    Derived,
    /// Refs, the log of their moves, the configuration, and what is remembered beside them.
    Names,
    /// Damaged rows that a repair set aside.
    Aside,
    /// What is not used of pages that are.
    Unused,
    /// Pages that hold nothing.
    Free,
    /// The journal, but for pages that are in no other file yet.
    Journal,
}

impl RoomOf {
    /// What it is called.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Listings => "listings of messages",
            Self::Commits => "commits",
            Self::Sources => "session files",
            Self::Index => "search index",
            Self::Derived => "counts, checkpoints and totals",
            Self::Names => "refs, log and settings",
            Self::Aside => "damaged rows set aside",
            Self::Unused => "unused within pages",
            Self::Free => "free pages",
            Self::Journal => "journal",
        }
    }
}

/// How much room a message takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentSize {
    /// Its name.
    pub hash: ContentHash,
    /// Who speaks.
    pub role: Role,
    /// Whether a client attached it.
    pub attached: bool,
    /// Its canonical form, in bytes.
    pub size_bytes: u64,
    /// What is kept of it, in bytes.
    pub kept_bytes: u64,
    /// Whether it calls tools, or answers calls.
    pub uses_tools: bool,
}

/// How much room a kept source takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSize {
    /// Its number.
    pub id: u64,
    /// What is kept of it, in bytes.
    pub kept_bytes: u64,
}
