//! The events of OpenAI's Responses API, as JSON Lines or as server-sent events, from
//! `response.created` to `response.completed`, one response after the other.
//!
//! The prompt is not in the stream. A response is one message, whatever items it has. Deliberately
//! absent: what other items than messages, reasoning and calls tell while they are at work; whole,
//! they are kept.
//!
//! # Source
//!
//! OpenAI's API reference, "Responses", "Streaming events".

mod read;
mod write;

use crate::formats::format::Format;
use crate::formats::shared::stream;

/// The format.
pub static RESPONSES_STREAM: Format = Format {
    seen: "a reply's events",
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type").unwrap_or_default();
            let of_response = [
                "response",
                "item",
                "delta",
                "item_id",
                "output_index",
                "text",
            ];
            kind.starts_with("response.") && record.has_any(&of_response)
        })
    },
    ..stream::format::<read::ResponsesReader>("responses-stream", |export| {
        stream::replies(export, "resp_", write::new_lines)
    })
};
