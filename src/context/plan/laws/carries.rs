//! The laws of what is carried from one path to another.

use proptest::prelude::*;

use super::World;
use crate::context::OrderEntry;
use crate::context::plan::carry::{Carry, Carryover, Clash, ClashKind, Counterparts, Whose};
use crate::context::plan::{PlanEntry, skip};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Draft, EntryId, Message, Operation, Priority, Role};

type Step = (u8, u8, u8);

/// What is said, and what is done to it.
fn steps(most: usize) -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = (prop::bool::weighted(0.4), any::<Step>());
    prop::collection::vec(step, 4..most)
}

impl World {
    fn take(&mut self, (plans, step): (bool, Step)) {
        let (kind, a, b) = step;
        match (plans, kind) {
            (true, 0..40) => {
                let id = self.order.names().nth(a as usize % self.order.len());
                let text = Message::text(Role::User, format!("edited {b}"));
                let edit = Draft::edit(id.expect("in range"), text);
                self.commit(edit).expect("an edit");
            }
            (true, _) => {
                for draft in self.plan(kind, a, b) {
                    self.commit(draft).expect("a plan");
                }
            }
            (false, _) => self.say(step),
        }
    }

    fn begun(steps: Vec<(bool, Step)>) -> Self {
        let mut world = Self::default();
        world.say((1, 0, 0));
        for step in steps {
            world.take(step);
        }
        world
    }

    /// The path up to so many commits.
    fn before(&self, count: usize) -> Self {
        let mut world = Self {
            messages: self.messages.clone(),
            serial: self.serial,
            ..Self::default()
        };
        for (hash, commit) in &self.path[..count] {
            world.order.apply(*hash, commit).expect("it did before");
            world.parent = Some(*hash);
            world.path.push((*hash, commit.clone()));
        }
        world
    }

    /// What a commit of another path, which is at its parent, is here.
    fn carried(
        &self,
        there: &World,
        commit: &(CommitHash, crate::model::Commit),
        counterparts: &Counterparts,
        whose: Option<Whose>,
    ) -> Carryover {
        let carry = Carry {
            there: &there.order,
            here: &self.order,
            input: &self.input(),
            counterparts,
        };
        let carried = carry.operation(&commit.0, &commit.1.operation, &|_: &Clash| whose);
        carried.expect("it names what is there")
    }

    fn seen(&self) -> Vec<(ContentHash, crate::context::Mask, crate::model::Priority)> {
        let context = self.order.context();
        let seen = context.entries.iter();
        seen.map(|entry| (entry.content, entry.mask.clone(), entry.priority))
            .collect()
    }
}

