//! Which messages there are at a commit, and what became of each, without a list of them.
//!
//! A window of a million messages is known at the cost of one of a hundred: see
//! `stretches.rs`. Deliberately absent: bodies, and requests' settings.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::context::Entry;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{EntryId, Operation};
use crate::repo::repository::Repo;
pub use crate::repo::stretches::Outline;
use crate::repo::stretches::{Stood, Stretch, appended};
use crate::store::View;

/// Some of the entries at a commit, by their places from 0: read a range at a time.
#[derive(Clone, Debug)]
pub struct Listed {
    tip: CommitHash,
    /// Each with the place of its first entry, and how many visible ones stand before it.
    stretches: Vec<(usize, usize, Stretch)>,
    len: usize,
}

/// An entry with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// The entry.
    pub entry: Entry,
    /// Its number among the visible messages, from 1; none if it is hidden.
    pub number: Option<usize>,
    /// What hides it.
    pub hidden: Option<&'static str>,
}

impl Repo {
    /// Which messages there are at `commit`.
    pub fn outline(&self, commit: &CommitHash) -> Result<Outline> {
        Outline::of(&*self.store.read()?, commit)
    }
}

impl Outline {
    /// Every entry.
    pub fn all(&self) -> Listed {
        self.listed(|_, _| true)
    }

    /// Those that no active clear or compaction covers, truncated ones included.
    pub fn transcript(&self) -> Listed {
        self.listed(|_, stretch| !stretch.is_past)
    }

    /// Those that a model would be sent if nothing had been compacted: what was taken out by hand is none of them.
    pub fn uncompacted(&self) -> Listed {
        self.listed(|_, stretch| stretch.fate.visible || stretch.is_compacted)
    }

    /// The newest hide of those that hide the last message that is hidden.
    pub fn last_hide(&self) -> Option<CommitHash> {
        let stretches = self.stretches.iter().rev().filter(|it| it.stands);
        let mut hides = stretches.filter_map(|it| it.fate.hidden_by.last().copied());
        hides.next()
    }

    /// Those that a model would be sent.
    pub fn visible(&self) -> Listed {
        self.listed(|_, stretch| stretch.fate.visible)
    }

    /// How many entries stand that hides put in place of what they hid: summaries, markers, and messages that were moved.
    pub fn placed(&self) -> usize {
        let is_placed = |stretch: &&Stretch| {
            stretch.stands && matches!(&stretch.what, Stood::One(entry) if entry.placed.is_some())
        };
        self.stretches.iter().filter(is_placed).count()
    }

    /// What a hide put in place of what it hid, and then what it hid.
    pub fn replaced_by(&self, hide: &CommitHash) -> Listed {
        let stands_for = |stretch: &Stretch| matches!(&stretch.what, Stood::One(entry) if entry.id.commit == *hide);
        let mut listed = self.listed(|_, stretch| stretch.fate.hidden_by.contains(hide));
        let first = self.listed(|_, stretch| stands_for(stretch));
        for (start, _, _) in &mut listed.stretches {
            *start += first.len;
        }
        listed.len += first.len;
        listed.stretches.splice(0..0, first.stretches);
        listed
    }

    /// The last `count` visible ones, before them all that stands there in the transcript, and where
    /// the visible ones begin.
    pub fn window(&self, count: usize) -> (Listed, usize) {
        let visible: usize = self
            .stretches
            .iter()
            .filter(|s| s.fate.visible)
            .map(|s| s.len)
            .sum();
        let mut before = visible.saturating_sub(count);
        let mut cut = self.clone();
        let mut edge = 0;
        for at in 0..self.stretches.len() {
            let stretch = &self.stretches[at];
            if stretch.fate.visible && before < stretch.len {
                edge = at;
                if let (Stood::From(first), true) = (&stretch.what, before > 0) {
                    let mut later = stretch.clone();
                    later.what = Stood::From(first + before as u64);
                    later.len -= before;
                    cut.stretches[at].len = before;
                    cut.stretches.insert(at + 1, later);
                    edge += 1;
                }
                break;
            }
            before -= if stretch.fate.visible { stretch.len } else { 0 };
        }
        let rows = cut.listed(|at, stretch| {
            if at < edge {
                !stretch.is_past
            } else {
                stretch.fate.visible
            }
        });
        let from = rows.len - count.min(visible);
        (rows, from)
    }

