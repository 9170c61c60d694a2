//! A message of a thread: what is sent of it, in the forms of newer and of older versions.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::mentions::Mentions;
use super::variant::variant;
use crate::formats::shared::parts::{self, checked, redacted, sealed};
use crate::formats::shared::spans::members;
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::json::{Raw, decode, string, tight};
use crate::wire::{Notes, anthropic, gemini};

/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "zed";

/// What is sent where a turn was taken up again.
const RESUMED: &str = "Continue where you left off";
/// What is sent before a summary.
const SUMMED_UP: &str = "The previous conversation was compacted. Use this summary as context:\n\n";
/// What is sent of a result that says nothing.
const EMPTY: &str = "<Tool returned an empty string>";
/// What stands for a thought of Gemini's, of which there is the seal alone.
const SEALED: &str = "(Encrypted thought)";

/// What is sent of a message; no text that is empty.
pub(super) enum Said {
    /// What the user said, and the prompt's id.
    Prompt(String, Option<Message>),
    /// What the model said, what its calls gave, and how many calls gave nothing, which are not sent.
    Reply(Option<Message>, Option<Message>, u64),
    /// What stands in place of all before it but the newest prompts; none where that is a provider's own matter.
    Summary(Option<Message>),
    /// What has the turn go on.
    Resumed(Message),
    /// Nothing.
    System,
}

/// The message behind another.
pub(super) type Next<'a> = &'a dyn Fn() -> Option<Box<RawValue>>;

/// Reads a message. `next` is the one behind it: the oldest versions have the results of its calls there.
pub(super) fn said(raw: &RawValue, next: Next<'_>, notes: &mut Notes) -> Result<Said, String> {
    let mut found = Notes::default();
    let said = match variant(raw) {
        Some((kind, held)) => newer(&kind, held, &mut found)?,
        None => older(raw, next, &mut found)?,
    };
    match &said {
        Said::Prompt(_, message) | Said::Summary(message) => checked(message)?,
        Said::Reply(reply, results, _) => checked(reply.iter().chain(results))?,
        Said::Resumed(_) | Said::System => {}
    }
    notes.merge(found);
    Ok(said)
}

/// What is sent where a turn goes on that was cut short.
pub(super) fn resumed() -> Message {
    Message::text(Role::User, RESUMED)
}

fn newer(kind: &str, held: Raw<'_>, notes: &mut Notes) -> Result<Said, String> {
    lazy! { struct Held { id, content, tool_results } }
    match kind {
        "User" | "Agent" => {}
        "Compaction" => {
            let (kind, text) = held.and_then(variant).unwrap_or_default();
            let text = string(text);
            return match (kind.as_str(), text) {
                ("Summary", Some(text)) => {
                    let text = format!("{SUMMED_UP}{text}");
                    Ok(Said::Summary(Some(Message::text(Role::User, text))))
                }
                ("ProviderNative", _) => Ok(Said::Summary(None)),
                _ => Err(format!("a compaction of an unknown kind '{kind}'")),
            };
        }
        other => return Err(format!("a message of an unknown kind '{other}'")),
    }
    let held: Held<'_> = decode(held).unwrap_or_default();
    let content: Vec<&RawValue> = decode(held.content).ok_or("a message without content")?;
    if kind == "User" {
        let mut mentions = Mentions::default();
        let mut parts = Vec::new();
        for raw in content {
            parts.push(asked(raw, &mut mentions, notes));
        }
        parts.extend(mentions.parts());
        let id = string(held.id).unwrap_or_default();
        return Ok(Said::Prompt(id, message(Role::User, parts)));
    }
    let mut results = Vec::new();
    // They are sent in the order in which they came.
    let given = held.tool_results.map_or("", RawValue::get);
    for (id, at) in members(given.as_bytes(), 0).0 {
        let raw = serde_json::from_str(&given[at]).map_err(|error| error.to_string())?;
        results.push(result(raw, id, notes));
    }
    let parts = content.into_iter().map(|raw| replied(raw, notes)).collect();
    let answered = answers(&results);
    Ok(reply(parts, results, &answered))
}

