//! The ids of calls that have none, and of what they gave back: the function's name, and which of its calls
//! in the reply it is.

use std::collections::HashMap;

use crate::formats::{Action, Step};
use crate::model::{Message, Part, Role};

/// The calls without ids of the last reply, by the function's name.
#[derive(Clone, Default)]
pub(super) struct Named(HashMap<String, Count>);

#[derive(Clone, Copy, Default)]
struct Count {
    calls: usize,
    results: usize,
}

impl Named {
    /// Tells a message's calls without ids from each other, and their results, which are named by their
    /// function alone until then.
    pub(super) fn number(&mut self, step: &mut Step) {
        let Action::Append(message) = &mut step.action else {
            return;
        };
        let changes = self.changes(message);
        if message.role == Role::User {
            self.0.clear();
        }
        for (at, new) in changes {
            match &mut message.parts[at] {
                Part::ToolCall { id, .. } | Part::ToolResult { call: id, .. } => *id = new,
                _ => {}
            }
        }
    }

    /// The parts of a message that need another id.
    fn changes(&mut self, message: &Message) -> Vec<(usize, String)> {
        let is_answered = self.0.values().any(|count| count.results > 0);
        if message.role == Role::Assistant && is_answered {
            self.0.clear();
        }
        let mut changes = Vec::new();
        for (at, part) in message.parts.iter().enumerate() {
            let (name, number) = match part {
                Part::ToolCall { id, name, .. } if id == name => {
                    let count = self.0.entry(name.clone()).or_default();
                    count.calls += 1;
                    (name, count.calls)
                }
                Part::ToolResult { call, .. } => match self.0.get_mut(call) {
                    Some(count) if count.results < count.calls => {
                        count.results += 1;
                        (call, count.results)
                    }
                    _ => continue,
                },
                _ => continue,
            };
            if number > 1 {
                changes.push((at, format!("{name}_{number}")));
            }
        }
        changes
    }
}
