//! What Codex prints with `exec --json`: JSON Lines of a thread, its turns and their items.
//!
//! An item has an id and a type; a command is told when it starts and again when it is complete.
//! The prompt is not in the stream, and of a text that was cut nothing is. Deliberately absent: the
//! rollouts of the same tool (`codex`).
//!
//! # Source
//!
//! Observed in streams of versions 0.169.0 and 0.171.0; `codex-rs/exec/src/exec_events.rs` of
//! <https://github.com/openai/codex> for the items that those lack.

mod read;
mod write;

use crate::formats::format::{Format, StreamedSession};
use crate::formats::shared::stream;

/// The format.
pub static CODEX_EXEC: Format = Format {
    seen: "`codex exec --json` 0.169.0 and 0.171.0",
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type").unwrap_or_default();
            match kind.as_str() {
                "thread.started" => record.has("thread_id"),
                "item.started" | "item.updated" | "item.completed" => record.has("item"),
                "turn.started" | "turn.completed" | "turn.failed" => !record.has("data"),
                _ => false,
            }
        })
    },
    streamed: Some(StreamedSession {
        kept_as: "codex",
        sums_up_session: true,
    }),
    ..stream::format::<read::ExecReader>("codex-exec", write::export)
};
