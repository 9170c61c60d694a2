//! Recorded API bodies: what a client sent to its provider, request by request, and what it was
//! answered.
//!
//! One record a line: `{"file","time","body"}` of a folder in which a client keeps each body as a
//! file, or `{"headers","body"}` (`request` for `body`, with the `response` beside it) as recording
//! servers write them. The requests of one conversation are its context again and again: what they
//! have in common is told once, what a client left out or replaced between two of them is hidden.
//! A reply is known by the reply's own body, or by the next request. Each request stands, as it was,
//! behind the last commit that it brought.
//!
//! Deliberately absent: how a provider spells a message. A body is read by the provider's own format.
//!
//! # Source
//!
//! Observed: the files of Claude Code 2.1.197 with `OTEL_LOG_RAW_API_BODIES=file:DIR`, and its requests,
//! those of Codex 0.128 and 0.169 and of OpenCode 1.18.33, as a server recorded them with their headers.

mod body;
mod conversation;
mod line;
mod parts;
mod read;
#[cfg(test)]
mod tests;

pub(in crate::formats) use body::Body;
pub(in crate::formats) use parts::settle;

use crate::formats::format::{Format, RecordFiles, Shape};
use crate::wire::json::quoted;

/// The format.
pub static BODIES: Format = Format {
    tools: &["recorded API bodies"],
    seen: "Claude Code 2.1.197 with `OTEL_LOG_RAW_API_BODIES`; requests of Codex 0.169, OpenCode 1.18.33",
    sniff: |head| {
        head.first(|record| {
            let body = record.inside("body").or_else(|| record.inside("request"));
            body.is_some_and(|body| {
                let is_reply = body.has("role") && body.has("content") || body.has("output");
                body.has("model") && (is_reply || body.has_any(&["messages", "input", "choices"]))
            })
        })
    },
    recorded: Some(body::recorded),
    record_files: Some(RecordFiles {
        is_one: |name| line::KINDS.iter().any(|kind| name.ends_with(kind)),
        before: |name, time| format!(r#"{{"file":{},"time":{},"body":"#, quoted(name), time.0),
        after: "}",
        by_name: false,
        beside: None,
    }),
    contents_of: Some("anthropic"),
    attaches: true,
    ..Format::only_read("bodies", Shape::Lines, read::import)
};
