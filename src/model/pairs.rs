//! Tool calls and their results stay together.
//!
//! The pair rule: a result pairs with the nearest earlier unanswered call of its id. Ids may
//! repeat; a result with no such call is unpaired and blocks nothing.

use std::collections::{HashMap, VecDeque};

use crate::model::Message;

/// The tool ids of one message, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The ids of its calls.
    pub calls: Vec<String>,
    /// The ids that its results answer.
    pub results: Vec<String>,
}

impl Links {
    /// Those of a message.
    pub fn of(message: &Message) -> Self {
        Self {
            calls: message.calls().map(str::to_owned).collect(),
            results: message.results().map(str::to_owned).collect(),
        }
    }
}

/// A call and the result that answers it: the message's index, and which of its calls or results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The call.
    pub call: (usize, usize),
    /// The result.
    pub result: (usize, usize),
}

/// What belongs together in a sequence of messages.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pairs: Vec<Pair>,
    open: Vec<bool>,
    groups: Groups,
}

/// Takes the call that a result of its id answers out of those that wait: of the nearest message with any, the first.
/// Tools answer the calls of one message in their order.
pub(crate) fn answered<C>(waiting: &mut Vec<C>, message_of: impl Fn(&C) -> usize) -> Option<C> {
    let nearest = message_of(waiting.last()?);
    let first = waiting
        .iter()
        .position(|call| message_of(call) == nearest)?;
    Some(waiting.remove(first))
}

/// The calls that the results of one message answer, looked for from there back: messages are told newest first. The same
/// rule, for whoever has not read all that came before.
pub(crate) struct Sought {
    /// By their ids.
    open: HashMap<String, Open>,
}

/// Results of one id that wait for their calls.
#[derive(Default)]
struct Open {
    /// The results that are sought for, in order.
    sought: VecDeque<usize>,
    /// How many later results take the next calls first.
    others: usize,
}

impl Sought {
    /// For results that answer these ids, in order.
    pub(crate) fn of<'r>(results: impl IntoIterator<Item = &'r str>) -> Self {
        let mut open: HashMap<String, Open> = HashMap::new();
        for (at, id) in results.into_iter().enumerate() {
            open.entry(id.to_owned()).or_default().sought.push_back(at);
        }
        Self { open }
    }

    /// Whether all are found.
    pub(crate) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes the next earlier message, by the ids of its calls and of its results; tells of each result that one of its
    /// calls answers to, and of which.
    pub(crate) fn before<'m>(
        &mut self,
        calls: impl IntoIterator<Item = &'m str>,
        results: impl IntoIterator<Item = &'m str>,
        mut found: impl FnMut(usize, usize),
    ) {
        for (nth, id) in calls.into_iter().enumerate() {
            let Some(open) = self.open.get_mut(id) else {
                continue;
            };
            // Those between took the first calls of this message.
            if open.others > 0 {
                open.others -= 1;
            } else if let Some(result) = open.sought.pop_front() {
                found(result, nth);
            }
        }
        self.open.retain(|_, open| !open.sought.is_empty());
        for id in results {
            if let Some(open) = self.open.get_mut(id) {
                open.others += 1;
            }
        }
    }
}

impl Pairs {
    /// Pairs the calls and results of messages in order.
    pub fn new(links: &[Links]) -> Self {
        let mut waiting: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        let mut pairs = Vec::new();
        for (at, links) in links.iter().enumerate() {
            // Results first: a call in the same message is not an earlier one.
            for (nth, id) in links.results.iter().enumerate() {
                let waiting = waiting.get_mut(id.as_str());
                if let Some(call) = waiting.and_then(|them| answered(them, |call| call.0)) {
                    let result = (at, nth);
                    pairs.push(Pair { call, result });
                }
            }
            for (nth, id) in links.calls.iter().enumerate() {
                waiting.entry(id).or_default().push((at, nth));
            }
        }
        let mut open = vec![false; links.len()];
        for (at, _) in waiting.into_values().flatten() {
            open[at] = true;
        }
        let joined = pairs.iter().map(|pair| (pair.call.0, pair.result.0));
        Self {
            groups: Groups::new(links.len(), joined),
            pairs,
            open,
        }
    }

    /// Every call with its result, in the order of the results.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The messages that stand and fall with message `index`, itself included, in order.
    pub fn group_of(&self, index: usize) -> &[usize] {
        self.groups.of(index)
    }

    /// Whether message `index` has a call that no result answers.
    pub fn is_open(&self, index: usize) -> bool {
        self.open[index]
    }
}

