//! The exporter: kept lines as they were, whole messages for new ones.

use crate::error::Result;
use crate::formats::shared::records::rewritten;
use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::stream;
use crate::formats::{Document, Export, Outgoing};
use crate::model::Role;
use crate::wire::anthropic;
use crate::wire::json::Object;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    stream::export(export, |at, kept, remarks| match kept {
        Some(records) => records.to_vec(),
        None => {
            let new = new_line(&messages[at], at + 1, document, remarks);
            new.into_iter().collect()
        }
    })
}

fn new_line(
    outgoing: &Outgoing,
    number: usize,
    document: &Document,
    remarks: &mut Remarks,
) -> Option<String> {
    let message = &outgoing.message;
    let is_reply = message.role == Role::Assistant;
    let kind = if is_reply { "assistant" } else { "user" };
    let mut written = anthropic::written(message, number, &mut remarks.repairs)?;
    if is_reply {
        // Without an id of its own it would be part of the reply before it.
        let object = rewritten(&written, |_, value| Some(value.to_owned()));
        let id = format!("msg_{}", document.new_id(number as u64).replace('-', ""));
        written = object.string("id", &id).finish();
    }
    let time = outgoing.time.or(document.now).map(|time| time.to_iso());
    let line = Object::typed(kind)
        .raw("message", &written)
        .raw("parent_tool_use_id", "null")
        .string("session_id", &document.session_id)
        .string("uuid", &document.new_id(number as u64 + (1 << 32)))
        .optional("timestamp", time.as_deref());
    Some(line.finish())
}
