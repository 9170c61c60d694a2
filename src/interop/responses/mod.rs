//! Bodies of OpenAI's Responses API: a request with its items, or a response with what it gave.
//!
//! Deliberately absent: streams of events, and what stands with the provider (`previous_response_id`).

mod read;
mod write;

use super::format::{Format, Shape};

/// The format.
pub static RESPONSES: Format = Format {
    name: "responses",
    aliases: &[],
    tools: &[],
    shape: Shape::Document,
    sniff: |head| {
        let body = head.object()?;
        let is_request = body.has("input") && body.has("model") && !body.has("messages");
        let is_response = body.is("object", "response") && body.has("output");
        (is_request || is_response).then_some(0)
    },
    read: read::import,
    write: write::export,
    events: None,
    provider: Some("responses"),
    contents_of: Some("responses"),
    running: None,
    bare_messages: false,
    attaches: false,
    common_stem: None,
    home: None,
    #[cfg(test)]
    fixtures: "responses",
};
