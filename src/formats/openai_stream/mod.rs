//! The chunks of OpenAI's chat completions, as JSON Lines or as server-sent events: what an answer
//! with `"stream": true` gives, there and from the many servers that speak the same, one answer
//! after the other.
//!
//! The prompt is not in the stream. Of several choices the first is the reply. Deliberately absent:
//! the Responses API (`responses_stream`), and whole bodies (`openai`).
//!
//! # Source
//!
//! OpenAI's API reference, "Chat Completions", "The chat completion chunk object"; the reasoning
//! members are those of other servers.

mod read;
mod write;

use crate::formats::format::Format;
use crate::formats::shared::stream;

/// What the chunks call themselves.
const OBJECT: &str = "chat.completion.chunk";

/// The format.
pub static OPENAI_STREAM: Format = Format {
    seen: "a reply's events",
    sniff: |head| {
        head.first(|record| {
            // Not every server says what it is.
            let has_delta = || {
                let mut choices = record.list("choices").into_iter().flatten();
                choices.any(|choice| choice.has("delta"))
            };
            record.is("object", OBJECT) || has_delta()
        })
    },
    ..stream::format::<read::ChunkReader>("openai-stream", |export| {
        stream::replies(export, "chatcmpl-", write::new_lines)
    })
};
