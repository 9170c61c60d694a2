//! Counts by entry: read where they are known, counted and kept where they are not.

use std::collections::HashMap;

use crate::context::{Context, Entry};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::tokens::Counter;
use crate::model::{Encoding, EntryId, TokenCount};
use crate::repo::load::{self, Fresh};
use crate::repo::pictures;
use crate::repo::repository::Repo;
use crate::store::{CountKey, Store, Tx, View};

/// How many counts are written in one transaction.
const SLICE: usize = 500;
/// A token is about so many bytes, where nobody can count any more.
const BYTES_A_TOKEN: u64 = 4;
/// How many bodies are held at once to be counted.
const BODIES: usize = 64;

/// The key of what is counted of an entry.
pub(crate) fn key(entry: &Entry) -> CountKey {
    CountKey {
        content: entry.content,
        mask: entry.mask.key(),
    }
}

/// The key of a whole content.
pub(crate) fn key_of(content: ContentHash) -> CountKey {
    let mask = None;
    CountKey { content, mask }
}

/// Counts that are not kept yet.
type Missing = Vec<(CountKey, TokenCount)>;

/// Counts what has no count yet.
#[derive(Clone, Copy)]
pub(crate) struct Counting {
    encoding: Encoding,
}

impl Counting {
    /// In this encoding.
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }

    /// What it counts in.
    pub(crate) fn encoding(self) -> Encoding {
        self.encoding
    }

    /// What counts a message.
    pub(crate) fn counter(self) -> Counter {
        Counter::of(self.encoding)
    }

    /// The counts that are kept already.
    pub(crate) fn known(
        &self,
        view: &dyn View,
        entries: &[&Entry],
    ) -> Result<Vec<Option<TokenCount>>> {
        let keys: Vec<CountKey> = entries.iter().map(|entry| key(entry)).collect();
        view.counts(&keys, self.encoding)
    }

    /// The tokens of each entry, and apart from that those that were missing; `fresh` are messages
    /// that may not be stored yet.
    pub(crate) fn fill(
        self,
        view: &dyn View,
        entries: &[&Entry],
        fresh: &Fresh<'_>,
    ) -> Result<(Vec<TokenCount>, Missing)> {
        let known = self.known(view, entries)?;
        let all = entries.iter().zip(&known);
        let unknown = all.filter(|(_, known)| known.is_none());
        let unknown: Vec<&Entry> = unknown.map(|(entry, _)| *entry).collect();
        let mut missing = Vec::with_capacity(unknown.len());
        let mut counted = Vec::with_capacity(unknown.len());
        for slice in unknown.chunks(BODIES) {
            match load::messages_with(view, slice.iter().copied(), fresh) {
                Ok(messages) => {
                    for (entry, message) in slice.iter().zip(&messages) {
                        let count = self.counter().message(message);
                        missing.push((key(entry), count));
                        counted.push(count);
                    }
                }
                Err(error) => counted.extend(self.guess(view, slice, fresh, error)?),
            }
        }
        let mut counted = counted.into_iter();
        let counts = known.into_iter().map(|known| {
            let count = known.or_else(|| counted.next());
            count.expect("what was not known has been counted")
        });
        let counts = counts.collect();
        Ok((counts, missing))
    }

    /// The same where messages cannot be read: one whose body was set aside is guessed by its size, and
    /// nothing is kept. That its context cannot be compiled is no reason not to list it.
    fn guess(
        self,
        view: &dyn View,
        entries: &[&Entry],
        fresh: &Fresh<'_>,
        error: Error,
    ) -> Result<Vec<TokenCount>> {
        let contents: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
        let lost = view.lost(&contents)?;
        if !lost.contains(&true) {
            return Err(error);
        }
        let rows = view.content_rows(&contents)?;
        let of_each = entries.iter().zip(lost).zip(rows);
        let guess = of_each.map(|((entry, lost), row)| match (lost, row) {
            (true, Some(row)) => Ok(TokenCount::estimate(row.size_bytes / BYTES_A_TOKEN)),
            _ => {
                let message = load::messages_with(view, [*entry], fresh)?.remove(0);
                Ok(self.counter().message(&message))
            }
        });
        guess.collect()
    }

    /// The tokens of each entry. What was missing is kept.
    pub(crate) fn fill_in(self, tx: &dyn Tx, context: &Context) -> Result<Vec<TokenCount>> {
        let entries: Vec<&Entry> = context.entries.iter().collect();
        let (counts, missing) = self.fill(tx, &entries, &Fresh::new())?;
        tx.put_counts(&missing, self.encoding)?;
        Ok(counts)
    }
}

