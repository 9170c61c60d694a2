//! The exporter: kept events as they were, the fewest that hold it for a new reply.

use serde_json::json;
use serde_json::value::RawValue;

use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::stream::NewReply;
use crate::wire::json::Object;
use crate::wire::responses;

/// The lines of a reply.
pub(super) fn new_lines(reply: NewReply<'_>, remarks: &mut Remarks) -> Vec<String> {
    let message = reply.message;
    let items = responses::items(message, |_| None, reply.number, &mut remarks.repairs);
    let response = |status: &str| {
        json!({
            "id": reply.id, "object": "response", "created_at": reply.created, "status": status,
            "model": reply.model,
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
    if !message.interrupted {
        // What was cut has no end.
        let ended = response("completed").to_string();
        lines.push(event("response.completed", "response", &ended));
    }
    lines
}
