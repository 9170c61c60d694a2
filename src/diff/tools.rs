//! Which tools a message has to do with.

use std::collections::HashMap;

use crate::model::{Message, Part};

/// For each message, the calls that its results answer, in their order: for each result, the nearest
/// call of its id before it, if there is one.
pub fn answered(messages: &[Message]) -> Vec<Vec<&Part>> {
    let mut called: HashMap<&str, &Part> = HashMap::new();
    let answered = messages.iter().map(|message| {
        let mut calls = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => drop(called.insert(id, part)),
                Part::ToolResult { call, .. } => calls.extend(called.get(call.as_str())),
                _ => {}
            }
        }
        calls
    });
    answered.collect()
}

/// For each message, the tools that it calls, and those whose calls it answers.
pub fn tools(messages: &[Message]) -> Vec<Vec<&str>> {
    let both = messages.iter().zip(answered(messages));
    let names = both.map(|(message, answered)| {
        let calls = message.parts.iter().chain(answered);
        calls.filter_map(name).collect()
    });
    names.collect()
}

/// The tool that a part calls.
pub(crate) fn name(part: &Part) -> Option<&str> {
    match part {
        Part::ToolCall { name, .. } => Some(name),
        _ => None,
    }
}
