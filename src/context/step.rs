//! The next operation folded into the visible entries alone, for what names nothing else.
//!
//! Gives what [`Order`](crate::context::Order) gives, or says that only the order knows. Costs a
//! look at each visible entry where a name is to be found, and else grows with what the operation
//! touches: entries that stay are shared with the context before, not copied.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::mem;
use std::ops::Range;

use imbl::Vector;

use crate::context::{Context, Entry, Mask};
use crate::hash::CommitHash;
use crate::model::{Commit, EntryId, Hide, Operation, Priority};

/// Stretches up to this length are copied entry by entry, longer ones shared whole.
const SHORT: usize = 64;

impl Context {
    /// Folds the next commit into the visible list alone. `None` where it names anything that
    /// isn't visible: then only [`Order`](crate::context::Order) knows.
    pub fn step(&self, hash: CommitHash, commit: &Commit) -> Option<Self> {
        self.clone().advance(hash, commit)
    }

    /// The same where the context before is not needed any more: nothing of it is copied.
    pub fn advance(self, hash: CommitHash, commit: &Commit) -> Option<Self> {
        let mut next = self;
        match &commit.operation {
            Operation::Append { content } => {
                let entry = Entry::new(EntryId::of(hash), *content, None);
                next.entries.push_back(entry);
                next.total_entries += 1;
            }
            Operation::Edit { target, content } => {
                let place = next.places([target])?[target];
                let entry = &mut next.entries[place];
                entry.content = *content;
                entry.mask = Mask::default();
                entry.edited = true;
            }
            Operation::Hide(hide) => next.hide(hash, hide)?,
            Operation::Restore { .. } => return None,
            Operation::Annotate {
                targets, priority, ..
            } => {
                let places = next.places(targets)?;
                next.prioritise(&places, *priority);
            }
        }
        for key in commit.settings.keys() {
            next.settings.insert(key.clone(), hash);
        }
        Some(next)
    }

    /// Where these entries stand among the visible ones, looked for from the end. None if one of
    /// them isn't visible.
    fn places<'a>(&self, ids: impl IntoIterator<Item = &'a EntryId>) -> Option<Positions> {
        let mut wanted: HashSet<EntryId, FirstBytes> = ids.into_iter().copied().collect();
        let mut seen = Seen::default();
        wanted.iter().for_each(|id| seen.add(id));
        let mut places = Positions::default();
        // Leaf by leaf: to be handed each entry by the vector costs more than to look at it.
        let mut end = self.entries.len();
        for leaf in self.entries.leaves().rev() {
            if wanted.is_empty() {
                break;
            }
            end -= leaf.len();
            for (at, entry) in leaf.iter().enumerate().rev() {
                if seen.may_hold(&entry.id) && wanted.remove(&entry.id) {
                    places.insert(entry.id, end + at);
                }
            }
        }
        wanted.is_empty().then_some(places)
    }

    fn prioritise(&mut self, places: &Positions, priority: Priority) {
        let places: BTreeSet<usize> = places.values().copied().collect();
        if priority == Priority::Skip {
            let gone: Vec<Range<usize>> = places.into_iter().map(|at| at..at + 1).collect();
            splice(&mut self.entries, &gone, Vec::new());
        } else {
            for at in places {
                self.entries[at].priority = priority;
            }
        }
    }

    /// Folds a hide whose every name is visible; none if one is not.
    fn hide(&mut self, hash: CommitHash, hide: &Hide) -> Option<()> {
        let ends = hide.intervals.iter().flat_map(|i| [&i.first, &i.last]);
        let parts = hide.parts.iter().map(|part| &part.entry);
        let slots = hide.replacements.iter().filter_map(|r| r.before.as_ref());
        let places = self.places(hide.keep.iter().chain(ends).chain(parts).chain(slots))?;

        let keep: BTreeSet<usize> = hide.keep.iter().map(|id| places[id]).collect();
        let mut gone = Vec::with_capacity(hide.intervals.len());
        for interval in &hide.intervals {
            let (mut first, last) = (places[&interval.first], places[&interval.last]);
            if first > last {
                return None;
            }
            for kept in keep.range(first..=last) {
                gone.push(first..*kept);
                first = kept + 1;
            }
            gone.push(first..last + 1);
        }
        for part in &hide.parts {
            let entry = &mut self.entries[places[&part.entry]];
            let parts = entry.mask.parts().iter().copied();
            entry.mask = Mask::new(parts.chain([part.into()]));
        }
        let count = hide.replacements.len();
        let mut placed = Vec::with_capacity(count);
        for (index, replacement) in hide.replacements.iter().enumerate() {
            let before = replacement.before.as_ref();
            let at = before.map_or(self.entries.len(), |before| places[before]);
            let id = EntryId::replacement(hash, index, count);
            placed.push((at, Entry::new(id, replacement.content, Some(hide.kind))));
        }
        // Stable: of two before the same entry, the later stands nearer to it.
        placed.sort_by_key(|(at, _)| *at);
        gone.sort_by_key(|range| range.start);
        splice(&mut self.entries, &gone, placed);
        self.total_entries += count as u64;
        self.hides[Self::slot_of(hide.kind)] += 1;
        Some(())
    }
}

