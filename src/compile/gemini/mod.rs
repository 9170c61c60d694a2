//! Requests in the form of Gemini's API: contents of the user and of the model in turns, calls answered right behind.
//!
//! A request has what the API has: `contents`, `systemInstruction`, and in a whole one `model`, which the API has in its
//! address, tools and `generationConfig`.
//!
//! # Source
//!
//! Google's API reference, "generateContent", its guides on function calling and thought signatures, and the types of
//! google-genai 2.34. Observed: the requests of Gemini CLI 0.61 beside its sessions.

mod settings;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::mem;

use crate::compile::body::{Body, Payload};
use crate::compile::ids::{IdRule, Ids};
use crate::compile::open::Open;
use crate::compile::repair::{Item, Piece, Spoken, arrange};
use crate::compile::turn::OPENING_LINE;
use crate::model::{Message, Part, Role};
use crate::wire::gemini::{
    Given, PROVIDER, UNSEALED, call_part, given_parts, said_part, sent_args, text_part,
    thought_part,
};
use crate::wire::json::push_list;
use crate::wire::name::ToolNames;
use crate::wire::responses::in_words;
use crate::wire::{Repair, Repairs, attachments, bridge_notes};

pub(super) use settings::{Placed, is_response_format, placed, tool_config};

/// One entry of `contents`.
struct Content {
    is_model: bool,
    parts: Vec<Made>,
    /// Whether the user says something in it.
    has_words: bool,
}

/// A part.
struct Made {
    json: String,
    /// The same with the word for a missing signature, where one is asked for.
    unsealed: Option<String>,
}

impl Made {
    const fn plain(json: String) -> Self {
        Self {
            json,
            unsealed: None,
        }
    }
}

/// A request in the making. Where no call is open, no later message changes what stands before, but for the content that may
/// go on, so that is written at once. Held are the messages since then; in the client's form, where the word for a missing
/// signature moves with each prompt, all of them.
pub(super) struct Writer<'a> {
    /// Whether it is of a session of Gemini CLI, which puts the word for a missing signature into the first reply that calls and
    /// into those behind the newest prompt, and what a tool said into `output`.
    is_of_client: bool,
    pub(super) payload: Payload,
    stable_bytes: usize,
    /// Whether no message but the system's came yet, and how many of those.
    is_leading: bool,
    leading: usize,
    system: Vec<String>,
    /// What is not written yet.
    contents: Vec<Content>,
    has_contents: bool,
    /// How many calls go with the word for a missing signature.
    unsealed: usize,
    /// How many messages came before those that are held.
    before: usize,
    pub(super) held: Vec<Cow<'a, Message>>,
    pub(super) open: Open,
    ids: Ids,
}

impl<'a> Writer<'a> {
    /// `head` are the keys before `systemInstruction`, each with a comma after it.
    pub(super) fn new(head: &str) -> Self {
        let payload = Payload::of(format!("{{{head}"));
        Self {
            is_of_client: false,
            stable_bytes: payload.len(),
            payload,
            is_leading: true,
            leading: 0,
            system: Vec::new(),
            contents: Vec::new(),
            has_contents: false,
            unsealed: 0,
            before: 0,
            held: Vec::new(),
            open: Open::default(),
            ids: Ids::default(),
        }
    }

    /// Has it be in the form of Gemini CLI.
    pub(super) fn as_client(&mut self) {
        self.is_of_client = true;
    }

    /// The next message.
    pub(super) fn add(&mut self, message: Cow<'a, Message>, repairs: &mut Repairs) {
        let message = bridge_notes::without(message);
        let message = match message.is_attached() {
            true => Cow::Owned(attachments::plain(&message).into_owned()),
            false => message,
        };
        let message = in_words(message);
        if self.open.ends_before(&message) && !self.is_of_client {
            self.arrange_held(repairs);
        }
        self.is_leading &= message.role.is_system();
        self.leading += usize::from(self.is_leading);
        self.open.add(&message);
        self.held.push(message);
        if self.open.is_closed() && !self.is_of_client {
            self.arrange_held(repairs);
            let ready = self.contents.len().saturating_sub(1);
            self.write(ready);
        }
    }

