//! Bringing back what was hidden, with the tool partners without which it would not be whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::plan::PlanInput;
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Operation, Priority};

/// What is to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lost {
    /// All that a hide took, or what an edit replaced.
    Whole(CommitHash),
    /// A hidden entry; one that is visible gets its hidden parts back.
    Entry(EntryId),
    /// A hidden part. A restore knows entries, so all that the same hide took of this entry comes
    /// back.
    Part(EntryId, u32),
}

/// What of a hide is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Scope {
    Whole,
    /// Only for the entries at these places.
    Only(BTreeSet<usize>),
}

/// Undoes hides and edits, wholly or for single entries: one restore for each. Whatever becomes
/// visible brings its tool partners along, whichever hide took them. Whether a hide or an edit can
/// be undone is the fold's to say.
///
/// # Errors
///
/// [`Error::NotOnPath`] for an unknown entry,
/// [`Error::Refused`] for an entry or a part that no hide covers.
pub fn restore(input: &PlanInput, lost: &[Lost]) -> Result<Vec<Draft>> {
    let mut undone: BTreeMap<CommitHash, Scope> = BTreeMap::new();
    for lost in lost {
        let (at, hides, not_hidden): (usize, Vec<CommitHash>, Refusal) = match lost {
            Lost::Whole(commit) => {
                undone.insert(*commit, Scope::Whole);
                continue;
            }
            Lost::Entry(id) => {
                let at = input.place(id)?;
                let entry = &input.order[at].entry;
                let parts = entry.parts_hidden_by.iter().map(|(hide, _)| *hide);
                let hides = match entry.hidden_by.as_slice() {
                    [] => parts.collect(),
                    covers => covers.to_vec(),
                };
                match entry.priority {
                    Priority::Skip => (at, hides, Refusal::Skipped),
                    _ => (at, hides, Refusal::NotHidden),
                }
            }
            Lost::Part(id, part) => {
                let at = input.place(id)?;
                let hides = input.order[at].entry.parts_hidden_by.iter();
                let hides = hides.filter(|(_, hidden)| hidden == part);
                let hides = hides.map(|(hide, _)| *hide).collect();
                (at, hides, Refusal::PartNotHidden)
            }
        };
        if hides.is_empty() {
            return Err(Error::Refused(not_hidden));
        }
        for hide in hides {
            add(&mut undone, hide, at);
        }
    }
    Ok(drafts(input, undone))
}

/// Undoes one hide for single entries, with the tool partners of what becomes visible.
///
/// # Errors
///
/// [`Error::NotOnPath`] for an unknown entry.
pub(crate) fn partly(
    input: &PlanInput,
    hide: &CommitHash,
    entries: &[EntryId],
) -> Result<Vec<Draft>> {
    let mut undone = BTreeMap::new();
    for at in input.places(entries)? {
        add(&mut undone, *hide, at);
    }
    Ok(drafts(input, undone))
}

/// One restore for each of these, and for what else has to come back with them.
fn drafts(input: &PlanInput, mut undone: BTreeMap<CommitHash, Scope>) -> Vec<Draft> {
    grow(input, &mut undone);
    let id = |at: &usize| input.order[*at].entry.id;
    let draft = |(target, scope)| {
        let entries = match scope {
            Scope::Whole => Vec::new(),
            Scope::Only(places) => places.iter().map(id).collect(),
        };
        Draft::new(Operation::Restore { target, entries }, Vec::new())
    };
    undone.into_iter().map(draft).collect()
}

/// Undoes `hide` for the entry at `at` too. Whether that is new.
fn add(undone: &mut BTreeMap<CommitHash, Scope>, hide: CommitHash, at: usize) -> bool {
    let scope = undone
        .entry(hide)
        .or_insert_with(|| Scope::Only(BTreeSet::new()));
    match scope {
        Scope::Whole => false,
        Scope::Only(places) => places.insert(at),
    }
}

/// Takes in the tool partners of all that becomes visible, until nothing new comes of it.
fn grow(input: &PlanInput, undone: &mut BTreeMap<CommitHash, Scope>) {
    let pairs = input.pairs_of_contents();
    loop {
        let covers = |hide: &CommitHash, at: usize| match undone.get(hide) {
            None => true,
            Some(Scope::Whole) => false,
            Some(Scope::Only(places)) => !places.contains(&at),
        };
        let comes_back = |at: &usize| {
            let entry = &input.order[*at].entry;
            let hides = || {
                let parts = entry.parts_hidden_by.iter().map(|(hide, _)| hide);
                entry.hidden_by.iter().chain(parts)
            };
            let shown = !entry.hidden_by.iter().any(|hide| covers(hide, *at));
            shown && hides().any(|hide| !covers(hide, *at))
        };
        let back: Vec<usize> = (0..input.order.len()).filter(comes_back).collect();
        let mut grown = false;
        for at in input.attached_to(&back.iter().copied().collect()) {
            // What went with a message comes back with it; what somebody took out by itself stays.
            for hide in &input.order[at].entry.hidden_by {
                grown |= undone.contains_key(hide) && add(undone, *hide, at);
            }
        }
        for at in back {
            for partner in pairs.group_of(at) {
                let entry = &input.order[*partner].entry;
                for hide in &entry.hidden_by {
                    grown |= add(undone, *hide, *partner);
                }
                // A stub answers its call as well as what it stands for.
                let lacks = |part: &u32| input.order[*partner].lacks(*part as usize);
                for (hide, part) in &entry.parts_hidden_by {
                    if lacks(part) && undone.contains_key(hide) {
                        grown |= add(undone, *hide, *partner);
                    }
                }
            }
        }
        if !grown {
            return;
        }
    }
}
