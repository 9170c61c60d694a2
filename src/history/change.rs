//! What became of the visible entries between two contexts of one path, and how that is told.

use std::collections::{HashMap, HashSet};

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::history::counts::Counts;
use crate::history::load::{self, Fresh};
use crate::model::{EntryId, Role, TokenCount, preview};
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

impl Change {
    /// From one context to another of the same path. Only where they differ is looked at twice.
    pub(crate) fn between(before: &Context, after: &Context) -> Self {
        let same = |(one, other): &(&Entry, &Entry)| is_same(one, other);
        let (old, new) = (&before.entries, &after.entries);
        let first = old.iter().zip(new).take_while(same).count();
        let room = old.len().min(new.len()) - first;
        let backwards = old.iter().rev().zip(new.iter().rev());
        let last = backwards.take(room).take_while(same).count();
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
    let rows = load::rows(view, &stored)?;
    let told = entries.into_iter().map(|(at, entry)| {
        let (role, preview) = match fresh.get(&entry.content) {
            Some(message) => (message.role, preview(message)),
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
