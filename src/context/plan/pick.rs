//! Which messages a copy takes along, and a move to another place.

use std::collections::BTreeSet;

use crate::context::plan::PlanInput;
use crate::error::{Error, Refusal, Result};
use crate::hash::ContentHash;
use crate::model::{Draft, EntryId, Hide, HideKind, Operation, Replacement};

/// The messages to copy, so that the named entries are whole: each with its tool partners and with
/// what is attached to them, hidden or not, in the order of the conversation; what was named first
/// comes first.
///
/// # Errors
///
/// [`Error::NotOnPath`] for an unknown entry; [`Error::Refused`] for a call without a result.
pub fn chosen(input: &PlanInput, entries: &[EntryId]) -> Result<Vec<(EntryId, ContentHash)>> {
    let places = whole(input, entries)?.into_iter();
    let entries = places.map(|at| &input.order[at].entry);
    Ok(entries.map(|entry| (entry.id, entry.content)).collect())
}

/// Takes the named entries out of their places, with what makes them whole, and puts them right before
/// the entry `before`: a drop whose replacements are what it drops. They are in the order once more,
/// and whichever hide of them is undone later, no message is there twice. Where they would part a call
/// from its result, or a message from what is attached to it, they come before both.
///
/// # Errors
///
/// As [`chosen`]; [`Error::Refused`] where `before` is not visible, or is one of them.
pub fn moved(input: &PlanInput, entries: &[EntryId], before: &EntryId) -> Result<Draft> {
    let places = whole(input, entries)?;
    let taken: BTreeSet<usize> = places.iter().copied().collect();
    let at = input.place(before)?;
    if taken.contains(&at) || !input.order[at].visible() {
        return Err(Error::Refused(Refusal::NoPlace));
    }
    let before = Some(input.order[input.slot_before(at, &taken)].entry.id);
    let place = |at: &usize| Replacement {
        before,
        content: input.order[*at].entry.content,
    };
    let (intervals, keep) = input.intervals(&taken);
    let hide = Hide {
        kind: HideKind::Drop,
        intervals,
        keep,
        parts: Vec::new(),
        replacements: places.iter().map(place).collect(),
    };
    Ok(Draft::new(Operation::Hide(hide), Vec::new()))
}

/// The places of the named entries and of what makes them whole.
fn whole(input: &PlanInput, entries: &[EntryId]) -> Result<Vec<usize>> {
    let pairs = input.pairs_of_contents();
    let mut taken = BTreeSet::new();
    let mut places = Vec::new();
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
                places.push(at);
            }
        }
    }
    Ok(places)
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