/// Takes out what is `gone` and puts in what is `placed`, each before the entry at its place as it
/// was; both in order. Ranges that are gone may overlap or be empty.
fn splice<T: Clone>(entries: &mut Vector<T>, gone: &[Range<usize>], placed: Vec<(usize, T)>) {
    let old = mem::take(entries);
    let mut kept = Vec::with_capacity(gone.len() + 1);
    let mut next = 0;
    for range in gone {
        if next < range.start {
            kept.push(next..range.start);
        }
        next = next.max(range.end);
    }
    kept.push(next..old.len());

    let mut kept = kept.into_iter().peekable();
    let mut keep_before = |entries: &mut Vector<T>, at: usize| {
        while let Some(range) = kept.peek_mut().filter(|range| range.start < at) {
            let end = range.end.min(at);
            copy(&old, range.start..end, entries);
            range.start = end;
            if end == range.end {
                kept.next();
            }
        }
    };
    for (at, entry) in placed {
        keep_before(entries, at);
        entries.push_back(entry);
    }
    keep_before(entries, usize::MAX);
}

/// Adds a stretch of `from` at the end of `to`.
fn copy<T: Clone>(from: &Vector<T>, range: Range<usize>, to: &mut Vector<T>) {
    if range.len() <= SHORT {
        let mut focus = from.focus();
        to.extend(range.map(|at| focus.index(at).clone()));
    } else {
        to.append(from.take(range.end).skip(range.start));
    }
}

/// Tells of most names at once that they are not among some: by two bytes of their commit's hash.
/// A search looks at every visible entry, and wants few of them.
struct Seen([u64; Seen::WORDS]);

impl Seen {
    const WORDS: usize = (1 << 16) / 64;

    fn place(id: &EntryId) -> (usize, u64) {
        let [low, high, ..] = *id.commit.as_bytes();
        let number = usize::from(u16::from_le_bytes([low, high]));
        (number / 64, 1 << (number % 64))
    }

    fn add(&mut self, id: &EntryId) {
        let (word, bit) = Self::place(id);
        self.0[word] |= bit;
    }

    fn may_hold(&self, id: &EntryId) -> bool {
        let (word, bit) = Self::place(id);
        self.0[word] & bit != 0
    }
}

impl Default for Seen {
    fn default() -> Self {
        Self([0; Self::WORDS])
    }
}

/// Where entries stand among the visible ones.
type Positions = HashMap<EntryId, usize, FirstBytes>;

/// Hashes names by the first bytes of their commit's hash, which are as good as random: a search
/// looks at every visible entry.
type FirstBytes = BuildHasherDefault<FirstEight>;

#[derive(Default)]
struct FirstEight(u64);

impl Hasher for FirstEight {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 ^= u64::from_le_bytes(*first);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        /// Long stretches are shared, short ones copied: either way nothing else moves.
        #[test]
        fn a_splice_takes_out_and_puts_in_what_it_says(
            len in 0_usize..3_000,
            gone in prop::collection::vec((0_usize..3_000, 0_usize..400), 0..12),
            placed in prop::collection::vec(0_usize..=3_000, 0..6),
        ) {
            let mut gone: Vec<Range<usize>> = gone
                .into_iter()
                .map(|(start, size)| start.min(len)..(start + size).min(len))
                .collect();
            gone.sort_by_key(|range| range.start);
            let mut placed: Vec<usize> = placed.into_iter().map(|at| at.min(len)).collect();
            placed.sort_unstable();

            let mut expected = Vec::new();
            for at in 0..=len {
                expected.extend(placed.iter().filter(|place| **place == at).map(|at| 10_000 + at));
                if at < len && !gone.iter().any(|range| range.contains(&at)) {
                    expected.push(at);
                }
            }
            let before: Vector<usize> = (0..len).collect();
            let mut after = before.clone();
            splice(&mut after, &gone, placed.iter().map(|at| (*at, 10_000 + at)).collect());
            prop_assert!(after.iter().eq(&expected));
            prop_assert!(before.into_iter().eq(0..len), "the vector before has changed");
        }
    }
}
