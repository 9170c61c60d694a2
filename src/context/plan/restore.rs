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
        let back: BTreeSet<usize> = (0..input.order.len()).filter(comes_back).collect();
        let mut grown = false;
        // A part that stays hidden brings no partner along.
        let is_there = |(at, part): (usize, Option<usize>)| {
            let entry = &input.order[at].entry;
            let is_hidden = |part: usize| {
                let mut hides = entry.parts_hidden_by.iter();
                // A stub answers its call as well as what it stands for.
                input.order[at].lacks(part)
                    && hides.any(|(hide, of)| *of as usize == part && covers(hide, at))
            };
            let is_whole = !entry.hidden_by.iter().any(|hide| covers(hide, at));
            is_whole && !part.is_some_and(is_hidden)
        };
        let mut lacking = Vec::new();
        for pair in pairs.pairs() {
            let ends = [input.call_of(pair), input.result_of(pair)];
            match ends.map(is_there) {
                [true, false] if back.contains(&ends[0].0) => lacking.push(ends[1]),
                [false, true] if back.contains(&ends[1].0) => lacking.push(ends[0]),
                _ => {}
            }
        }
        for at in input.attached_to(&back) {
            // What went with a message comes back with it; what somebody took out by itself stays.
            for hide in &input.order[at].entry.hidden_by {
                grown |= undone.contains_key(hide) && add(undone, *hide, at);
            }
        }
        for (at, part) in lacking {
            let entry = &input.order[at].entry;
            let of_part = entry.parts_hidden_by.iter();
            let of_part = of_part.filter(|(_, of)| part == Some(*of as usize));
            for hide in entry.hidden_by.iter().chain(of_part.map(|(hide, _)| hide)) {
                grown |= add(undone, *hide, at);
            }
        }
        if !grown {
            return;
        }
    }
}
