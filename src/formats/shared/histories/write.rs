//! Histories written back: a record that still says its messages stays as it was, all others are made anew.
//!
//! Deliberately absent: what a record says; each format writes its own.

use serde_json::value::RawValue;

use crate::formats::Outgoing;
use crate::formats::shared::head::Keys;
use crate::formats::shared::records::rewritten;
use crate::model::Message;
use crate::wire::json::{Object, array};

/// The member beside the records that holds instructions.
const SYSTEM: &str = "system";

/// Messages that stand side by side.
pub(in crate::formats) enum Run<'m> {
    /// The record that says them.
    Kept(String),
    /// Those that no record says any more, and which message the first is, from 0.
    Anew(usize, &'m [Outgoing]),
}

/// Splits messages into runs. `kept` takes a record and the messages from its first one on; it returns how many of
/// them the record says, and the record as it is to be written.
pub(in crate::formats) fn runs<'m>(
    messages: &'m [Outgoing],
    mut kept: impl FnMut(&str, &[Outgoing]) -> Option<(usize, String)>,
) -> Vec<Run<'m>> {
    let (mut runs, mut at, mut begun) = (Vec::new(), 0, 0);
    while let Some(outgoing) = messages.get(at) {
        let record = match &outgoing.records[..] {
            [record] if record.starts_with('{') => Some(record),
            _ => None,
        };
        let found = record.and_then(|record| kept(record, &messages[at..]));
        let Some((count @ 1.., record)) = found else {
            at += 1;
            continue;
        };
        if begun < at {
            runs.push(Run::Anew(begun, &messages[begun..at]));
        }
        runs.push(Run::Kept(record));
        at += count;
        begun = at;
    }
    if begun < at {
        runs.push(Run::Anew(begun, &messages[begun..]));
    }
    runs
}

/// Whether messages begin with these, and have them from this record alone.
pub(in crate::formats) fn begin_with<'m>(
    messages: &[Outgoing],
    record: &str,
    said: impl IntoIterator<Item = &'m Message>,
) -> bool {
    let mut messages = messages.iter();
    said.into_iter().all(|said| {
        messages
            .next()
            .is_some_and(|own| own.message == *said && own.records == [record])
    })
}

/// Records as a list; in the object around them, where the source is one that has them under `key`. Of that object the
/// member `system` is what stays of it, as JSON.
pub(in crate::formats) fn framed(
    records: &[String],
    key: &str,
    source: Option<&str>,
    system: Option<&str>,
) -> String {
    let list = array(records);
    let source = source.map(|text| text.trim_start_matches('\u{feff}').trim());
    let is_object = |text: &&str| {
        text.starts_with('{')
            && serde_json::from_str::<&RawValue>(text).is_ok()
            && Keys::of(text.as_bytes(), 0).list(key).is_some()
    };
    let Some(source) = source.filter(is_object) else {
        return match system {
            Some(system) => Object::new().raw(SYSTEM, system).raw(key, &list).finish(),
            None => list,
        };
    };
    let changed = rewritten(source, |name, value| match name {
        SYSTEM => system.map(str::to_owned),
        name if name == key => Some(list.clone()),
        _ => Some(value.to_owned()),
    });
    let is_there = Keys::of(source.as_bytes(), 0).has(SYSTEM);
    let missing = system.filter(|_| !is_there);
    changed.optional_raw(SYSTEM, missing).finish()
}
