//! The queue: what was typed, or told by the client, while the model worked.
//!
//! The client writes what goes into its queue and what comes out of it. What it gives to the model in mid-turn
//! stands in an attachment, and what begins a turn in a user's record. Where neither is there, the queue's records
//! alone have it: an earlier client gave it to the model all the same, and one that died kept it.
//! Deliberately absent: in which words the model gets it ([`super::attachments`]).

use std::collections::VecDeque;

use super::record::{BlockHead, Record};
use crate::model::Span;
use crate::wire::json::{Raw, decode, string, word};

/// The notice of a task, which nobody typed.
pub(super) const NOTICE: &str = "<task-notification>";

/// What a remove says where the model was given it.
const ABSORBED: &str = "absorbed_mid_turn";

/// A record by its bytes and its line.
pub(super) type Place = (Span, u64);

/// What came out of the queue, or stayed in it, and stands in no other record.
pub(super) struct Found {
    /// The record that has the text.
    pub(super) told: Place,
    /// The other record of it.
    pub(super) other: Option<Place>,
    /// The message behind which it came out.
    pub(super) behind: Option<u32>,
    /// Whether the model was given it.
    pub(super) is_given: bool,
}

/// What waits, and the record that has its text, if one has.
#[derive(Default)]
struct Waiting {
    text: Option<String>,
    place: Place,
}

/// The queue while a file is read.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
    /// What begins a turn, until its record comes.
    begun: Vec<Waiting>,
    /// What the model was given, as its text says, and what stands in no other record unless an attachment has it.
    given: Vec<(String, Found)>,
    /// The texts of the attachments that have what came out.
    attached: Vec<String>,
    /// Whether a record is about what came before all that was read.
    pub(super) reaches_back: bool,
}

impl Queue {
    /// Takes a record of the queue's, which stands behind a message.
    pub(super) fn take(&mut self, record: &Record<'_>, place: Place, behind: Option<u32>) {
        let text = string(record.content).filter(|text| !is_internal(text));
        match word(record.operation).as_deref() {
            Some("enqueue") => self.waiting.push_back(Waiting { text, place }),
            Some("dequeue") => match self.waiting.pop_front() {
                Some(begun) => self.begun.push(begun),
                None => self.reaches_back = true,
            },
            Some("remove") => {
                let is_it = |waiting: &Waiting| text.is_none() || waiting.text == text;
                let at = self.waiting.iter().position(is_it).unwrap_or(0);
                let Some(waiting) = self.waiting.remove(at) else {
                    self.reaches_back = true;
                    return;
                };
                let is_given = word(record.reason).is_none_or(|reason| reason == ABSORBED);
                let (told, other) = match waiting.text {
                    Some(_) => (waiting.place, place),
                    None => (place, waiting.place),
                };
                if let (Some(text), true) = (waiting.text.or(text), is_given) {
                    let found = Found {
                        told,
                        other: Some(other),
                        behind,
                        is_given,
                    };
                    self.given.push((text, found));
                }
            }
            // Back into the box that it is typed in.
            Some("popAll") => self.waiting.clear(),
            _ => {}
        }
    }

    /// Whether nothing is in it, or about to begin a turn.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.begun.is_empty()
    }

    /// A user's record follows, with this content.
    pub(super) fn says(&mut self, content: Raw<'_>) {
        self.begun.clear();
        if !self.waiting.is_empty() {
            let text = string(content);
            self.waiting
                .retain(|it| it.text.is_none() || it.text != text);
        }
    }

    /// An attachment has this, which came out of the queue.
    pub(super) fn attaches(&mut self, prompt: Raw<'_>) {
        self.attached.extend(string(prompt).or_else(|| {
            let blocks: Vec<BlockHead<'_>> = decode(prompt)?;
            let texts = blocks.iter().filter_map(|block| word(block.text));
            Some(texts.collect())
        }));
    }

    /// What stands in no other record; the last message of the file is behind what was not given.
    pub(super) fn end(mut self, last: Option<u32>) -> Vec<Found> {
        // A client that attaches what it gives has given nothing else but what somebody typed.
        let attaches = !self.attached.is_empty();
        let mut found = Vec::new();
        for (text, given) in self.given {
            let known = self.attached.iter().position(|known| *known == text);
            match known {
                Some(at) => drop(self.attached.swap_remove(at)),
                None if attaches && text.starts_with(NOTICE) => {}
                None => found.push(given),
            }
        }
        for Waiting { text, place } in self.begun.into_iter().chain(self.waiting) {
            let Some(text) = text.filter(|text| !text.starts_with(NOTICE)) else {
                continue;
            };
            if !self.attached.contains(&text) {
                found.push(Found {
                    told: place,
                    other: None,
                    behind: last,
                    is_given: false,
                });
            }
        }
        found
    }
}

/// Whether it is what the client tells itself of a task, which no model gets.
fn is_internal(text: &str) -> bool {
    text.starts_with('{') && text.contains("\"task_id\"")
}