/// Carries what the other path has from `from` on over to `here`; nothing may be refused.
fn carry_all(here: &mut World, there: &World, from: usize) -> Result<Counterparts, TestCaseError> {
    let mut counterparts = Counterparts::default();
    let mut then = there.before(from);
    here.serial += 1_000;
    for (at, commit) in there.path.iter().enumerate().skip(from) {
        match here.carried(&then, commit, &counterparts, None) {
            Carryover::Fits(fit) => {
                prop_assert!(
                    fit.missing.is_empty() && fit.spared.is_empty(),
                    "{at}: {fit:?}"
                );
                for draft in fit.drafts {
                    here.commit(draft).expect("it fits");
                    counterparts.insert(commit.0, here.parent.expect("made"));
                }
            }
            Carryover::Already => {}
            other => prop_assert!(false, "{at} {:?}: {other:?}", commit.1.operation),
        }
        then = there.before(at + 1);
    }
    Ok(counterparts)
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// What is carried over to where it began gives the same context.
    #[test]
    fn what_is_carried_to_its_own_beginning_comes_to_the_same(
        steps in steps(24),
        from in any::<prop::sample::Index>(),
    ) {
        let there = World::begun(steps);
        let from = 1 + from.index(there.path.len());
        let mut here = there.before(from);
        carry_all(&mut here, &there, from)?;
        prop_assert_eq!(here.seen(), there.seen());
        prop_assert_eq!(here.split().len(), there.split().len());
    }

    /// What is done already is not done again, by its own name or by that of what stands for it.
    #[test]
    fn what_is_carried_to_where_it_is_done_changes_nothing(steps in steps(24), copied in any::<bool>()) {
        let there = World::begun(steps);
        let last = there.path.len() - 1;
        let commit = &there.path[last];
        if matches!(commit.1.operation, Operation::Append { .. }) {
            return Ok(());
        }
        let mut here = there.clone();
        let mut counterparts = Counterparts::default();
        if copied {
            here = there.before(1);
            counterparts = carry_all(&mut here, &there, 1)?;
        }
        let again = here.carried(&there.before(last), commit, &counterparts, None);
        prop_assert!(matches!(again, Carryover::Already), "{:?}: {again:?}", commit.1.operation);
    }

    /// Carried to a path that has gone another way, a hide hides what it hid there and nothing that stayed
    /// there, and whatever is carried parts no pair.
    #[test]
    fn what_is_carried_elsewhere_does_there_what_it_did(
        shared in steps(16),
        theirs in prop::collection::vec((prop::bool::weighted(0.7), any::<Step>()), 1..8),
        ours in prop::collection::vec((prop::bool::weighted(0.4), any::<Step>()), 1..10),
        whose in prop::option::of(prop::bool::ANY),
    ) {
        let base = World::begun(shared);
        let (mut there, mut here) = (base.clone(), base.clone());
        here.serial += 1_000;
        theirs.into_iter().for_each(|step| there.take(step));
        ours.into_iter().for_each(|step| here.take(step));
        here.messages.extend(there.messages.clone());
        let whose = whose.map(|ours| if ours { Whose::Ours } else { Whose::Theirs });
        let mut counterparts = Counterparts::default();
        for (at, commit) in there.path.iter().enumerate().skip(base.path.len()) {
            let (then, after) = (there.before(at), there.before(at + 1));
            let (before, split) = (here.clone(), here.split());
            let fit = match here.carried(&then, commit, &counterparts, whose) {
                Carryover::Fits(fit) => fit,
                Carryover::Conflict(clashes) => {
                    prop_assert!(whose.is_none() && !clashes.is_empty());
                    for clash in clashes {
                        let (was, is) = (then.order.entry(&clash.there), here.order.entry(&clash.here));
                        let (was, is) = (was.expect("there"), is.expect("here"));
                        match clash.kind {
                            ClashKind::Priority => prop_assert_ne!(was.priority, is.priority),
                            ClashKind::SummedUp => prop_assert!(was.visible && !is.visible),
                            ClashKind::HiddenHere => {
                                prop_assert!(was.visible && (!is.visible || is.mask != was.mask));
                            }
                            _ => prop_assert_ne!(was.content, is.content),
                        }
                    }
                    continue;
                }
                Carryover::Already | Carryover::Misfit(_) => continue,
            };
            for draft in &fit.drafts {
                prop_assert!(here.commit(draft.clone()).is_ok(), "{draft:?}");
                counterparts.insert(commit.0, here.parent.expect("made"));
            }
            if let (Operation::Edit { target, .. }, Some(Whose::Theirs)) = (&commit.1.operation, whose) {
                let was = then.order.entry(target).expect("it is there");
                let stands = counterparts.entry(&here.order, &was.id).expect("it fits");
                let is = here.order.entry(&stands).expect("it is here");
                let seen = is.visible || is.priority == Priority::Skip || !is_own_hide(&is, &then, &counterparts);
                prop_assert!(!was.visible || seen, "{} is edited there and hidden still", is.id);
            }
            let whole = !matches!(commit.1.operation, Operation::Append { .. } | Operation::Edit { .. });
            // Ids come again: a plan sees pairs of visible messages, this law those of all.
            let is_whole_there = after.split().is_subset(&then.split());
            if whole && is_whole_there {
                prop_assert!(here.split().is_subset(&split), "a pair is split by {:?}", commit.1.operation);
            }
            if let Operation::Hide(hide) = &commit.1.operation {
                let covered = then.order.covered(hide).expect("it is there");
                for entry in here.input().order.iter().map(|one: &PlanEntry| &one.entry) {
                    let id = original(&there, entry, &counterparts, &here);
                    let Some(was) = id.and_then(|id| then.order.entry(&id).ok()) else { continue };
                    let is = after.order.entry(&was.id).expect("it stays in the order");
                    if covered.contains(&was.id) {
                        let spared = fit.spared.contains(&entry.id) || whose == Some(Whose::Ours);
                        prop_assert!(!entry.visible || spared, "{} is seen still", entry.id);
                    } else if was.visible && is.visible {
                        let own = before.order.entry(&entry.id).expect("it was there");
                        prop_assert_eq!(own.visible, entry.visible, "{} stayed there", entry.id);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// What a hide takes there is hidden here by a hide of its kind, whatever else hides it here: so it stays hidden when
    /// that is restored.
    #[test]
    fn what_is_hidden_there_is_hidden_here_by_its_kind(
        shared in steps(16),
        theirs in prop::collection::vec((prop::bool::weighted(0.7), any::<Step>()), 1..8),
        ours in prop::collection::vec((prop::bool::weighted(0.6), any::<Step>()), 1..10),
    ) {
        let base = World::begun(shared);
        let (mut there, mut here) = (base.clone(), base.clone());
        here.serial += 1_000;
        theirs.into_iter().for_each(|step| there.take(step));
        ours.into_iter().for_each(|step| here.take(step));
        here.messages.extend(there.messages.clone());
        let mut counterparts = Counterparts::default();
        for (at, commit) in there.path.iter().enumerate().skip(base.path.len()) {
            let then = there.before(at);
            let pairs = here.input().pairs_of_all();
            let places: Vec<EntryId> = here.order.names().collect();
            match here.carried(&then, commit, &counterparts, Some(Whose::Theirs)) {
                Carryover::Fits(fit) => for draft in fit.drafts {
                    here.commit(draft).expect("it fits");
                    counterparts.insert(commit.0, here.parent.expect("made"));
                },
                Carryover::Already => {}
                _ => continue,
            }
            let Operation::Hide(hide) = &commit.1.operation else { continue };
            for id in then.order.covered(hide).expect("it is there") {
                let Some(stands) = counterparts.entry(&here.order, &id) else { continue };
                let is = here.order.entry(&stands).expect("it is here");
                let place = places.iter().position(|place| *place == stands);
                let is_alone = place.is_some_and(|place| pairs.group_of(place).len() < 2);
                // A pin, and a partner that stays, keep it from the hide.
                let stays = is.visible || is.priority == Priority::Pinned || !is_alone;
                if stays || !then.order.entry(&id).expect("it is there").visible {
                    continue;
                }
                let mut kinds = is.hidden_by.iter().map(|of| here.order.kind_of(of));
                prop_assert!(kinds.any(|kind| kind == Some(hide.kind)), "{} by no {:?}", is.id, hide.kind);
            }
        }
    }
}

/// Whether it is hidden, and by nothing that the other path has done.
fn is_own_hide(here: &OrderEntry, there: &World, counterparts: &Counterparts) -> bool {
    let is_there = |hide: &CommitHash| {
        let mut path = there.path.iter().map(|(commit, _)| commit);
        path.any(|commit| commit == hide || counterparts.here(commit) == *hide)
    };
    !here.hidden_by.is_empty() && !here.hidden_by.iter().any(is_there)
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// Whatever is hidden there: what is pinned here stays as it is, and so does what calls and waits here.
    #[test]
    fn what_is_pinned_or_waits_here_stays(
        shared in steps(16),
        theirs in prop::collection::vec((prop::bool::weighted(0.8), any::<Step>()), 1..8),
        pins in prop::collection::vec(any::<u8>(), 1..4),
        ours in prop::collection::vec(any::<Step>(), 0..4),
        whose in any::<bool>(),
    ) {
        let base = World::begun(shared);
        let (mut there, mut here) = (base.clone(), base.clone());
        here.serial += 1_000;
        theirs.into_iter().for_each(|step| there.take(step));
        ours.into_iter().for_each(|step| here.say(step));
        let names: Vec<EntryId> = here.order.names().collect();
        for pin in pins {
            let id = names[pin as usize % names.len()];
            let pin = skip::annotate(&here.input(), &[id], Priority::Pinned, None);
            if let Ok(Some(pin)) = pin {
                here.commit(pin).expect("a pin");
            }
        }
        here.messages.extend(there.messages.clone());
        let whose = if whose { Whose::Ours } else { Whose::Theirs };
        let mut counterparts = Counterparts::default();
        for (at, commit) in there.path.iter().enumerate().skip(base.path.len()) {
            let before = here.input();
            let then = there.before(at);
            let Carryover::Fits(fit) = here.carried(&then, commit, &counterparts, Some(whose)) else { continue };
            for draft in fit.drafts {
                here.commit(draft).expect("it fits");
                counterparts.insert(commit.0, here.parent.expect("made"));
            }
            if !matches!(commit.1.operation, Operation::Hide(_)) {
                continue;
            }
            let pairs = before.pairs();
            for (at, was) in before.order.iter().enumerate().filter(|(_, was)| was.visible()) {
                let is = here.order.entry(&was.entry.id).expect("it stays in the order");
                let (pinned, waits) = (was.pinned(), pairs.is_open(at));
                if pinned || waits {
                    let same = is.visible && is.mask == was.entry.mask;
                    prop_assert!(same, "{} (pinned: {}, waits: {})", is.id, pinned, waits);
                }
            }
        }
    }
}

/// What an entry here stands for there.
fn original(
    there: &World,
    entry: &OrderEntry,
    counterparts: &Counterparts,
    here: &World,
) -> Option<EntryId> {
    let mut names = there.order.names();
    names.find(|id| {
        let commit = counterparts.here(&id.commit);
        *id == entry.id
            || (commit == entry.id.commit
                && id.index == entry.id.index
                && here.order.has(&entry.id))
    })
}
