//! What follows from the rest and is kept: token counts, checkpoints, and what contexts come to.
//!
//! Totals and summaries stand at the place of their commits. An engine keeps and gives them by their table alone;
//! what is in them is said here.
//!
//! What is counted with a rule for pictures is kept beside what is counted without. Where nothing is estimated both are the
//! same, and it is kept once, without.

use super::codec::{number, pack_summary, unpack_summary};
use super::columns::Cell;
use super::remembered::{Memory, MemoryRow};
use super::tables::{SUMMARIES, TOTALS};
use crate::context::Context;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::{Encoding, Summed, TokenCount, Total};

/// A key of the counts: a content, and which of its parts are hidden or replaced.
///
/// The mask is [`crate::context::Mask::key`]; the whole content has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CountKey {
    /// The content.
    pub content: ContentHash,
    /// The mask, if parts of it are hidden.
    pub mask: Option<HashBytes>,
}

impl CountKey {
    /// The mask as its column holds it: nothing where there is none.
    pub(super) fn masked(&self) -> &[u8] {
        self.mask.as_ref().map_or(&[], |mask| mask)
    }
}

/// What is kept and could be made again from the rest, to be held against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// The commits that have a checkpoint.
    pub checkpoints: Vec<CommitHash>,
    /// What was counted.
    pub counts: Vec<(CountKey, Encoding, TokenCount)>,
    /// What contexts come to.
    pub totals: Vec<(CommitHash, Encoding, Total)>,
    /// Contexts summed up; none of what cannot be read.
    pub summaries: Vec<(CommitHash, Encoding, Option<Summed>)>,
}

/// A sum with the commit at whose place it stands.
pub(super) type SumRow = (CommitHash, Encoding, MemoryRow);

impl Derived {
    /// With all sums that are kept.
    pub(super) fn with_sums(mut self, totals: &[SumRow], summaries: &[SumRow]) -> Result<Self> {
        for (commit, encoding, row) in totals {
            self.totals.push((*commit, *encoding, total(row)?));
        }
        for (commit, encoding, row) in summaries {
            self.summaries.push((*commit, *encoding, summary(row)?));
        }
        Ok(self)
    }
}

fn total(row: &MemoryRow) -> Result<Total> {
    Ok(Total {
        messages: row.unsigned(0)?,
        tokens: row.unsigned(1)?,
        estimates: row.unsigned(2)?,
    })
}

/// What a sum is kept in: where nothing is estimated it is the same by any rule for pictures.
fn kept_in(encoding: Encoding, total: Total) -> Encoding {
    match total.estimates {
        0 => encoding.plain(),
        _ => encoding,
    }
}

/// None of bytes that make no sense.
fn summary(row: &MemoryRow) -> Result<Option<Summed>> {
    Ok(unpack_summary(row.bytes(0)?))
}

/// Reading what is derived.
pub trait Derivations {
    /// The counts kept for just this encoding.
    fn kept_counts(&self, keys: &[CountKey], encoding: Encoding)
    -> Result<Vec<Option<TokenCount>>>;

    /// The counts known in `encoding`.
    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>> {
        let counts = self.kept_counts(keys, encoding.plain())?;
        self.with_pictures(keys, counts, encoding)
    }

    /// Counts without a rule for pictures, with what is known by the rule in place of what is estimated.
    fn with_pictures(
        &self,
        keys: &[CountKey],
        mut counts: Vec<Option<TokenCount>>,
        encoding: Encoding,
    ) -> Result<Vec<Option<TokenCount>>> {
        let is_estimated = |count: &Option<TokenCount>| count.is_none_or(|count| count.estimated);
        let estimated = (0..counts.len()).filter(|at| is_estimated(&counts[*at]));
        let estimated: Vec<usize> = estimated.collect();
        if encoding == encoding.plain() || estimated.is_empty() {
            return Ok(counts);
        }
        let of_each: Vec<CountKey> = estimated.iter().map(|at| keys[*at]).collect();
        let by_rule = self.kept_counts(&of_each, encoding)?;
        for (at, count) in estimated.into_iter().zip(by_rule) {
            counts[at] = count;
        }
        Ok(counts)
    }