    /// Makes contents of what is held.
    fn arrange_held(&mut self, repairs: &mut Repairs) {
        let held = mem::take(&mut self.held);
        let contents = &mut self.contents;
        // The calls of the reply that is answered next, with the names that they are sent by.
        let mut called = Vec::new();
        let rule = IdRule::UniqueInMessage;
        for item in arrange(&held, self.before, rule, &mut self.ids, repairs) {
            match item {
                Item::Spoken(spoken) if spoken.number <= self.leading => {
                    self.system.extend(said(&spoken, repairs));
                }
                Item::Spoken(spoken) if spoken.role == Role::Assistant => {
                    let reply = Reply::of(&spoken, self.is_of_client, repairs);
                    called = reply.names;
                    extend(contents, true, reply.parts, false);
                }
                Item::Spoken(spoken) => {
                    let parts = said(&spoken, repairs);
                    if spoken.role.is_system() && !parts.is_empty() {
                        repairs.add(Repair::SystemInPlace, spoken.number);
                    }
                    let parts = parts.into_iter().map(Made::plain).collect();
                    extend(contents, false, parts, true);
                }
                Item::Answers(answers) => {
                    for answer in answers {
                        let name = called.iter().find(|(id, _)| *id == answer.id);
                        let given = Given {
                            id: &answer.id,
                            function: name.map_or("", |(_, name)| name),
                            content: answer.content,
                            is_error: answer.is_error,
                            as_client: self.is_of_client,
                        };
                        let parts = given_parts(&given, answer.number, repairs).into_iter();
                        extend(contents, false, parts.map(Made::plain).collect(), false);
                    }
                }
            }
        }
        let is_reply = |first: &Content| first.is_model;
        if !self.has_contents && self.contents.first().is_some_and(is_reply) {
            repairs.add(Repair::OpeningLine, self.leading + 1);
            let opening = Content {
                is_model: false,
                parts: vec![Made::plain(text_part(OPENING_LINE, None))],
                has_words: true,
            };
            self.contents.insert(0, opening);
        }
        self.before += held.len();
        self.open.close();
    }

