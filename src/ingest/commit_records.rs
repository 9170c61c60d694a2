//! The records of a file behind the commits of a session. A file may have millions, so each takes as little as it can.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::hash::CommitHash;
use crate::model::Span;

/// Of each commit, in the order in which they were made, where its records stand.
#[derive(Default)]
pub(super) struct CommitRecords {
    first: Vec<(CommitHash, Span)>,
    /// The further records of a commit, by its place in the order: most have one record.
    more: BTreeMap<usize, Box<[Span]>>,
    /// What of the file they stand in.
    extent: Option<Range<u64>>,
}

impl CommitRecords {
    /// Adds a commit, if it has records.
    pub(super) fn push(&mut self, commit: CommitHash, records: &[Span]) {
        let Some((first, more)) = records.split_first() else {
            return;
        };
        if !more.is_empty() {
            self.more.insert(self.first.len(), more.into());
        }
        self.first.push((commit, *first));
        for record in records {
            let end = record.offset.saturating_add(record.len);
            let extent = self.extent.get_or_insert(record.offset..end);
            *extent = extent.start.min(record.offset)..extent.end.max(end);
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.first.shrink_to_fit();
    }

    /// The commits with their records.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (CommitHash, Vec<Span>)> {
        self.first.iter().enumerate().map(|(at, (commit, first))| {
            let more = self.more.get(&at).into_iter().flatten();
            (*commit, [*first].into_iter().chain(more.copied()).collect())
        })
    }

    /// The commits of which a record stands in this part of the file, once for each such record.
    pub(super) fn within(&self, part: &Range<u64>) -> impl Iterator<Item = CommitHash> {
        let is_in = |start: u64, end: u64| start < part.end && end > part.start;
        let extent = self.extent.as_ref();
        let may_be = extent.is_some_and(|extent| is_in(extent.start, extent.end));
        let first = if may_be { &self.first[..] } else { &[] };
        first
            .iter()
            .enumerate()
            .flat_map(move |(at, (commit, first))| {
                let more = self.more.get(&at).into_iter().flatten();
                let records = [first].into_iter().chain(more);
                let here =
                    records.filter(move |it| is_in(it.offset, it.offset.saturating_add(it.len)));
                here.map(|_| *commit)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn commit(number: u8) -> CommitHash {
        CommitHash::from_bytes([number; 32])
    }

    #[test]
    fn records_come_back_in_their_order_and_are_found_by_their_place() {
        let span = |offset, len| Span { offset, len };
        let mut records = CommitRecords::default();
        records.push(commit(1), &[span(10, 5)]);
        records.push(commit(2), &[]);
        records.push(commit(3), &[span(40, 5), span(12, 2), span(90, u64::MAX)]);
        records.push(commit(3), &[span(20, 1)]);
        let all: Vec<_> = records.iter().collect();
        let last = (commit(3), vec![span(20, 1)]);
        assert_eq!(all[0], (commit(1), vec![span(10, 5)]));
        assert_eq!(all[1].1, [span(40, 5), span(12, 2), span(90, u64::MAX)]);
        assert_eq!(all[2], last);
        let within = |part| records.within(&part).collect::<Vec<_>>();
        assert_eq!(within(10..14), [commit(1), commit(3)]);
        assert_eq!(within(20..21), [commit(3)]);
        assert_eq!(within(0..10), []);
        assert_eq!(within(95..96), [commit(3)]);
        assert_eq!(CommitRecords::default().within(&(0..9)).count(), 0);
    }
}
