//! The exporter: kept events as they were, the fewest that hold it for a new reply.

use serde_json::{Value, json};

use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::stream::NewReply;
use crate::model::Part;
use crate::wire::anthropic::{self, Place};

/// The lines of a reply.
pub(super) fn new_lines(reply: NewReply<'_>, remarks: &mut Remarks) -> Vec<String> {
    let message = reply.message;
    let begun = json!({
        "id": reply.id, "type": "message", "role": "assistant", "model": reply.model, "content": [],
    });
    let mut lines = vec![json!({"type": "message_start", "message": begun})];
    let blocks = message.parts.iter().filter_map(|part| {
        let block = anthropic::block(part, Place::Assistant, reply.number, &mut remarks.repairs)?;
        Some((part, serde_json::from_str(&block.json()).ok()?))
    });
    for (index, (part, block)) in blocks.enumerate() {
        let mut block: Value = block;
        let deltas = match part {
            Part::Text { .. } => {
                let text = block["text"].take();
                block["text"] = "".into();
                vec![json!({"type": "text_delta", "text": text})]
            }
            Part::Thinking { .. } if block["thinking"].is_string() => {
                let (text, signature) = (block["thinking"].take(), block["signature"].take());
                (block["thinking"], block["signature"]) = ("".into(), "".into());
                let thinking = json!({"type": "thinking_delta", "thinking": text});
                let signature = json!({"type": "signature_delta", "signature": signature});
                vec![thinking, signature]
            }
            Part::ToolCall { arguments, .. } if block["input"].is_object() => {
                block["input"] = json!({});
                vec![json!({"type": "input_json_delta", "partial_json": arguments})]
            }
            _ => Vec::new(),
        };
        lines.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        lines.extend(deltas.into_iter().map(delta));
        lines.push(json!({"type": "content_block_stop", "index": index}));
    }
    if message.interrupted {
        lines.truncate(lines.len() - usize::from(lines.len() > 1))
    } else {
        lines.push(json!({"type": "message_stop"}))
    }
    lines.iter().map(Value::to_string).collect()
}