/// A partition of `0..len`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    members: Vec<Vec<usize>>,
    group: Vec<usize>,
}

impl Groups {
    /// The finest partition in which every two that are joined are together.
    pub(crate) fn new(len: usize, joined: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut group: Vec<usize> = (0..len).collect();
        let mut members: Vec<Vec<usize>> = (0..len).map(|at| vec![at]).collect();
        for (one, other) in joined {
            let (mut into, mut from) = (group[one], group[other]);
            if into == from {
                continue;
            }
            if members[into].len() < members[from].len() {
                std::mem::swap(&mut into, &mut from);
            }
            for at in std::mem::take(&mut members[from]) {
                group[at] = into;
                members[into].push(at);
            }
        }
        for members in &mut members {
            members.sort_unstable();
        }
        Self { members, group }
    }

    pub(crate) fn of(&self, index: usize) -> &[usize] {
        &self.members[self.group[index]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(calls: &[&str], results: &[&str]) -> Links {
        let own = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        Links {
            calls: own(calls),
            results: own(results),
        }
    }

    #[test]
    fn parallel_calls_are_one_group() {
        let pairs = Pairs::new(&[
            links(&[], &[]),
            links(&["a", "b"], &[]),
            links(&[], &["b"]),
            links(&[], &["a"]),
        ]);
        assert_eq!(pairs.group_of(3), [1, 2, 3]);
        assert_eq!(pairs.group_of(0), [0]);
        assert!(!pairs.is_open(1));
    }

    #[test]
    fn a_repeated_id_pairs_with_the_nearest_unanswered_call() {
        let pairs = Pairs::new(&[
            links(&["a"], &[]),
            links(&["a"], &[]),
            links(&[], &["a"]),
            links(&[], &["a", "a"]),
        ]);
        assert_eq!(pairs.group_of(2), [1, 2]);
        assert_eq!(pairs.group_of(0), [0, 3]);
        let pair = |call, result| Pair { call, result };
        let paired = [pair((1, 0), (2, 0)), pair((0, 0), (3, 0))];
        assert_eq!(pairs.pairs(), paired);
    }

    proptest::proptest! {
        /// From a result back the same call is found as from the first message on.
        #[test]
        fn a_call_is_found_from_its_result_back(
            ids in proptest::collection::vec(
                (
                    proptest::collection::vec(0_u8..3, 0..3),
                    proptest::collection::vec(0_u8..3, 0..3),
                ),
                1..12,
            ),
        ) {
            let name = |ids: &[u8]| ids.iter().map(|id| id.to_string()).collect();
            let all: Vec<Links> = ids
                .iter()
                .map(|(calls, results)| Links { calls: name(calls), results: name(results) })
                .collect();
            let mut found = Vec::new();
            for (at, one) in all.iter().enumerate() {
                let mut sought = Sought::of(one.results.iter().map(String::as_str));
                for (before, earlier) in all[..at].iter().enumerate().rev() {
                    let (calls, results) = (&earlier.calls, &earlier.results);
                    sought.before(
                        calls.iter().map(String::as_str),
                        results.iter().map(String::as_str),
                        |result, call| found.push(Pair { call: (before, call), result: (at, result) }),
                    );
                }
            }
            found.sort_by_key(|pair| pair.result);
            let pairs = Pairs::new(&all);
            proptest::prop_assert_eq!(pairs.pairs(), found.as_slice());
        }
    }

    #[test]
    fn a_result_before_its_call_leaves_the_call_open() {
        let pairs = Pairs::new(&[links(&[], &["a"]), links(&["a"], &["a"])]);
        assert!(pairs.is_open(1));
        assert!(pairs.pairs().is_empty());
    }

    #[test]
    fn a_message_with_results_of_two_groups_joins_them() {
        let pairs = Pairs::new(&[
            links(&["a"], &[]),
            links(&["b"], &[]),
            links(&[], &["a", "b"]),
        ]);
        assert_eq!(pairs.group_of(0), [0, 1, 2]);
    }

    #[test]
    fn calls_of_one_message_with_one_id_are_answered_in_their_order() {
        let pairs = Pairs::new(&[
            links(&["a"], &[]),
            links(&["a", "a"], &[]),
            links(&[], &["a", "a"]),
            links(&[], &["a"]),
        ]);
        let paired: Vec<_> = pairs
            .pairs()
            .iter()
            .map(|pair| (pair.call, pair.result))
            .collect();
        assert_eq!(
            paired,
            [((1, 0), (2, 0)), ((1, 1), (2, 1)), ((0, 0), (3, 0))]
        );
    }
}
