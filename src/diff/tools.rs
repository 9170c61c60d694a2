//! Which tools a message has to do with.

use std::collections::HashMap;

use crate::model::{Message, Part};

/// For each message, the tools that it calls, and those whose calls it answers: for a result, the
/// nearest call of its id before it.
pub fn tools(messages: &[Message]) -> Vec<Vec<&str>> {
    let mut called: HashMap<&str, &str> = HashMap::new();
    messages
        .iter()
        .map(|message| {
            let mut names = Vec::new();
            for part in &message.parts {
                match part {
                    Part::ToolCall { id, name, .. } => {
                        called.insert(id, name);
                        names.push(name.as_str());
                    }
                    Part::ToolResult { call, .. } => names.extend(called.get(call.as_str())),
                    _ => {}
                }
            }
            names
        })
        .collect()
}
