//! Sessions of Agno: a database with a row for each session and each run, or with a session's runs in its row, put together
//! to one object ([`rows`]).
//!
//! A run holds the messages that are new in it, behind its own system message. A run that failed, or was cancelled or
//! paused, is sent no more. Deliberately absent: how many runs an agent sends again, which only the program says;
//! memories, knowledge and states; and any writing.
//!
//! # Source
//!
//! `agno/{models/message.py,db/sqlite,session/agent.py}` of <https://github.com/agno-agi/agno>, 3.1.

mod message;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;

/// The members of a session's object: its row, and its runs.
const SESSION: &str = "agno_session";
const RUNS: &str = "agno_runs";

/// The format.
pub static AGNO: Format = Format {
    tools: &["Agno"],
    seen: "databases of 3.1; those of 2 by its source",
    sniff: |head| {
        let session = head.object()?;
        let shows = session.inside(SESSION).is_some() && session.list(RUNS).is_some();
        shows.then_some(0)
    },
    // Where a program is started, which mostly names its own; its documentation has `tmp`.
    home: Some(Home::projects(&["", "data", "tmp"], rows::DATABASE)),
    tables: Some(rows::TABLES),
    ..Format::only_read("agno", Shape::Document, document::import::<read::Session>)
};
