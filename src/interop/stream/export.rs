//! A stream on its way out: kept records as they were, new ones for what has none.

use std::io::Write;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::interop::records::write_line;
use crate::interop::remarks::Remarks;
use crate::interop::{Document, Outgoing};
use crate::model::{Message, Role};

/// A reply that has no records to go as, with what every provider's first event says of one.
pub(in crate::interop) struct NewReply<'a> {
    pub(in crate::interop) message: &'a Message,
    /// Its number among the messages, from 1.
    pub(in crate::interop) number: usize,
    pub(in crate::interop) id: String,
    pub(in crate::interop) model: Option<Value>,
    /// When it was made, in seconds since 1970-01-01T00:00:00Z.
    pub(in crate::interop) created: Option<i64>,
}

/// Writes each message's kept records, a line each, or those that `new` makes of a reply, whose id
/// begins with `prefix`; returns what the format, which holds nothing but replies, could not hold.
pub(in crate::interop) fn export(
    messages: &[Outgoing],
    document: &Document,
    prefix: &str,
    out: &mut dyn Write,
    new: impl Fn(NewReply<'_>, &mut Remarks) -> Vec<String>,
) -> Result<Vec<String>> {
    let mut remarks = Remarks::default();
    for (at, outgoing) in messages.iter().enumerate() {
        asides(at, document, out)?;
        let number = at + 1;
        let records = match kept(outgoing, at.checked_sub(1).map(|before| &messages[before])) {
            Some(records) => records.to_vec(),
            None if outgoing.message.role != Role::Assistant => {
                remarks.add("a message that the model did not write");
                continue;
            }
            None => {
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
                new(reply, &mut remarks)
            }
        };
        for record in records {
            write_line(out, &record)?;
        }
    }
    asides(messages.len(), document, out)?;
    out.flush().map_err(Error::io("export"))?;
    Ok(remarks.into_words())
}

/// Writes the records that are no messages before message `at`.
pub(in crate::interop) fn asides(
    at: usize,
    document: &Document,
    out: &mut dyn Write,
) -> Result<()> {
    let mut records = document.asides(at).iter();
    records.try_for_each(|record| write_line(out, record))
}

/// The records of a message on its way out, if it may go as it came. What it shares with the
/// message before it is written already.
pub(in crate::interop) fn kept<'a>(
    outgoing: &'a Outgoing,
    before: Option<&Outgoing>,
) -> Option<&'a [String]> {
    let (first, rest) = outgoing.records.split_first()?;
    let shared = before.is_some_and(|before| before.records.last() == Some(first));
    Some(if shared { rest } else { &outgoing.records })
}
