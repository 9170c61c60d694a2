//! What became of the visible entries between two contexts of one path, and how that is told.

use std::collections::{HashMap, HashSet};
use std::ops::Index;

use imbl::Vector;

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::{EntryId, Role, TokenCount, Total, uses};
use crate::repo::counts::Counts;
use crate::repo::load::{self, Fresh};
use crate::store::View;

/// A visible entry with its place, from 0.
pub(crate) type Placed = (usize, Entry);

/// What became of the visible entries. One with another content or other hidden parts is both in
/// `gained`, as it is after, and in `lost`, as it was before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) gained: Vec<Placed>,
    pub(crate) lost: Vec<Placed>,
}

/// A message that a change hides, brings back or alters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The entry.
    pub id: EntryId,
    /// Its number among the visible messages, from 1: before the change, or, for one that is new
    /// or comes back, after it.
    pub number: usize,
    /// Who speaks.
    pub role: Role,
    /// One line of it. Hostile until escaped.
    pub preview: String,
    /// Its tokens: before the change, or, for one that is new or comes back, after it.
    pub tokens: TokenCount,
}

/// Messages that a change touches: as many of them one by one as were asked for, and what all come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedList {
    told: Vec<Touched>,
    told_last: Vec<Touched>,
    all: Total,
}

impl TouchedList {
    /// Of those that are told one by one, the first `first` are the first of all.
    pub(crate) fn of(mut told: Vec<Touched>, first: usize, all: Total) -> Self {
        let told_last = told.split_off(first);
        Self {
            told,
            told_last,
            all,
        }
    }

    /// The first of them, as many as were asked for.
    pub fn told(&self) -> &[Touched] {
        &self.told
    }

    /// The last of the others, as many as were asked for.
    pub fn told_last(&self) -> &[Touched] {
        &self.told_last
    }

    /// What all of them come to.
    pub fn all(&self) -> Total {
        self.all
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.messages as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Index<usize> for TouchedList {
    type Output = Touched;

    /// One that is told by itself.
    fn index(&self, at: usize) -> &Touched {
        &self.told[at]
    }
}

/// Where two contexts of one path differ: places, from 0, in the one or the other.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    /// How many stand at the beginning of both.
    pub(crate) kept: usize,
    /// What goes: places before.
    pub(crate) hidden: Vec<usize>,
    /// What is new or comes back: places after.
    pub(crate) shown: Vec<usize>,
    /// What stays with other parts or another text: places before, and after.
    pub(crate) changed: Vec<(usize, usize)>,
}

/// How many entries are the same at the beginning of both, and how many of the others at their end.
fn common(one: &Vector<Entry>, other: &Vector<Entry>) -> (usize, usize) {
    let same = |(one, other): &(&Entry, &Entry)| is_same(one, other);
    let first = one.iter().zip(other).take_while(same).count();
    let room = one.len().min(other.len()) - first;
    let backwards = one.iter().rev().zip(other.iter().rev());
    (first, backwards.take(room).take_while(same).count())
}

impl Difference {
    /// Entries of both stand in one order, so those of the shorter stretch are looked up by name, and
    /// the longer is only gone through.
    pub(crate) fn between(before: &Context, after: &Context) -> Self {
        let (old, new) = (&before.entries, &after.entries);
        let (kept, last) = common(old, new);
        let (old_end, new_end) = (old.len() - last, new.len() - last);
        let is_shorter = old_end < new_end;
        let (short, short_end, long, long_end) = if is_shorter {
            (old, old_end, new, new_end)
        } else {
            (new, new_end, old, old_end)
        };
        fn between(
            entries: &Vector<Entry>,
            from: usize,
            to: usize,
        ) -> impl Iterator<Item = (usize, &Entry)> {
            entries.iter().enumerate().take(to).skip(from)
        }
        let names = between(short, kept, short_end).map(|(at, entry)| (entry.id, (at, entry)));
        let mut names: HashMap<EntryId, (usize, &Entry)> = names.collect();
        let (mut only_long, mut changed) = (Vec::new(), Vec::new());
        for (at, entry) in between(long, kept, long_end) {
            match names.remove(&entry.id) {
                None => only_long.push(at),
                Some((_, it)) if is_same(it, entry) => {}
                Some((there, _)) if is_shorter => changed.push((there, at)),
                Some((there, _)) => changed.push((at, there)),
            }
        }
        let mut only_short: Vec<usize> = names.into_values().map(|(at, _)| at).collect();
        only_short.sort_unstable();
        let (hidden, shown) = if is_shorter {
            (only_short, only_long)
        } else {
            (only_long, only_short)
        };
        Self {
            kept,
            hidden,
            shown,
            changed,
        }
    }
}

impl Change {
    /// From one context to another of the same path. Only where they differ is looked at twice.
    pub(crate) fn between(before: &Context, after: &Context) -> Self {
        let (first, last) = common(&before.entries, &after.entries);
        let differ = |context: &Context| -> Vec<Placed> {
            let end = context.entries.len() - last;
            let entries = context.entries.iter().enumerate().take(end).skip(first);
            entries.map(|(at, entry)| (at, entry.clone())).collect()
        };
        let (old, new) = (differ(before), differ(after));
        Self {
            gained: without(&new, &old),
            lost: without(&old, &new),
        }
    }

