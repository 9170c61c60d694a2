//! The laws of what is carried from one path to another.

use proptest::prelude::*;

use super::World;
use crate::context::OrderEntry;
use crate::context::plan::PlanEntry;
use crate::context::plan::carry::{Carry, Carryover, Clash, ClashKind, Counterparts, Whose};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Draft, EntryId, Message, Operation, Role};

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
                for (nth, draft) in fit.drafts.into_iter().enumerate() {
                    here.commit(draft).expect("it fits");
                    if nth == 0 {
                        counterparts.insert(commit.0, here.parent.expect("made"));
                    }
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
                            _ => prop_assert_ne!(was.content, is.content),
                        }
                    }
                    continue;
                }
                Carryover::Already | Carryover::Misfit(_) => continue,
            };
            for (nth, draft) in fit.drafts.iter().enumerate() {
                prop_assert!(here.commit(draft.clone()).is_ok(), "{draft:?}");
                if nth == 0 {
                    counterparts.insert(commit.0, here.parent.expect("made"));
                }
            }
            let whole = !matches!(commit.1.operation, Operation::Append { .. } | Operation::Edit { .. });
            if whole {
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
