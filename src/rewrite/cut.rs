//! Which entries of a stretch a plan may have to tell apart from their neighbours.

use std::collections::{BTreeSet, HashMap};

use crate::model::pairs::Links;

/// Which of the entries of a stretch must be told apart.
#[derive(Default)]
pub(super) struct Cut {
    /// The calls that wait for a result.
    waiting: HashMap<String, Vec<u64>>,
    /// Each call with its result.
    pairs: Vec<(u64, u64)>,
    apart: BTreeSet<u64>,
}

impl Cut {
    /// The next entry. Calls and results pair as they do in [`Pairs`](crate::model::pairs::Pairs).
    pub(super) fn take(&mut self, depth: u64, links: &Links, is_special: bool) {
        if is_special {
            self.apart.insert(depth);
        }
        for id in &links.results {
            let calls = self.waiting.get_mut(id);
            let (call, is_last) = match calls {
                Some(calls) => (calls.pop(), calls.is_empty()),
                None => (None, false),
            };
            match call {
                Some(call) => self.pairs.push((call, depth)),
                None => drop(self.apart.insert(depth)),
            }
            if is_last {
                self.waiting.remove(id);
            }
        }
        for id in &links.calls {
            self.waiting.entry(id.clone()).or_default().push(depth);
        }
    }

    /// What waits in vain, and each pair that something stands within: the rest are stretches in which
    /// every call has its result.
    pub(super) fn apart(mut self) -> BTreeSet<u64> {
        self.apart.extend(self.waiting.into_values().flatten());
        loop {
            let before = self.apart.len();
            for (call, result) in &self.pairs {
                if self.apart.range(call..=result).next().is_some() {
                    self.apart.extend([*call, *result]);
                }
            }
            if self.apart.len() == before {
                return self.apart;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_something_stands_within_is_told_apart() {
        let mut cut = Cut::default();
        let links = |calls: &[&str], results: &[&str]| Links {
            calls: calls.iter().map(|id| (*id).to_owned()).collect(),
            results: results.iter().map(|id| (*id).to_owned()).collect(),
        };
        // 0 and 3 hold the system message 2 between them, 1 and 5 then hold 3; 6 and 7 are by themselves,
        // 8 is open, and 9 answers nothing.
        for (depth, calls, results, special) in [
            (0, &["a"][..], &[][..], false),
            (1, &["b"], &[], false),
            (2, &[], &[], true),
            (3, &[], &["a"], false),
            (5, &[], &["b"], false),
            (6, &["c"], &[], false),
            (7, &[], &["c"], false),
            (8, &["d"], &[], false),
            (9, &[], &["e"], false),
        ] {
            cut.take(depth, &links(calls, results), special);
        }
        assert_eq!(
            cut.apart().into_iter().collect::<Vec<_>>(),
            [0, 1, 2, 3, 5, 8, 9]
        );
    }
}
