//! What stretches come to: by the totals and sums that are kept, the fewest counts read.

use std::ops::Range;

use crate::context::Entry;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Encoding, PathSums, Total};
use crate::repo::counts::Counting;
use crate::repo::load::Fresh;
use crate::repo::stretches::{Outline, Stood, appended, each_appended};
use crate::repo::sums::{StretchPart, stretch_parts};
use crate::repo::totals;
use crate::store::{Facts, View};

/// How many counts are read at once, where some are missing.
const PAGE: u64 = 4_096;

/// What weighs entries of a path.
pub(crate) struct Scales<'a> {
    view: &'a dyn View,
    tip: CommitHash,
    encoding: Encoding,
    fresh: &'a Fresh<'a>,
    /// Contexts of which the total is known.
    known: Vec<Known>,
    /// What the path comes to in blocks, as far as it is known.
    sums: Option<PathSums>,
}

/// A context of which the total is known: what the messages come to that were appended, by their depths.
pub(crate) struct Known {
    total: Total,
    depths: Vec<Range<u64>>,
}

impl<'a> Scales<'a> {
    /// For the path to a commit; `fresh` are messages that may not be stored yet.
    pub(crate) fn new(
        view: &'a dyn View,
        tip: CommitHash,
        encoding: Encoding,
        fresh: &'a Fresh<'a>,
    ) -> Result<Self> {
        let newest = view.newest_summary(&tip, encoding)?;
        Ok(Self {
            view,
            tip,
            encoding,
            fresh,
            known: Vec::new(),
            sums: newest.and_then(|(_, summary)| summary.sums),
        })
    }

    /// Takes in a context of which the total is known.
    pub(crate) fn know(&mut self, outline: &Outline, total: Total) -> Result<()> {
        let visible = outline.stretches.iter().filter(|one| one.fate.visible);
        let (mut depths, mut ones) = (Vec::new(), Vec::new());
        for stretch in visible {
            match &stretch.what {
                Stood::From(first) => depths.push(*first..first + stretch.len as u64),
                Stood::One(entry) => ones.push(&**entry),
            }
        }
        let total = total.without(self.ones(&ones)?);
        self.known.push(Known { total, depths });
        Ok(())
    }

    /// The same at another commit, where its total is kept.
    pub(crate) fn know_at(&mut self, commit: &CommitHash) -> Result<()> {
        let kept = totals::at_commit(self.view, commit, &Default::default(), self.encoding)?;
        if let Some(total) = kept {
            self.know(&Outline::of(self.view, commit)?, total)?;
        }
        Ok(())
    }

    /// What single entries come to.
    pub(crate) fn ones(&self, entries: &[&Entry]) -> Result<Total> {
        let counting = Counting::new(self.encoding);
        let mut total = Total::default();
        total.extend(counting.fill(self.view, entries, self.fresh)?.0);
        Ok(total)
    }

    /// What the first so many visible entries of an outline come to.
    pub(crate) fn first(&self, outline: &Outline, count: usize) -> Result<Total> {
        let (mut depths, mut ones) = (Vec::new(), Vec::new());
        let mut left = count;
        for stretch in outline.stretches.iter().filter(|one| one.fate.visible) {
            let some = stretch.len.min(left);
            match &stretch.what {
                _ if some == 0 => break,
                Stood::From(first) => depths.push(*first..first + some as u64),
                Stood::One(entry) => ones.push(&**entry),
            }
            left -= some;
        }
        Ok(self.depths(&depths)?.with(self.ones(&ones)?))
    }

    /// What the appends at these depths come to, which stand in order.
    pub(crate) fn depths(&self, wanted: &[Range<u64>]) -> Result<Total> {
        let mut least = length(wanted);
        let mut best = None;
        for known in &self.known {
            let (others, missing) = (less(&known.depths, wanted), less(wanted, &known.depths));
            let cost = length(&others) + length(&missing);
            if cost < least {
                (least, best) = (cost, Some((known.total, others, missing)));
            }
        }
        match best {
            None => self.read(wanted),
            Some((total, others, missing)) => Ok(total
                .without(self.read(&others)?)
                .with(self.read(&missing)?)),
        }
    }

    fn read(&self, wanted: &[Range<u64>]) -> Result<Total> {
        let mut total = Total::default();
        let facts = Facts {
            links: false,
            counts: Some(self.encoding),
        };
        let parts = wanted
            .iter()
            .flat_map(|depths| stretch_parts(depths.clone(), self.sums.as_ref()));
        for part in parts {
            let depths = match part {
                StretchPart::Summed { size, sum, .. } => {
                    total = total.with(sum.total(size));
                    continue;
                }
                StretchPart::Read(depths) => depths,
            };
            for start in depths.clone().step_by(PAGE as usize) {
                let page = start..depths.end.min(start + PAGE);
                let mut is_known = true;
                let mut counts = Vec::with_capacity(PAGE as usize);
                each_appended(self.view, &self.tip, page.clone(), facts, &mut |one| {
                    is_known &= one.count.is_some();
                    counts.extend(one.count);
                    Ok(())
                })?;
                if is_known {
                    total.extend(counts);
                } else {
                    let entries = appended(self.view, &self.tip, page)?;
                    total = total.with(self.ones(&entries.iter().collect::<Vec<_>>())?);
                }
            }
        }
        Ok(total)
    }
}

fn length(depths: &[Range<u64>]) -> u64 {
    depths.iter().map(|one| one.end - one.start).sum()
}

/// What of some depths is not among others; both stand in order.
fn less(these: &[Range<u64>], others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    let mut others = others.iter().peekable();
    for one in these {
        let mut start = one.start;
        while let Some(other) = others.peek() {
            if other.end <= start {
                others.next();
                continue;
            }
            if other.start >= one.end {
                break;
            }
            if start < other.start {
                left.push(start..other.start);
            }
            start = start.max(other.end.min(one.end));
            if other.end >= one.end {
                break;
            }
        }
        if start < one.end {
            left.push(start..one.end);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn ranges(of: &BTreeSet<u64>) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for at in of {
            match ranges.last_mut() {
                Some(last) if last.end == *at => last.end += 1,
                _ => ranges.push(*at..at + 1),
            }
        }
        ranges
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        #[test]
        fn what_is_left_of_depths_is_what_is_left_of_each(
            these in prop::collection::btree_set(0_u64..40, 0..30),
            others in prop::collection::btree_set(0_u64..40, 0..30),
        ) {
            let left = less(&ranges(&these), &ranges(&others));
            let wanted: Vec<u64> = these.difference(&others).copied().collect();
            prop_assert_eq!(left.into_iter().flatten().collect::<Vec<_>>(), wanted);
        }
    }
}
