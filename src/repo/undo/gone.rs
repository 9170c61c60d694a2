//! What a purge has to do with an undo: one that would show what is gone is refused, and no other.

use std::collections::{HashMap, HashSet};

use super::point::{UndoPoint, done_since};
use super::{OperationEntry, is_unattended};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::RefValue;
use crate::repo::load;
use crate::store::View;

/// What was done before a purge is not undone, nor done again, where that would show what is gone.
pub(super) fn refuse_purged(view: &dyn View, to: &OperationEntry) -> Result<()> {
    match view.last_purge()? {
        Some(purge) if to.operation.id <= purge => {}
        _ => return Ok(()),
    }
    if Gone::now(view).is_shown_by(to)? {
        return Err(Error::Purged);
    }
    Ok(())
}

/// The operations that could be undone, and could not once these contents are erased, newest first.
pub(crate) fn ended_by(
    view: &dyn View,
    contents: HashSet<ContentHash>,
) -> Result<Vec<OperationEntry>> {
    let unreached = view.by_reach(&view.named_commits()?)?.unreached;
    let mut then = Gone {
        contents,
        commits: unreached.into_iter().map(|row| row.hash).collect(),
        ..Gone::now(view)
    };
    let mut now = Gone::now(view);
    let mut ended = Vec::new();
    for one in done_since(view, UndoPoint::After(0))? {
        if is_unattended(&one.operation) {
            continue;
        }
        if then.is_shown_by(&one)? && !now.is_shown_by(&one)? {
            ended.push(one);
        }
    }
    Ok(ended)
}

/// What is erased, or would be.
pub(super) struct Gone<'a> {
    view: &'a dyn View,
    /// Beside what is erased already.
    contents: HashSet<ContentHash>,
    commits: HashSet<CommitHash>,
    /// What is gone of what the context at each commit shows; none where the commit itself is gone.
    shown: HashMap<CommitHash, Option<HashSet<ContentHash>>>,
}

impl<'a> Gone<'a> {
    pub(super) fn now(view: &'a dyn View) -> Self {
        Self {
            view,
            contents: HashSet::new(),
            commits: HashSet::new(),
            shown: HashMap::new(),
        }
    }

    /// Whether an undo, or a redo, shows anything that is gone and was not shown before.
    pub(super) fn is_shown_by(&mut self, to: &OperationEntry) -> Result<bool> {
        for row in to.moved() {
            let (from, to) = if to.undone {
                (row.new, row.old)
            } else {
                (row.old, row.new)
            };
            let Some(RefValue::Commit(to)) = to else {
                continue;
            };
            let Some(after) = self.shown(&to)? else {
                return Ok(true);
            };
            let before = match from.and_then(|from| from.commit()) {
                Some(from) => self.shown(&from)?.unwrap_or_default(),
                None => HashSet::new(),
            };
            if !after.is_subset(&before) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn shown(&mut self, commit: &CommitHash) -> Result<Option<HashSet<ContentHash>>> {
        if let Some(shown) = self.shown.get(commit) {
            return Ok(shown.clone());
        }
        let is_here = !self.commits.contains(commit) && self.view.commit(commit)?.is_some();
        let shown = is_here
            .then(|| load::context(self.view, commit))
            .transpose()?;
        let shown = shown.map(|context| {
            let stubs = context.entries.iter().flat_map(|entry| entry.mask.parts());
            let stubs = stubs.filter_map(|part| part.stub);
            let all = context
                .entries
                .iter()
                .map(|entry| entry.content)
                .chain(stubs);
            let all: Vec<ContentHash> = all.collect();
            let erased = all.iter().zip(self.view.purged(&all)?);
            let gone =
                erased.filter(|(content, erased)| *erased || self.contents.contains(content));
            Ok::<_, Error>(gone.map(|(content, _)| *content).collect())
        });
        let shown: Option<HashSet<ContentHash>> = shown.transpose()?;
        self.shown.insert(*commit, shown.clone());
        Ok(shown)
    }
}
