//! What of a context can be taken out, to find out what makes it go wrong.
//!
//! Deliberately absent: what is tried, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::plan::{GonePart, PartLink, PlanInput};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, HideKind, Operation};

/// Visible messages that go together: a call with its results, a message with what is attached to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Their places in the order, ascending.
    pub places: Vec<usize>,
    /// Whether it is a message of the system's.
    pub is_system: bool,
    /// Whether it is what the user asks at the end: nothing follows it.
    pub is_prompt: bool,
}

/// What is taken out of a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// Places of the order.
    pub places: BTreeSet<usize>,
    /// Parts of messages at places of the order.
    pub parts: BTreeSet<(usize, u32)>,
    /// Hides: what they hid comes back.
    pub hides: Vec<CommitHash>,
    /// Request settings, by their keys.
    pub settings: Vec<String>,
}

impl PlanInput {
    /// What goes together of all that is visible, in order.
    pub fn units(&self) -> Vec<Unit> {
        let pairs = self.pairs();
        let mut units: Vec<Unit> = Vec::new();
        let mut of: BTreeMap<usize, usize> = BTreeMap::new();
        let mut host: Option<usize> = None;
        for at in self.visible() {
            let entry = &self.order[at];
            let joined = match pairs.group_of(at).iter().find_map(|one| of.get(one)) {
                Some(unit) => Some(*unit),
                None if entry.attached => host.and_then(|host| of.get(&host).copied()),
                None => None,
            };
            let unit = joined.unwrap_or(units.len());
            if unit == units.len() {
                units.push(Unit {
                    places: Vec::new(),
                    is_system: entry.role.is_system() && !entry.attached,
                    is_prompt: false,
                });
            }
            units[unit].places.push(at);
            of.insert(at, unit);
            if !entry.attached {
                host = Some(at);
            }
        }
        let asks = |at: usize| {
            let entry = &self.order[at];
            entry.is_users() && entry.links.results.is_empty()
        };
        if let Some(last) = host.filter(|last| asks(*last)) {
            units[of[&last]].is_prompt = true;
        }
        units
    }

    /// The parts of a unit that go one without the other: a call goes with its result. None: it has but one.
    pub fn pieces(&self, unit: &Unit) -> Vec<Vec<(usize, u32)>> {
        let mut pieces: Vec<Vec<(usize, u32)>> = Vec::new();
        let pairs = self.pairs();
        for at in unit.places.iter().copied() {
            let entry = &self.order[at];
            for (part, facts) in entry.parts.iter().enumerate() {
                if entry.lacks(part) {
                    continue;
                }
                let answered = pairs.pairs().iter().find_map(|pair| {
                    let result = self.part_of(pair.result, false);
                    let is_it = matches!(facts.link, PartLink::Result(_))
                        && (pair.result.0, Some(part)) == (at, result);
                    let call = self.part_of(pair.call, true)?;
                    is_it.then_some((pair.call.0, call as u32))
                });
                let with =
                    answered.and_then(|call| pieces.iter().position(|piece| piece.contains(&call)));
                match with {
                    Some(piece) => pieces[piece].push((at, part as u32)),
                    None => pieces.push(vec![(at, part as u32)]),
                }
            }
        }
        if pieces.len() > 1 { pieces } else { Vec::new() }
    }

    /// The hides that are in force, in the order in which they are met.
    pub fn active_hides(&self) -> Vec<CommitHash> {
        let mut found: Vec<CommitHash> = Vec::new();
        for entry in &self.order {
            let parts = entry.entry.parts_hidden_by.iter().map(|(hide, _)| hide);
            for hide in entry.entry.hidden_by.iter().chain(parts) {
                if !found.contains(hide) {
                    found.push(*hide);
                }
            }
        }
        found
    }

    /// The commits that take this out; none: there is nothing to take out.
    pub fn without(&self, without: &Without) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for target in without.hides.iter().copied() {
            let entries: Vec<EntryId> = Vec::new();
            let operation = Operation::Restore { target, entries };
            drafts.push(Draft::new(operation, Vec::new()));
        }
        let mut places = without.places.clone();
        let mut parts = without.parts.clone();
        let named: BTreeSet<usize> = parts.iter().map(|(at, _)| *at).collect();
        for at in named {
            let entry = &self.order[at];
            let shown = (0..entry.parts.len()).filter(|part| !entry.lacks(*part));
            let mut shown = shown.map(|part| part as u32);
            if shown.all(|part| parts.contains(&(at, part))) {
                places.insert(at);
            }
        }
        parts.retain(|(at, _)| !places.contains(at));
        if !(places.is_empty() && parts.is_empty()) {
            let gone = parts.into_iter().map(|(at, part)| GonePart {
                at,
                part: part as usize,
                stub: None,
            });
            drafts.push(self.hide(HideKind::Drop, &places, gone.collect(), None));
        }
        if let (false, Some(last)) = (without.settings.is_empty(), self.order.last()) {
            let mut draft = Draft::idle(last.entry.id, last.entry.priority);
            let unset = without.settings.iter();
            draft.settings = unset.map(|key| (key.clone(), "null".to_owned())).collect();
            drafts.push(draft);
        }
        drafts
    }
}
