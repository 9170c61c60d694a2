//! Sessions of Google's Agent Development Kit: a database in which each row is an event, put together to one object
//! ([`rows`]).
//!
//! What an event says is a message; a rewind, and a summary in place of older events, hide what is sent no more, and so
//! does a call that no tool answered. Deliberately absent: databases before version 1 of its tables, which hold pickled
//! objects; how the words of one agent are told to another; states, artifacts, and any writing.
//!
//! # Source
//!
//! `src/google/adk/{sessions,events,flows/llm_flows,cli/utils}` of <https://github.com/google/adk-python>, 2.13.

mod event;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;

/// The members of a session's object: its row, and its events.
const SESSION: &str = "adk_session";
const EVENTS: &str = "adk_events";

/// The format.
pub static GOOGLE_ADK: Format = Format {
    aliases: &["adk"],
    tools: &["Google ADK"],
    seen: "databases of 2.13; compactions and files by its source",
    sniff: |head| {
        let session = head.object()?;
        let shows = session.inside(SESSION).is_some() && session.list(EVENTS).is_some();
        shows.then_some(0)
    },
    // `adk run` and `adk web` keep one for each agent, whose folder is the project or stands in it. Programs name their own.
    home: Some(Home::projects(
        &["", "data", "*/.adk", ".adk"],
        rows::DATABASE,
    )),
    tables: Some(rows::TABLES),
    ..Format::only_read(
        "google-adk",
        Shape::Document,
        document::import::<read::Session>,
    )
};
