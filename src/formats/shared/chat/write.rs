//! What the writers of documents share: the document around its messages.

use std::borrow::Cow;
use std::io::Write;

use crate::error::{Error, Result};
use crate::formats::Outgoing;
use crate::formats::shared::remarks::{Remarks, SYSTEM};
use crate::model::{Message, Part, Role, Settings};
use crate::wire::json::Object;

/// A message with the results of its calls.
pub(crate) struct Answered<'a> {
    /// Which message it is, from 0.
    pub(crate) at: usize,
    pub(crate) outgoing: &'a Outgoing,
    /// Its parts, and behind them the results of the calls in it.
    pub(crate) parts: Vec<&'a Part>,
    /// How many of them are its own.
    pub(crate) own: usize,
    /// The messages that the results are of.
    pub(crate) results: Vec<(usize, &'a Outgoing)>,
}

/// Each message with its parts, behind which stand the results of the calls in it: for formats that
/// keep a call and what it gave back in one record. System messages are left out; the tools write
/// their own.
pub(crate) fn with_results<'a>(
    messages: &'a [Outgoing],
    remarks: &mut Remarks,
) -> Vec<Answered<'a>> {
    let mut found: Vec<Answered<'_>> = Vec::new();
    for (at, outgoing) in messages.iter().enumerate() {
        if outgoing.message.role.is_system() {
            remarks.add(SYSTEM);
            continue;
        }
        let parts = outgoing.message.parts.iter();
        let (results, said): (Vec<_>, Vec<_>) = parts.partition(|part| part.is_result());
        match found.last_mut() {
            Some(reply) if reply.outgoing.message.role == Role::Assistant => {
                if !results.is_empty() {
                    reply.results.push((at, outgoing));
                }
                reply.parts.extend(results);
            }
            _ if results.is_empty() => {}
            _ => remarks.add("a tool result without its call"),
        }
        if !said.is_empty() {
            found.push(Answered {
                at,
                outgoing,
                own: said.len(),
                parts: said,
                results: Vec::new(),
            });
        }
    }
    found
}

/// A request of these settings, and of what is said by the names for it: first, where there is any, to the system.
pub(crate) fn document_text(
    system: (&str, Option<&str>),
    said: (&str, &str),
    settings: &Settings,
) -> String {
    let mut object = Object::new();
    if let Some(model) = settings.get("model") {
        object = object.raw("model", model);
    }
    if let (name, Some(system)) = system {
        object = object.raw(name, system);
    }
    object = object.raw(said.0, said.1);
    for (key, value) in settings {
        if !["model", system.0, said.0].contains(&key.as_str()) {
            object = object.raw(key, value);
        }
    }
    object.finish()
}

/// Writes a text and a line's end.
pub(crate) fn write_all(out: &mut dyn Write, text: &str) -> Result<()> {
    writeln!(out, "{text}").map_err(Error::io("export"))
}

/// The messages of an Anthropic document with their numbers: results that were made anew and stand
/// side by side belong into one.
pub(crate) fn joined(messages: &[Outgoing]) -> Vec<(usize, &Outgoing, Cow<'_, Message>)> {
    let is_new =
        |outgoing: &Outgoing| outgoing.records.is_empty() && outgoing.message.role == Role::Tool;
    let mut joined: Vec<(usize, &Outgoing, Cow<'_, Message>)> = Vec::with_capacity(messages.len());
    for (outgoing, number) in messages.iter().zip(1..) {
        match joined.last_mut() {
            Some((_, last, message)) if is_new(last) && is_new(outgoing) => {
                let parts = outgoing.message.parts.iter().cloned();
                message.to_mut().parts.extend(parts);
            }
            _ => joined.push((number, outgoing, Cow::Borrowed(&outgoing.message))),
        }
    }
    joined
}