/// A message of versions before 0.3.0 of the object, as the editor sent it then.
fn older(raw: &RawValue, next: Next<'_>, notes: &mut Notes) -> Result<Said, String> {
    lazy! { struct Older { role, text, segments, tool_uses, tool_results, context } }
    let held: Older<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let results = |held: &Older<'_>, notes: &mut Notes| -> Vec<Part> {
        let given: Vec<&RawValue> = decode(held.tool_results).unwrap_or_default();
        let given = given.into_iter();
        given.map(|raw| result(raw, String::new(), notes)).collect()
    };
    let given = results(&held, notes);
    let segments: Vec<&RawValue> = decode(held.segments).unwrap_or_default();
    let mut parts: Vec<Part> = string(held.context)
        .into_iter()
        .chain(string(held.text))
        .map(Part::text)
        .collect();
    for raw in segments {
        parts.push(segment(raw, notes));
    }
    match string(held.role).as_deref() {
        Some("user") => {
            let is_given = !given.is_empty() && parts.iter().all(is_empty);
            let role = if is_given { Role::Tool } else { Role::User };
            parts.splice(0..0, given);
            Ok(Said::Prompt(String::new(), message(role, parts)))
        }
        Some("assistant") => {
            let uses: Vec<&RawValue> = decode(held.tool_uses).unwrap_or_default();
            parts.extend(uses.into_iter().map(call));
            let mut answered = answers(&given);
            let next = next();
            if let Some(next) = decode::<Older<'_>>(next.as_deref()) {
                answered.extend(answers(&results(&next, &mut Notes::default())));
            }
            Ok(reply(parts, given, &answered))
        }
        Some("system") => Ok(Said::System),
        Some(other) => Err(format!("unknown role '{other}'")),
        None => Err("a message of an unknown form".to_owned()),
    }
}

/// A reply without the calls that were not answered.
fn reply(mut parts: Vec<Part>, results: Vec<Part>, answered: &HashSet<String>) -> Said {
    let before = parts.len();
    parts.retain(|part| match part {
        Part::ToolCall { id, .. } => answered.contains(id),
        _ => true,
    });
    let open = (before - parts.len()) as u64;
    Said::Reply(
        message(Role::Assistant, parts),
        message(Role::Tool, results),
        open,
    )
}

fn answers(results: &[Part]) -> HashSet<String> {
    let results = results.iter().filter_map(Part::as_result);
    results.map(|(call, ..)| call.to_owned()).collect()
}

/// A message of these parts, but for empty texts; none of nothing.
fn message(role: Role, mut parts: Vec<Part>) -> Option<Message> {
    parts.retain(|part| !is_empty(part));
    parts::message(role, parts)
}

fn is_empty(part: &Part) -> bool {
    matches!(part, Part::Text { text } if text.is_empty())
}

/// A piece of a prompt; what it mentions is put behind it.
fn asked(raw: &RawValue, mentions: &mut Mentions, notes: &mut Notes) -> Part {
    let found = variant(raw).and_then(|(kind, held)| match kind.as_str() {
        "Text" => string(held).map(Part::text),
        "Image" => image(held?),
        "Mention" => mentions.take(held?).map(Part::text),
        _ => None,
    });
    found.unwrap_or_else(|| opaque(raw, notes))
}

/// A piece of a reply.
fn replied(raw: &RawValue, notes: &mut Notes) -> Part {
    #[derive(Deserialize)]
    struct Thought {
        text: String,
        signature: Option<String>,
    }
    let found = variant(raw).and_then(|(kind, held)| match kind.as_str() {
        "Text" => string(held).map(Part::text),
        "Thinking" => {
            decode::<Thought>(held).map(|thought| thinking(thought.text, thought.signature))
        }
        "RedactedThinking" => string(held).map(|data| redacted(&data)),
        "ToolUse" => held.map(call),
        _ => None,
    });
    found.unwrap_or_else(|| opaque(raw, notes))
}