    /// Whether all that an operation names is visible: then whoever knows only that can fold it. A restore is of what is not.
    pub(crate) fn shows_all(&self, view: &dyn View, operation: &Operation) -> Result<bool> {
        if let Operation::Restore { .. } = operation {
            return Ok(false);
        }
        let fates = Fates::of(self.clone());
        let names = operation.entries();
        let commits: Vec<CommitHash> = names.iter().map(|id| id.commit).collect();
        let rows = view.commits(&commits)?.into_iter();
        let depths = rows.map(|row| row.map_or(u64::MAX, |row| row.depth));
        let mut names = names.iter().zip(depths);
        Ok(names.all(|(id, depth)| {
            let fate = fates.get(id, depth);
            fate.is_some_and(|fate| fate.number.is_some())
        }))
    }

    fn listed(&self, keep: impl Fn(usize, &Stretch) -> bool) -> Listed {
        let (mut len, mut visible) = (0, 0);
        let mut stretches = Vec::new();
        for (at, stretch) in self.stretches.iter().enumerate() {
            if stretch.stands && keep(at, stretch) {
                stretches.push((len, visible, stretch.clone()));
                len += stretch.len;
            }
            visible += if stretch.fate.visible { stretch.len } else { 0 };
        }
        Listed {
            tip: self.tip,
            stretches,
            len,
        }
    }
}

/// What became of single entries, found by their names.
pub(crate) struct Fates {
    stretches: Vec<Stretch>,
    /// How many visible entries stand before each stretch.
    before: Vec<usize>,
    ones: HashMap<EntryId, usize>,
    /// The stretches of appends, by the depth of the first.
    runs: BTreeMap<u64, usize>,
}

/// What became of an entry.
pub(crate) struct Fate<'a> {
    /// Its number among the visible ones, from 1; none if it is hidden.
    pub(crate) number: Option<usize>,
    /// The entry; none: as it was appended.
    pub(crate) entry: Option<&'a Entry>,
    /// The hides that cover it, oldest first.
    pub(crate) by: &'a [CommitHash],
}

impl Fates {
    pub(crate) fn of(outline: Outline) -> Self {
        let stretches = outline.stretches.into_iter();
        let stretches: Vec<Stretch> = stretches.filter(|stretch| stretch.stands).collect();
        let (mut ones, mut runs) = (HashMap::new(), BTreeMap::new());
        let (mut before, mut visible) = (Vec::with_capacity(stretches.len()), 0);
        for (at, stretch) in stretches.iter().enumerate() {
            match &stretch.what {
                Stood::From(first) => drop(runs.insert(*first, at)),
                Stood::One(entry) => drop(ones.insert(entry.id, at)),
            }
            before.push(visible);
            visible += if stretch.fate.visible { stretch.len } else { 0 };
        }
        Self {
            stretches,
            before,
            ones,
            runs,
        }
    }

    /// That of an entry whose commit stands at `depth`; none where it doesn't stand.
    pub(crate) fn get(&self, id: &EntryId, depth: u64) -> Option<Fate<'_>> {
        let (at, place) = match self.ones.get(id) {
            Some(at) => (*at, 0),
            None => {
                let (first, at) = self.runs.range(..=depth).next_back()?;
                ((*at), (depth - first) as usize)
            }
        };
        let stretch = &self.stretches[at];
        (place < stretch.len).then_some(())?;
        Some(Fate {
            number: stretch.fate.visible.then(|| self.before[at] + place + 1),
            entry: match &stretch.what {
                Stood::One(entry) => Some(entry),
                Stood::From(_) => None,
            },
            by: &stretch.fate.hidden_by,
        })
    }
}

impl Listed {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the visible message of this number stands.
    pub fn place_of(&self, number: usize) -> Option<usize> {
        let before = number.checked_sub(1)?;
        let fits = |(_, visible, stretch): &&(usize, usize, Stretch)| {
            stretch.fate.visible && (*visible..visible + stretch.len).contains(&before)
        };
        let (start, visible, _) = self.stretches.iter().find(fits)?;
        Some(start + before - visible)
    }

