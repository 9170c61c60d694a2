//! The records that a message came with: which are written again as they are, and what the rest
//! still tell.

use serde_json::value::RawValue;

use super::record::{Compacted, Record};
use crate::formats::{Document, Outgoing};
use crate::model::Part;
use crate::wire::Notes;
use crate::wire::json::{decode, word};
use crate::wire::responses::{self, Meaning};

/// A record's kind.
pub(super) enum Kind<'a> {
    /// An enveloped response item.
    Item(&'a RawValue),
    /// A legacy item, without envelope.
    Bare,
    /// A `session_meta`'s payload.
    Meta(&'a RawValue),
    /// A legacy file's first line.
    BareMeta,
    /// Another agent's message.
    Communication,
    /// Anything else; it says more than one message.
    Other,
}

/// The kind of a record by its JSON text.
pub(super) fn kind(text: &str) -> Kind<'_> {
    let Ok(record) = serde_json::from_str::<Record<'_>>(text) else {
        return Kind::Other;
    };
    match (word(record.r#type).as_deref(), record.payload) {
        (Some("response_item"), Some(payload)) => Kind::Item(payload),
        (Some("session_meta"), Some(payload)) => Kind::Meta(payload),
        (Some("inter_agent_communication"), Some(_)) => Kind::Communication,
        (Some(_), None) if record.timestamp.is_none() => Kind::Bare,
        (None, None) if record.record_type.is_none() => Kind::BareMeta,
        _ => Kind::Other,
    }
}

/// A message's records, if they say just this message.
pub(super) fn kept(outgoing: &Outgoing) -> Option<&[String]> {
    let said = |record: &String| {
        matches!(
            kind(record),
            Kind::Item(_) | Kind::Bare | Kind::Communication
        )
    };
    let records = &outgoing.records;
    (!records.is_empty() && records.iter().all(said)).then_some(records)
}

/// The items that a compaction's record holds for a message that it put in place of others.
pub(super) fn replaced(outgoing: &Outgoing) -> Option<Vec<String>> {
    outgoing.records.iter().find_map(|text| {
        let record = serde_json::from_str::<Record<'_>>(text).ok()?;
        if word(record.r#type)? != "compacted" {
            return None;
        }
        let items = decode::<Compacted<'_>>(record.payload)?.replacement_history?;
        let messages = responses::messages(&items, &mut Notes::default(), |_| ());
        let mut messages = messages.into_iter();
        let (_, items) = messages.find(|(message, _)| *message == outgoing.message)?;
        Some(items.iter().map(|item| item.get().to_owned()).collect())
    })
}

/// Whether the file is of the layout without envelopes.
pub(super) fn is_legacy(messages: &[Outgoing], document: &Document) -> bool {
    let own = messages.iter().flat_map(|outgoing| &outgoing.records);
    let mut records = document.after.iter().chain(own).peekable();
    let bare = |record: &String| {
        matches!(kind(record), Kind::Bare | Kind::BareMeta)
            || serde_json::from_str::<Record<'_>>(record)
                .is_ok_and(|record| record.record_type.is_some())
    };
    records.peek().is_some() && records.all(bare)
}

/// The calls in records that are written already, with their kinds.
pub(super) fn calls(records: &[String]) -> Vec<(String, Option<String>)> {
    let mut calls = Vec::new();
    for record in records {
        let raw = match kind(record) {
            Kind::Item(payload) => payload,
            Kind::Bare => match serde_json::from_str(record) {
                Ok(raw) => raw,
                Err(_) => continue,
            },
            _ => continue,
        };
        if let Meaning::Reply(parts) = responses::read(raw, &mut Notes::default()) {
            calls.extend(parts.into_iter().filter_map(|part| match part {
                Part::ToolCall { id, kind, .. } => Some((id, kind)),
                _ => None,
            }));
        }
    }
    calls
}
