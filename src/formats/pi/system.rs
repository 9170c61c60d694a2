//! What the tool tells the model of its work, since 1.0: a prompt of named sections, and the tools. Later messages change
//! single sections and tools; of them all, what holds is worked out here.
//!
//! Deliberately absent: where such a message is sent. A model that takes none in mid-conversation is sent what holds at the
//! newest one, in front.
//!
//! # Source
//!
//! `packages/ai/src/utils/transcript.ts` and `text.ts` of <https://github.com/earendil-works/pi>; observed with 1.6.0.

use serde_json::value::RawValue;

use crate::formats::shared::fields::Fields;
use crate::formats::shared::parts;
use crate::wire::json::{Raw, array, decode, string, word};

lazy! {
    struct Said { role, content, sections, tools_added = "toolsAdded", tools_removed = "toolsRemoved" }
    struct Text { r#type, text }
    struct Tool { name, description, parameters }
    struct Framed { function }
}

/// The message of an entry that says the prompt or tools: of a compaction the one that holds behind it (`holds`), else its
/// own.
pub(super) fn of<'a>(holds: Raw<'a>, own: Raw<'a>) -> Raw<'a> {
    let found = holds.or(own)?;
    // Others are many and may be long.
    let is_likely = holds.is_some() || found.get().contains("\"system\"");
    let role = || word(decode::<Said<'_>>(Some(found))?.role);
    (is_likely && role().as_deref() == Some("system")).then_some(found)
}

/// The prompt as the first message of a conversation says it.
pub(super) fn whole(message: &RawValue) -> String {
    told(message, |_, text| text)
}

/// The same as a later message says it: each section that is another one now.
pub(super) fn change(message: &RawValue) -> String {
    told(message, |name, text| match text {
        Some(text) => Some(format!(
            "Updated system prompt section \"{name}\":\n\n{text}"
        )),
        None => Some(format!("Removed system prompt section \"{name}\".")),
    })
}

/// What a message says: its content, then its sections, each as `section` makes it of its name and its text.
fn told(message: &RawValue, section: impl Fn(&str, Option<String>) -> Option<String>) -> String {
    let said: Said<'_> = decode(Some(message)).unwrap_or_default();
    let sections = said.sections.and_then(|raw| Fields::parse(raw.get()));
    let sections = sections.unwrap_or_default();
    let sections = sections.members();
    let sections = sections.filter_map(|(name, raw)| section(name, string(Some(raw))));
    let all = std::iter::once(content(said.content)).chain(sections);
    let all: Vec<String> = all.filter(|text| !text.is_empty()).collect();
    all.join("\n\n")
}

/// A content's texts, a line's end between them.
fn content(raw: Raw<'_>) -> String {
    if let Some(text) = string(raw) {
        return text;
    }
    let blocks: Vec<Text<'_>> = decode(raw).unwrap_or_default();
    let texts = blocks.iter();
    let texts = texts.filter(|block| word(block.r#type).as_deref() == Some("text"));
    let texts: Vec<String> = texts.filter_map(|block| string(block.text)).collect();
    texts.join("\n")
}

/// The tools behind a message, as a provider is offered them, where `before` are those before it, as JSON. None where it
/// names none.
pub(super) fn tools(before: Option<&str>, message: &RawValue) -> Option<String> {
    let said: Said<'_> = decode(Some(message)).unwrap_or_default();
    let added: Vec<&RawValue> = decode(said.tools_added).unwrap_or_default();
    let removed: Vec<Tool<'_>> = decode(said.tools_removed).unwrap_or_default();
    if added.is_empty() && removed.is_empty() {
        return None;
    }
    let before: Vec<&RawValue> = before
        .and_then(|before| serde_json::from_str(before).ok())
        .unwrap_or_default();
    let before = before.into_iter().filter_map(|raw| {
        let framed: Framed<'_> = decode(Some(raw))?;
        let tool: Tool<'_> = decode(framed.function)?;
        Some((string(tool.name)?, raw.get().to_owned()))
    });
    let mut tools: Vec<(String, String)> = before.collect();
    for name in removed.iter().filter_map(|tool| string(tool.name)) {
        tools.retain(|(of, _)| *of != name);
    }
    for raw in added {
        let tool: Tool<'_> = decode(Some(raw)).unwrap_or_default();
        let Some(name) = string(tool.name) else {
            continue;
        };
        let schema = tool.parameters.map_or("{}", RawValue::get);
        let description = string(tool.description);
        let offered = parts::tool(&name, description.as_deref(), schema);
        match tools.iter_mut().find(|(of, _)| *of == name) {
            Some((_, known)) => *known = offered,
            None => tools.push((name, offered)),
        }
    }
    let tools: Vec<String> = tools.into_iter().map(|(_, tool)| tool).collect();
    Some(array(tools))
}
