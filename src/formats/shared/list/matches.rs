//! Which messages of a list are those that were told before it changed.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// For each of `now` the place of the one in `before` that is the same, in order: what the beginnings and
/// the ends have in common, and what is found between them.
pub(in crate::formats) fn matched<K: Copy + Eq + Hash>(
    before: &[K],
    now: &[K],
) -> Vec<Option<usize>> {
    let same = |(one, other): &(&K, &K)| one == other;
    let front = before.iter().zip(now).take_while(same).count();
    let ends = before[front..].iter().rev().zip(now[front..].iter().rev());
    let back = ends.take_while(same).count();
    let mut found: Vec<Option<usize>> = (0..now.len()).map(|_| None).collect();
    for (at, place) in found.iter_mut().enumerate().take(front) {
        *place = Some(at);
    }
    for at in 1..=back {
        found[now.len() - at] = Some(before.len() - at);
    }
    let mut places: HashMap<K, VecDeque<usize>> = HashMap::new();
    for (at, key) in before
        .iter()
        .enumerate()
        .take(before.len() - back)
        .skip(front)
    {
        places.entry(*key).or_default().push_back(at);
    }
    let between = front..now.len() - back;
    let pairs = between.filter_map(|at| Some((at, places.get_mut(&now[at])?.pop_front()?)));
    for (at, place) in longest_rising(&pairs.collect::<Vec<_>>()) {
        found[at] = Some(place);
    }
    found
}

/// The most of these pairs, in their order, of which the second rises.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best row of each length, and before each pair the one that precedes it there.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (number, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(number) = next {
        row.push(pairs[number]);
        next = before[number];
    }
    row.reverse();
    row
}

#[cfg(test)]
mod tests {
    use super::matched;

    #[test]
    fn what_stays_is_found_in_its_order() {
        let found = |before: &str, now: &str| {
            let (before, now): (Vec<char>, Vec<char>) =
                (before.chars().collect(), now.chars().collect());
            matched(&before, &now)
        };
        assert_eq!(found("abc", "abcd"), [Some(0), Some(1), Some(2), None]);
        assert_eq!(found("abc", "a"), [Some(0)]);
        assert_eq!(found("abcde", "xyde"), [None, None, Some(3), Some(4)]);
        assert_eq!(
            found("abcde", "axcye"),
            [Some(0), None, Some(2), None, Some(4)]
        );
        // The same twice is found twice, and not more often.
        assert_eq!(found("aab", "aaab"), [Some(0), Some(1), None, Some(2)]);
        assert_eq!(found("", "a"), [None]);
        assert_eq!(found("abxaby", "ybxz"), [None, Some(1), Some(2), None]);
    }
}
