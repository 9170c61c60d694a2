//! The exporter: kept events as they were, the fewest that hold it for a new reply.

use std::io::Write;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::error::Result;
use crate::interop::remarks::Remarks;
use crate::interop::stream;
use crate::interop::{Document, Outgoing};
use crate::model::Role;
use crate::wire::json::Object;
use crate::wire::responses;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    stream::export(messages, out, |outgoing, number, remarks| {
        new_lines(outgoing, number, document, remarks)
    })
}

fn new_lines(
    outgoing: &Outgoing,
    number: usize,
    document: &Document,
    remarks: &mut Remarks,
) -> Vec<String> {
    let message = &outgoing.message;
    if message.role != Role::Assistant {
        remarks.add("a message that the model did not write");
        return Vec::new();
    }
    let items = responses::items(message, |_| None, number, &mut remarks.repairs);
    let id = format!("resp_{}", document.new_id(number as u64).replace('-', ""));
    let model = outgoing.settings.get("model");
    let model: Option<Value> = model.and_then(|model| serde_json::from_str(model).ok());
    let created = outgoing.time.or(document.now).map(|time| time.0 / 1_000);
    let response = |status: &str| {
        json!({
            "id": id, "object": "response", "created_at": created, "status": status,
            "model": model,
        })
    };
    let event =
        |kind: &str, member: &str, value: &str| Object::typed(kind).raw(member, value).finish();
    let begun = response("in_progress").to_string();
    let mut lines = vec![event("response.created", "response", &begun)];
    let items = items
        .iter()
        .filter(|item| serde_json::from_str::<&RawValue>(item).is_ok());
    lines.extend(items.map(|item| event("response.output_item.done", "item", item)));
    let ended = response("completed").to_string();
    lines.push(event("response.completed", "response", &ended));
    lines
}
