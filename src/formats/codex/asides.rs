//! The records of a rollout that are no messages, on their way out: which of them stay.
//!
//! The tool's screen draws a conversation from events that repeat what was said; one that repeats
//! what is not in the file any more would show it all the same.

use std::collections::HashSet;

use super::history::prompt_text;
use super::kept::{Kind, kept, kind};
use super::record::{Event, Record};
use crate::formats::{Document, Outgoing};
use crate::model::{Part, Role};
use crate::wire::json::{decode, string, word};

/// What the source says beside its messages.
pub(super) struct Asides {
    /// What was said and is written as it was.
    said: HashSet<String>,
    /// Whether the session's own first record is among them.
    pub(super) has_meta: bool,
    /// Whether a title is.
    pub(super) has_title: bool,
}

impl Asides {
    /// Those of a document; none where there are none.
    pub(super) fn of(messages: &[Outgoing], document: &Document) -> Option<Self> {
        if document.asides.is_empty() {
            return None;
        }
        let mut said = HashSet::new();
        for message in messages.iter().filter(|message| kept(message).is_some()) {
            let message = &message.message;
            if message.role == Role::User {
                said.insert(prompt_text(message));
            }
            for part in &message.parts {
                match part {
                    Part::Text { text } => drop(said.insert(text.clone())),
                    Part::Thinking { text, .. } => {
                        said.extend(text.split("\n\n").map(str::to_owned));
                        said.insert(text.clone());
                    }
                    _ => {}
                }
            }
        }
        let records = || document.asides.values().flatten();
        let is_meta = |record: &String| matches!(kind(record), Kind::Meta(_) | Kind::BareMeta);
        let is_title = |record: &String| event(record).0 == "thread_name_updated";
        Some(Self {
            said,
            has_meta: records().any(is_meta),
            has_title: records().any(is_title),
        })
    }

    /// Whether a record stays: all do but those that show what is not in the file.
    pub(super) fn stays(&self, record: &str) -> bool {
        match event(record) {
            (kind, Some(text)) if SHOWING.contains(&&*kind) => self.said.contains(&text),
            _ => true,
        }
    }
}

/// The events that repeat what was said.
const SHOWING: [&str; 4] = [
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
];

/// The type of an event and what it says; an empty type where a record is none.
fn event(record: &str) -> (String, Option<String>) {
    let Ok(record) = serde_json::from_str::<Record<'_>>(record) else {
        return (String::new(), None);
    };
    if word(record.r#type).as_deref() != Some("event_msg") {
        return (String::new(), None);
    }
    let event = decode::<Event<'_>>(record.payload).unwrap_or_default();
    let text = string(event.message).or_else(|| string(event.text));
    (string(event.r#type).unwrap_or_default(), text)
}
