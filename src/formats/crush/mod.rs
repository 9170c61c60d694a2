//! Crush: a session of its database (`.crush/crush.db` in a project), as one object with its messages ([`rows`]).
//!
//! The tool goes on from a summary by what its session names, and sends that one as the user's: all before it is hidden
//! here. Deliberately absent: any writing, and the versions of files that the database keeps.
//!
//! # Source
//!
//! `internal/{agent,db,message,session}` of <https://github.com/charmbracelet/crush>.

mod message;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::document;

/// Whose opaque blocks these are.
const PROVIDER: &str = "crush";

/// The member that holds a session's messages.
const MESSAGES: &str = "messages";

/// The format.
pub static CRUSH: Format = Format {
    tools: &["Crush"],
    seen: "a database of August 2025 with one session; summaries, reasoning and pictures by its source of 2026",
    sniff: |head| {
        let object = head.object()?;
        let is_session = object.has("message_count") && object.has("completion_tokens");
        (is_session && object.list(MESSAGES).is_some()).then_some(0)
    },
    tables: Some(rows::TABLES),
    ..Format::only_read("crush", Shape::Document, document::import::<read::Session>)
};
