//! What commits change among the visible entries, and so the tokens along a path: summed once at
//! its beginning, then only added to and taken from.

use std::collections::HashMap;

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::history::{counts, load};
use crate::model::tokens::context_total;
use crate::model::{Encoding, Operation, TokenCount};
use crate::store::{CommitRow, CountKey, Store, View};

/// From how many commits on it is quicker to begin at a checkpoint than to go on.
const LEAP: u64 = 256;

/// What became of the visible entries. One with another content or other hidden parts is both in
/// `gained` and in `lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) gained: Vec<Entry>,
    pub(crate) lost: Vec<Entry>,
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
        let old = old.iter().skip(first).take(old.len() - first - last);
        let mut lost: HashMap<_, &Entry> = old.map(|entry| (entry.id, entry)).collect();
        let mut gained = Vec::new();
        for entry in new.iter().skip(first).take(new.len() - first - last) {
            match lost.get(&entry.id) {
                Some(old) if is_same(old, entry) => drop(lost.remove(&entry.id)),
                _ => gained.push(entry.clone()),
            }
        }
        // In the context's order, whatever the map's is.
        let lost = before
            .entries
            .iter()
            .skip(first)
            .filter(|entry| lost.contains_key(&entry.id))
            .take(lost.len())
            .cloned()
            .collect();
        Self { gained, lost }
    }

    /// By how many the number of visible messages changed.
    pub(crate) fn messages(&self) -> i64 {
        self.gained.len() as i64 - self.lost.len() as i64
    }
}

/// Whether both are the same to whoever counts them.
fn is_same(one: &Entry, other: &Entry) -> bool {
    one.id == other.id && one.content == other.content && one.mask == other.mask
}

/// The context on the way along a path, forward.
#[derive(Default)]
pub(crate) struct Along {
    /// How many commits lie behind.
    depth: u64,
    pub(crate) context: Context,
}

impl Along {
    /// Goes on, or leaps, to where the next commit is `row`.
    pub(crate) fn advance_to(&mut self, view: &dyn View, row: &CommitRow) -> Result<()> {
        let Some(parent) = row.commit.parent.filter(|_| self.depth < row.depth) else {
            return Ok(());
        };
        if row.depth - self.depth > LEAP || self.depth == 0 {
            self.context = load::context(view, &parent)?;
        } else {
            let steps = (row.depth - self.depth) as usize;
            for row in view.ancestors(&parent, None, steps)?.iter().rev() {
                self.take(view, row)?;
            }
        }
        self.depth = row.depth;
        Ok(())
    }

    /// Takes the next commit in and says what it changed.
    pub(crate) fn step(&mut self, view: &dyn View, row: &CommitRow) -> Result<Change> {
        let before = self.context.clone();
        self.take(view, row)?;
        Ok(match (&row.commit.operation, self.context.entries.last()) {
            (Operation::Append { .. }, Some(last)) => Change {
                gained: vec![last.clone()],
                lost: Vec::new(),
            },
            _ => Change::between(&before, &self.context),
        })
    }

    fn take(&mut self, view: &dyn View, row: &CommitRow) -> Result<()> {
        self.context = match self.context.step(row.hash, &row.commit) {
            Some(next) => next,
            None => load::context(view, &row.hash)?,
        };
        self.depth = row.depth + 1;
        Ok(())
    }
}

/// The tokens of some entries, each counted once.
pub(crate) struct Counts(HashMap<CountKey, TokenCount>);

impl Counts {
    /// Counts what has no count yet; no view may be open.
    pub(crate) fn of<'a>(
        store: &dyn Store,
        entries: impl IntoIterator<Item = &'a Entry>,
        encoding: Encoding,
    ) -> Result<Self> {
        let wanted: HashMap<CountKey, &Entry> = entries
            .into_iter()
            .map(|entry| (counts::key(entry), entry))
            .collect();
        let (keys, entries): (Vec<CountKey>, Vec<&Entry>) = wanted.into_iter().unzip();
        let counts = counts::of_entries(store, &entries, encoding)?;
        Ok(Self(keys.into_iter().zip(counts).collect()))
    }

    /// The tokens of an entry, which must be one of those.
    pub(crate) fn get(&self, entry: &Entry) -> TokenCount {
        self.0[&counts::key(entry)]
    }
}

/// A sum that entries can be taken from again.
#[derive(Default)]
pub(crate) struct RunningTotal {
    tokens: u64,
    messages: u64,
    estimates: u64,
}

impl RunningTotal {
    pub(crate) fn add(&mut self, count: TokenCount) {
        self.tokens += count.tokens;
        self.messages += 1;
        self.estimates += u64::from(count.estimated);
    }

    fn remove(&mut self, count: TokenCount) {
        self.tokens -= count.tokens;
        self.messages -= 1;
        self.estimates -= u64::from(count.estimated);
    }

    /// Follows a change.
    pub(crate) fn apply(&mut self, change: &Change, counts: &Counts) {
        for entry in &change.gained {
            self.add(counts.get(entry));
        }
        for entry in &change.lost {
            self.remove(counts.get(entry));
        }
    }

    /// The tokens of a context of these entries.
    pub(crate) fn total(&self) -> TokenCount {
        let sum = TokenCount {
            tokens: self.tokens,
            estimated: self.estimates > 0,
        };
        context_total((self.messages > 0).then_some(sum))
    }
}