/// A segment of an older message.
fn segment(raw: &RawValue, notes: &mut Notes) -> Part {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Segment {
        r#type: String,
        text: String,
        signature: Option<String>,
        data: String,
    }
    let held: Segment = decode(Some(raw)).unwrap_or_default();
    match held.r#type.as_str() {
        "text" => Part::text(held.text),
        "thinking" => thinking(held.text, held.signature),
        "RedactedThinking" | "redacted_thinking" => redacted(&held.data),
        _ => opaque(raw, notes),
    }
}

/// What was thought. Whose seal it bears is not said: of those whose seals the editor keeps there, one alone has
/// no text.
fn thinking(text: String, signature: Option<String>) -> Part {
    let provider = if text == SEALED {
        gemini::PROVIDER
    } else {
        anthropic::PROVIDER
    };
    sealed(text, signature, provider)
}

/// A call, with its arguments as they are sent back; newer versions say of what kind these are.
fn call(raw: &RawValue) -> Part {
    lazy! { struct Call { id, name, input } }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, bound(deserialize = "'de: 'a"))]
    struct Input<'a> {
        r#type: String,
        #[serde(borrow)]
        value: &'a RawValue,
    }
    let call: Call<'_> = decode(Some(raw)).unwrap_or_default();
    let input = call.input.map_or("{}", RawValue::get);
    let kinds: Option<Input<'_>> = decode(call.input);
    let (kind, arguments) = match kinds {
        Some(Input { r#type, value }) if r#type == "json" => (None, tight(value.get())),
        Some(Input { r#type, value }) if r#type == "text" => {
            let text = string(Some(value));
            (Some("custom"), text.unwrap_or_default())
        }
        _ => (None, tight(input)),
    };
    let id = string(call.id).unwrap_or_default();
    Part::call(id, string(call.name).unwrap_or_default(), arguments, kind)
}

/// What a call gave. Its content is a text, an object or, in newer versions, a list of them.
fn result(raw: &RawValue, id: String, notes: &mut Notes) -> Part {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Given<'a> {
        tool_use_id: Raw<'a>,
        is_error: bool,
        content: Raw<'a>,
    }
    let given: Given<'_> = decode(Some(raw)).unwrap_or_default();
    let pieces = decode::<Vec<&RawValue>>(given.content);
    let pieces = pieces.unwrap_or_else(|| given.content.into_iter().collect());
    let mut content: Vec<Part> = pieces.into_iter().map(|raw| piece(raw, notes)).collect();
    let is_blank = |part: &Part| matches!(part, Part::Text { text } if text.trim().is_empty());
    if content.iter().all(is_blank) {
        content = vec![Part::text(EMPTY)];
    }
    let call = string(given.tool_use_id).unwrap_or(id);
    parts::result(Some(call), content, given.is_error)
}

/// A piece of a result: a text, or an object with a text or a picture in it, however its names are written.
fn piece(raw: &RawValue, notes: &mut Notes) -> Part {
    if let Some(text) = string(Some(raw)) {
        return Part::text(text);
    }
    let picture = || member(raw, "image").and_then(image).or_else(|| image(raw));
    let text = string(member(raw, "text")).map(Part::text);
    text.or_else(picture).unwrap_or_else(|| opaque(raw, notes))
}

/// A picture, which is always a PNG.
fn image(raw: &RawValue) -> Option<Part> {
    let source = MediaSource::Base64(string(member(raw, "source"))?);
    Some(Part::Image(Media::new(
        Some("image/png".to_owned()),
        source,
    )))
}

/// The member of an object that has this name but for upper case.
fn member<'a>(raw: &'a RawValue, name: &str) -> Raw<'a> {
    let held: BTreeMap<String, &RawValue> = decode(Some(raw))?;
    let mut held = held.into_iter();
    let found = held.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, raw)| raw)
}

fn opaque(raw: &RawValue, notes: &mut Notes) -> Part {
    let kind = variant(raw).map(|(kind, _)| kind);
    let kind = kind.as_deref().unwrap_or("(no block)");
    parts::opaque(PROVIDER, kind, tight(raw.get()), notes)
}
