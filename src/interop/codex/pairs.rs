//! Which output answers which call.

use std::collections::{HashMap, HashSet};

use crate::interop::Outgoing;
use crate::model::{Message, Part};
use crate::wire::json::quoted;
use crate::wire::responses::{ABORTED, call_of, output};

/// A part by its message's place and its own.
type PartId = (usize, usize);

/// Which output answers which call.
#[derive(Default)]
pub(in crate::interop) struct Pairs {
    /// The kind of the call that an output answers, where it isn't a function.
    kinds: HashMap<PartId, String>,
    unanswered: HashSet<PartId>,
}

impl Pairs {
    /// Pairs each output with the nearest earlier unanswered call of its id; `before` are the
    /// calls, with their kinds, of records that are written already.
    pub fn of(messages: &[Outgoing], before: Vec<(String, Option<String>)>) -> Self {
        let mut pairs = Self::default();
        type Open = (Option<PartId>, Option<String>);
        let mut open: HashMap<String, Vec<Open>> = HashMap::new();
        for (id, kind) in before {
            open.entry(id).or_default().push((None, kind));
        }
        for (at, outgoing) in messages.iter().enumerate() {
            for (index, part) in outgoing.message.parts.iter().enumerate() {
                match part {
                    Part::ToolCall { .. } | Part::Opaque { .. } => {
                        if let Some((id, kind)) = call_of(part) {
                            let call = (Some((at, index)), kind);
                            open.entry(id).or_default().push(call);
                        }
                    }
                    Part::ToolResult { call, .. } => {
                        let answered = open.get_mut(call).and_then(Vec::pop);
                        if let Some(kind) = answered.and_then(|(_, kind)| kind) {
                            pairs.kinds.insert((at, index), kind);
                        }
                    }
                    _ => {}
                }
            }
        }
        let left = open.into_values().flatten();
        pairs.unanswered = left.filter_map(|(part, _)| part).collect();
        pairs
    }

    /// The kind of the call that a part of message `at`, an output, answers, where it isn't a
    /// function.
    pub fn kind(&self, at: usize, index: usize) -> Option<&str> {
        self.kinds.get(&(at, index)).map(String::as_str)
    }

    /// Outputs for the calls of message `at` that nothing answers, as JSON texts.
    pub fn closing(&self, at: usize, message: &Message) -> Vec<String> {
        let parts = message.parts.iter().enumerate();
        let open = parts.filter(|(index, _)| self.unanswered.contains(&(at, *index)));
        open.filter_map(|(_, part)| match part {
            Part::ToolCall { id, kind, .. } => Some(output(id, kind.as_deref(), &quoted(ABORTED))),
            _ => None,
        })
        .collect()
    }
}