/// The tokens of each of these entries. What is missing is counted and kept; a repository that cannot be
/// written to is no obstacle. No view may be open.
pub(crate) fn of_entries(
    store: &dyn Store,
    entries: &[&Entry],
    encoding: Encoding,
) -> Result<Vec<TokenCount>> {
    let (counts, missing) = {
        let view = store.read()?;
        let counting = Counting::new(encoding);
        counting.fill(&*view, entries, &Fresh::new())?
    };
    for slice in missing.chunks(SLICE) {
        let kept = store.write_if_free().and_then(|tx| {
            tx.put_counts(slice, encoding)?;
            tx.commit()
        });
        if kept.is_err() {
            break;
        }
    }
    Ok(counts)
}

/// The tokens of each visible entry, of which some are known.
pub(crate) fn filled(
    store: &dyn Store,
    context: &Context,
    mut known: Vec<Option<TokenCount>>,
    encoding: Encoding,
) -> Result<Vec<TokenCount>> {
    let entries = context.entries.iter().zip(&known);
    let unknown = entries.filter(|(_, known)| known.is_none());
    let unknown: Vec<&Entry> = unknown.map(|(entry, _)| entry).collect();
    if !unknown.is_empty() {
        let counted = of_entries(store, &unknown, encoding)?;
        let missing = known.iter_mut().filter(|known| known.is_none());
        for (missing, count) in missing.zip(counted) {
            *missing = Some(count);
        }
    }
    Ok(known.into_iter().flatten().collect())
}

/// The tokens of some entries, each counted once.
#[derive(Default)]
pub(crate) struct Counts(HashMap<CountKey, TokenCount>);

impl Counts {
    /// Counts what has no count yet; no view may be open.
    pub(crate) fn of<'a>(
        store: &dyn Store,
        entries: impl IntoIterator<Item = &'a Entry>,
        encoding: Encoding,
    ) -> Result<Self> {
        let wanted = entries.into_iter().map(|entry| (key(entry), entry));
        let wanted: HashMap<CountKey, &Entry> = wanted.collect();
        let wanted: Vec<&Entry> = wanted.into_values().collect();
        let counts = of_entries(store, &wanted, encoding)?;
        let mut all = Self::default();
        all.add(wanted, counts);
        Ok(all)
    }

    /// The tokens of whole contents, counting what has no count yet, which is kept; no view may be open.
    pub(crate) fn of_contents(
        store: &dyn Store,
        keys: &[(CommitHash, CountKey)],
        encoding: Encoding,
    ) -> Result<Self> {
        let entry = |(commit, key): &(CommitHash, CountKey)| {
            Entry::new(EntryId::of(*commit), key.content, None)
        };
        let entries: Vec<Entry> = keys.iter().map(entry).collect();
        Self::of(store, &entries, encoding)
    }

    /// Whether nothing of these is guessed, as the tokens of a message that is lost are: what they come to may be kept.
    pub(crate) fn are_kept(
        store: &dyn Store,
        keys: &[CountKey],
        encoding: Encoding,
    ) -> Result<bool> {
        let known = store.read()?.counts(keys, encoding)?;
        Ok(known.iter().all(Option::is_some))
    }

    /// Takes in what is known of more entries.
    pub(crate) fn add<'a>(
        &mut self,
        entries: impl IntoIterator<Item = &'a Entry>,
        counts: impl IntoIterator<Item = TokenCount>,
    ) {
        self.0.extend(entries.into_iter().map(key).zip(counts));
    }

    /// The tokens of an entry, which must be one of those.
    pub(crate) fn get(&self, entry: &Entry) -> TokenCount {
        self.0[&key(entry)]
    }

    /// The tokens of what has this key, if they are among those.
    pub(crate) fn find(&self, key: &CountKey) -> Option<TokenCount> {
        self.0.get(key).copied()
    }
}

impl Repo {
    /// The tokens of one context, by entry, filling what is missing: pictures by the rule of the model in force.
    pub fn counts(&self, context: &Context, encoding: Encoding) -> Result<Vec<TokenCount>> {
        let counts = self.counts_in(context, encoding)?;
        if !pictures::are_among(&counts) {
            return Ok(counts);
        }
        let by_rule = pictures::within(&*self.store.read()?, context, encoding)?;
        if by_rule == encoding {
            return Ok(counts);
        }
        self.counts_in(context, by_rule)
    }

    /// The same in just this encoding.
    pub(crate) fn counts_in(
        &self,
        context: &Context,
        encoding: Encoding,
    ) -> Result<Vec<TokenCount>> {
        let entries: Vec<&Entry> = context.entries.iter().collect();
        of_entries(&*self.store, &entries, encoding)
    }
}
