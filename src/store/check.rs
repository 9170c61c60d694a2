//! What a check finds wrong, whatever engine read it. Deliberately absent: which rows are read, and what is
//! damaged in an engine's own ways.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::{Columns, get};
use super::{Checked, Fault};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Commit, Operation, Span};

/// Who is told of faults and of progress.
pub(super) type Tell<'a> = &'a mut dyn FnMut(Checked, Option<Fault>);

/// Where a ref is: the row of a commit, or another ref's name; neither: it is not there.
pub(super) type At = (Option<i64>, Option<Vec<u8>>);

/// Such a place in two columns.
pub(super) fn at(row: &impl Columns, first: usize) -> Result<At> {
    Ok((get(row, first)?, get(row, first + 1)?))
}

/// Refs against the log of their moves.
pub(super) struct RefLogs {
    refs: BTreeMap<String, At>,
    /// Where the last move has put each, and whether one before it did not begin where its predecessor ended.
    logs: BTreeMap<String, (At, bool)>,
}

impl RefLogs {
    pub(super) fn of(refs: Vec<(String, At)>) -> Self {
        Self {
            refs: refs.into_iter().collect(),
            logs: BTreeMap::new(),
        }
    }

    /// Takes the next move in a row: the ref's name, where it was, where it is.
    pub(super) fn moved(&mut self, row: &impl Columns) -> Result<()> {
        let (was, has_gap) = self.logs.entry(get(row, 0)?).or_default();
        *has_gap |= *was != at(row, 1)?;
        *was = at(row, 3)?;
        Ok(())
    }

    /// What is wrong, of refs that were deleted too.
    pub(super) fn faults(self) -> Vec<Fault> {
        let names: BTreeSet<&String> = self.refs.keys().chain(self.logs.keys()).collect();
        let nowhere = At::default();
        let faults = names.into_iter().filter_map(|name| {
            let log = self.logs.get(name);
            let (last, has_gap) = log.map_or((&nowhere, false), |(at, gap)| (at, *gap));
            let is_there = self.refs.get(name).unwrap_or(&nowhere) == last;
            let why = match (has_gap, is_there) {
                (false, true) => return None,
                (true, _) => "its log has a gap",
                (false, false) => "it is not where its log says",
            };
            let name = name.clone();
            Some(Fault::Ref { name, why })
        });
        faults.collect()
    }
}

/// A commit beside its parent, as a check reads them: its hash, text and depth, its parent's hash and depth, the
/// hash of what its row says it appends, and whether its lineage goes on where the parent's does, or began there.
pub(super) struct Judged {
    pub(super) hash: CommitHash,
    /// None where its text is not what was written.
    pub(super) commit: Option<Commit>,
    /// Whether it stands where its parent says.
    pub(super) is_placed: bool,
    /// Whether it appends what its row says.
    pub(super) appends: bool,
}

impl Judged {
    pub(super) fn read(row: &impl Columns, first: usize) -> Result<Self> {
        let hash: CommitHash = get(row, first)?;
        let text = row.text(first + 1).ok();
        let text = text.filter(|text| hash.names(text.as_bytes()));
        let mut judged = Self {
            hash,
            commit: text.and_then(|text| Commit::from_canonical(text).ok()),
            is_placed: false,
            appends: false,
        };
        let Some(commit) = &judged.commit else {
            return Ok(judged);
        };
        let parent: Option<CommitHash> = get(row, first + 3)?;
        let above: Option<i64> = get(row, first + 4)?;
        let depth = above.map_or(0, |above| above + 1);
        judged.is_placed =
            parent == commit.parent && row.number(first + 2)? == depth && row.flag(first + 6)?;
        let appended: Option<ContentHash> = get(row, first + 5)?;
        let named = match commit.operation {
            Operation::Append { content } => Some(content),
            _ => None,
        };
        judged.appends = appended == named;
        Ok(judged)
    }
}

/// Whether a record lies within a source of so many bytes.
pub(super) fn is_inside(span: &Span, size_bytes: u64) -> bool {
    let end = span.offset.checked_add(span.len);
    end.is_some_and(|end| end <= size_bytes)
}
