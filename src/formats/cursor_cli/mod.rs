//! Cursor's command line: a conversation in a database of its own, `~/.cursor/chats/PROJECT/ID/store.db`.
//!
//! What is in it goes by its hash. One value names the messages that the model is sent, the system prompt first;
//! what a summary stands for is named beside it, and still there. A conversation is put together to one object
//! ([`rows`]): each message once, and which of them stood before each summary and stand now. Deliberately absent: turns,
//! which are for the screen and say the same with less; sub-agents; and any writing: the tool is closed.
//!
//! # Source
//!
//! What independent readers agree on, among them <https://github.com/inference-sh/agentprotocol> (`transcript`);
//! descriptions of `agent.v1.ConversationStateStructure` and `ConversationSummaryArchive` by those who looked into the
//! tool; a survey of 648 such databases.

mod message;
mod protobuf;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::states::Conversation;

/// The members of a conversation's object: what is known of it, its messages, and which stood when.
const AGENT: &str = "cursor_agent";
const MESSAGES: &str = "messages";
const STATES: &str = "states";

/// The database's name.
const DATABASE: &str = "store.db";

/// The format.
pub static CURSOR_CLI: Format = Format {
    tools: &["Cursor CLI"],
    seen: "none at hand: what independent readers of stores of 2025 and 2026 agree on",
    unproven: true,
    sniff: |head| {
        let agent = head.object()?;
        let shows = agent.inside(AGENT).is_some() && agent.list(MESSAGES).is_some();
        shows.then_some(0)
    },
    home: Some(Home {
        belongs: |name, _, _| name == DATABASE,
        ..Home::of(".cursor", "chats", 2, |name| name == DATABASE)
    }),
    tables: Some(rows::TABLES),
    ..Format::only_read(
        "cursor-cli",
        Shape::Document,
        document::import::<Conversation<read::Agent>>,
    )
};
