//! Anthropic Messages: messages, request and response bodies, and rows of `{system, messages}`.
//!
//! Deliberately absent: streams of events.

mod read;
mod write;

use super::chat::{self, Kind};
use super::format::{Format, Shape};

/// The format.
pub static ANTHROPIC: Format = Format {
    name: "anthropic",
    aliases: &[],
    tools: &["Anthropic"],
    shape: Shape::Document,
    sniff: |head| match chat::kind(head)? {
        (at, Kind::Anthropic) => Some(at),
        _ => None,
    },
    read: |input, options, sink| chat::read(&read::DIALECT, input, options, sink),
    write: write::export,
    events: None,
    provider: Some("anthropic"),
    contents_of: Some("anthropic"),
    running: None,
    bare_messages: true,
    attaches: false,
    common_stem: None,
    home: None,
    #[cfg(test)]
    fixtures: "chat",
};
