//! Requests in the form of OpenAI's Responses API: a list of items, each on its own.
//!
//! A result need not stand right behind its call, so what came between stays there. The first message,
//! where it is the system's and nothing but text, is `instructions`.
//!
//! # Source
//!
//! OpenAI's API reference, "Create a model response"; for what is sent of a call that was cut off, the
//! requests of Codex 0.169 beside its sessions.

use std::borrow::Cow;

use serde::Deserialize;

use crate::compile::body::Body;
use crate::compile::wire_form::Contents;
use crate::model::{Message, Part, Role};
use crate::wire::json::{Object, is_object, push_list, quoted};
use crate::wire::name::ToolNames;
use crate::wire::responses::{
    OutputPairs, cut_off, gives_something, items, of_items, takes, with_files,
};
use crate::wire::{Repair, Repairs};

/// How the request is written.
pub(super) struct Form<'a> {
    /// What a client wrote, where that is known.
    pub(super) contents: &'a Contents,
    /// The keys before `instructions`, each with a comma after it.
    pub(super) head: &'a str,
    /// Whether it holds to the provider's published types, where Codex does not.
    pub(super) is_typed: bool,
}

/// Writes the request.
pub(super) fn write(messages: &[Message], form: &Form<'_>, repairs: &mut Repairs) -> Body {
    let Form { contents, head, .. } = form;
    let pairs = OutputPairs::of(messages.iter(), Vec::new(), |message, part| {
        // One that is left out is answered by nothing.
        message.role == Role::Assistant && takes(message, part)
    });
    let repaired = pairs.loose();
    let mut payload = format!("{{{head}");
    let mut written = Vec::with_capacity(messages.len());
    let mut stable_bytes = payload.len();
    // The last message, where the client wrote it as a text.
    let mut prompt = None;
    for (at, message) in messages.iter().enumerate() {
        let said = contents.get(at).map_or(&[][..], Vec::as_slice);
        if let (0, Some(text)) = (at, instructions(message, said)) {
            payload.push_str(&format!(r#""instructions":{text},"#));
            stable_bytes = payload.len();
            continue;
        }
        let own = message_items(at, message, (&pairs, form.is_typed), repairs);
        prompt = said_as_text(message, said);
        if says_the_same(said, message) && !repaired.contains(&at) {
            written.extend(said.iter().cloned())
        } else {
            written.extend(own)
        }
    }
    if let (Some(text), [_]) = (prompt, &written[..]) {
        payload.push_str(&format!(r#""input":{text}}}"#));
        return Body {
            payload,
            stable_bytes,
            nothing_to_send: false,
        };
    }
    payload.push_str(r#""input":["#);
    if !messages.is_empty() {
        push_list(&mut payload, &written);
        stable_bytes = payload.len();
    }
    payload.push_str("]}");
    Body {
        payload,
        stable_bytes,
        nothing_to_send: written.is_empty(),
    }
}

/// The JSON text of the instructions that a first message is; none where it is sent as an item.
fn instructions(message: &Message, said: &[String]) -> Option<String> {
    let is_item = said.first().is_some_and(|text| !text.starts_with('"'));
    let plain = message.role == Role::System && message.name.is_none() && !is_item;
    let texts: Option<Vec<&str>> = message.parts.iter().map(Part::as_text).collect();
    let text = texts.filter(|_| plain)?.join("\n\n");
    (!text.is_empty()).then(|| quoted(&text))
}

/// Whether the items that a client wrote say a message.
fn says_the_same(said: &[String], message: &Message) -> bool {
    let is_sound = !said.is_empty() && said.iter().all(|item| gives_something(item));
    let read = is_sound.then(|| of_items(said)).flatten();
    read.is_some_and(|read| matches!(&read[..], [one] if one == message))
}

/// The JSON text of a message that the client wrote as one text.
fn said_as_text<'a>(message: &Message, said: &'a [String]) -> Option<&'a str> {
    let [text] = said else {
        return None;
    };
    let read: String = serde_json::from_str(text).ok()?;
    (*message == Message::text(Role::User, read)).then_some(text)
}

/// The items of message `at`: each call that nothing answers with what Codex says of such, right behind
/// it.
fn message_items(
    at: usize,
    message: &Message,
    (pairs, is_typed): (&OutputPairs, bool),
    repairs: &mut Repairs,
) -> Vec<String> {
    let number = at + 1;
    let mut written = Vec::new();
    // The parts since the last open call, with their places in the message.
    let mut chunk = Chunk::of(message, is_typed);
    for (index, part) in message.parts.iter().enumerate() {
        let part = match part {
            Part::ToolCall { .. } if message.role != Role::Assistant => {
                repairs.add(Repair::MisplacedCall, number);
                continue;
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            } => {
                let name = ToolNames::OPENAI
                    .of_call(name, number, repairs)
                    .into_owned();
                // The provider's own tools take an object, which goes in as it is.
                let is_own = kind.as_deref() == Some("custom") || is_object(arguments);
                let call = Part::ToolCall {
                    id: id.clone(),
                    name,
                    arguments: arguments.clone(),
                    kind: kind.clone().filter(|_| is_own),
                };
                chunk.push(index, Cow::Owned(call));
                if pairs.is_open(at, index) {
                    repairs.add(Repair::MissingResult, number);
                    written.extend(chunk.end(at, pairs, repairs));
                    written.push(cut_off(id, kind.as_deref()));
                }
                continue;
            }
            Part::ToolResult { .. } if pairs.is_stray(at, index) => {
                repairs.add(Repair::UnpairedResult, number);
                continue;
            }
            part if !takes(message, part) => {
                repairs.add(Repair::Opaque, number);
                continue;
            }
            part => part,
        };
        chunk.push(index, Cow::Borrowed(part));
    }
    // A message that was empty stays; one of which nothing is left does not.
    if !chunk.parts.is_empty() || message.parts.is_empty() {
        written.extend(chunk.end(at, pairs, repairs));
    }
    written
}

/// Parts of a message that are written together.
struct Chunk<'a> {
    frame: Message,
    is_typed: bool,
    parts: Vec<Cow<'a, Part>>,
    places: Vec<usize>,
}

impl<'a> Chunk<'a> {
    fn of(message: &Message, is_typed: bool) -> Self {
        let frame = Message {
            name: message.name.clone(),
            recipient: message.recipient.clone(),
            ..Message::new(message.role, Vec::new())
        };
        Self {
            frame,
            is_typed,
            parts: Vec::new(),
            places: Vec::new(),
        }
    }

    fn push(&mut self, place: usize, part: Cow<'a, Part>) {
        self.places.push(place);
        self.parts.push(part);
    }

    fn end(&mut self, at: usize, pairs: &OutputPairs, repairs: &mut Repairs) -> Vec<String> {
        let parts = std::mem::take(&mut self.parts).into_iter();
        let places = std::mem::take(&mut self.places);
        let message = Message {
            parts: parts.map(Cow::into_owned).collect(),
            ..self.frame.clone()
        };
        let kind = |index: usize| pairs.kind(at, places[index]);
        if !self.is_typed {
            return items(&message, kind, at + 1, repairs);
        }
        let message = with_files(Cow::Owned(message));
        let items = items(&message, kind, at + 1, repairs).into_iter();
        items.flat_map(as_text).collect()
    }
}

/// A reply that was never an item of the provider's: a text alone, for its pieces belong to items with an id. Several
/// pieces are several messages.
fn as_text(item: String) -> Vec<String> {
    #[derive(Deserialize)]
    struct Reply {
        r#type: String,
        role: Option<String>,
        content: Vec<Piece>,
    }
    #[derive(Deserialize)]
    struct Piece {
        text: Option<String>,
        refusal: Option<String>,
    }
    let reply: Option<Reply> = serde_json::from_str(&item).ok();
    let is_reply = |reply: &Reply| {
        reply.r#type == "message" && reply.role.as_deref() == Some(Role::Assistant.as_str())
    };
    let Some(reply) = reply.filter(is_reply) else {
        return vec![item];
    };
    let texts = reply.content.into_iter();
    let texts: Option<Vec<String>> = texts.map(|it| it.text.or(it.refusal)).collect();
    let Some(texts) = texts.filter(|texts| !texts.is_empty()) else {
        return vec![item];
    };
    let message = |text: String| {
        let message = Object::typed("message").string("role", Role::Assistant.as_str());
        message.string("content", &text).finish()
    };
    texts.into_iter().map(message).collect()
}
