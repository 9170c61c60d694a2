//! The exporter: kept lines as they were, completed items for new messages.

use serde_json::{Value, from_str, json};

use crate::error::Result;
use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::{stream, writers};
use crate::formats::{Export, Outgoing};
use crate::model::{Part, Role};

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let messages = export.messages;
    let mut items = 0;
    stream::export(export, |at, kept, remarks| {
        let mut lines = Vec::new();
        // Two replies side by side would be read as one.
        let is_reply = |at: usize| messages[at].message.role == Role::Assistant;
        let is_new = |at: usize| messages[at].records.is_empty();
        if at > 0 && is_reply(at - 1) && is_reply(at) && (is_new(at - 1) || is_new(at)) {
            lines.push(r#"{"type":"turn.started"}"#.to_owned());
        }
        match kept {
            Some(records) => lines.extend_from_slice(records),
            None => lines.extend(new_lines(&messages[at], &mut items, remarks)),
        }
        lines
    })
}

fn new_lines(outgoing: &Outgoing, items: &mut u64, remarks: &mut Remarks) -> Vec<String> {
    let message = &outgoing.message;
    if !matches!(message.role, Role::Assistant | Role::Tool) {
        remarks.add("a message that the model did not write");
        return Vec::new();
    }
    let mut lines = Vec::new();
    for part in &message.parts {
        let (event, mut item) = match part {
            Part::Text { text } if message.role == Role::Assistant => (
                "item.completed",
                json!({"type": "agent_message", "text": text}),
            ),
            Part::Thinking { text, .. } => {
                ("item.completed", json!({"type": "reasoning", "text": text}))
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let arguments = from_str(arguments).unwrap_or(Value::from(arguments.as_str()));
                let call = json!({
                    "id": id, "type": "mcp_tool_call", "server": "", "tool": name,
                    "arguments": arguments, "status": "in_progress",
                });
                ("item.started", call)
            }
            Part::ToolResult {
                call,
                content,
                is_error,
            } => {
                let text = writers::texts(content, "\n");
                let status = if *is_error { "failed" } else { "completed" };
                let result = json!({
                    "id": call, "type": "mcp_tool_call", "server": "", "tool": "",
                    "arguments": {}, "result": text, "status": status,
                });
                ("item.completed", result)
            }
            _ => {
                remarks.add("a picture, a file or another block that is no text");
                continue;
            }
        };
        if item.get("id").is_none() {
            *items += 1;
            item["id"] = format!("new_{items}").into();
        }
        lines.push(json!({"type": event, "item": item}).to_string());
    }
    lines
}
