//! A ref with what goes with it, in JSON: between two ends of a pipe, and on a shelf.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Beside, PeerRef};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::history::bundle::ref_name;
use crate::model::{Millis, RefName};
use crate::store::{SessionRow, TagNote};

/// A value as the text that names it.
pub(super) struct Text<T>(pub(super) T);

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err = Error>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

/// A ref.
#[derive(Serialize, Deserialize)]
pub(super) struct Row {
    name: Text<RefName>,
    commit: Text<CommitHash>,
    depth: u64,
    #[serde(flatten)]
    known: Known,
}

/// What goes with a name.
#[derive(Serialize, Deserialize)]
pub(super) struct Known {
    note: Option<Note>,
    session: Option<Session>,
}

#[derive(Serialize, Deserialize)]
struct Note {
    commit: Text<CommitHash>,
    time: i64,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct Session {
    title: Option<String>,
    cwd: Option<String>,
    absent: Vec<String>,
}

impl From<Beside> for Known {
    fn from(beside: Beside) -> Self {
        Self {
            note: beside.note.map(|note| Note {
                commit: Text(note.commit),
                time: note.time.0,
                text: note.text,
            }),
            session: beside.session.map(|row| Session {
                title: row.title,
                cwd: row.cwd,
                absent: row.absent,
            }),
        }
    }
}

impl From<Known> for Beside {
    fn from(known: Known) -> Self {
        Self {
            note: known.note.map(|note| TagNote {
                commit: note.commit.0,
                time: Millis(note.time),
                text: note.text,
            }),
            session: known.session.map(|row| SessionRow {
                title: row.title,
                cwd: row.cwd,
                absent: row.absent,
            }),
        }
    }
}

impl From<PeerRef> for Row {
    fn from(row: PeerRef) -> Self {
        Self {
            name: Text(row.name),
            commit: Text(row.commit),
            depth: row.depth,
            known: row.beside.into(),
        }
    }
}

impl Row {
    /// The ref that it spells, by a name that could be made.
    pub(super) fn read(self) -> Result<PeerRef> {
        let name = ref_name(self.name.0.as_str()).map_err(|_| Error::BrokenPeer {
            detail: format!("has a ref that nobody could make: {}", self.name.0),
        })?;
        Ok(PeerRef {
            name,
            commit: self.commit.0,
            depth: self.depth,
            beside: self.known.into(),
        })
    }
}
