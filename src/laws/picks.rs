//! The laws of copies: whatever is copied from wherever, all that stood before stays as it is.

use proptest::prelude::*;

use super::commands::{Draw, command};
use crate::context::{Order, OrderEntry};
use crate::error::Error;
use crate::hash::CommitHash;
use crate::model::pairs::{Links, Pairs};
use crate::model::{EntryId, Message, Millis};
use crate::repo::{Call, On, Repo, load};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Lost, Picked};

fn messages(repo: &Repo, tip: &CommitHash) -> Vec<Message> {
    let context = repo.context(tip).expect("a context");
    repo.messages(&context).expect("its messages")
}

/// Checks what a copy did to what was there; `after` are the messages now.
fn is_appended(before: &[Message], after: &[Message]) -> Result<(), TestCaseError> {
    prop_assert!(after.len() > before.len(), "something was copied");
    prop_assert_eq!(
        &after[..before.len()],
        before,
        "what stood before is as it was"
    );
    let copies: Vec<Links> = after[before.len()..].iter().map(Links::of).collect();
    let pairs = Pairs::new(&copies);
    for at in 0..copies.len() {
        prop_assert!(!pairs.is_open(at), "a copied call has its result");
    }
    Ok(())
}

/// A history, and a message that it hides.
struct Hiding {
    repo: Repo,
    tip: CommitHash,
    order: Order,
    id: EntryId,
}

/// What the draws make, where it hides anything.
fn hiding(draws: Vec<Draw>, chosen: u8) -> Option<Hiding> {
    let repo = super::repository();
    for (at, draw) in draws.into_iter().enumerate() {
        let _ = command(&repo, draw, Millis(at as i64));
    }
    let tip = repo.head(&On::Head).expect("a head").commit()?;
    let order = repo.order(&tip).expect("an order");
    let is_hidden = |entry: &OrderEntry| !entry.visible && !entry.hidden_by.is_empty();
    let hidden: Vec<EntryId> = order
        .entries()
        .filter(|entry| is_hidden(entry))
        .map(|entry| entry.id)
        .collect();
    let id = *hidden.get(chosen as usize % hidden.len().max(1))?;
    Some(Hiding {
        repo,
        tip,
        order,
        id,
    })
}

