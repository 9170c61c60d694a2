//! The calls that wait for a result: as long as there are any, what was said may still be arranged in another way.

use std::collections::HashMap;

use crate::model::{Message, Part, Role};

/// The calls that wait for a result, by their ids.
#[derive(Clone, Default)]
pub(super) struct Open {
    calls: HashMap<String, usize>,
    count: usize,
}

impl Open {
    /// Takes the next message; whether it answers any of them.
    pub(super) fn add(&mut self, message: &Message) -> bool {
        let mut answers = false;
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } if message.role == Role::Assistant => {
                    *self.calls.entry(id.clone()).or_default() += 1;
                    self.count += 1;
                }
                Part::ToolResult { call, .. } => {
                    if let Some(open) = self.calls.get_mut(call).filter(|open| **open > 0) {
                        *open -= 1;
                        self.count -= 1;
                        answers = true;
                    }
                }
                _ => {}
            }
        }
        if self.count == 0 {
            self.calls.clear();
        }
        answers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}
