//! A session into messages: one document, or lines of which later ones change what earlier ones say.

use serde_json::value::RawValue;

use super::about::About;
use super::record::said;
use super::{is_document, lines};
use crate::error::{Error, Result};
use crate::interop::format::FRONT_BYTES;
use crate::interop::list::{Change, Listed, Telling};
use crate::interop::records::Held;
use crate::interop::spans::{elements, members};
use crate::interop::{ImportOptions, Input, SessionStart, Sink};
use crate::wire::Notes;
use crate::wire::json::string;

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let front = input.front(FRONT_BYTES).map_err(Error::io("source"))?;
    match is_document(&front) {
        true => document(input, options, sink),
        false => lines::import(input, options, sink),
    }
}

/// Reads a session that is one document.
fn document(input: &dyn Input, options: ImportOptions<'_>, sink: &mut dyn Sink) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, broken) = members(text.bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut about = About::new();
    let mut messages = (Vec::new(), broken);
    for (key, at) in keys {
        if key == "messages" {
            let (found, torn) = elements(text.bytes, at.start);
            messages = (found, torn.or(broken));
            continue;
        }
        let value = text.decode(&at).ok().map(|(value, _)| value);
        if key == "sessionId" {
            start.id = string(value.as_deref()).unwrap_or(start.id);
        }
        if !about.member(&key, value.as_deref()) {
            about.end.other(key);
        }
    }
    sink.session(start)?;
    let (messages, broken) = messages;
    let mut notes = Notes::default();
    let mut telling = Telling::new(sink);
    for at in &messages {
        let span = text.span(at);
        let read = |raw: &RawValue| said(raw.get(), span, &mut notes);
        let lone = &mut about.end.lone_surrogates;
        if let Some(said) = text.message(at, lone, telling.sink, read)? {
            about.record(&said);
            // It is a list: an id that comes twice is that of two messages.
            let listed = Listed {
                id: String::new(),
                ..said.listed
            };
            telling.put(listed, Change { span, time: None })?;
        }
    }
    telling.settle()?;
    held.end(broken, telling.sink)?;
    let records = messages.len() as u64;
    telling.sink.progress(text.bytes.len() as u64, records);
    about.end.opaque_blocks = notes.opaque_blocks;
    telling.sink.end(about.finish())
}