/// Whether a message makes a pair with another, hidden ones among them.
fn has_partner(repo: &Repo, order: &Order, id: &EntryId) -> bool {
    let view = repo.store.read().expect("a view");
    let body = |entry: OrderEntry| load::content(&*view, &entry.content).expect("a body");
    let links: Vec<Links> = order
        .entries()
        .map(|entry| Links::of(&body(entry)))
        .collect();
    let at = order.entries().position(|entry| entry.id == *id);
    let at = at.expect("it is in the order");
    Pairs::new(&links).group_of(at).len() > 1
}

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    #[test]
    fn a_copy_changes_nothing_before_it_and_is_whole(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
        chosen in prop::collection::vec(any::<u8>(), 1..4),
        from in any::<u8>(),
    ) {
        let repo = super::repository();
        let mut tips: Vec<CommitHash> = Vec::new();
        for (at, draw) in draws.into_iter().enumerate() {
            let _ = command(&repo, draw, Millis(at as i64));
            tips.extend(repo.head(&On::Head).expect("a head").commit());
        }
        let Some(tip) = repo.head(&On::Head).expect("a head").commit() else { return Ok(()) };
        let before = messages(&repo, &tip);
        let tip_there = tips[from as usize % tips.len()];
        let order = repo.order(&tip_there).expect("an order");
        let entries: Vec<EntryId> = order.entries().map(|entry| entry.id).collect();
        let pick = |n: &u8| Picked {
            tip: tip_there,
            entry: entries[*n as usize % entries.len()],
            part: None,
        };
        let picked: Vec<Picked> = chosen.iter().map(pick).collect();
        let call = Call::at(Millis(99), "pick");
        let options = SurgeryOptions::default();
        match repo.pick(call, &picked, &options) {
            Ok(done) => {
                let now = repo.resolve(&On::Head, "HEAD").expect("it has a tip");
                let after = messages(&repo, &now);
                is_appended(&before, &after)?;
                prop_assert_eq!(done.kept.messages, before.len());
                let contents: Vec<_> = order.entries().map(|entry| (entry.id, entry.content)).collect();
                let copied: Vec<_> = repo.context(&now).expect("a context").entries.iter()
                    .skip(before.len()).map(|entry| entry.content).collect();
                for one in &picked {
                    let content = contents.iter().find(|(id, _)| *id == one.entry).expect("it is there").1;
                    prop_assert!(copied.contains(&content), "what was named is there");
                }
            }
            // A call without a result, here or there; a detached HEAD.
            Err(Error::Refused(_) | Error::DetachedHead { .. }) => {
                prop_assert_eq!(repo.head(&On::Head).expect("a head").commit(), Some(tip));
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
        repo.second_reading()?;
    }

    #[test]
    fn what_a_hide_took_comes_to_the_end_and_the_hide_stands(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
        chosen in any::<u8>(),
    ) {
        let Some(Hiding { repo, tip, id, .. }) = hiding(draws, chosen) else { return Ok(()) };
        let before = messages(&repo, &tip);
        let picked = repo.lost_messages(&On::Head, &[Lost::Entry(id)]).expect("it is hidden");
        let call = Call::at(Millis(99), "restore --at-end");
        if repo.pick(call, &picked, &SurgeryOptions::default()).is_ok() {
            let now = repo.resolve(&On::Head, "HEAD").expect("it has a tip");
            is_appended(&before, &messages(&repo, &now))?;
            let order = repo.order(&now).expect("an order");
            let own = order.entries().find(|entry| entry.id == id).expect("it stays in the order");
            prop_assert!(!own.visible, "the hide stands");
        }
        repo.second_reading()?;
    }

    /// What is moved is there once, whatever is undone later; all else stays in its order, and no pair
    /// is parted.
    #[test]
    fn what_is_moved_is_there_once_and_parts_nothing(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
        chosen in any::<u8>(),
        place in any::<u8>(),
    ) {
        let Some(Hiding { repo, tip, order, id }) = hiding(draws, chosen) else { return Ok(()) };
        let context = repo.context(&tip).expect("a context");
        let Some(before) = context.entries.get(place as usize % context.entries.len().max(1)) else {
            return Ok(());
        };
        let parted = |tip: &CommitHash| {
            let links: Vec<Links> = messages(&repo, tip).iter().map(Links::of).collect();
            let pairs = Pairs::new(&links);
            let far = |at: &usize| {
                let group = pairs.group_of(*at);
                let (first, last) = (group.iter().min(), group.iter().max());
                last.zip(first).is_some_and(|(last, first)| last - first >= group.len())
            };
            (0..links.len()).filter(far).count()
        };
        let (apart, call) = (parted(&tip), Call::at(Millis(99), "restore --before"));
        let options = SurgeryOptions::default();
        let lost = [Lost::Entry(id)];
        let done = match repo.restore_before(call, &lost, before.id, &options) {
            Ok(done) => done,
            Err(Error::Refused(_) | Error::DetachedHead { .. }) => {
                prop_assert_eq!(repo.head(&On::Head).expect("a head").commit(), Some(tip));
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let hash = done.commits[0].hash;
        let now = repo.context(&hash).expect("a context");
        let all: Vec<EntryId> = now.entries.iter().map(|entry| entry.id).collect();
        let placed: Vec<usize> = (0..all.len()).filter(|at| all[*at].commit == hash).collect();
        prop_assert!(!placed.is_empty() && placed.windows(2).all(|two| two[0] + 1 == two[1]));
        let is_old = |id: &&EntryId| id.commit != hash;
        let (were, stay): (Vec<EntryId>, Vec<EntryId>) = (
            context.entries.iter().map(|entry| entry.id).filter(|id| all.contains(id)).collect(),
            all.iter().filter(is_old).copied().collect(),
        );
        prop_assert_eq!(were, stay, "what stays stays in its order");
        // A result that never had a call may now stand behind one that has its id by chance.
        if has_partner(&repo, &order, &id) {
            prop_assert!(parted(&hash) <= apart, "nothing is parted");
        }
        let is_seen = |tip: &CommitHash| {
            let order = repo.order(tip).expect("an order");
            let own = order.entries().find(|entry| entry.id == id).expect("it stays in the order");
            own.visible
        };
        prop_assert!(!is_seen(&hash));
        let own = order.entries().find(|entry| entry.id == id).expect("it is there");
        for hide in own.hidden_by {
            let call = Call::at(Millis(100), "restore");
            let _ = repo.restore(call, &[Lost::Whole(hide)], &options);
            let tip = repo.resolve(&On::Head, "HEAD").expect("it has a tip");
            prop_assert!(!is_seen(&tip), "it is there once");
        }
        // Undone, it is where it was.
        let call = Call::at(Millis(101), "restore");
        repo.restore(call, &[Lost::Whole(hash)], &options).expect("a move can be undone");
        let tip = repo.resolve(&On::Head, "HEAD").expect("it has a tip");
        let back = repo.context(&tip).expect("a context");
        prop_assert!(back.entries.iter().all(|entry| entry.id.commit != hash));
        repo.second_reading()?;
    }
}
