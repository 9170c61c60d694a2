//! A record of the list: what the model is sent of it.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::parts;
use crate::model::{Message, Millis, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, quoted, string};
use crate::wire::openai;

lazy! {
    /// What of a row is looked at beside what OpenAI's messages have.
    struct Record {
        role, content, tool_calls, api_content, timestamp, active, compacted, reasoning, reasoning_content,
    }
}

/// How a row stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is sent.
    Active,
    /// A compaction has taken it out.
    Compacted,
    /// The user has taken it back.
    TakenBack,
}

/// What a row says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) message: Message,
    pub(super) time: Option<Millis>,
    pub(super) standing: Standing,
    /// Whether it holds a summary in the tool's words.
    pub(super) sums_up: bool,
}

/// What every summary of a compaction begins with.
const SUMMARY: &str = "[CONTEXT COMPACTION";

/// What a row says; an export has no other rows than those that are sent. One that is no message is given by its role.
pub(super) fn said(raw: &RawValue, notes: &mut Notes) -> Result<Result<Said, String>, String> {
    let record: Record<'_> = decode(Some(raw)).ok_or("not an object")?;
    let role = string(record.role).unwrap_or_default();
    let mut message = match role.parse() {
        // What the gateway notes of a session stands among its messages.
        Err(_) if role == "session_meta" => return Ok(Err(role)),
        Ok(role) if record.content.is_none() && record.tool_calls.is_none() => {
            Message::new(role, Vec::new())
        }
        _ => openai::message(raw, notes)?,
    };
    message
        .parts
        .retain(|part| !matches!(part, Part::Thinking { .. }));
    // The text that was sent, where the tool keeps another one to show.
    let is_talk = matches!(message.role, Role::User | Role::Assistant);
    if let Some(sent) = parts::said(record.api_content).filter(|_| is_talk) {
        message
            .parts
            .retain(|part| !matches!(part, Part::Text { .. }));
        message.parts.insert(0, Part::text(sent));
    }
    message.parts = message.parts.into_iter().map(sent).collect();
    message.parts.retain(|part| part.as_text() != Some(""));
    let thought = parts::said(record.reasoning_content).or_else(|| parts::said(record.reasoning));
    if let Some(thought) = thought.filter(|_| message.role == Role::Assistant) {
        message.parts.insert(0, parts::thought(thought));
    }
    let is_on = |raw: Raw<'_>| decode::<u64>(raw) == Some(1);
    let standing = if record.active.is_none() || is_on(record.active) {
        Standing::Active
    } else if is_on(record.compacted) {
        Standing::Compacted
    } else {
        Standing::TakenBack
    };
    let sums_up = string(record.content).is_some_and(|text| text.contains(SUMMARY));
    Ok(Ok(Said {
        message,
        time: time(record.timestamp),
        standing,
        sums_up,
    }))
}

/// A time in seconds, or as ISO 8601 has it.
pub(super) fn time(raw: Raw<'_>) -> Option<Millis> {
    parts::seconds(raw).or_else(|| parts::time(raw))
}

/// A part as it is sent: texts without space around them, arguments of calls written anew.
fn sent(part: Part) -> Part {
    match part {
        Part::Text { text } => Part::text(text.trim()),
        Part::ToolCall {
            id,
            name,
            arguments,
            kind,
        } => {
            let written = serde_json::from_str(&arguments).map(|value| dumped(&value));
            Part::call(id, name, written.unwrap_or(arguments), kind.as_deref())
        }
        Part::ToolResult {
            call,
            content,
            is_error,
        } => Part::result(call, content.into_iter().map(sent).collect(), is_error),
        part => part,
    }
}

/// JSON as Python's `json.dumps(value, separators=(",", ":"), sort_keys=True)` writes it.
fn dumped(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(dumped).collect();
            format!("[{}]", list.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let member =
                |(key, value): (&String, &Value)| format!("{}:{}", ascii(key), dumped(value));
            let members: Vec<String> = members.into_iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::String(text) => ascii(text),
        other => other.to_string(),
    }
}

/// A text as JSON in ASCII.
fn ascii(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    for letter in quoted(text).chars() {
        if letter.is_ascii() && letter != '\u{7f}' {
            written.push(letter);
        } else {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                written += &format!("\\u{unit:04x}");
            }
        }
    }
    written
}
