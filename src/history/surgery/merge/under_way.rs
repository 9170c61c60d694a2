//! A merge that has met conflicts: what it is of, and what was settled of it. It is remembered by its branch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::context::plan::carry::Whose;
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::history::call::{Call, On};
use crate::history::repo::{self, Repo};
use crate::history::surgery::merge::{Merge, MergeConflict, MergeForm, MergeOptions};
use crate::model::{EntryId, Head};
use crate::store::View;

/// A merge that is under way on a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderWay {
    /// The end of the other path.
    pub theirs: CommitHash,
    /// What people call it.
    pub name: String,
    pub(super) form: String,
    pub(super) unrelated: bool,
    /// Whose change holds, by the messages here.
    pub(super) settled: BTreeMap<EntryId, Side>,
}

/// Whose change of a message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Side {
    Ours,
    Theirs,
}

impl Side {
    pub(super) fn whose(self) -> Whose {
        match self {
            Self::Ours => Whose::Ours,
            Self::Theirs => Whose::Theirs,
        }
    }
}

impl UnderWay {
    /// What it brings.
    pub fn form(&self) -> MergeForm {
        let mut forms = MergeForm::ALL.into_iter();
        forms
            .find(|form| form.as_str() == self.form)
            .unwrap_or_default()
    }

    /// How many messages were settled.
    pub fn resolved(&self) -> usize {
        self.settled.len()
    }
}

/// The merge that is under way where HEAD is, if any.
pub(crate) fn under_way(view: &dyn View, head: &Head) -> Result<Option<UnderWay>> {
    let Head::Attached { branch, .. } = head else {
        return Ok(None);
    };
    let read = |text: String| {
        let read = serde_json::from_str(&text);
        read.map_err(|error| Error::damaged(format!("the merge under way: {error}")))
    };
    view.merging(branch)?.map(read).transpose()
}

impl Repo {
    /// The merge that is under way on a branch, if any.
    pub fn merge_under_way(&self, on: &On) -> Result<Option<UnderWay>> {
        let view = self.store.read()?;
        under_way(&*view, &repo::head(&*view, on)?)
    }

    pub(super) fn must_be_under_way(&self, on: &On) -> Result<UnderWay> {
        let under_way = self.merge_under_way(on)?;
        under_way.ok_or(Error::Refused(Refusal::NoMerge))
    }

    pub(super) fn put_under_way(&self, on: &On, what: Option<&UnderWay>) -> Result<()> {
        let tx = self.store.write()?;
        let branch = match repo::head(&*tx, on)? {
            Head::Attached { branch, .. } => branch,
            Head::Detached(_) => return Ok(()),
        };
        let text = what.map(|what| serde_json::to_string(what).expect("strings are JSON"));
        tx.set_merging(&branch, text.as_deref())?;
        tx.commit()
    }

    /// Says whose change of these messages holds in the merge that is under way. Gives the conflicts that are left.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where none is under way, or both paths did not change one of these messages differently.
    pub fn merge_resolve(
        &self,
        call: Call<'_>,
        entries: &[EntryId],
        whose: Whose,
    ) -> Result<Vec<MergeConflict>> {
        let mut under_way = self.must_be_under_way(call.on)?;
        let mut open = self.merge_conflicts(call)?;
        let side = match whose {
            Whose::Ours => Side::Ours,
            Whose::Theirs => Side::Theirs,
        };
        for entry in entries {
            let is_open = open.iter().any(|conflict| conflict.clash.here == *entry);
            if !is_open && !under_way.settled.contains_key(entry) {
                let commit = entry.commit.short();
                return Err(Error::Refused(Refusal::NoConflict { commit }));
            }
            under_way.settled.insert(*entry, side);
        }
        self.put_under_way(call.on, Some(&under_way))?;
        open.retain(|conflict| !entries.contains(&conflict.clash.here));
        Ok(open)
    }

    /// What is still in conflict in the merge that is under way.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where none is under way.
    pub fn merge_conflicts(&self, call: Call<'_>) -> Result<Vec<MergeConflict>> {
        let mut options = MergeOptions::default();
        options.surgery.dry_run = true;
        match self.merge_on(call, &options, None)? {
            Merge::Conflicts(conflicts) => Ok(conflicts),
            _ => Ok(Vec::new()),
        }
    }

    /// Gives the merge up that is under way: nothing of it was written.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where none is.
    pub fn merge_abort(&self, on: &On) -> Result<UnderWay> {
        let under_way = self.must_be_under_way(on)?;
        self.put_under_way(on, None)?;
        Ok(under_way)
    }
}
