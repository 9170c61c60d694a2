//! Which tools a message has to do with.

use std::collections::HashMap;

use crate::model::{Message, Part};

/// For each message, the calls that its results answer, in their order: for each result, the nearest
/// call of its id before it, if there is one.
pub fn answered<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<Vec<&'a Part>> {
    let mut called: HashMap<&str, &Part> = HashMap::new();
    let answered = messages.into_iter().map(|message| {
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

/// The tool that a part calls.
pub(crate) fn name(part: &Part) -> Option<&str> {
    match part {
        Part::ToolCall { name, .. } => Some(name),
        _ => None,
    }
}