    /// The number of the last visible message at or before a place; none before the first.
    pub fn number_at(&self, place: usize) -> Option<usize> {
        let at = self
            .stretches
            .partition_point(|(start, _, _)| *start <= place);
        let (start, visible, stretch) = self.stretches.get(at.checked_sub(1)?)?;
        let number = if stretch.fate.visible {
            visible + (place - start).min(stretch.len - 1) + 1
        } else {
            *visible
        };
        (number > 0).then_some(number)
    }

    /// Those in a range of places, without their bodies.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Damaged`] if a commit is another one than it was, and the store's.
    pub fn read(&self, repo: &Repo, range: Range<usize>) -> Result<Vec<ListedEntry>> {
        self.read_in(&*repo.store.read()?, range)
    }

    pub(crate) fn read_in(&self, view: &dyn View, range: Range<usize>) -> Result<Vec<ListedEntry>> {
        let range = range.start.min(self.len)..range.end.min(self.len);
        let first = self
            .stretches
            .partition_point(|(start, _, s)| start + s.len <= range.start);
        let mut found = Vec::with_capacity(range.len());
        for (start, visible, stretch) in &self.stretches[first..] {
            if *start >= range.end {
                break;
            }
            let from = range.start.saturating_sub(*start);
            let to = (range.end - start).min(stretch.len);
            let entries = match &stretch.what {
                Stood::One(entry) => vec![(**entry).clone()],
                Stood::From(depth) => {
                    appended(view, &self.tip, depth + from as u64..depth + to as u64)?
                }
            };
            found.extend(
                entries
                    .into_iter()
                    .zip(visible + from + 1..)
                    .map(|(entry, number)| ListedEntry {
                        entry,
                        number: stretch.fate.visible.then_some(number),
                        hidden: stretch.hidden,
                    }),
            );
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::context::OrderEntry;
    use crate::laws::commands::{Draw, command};
    use crate::model::{Millis, Priority};
    use crate::repo::load;
    use crate::repo::stretches::kind;
    use proptest::prelude::*;

    /// What the whole order says of every entry that stands.
    fn told(repo: &Repo, tip: &CommitHash) -> (Vec<ListedEntry>, BTreeSet<EntryId>) {
        let order = repo.order(tip).expect("an order");
        let transcript = order.transcript().map(|entry| entry.id).collect();
        let mut number = 0;
        let stands =
            |entry: &OrderEntry| entry.placed.is_none_or(|(hide, _)| order.is_active(&hide));
        let all = order.entries().filter(stands).map(|entry| {
            number += usize::from(entry.visible);
            let hide = entry.hidden_by.last().map(|hide| {
                let row = load::commit(&*repo.store.read().expect("a view"), hide);
                kind(&row.expect("it is here")).expect("a hide").1.as_str()
            });
            let skip = (entry.priority == Priority::Skip).then_some("skip");
            ListedEntry {
                number: entry.visible.then_some(number),
                hidden: hide.or(skip),
                entry: Entry {
                    id: entry.id,
                    content: entry.content,
                    mask: entry.mask,
                    priority: entry.priority,
                    placed: entry.placed.map(|(_, kind)| kind),
                    edited: entry.edited,
                },
            }
        });
        (all.collect(), transcript)
    }

    fn agrees(repo: &Repo, tip: &CommitHash, window: usize) {
        let (all, transcript) = told(repo, tip);
        let outline = repo.outline(tip).expect("an outline");
        let whole = |rows: &Listed| rows.read(repo, 0..usize::MAX).expect("it reads");
        assert_eq!(whole(&outline.all()), all);
        let visible: Vec<&ListedEntry> = all.iter().filter(|one| one.number.is_some()).collect();
        let found = whole(&outline.visible());
        assert_eq!(found.iter().collect::<Vec<_>>(), visible);
        let context = repo.context(tip).expect("a context");
        assert!(found.iter().map(|one| &one.entry).eq(&context.entries));
        let rows = outline.transcript();
        let found = whole(&rows);
        let told = all.iter().filter(|one| transcript.contains(&one.entry.id));
        assert_eq!(found.iter().collect::<Vec<_>>(), told.collect::<Vec<_>>());
        // Ranges, numbers and places agree with the whole.
        for (at, one) in found.iter().enumerate() {
            let some = rows.read(repo, at..at + 3).expect("it reads");
            assert_eq!(some, found[at..(at + 3).min(found.len())]);
            if let Some(number) = one.number {
                assert_eq!(rows.place_of(number), Some(at));
                assert_eq!(rows.number_at(at), Some(number));
            }
        }
        assert_eq!(rows.place_of(visible.len() + 1), None);
        for (at, one) in visible.iter().enumerate() {
            let names = [
                format!("{tip}:{}", at + 1),
                format!("{tip}:-{}", visible.len() - at),
            ];
            for name in names {
                let entry = repo.resolve_entry(&crate::repo::On::Head, &name);
                assert_eq!(entry.expect("it is there"), one.entry.id);
            }
        }
        for name in [format!("{tip}:{}", visible.len() + 1), format!("{tip}:0")] {
            assert!(repo.resolve_entry(&crate::repo::On::Head, &name).is_err());
        }
        let order = repo.order(tip).expect("an order");
        for hide in order.entries().flat_map(|entry| entry.hidden_by) {
            let found = whole(&outline.replaced_by(&hide));
            let stands = |one: &&ListedEntry| one.entry.id.commit == hide;
            let covered = order
                .entries()
                .filter(|entry| entry.hidden_by.contains(&hide));
            let covered: Vec<EntryId> = covered.map(|entry| entry.id).collect();
            let hidden = all.iter().filter(|one| covered.contains(&one.entry.id));
            let told: Vec<&ListedEntry> = all.iter().filter(stands).chain(hidden).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), told);
        }
        let (rows, from) = outline.window(window);
        let found = whole(&rows);
        assert_eq!(
            found[from..].iter().collect::<Vec<_>>(),
            visible[visible.len().saturating_sub(window)..]
        );
        let first = found.get(from).map(|one| one.entry.id);
        let before = all.iter().take_while(|one| Some(one.entry.id) != first);
        let before = before.filter(|one| transcript.contains(&one.entry.id));
        if first.is_some() {
            assert_eq!(
                found[..from].iter().collect::<Vec<_>>(),
                before.collect::<Vec<_>>()
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            source_file: Some(file!()),
            ..crate::conditions::laws(64)
        })]

