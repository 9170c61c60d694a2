//! What a session's file says of other files: whose history it begins with, and who started it.
//!
//! Deliberately absent: where those files are. Whoever reads a session hands in [`Bases`].

use crate::error::Result;
use crate::formats::Input;
use crate::model::Millis;

/// What a session's first record says of other sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descent {
    /// The records that come before the file's own.
    pub base: Option<Base>,
    /// The session whose agent started this one.
    pub spawned_by: Option<String>,
    /// When the file was begun. A session goes on in its newest one.
    pub begun: Option<Millis>,
}

impl Descent {
    /// That of a session whose agent started it, if any did.
    pub fn spawned_by(session: Option<String>) -> Self {
        Self {
            spawned_by: session,
            ..Self::default()
        }
    }

    /// Whether the file, of the session `id`, goes on with the session's own earlier file.
    pub fn goes_on(&self, id: &str) -> bool {
        self.base.as_ref().is_some_and(|base| base.may_be_of(id))
    }
}

/// The first records of a session, in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The session's id, or, as later versions of Codex say it, that of one of its files alone.
    pub session: String,
    /// The session of which that is a file, if it is one.
    pub thread: Option<String>,
    /// Where they end.
    pub end: BaseEnd,
}

/// Where the records end that a session begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseEnd {
    /// Before a record of this number, counted from 0 through all that comes before.
    Before {
        /// The number.
        records: u64,
        /// How many bytes of that file come before it, where it is said.
        size_bytes: Option<u64>,
    },
    /// With the record of this id.
    With(String),
}

impl Base {
    /// The number of the first record that is not taken; none where the end is named otherwise.
    pub fn records(&self) -> Option<u64> {
        match self.end {
            BaseEnd::Before { records, .. } => Some(records),
            BaseEnd::With(_) => None,
        }
    }

    /// How many bytes of that file they are, where it is said.
    pub fn size_bytes(&self) -> Option<u64> {
        match self.end {
            BaseEnd::Before { size_bytes, .. } => size_bytes,
            BaseEnd::With(_) => None,
        }
    }

    /// The sessions that it may be of, as it is said first.
    pub fn sessions(&self) -> impl Iterator<Item = &String> {
        let thread = self.thread.iter().filter(|it| **it != self.session);
        std::iter::once(&self.session).chain(thread)
    }

    /// Whether it may be of a session.
    pub fn may_be_of(&self, id: &str) -> bool {
        self.sessions().any(|session| session == id)
    }
}

/// Where the records are that a session begins with.
pub trait Bases {
    /// The file that holds them at its beginning, perhaps behind a base of its own; none where that
    /// is not here.
    ///
    /// # Errors
    ///
    /// Whatever keeps the files from being read.
    fn find(&self, base: &Base) -> Result<Option<&dyn Input>>;
}