    /// An append of the entry at the end of `after`.
    pub(crate) fn appended(after: &Context) -> Self {
        let last = after.entries.iter().cloned().enumerate().next_back();
        Self {
            gained: last.into_iter().collect(),
            lost: Vec::new(),
        }
    }

    /// The place from which on the contexts differ, from 0; none: they don't.
    #[cfg(test)]
    pub(crate) fn begins(&self) -> Option<usize> {
        let all = self.gained.iter().chain(&self.lost);
        all.map(|(at, _)| *at).min()
    }

    /// What is new or comes back.
    pub(crate) fn shown(&self) -> Vec<&Placed> {
        unlike(&self.gained, &self.lost, false)
    }

    /// What goes.
    pub(crate) fn hidden(&self) -> Vec<&Placed> {
        unlike(&self.lost, &self.gained, false)
    }

    /// What stays with other parts or another text, as it was before.
    #[cfg(test)]
    pub(crate) fn altered(&self) -> Vec<&Placed> {
        unlike(&self.lost, &self.gained, true)
    }
}

/// Whether both are the same to whoever counts them.
fn is_same(one: &Entry, other: &Entry) -> bool {
    one.id == other.id && one.content == other.content && one.mask == other.mask
}

/// The `entries` that are not the same in `others`.
fn without(entries: &[Placed], others: &[Placed]) -> Vec<Placed> {
    let others = others.iter().map(|(_, entry)| (entry.id, entry));
    let others: HashMap<EntryId, &Entry> = others.collect();
    let is_there = |entry: &Entry| others.get(&entry.id).is_some_and(|it| is_same(it, entry));
    let left = entries.iter().filter(|(_, entry)| !is_there(entry));
    left.cloned().collect()
}

/// The `entries` that are among `others` in some form, or are not.
fn unlike<'a>(entries: &'a [Placed], others: &[Placed], among: bool) -> Vec<&'a Placed> {
    let others: HashSet<EntryId> = others.iter().map(|(_, entry)| entry.id).collect();
    let entries = entries.iter();
    let wanted = entries.filter(|(_, entry)| others.contains(&entry.id) == among);
    wanted.collect()
}

/// What a list says of entries; `fresh` are messages that may not be stored yet.
pub(crate) fn told<'a>(
    view: &dyn View,
    entries: impl IntoIterator<Item = &'a Placed>,
    counts: &Counts,
    fresh: &Fresh<'_>,
) -> Result<Vec<Touched>> {
    let entries: Vec<&Placed> = entries.into_iter().collect();
    let contents = entries.iter().map(|(_, entry)| entry.content);
    let stored: Vec<ContentHash> = contents.filter(|hash| !fresh.contains_key(hash)).collect();
    let rows = load::told_rows(view, &stored)?;
    let told = entries.into_iter().map(|(at, entry)| {
        let (role, preview) = match fresh.get(&entry.content) {
            Some(message) => (message.role, uses::line(message)),
            None => {
                let row = &rows[&entry.content];
                (row.role, row.preview.clone())
            }
        };
        Touched {
            id: entry.id,
            number: at + 1,
            role,
            preview,
            tokens: counts.get(entry),
        }
    });
    Ok(told.collect())
}

