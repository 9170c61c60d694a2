//! Claude.ai's data export: conversations in one file, each a list of messages, in newer ones a tree.
//!
//! Each conversation is a session. A reply holds its calls and what they gave, in one list; their ids are
//! often left out, and then the order tells which result is whose. What the text of an attached file was
//! stands beside the prompt, of other files the names alone. Deliberately absent: writing, and the files of
//! projects and users in the same archive.
//!
//! # Source
//!
//! Nothing of it is documented by its maker, and no file of it was at hand: what is read is what several
//! readers of such files agree on.

mod message;
mod read;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::conversations;
use read::Conversation;

/// Whose blocks these are.
const PROVIDER: &str = "claude-ai";

/// The format.
pub static CLAUDE_AI: Format = Format {
    tools: &["Claude.ai"],
    seen: "none: what several readers of such files agree on",
    unproven: true,
    sniff: conversations::sniff::<Conversation>,
    attaches: true,
    ..Format::only_read(
        "claude-ai",
        Shape::Document,
        conversations::import::<Conversation>,
    )
};
