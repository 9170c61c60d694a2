//! What becomes of a merge that is under way: conflicts settled, and the whole given up.

use crate::context::plan::carry::Whose;
use crate::error::{Error, Refusal, Result};
use crate::model::EntryId;
use crate::repo::call::{Call, On};
use crate::repo::merge_state::{Side, UnderWay};
use crate::repo::repository::Repo;
use crate::rewrite::merge::{Merge, MergeConflict, MergeOptions};

impl Repo {
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
