//! OpenAI chat completions: messages, request and response bodies, fine-tuning rows, and arrays of
//! recorded runs (`[{task_id, traj, …}]`).
//!
//! Deliberately absent: streams of chunks, and the Responses API, a format of its own.

mod read;
mod write;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::chat::{self, Kind};
use crate::formats::shared::whole_request::alone;

/// The format.
pub static OPENAI: Format = Format {
    tools: &["OpenAI"],
    seen: "message lists, requests, replies, fine-tuning rows",
    sniff: |head| match chat::kind(head)? {
        (at, Kind::OpenAi) => Some(at),
        // Good in either chat format; any other sign comes first.
        (_, Kind::Plain) => Some(usize::MAX),
        _ => None,
    },
    provider: Some("openai"),
    recorded: Some(alone),
    contents_of: Some("openai"),
    bare_messages: true,
    #[cfg(test)]
    fixtures: "chat",
    ..Format::of(
        "openai",
        Shape::Document,
        |source| chat::read(&read::DIALECT, source),
        write::export,
    )
};
