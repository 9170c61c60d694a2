//! Kiro CLI: a conversation as the object that the tool keeps of it, which stands in its database ([`rows`]).
//!
//! An entry of its history is what was sent and what came back. A compaction takes the oldest away and leaves a
//! summary, which is sent before all others. Deliberately absent: the files that newer engines of the tool keep
//! (`~/.kiro/sessions`), for what a compaction leaves in them nobody says; and any writing.
//!
//! # Source
//!
//! `crates/chat-cli/src/cli/chat/{conversation,message,parser}.rs` of
//! <https://github.com/aws/amazon-q-developer-cli>, from which the tool was made; its database as its
//! readers describe it.

mod message;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;

/// The members of a conversation that name it, and that hold its entries.
const ID: &str = "conversation_id";
const HISTORY: &str = "history";

/// The format.
pub static KIRO: Format = Format {
    tools: &["Kiro CLI"],
    seen: "one conversation of 2025, its calls without ids; the rest by the source of the tool before it, of 2026",
    sniff: |head| {
        let conversation = head.object()?;
        let shows = conversation.has(ID) && conversation.list(HISTORY).is_some();
        shows.then_some(0)
    },
    home: Some(Home::database(".local/share/kiro-cli", DATABASE)),
    tables: Some(rows::TABLES),
    ..Format::only_read(
        "kiro",
        Shape::Document,
        document::import::<read::Conversation>,
    )
};

/// The database's name.
const DATABASE: &str = "data.sqlite3";
