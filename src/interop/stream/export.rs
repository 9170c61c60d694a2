//! A stream on its way out: kept records as they were, new ones for what has none.

use std::io::Write;

use crate::error::{Error, Result};
use crate::interop::Outgoing;
use crate::interop::remarks::Remarks;

/// Writes each message's kept records, a line each, or those that `new` makes for it; returns what
/// the format could not hold.
pub(in crate::interop) fn export(
    messages: &[Outgoing],
    out: &mut dyn Write,
    mut new: impl FnMut(&Outgoing, usize, &mut Remarks) -> Vec<String>,
) -> Result<Vec<String>> {
    let mut remarks = Remarks::default();
    for (at, outgoing) in messages.iter().enumerate() {
        let records = match kept(outgoing, at.checked_sub(1).map(|before| &messages[before])) {
            Some(records) => records.to_vec(),
            None => new(outgoing, at + 1, &mut remarks),
        };
        for record in records {
            writeln!(out, "{record}").map_err(Error::io("export"))?;
        }
    }
    out.flush().map_err(Error::io("export"))?;
    Ok(remarks.into_words())
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
