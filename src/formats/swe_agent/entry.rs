//! One entry of a history: what the model is sent of it.

use serde_json::value::RawValue;

use crate::model::{Message, Part};
use crate::wire::json::{decode, string};
use crate::wire::{Notes, anthropic, openai};

lazy! {
    /// What stands beside a message's role and content.
    struct Beside { agent, tool_call_ids, thinking_blocks }
}

/// Reads an entry, which is a chat message. The blocks in which Anthropic's models think stand beside it,
/// and a result may name its call in a list.
pub(super) fn message(raw: &RawValue, notes: &mut Notes) -> Result<Message, String> {
    let mut message = openai::message(raw, notes)?;
    let beside: Beside<'_> = decode(Some(raw)).unwrap_or_default();
    let calls: Vec<String> = decode(beside.tool_call_ids).unwrap_or_default();
    if let [Part::ToolResult { call, .. }] = &mut message.parts[..]
        && call.is_empty()
        && let Some(first) = calls.into_iter().next()
    {
        *call = first;
    }
    let thought = beside.thinking_blocks.map(RawValue::get);
    if let Some(blocks) = thought.filter(|blocks| blocks.starts_with('[')) {
        let reply = format!(r#"{{"role":"assistant","content":{blocks}}}"#);
        let reply = RawValue::from_string(reply).map_err(|error| error.to_string())?;
        let thought = anthropic::message(&reply, notes)?.parts;
        if !thought.is_empty() {
            // The text beside them says the same.
            message
                .parts
                .retain(|part| !matches!(part, Part::Thinking { .. }));
            message.parts.splice(..0, thought);
        }
    }
    Ok(message)
}

/// The agent that an entry belongs to.
pub(super) fn agent(raw: &RawValue) -> Option<String> {
    let beside: Beside<'_> = decode(Some(raw))?;
    string(beside.agent)
}
