//! Requests in OpenAI's chat-completions form. Messages are never merged.
//!
//! # Source
//!
//! OpenAI's API reference, "Create chat completion": every call is answered by a tool message
//! right after the message that makes it.

use std::borrow::Cow;
use std::mem;

use crate::compile::body::{Body, Payload};
use crate::compile::ids::{IdRule, Ids};
use crate::compile::open::Open;
use crate::compile::raw::Raw;
use crate::compile::repair::{Answer, Item, Piece, Spoken, arrange};
use crate::compile::wire_form::{Contents, as_said};
use crate::error::Result;
use crate::model::Message;
use crate::wire::json::quoted;
use crate::wire::name::ToolNames;
use crate::wire::openai::{MessageWriter, result_content, tool_message};
use crate::wire::responses::in_words;
use crate::wire::{Repairs, attachments, bridge_notes};

/// A request in the making. A message after which every call so far is answered cannot be changed by any later one, so it is
/// written at once: what is held is at most one call with its results.
#[derive(Clone)]
pub(super) struct Writer<'a> {
    contents: &'a Contents,
    pub(super) payload: Payload,
    is_empty: bool,
    /// How many messages came before those that are held.
    before: usize,
    pub(super) held: Vec<Cow<'a, Message>>,
    pub(super) open: Open,
    /// The canonical bytes of a call that came alone, until its result is there.
    call: Option<String>,
}

