//! The records of a file behind the commits that were made of it. A file may have millions, so few are held in memory.

use std::ops::Range;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Span;
use crate::store::sqlite::WaitingRecords;

/// How many commits are held; more of them wait outside of memory.
const HELD: usize = if cfg!(test) { 8 } else { 16_000 };

/// Of each commit, in the order in which they were made, where its records stand.
#[derive(Default)]
pub(super) struct CommitRecords {
    held: Vec<(CommitHash, Vec<Span>)>,
    /// Those before them.
    waiting: Option<WaitingRecords>,
}

impl CommitRecords {
    /// Adds a commit that has records.
    pub(super) fn push(&mut self, commit: CommitHash, records: Vec<Span>) -> Result<()> {
        self.held.push((commit, records));
        if self.held.len() >= HELD {
            self.put_off()?;
        }
        Ok(())
    }

    /// Once all are there: they are looked for in one place.
    pub(super) fn settle(&mut self) -> Result<()> {
        match &self.waiting {
            Some(_) => self.put_off(),
            None => Ok(()),
        }
    }

    fn put_off(&mut self) -> Result<()> {
        let waiting = match self.waiting.take() {
            Some(waiting) => waiting,
            None => WaitingRecords::new()?,
        };
        let waiting = self.waiting.insert(waiting);
        for (commit, records) in std::mem::take(&mut self.held) {
            waiting.push(&commit, &records)?;
        }
        Ok(())
    }

    /// How many commits there are, settled.
    pub(super) fn len(&self) -> usize {
        let waiting = self.waiting.as_ref();
        waiting.map_or(self.held.len(), WaitingRecords::len)
    }

    /// At most so many commits with their records, from one on, settled.
    pub(super) fn some(&self, from: usize, most: usize) -> Result<Vec<(CommitHash, Vec<Span>)>> {
        match &self.waiting {
            Some(waiting) => waiting.some(from, most),
            None => Ok(self.held.iter().skip(from).take(most).cloned().collect()),
        }
    }

    /// The commits of which a record stands in this part of the file, once for each such record; settled.
    pub(super) fn within(&self, part: &Range<u64>) -> Result<Vec<CommitHash>> {
        if let Some(waiting) = &self.waiting {
            return waiting.within(part);
        }
        let is_in =
            |it: &&Span| it.offset < part.end && it.offset.saturating_add(it.len) > part.start;
        let all = self.held.iter();
        let found = all.flat_map(|(commit, spans)| spans.iter().filter(is_in).map(|_| *commit));
        Ok(found.collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Told = Vec<(u8, Vec<(u64, u64)>)>;

    fn told() -> impl Strategy<Value = Told> {
        let len = prop_oneof![0..40_u64, Just(u64::MAX)];
        let spans = prop::collection::vec((0..200_u64, len), 1..4);
        prop::collection::vec((any::<u8>(), spans), 0..30)
    }

    proptest! {
        /// Whether they are held or wait outside of memory, the same is told of them, in the same order.
        #[test]
        fn records_are_found_as_they_were_told(told in told(), from in 0..250_u64, len in 1..60_u64) {
            let span = |(offset, len)| Span { offset, len };
            let told = told.into_iter().map(|(commit, spans)| {
                let spans: Vec<Span> = spans.into_iter().map(span).collect();
                (CommitHash::from_bytes([commit; 32]), spans)
            });
            let all: Vec<(CommitHash, Vec<Span>)> = told.collect();
            let mut records = CommitRecords::default();
            for (commit, spans) in all.clone() {
                records.push(commit, spans).expect("pushed");
            }
            records.settle().expect("settled");
            prop_assert_eq!(records.waiting.is_some(), all.len() >= HELD);
            prop_assert_eq!(records.len(), all.len());
            let listed: Vec<_> = (0..all.len())
                .step_by(7)
                .flat_map(|from| records.some(from, 7).expect("listed"))
                .collect();
            prop_assert_eq!(&listed, &all);
            let part = from..from + len;
            let is_in = |it: &&Span| it.offset < part.end && it.offset.saturating_add(it.len) > part.start;
            let found = all.iter().flat_map(|(commit, spans)| spans.iter().filter(is_in).map(|_| *commit));
            prop_assert_eq!(records.within(&part).expect("found"), found.collect::<Vec<_>>());
        }
    }
}
