//! A stream on its way out: kept records as they were, new ones for what has none.

use std::io::Write;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::formats::shared::records::write_line;
use crate::formats::shared::remarks::Remarks;
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Message, Role};

/// A reply that has no records to go as, with what every provider's first event says of one.
pub(in crate::formats) struct NewReply<'a> {
    pub(in crate::formats) message: &'a Message,
    /// Its number among the messages, from 1.
    pub(in crate::formats) number: usize,
    pub(in crate::formats) id: String,
    pub(in crate::formats) model: Option<Value>,
    /// When it was made, in seconds since 1970-01-01T00:00:00Z.
    pub(in crate::formats) created: Option<i64>,
}

/// Writes the lines of each message: `lines` is given its place, the records that it may go as, and what is remarked.
/// Returns what the format could not hold.
pub(in crate::formats) fn export(
    export: Export<'_>,
    mut lines: impl FnMut(usize, Option<&[String]>, &mut Remarks) -> Vec<String>,
) -> Result<Vec<String>> {
    let messages = export.messages;
    let mut remarks = Remarks::default();
    for (at, outgoing) in messages.iter().enumerate() {
        asides(at, export.document, export.out)?;
        let kept = kept(outgoing, at.checked_sub(1).map(|before| &messages[before]));
        for line in lines(at, kept, &mut remarks) {
            write_line(export.out, &line)?;
        }
    }
    asides(messages.len(), export.document, export.out)?;
    export.out.flush().map_err(Error::io("export"))?;
    Ok(remarks.into_words())
}

/// The same of a format that holds nothing but replies: `new` makes the lines of one that has no records to go as, whose
/// id begins with `prefix`.
pub(in crate::formats) fn replies(
    export: Export<'_>,
    prefix: &str,
    new: fn(NewReply<'_>, &mut Remarks) -> Vec<String>,
) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    self::export(export, |at, kept, remarks| {
        let (outgoing, number) = (&messages[at], at + 1);
        if let Some(records) = kept {
            return records.to_vec();
        }
        if outgoing.message.role != Role::Assistant {
            remarks.add("a message that the model did not write");
            return Vec::new();
        }
        let id = document.new_id(number as u64).replace('-', "");
        let model = outgoing.settings.get("model");
        let time = outgoing.time.or(document.now);
        let reply = NewReply {
            message: &outgoing.message,
            number,
            id: format!("{prefix}{id}"),
            model: model.and_then(|model| serde_json::from_str(model).ok()),
            created: time.map(|time| time.0 / 1_000),
        };
        new(reply, remarks)
    })
}

/// Writes the records that are no messages before message `at`.
fn asides(at: usize, document: &Document, out: &mut dyn Write) -> Result<()> {
    let mut records = document.asides(at).iter();
    records.try_for_each(|record| write_line(out, record))
}

/// The records of a message on its way out, if it may go as it came. What it shares with the
/// message before it is written already.
fn kept<'a>(outgoing: &'a Outgoing, before: Option<&Outgoing>) -> Option<&'a [String]> {
    let (first, rest) = outgoing.records.split_first()?;
    let shared = before.is_some_and(|before| before.records.last() == Some(first));
    Some(if shared { rest } else { &outgoing.records })
}
