//! The exporter: kept chunks as they were, two for a new reply: what it says, and that it ends.

use serde_json::{Value, json};

use super::OBJECT;
use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::stream::NewReply;
use crate::model::Part;
use crate::wire::openai::{self, MessageWriter};

/// The lines of a reply.
pub(super) fn new_lines(reply: NewReply<'_>, remarks: &mut Remarks) -> Vec<String> {
    let message = reply.message;
    let repairs = &mut remarks.repairs;
    let mut writer = MessageWriter::new(message.role, None, reply.number, repairs);
    for part in &message.parts {
        match part {
            Part::ToolCall {
                name,
                arguments,
                kind: Some(kind),
                ..
            } if kind == "function_call" => {
                writer.function_call = Some(openai::function(name, arguments));
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            } => writer.call(id, name, arguments, kind.as_deref(), repairs),
            Part::Thinking { text, .. } => {
                *writer.reasoning.get_or_insert_default() += text;
            }
            part => writer.part(part, repairs),
        }
    }
    let Some(written) = writer.finish(repairs) else {
        return Vec::new();
    };
    let Ok(mut delta) = serde_json::from_str::<Value>(&written) else {
        return Vec::new();
    };
    let calls = delta.get_mut("tool_calls").and_then(Value::as_array_mut);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        call["index"] = index.into();
    }
    let created = reply.created.unwrap_or_default();
    let chunk = |delta: Value, reason: Value| {
        json!({
            "id": reply.id, "object": OBJECT, "created": created, "model": reply.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        })
    };
    let reason = match message.calls().next() {
        Some(_) => "tool_calls",
        None => "stop",
    };
    let said = chunk(delta, Value::Null);
    // What was cut has no end.
    let end = (!message.interrupted).then(|| chunk(json!({}), reason.into()));
    let lines = [said].into_iter().chain(end);
    lines.map(|line| line.to_string()).collect()
}