/// The same of entries of which each comes with its tokens; one by one as many of the first and of the last as `limits`
/// say.
pub(crate) fn told_some(
    view: &dyn View,
    context: &Context,
    places: &[usize],
    count: impl Fn(usize) -> TokenCount,
    limits: (usize, usize),
    fresh: &Fresh<'_>,
) -> Result<TouchedList> {
    let (first, others) = places.split_at(places.len().min(limits.0));
    let last = &others[others.len() - others.len().min(limits.1)..];
    let one_by_one = || first.iter().chain(last);
    let placed = |at: &usize| (*at, context.entries[*at].clone());
    let entries: Vec<Placed> = one_by_one().map(placed).collect();
    let mut counts = Counts::default();
    counts.add(
        entries.iter().map(|(_, entry)| entry),
        one_by_one().map(|at| count(*at)),
    );
    let mut all = Total::default();
    all.extend(places.iter().map(|at| count(*at)));
    let told = told(view, &entries, &counts, fresh)?;
    Ok(TouchedList::of(told, first.len(), all))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash::{CommitHash, ContentHash};
    use crate::laws::commands::{Draw, command};
    use crate::model::Millis;
    use crate::repo::{On, Repo};

    /// A context of appended messages, by their numbers.
    fn of(numbers: impl Iterator<Item = u8>) -> Context {
        let entry = |number| {
            let id = EntryId::of(CommitHash::from_bytes([number; 32]));
            Entry::new(id, ContentHash::from_bytes([number; 32]), None)
        };
        Context {
            entries: numbers.map(entry).collect(),
            ..Context::default()
        }
    }

    #[test]
    fn places_are_told_in_their_order() {
        let (few, many) = (of((100..120).chain([0])), of((0..60).chain([0])));
        let all = |count: usize| (0..count).collect::<Vec<_>>();
        let differ = Difference::between(&few, &many);
        assert_eq!((differ.hidden, differ.shown), (all(20), all(60)));
        let differ = Difference::between(&many, &few);
        assert_eq!((differ.hidden, differ.shown), (all(60), all(20)));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            source_file: Some(file!()),
            ..crate::conditions::laws(64)
        })]

        /// Where two contexts differ is the same, whichever is the shorter.
        #[test]
        fn a_difference_says_by_place_what_a_change_says(
            draws in prop::collection::vec(any::<Draw>(), 1..24),
        ) {
            let repo = Repo::ephemeral().expect("made");
            let mut before = Context::default();
            for (at, draw) in draws.into_iter().enumerate() {
                // What is not allowed here changes nothing.
                let _ = command(&repo, draw, Millis(at as i64));
                let Some(tip) = repo.head(&On::Head).expect("a head").commit() else {
                    continue;
                };
                let after = repo.context(&tip).expect("a context");
                for (before, after) in [(&before, &after), (&after, &before)] {
                    let change = Change::between(before, after);
                    let differ = Difference::between(before, after);
                    let places = |placed: Vec<&Placed>| -> Vec<usize> {
                        placed.into_iter().map(|(at, _)| *at).collect()
                    };
                    prop_assert_eq!(&differ.hidden, &places(change.hidden()));
                    prop_assert_eq!(&differ.shown, &places(change.shown()));
                    let mut altered: Vec<usize> = differ.changed.iter().map(|(at, _)| *at).collect();
                    altered.sort_unstable();
                    prop_assert_eq!(altered, places(change.altered()));
                    let all = before.entries.len();
                    prop_assert_eq!(differ.kept, change.begins().unwrap_or(all).min(all));
                }
                before = after;
            }
            repo.second_reading()?;
        }
    }
}