        /// An outline tells of every entry what the fold of the whole order tells.
        #[test]
        fn an_outline_is_the_order(
            draws in prop::collection::vec(any::<Draw>(), 1..40),
            window in 0..8_usize,
        ) {
            let repo = Repo::ephemeral().expect("made");
            for (at, draw) in draws.into_iter().enumerate() {
                // What is not allowed here changes nothing.
                let _ = command(&repo, draw, Millis(at as i64));
                if let Some(tip) = repo.head(&crate::repo::On::Head).expect("a head").commit() {
                    agrees(&repo, &tip, window);
                }
            }
            repo.second_reading()?;
        }
    }

    #[test]
    fn the_end_of_a_long_conversation_costs_no_more_than_that_of_a_short_one() {
        use crate::model::{Draft, Message, Role};
        use crate::repo::{Call, CommitOptions};
        use std::sync::atomic::Ordering;

        let steps = |count: usize| {
            let (repo, steps) = Repo::counted();
            let said = |at: usize| Draft::append(Message::text(Role::User, at.to_string()));
            let talk: Vec<Draft> = (0..count).map(said).collect();
            let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
            let tip = done.expect("commits").last().expect("some").hash;
            let before = steps.load(Ordering::Relaxed);
            let outline = repo.outline(&tip).expect("an outline");
            let rows = outline.visible();
            assert_eq!(rows.len(), count);
            let found = rows.read(&repo, count - 50..count).expect("it reads");
            assert_eq!((found.len(), found[49].number), (50, Some(count)));
            steps.load(Ordering::Relaxed) - before
        };
        let (short, long) = (steps(100), steps(10_000));
        assert!(long <= short * 2, "{short} steps, then {long}");
    }
}
