//! The laws of copies: whatever is copied from wherever, all that stood before stays as it is.

use proptest::prelude::*;

use super::commands::{Draw, command};
use crate::error::Error;
use crate::hash::CommitHash;
use crate::history::surgery::{Lost, Picked};
use crate::history::{Call, On, Repo, SurgeryOptions};
use crate::model::pairs::{Links, Pairs};
use crate::model::{EntryId, Message, Millis};

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

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    #[test]
    fn a_copy_changes_nothing_before_it_and_is_whole(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
        chosen in prop::collection::vec(any::<u8>(), 1..4),
        from in any::<u8>(),
    ) {
        let repo = Repo::ephemeral().expect("a repository");
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
    }

    #[test]
    fn what_a_hide_took_comes_to_the_end_and_the_hide_stands(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
        chosen in any::<u8>(),
    ) {
        let repo = Repo::ephemeral().expect("a repository");
        for (at, draw) in draws.into_iter().enumerate() {
            let _ = command(&repo, draw, Millis(at as i64));
        }
        let Some(tip) = repo.head(&On::Head).expect("a head").commit() else { return Ok(()) };
        let order = repo.order(&tip).expect("an order");
        let hidden: Vec<EntryId> = order.entries()
            .filter(|entry| !entry.visible && !entry.hidden_by.is_empty())
            .map(|entry| entry.id)
            .collect();
        let Some(id) = hidden.get(chosen as usize % hidden.len().max(1)) else { return Ok(()) };
        let before = messages(&repo, &tip);
        let picked = repo.lost_messages(&On::Head, &[Lost::Entry(*id)]).expect("it is hidden");
        let call = Call::at(Millis(99), "restore --at-end");
        if repo.pick(call, &picked, &SurgeryOptions::default()).is_ok() {
            let now = repo.resolve(&On::Head, "HEAD").expect("it has a tip");
            is_appended(&before, &messages(&repo, &now))?;
            let order = repo.order(&now).expect("an order");
            let own = order.entries().find(|entry| entry.id == *id).expect("it stays in the order");
            prop_assert!(!own.visible, "the hide stands");
        }
    }
}
