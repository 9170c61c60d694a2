//! What the appends of a path come to in blocks, summed up once for as long as the path goes on.
//!
//! Only commits count, whatever became of their messages: so whoever sums up what a hide left reads the ends of each stretch.

use std::ops::Range;

use crate::context::Entry;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{BlockSum, Encoding, EntryId, PathSums};
use crate::repo::load;
use crate::repo::sums::Summing;
use crate::store::{Facts, View};

/// How many commits the first blocks have.
const SIZE: u64 = if cfg!(test) { 2 } else { 1_024 };
/// How many blocks are kept at most: of more, each two become one.
const MOST: usize = 256;

/// The sums up to a commit, gone on from what is known of the path to it, as far as all messages have counts.
pub(crate) fn extended(
    view: &dyn View,
    tip: &CommitHash,
    known: Option<PathSums>,
    encoding: Encoding,
) -> Result<PathSums> {
    of_most(view, tip, known, encoding, MOST)
}

/// The same in at most so many blocks.
pub(crate) fn of_most(
    view: &dyn View,
    tip: &CommitHash,
    known: Option<PathSums>,
    encoding: Encoding,
    most: usize,
) -> Result<PathSums> {
    let len = load::commit(view, tip)?.depth + 1;
    let mut sums = known.unwrap_or_else(|| PathSums {
        size: SIZE,
        blocks: Vec::new(),
    });
    while sums.covered() + sums.size <= len {
        if sums.blocks.len() >= most {
            sums = sums.doubled();
            continue;
        }
        let depths = sums.covered()..sums.covered() + sums.size;
        match block(view, tip, depths, encoding)? {
            Some(block) => sums.blocks.push(block),
            None => break,
        }
    }
    Ok(sums)
}

/// How many commits of a path of this length whole blocks would cover.
pub(crate) fn coverable(known: Option<&PathSums>, len: u64) -> u64 {
    let size = known.map_or(SIZE, |known| known.size);
    len - len % size
}

/// Whether these are the sums of the path to a commit. What is known to be so of a commit before it is not read again where these
/// go on from that; none where a message has no count.
pub(crate) fn are_sound(
    view: &dyn View,
    tip: &CommitHash,
    kept: &PathSums,
    before: Option<&PathSums>,
    encoding: Encoding,
) -> Result<Option<bool>> {
    let len = load::commit(view, tip)?.depth + 1;
    if kept.size == 0 || kept.covered() > len {
        return Ok(Some(false));
    }
    let mut before = before.cloned().unwrap_or_default();
    while 0 < before.size && before.size < kept.size {
        before = before.doubled();
    }
    let goes_on = before.size == kept.size && kept.blocks.starts_with(&before.blocks);
    let known = if goes_on { before.blocks.len() } else { 0 };
    for (at, one) in kept.blocks.iter().enumerate().skip(known) {
        let first = at as u64 * kept.size;
        match block(view, tip, first..first + kept.size, encoding)? {
            Some(right) if right == *one => {}
            Some(_) => return Ok(Some(false)),
            None => return Ok(None),
        }
    }
    Ok(Some(true))
}

/// What is kept of the commits at these depths; none where a message has no count. What is estimated depends on a rule for
/// pictures, and these sums hold by any.
fn block(
    view: &dyn View,
    tip: &CommitHash,
    depths: Range<u64>,
    encoding: Encoding,
) -> Result<Option<Option<BlockSum>>> {
    let facts = Facts {
        links: false,
        counts: Some(encoding.plain()),
    };
    let len = depths.end - depths.start;
    let mut summing = Summing::new(view, *tip, 0, [0; 5], 0);
    let mut is_counted = true;
    view.appended(tip, depths, facts, &mut |one| {
        let Some(count) = one.count else {
            is_counted = false;
            return Ok(());
        };
        let entry = Entry::new(EntryId::of(one.commit), one.content, None);
        summing.add(entry, one.role, count)
    })?;
    let summed = summing.end()?;
    let largest = summed.largest.filter(|_| {
        let total = summed.total;
        total.messages == len && total.estimates == 0
    });
    let sum = largest.map(|largest| BlockSum {
        by_role: summed.by_role,
        injected: summed.injected,
        largest_at: largest.number - 1,
        largest: largest.tokens.tokens,
    });
    Ok(is_counted.then_some(sum))
}
