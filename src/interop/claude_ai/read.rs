//! The importer: conversations, and the messages of each as a list or a tree.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::value::RawValue;

use super::said::{Said, said};
use crate::error::Result;
use crate::interop::conversations::{Names, Place};
use crate::interop::records::Text;
use crate::interop::spans::{elements, members};
use crate::interop::ways::{Behind, Steps, Walker, Ways, walk};
use crate::interop::{SessionEnd, SessionStart, Sink, Step};
use crate::model::{Millis, Settings};
use crate::wire::Notes;
use crate::wire::json::{quoted, string};

/// The member that makes a conversation.
pub(super) const MESSAGES: &str = "chat_messages";
/// What the first message of a tree names as the one before it.
const ROOT: &str = "00000000-0000-4000-8000-000000000000";

/// Tells of a conversation.
pub(super) fn tell(
    place: Place<'_>,
    names: &mut Names,
    sink: &mut dyn Sink,
) -> Result<Option<u64>> {
    let Some(mut found) = Conversation::read(place, sink)? else {
        return Ok(None);
    };
    found.start.id = names.of(found.start.id);
    let count = found.records.len() as u64;
    found.tell(sink)?;
    Ok(Some(count))
}

/// One conversation.
struct Conversation<'t> {
    text: Text<'t>,
    start: SessionStart,
    end: SessionEnd,
    records: Vec<(Range<usize>, Said)>,
    current: Option<String>,
    model: Option<String>,
    at: usize,
}

impl<'t> Conversation<'t> {
    /// Reads what stands at a place; none where that is no conversation.
    fn read(place: Place<'t>, sink: &mut dyn Sink) -> Result<Option<Self>> {
        let Place { text, at, stem } = place;
        let mut found = Self {
            text,
            start: SessionStart::new(stem),
            end: SessionEnd::lacking(&["system prompt", "tool definitions"]),
            records: Vec::new(),
            current: None,
            model: None,
            at: at.start,
        };
        let mut list = None;
        for (key, at) in members(text.bytes, at.start).0 {
            if key == MESSAGES {
                list = Some(at.start);
            } else if let Ok((raw, lone)) = text.decode(&at)
                && found.member(&key, &raw)
            {
                found.end.lone_surrogates += lone;
            }
        }
        let Some(list) = list.filter(|at| text.bytes.get(*at) == Some(&b'[')) else {
            return Ok(None);
        };
        let mut notes = Notes::default();
        for at in elements(text.bytes, list).0 {
            let read = |raw: &RawValue| said(raw, &mut notes);
            let one = text.message(&at, &mut found.end.lone_surrogates, sink, read)?;
            found.records.push((at, one.unwrap_or_default()));
        }
        found.end.opaque_blocks = notes.opaque_blocks;
        Ok(Some(found))
    }

    /// A member beside the messages; false where it is not read.
    fn member(&mut self, key: &str, raw: &RawValue) -> bool {
        let text = string(Some(raw)).filter(|text| !text.is_empty());
        match (key, text) {
            ("uuid", Some(id)) => self.start.id = id,
            ("name", Some(name)) => self.end.title = Some(name),
            ("created_at", Some(time)) => self.start.descent.begun = Millis::parse(&time),
            ("current_leaf_message_uuid", leaf) => self.current = leaf,
            ("model", model) => self.model = model,
            _ => return false,
        }
        true
    }

    /// The record before each one: in a tree by its own word, in a list the one that stands there.
    fn parents(
        &self,
        by_id: &HashMap<&str, usize>,
        sink: &mut dyn Sink,
    ) -> Result<Vec<Option<usize>>> {
        let is_tree = self.records.iter().any(|(_, said)| said.parent.is_some());
        let mut parents = Vec::with_capacity(self.records.len());
        for (number, (at, said)) in self.records.iter().enumerate() {
            let before = number.checked_sub(1);
            let named = said.parent.as_deref();
            let found = named.and_then(|parent| by_id.get(parent)).copied();
            parents.push(match (named, found, before) {
                (Some(_), Some(found), _) => Some(found),
                // The first one names what is no message.
                (Some(ROOT), None, _) | (Some(_), None, None) => None,
                (Some(parent), None, before) => {
                    let what = "is not in the conversation; the message before it is taken";
                    let reason = format!("parent {parent} {what}");
                    sink.problem(self.text.problem(at.start, reason))?;
                    before
                }
                (None, ..) if is_tree && said.is_read => None,
                (None, ..) => before,
            });
        }
        Ok(parents)
    }

    /// Tells of the way to the message where it stands, then of those that leave it.
    fn tell(mut self, sink: &mut dyn Sink) -> Result<()> {
        sink.session(std::mem::take(&mut self.start))?;
        let ids = self.records.iter().enumerate();
        let by_id = ids.filter_map(|(at, (_, said))| Some((said.id.as_deref()?, at)));
        let by_id: HashMap<&str, usize> = by_id.collect();
        let parents = self.parents(&by_id, sink)?;
        let current = self.current.as_deref();
        let stands = current.and_then(|leaf| by_id.get(leaf)).copied();
        if let (Some(current), None) = (current, stands) {
            let reason = format!("current message {current} is not in the conversation");
            sink.problem(self.text.problem(self.at, reason))?;
        }
        let (ways, circles) = Ways::of(parents);
        for at in circles {
            let reason = "a message that stands below itself";
            sink.problem(self.text.problem(self.records[at].0.start, reason))?;
        }
        let last = self.records.len().checked_sub(1);
        let mut telling = Telling {
            found: self,
            steps: Steps::of(sink),
        };
        walk(ways, stands.or(last), &mut telling)?;
        telling.steps.sink.end(telling.found.end)
    }
}

/// A conversation on its way to a sink.
struct Telling<'t, 's> {
    found: Conversation<'t>,
    steps: Steps<'s>,
}

impl<'s> Walker<'s> for Telling<'_, 's> {
    type State = ();

    fn steps(&mut self) -> &mut Steps<'s> {
        &mut self.steps
    }

    fn tell(&mut self, way: &[usize], _: &Ways, behind: &mut Behind<()>) -> Result<usize> {
        let (at, said) = &mut self.found.records[way[0]];
        if said.is_read && said.messages.is_empty() {
            self.found.end.other("empty message");
        }
        let span = self.found.text.span(at);
        for message in std::mem::take(&mut said.messages) {
            let mut settings = Settings::new();
            if let Some(model) = self
                .found
                .model
                .as_deref()
                .filter(|_| behind.last.is_none())
            {
                settings.insert("model".to_owned(), quoted(model));
            }
            let step = Step {
                time: said.time,
                settings,
                ..Step::append(message, span)
            };
            self.steps.tell(step, &mut behind.last)?;
        }
        Ok(1)
    }
}
