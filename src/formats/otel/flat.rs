//! Messages of which each piece is an attribute of its own, by the names of OpenInference and of older versions of
//! OpenLLMetry.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::attributes::Attributes;
use crate::formats::shared::parts::{self, said};
use crate::model::{Message, Part, Role};
use crate::wire::json::Object;
use crate::wire::{Notes, media, openai};

/// Where messages stand: with what the keys begin, and what stands behind the number.
pub(super) type Places = [(&'static str, &'static str); 2];

/// What was sent.
pub(super) const INPUT: Places = [("llm.input_messages.", "message."), ("gen_ai.prompt.", "")];

/// What was answered.
pub(super) const OUTPUT: Places = [
    ("llm.output_messages.", "message."),
    ("gen_ai.completion.", ""),
];

/// The members of one thing, by the rest of their keys.
type Members<'a> = BTreeMap<String, &'a RawValue>;

/// The messages at these places.
pub(super) fn messages(of: &Attributes<'_>, places: &Places, notes: &mut Notes) -> Vec<Message> {
    let found = places
        .iter()
        .map(|(prefix, within)| numbered(of.below(prefix), within));
    let found = found.flat_map(BTreeMap::into_values);
    found
        .filter_map(|members| message(&members, notes))
        .collect()
}

/// What stands below each number, by what follows a word behind it.
fn numbered<'a, 'k>(
    keys: impl Iterator<Item = (&'k str, &'a RawValue)>,
    within: &str,
) -> BTreeMap<u64, Members<'a>> {
    let mut found: BTreeMap<u64, Members<'a>> = BTreeMap::new();
    for (key, raw) in keys {
        if let Some((number, rest)) = key.split_once('.')
            && let (Ok(number), Some(rest)) = (number.parse(), rest.strip_prefix(within))
        {
            found
                .entry(number)
                .or_default()
                .insert(rest.to_owned(), raw);
        }
    }
    found
}

fn message(of: &Members<'_>, notes: &mut Notes) -> Option<Message> {
    let text = |of: &Members<'_>, key: &str| said(of.get(key).copied());
    let below = |prefix: &str, within: &str| {
        let keys = of
            .iter()
            .filter_map(|(key, raw)| Some((key.strip_prefix(prefix)?, *raw)));
        numbered(keys, within).into_values()
    };
    let role: Role = text(of, "role")?.parse().ok()?;
    let mut parts = match text(of, "content") {
        Some(content) => blocks(&content, notes).unwrap_or_else(|| vec![Part::text(content)]),
        None => Vec::new(),
    };
    parts.extend(below("contents.", "message_content.").filter_map(|piece| {
        let picture = text(&piece, "image.image.url");
        let picture = picture.map(|url| parts::picture(media::attachment(url, None, None)));
        picture.or_else(|| text(&piece, "text").map(Part::text))
    }));
    if role == Role::Tool {
        let call = text(of, "tool_call_id");
        return Some(Message::new(role, vec![parts::result(call, parts, false)]));
    }
    let calls = below("tool_calls.", "tool_call.").chain(below("tool_calls.", ""));
    parts.extend(calls.filter_map(|call| {
        let either = |one: &str, other: &str| text(&call, one).or_else(|| text(&call, other));
        let name = either("function.name", "name")?;
        let arguments = either("function.arguments", "arguments");
        Some(parts::call(text(&call, "id"), Some(name), arguments))
    }));
    parts::message(role, parts)
}

/// The parts of a content that is written as a list of OpenAI's.
fn blocks(content: &str, notes: &mut Notes) -> Option<Vec<Part>> {
    lazy! { struct Block { r#type } }
    let list: Vec<Block<'_>> = serde_json::from_str(content).ok()?;
    let is_list = list.iter().all(|block| block.r#type.is_some());
    let message = Object::new()
        .string("role", "user")
        .raw("content", content)
        .finish();
    let raw = is_list.then(|| RawValue::from_string(message).ok())??;
    let message = openai::message(&raw, notes).ok()?;
    Some(message.parts).filter(|parts| !parts.is_empty())
}