    /// The newest checkpoint on the path that ends in `tip`: the commit and its context.
    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>>;

    /// The newest sum in a table on the path that ends in `tip`, and the depth of its commit.
    fn newest_sum(
        &self,
        of: Memory,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, MemoryRow)>>;

    /// The newest total on the path that ends in `tip`, and the depth of its commit.
    fn newest_total(&self, tip: &CommitHash, encoding: Encoding) -> Result<Option<(u64, Total)>> {
        let newest = |encoding| -> Result<Option<(u64, Total)>> {
            let newest = self.newest_sum(Memory(&TOTALS), tip, encoding)?;
            newest
                .map(|(depth, row)| Ok((depth, total(&row)?)))
                .transpose()
        };
        let plain = newest(encoding.plain())?;
        if encoding == encoding.plain() || plain.is_some_and(|(_, total)| total.estimates == 0) {
            return Ok(plain);
        }
        newest(encoding)
    }

    /// All that is derived, as far as its rows are as they were written. Reads all that there is.
    fn derived(&self) -> Result<Derived>;

    /// The newest summary on the path that ends in `tip`, and the depth of its commit.
    fn newest_summary(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Summed)>> {
        let newest = |encoding| -> Result<Option<(u64, Summed)>> {
            let Some((depth, row)) = self.newest_sum(Memory(&SUMMARIES), tip, encoding)? else {
                return Ok(None);
            };
            Ok(summary(&row)?.map(|summary| (depth, summary)))
        };
        let plain = newest(encoding.plain())?;
        let is_exact = |(_, summary): &(u64, Summed)| summary.total.estimates == 0;
        if encoding == encoding.plain() || plain.as_ref().is_some_and(is_exact) {
            return Ok(plain);
        }
        newest(encoding)
    }

    /// How many commits lead from the newest checkpoint on the path to `tip`; without one, from
    /// the root, which counts too.
    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64>;
}

/// Writing what is derived.
pub trait DerivationsMut: Derivations {
    /// Keeps counts for just this encoding.
    fn keep_counts(&self, counts: &[(CountKey, TokenCount)], encoding: Encoding) -> Result<()>;

    /// Keeps counts.
    fn put_counts(&self, counts: &[(CountKey, TokenCount)], encoding: Encoding) -> Result<()> {
        if encoding == encoding.plain() {
            return self.keep_counts(counts, encoding);
        }
        let (estimated, exact): (Vec<_>, Vec<_>) =
            counts.iter().partition(|(_, count)| count.estimated);
        self.keep_counts(&exact, encoding.plain())?;
        self.keep_counts(&estimated, encoding)
    }

    /// Keeps one.
    fn put_count(&self, key: CountKey, encoding: Encoding, count: TokenCount) -> Result<()> {
        self.put_counts(&[(key, count)], encoding)
    }

    /// Keeps a checkpoint: `context` is the fold up to `commit`.
    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()>;

    /// Keeps a sum in a table, at the place of a commit.
    fn put_sum(
        &self,
        of: Memory,
        commit: &CommitHash,
        encoding: Encoding,
        cells: Vec<Cell>,
    ) -> Result<()>;

    /// Keeps what the visible messages at a commit come to.
    fn put_total(&self, commit: &CommitHash, encoding: Encoding, total: Total) -> Result<()> {
        let numbers = [total.messages, total.tokens, total.estimates];
        let cells = numbers.map(|each| Cell::Number(number(each)));
        self.put_sum(
            Memory(&TOTALS),
            commit,
            kept_in(encoding, total),
            cells.into(),
        )
    }

    /// Keeps the summary of the context at a commit.
    fn put_summary(&self, commit: &CommitHash, encoding: Encoding, summary: &Summed) -> Result<()> {
        let cells = vec![Cell::Bytes(pack_summary(summary))];
        self.put_sum(
            Memory(&SUMMARIES),
            commit,
            kept_in(encoding, summary.total),
            cells,
        )
    }
}