impl<'a> Writer<'a> {
    /// `head` are the keys before `messages`, each with a comma after it.
    pub(super) fn new(head: &str, contents: &'a Contents) -> Self {
        Self {
            contents,
            payload: Payload::of(format!(r#"{{{head}"messages":["#)),
            is_empty: true,
            before: 0,
            held: Vec::new(),
            open: Open::default(),
            call: None,
        }
    }

    /// The next message.
    pub(super) fn add(&mut self, message: Cow<'a, Message>, repairs: &mut Repairs) {
        self.take_back_call();
        let message = in_words(bridge_notes::without(message));
        if self.open.ends_before(&message) {
            self.write_held(repairs);
        }
        self.hold(message);
        if self.open.is_closed() {
            self.write_held(repairs);
        }
    }

    /// Gives up what is written, and says how many bytes that was.
    pub(super) fn give_up(&mut self) -> usize {
        self.payload.give_up()
    }

    /// How many bytes are written that were not given up: no later message changes them.
    pub(super) fn written_bytes(&self) -> usize {
        self.payload.held_bytes()
    }

    /// Goes on after so many messages and bytes.
    pub(super) fn go_on(&mut self, messages: usize, size_bytes: usize) {
        self.is_empty = size_bytes <= self.give_up();
        self.before = messages;
    }

    /// Whether nothing is held that is not written yet.
    pub(super) fn is_written(&self) -> bool {
        self.held.is_empty() && self.call.is_none()
    }

    /// The next message by its canonical bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`](crate::Error::Malformed) for bytes that are no message.
    pub(super) fn add_canonical(&mut self, canonical: &str, repairs: &mut Repairs) -> Result<()> {
        if !self.add_raw(canonical) {
            let message = Message::from_canonical(canonical)?;
            self.add(Cow::Owned(message), repairs);
        }
        Ok(())
    }

    /// Takes a message over as it is stored, where its form and its place allow it.
    fn add_raw(&mut self, canonical: &str) -> bool {
        if !self.held.is_empty() || !self.contents.is_empty() {
            return false;
        }
        let Some(raw) = Raw::of(canonical) else {
            return false;
        };
        match (raw, &self.call) {
            (Raw::Text { role, text }, None) => {
                self.next_item();
                let pieces = [r#"{"role":""#, role.as_str(), r#"","content":"#, text, "}"];
                self.payload.extend(pieces);
                self.before += 1;
                true
            }
            (Raw::Call { name, .. }, None) if ToolNames::OPENAI.takes(name.trim_matches('"')) => {
                self.call = Some(canonical.to_owned());
                true
            }
            (Raw::Result { call, text }, Some(waiting)) => match Raw::of(waiting) {
                Some(Raw::Call {
                    text: said,
                    id,
                    name,
                    arguments,
                }) if id == call => {
                    let comma = if self.is_empty { "" } else { "," };
                    let said = said.filter(|text| *text != EMPTY).unwrap_or("null");
                    let pieces = [
                        comma,
                        r#"{"role":"assistant","content":"#,
                        said,
                        r#","tool_calls":[{"id":"#,
                        id,
                        r#","type":"function","function":{"name":"#,
                        name,
                        r#","arguments":"#,
                        arguments,
                        r#"}}]},{"role":"tool","tool_call_id":"#,
                        id,
                        r#","content":"#,
                        text.unwrap_or(EMPTY),
                        "}",
                    ];
                    self.payload.extend(pieces);
                    self.is_empty = false;
                    self.before += 2;
                    self.call = None;
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Holds a call that was to be taken over as it is: something else follows than its result.
    fn take_back_call(&mut self) {
        if let Some(call) = self.call.take() {
            let call = Message::from_canonical(&call).expect("its bytes are those of a call");
            self.hold(Cow::Owned(call));
        }
    }

    fn hold(&mut self, message: Cow<'a, Message>) {
        self.open.add(&message);
        let plain = if message.is_attached() {
            Cow::Owned(attachments::plain(&message).into_owned())
        } else {
            message
        };
        self.held.push(plain);
    }

    fn next_item(&mut self) {
        if !self.is_empty {
            self.payload.push(',');
        }
        self.is_empty = false;
    }

    /// Writes what is held.
    fn write_held(&mut self, repairs: &mut Repairs) {
        let held = mem::take(&mut self.held);
        let contents = self.contents;
        let as_said = |written, number: usize| as_said(written, contents.get(number - 1));
        let (rule, mut ids) = (IdRule::UniqueInMessage, Ids::default());
        for item in arrange(&held, self.before, rule, &mut ids, repairs) {
            match item {
                Item::Spoken(spoken) => {
                    if let Some(message) = message(&spoken, repairs) {
                        self.next_item();
                        self.payload.push_str(&as_said(message, spoken.number));
                    }
                }
                Item::Answers(answers) => {
                    for answer in &answers {
                        let message = answered(answer, repairs);
                        self.next_item();
                        let message = match answer.content {
                            Some(_) => as_said(message, answer.number),
                            None => message,
                        };
                        self.payload.push_str(&message);
                    }
                }
            }
        }
        self.before += held.len();
        self.open.close();
    }

    /// The request.
    pub(super) fn finish(mut self, repairs: &mut Repairs) -> Body {
        self.take_back_call();
        self.write_held(repairs);
        let stable_bytes = self.payload.len();
        self.payload.push_str("]}");
        Body {
            payload: self.payload.into_text(),
            stable_bytes,
            nothing_to_send: self.is_empty,
        }
    }
}

/// A message, or nothing if all that it held had to be left out.
fn message(spoken: &Spoken<'_>, repairs: &mut Repairs) -> Option<String> {
    let mut message = MessageWriter::new(spoken.role, spoken.name, spoken.number, repairs);
    for piece in &spoken.pieces {
        match piece {
            Piece::Part(part) => message.part(part, repairs),
            Piece::Call {
                id,
                name,
                arguments,
                kind,
            } => message.call(id, name, arguments, *kind, repairs),
        }
    }
    message.finish(repairs)
}

fn answered(answer: &Answer<'_>, repairs: &mut Repairs) -> String {
    let content = match answer.content {
        None => quoted(repairs.words_of_none()),
        Some(parts) => result_content(parts, answer.number, repairs),
    };
    tool_message(&answer.id, None, &content)
}

/// The JSON of an empty string.
const EMPTY: &str = r#""""#;
