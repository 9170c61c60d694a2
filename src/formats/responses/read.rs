//! A body, to its messages: `instructions`, then the items, of which those of one reply make one
//! message.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::error::Result;
use crate::formats::shared::document::ObjectTeller;
use crate::formats::shared::parts::seconds;
use crate::formats::shared::records::Held;
use crate::formats::shared::spans::{Broken, elements, members};
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, Source, Step};
use crate::model::{Message, Role, Settings, UsageRecord, depth};
use crate::wire::json::string;
use crate::wire::openai;
use crate::wire::responses::{self, Meaning};

/// What a response says of itself beside its settings.
const OF_A_RESPONSE: [&str; 9] = [
    "background",
    "completed_at",
    "created_at",
    "error",
    "id",
    "incomplete_details",
    "object",
    "output_text",
    "status",
];

/// Reads a body.
pub(super) fn import(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let text = held.text();
    let mut reader = Reader {
        teller: ObjectTeller::of(text, Teller::of(source.stem, &[], source.sink)),
        held: None,
        is_reply: false,
        settings: Settings::new(),
    };
    reader.body(held.start)?;
    reader.teller.close(&held, None, 1)
}

struct Reader<'t, 's> {
    teller: ObjectTeller<'t, 's>,
    /// The last message, which may grow, and which the settings go with.
    held: Option<Step>,
    /// Whether it is a reply.
    is_reply: bool,
    settings: Settings,
}

impl Reader<'_, '_> {
    fn body(&mut self, start: usize) -> Result<()> {
        let text = self.teller.text;
        let bytes = text.bytes;
        self.teller.open()?;
        if bytes.get(start) == Some(&b'[') {
            let (items, broken) = elements(bytes, start);
            for item in items {
                self.item(&item)?;
            }
            return self.finish(broken);
        }
        let (keys, broken) = members(bytes, start);
        let get = |name: &str| {
            let found = keys.iter().find(|(key, _)| key == name);
            found.map(|(_, span)| span.clone())
        };
        let is_response = get("input").is_none();
        if let Some(at) = get("instructions") {
            self.instructions(&at)?;
        }
        let mut list_broken = None;
        if let Some(at) = get(if is_response { "output" } else { "input" }) {
            match bytes.get(at.start) {
                Some(b'"') => self.prompt(&at)?,
                _ => {
                    let (items, broken) = elements(bytes, at.start);
                    list_broken = broken;
                    for item in items {
                        self.item(&item)?;
                    }
                }
            }
        }
        for (key, at) in &keys {
            let is_own = is_response && OF_A_RESPONSE.contains(&key.as_str());
            match key.as_str() {
                "input" | "output" => {}
                "instructions" if bytes.get(at.start) == Some(&b'"') => {}
                "usage" if is_response => {
                    let usage = text.decode(at).ok();
                    let usage = usage.and_then(|(raw, _)| openai::usage_record(Some(&raw)));
                    if let Some(step) = self.held.as_mut().filter(|_| self.is_reply) {
                        let record = usage.filter(|record| *record != UsageRecord::default());
                        step.usage = record.as_ref().map(|record| record.usage);
                        step.detail = record.map(|record| record.detail).unwrap_or_default();
                    }
                }
                "created_at" if is_response => {
                    let time = text.decode(at).ok();
                    let time = time.and_then(|(raw, _)| seconds(Some(&raw)));
                    if let Some(step) = &mut self.held {
                        step.time = time;
                    }
                }
                _ if is_own => {}
                _ => self.setting(key, at)?,
            }
        }
        self.finish(list_broken.or(broken))
    }

    /// Tells the last message, with the settings, and why there may be more.
    fn finish(&mut self, broken: Option<Broken>) -> Result<()> {
        if let Some(broken) = broken {
            let end = self.teller.text.bytes.len();
            self.teller.problem(&(end..end), broken.reason())?;
        }
        if let Some(step) = self.held.take() {
            self.teller.due = std::mem::take(&mut self.settings);
            self.teller.step(step)?;
        }
        Ok(())
    }

    fn setting(&mut self, key: &str, at: &Range<usize>) -> Result<()> {
        // A value that the text ends in is not worth keeping.
        let Ok((raw, lone)) = self.teller.text.decode(at) else {
            return Ok(());
        };
        self.teller.end.lone_surrogates += lone;
        match depth::check_json(key, raw.get(), 1) {
            Ok(()) => {
                self.settings.insert(key.to_owned(), raw.get().to_owned());
                Ok(())
            }
            Err(error) => {
                self.teller.end.other(key);
                self.teller.problem(at, error.to_string())
            }
        }
    }

    fn instructions(&mut self, at: &Range<usize>) -> Result<()> {
        match self.said(at) {
            Some(text) => self.tell(Message::text(Role::System, text), at, false),
            None => Ok(()),
        }
    }

    /// An input that is one text.
    fn prompt(&mut self, at: &Range<usize>) -> Result<()> {
        match self.said(at) {
            Some(text) => self.tell(Message::text(Role::User, text), at, false),
            None => self.teller.problem(at, "an input that is no text"),
        }
    }

    fn said(&mut self, at: &Range<usize>) -> Option<String> {
        let (raw, lone) = self.teller.text.decode(at).ok()?;
        let text = string(Some(&raw))?;
        self.teller.end.lone_surrogates += lone;
        Some(text)
    }

    fn item(&mut self, at: &Range<usize>) -> Result<()> {
        let teller = &mut self.teller;
        let text = teller.text;
        let read = |raw: &RawValue, notes: &mut _| Ok(responses::read(raw, notes));
        let Some(meaning) = teller.read(at, read)? else {
            return Ok(());
        };
        match meaning {
            Meaning::Aside => {
                teller.end.other("item");
                Ok(())
            }
            Meaning::TooDeep(reason) => teller.problem(at, reason),
            Meaning::Input(message) => self.tell(message, at, false),
            Meaning::Reply(parts) => {
                let ids = parts.iter().filter_map(responses::call_of);
                teller.calls.extend(ids.map(|(id, _)| id));
                if let (true, Some(step)) = (self.is_reply, &mut self.held) {
                    step.records.push(text.span(at));
                    if let Action::Append(message) = &mut step.action {
                        message.parts.extend(parts);
                    }
                    return Ok(());
                }
                self.tell(Message::new(Role::Assistant, parts), at, true)
            }
            Meaning::Output(message) => {
                teller.pair(&message, text, at)?;
                self.tell(message, at, false)
            }
        }
    }

    fn tell(&mut self, message: Message, at: &Range<usize>, is_reply: bool) -> Result<()> {
        let step = Step::append(message, self.teller.text.span(at));
        self.is_reply = is_reply;
        if let Some(before) = self.held.replace(step) {
            self.teller.step(before)?;
        }
        Ok(())
    }
}
