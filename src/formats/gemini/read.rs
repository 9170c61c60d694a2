//! A session into messages: one document, or lines of which later ones change what earlier ones say.

use serde_json::value::RawValue;

use super::about::{About, LACKING, descent_of};
use super::record::said;
use super::{is_document, lines};
use crate::error::Result;
use crate::formats::Source;
use crate::formats::shared::list::{Change, Listed, Telling};
use crate::formats::shared::records::Held;
use crate::formats::shared::spans::{elements, members};
use crate::formats::shared::teller::Teller;
use crate::wire::json::string;

pub(super) fn import(source: Source<'_>) -> Result<()> {
    if source.begins(is_document)? {
        document(source)
    } else {
        lines::import(source)
    }
}

/// Reads a session that is one document.
fn document(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let text = held.text();
    let (keys, broken) = members(text.bytes, held.start);
    let mut teller = Teller::of(source.stem, &LACKING, source.sink);
    let mut about = About::default();
    let (mut messages, mut torn) = (Vec::new(), None);
    let (mut kind, mut begun) = (None, None);
    for (key, at) in keys {
        if key == "messages" {
            (messages, torn) = elements(text.bytes, at.start);
            continue;
        }
        let value = text.decode(&at).ok().map(|(value, _)| value);
        if key == "sessionId" {
            teller.start.id = string(value.as_deref()).unwrap_or(teller.start.id);
        }
        match key.as_str() {
            "kind" => kind = string(value.as_deref()),
            "startTime" => begun = value.clone(),
            _ => {}
        }
        if !about.member(&key, value.as_deref(), &mut teller.end) {
            teller.end.other(key);
        }
    }
    teller.start.descent = descent_of(&teller.start.id, kind, begun.as_deref(), source.folder);
    teller.open()?;
    let mut telling = Telling::new(teller);
    for at in &messages {
        let span = text.span(at);
        let Teller {
            sink, end, notes, ..
        } = &mut telling.teller;
        let read = |raw: &RawValue| said(raw.get(), span, notes);
        if let Some(said) = text.message(at, &mut end.lone_surrogates, *sink, read)? {
            about.record(&said, end);
            // It is a list: an id that comes twice is that of two messages.
            let listed = Listed {
                id: String::new(),
                ..said.listed
            };
            telling.put(listed, Change { span, time: None })?;
        }
    }
    telling.settle()?;
    let mut teller = telling.teller;
    held.end(torn.or(broken), teller.sink)?;
    let records = messages.len() as u64;
    teller.sink.progress(text.bytes.len() as u64, records);
    teller.end.cwd = about.cwd();
    teller.close()
}
