//! `llm`, the command-line tool: a database of conversations, each put together to one object ([`rows`]).
//!
//! Newer versions keep a tree of messages: a conversation is the way to its tip, which is word for word what the
//! model is sent, and ways that its other turns took are branches here. Older ones keep replies, each with what was
//! new before it. Deliberately absent: the table of the first versions (`log`), which knew no conversations to go on
//! with, and any writing: the database is the tool's.
//!
//! # Source
//!
//! `llm/{logs,models,parts,migrations}.py` of <https://github.com/simonw/llm>.

mod message;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;

/// The member of a conversation's object that holds its row, and those with the lists of what was said.
const CONVERSATION: &str = "llm_conversation";
const RESPONSES: &str = "responses";
const MESSAGES: &str = "messages";
const TURNS: &str = "turns";
const TOOLS: &str = "tools";

/// The format.
pub static LLM: Format = Format {
    tools: &["llm"],
    seen: "databases of 0.27 and 0.36 that the tool wrote of recorded talk; fragments, attachments and forks by its source of 2026",
    sniff: |head| {
        let conversation = head.object()?;
        let said = [RESPONSES, MESSAGES];
        let lists = said.iter().any(|key| conversation.list(key).is_some());
        (lists && conversation.inside(CONVERSATION).is_some()).then_some(0)
    },
    home: Some(Home {
        variable: Some("LLM_USER_PATH"),
        ..Home::database(".config/io.datasette.llm", DATABASE)
    }),
    tables: Some(rows::TABLES),
    ..Format::only_read(
        "llm",
        Shape::Document,
        document::import::<read::Conversation>,
    )
};

/// The database's name.
const DATABASE: &str = "logs.db";
