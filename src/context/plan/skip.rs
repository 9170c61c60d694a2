//! Priorities, with the rule that a skip takes a call's whole group.

use std::collections::BTreeSet;

use crate::context::plan::PlanInput;
use crate::error::{Error, Refusal, Result};
use crate::model::{Draft, EntryId, Operation, Priority};

/// Sets the priority of entries. A skip, and a way back from one, takes whole groups. None: they
/// all have it already, and no reason was given.
///
/// # Errors
///
/// [`Error::NotOnPath`] for an unknown entry;
/// [`Error::Refused`] for a skip that would take a pinned partner or
/// a call that is still open.
pub fn annotate(
    input: &PlanInput,
    entries: &[EntryId],
    priority: Priority,
    reason: Option<&str>,
) -> Result<Option<Draft>> {
    let visible = input.pairs();
    // By either pairing: what an entry stands with in the context may itself stand with more of
    // what is hidden. Pairs of contents: what brings a part back can't undo a skip.
    let groups = input.groups(&[&visible, &input.pairs_of_contents()]);
    let mut targets = BTreeSet::new();
    for id in entries {
        let at = input.place(id)?;
        targets.insert(at);
        let was_skipped = input.order[at].entry.priority == Priority::Skip;
        if priority == Priority::Skip {
            for member in groups.of(at).iter().copied() {
                let commit = input.order[member].commit();
                if member != at && input.order[member].pinned() {
                    return Err(Error::Refused(Refusal::PartnerPinned { commit }));
                }
                if visible.is_open(member) {
                    return Err(Error::Refused(Refusal::CallOpen { commit }));
                }
                targets.insert(member);
            }
        } else if was_skipped {
            let group = groups.of(at).iter().copied();
            targets.extend(group.filter(|at| input.order[*at].entry.priority == Priority::Skip));
        }
    }
    let was_skipped = |at: &usize| input.order[*at].entry.priority == Priority::Skip;
    let attached = input.attached_to(&targets).into_iter();
    let attached: Vec<usize> = match priority {
        Priority::Skip => attached.collect(),
        _ => attached.filter(was_skipped).collect(),
    };
    targets.extend(attached);
    let has = |at: &usize| input.order[*at].entry.priority == priority;
    if targets.is_empty() || (reason.is_none() && targets.iter().all(has)) {
        return Ok(None);
    }
    let targets = targets.iter().map(|at| input.order[*at].entry.id).collect();
    let operation = Operation::Annotate {
        targets,
        priority,
        reason: reason.map(str::to_owned),
    };
    Ok(Some(Draft::new(operation, Vec::new())))
}
