//! What it means that a file did not come in: for it alone, or for all that are still to come.
//!
//! Deliberately absent: what is done about it, and in which words it is told.

use std::io::ErrorKind;

use crate::error::Error;

/// Why a file did not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No session is in it, or none yet.
    NoSession,
    /// It looks like one of a session, and is broken.
    Broken,
    /// It is not there any more.
    Gone,
    /// It was cut while it was read: it is being written.
    Cut,
    /// Somebody else was first, or is at it: it can be tried again.
    TooLate,
    /// The repository is damaged.
    Damaged,
    /// The repository's server is lost: no other file will come in either.
    ServerLost,
    /// It cannot be read, or what is in it cannot be taken in.
    File,
}

impl Trouble {
    /// What the error of an import of one file means.
    pub fn of(error: &Error) -> Self {
        match error {
            Error::UnknownFormat { .. } | Error::EmptyFile { .. } => Self::NoSession,
            Error::BrokenFile { .. } => Self::Broken,
            Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => Self::Gone,
            Error::Io { source, .. } if source.kind() == ErrorKind::UnexpectedEof => Self::Cut,
            Error::Overtaken { .. } | Error::Busy { .. } => Self::TooLate,
            Error::Damaged { .. } => Self::Damaged,
            Error::Unreachable { .. } | Error::Server { .. } | Error::Disconnected { .. } => {
                Self::ServerLost
            }
            _ => Self::File,
        }
    }

    /// Whether nothing is wrong with the file: a folder may hold anything.
    pub fn is_no_session(self) -> bool {
        matches!(self, Self::NoSession | Self::Broken)
    }

    /// Whether a file of a tool's is one that could not be read.
    pub fn is_the_files(self) -> bool {
        matches!(self, Self::Broken | Self::Gone | Self::Cut | Self::File)
    }
}
