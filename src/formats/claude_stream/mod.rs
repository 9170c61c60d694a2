//! What Claude Code prints with `--output-format stream-json`: JSON Lines, with
//! `--include-partial-messages` the provider's own streaming events among them.
//!
//! Each `assistant` line holds one block of a reply, and comes before the `content_block_stop` of
//! what streamed. The prompt is not in the stream. Deliberately absent: the session files of the
//! same tool (`claude_code`), and what its lines say of dollars and limits.
//!
//! # Source
//!
//! Observed in streams of versions 2.1.197 and 2.1.332.

mod read;
mod session_usage;
mod write;

use crate::formats::format::{Format, StreamedSession};
use crate::formats::shared::stream;

/// The format.
pub static CLAUDE_STREAM: Format = Format {
    aliases: &["stream-json"],
    seen: "`claude -p --output-format stream-json` 2.1.197 and 2.1.332",
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type").unwrap_or_default();
            let of_stream = match kind.as_str() {
                "stream_event" => record.has("event"),
                "system" => record.has("subtype") && !record.has("parentUuid"),
                "assistant" | "user" => record.has("message") && record.has("parent_tool_use_id"),
                "result" => record.has("num_turns"),
                _ => false,
            };
            of_stream && record.has("session_id")
        })
    },
    request_of: Some(read::request_of),
    streamed: Some(StreamedSession {
        kept_as: "claude-code",
        sums_up_session: false,
    }),
    ..stream::format::<read::ClaudeReader>("claude-stream", write::export)
};
