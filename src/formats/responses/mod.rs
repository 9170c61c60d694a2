//! Bodies of OpenAI's Responses API: a request with its items, a response with what it gave, or a list of items alone.
//!
//! Deliberately absent: streams of events, and what stands with the provider (`previous_response_id`).

mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::head::Keys;
use crate::formats::shared::whole_request::alone;
use crate::wire::responses::ITEMS;

/// The format.
pub static RESPONSES: Format = Format {
    seen: "items, requests, replies",
    sniff: |head| {
        if head.lists(is_item) {
            return Some(0);
        }
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

/// Whether an object is an item that no other form has: one of the provider's kinds, or a message of its blocks.
fn is_item(item: &Keys<'_>) -> bool {
    let kind = item.text("type").unwrap_or_default();
    let is_of_call = kind.ends_with("_call") || kind.ends_with("_call_output");
    let mut blocks = item.list("content").into_iter().flatten();
    let is_block = |block: &Keys<'_>| {
        let kind = block.text("type").unwrap_or_default();
        ["input_text", "input_image", "input_file", "output_text"].contains(&kind.as_str())
    };
    let mut kinds = ITEMS.iter();
    is_of_call && item.has_any(&["call_id", "status"])
        || kinds.any(|(known, member)| kind == *known && item.has(member))
        || item.has("role") && blocks.any(|block| is_block(&block))
}
