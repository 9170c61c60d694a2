//! Bodies of OpenAI's Responses API: a request with its items, or a response with what it gave.
//!
//! Deliberately absent: streams of events, and what stands with the provider (`previous_response_id`).

mod read;
mod write;

use super::format::{Format, Shape};
use super::whole_request::alone;

/// The format.
pub static RESPONSES: Format = Format {
    seen: "items, requests, replies",
    sniff: |head| {
        let body = head.object()?;
        let is_request = body.has("input") && body.has("model") && !body.has("messages");
        let is_response = body.is("object", "response") && body.has("output");
        (is_request || is_response).then_some(0)
    },
    provider: Some("responses"),
    recorded: Some(alone),
    contents_of: Some("responses"),
    ..Format::of("responses", Shape::Document, read::import, write::export)
};
