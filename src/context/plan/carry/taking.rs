//! What of a hide of another path can go here: with its pairs whole, and without what stays.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Carry;
use crate::error::Refusal;
use crate::hash::ContentHash;
use crate::model::EntryId;
use crate::model::pairs::Pairs;

/// What of a hide can go here.
pub(super) struct Taking<'a> {
    carry: &'a Carry<'a>,
    pub(super) places: HashMap<EntryId, usize>,
    /// What it takes there.
    pub(super) wanted: BTreeSet<usize>,
    /// What stays whatever happens.
    kept: BTreeSet<usize>,
    /// What goes whole.
    pub(super) chosen: BTreeSet<usize>,
    /// Single parts, by place and number, each with its stub.
    pub(super) parts: BTreeMap<(usize, usize), Option<ContentHash>>,
}

impl<'a> Taking<'a> {
    pub(super) fn new(carry: &'a Carry<'a>) -> Self {
        let order = carry.input.order.iter().enumerate();
        Self {
            carry,
            places: order.map(|(at, one)| (one.entry.id, at)).collect(),
            wanted: BTreeSet::new(),
            kept: BTreeSet::new(),
            chosen: BTreeSet::new(),
            parts: BTreeMap::new(),
        }
    }

    pub(super) fn keep(&mut self, at: usize) {
        self.kept.insert(at);
    }

    /// Takes what is wanted with what it stands and falls with; where that stays, it stays too.
    pub(super) fn settle(&mut self) {
        let input = self.carry.input;
        let pairs = input.pairs();
        let open = |at: &usize| input.order[*at].visible() && pairs.is_open(*at);
        let parted: BTreeSet<usize> = self.parts.keys().map(|(at, _)| *at).collect();
        let waiting = self.wanted.union(&parted).copied().filter(open);
        self.kept.extend(waiting.collect::<Vec<_>>());
        self.chosen = self.wanted.difference(&self.kept).copied().collect();
        self.parts.retain(|(at, _), _| !self.kept.contains(at));
        for at in input.attached_to(&self.chosen) {
            if !self.survives(at, &pairs) {
                self.chosen.insert(at);
            }
        }
        loop {
            let mut is_settled = true;
            for pair in pairs.pairs() {
                let call = (pair.call.0, input.part_of(pair.call, true));
                let result = (pair.result.0, input.part_of(pair.result, false));
                let (goes, stays) = match (self.takes(call), self.takes(result)) {
                    (true, false) => (call, result),
                    (false, true) => (result, call),
                    _ => continue,
                };
                is_settled = false;
                if self.survives(stays.0, &pairs) {
                    self.give_back(goes);
                } else {
                    self.take(stays);
                }
            }
            if is_settled {
                break;
            }
        }
        self.settle_hidden(&pairs);
    }

    /// Leaves what is hidden here already, where a partner of it would stay when it is shown again.
    fn settle_hidden(&mut self, pairs: &Pairs) {
        let input = self.carry.input;
        let hidden = self.chosen.iter().copied();
        let hidden = hidden.filter(|at| !input.order[*at].visible());
        let mut hidden: BTreeSet<usize> = hidden.collect();
        if hidden.is_empty() {
            return;
        }
        let groups = input.groups(&[&input.pairs_of_all()]);
        loop {
            let stays = |at: &usize| !self.chosen.contains(at) && self.survives(*at, pairs);
            let parted = |at: &usize| groups.of(*at).iter().any(stays);
            let Some(at) = hidden.iter().copied().find(parted) else {
                return;
            };
            hidden.remove(&at);
            self.give_back((at, None));
        }
    }

    fn takes(&self, (at, part): (usize, Option<usize>)) -> bool {
        let by_part = part.and_then(|part| self.parts.get(&(at, part)));
        self.chosen.contains(&at) || by_part == Some(&None)
    }

    fn take(&mut self, (at, part): (usize, Option<usize>)) {
        let entry = &self.carry.input.order[at];
        let Some(part) = part else {
            self.chosen.insert(at);
            return;
        };
        self.parts.insert((at, part), None);
        let gone = |part| entry.lacks(part) || self.parts.get(&(at, part)) == Some(&None);
        if (0..entry.parts.len()).all(gone) {
            self.chosen.insert(at);
            self.parts.retain(|(other, _), _| *other != at);
        }
    }

    fn give_back(&mut self, (at, part): (usize, Option<usize>)) {
        self.kept.insert(at);
        if !self.chosen.remove(&at)
            && let Some(part) = part
        {
            self.parts.remove(&(at, part));
        }
    }

    /// Whether an entry stays that the hide does not take there: what stayed there stays here.
    fn survives(&self, at: usize, pairs: &Pairs) -> bool {
        let Carry {
            there,
            counterparts,
            ..
        } = self.carry;
        let entry = &self.carry.input.order[at];
        let stayed = || {
            let original = counterparts.original(there, &entry.entry.id);
            let original = original.and_then(|id| there.entry(&id).ok());
            !self.wanted.contains(&at) && original.is_some_and(|original| original.visible)
        };
        self.kept.contains(&at) || entry.pinned() || pairs.is_open(at) || stayed()
    }

    /// What it takes there and does not take here.
    pub(super) fn spared(&self) -> Vec<usize> {
        let order = &self.carry.input.order;
        let spared = self.wanted.iter().copied();
        let spared = spared.filter(|at| order[*at].visible() && !self.chosen.contains(at));
        spared.collect()
    }

    /// Why nothing goes; none: because that was said.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let (input, pairs) = (self.carry.input, self.carry.input.pairs());
        let first = self.spared().into_iter().next()?;
        let commit = |at: usize| input.order[at].commit();
        if input.order[first].pinned() {
            return Some(Refusal::Pinned {
                commit: commit(first),
            });
        }
        let group = pairs.group_of(first).iter().copied();
        if let Some(at) = group.clone().find(|at| pairs.is_open(*at)) {
            return Some(Refusal::CallOpen { commit: commit(at) });
        }
        let mut others = group.filter(|at| *at != first);
        let pinned = others.clone().find(|at| input.order[*at].pinned());
        match pinned {
            Some(at) => Some(Refusal::PartnerPinned { commit: commit(at) }),
            None => others
                .next()
                .map(|at| Refusal::Parted { commit: commit(at) }),
        }
    }
}
