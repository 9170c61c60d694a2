//! What stands on a shelf: refs with their bundles, and what is written beside them (`docs/sync.md`).

use serde::{Deserialize, Serialize};

use super::{LeftOut, PeerRef, strange};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::history::bundle::KeptFile;

/// What there is on a shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnOffer {
    /// The refs.
    pub rows: Vec<Shelved>,
    /// What is none, and is passed over.
    pub left_out: Vec<LeftOut>,
}

/// A ref on a shelf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shelved {
    /// The ref.
    #[serde(flatten)]
    pub row: PeerRef,
    /// The commit that each of its bundles ends with, the oldest first. Each goes on from the one before it.
    pub ends: Vec<CommitHash>,
    /// The session files in them, as far as that was written down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ShelvedFile>,
    /// Messages on its path that were erased by one who pushed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erased: Vec<ContentHash>,
}

/// A session file on a shelf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelvedFile {
    /// Which.
    #[serde(flatten)]
    pub file: KeptFile,
    /// In which of the ref's bundles it is, by its number from 0.
    pub bundle: usize,
}

impl Shelved {
    /// What is written of it where its bundles are (`docs/sync.md`).
    ///
    /// # Errors
    ///
    /// None that a well-formed row has.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(Error::store)
    }

    /// The same, read again. It is a stranger's.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenPeer`] for what is none.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let shelved: Self = serde_json::from_slice(text)
            .map_err(|error| strange(format!("has a ref that is none: {error}")))?;
        match shelved.row.fault() {
            None => Ok(shelved),
            Some(why) => Err(strange(format!("has {}: {why}", shelved.row.name))),
        }
    }
}
