//! Bringing back what was hidden.
//!
//! Deliberately absent: single hidden parts; the hide that took them is restored whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::plan::{PlanInput, refused};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Operation};

/// Undoes a whole hide or edit; the fold says whether it can be undone.
pub fn whole(target: CommitHash) -> Draft {
    let entries = Vec::new();
    Draft::new(Operation::Restore { target, entries }, Vec::new())
}

/// Brings back hidden entries with their tool partners: one restore for each hide involved.
///
/// # Errors
///
/// [`Error::NotOnPath`](crate::error::Error::NotOnPath) for an unknown entry,
/// [`Error::Refused`](crate::error::Error::Refused) for one that no hide covers.
pub fn entries(input: &PlanInput, named: &[EntryId]) -> Result<Vec<Draft>> {
    let pairs = input.pairs_of_all();
    let mut wanted = BTreeSet::new();
    for id in named {
        let at = input.place(id)?;
        if input.order[at].entry.hidden_by.is_empty() {
            return refused("no hide covers that message");
        }
        wanted.extend(pairs.group_of(at).iter().copied());
    }
    let mut by_hide: BTreeMap<CommitHash, Vec<EntryId>> = BTreeMap::new();
    for at in wanted {
        let entry = &input.order[at].entry;
        for hide in &entry.hidden_by {
            by_hide.entry(*hide).or_default().push(entry.id);
        }
    }
    let draft = |(target, entries)| Draft::new(Operation::Restore { target, entries }, Vec::new());
    Ok(by_hide.into_iter().map(draft).collect())
}
