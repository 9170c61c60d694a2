//! Sessions of the OpenAI Agents SDK: a database in which each row is an item of the Responses API, put
//! together to one object ([`rows`]).
//!
//! Items of one reply make one message. Where the SDK has kept branches (`AdvancedSQLiteSession`), its main one is the
//! session, and each of the others is a branch by its name. Deliberately absent: tables under other names than the SDK's own,
//! items that it has encrypted, and any writing: the database is the program's that made it.
//!
//! # Source
//!
//! `src/agents/memory` and `src/agents/extensions/memory` of
//! <https://github.com/openai/openai-agents-python>.

mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::document;

/// The member of a session's object that holds its row, and those that hold the rows of its items and of
/// their order.
const SESSION: &str = "agent_session";
const ITEMS: &str = "agent_messages";
const ORDER: &str = "message_structure";

/// The format.
pub static OPENAI_AGENTS: Format = Format {
    tools: &["OpenAI Agents SDK"],
    seen: "a database of 2025 with three turns; calls and branches by its source of 2026",
    sniff: |head| {
        let session = head.object()?;
        let shows = session.inside(SESSION).is_some() && session.list(ITEMS).is_some();
        shows.then_some(0)
    },
    contents_of: Some("responses"),
    tables: Some(rows::TABLES),
    ..Format::only_read(
        "openai-agents",
        Shape::Document,
        document::import::<read::Session>,
    )
};
