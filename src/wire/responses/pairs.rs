//! Which output answers which call: the nearest earlier call of its id that nothing answers.

use std::collections::{HashMap, HashSet};

use super::{call_of, cut_off};
use crate::model::pairs::answered;
use crate::model::{Message, Part};

/// A part by its message's place and its own.
type Place = (usize, usize);

/// A call that waits: its place, where it is among these messages, and its kind.
type Open = (Option<Place>, Option<String>);

/// The call that an output of its id answers, taken out of those that wait.
fn answering(waiting: Option<&mut Vec<Open>>) -> Option<Open> {
    let waiting = waiting?;
    match waiting.last()?.0 {
        Some(_) => answered(waiting, |(place, _)| {
            place.map_or(usize::MAX, |place| place.0)
        }),
        None => waiting.pop(),
    }
}

/// The calls and outputs of some messages.
#[derive(Default)]
pub struct OutputPairs {
    /// The kind of the call that an output answers, where it is no function.
    kinds: HashMap<Place, String>,
    /// Calls that nothing answers.
    open: HashSet<Place>,
    /// Outputs that answer none.
    stray: HashSet<Place>,
}

impl OutputPairs {
    /// Pairs them; `before` are calls, with their kinds, that came before these messages, and a call
    /// is one of the parts of which `calls` says so.
    pub fn of<'m>(
        messages: impl Iterator<Item = &'m Message>,
        before: Vec<(String, Option<String>)>,
        calls: fn(&Message, &Part) -> bool,
    ) -> Self {
        let mut pairs = Self::default();
        let mut open: HashMap<String, Vec<Open>> = HashMap::new();
        for (id, kind) in before {
            open.entry(id).or_default().push((None, kind));
        }
        for (at, message) in messages.enumerate() {
            for (index, part) in message.parts.iter().enumerate() {
                match part {
                    Part::ToolCall { .. } | Part::Opaque { .. } if calls(message, part) => {
                        if let Some((id, kind)) = call_of(part) {
                            let call = (Some((at, index)), kind);
                            open.entry(id).or_default().push(call);
                        }
                    }
                    Part::ToolResult { call, .. } => match answering(open.get_mut(call)) {
                        Some((_, kind)) => {
                            pairs.kinds.extend(kind.map(|kind| ((at, index), kind)));
                        }
                        None => drop(pairs.stray.insert((at, index))),
                    },
                    _ => {}
                }
            }
        }
        let left = open.into_values().flatten();
        pairs.open = left.filter_map(|(place, _)| place).collect();
        pairs
    }

    /// The kind of the call that a part of message `at`, an output, answers, where it is no function.
    pub fn kind(&self, at: usize, index: usize) -> Option<&str> {
        self.kinds.get(&(at, index)).map(String::as_str)
    }

    /// Whether a part of message `at` is a call that nothing answers.
    pub fn is_open(&self, at: usize, index: usize) -> bool {
        self.open.contains(&(at, index))
    }

    /// Whether it is an output that answers no call.
    pub fn is_stray(&self, at: usize, index: usize) -> bool {
        self.stray.contains(&(at, index))
    }

    /// The messages with any of either.
    pub fn loose(&self) -> HashSet<usize> {
        self.open
            .iter()
            .chain(&self.stray)
            .map(|(at, _)| *at)
            .collect()
    }

    /// Outputs for the calls of message `at` that nothing answers, as JSON texts.
    pub fn closing(&self, at: usize, message: &Message) -> Vec<String> {
        let parts = message.parts.iter().enumerate();
        let open = parts.filter(|(index, _)| self.is_open(at, *index));
        open.filter_map(|(_, part)| match part {
            Part::ToolCall { id, kind, .. } => Some(cut_off(id, kind.as_deref())),
            _ => None,
        })
        .collect()
    }
}
