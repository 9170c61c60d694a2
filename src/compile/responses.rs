//! Requests in the form of OpenAI's Responses API: a list of items, each on its own.
//!
//! A result need not stand right behind its call, so what came between stays there. The first message,
//! where it is the system's and nothing but text, is `instructions`.
//!
//! # Source
//!
//! OpenAI's API reference, "Create a model response"; for what is sent of a call that was cut off, the
//! requests of Codex 0.169 beside its sessions.

use std::borrow::{Borrow, Cow};
use std::mem;

use serde::Deserialize;

use crate::compile::body::{Body, Payload};
use crate::compile::open::Open;
use crate::compile::wire_form::Contents;
use crate::model::{Message, Part, Role};
use crate::wire::json::{Object, is_object, quoted};
use crate::wire::name::ToolNames;
use crate::wire::responses::{
    OutputPairs, call_of, cut_off, gives_something, items, of_items, takes, with_files,
};
use crate::wire::{Repair, Repairs, attachments, bridge_notes};

/// A request in the making. Where no call is open, no later message changes what stands before, so that is written at once.
/// Held are the messages since then, and the first item as long as it is the only one.
pub(super) struct Writer<'a> {
    /// What a client wrote, where that is known.
    contents: &'a Contents,
    /// Whether it holds to the provider's published types, where Codex does not.
    is_typed: bool,
    pub(super) payload: Payload,
    stable_bytes: usize,
    /// The first item, and nothing else so far.
    first: Option<String>,
    has_list: bool,
    /// The last message, where the client wrote it as a text.
    prompt: Option<&'a str>,
    /// How many messages came before those that are held.
    before: usize,
    pub(super) held: Vec<Cow<'a, Message>>,
    pub(super) open: Open,
}

impl<'a> Writer<'a> {
    /// `head` are the keys before `instructions`, each with a comma after it.
    pub(super) fn new(head: &str, contents: &'a Contents) -> Self {
        let payload = Payload::of(format!("{{{head}"));
        Self {
            contents,
            is_typed: false,
            stable_bytes: payload.len(),
            payload,
            first: None,
            has_list: false,
            prompt: None,
            before: 0,
            held: Vec::new(),
            open: Open::default(),
        }
    }

    /// Has it hold to the provider's published types.
    pub(super) fn by_types(&mut self) {
        self.is_typed = true;
    }

    /// The next message.
    pub(super) fn add(&mut self, message: Cow<'a, Message>, repairs: &mut Repairs) {
        let message = bridge_notes::without(message);
        let message = match message.is_attached() {
            true => Cow::Owned(attachments::plain(&message).into_owned()),
            false => message,
        };
        for part in &message.parts {
            match part {
                Part::ToolCall { .. } | Part::Opaque { .. } if is_call(&message, part) => {
                    call_of(part)
                        .into_iter()
                        .for_each(|(id, _)| self.open.call(id));
                }
                Part::ToolResult { call, .. } => {
                    self.open.answer(call);
                }
                _ => {}
            }
        }
        self.held.push(message);
        // What a client wrote is told by places in the whole.
        if self.open.is_empty() && self.contents.is_empty() {
            self.write_held(repairs);
        }
    }

    /// Writes what is held.
    fn write_held(&mut self, repairs: &mut Repairs) {
        let held = mem::take(&mut self.held);
        let pairs = OutputPairs::of(held.iter().map(Borrow::borrow), Vec::new(), is_call);
        let repaired = pairs.loose();
        for (at, message) in held.iter().enumerate() {
            let place = self.before + at;
            let said = self.contents.get(place).map_or(&[][..], Vec::as_slice);
            if let (0, Some(text)) = (place, instructions(message, said)) {
                self.payload.extend([r#""instructions":"#, &text, ","]);
                self.stable_bytes = self.payload.len();
                continue;
            }
            let pieces = Pieces {
                pairs: &pairs,
                at,
                number: place + 1,
                is_typed: self.is_typed,
            };
            let own = message_items(message, &pieces, repairs);
            self.prompt = said_as_text(message, said);
            if says_the_same(said, message) && !repaired.contains(&at) {
                said.iter().for_each(|item| self.put(item.clone()));
            } else {
                own.into_iter().for_each(|item| self.put(item));
            }
        }
        self.before += held.len();
    }

    /// Writes an item.
    fn put(&mut self, item: String) {
        match self.first.take() {
            None if !self.has_list => self.first = Some(item),
            None => self.payload.extend([",", &item]),
            Some(first) => {
                self.begin_list();
                self.payload.extend([&*first, ",", &item]);
            }
        }
    }

    fn begin_list(&mut self) {
        self.payload.push_str(r#""input":["#);
        self.has_list = true;
    }

    /// The request.
    pub(super) fn finish(mut self, repairs: &mut Repairs) -> Body {
        self.write_held(repairs);
        let nothing_to_send = !self.has_list && self.first.is_none();
        if let (Some(text), Some(_)) = (self.prompt, &self.first) {
            self.payload.extend([r#""input":"#, text, "}"]);
        } else {
            if !self.has_list {
                self.begin_list();
            }
            self.payload.extend(self.first.as_deref());
            if self.before > 0 {
                self.stable_bytes = self.payload.len();
            }
            self.payload.push_str("]}");
        }
        Body {
            payload: self.payload.into_text(),
            stable_bytes: self.stable_bytes,
            nothing_to_send,
        }
    }
}

/// Whether a part is a call that is sent: one that is left out is answered by nothing.
fn is_call(message: &Message, part: &Part) -> bool {
    message.role == Role::Assistant && takes(message, part)
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

/// What a message's items are made with.
struct Pieces<'a> {
    pairs: &'a OutputPairs,
    /// Its place among those that were paired together.
    at: usize,
    /// Its number, from 1.
    number: usize,
    is_typed: bool,
}

/// The items of a message: each call that nothing answers with what Codex says of such, right behind it.
fn message_items(message: &Message, of: &Pieces<'_>, repairs: &mut Repairs) -> Vec<String> {
    let Pieces {
        pairs, at, number, ..
    } = *of;
    let mut written = Vec::new();
    // The parts since the last open call, with their places in the message.
    let mut chunk = Chunk::of(message, of.is_typed);
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
                    written.extend(chunk.end(of, repairs));
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
        written.extend(chunk.end(of, repairs));
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

    fn end(&mut self, of: &Pieces<'_>, repairs: &mut Repairs) -> Vec<String> {
        let parts = std::mem::take(&mut self.parts).into_iter();
        let places = std::mem::take(&mut self.places);
        let message = Message {
            parts: parts.map(Cow::into_owned).collect(),
            ..self.frame.clone()
        };
        let kind = |index: usize| of.pairs.kind(of.at, places[index]);
        if !self.is_typed {
            return items(&message, kind, of.number, repairs);
        }
        let message = with_files(Cow::Owned(message));
        let items = items(&message, kind, of.number, repairs).into_iter();
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
