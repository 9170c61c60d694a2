//! The calls that wait for a result: as long as there are any, what was said may still be arranged in another way.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::compile::repair::is_spoken;
use crate::model::{Message, Part, Role};

/// The ids that the results of messages answer.
#[derive(Clone, Debug, Default)]
pub struct AnsweredCalls(HashSet<u64>);

impl AnsweredCalls {
    /// One more.
    pub fn add(&mut self, call: &str) {
        self.0.insert(number_of(call));
    }

    /// Whether a call of this id may be among them; where not, it is not.
    fn may_have(&self, call: &str) -> bool {
        self.0.contains(&number_of(call))
    }
}

fn number_of(call: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.hash(&mut hasher);
    hasher.finish()
}

/// The calls that wait for a result, by their ids.
#[derive(Clone, Default)]
pub(super) struct Open {
    calls: HashMap<String, usize>,
    count: usize,
    /// All that is answered from here on, where that is known.
    answered: Option<AnsweredCalls>,
    /// Whether there is a call that no result of its id answers: one with another id may, right behind it.
    has_free: bool,
}

impl Open {
    /// Takes the next message; whether it answers any of them.
    pub(super) fn add(&mut self, message: &Message) -> bool {
        let mut answers = false;
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } if message.role == Role::Assistant => {
                    self.call(id.clone());
                }
                Part::ToolResult { call, .. } => answers |= self.answer(call),
                _ => {}
            }
        }
        answers
    }

    /// A call that waits from here on.
    pub(super) fn call(&mut self, id: String) {
        let may_be_answered = |answered: &AnsweredCalls| answered.may_have(&id);
        if self.answered.as_ref().is_none_or(may_be_answered) {
            *self.calls.entry(id).or_default() += 1;
            self.count += 1;
        } else {
            self.has_free = true;
        }
    }

    /// A result; whether a call waits for it.
    pub(super) fn answer(&mut self, call: &str) -> bool {
        let Some(open) = self.calls.get_mut(call).filter(|open| **open > 0) else {
            return false;
        };
        *open -= 1;
        self.count -= 1;
        if self.count == 0 {
            self.calls.clear();
        }
        true
    }

    /// Says which calls the messages that follow answer.
    pub(super) fn answered(&mut self, answered: AnsweredCalls) {
        let before = self.calls.len();
        self.calls.retain(|id, _| answered.may_have(id));
        self.has_free |= self.calls.len() < before;
        self.count = self.calls.values().sum();
        self.answered = Some(answered);
    }

    /// Whether no call waits for a result of its id.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether nothing that follows answers any call.
    pub(super) fn is_closed(&self) -> bool {
        self.is_empty() && !self.has_free
    }

    /// Whether nothing from the next message on answers any call: it says something else than results, and holds none.
    pub(super) fn ends_before(&self, next: &Message) -> bool {
        self.is_empty() && self.has_free && is_spoken(next) && next.results().next().is_none()
    }

    /// Nothing that follows answers any call so far.
    pub(super) fn close(&mut self) {
        self.calls.clear();
        (self.count, self.has_free) = (0, false);
    }
}
