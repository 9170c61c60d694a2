//! ChatGPT's data export: conversations in one file, each a tree of messages with the one where it stands.
//!
//! Each conversation is a session. The way to its current node is the main one; prompts that were edited
//! and replies that were made again are branches. Calls and results bear no ids: a result answers the call
//! above it. Deliberately absent: writing, and the pictures and files, which lie beside this file.
//!
//! # Source
//!
//! Nothing of it is documented; what is read is what exports of 2023 to 2025 hold.

mod message;
mod read;
mod tell;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::conversations;
use read::Conversation;

/// Whose blocks these are.
const PROVIDER: &str = "chatgpt";

/// The format.
pub static CHATGPT: Format = Format {
    tools: &["ChatGPT"],
    seen: "exports of 2023 to 2025",
    sniff: conversations::sniff::<Conversation>,
    attaches: true,
    ..Format::only_read(
        "chatgpt",
        Shape::Document,
        conversations::import::<Conversation>,
    )
};
