//! What a fork sub-agent's file begins with and its parent's file holds: the conversation up to the prompt that
//! started the fork.
//!
//! Those records are read as their own file's are, so that the same messages come of them. None of them is a record of
//! the fork's file. The file's own records follow them as if they stood behind them.

use std::io;

use serde::Deserialize;

use crate::error::Result;
use crate::formats::shared::records::first_line;
use crate::formats::{Base, BaseEnd, Bases, Input};

/// How a fork sub-agent's file begins.
///
/// # Source
///
/// Observed: the first record that Claude Code 2.1.332 writes into such a file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ForkContext {
    r#type: String,
    pub(super) agent_id: String,
    pub(super) parent_session_id: String,
    /// The record with which the conversation ends that the fork begins with.
    pub(super) parent_last_uuid: String,
    /// How many records that are.
    pub(super) context_length: u64,
}

impl ForkContext {
    /// What a line says, where it is such a record.
    pub(super) fn of(line: &str) -> Option<Self> {
        let found: Self = serde_json::from_str(line).ok()?;
        (found.r#type == "fork-context-ref").then_some(found)
    }

    /// Where its records are.
    pub(super) fn base(&self) -> Base {
        Base {
            session: self.parent_session_id.clone(),
            thread: None,
            end: BaseEnd::With(self.parent_last_uuid.clone()),
        }
    }
}

/// A fork sub-agent's file, behind its parent's.
pub(super) struct Behind<'a> {
    /// What the file says of its beginning.
    pub(super) fork: ForkContext,
    /// The parent's file, if it is here.
    pub(super) parents: Option<&'a dyn Input>,
    pub(super) own: &'a dyn Input,
}

impl<'a> Behind<'a> {
    /// `own` with what it begins with; none where it is no fork's.
    pub(super) fn of(own: &'a dyn Input, bases: Option<&'a dyn Bases>) -> Result<Option<Self>> {
        let Some(fork) = first_line(own)?.and_then(|line| ForkContext::of(&line)) else {
            return Ok(None);
        };
        let parents = match bases {
            Some(bases) => bases.find(&fork.base())?,
            None => None,
        };
        Ok(Some(Self { fork, parents, own }))
    }

    /// Where the file's own bytes begin.
    pub(super) fn own_from(&self) -> u64 {
        self.parents.map_or(0, Input::size_bytes)
    }
}

impl Input for Behind<'_> {
    fn size_bytes(&self) -> u64 {
        self.own_from() + self.own.size_bytes()
    }

    /// At most to the end of the parent's bytes.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self.parents {
            Some(parents) if offset < parents.size_bytes() => {
                let len = buffer.len() as u64;
                let len = len.min(parents.size_bytes() - offset) as usize;
                parents.read_at(offset, &mut buffer[..len])
            }
            _ => self.own.read_at(offset - self.own_from(), buffer),
        }
    }
}
