//! What bridges to frameworks keep beside a message: its own form there, in a block that no provider is sent.
//!
//! The blocks are tract's own notes, so nothing is missing where they are left out.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::{Message, Part};
use crate::wire::json::type_of;

/// The types of such blocks, as `python/lib/tract` writes them.
pub const KINDS: [&str; 3] = ["agents_item", "langgraph", "pydantic_ai_message"];

/// The message as a provider is to have it. Of one that is nothing but such a block stays the item in it; one without an
/// item stays as it is, for the writer to leave out.
pub fn without(message: Cow<'_, Message>) -> Cow<'_, Message> {
    if !message.parts.iter().any(has_note) {
        return message;
    }
    let parts = match &message.parts[..] {
        [Part::Opaque { provider, data }] => match item(data) {
            Some(item) => vec![Part::opaque(provider, item)],
            None => return message,
        },
        parts => parts
            .iter()
            .filter(|part| !is_note(part))
            .map(plain)
            .collect(),
    };
    let mut message = message.into_owned();
    message.parts = parts;
    Cow::Owned(message)
}

/// A part, and of a result what stands in it.
fn plain(part: &Part) -> Part {
    let mut part = part.clone();
    if let Part::ToolResult { content, .. } = &mut part {
        content.retain(|part| !is_note(part));
    }
    part
}

fn has_note(part: &Part) -> bool {
    match part {
        Part::ToolResult { content, .. } => content.iter().any(is_note),
        part => is_note(part),
    }
}

/// Whether a part is such a block.
fn is_note(part: &Part) -> bool {
    let Part::Opaque { data, .. } = part else {
        return false;
    };
    let may_be = KINDS.iter().any(|kind| data.contains(kind));
    may_be && type_of(data).is_some_and(|kind| KINDS.contains(&kind.as_str()))
}

/// The item that a block keeps.
fn item(block: &str) -> Option<String> {
    let block: Value = serde_json::from_str(block).ok()?;
    block.get("item").map(Value::to_string)
}
