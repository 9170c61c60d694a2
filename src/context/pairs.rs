//! Tool calls and their results stay together.
//!
//! A result pairs with the nearest earlier call of its id that has no result yet; ids may repeat. A
//! result without such a call is unpaired and holds nothing back. All calls of a message and their
//! results, wherever they stand, are one group.

use std::collections::HashMap;

use crate::model::{Message, Part};

/// What ties one message to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The ids of its calls, in order.
    pub calls: Vec<String>,
    /// The ids that its results answer, in order, each with its part's index.
    pub results: Vec<(u32, String)>,
    /// Whether it says anything beside results: then no call before it waits any longer.
    pub speaks: bool,
}

/// The groups of a list of messages.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// The members of each group, in order; a message without calls and results is alone.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    open: Vec<bool>,
    pairs: Vec<(usize, usize)>,
}

impl Links {
    /// The links of a message.
    pub fn of(message: &Message) -> Self {
        let results = message
            .parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match part {
                Part::ToolResult { call, .. } => Some((index as u32, call.clone())),
                _ => None,
            });
        let results: Vec<_> = results.collect();
        Self {
            calls: message.calls().map(str::to_owned).collect(),
            speaks: results.len() < message.parts.len() || message.parts.is_empty(),
            results,
        }
    }
}

impl Pairs {
    /// Pairs the calls and results of messages in order.
    pub fn new<'a>(messages: impl IntoIterator<Item = &'a Links>) -> Self {
        let messages: Vec<&Links> = messages.into_iter().collect();
        let mut waiting: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut unanswered = vec![0usize; messages.len()];
        let mut leader: Vec<usize> = (0..messages.len()).collect();
        let mut pairs = Vec::new();
        for (at, links) in messages.iter().enumerate() {
            for (_, id) in &links.results {
                if let Some(call) = waiting.get_mut(id.as_str()).and_then(Vec::pop) {
                    unanswered[call] -= 1;
                    pairs.push((call, at));
                    let (a, b) = (find(&mut leader, call), find(&mut leader, at));
                    leader[a.max(b)] = a.min(b);
                }
            }
            for id in &links.calls {
                waiting.entry(id).or_default().push(at);
                unanswered[at] += 1;
            }
        }
        let last_word = messages.iter().rposition(|links| links.speaks);
        let open = (0..messages.len())
            .map(|at| unanswered[at] > 0 && last_word.is_none_or(|last| last <= at))
            .collect();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let group_of = (0..messages.len())
            .map(|at| {
                let root = find(&mut leader, at);
                let group = *numbers.entry(root).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[group].push(at);
                group
            })
            .collect();
        Self {
            groups,
            group_of,
            open,
            pairs,
        }
    }

    /// All messages that must stay with the one at `at`, itself included, in order.
    pub fn group(&self, at: usize) -> &[usize] {
        &self.groups[self.group_of[at]]
    }

    /// Whether the message's calls are still being answered: one has no result, and nothing was
    /// said since. An interrupted call further back waits for nothing.
    pub fn is_open(&self, at: usize) -> bool {
        self.open[at]
    }

    /// Every call with its result: the places of the two messages.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }
}

fn find(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(calls: &[&str], results: &[&str]) -> Links {
        Links {
            calls: calls.iter().map(|id| (*id).to_owned()).collect(),
            results: results
                .iter()
                .enumerate()
                .map(|(i, id)| (i as u32, (*id).into()))
                .collect(),
            speaks: results.is_empty(),
        }
    }

    #[test]
    fn a_result_answers_the_nearest_call_that_waits() {
        let messages = [
            links(&["a"], &[]),
            links(&[], &["a"]),
            links(&["a", "b"], &[]),
            links(&[], &["b"]),
            links(&[], &["a"]),
            links(&[], &["a"]),
        ];
        let pairs = Pairs::new(&messages);
        assert_eq!(pairs.pairs(), [(0, 1), (2, 3), (2, 4)]);
        assert_eq!(pairs.group(0), [0, 1]);
        assert_eq!(pairs.group(4), [2, 3, 4]);
        assert_eq!(pairs.group(5), [5], "nothing waits for it");
    }

    #[test]
    fn of_two_calls_that_wait_the_nearer_is_answered_first() {
        let messages = [
            links(&["a"], &[]),
            links(&["a"], &[]),
            links(&[], &["a"]),
            links(&[], &["a"]),
        ];
        assert_eq!(Pairs::new(&messages).pairs(), [(1, 2), (0, 3)]);
    }

    #[test]
    fn only_the_last_calls_are_open() {
        let messages = [
            links(&["a"], &[]),
            links(&[], &[]),
            links(&["b", "c"], &[]),
            links(&[], &["b"]),
        ];
        let pairs = Pairs::new(&messages);
        let open: Vec<bool> = (0..4).map(|at| pairs.is_open(at)).collect();
        assert_eq!(open, [false, false, true, false]);
    }
}
