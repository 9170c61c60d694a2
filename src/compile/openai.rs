//! Requests in OpenAI's chat-completions form. Messages are never merged.
//!
//! # Source
//!
//! OpenAI's API reference, "Create chat completion": which role takes which content parts, and
//! that every call is answered by a tool message right after the message that makes it.

use crate::compile::Repair;
use crate::compile::ids::{IdRule, plain};
use crate::compile::media::{self, FILE_WORD, IMAGE_WORD};
use crate::compile::notice::Tally;
use crate::compile::repair::{Answer, INTERRUPTED, Item, Piece, Spoken, arrange};
use crate::compile::request::Body;
use crate::hash::write_string as push_string;
use crate::model::{Message, Part, Role};
use crate::wire::json::{push_list, type_of};

/// The longest name of a tool or speaker.
const NAME_MAX_CHARS: usize = 64;

/// Writes the request; `head` are the keys before `messages`, each with a comma after it.
pub(super) fn write(messages: &[Message], head: &str, tally: &mut Tally) -> Body {
    let mut written = Vec::with_capacity(messages.len());
    for item in arrange(messages, IdRule::UniqueInMessage, tally) {
        match item {
            Item::Spoken(spoken) => written.extend(message(&spoken, tally)),
            Item::Answers(answers) => {
                written.extend(answers.iter().map(|answer| tool_message(answer, tally)));
            }
        }
    }
    let mut payload = format!(r#"{{{head}"messages":["#);
    push_list(&mut payload, &written);
    let stable_bytes = payload.len();
    payload.push_str("]}");
    Body {
        payload,
        stable_bytes,
        nothing_to_send: written.is_empty(),
    }
}

/// A message, or nothing if all that it held had to be left out.
fn message(spoken: &Spoken<'_>, tally: &mut Tally) -> Option<String> {
    let role = match spoken.role {
        Role::Tool => {
            tally.add(Repair::ToolText, spoken.number);
            Role::User
        }
        role => role,
    };
    let mut content = Content::default();
    let mut calls = Vec::new();
    for piece in &spoken.pieces {
        match piece {
            Piece::Part(part) => content.add(part, role, spoken.number, tally),
            Piece::Call {
                id,
                name,
                arguments,
                kind,
            } => {
                let name = tool_name(name, spoken.number, tally);
                calls.push(call(id, &name, arguments, *kind));
            }
        }
    }
    if content.is_empty() && calls.is_empty() && content.left_out {
        return None;
    }
    let mut out = format!(r#"{{"role":"{role}""#);
    if let Some(name) = spoken.name {
        let allowed = speaker_name(name);
        if allowed.as_deref() != Some(name) {
            tally.add(Repair::SpeakerName, spoken.number);
        }
        if let Some(name) = allowed {
            out.push_str(r#","name":"#);
            push_string(&mut out, &name);
        }
    }
    out.push_str(r#","content":"#);
    if content.is_empty() && !calls.is_empty() {
        out.push_str("null");
    } else {
        content.write(&mut out);
    }
    if !calls.is_empty() {
        out.push_str(r#","tool_calls":["#);
        push_list(&mut out, calls);
        out.push(']');
    }
    out.push('}');
    Some(out)
}

fn call(id: &str, name: &str, arguments: &str, kind: Option<&str>) -> String {
    let (kind, key) = match kind {
        Some("custom") => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    let mut out = String::from(r#"{"id":"#);
    push_string(&mut out, id);
    out.push_str(&format!(r#","type":"{kind}","{kind}":{{"name":"#));
    push_string(&mut out, name);
    out.push_str(&format!(r#","{key}":"#));
    push_string(&mut out, arguments);
    out.push_str("}}");
    out
}

fn tool_message(answer: &Answer<'_>, tally: &mut Tally) -> String {
    let mut content = Content::default();
    match answer.content {
        None => content.text(INTERRUPTED),
        Some(parts) => {
            for part in parts {
                content.add(part, Role::Tool, answer.number, tally);
            }
        }
    }
    let mut out = String::from(r#"{"role":"tool","tool_call_id":"#);
    push_string(&mut out, &answer.id);
    out.push_str(r#","content":"#);
    content.write(&mut out);
    out.push('}');
    out
}

/// A tool's name as the provider allows it.
fn tool_name(name: &str, number: usize, tally: &mut Tally) -> String {
    let allowed = plain(name, NAME_MAX_CHARS, "tool");
    if allowed != name {
        tally.add(Repair::ToolName, number);
    }
    allowed
}

/// A speaker's name without the characters that are not allowed in it.
fn speaker_name(name: &str) -> Option<String> {
    let refused = |c: char| c.is_whitespace() || c.is_control() || "<|\\/>".contains(c);
    let name: String = name
        .chars()
        .take(NAME_MAX_CHARS)
        .map(|c| if refused(c) { '_' } else { c })
        .collect();
    (!name.is_empty()).then_some(name)
}

/// The content of a message as it grows.
#[derive(Default)]
struct Content<'a> {
    parts: Vec<ContentPart<'a>>,
    /// Whether something had to be left out.
    left_out: bool,
}

enum ContentPart<'a> {
    Text(&'a str),
    Raw(String),
}

impl<'a> Content<'a> {
    fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn text(&mut self, text: &'a str) {
        if !text.is_empty() {
            self.parts.push(ContentPart::Text(text));
        }
    }

    fn add(&mut self, part: &'a Part, role: Role, number: usize, tally: &mut Tally) {
        match part {
            Part::Text { text } => self.text(text),
            Part::Image(media) => {
                let taken = media::openai_image(media).filter(|_| role == Role::User);
                self.media(taken, IMAGE_WORD, number, tally);
            }
            Part::File(media) => {
                let taken = media::openai_file(media).filter(|_| role == Role::User);
                self.media(taken, FILE_WORD, number, tally);
            }
            Part::Opaque { provider, data }
                if provider == "openai" && type_of(data).is_some_and(|kind| takes(role, &kind)) =>
            {
                self.parts.push(ContentPart::Raw(data.clone()));
            }
            Part::Thinking { .. } => self.leave_out(Repair::Thinking, number, tally),
            // Calls and results inside a result are no provider's; they go as foreign blocks do.
            Part::Opaque { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => {
                self.leave_out(Repair::Opaque, number, tally);
            }
        }
    }

    fn media(&mut self, taken: Option<String>, word: &'a str, number: usize, tally: &mut Tally) {
        match taken {
            Some(raw) => self.parts.push(ContentPart::Raw(raw)),
            None => {
                tally.add(Repair::Media, number);
                self.text(word);
            }
        }
    }

    fn leave_out(&mut self, repair: Repair, number: usize, tally: &mut Tally) {
        tally.add(repair, number);
        self.left_out = true;
    }

    /// A string where there is one text or nothing, else a list.
    fn write(&self, out: &mut String) {
        match self.parts.as_slice() {
            [] => out.push_str("\"\""),
            [ContentPart::Text(text)] => push_string(out, text),
            parts => {
                out.push('[');
                push_list(out, parts.iter().map(ContentPart::json));
                out.push(']');
            }
        }
    }
}

impl ContentPart<'_> {
    fn json(&self) -> String {
        match self {
            Self::Raw(raw) => raw.clone(),
            Self::Text(text) => {
                let mut out = String::from(r#"{"type":"text","text":"#);
                push_string(&mut out, text);
                out.push('}');
                out
            }
        }
    }
}

/// Whether a message of `role` may hold a content part of this type that has no neutral form.
fn takes(role: Role, kind: &str) -> bool {
    match role {
        Role::User => matches!(kind, "input_audio" | "image_url" | "file"),
        Role::Assistant => kind == "refusal",
        Role::System | Role::Developer | Role::Tool => false,
    }
}
