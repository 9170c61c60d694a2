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

use crate::compile::body::Body;
use crate::compile::ids::{IdRule, Ids};
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
use crate::wire::{Repair, Repairs};

pub(super) use settings::{Placed, is_response_format, placed, tool_config};

/// How the request is written.
pub(super) struct Form<'a> {
    /// The keys before `systemInstruction`, each with a comma after it.
    pub(super) head: &'a str,
    /// Whether it is of a session of Gemini CLI, which puts the word for a missing signature into the first reply that calls and
    /// into those behind the newest prompt, and what a tool said into `output`.
    pub(super) is_of_client: bool,
}

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

/// Writes the request, and says how many calls go with the word for a missing signature.
pub(super) fn write(messages: &[Message], form: &Form<'_>, repairs: &mut Repairs) -> (Body, usize) {
    let messages = messages.iter().map(|one| in_words(Cow::Borrowed(one)));
    let messages: Vec<Cow<'_, Message>> = messages.collect();
    let leading = messages.iter().take_while(|one| one.role.is_system());
    let leading = leading.count();
    let (mut ids, rule) = (Ids::default(), IdRule::UniqueInMessage);
    let (mut system, mut contents) = (Vec::new(), Vec::<Content>::new());
    // The calls of the reply that is answered next, with the names that they are sent by.
    let mut called = Vec::new();
    for item in arrange(&messages, 0, rule, &mut ids, repairs) {
        match item {
            Item::Spoken(spoken) if spoken.number <= leading => {
                system.extend(said(&spoken, repairs));
            }
            Item::Spoken(spoken) if spoken.role == Role::Assistant => {
                let reply = Reply::of(&spoken, form, repairs);
                called = reply.names;
                extend(&mut contents, true, reply.parts, false);
            }
            Item::Spoken(spoken) => {
                let parts = said(&spoken, repairs);
                if spoken.role.is_system() && !parts.is_empty() {
                    repairs.add(Repair::SystemInPlace, spoken.number);
                }
                let parts = parts.into_iter().map(Made::plain).collect();
                extend(&mut contents, false, parts, true);
            }
            Item::Answers(answers) => {
                for answer in answers {
                    let name = called.iter().find(|(id, _)| *id == answer.id);
                    let given = Given {
                        id: &answer.id,
                        function: name.map_or("", |(_, name)| name),
                        content: answer.content,
                        is_error: answer.is_error,
                        as_client: form.is_of_client,
                    };
                    let parts = given_parts(&given, answer.number, repairs).into_iter();
                    extend(
                        &mut contents,
                        false,
                        parts.map(Made::plain).collect(),
                        false,
                    );
                }
            }
        }
    }
    if contents.first().is_some_and(|first| first.is_model) {
        repairs.add(Repair::OpeningLine, leading + 1);
        let opening = Content {
            is_model: false,
            parts: vec![Made::plain(text_part(OPENING_LINE, None))],
            has_words: true,
        };
        contents.insert(0, opening);
    }
    written(&system, &contents, form)
}

fn written(system: &[String], contents: &[Content], form: &Form<'_>) -> (Body, usize) {
    let mut payload = format!("{{{}", form.head);
    let mut stable_bytes = payload.len();
    if !system.is_empty() {
        payload.push_str(r#""systemInstruction":{"parts":["#);
        push_list(&mut payload, system);
        stable_bytes = payload.len();
        payload.push_str("]},");
    }
    payload.push_str(r#""contents":["#);
    // Where Gemini CLI puts the word, the second of which moves with each prompt.
    let unsealed_in = |one: &Content| one.parts.iter().any(|part| part.unsealed.is_some());
    let first = contents.iter().position(unsealed_in);
    let newest = contents.iter().rposition(|one| one.has_words);
    let (mut unsealed, mut moves) = (0, None);
    for (at, content) in contents.iter().enumerate() {
        payload.push_str(if at == 0 { "" } else { "," });
        let role = if content.is_model { "model" } else { "user" };
        payload.extend([r#"{"role":""#, role, r#"","parts":["#]);
        let is_recent = newest.is_some_and(|newest| newest <= at);
        let has_word = !form.is_of_client || is_recent || first == Some(at);
        for (index, part) in content.parts.iter().enumerate() {
            payload.push_str(if index == 0 { "" } else { "," });
            match &part.unsealed {
                Some(other) if has_word => {
                    unsealed += 1;
                    if first != Some(at) {
                        moves.get_or_insert(payload.len());
                    }
                    payload.push_str(other);
                }
                _ => payload.push_str(&part.json),
            }
        }
        stable_bytes = payload.len();
        payload.push_str("]}");
    }
    payload.push_str("]}");
    if form.is_of_client {
        stable_bytes = moves.map_or(stable_bytes, |moves| moves.min(stable_bytes));
    }
    let body = Body {
        payload,
        stable_bytes,
        nothing_to_send: contents.is_empty(),
    };
    (body, unsealed)
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
    fn of(spoken: &Spoken<'a>, form: &Form<'_>, repairs: &mut Repairs) -> Self {
        let (number, mut reply) = (spoken.number, Self::default());
        for piece in &spoken.pieces {
            match piece {
                Piece::Part(part) => reply.part(part, number, form, repairs),
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

    fn part(&mut self, part: &'a Part, number: usize, form: &Form<'_>, repairs: &mut Repairs) {
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
                if !text.is_empty() && form.is_of_client {
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
