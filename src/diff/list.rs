//! Two lists aligned: what both hold, in order, and what is left between.
//!
//! Messages, parts and JSON arrays are compared by the same steps: what is equal first, then what
//! is most alike in the gaps.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use similar::DiffOp;
use similar::algorithms::{Capture, hunt, myers};

/// One step from a list to another. Items that no step names are equal and stay in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit<T, C> {
    /// Only the first list has it.
    Removed {
        /// Its index in the first list.
        before: usize,
        /// It.
        item: T,
    },
    /// Only the second list has it.
    Added {
        /// Its index in the second list.
        after: usize,
        /// It.
        item: T,
    },
    /// Both have it, in different forms.
    Changed {
        /// Its index in the first list.
        before: usize,
        /// Its index in the second list.
        after: usize,
        /// How the forms differ.
        change: C,
    },
}

/// Pairs of indices that both grow from one pair to the next.
pub type Alignment = Vec<(usize, usize)>;

/// How many pairs of equal items are looked at one by one.
const LOOKED_AT: usize = 1_000_000;

/// The pairs of equal items: as many as there can be in order, unless items repeat so often that
/// finding them would take too long.
///
/// Takes n log n where items hardly repeat.
pub fn align_equal<T: Eq + Hash>(before: &[T], after: &[T]) -> Alignment {
    let mut numbers: HashMap<&T, usize> = HashMap::new();
    let mut number = |item| {
        let next = numbers.len();
        *numbers.entry(item).or_insert(next)
    };
    let before: Vec<usize> = before.iter().map(&mut number).collect();
    let after: Vec<usize> = after.iter().map(&mut number).collect();
    let mut often = vec![0_usize; numbers.len()];
    before.iter().for_each(|item| often[*item] += 1);
    let looked_at = after.iter().map(|item| often[*item]).sum::<usize>();
    let (all_before, all_after) = (0..before.len(), 0..after.len());
    let mut found = Capture::new();
    let done = if looked_at <= LOOKED_AT {
        hunt::diff_deadline_raw(&mut found, &before, all_before, &after, all_after, None)
    } else {
        myers::diff(&mut found, &before, all_before, &after, all_after)
    };
    done.expect("capturing cannot fail");
    let mut pairs = Alignment::new();
    for op in found.into_ops() {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            pairs.extend((0..len).map(|at| (old_index + at, new_index + at)));
        }
    }
    pairs
}

/// The stretches between the pairs, of lists this long, that are empty on at most one side.
pub fn gaps(pairs: &[(usize, usize)], before: usize, after: usize) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut next = (0, 0);
    for (b, a) in pairs.iter().copied().chain([(before, after)]) {
        if next.0 < b || next.1 < a {
            gaps.push((next.0..b, next.1..a));
        }
        next = (b + 1, a + 1);
    }
    gaps
}

/// A stretch of the first list and the stretch of the second that stands in its place.
pub type Gap = (Range<usize>, Range<usize>);

/// Adds to `pairs` what `between` finds in the gaps; it is given slices and answers with indices
/// into them.
pub fn fill_gaps<T>(
    pairs: Alignment,
    before: &[T],
    after: &[T],
    between: impl Fn(&[T], &[T]) -> Alignment,
) -> Alignment {
    let mut all = pairs;
    for (b, a) in gaps(&all, before.len(), after.len()) {
        if b.is_empty() || a.is_empty() {
            continue;
        }
        let found = between(&before[b.clone()], &after[a.clone()]);
        all.extend(found.into_iter().map(|(x, y)| (b.start + x, a.start + y)));
    }
    all.sort_unstable();
    all
}

/// The steps from `before` to `after` along `pairs`. `change` says how a pair differs, if it does.
pub fn edits<T: Clone, C>(
    before: &[T],
    after: &[T],
    pairs: &[(usize, usize)],
    change: impl Fn(&T, &T) -> Option<C>,
) -> Vec<Edit<T, C>> {
    let mut edits = Vec::new();
    let (mut b, mut a) = (0, 0);
    for (pair_b, pair_a) in pairs.iter().copied().chain([(before.len(), after.len())]) {
        edits.extend((b..pair_b).map(|at| Edit::Removed {
            before: at,
            item: before[at].clone(),
        }));
        edits.extend((a..pair_a).map(|at| Edit::Added {
            after: at,
            item: after[at].clone(),
        }));
        if let (Some(x), Some(y)) = (before.get(pair_b), after.get(pair_a))
            && let Some(change) = change(x, y)
        {
            edits.push(Edit::Changed {
                before: pair_b,
                after: pair_a,
                change,
            });
        }
        (b, a) = (pair_b + 1, pair_a + 1);
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_pairs_among_many_others_are_found() {
        let before: Vec<u32> = (0..3_000).collect();
        let after: Vec<u32> = (0..3_000)
            .map(|n| if n % 100 == 7 { n } else { n + 10_000 })
            .collect();
        assert_eq!(align_equal(&before, &after[2_000..]).len(), 10);
        assert_eq!(align_equal(&after, &before[..1_000]).len(), 10);
    }

    #[test]
    fn items_that_repeat_endlessly_are_aligned_all_the_same() {
        let (before, after) = ([0; 5_000], [0; 4_000]);
        assert_eq!(align_equal(&before, &after).len(), 4_000);
        assert_eq!(gaps(&[(0, 1), (1, 2)], 3, 3), [(0..0, 0..1), (2..3, 3..3)]);
    }
}