    /// Writes what stands before the contents.
    fn begin(&mut self) {
        if mem::replace(&mut self.has_contents, true) {
            return;
        }
        if !self.system.is_empty() {
            let mut system = String::new();
            push_list(&mut system, &self.system);
            self.payload
                .extend([r#""systemInstruction":{"parts":["#, &system]);
            self.stable_bytes = self.payload.len();
            self.payload.push_str("]},");
        }
        self.payload.push_str(r#""contents":["#);
    }

    /// Writes so many contents.
    fn write(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let mut is_first = !self.has_contents;
        self.begin();
        let payload = &mut self.payload;
        // Where Gemini CLI puts the word, the second of which moves with each prompt.
        let unsealed_in = |one: &Content| one.parts.iter().any(|part| part.unsealed.is_some());
        let first = self.contents.iter().position(unsealed_in);
        let newest = self.contents.iter().rposition(|one| one.has_words);
        let mut moves = None;
        for (at, content) in self.contents.drain(..count).enumerate() {
            payload.push_str(if mem::replace(&mut is_first, false) {
                ""
            } else {
                ","
            });
            let role = if content.is_model { "model" } else { "user" };
            payload.extend([r#"{"role":""#, role, r#"","parts":["#]);
            let is_recent = newest.is_some_and(|newest| newest <= at);
            let has_word = !self.is_of_client || is_recent || first == Some(at);
            for (index, part) in content.parts.iter().enumerate() {
                payload.push_str(if index == 0 { "" } else { "," });
                match &part.unsealed {
                    Some(other) if has_word => {
                        self.unsealed += 1;
                        if first != Some(at) {
                            moves.get_or_insert(payload.len());
                        }
                        payload.push_str(other);
                    }
                    _ => payload.push_str(&part.json),
                }
            }
            self.stable_bytes = payload.len();
            payload.push_str("]}");
        }
        if self.is_of_client {
            let moves = moves.unwrap_or(self.stable_bytes);
            self.stable_bytes = self.stable_bytes.min(moves);
        }
    }

    /// The request, and how many calls go with the word for a missing signature.
    pub(super) fn finish(mut self, repairs: &mut Repairs) -> (Body, usize) {
        self.arrange_held(repairs);
        let nothing_to_send = !self.has_contents && self.contents.is_empty();
        self.write(self.contents.len());
        self.begin();
        self.payload.push_str("]}");
        let body = Body {
            payload: self.payload.into_text(),
            stable_bytes: self.stable_bytes,
            nothing_to_send,
        };
        (body, self.unsealed)
    }
}

/// Appends parts to the last content if it is of the same voice, else begins one.
fn extend(contents: &mut Vec<Content>, is_model: bool, parts: Vec<Made>, has_words: bool) {
    if parts.is_empty() {
        return;
    }
    match contents.last_mut() {
        Some(last) if last.is_model == is_model => {
            last.parts.extend(parts);
            last.has_words |= has_words;
        }
        _ => contents.push(Content {
            is_model,
            parts,
            has_words,
        }),
    }
}

/// What a message says that is no reply.
fn said(spoken: &Spoken<'_>, repairs: &mut Repairs) -> Vec<String> {
    let number = spoken.number;
    let parts = spoken.pieces.iter().filter_map(|piece| match piece {
        Piece::Part(part) => said_part(part, spoken.role, number, repairs),
        Piece::Call { .. } => None,
    });
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        spoken.tell(repairs);
    }
    parts
}

/// A reply in the making.
#[derive(Default)]
struct Reply<'a> {
    parts: Vec<Made>,
    /// The names of its calls by their ids.
    names: Vec<(String, String)>,
    /// A signature that the next part may bear, with the thought that it came with and its place.
    seal: Option<(&'a str, Option<(&'a str, usize)>)>,
}

impl<'a> Reply<'a> {
    fn of(spoken: &Spoken<'a>, is_of_client: bool, repairs: &mut Repairs) -> Self {
        let (number, mut reply) = (spoken.number, Self::default());
        for piece in &spoken.pieces {
            match piece {
                Piece::Part(part) => reply.part(part, number, is_of_client, repairs),
                Piece::Call {
                    id,
                    name,
                    arguments,
                    ..
                } => {
                    let name = ToolNames::GEMINI.of_call(name, number, repairs);
                    let args = sent_args(arguments, number, repairs);
                    let seal = reply.take_seal();
                    let asks = seal.is_none() && reply.names.is_empty();
                    reply.parts.push(Made {
                        json: call_part(id, &name, &args, seal),
                        unsealed: asks.then(|| call_part(id, &name, &args, Some(UNSEALED))),
                    });
                    reply.names.push((id.clone(), name.into_owned()));
                }
            }
        }
        reply.put_seal();
        if !reply.parts.is_empty() {
            spoken.tell(repairs);
        }
        reply
    }

    fn part(&mut self, part: &'a Part, number: usize, is_of_client: bool, repairs: &mut Repairs) {
        match part {
            Part::Text { text } if text.is_empty() => {}
            Part::Text { text } => {
                let part = text_part(text, self.take_seal());
                self.parts.push(Made::plain(part));
            }
            Part::Thinking {
                text,
                signature,
                provider,
            } if provider.as_deref() == Some(PROVIDER) => {
                let seal = signature.as_deref().filter(|seal| !seal.is_empty());
                if seal.is_some() {
                    self.put_seal();
                }
                let mut thought = None;
                if !text.is_empty() && is_of_client {
                    repairs.add(Repair::Thinking, number);
                } else if !text.is_empty() {
                    thought = Some((text.as_str(), self.parts.len()));
                    self.parts.push(Made::plain(thought_part(text, None)));
                }
                self.seal = seal.map(|seal| (seal, thought)).or(self.seal);
            }
            part => {
                if let Some(part) = said_part(part, Role::Assistant, number, repairs) {
                    self.put_seal();
                    self.parts.push(Made::plain(part));
                }
            }
        }
    }

    fn take_seal(&mut self) -> Option<&'a str> {
        self.seal.take().map(|(seal, _)| seal)
    }

    /// Writes a signature that no part behind it bears: with its thought, or with an empty text, as the API gives it.
    fn put_seal(&mut self) {
        match self.seal.take() {
            Some((seal, Some((text, at)))) => {
                self.parts[at] = Made::plain(thought_part(text, Some(seal)));
            }
            Some((seal, None)) => self.parts.push(Made::plain(text_part("", Some(seal)))),
            None => {}
        }
    }
}
