//! Which messages a copy takes along.

use std::collections::BTreeSet;

use crate::context::plan::PlanInput;
use crate::error::{Error, Refusal, Result};
use crate::hash::ContentHash;
use crate::model::EntryId;

/// The contents to copy, so that the named entries are whole: each with its tool partners and with
/// what is attached to them, hidden or not, in the order of the conversation; what was named first
/// comes first.
///
/// # Errors
///
/// [`Error::NotOnPath`] for an unknown entry; [`Error::Refused`] for a call without a result.
pub fn chosen(input: &PlanInput, entries: &[EntryId]) -> Result<Vec<ContentHash>> {
    let pairs = input.pairs_of_contents();
    let mut taken = BTreeSet::new();
    let mut contents = Vec::new();
    for id in entries {
        let group = pairs.group_of(input.place(id)?);
        let mut with: BTreeSet<usize> = group.iter().copied().collect();
        with.extend(input.attached_to(&with));
        for at in with {
            let entry = &input.order[at];
            if pairs.is_open(at) {
                let commit = entry.commit();
                return Err(Error::Refused(Refusal::CallOpen { commit }));
            }
            if taken.insert(at) {
                contents.push(entry.entry.content);
            }
        }
    }
    Ok(contents)
}

/// Refuses to add anything while a call waits for its result at the end of the context.
///
/// # Errors
///
/// [`Error::Refused`].
pub fn refuse_open(input: &PlanInput) -> Result<()> {
    let pairs = input.pairs();
    let turn = input.visible().rev();
    let mut turn = turn.take_while(|at| {
        let entry = &input.order[*at];
        !entry.is_users() || !entry.links.results.is_empty()
    });
    match turn.find(|at| pairs.is_open(*at)) {
        None => Ok(()),
        Some(at) => {
            let commit = input.order[at].commit();
            Err(Error::Refused(Refusal::CallOpen { commit }))
        }
    }
}
