//! Anthropic's streaming events, as JSON Lines or as server-sent events: what an answer with
//! `"stream": true` gives, from `message_start` to `message_stop`, one answer after the other.
//!
//! The prompt is not in the stream. Deliberately absent: what Claude Code puts around such events
//! (`claude_stream`, which reads them with [`Blocks`] as well).
//!
//! # Source
//!
//! Anthropic's API reference, "Streaming Messages".

mod blocks;
mod read;
mod write;

pub(super) use blocks::{Blocks, Streamed};

use crate::formats::format::Format;
use crate::formats::shared::stream;

/// The types of events that begin, go on with, or end a reply.
const TYPES: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

/// The format.
pub static ANTHROPIC_STREAM: Format = Format {
    seen: "a reply's events",
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type").unwrap_or_default();
            match kind.as_str() {
                "message_start" => record.has("message"),
                "message_delta" => record.has("delta"),
                "message_stop" => true,
                kind => TYPES.contains(&kind) && record.has("index"),
            }
        })
    },
    ..stream::format::<read::MessagesReader>("anthropic-stream", |export| {
        stream::replies(export, "msg_", write::new_lines)
    })
};
