//! Counts by entry: read where they are known, counted and kept where they are not.

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::history::load;
use crate::model::tokens::Counter;
use crate::model::{Encoding, TokenCount};
use crate::store::{CountKey, Store};

/// How many counts are written in one transaction.
const SLICE: usize = 500;

pub(crate) fn key(entry: &Entry) -> CountKey {
    CountKey {
        content: entry.content,
        mask: entry.mask.key(),
    }
}

/// The tokens of each entry of a context.
pub(crate) fn of_context(
    store: &dyn Store,
    context: &Context,
    encoding: Encoding,
) -> Result<Vec<TokenCount>> {
    let entries: Vec<&Entry> = context.entries.iter().collect();
    of_entries(store, &entries, encoding)
}

/// The tokens of each of these entries. What is missing is counted, which loads the vocabulary,
/// and kept; a repository that cannot be written to is no obstacle.
pub(crate) fn of_entries(
    store: &dyn Store,
    entries: &[&Entry],
    encoding: Encoding,
) -> Result<Vec<TokenCount>> {
    let keys: Vec<CountKey> = entries.iter().map(|entry| key(entry)).collect();
    let mut fresh = Vec::new();
    let counts = {
        let view = store.read()?;
        let known = view.counts(&keys, encoding)?;
        let mut counter = None;
        let mut counts = Vec::with_capacity(keys.len());
        for ((entry, key), known) in entries.iter().zip(&keys).zip(known) {
            let count = match known {
                Some(count) => count,
                None => {
                    let counter = counter.get_or_insert_with(|| Counter::load(encoding));
                    let count = counter.message(&load::message(&*view, entry)?);
                    fresh.push((*key, count));
                    count
                }
            };
            counts.push(count);
        }
        counts
    };
    for slice in fresh.chunks(SLICE) {
        let kept = store.write().and_then(|tx| {
            for (key, count) in slice {
                tx.put_count(*key, encoding, *count)?;
            }
            tx.commit()
        });
        if kept.is_err() {
            break;
        }
    }
    Ok(counts)
}
