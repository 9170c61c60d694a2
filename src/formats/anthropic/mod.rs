//! Anthropic Messages: messages, request and response bodies, and rows of `{system, messages}`.
//!
//! Deliberately absent: streams of events.

mod read;
mod write;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::chat::{self, Kind};
use crate::formats::shared::whole_request::alone;

/// The format.
pub static ANTHROPIC: Format = Format {
    tools: &["Anthropic"],
    seen: "message lists, requests, replies, fine-tuning rows",
    sniff: |head| match chat::kind(head)? {
        (at, Kind::Anthropic) => Some(at),
        _ => None,
    },
    provider: Some("anthropic"),
    recorded: Some(alone),
    contents_of: Some("anthropic"),
    bare_messages: true,
    #[cfg(test)]
    fixtures: "chat",
    ..Format::of(
        "anthropic",
        Shape::Document,
        |source| chat::read(&read::DIALECT, source),
        write::export,
    )
};
