//! A bundle: commits and what they need in one file, for a repository elsewhere (`docs/bundle.md`).
//!
//! What is read is a stranger's: each object is held against its name, every path is folded, and where
//! anything is off nothing is written. Deliberately absent: files, and which commits somebody means.

mod copy;
mod files;
mod fold;
mod read;
#[cfg(test)]
mod tests;
mod write;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::hash::CommitHash;
use crate::model::RefName;

pub use files::{FileState, KeptFile};
pub(crate) use files::{begins_with, here, kept_files, states};
pub(crate) use fold::{Folding, Survey, fold};
pub use read::{Arrival, ArrivedRef, Unbundled};
pub(crate) use read::{ref_name, take_in};
pub(crate) use write::Files;
pub use write::{Bundled, Packing};

/// What a bundle begins with.
const HEADER: &[u8] = b"tract bundle 1\n";
/// What one begins with that brings records of commits which are not in it: those before what it needs.
const HEADER_BEYOND: &[u8] = b"tract bundle 2\n";
/// What a bundle of any version begins with.
const MAGIC: &[u8] = b"tract bundle ";
/// How much of a kept session file is one record at most.
const BLOCK_BYTES: u64 = 1 << 20;
/// No message and no other record is longer.
const LINE_BYTES: u64 = 256 << 20;
/// How far back a frame may refer, as a power of two: what a reader must hold in memory.
const WINDOW_LOG: u32 = 27;

/// A ref that goes into a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleTip {
    /// Its full name: a branch, a tag or a session.
    pub name: RefName,
    /// The commit that it comes with.
    pub commit: CommitHash,
    /// The commit that its path begins after, which whoever takes the bundle must have; none: at the
    /// root.
    pub after: Option<CommitHash>,
}

impl BundleTip {
    /// A ref with its whole path.
    pub fn new(name: RefName, commit: CommitHash) -> Self {
        Self {
            name,
            commit,
            after: None,
        }
    }
}

fn broken(detail: impl ToString) -> Error {
    Error::BrokenBundle {
        detail: detail.to_string(),
    }
}
