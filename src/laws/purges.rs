//! The law of what is gone: over any history, what a purge erased compiles to its tombstone, and all
//! else, before and since, to what was written.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::commands::{Draw, command};
use crate::context::{Context, Entry};
use crate::error::Error;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Draft, Message, Millis, Operation, PURGED, Role, tombstone};
use crate::repo::{
    Call, CommitOptions, Named, On, Repo, ResetMode, UndoPoint, UndoTo, ancestry, load,
};
use crate::rewrite::SurgeryOptions;
use crate::store::View;
use crate::upkeep::Erasing;

/// All that was ever said, and what of it must be gone.
#[derive(Default)]
struct Known {
    contexts: BTreeMap<CommitHash, Context>,
    bodies: BTreeMap<ContentHash, Message>,
    erased: BTreeSet<ContentHash>,
}

impl Known {
    /// Takes in what is new on the path to `tip`: none of it is erased.
    fn learn(&mut self, repo: &Repo, tip: &CommitHash) {
        let view = repo.store.read().expect("a view");
        for row in view.ancestors(tip, None, usize::MAX).expect("a path") {
            if self.contexts.contains_key(&row.hash) {
                continue;
            }
            let operation = &row.commit.operation;
            // What is moved is what was there, a tombstone too; all else is written anew.
            let moves = matches!(operation, Operation::Hide(hide) if hide.is_move());
            for content in operation.contents() {
                if moves && self.bodies.contains_key(&content) {
                    continue;
                }
                assert!(!self.erased.contains(&content), "{operation:?}");
                let body = load::content(&*view, &content).expect("a body");
                self.bodies.insert(content, body);
            }
            let context = load::context(&*view, &row.hash).expect("a context");
            self.contexts.insert(row.hash, context);
        }
    }

    fn body(&self, content: &ContentHash) -> Message {
        let body = &self.bodies[content];
        if self.erased.contains(content) {
            tombstone(body.role)
        } else {
            body.clone()
        }
    }

    fn message(&self, entry: &Entry) -> Message {
        let whole = self.body(&entry.content);
        entry.mask.apply(whole, |stub| Some(self.body(stub)))
    }

    fn check(&self, repo: &Repo) -> Result<(), TestCaseError> {
        for (commit, then) in &self.contexts {
            let now = repo.context(commit).expect("a context");
            prop_assert_eq!(&now, then);
            let wanted: Vec<Message> = then.entries.iter().map(|e| self.message(e)).collect();
            prop_assert_eq!(repo.messages(&now).expect("its messages"), wanted);
        }
        Ok(())
    }

    /// What a purge of all before `tip` erases: everything but what the context there shows, and
    /// what the paths of refs hold that have commits of their own. How many contents that is.
    fn purge(&mut self, view: &dyn View, tip: &CommitHash) -> usize {
        let mut needed: BTreeSet<ContentHash> = BTreeSet::new();
        for entry in &self.contexts[tip].entries {
            needed.insert(entry.content);
            needed.extend(entry.mask.parts().iter().filter_map(|part| part.stub));
        }
        let path = |tip: &CommitHash| view.ancestors(tip, None, usize::MAX).expect("a path");
        needed.extend(path(tip)[0].commit.operation.contents());
        let own: BTreeSet<CommitHash> = path(tip).iter().map(|row| row.hash).collect();
        for (_, other) in load::tips(view, "refs/").expect("refs") {
            if !own.contains(&other) {
                // By either parent: what was merged there stays as well.
                let rows = ancestry::beyond(view, &other, &[]).expect("a history");
                needed.extend(rows.iter().flat_map(|row| row.commit.operation.contents()));
            }
        }
        let gone = self.bodies.keys();
        let gone: Vec<ContentHash> = gone
            .filter(|content| !needed.contains(content) && !self.erased.contains(content))
            .copied()
            .collect();
        // Whoever wrote a tombstone's words finds them again.
        let differ = |content: &&ContentHash| {
            let body = &self.bodies[content];
            *body != tombstone(body.role)
        };
        let erased: Vec<ContentHash> = gone.iter().filter(differ).copied().collect();
        self.erased.extend(erased);
        gone.len()
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(24))]

    #[test]
    fn what_is_purged_is_gone_and_what_is_written_since_is_there(
        // Few words, so that they come again.
        draws in prop::collection::vec((any::<u8>(), 0..8_u8, 0..4_u8), 1..40),
    ) {
        let repo = super::repository();
        let mut known = Known::default();
        for (at, draw) in draws.into_iter().enumerate() {
            let now = Millis(at as i64);
            let (kind, a, b): Draw = draw;
            match kind % 8 {
                0 => {
                    let (call, options) = (Call::at(now, "purge"), SurgeryOptions::default());
                    if repo.clear(call, a % 2 == 0, &options).is_err() {
                        continue;
                    }
                    let Some(tip) = repo.head(&On::Head).expect("a head").commit() else {
                        continue;
                    };
                    known.learn(&repo, &tip);
                    let gone = known.purge(&*repo.store.read().expect("a view"), &tip);
                    let purged = repo.purge(call).expect("purged");
                    prop_assert_eq!(purged.contents as usize, gone);
                }
                1 | 2 => {
                    // What someone writes is what is there.
                    let message = Message::text(Role::User, ["one", "two", PURGED][a as usize % 3]);
                    let draft = Draft::append(message.clone());
                    let done = repo.commit(Call::at(now, "say"), &[draft], &CommitOptions::default());
                    let Ok(done) = done else { continue };
                    let context = repo.context(&done[0].hash).expect("a context");
                    let messages = repo.messages(&context).expect("its messages");
                    prop_assert_eq!(messages.last(), Some(&message));
                }
                _ => drop(command(&repo, (kind / 8, a, b), now)),
            }
            if let Some(tip) = repo.head(&On::Head).expect("a head").commit() {
                known.learn(&repo, &tip);
            }
            known.check(&repo)?;
        }
        repo.second_reading()?;
    }
}

/// What a purge has nothing to do with can be undone as before; what would show what is gone, not.
#[test]
fn a_purge_ends_the_undo_of_what_would_show_it_and_of_nothing_else() {
    let repo = super::repository();
    let call = Call::at(Millis(0), "test");
    let say = |text| {
        let draft = Draft::append(Message::text(Role::User, text));
        repo.commit(call, &[draft], &CommitOptions::default())
            .expect("kept")[0]
            .hash
    };
    let tip = || repo.head(&On::Head).expect("a head").commit();
    say("the task"); // 1
    let secret = say("a secret"); // 2
    let third = say("go on"); // 3
    let named = [Named::Entry(secret.into())];
    repo.drop_named(call, &named, true, &SurgeryOptions::default())
        .expect("dropped"); // 4
    let dropped = tip();
    say("and on"); // 5

    let what = Erasing {
        entries: vec![secret.into()],
        ..Erasing::default()
    };
    let ends: Vec<u64> = repo
        .erasure(&what)
        .expect("told")
        .ends
        .iter()
        .map(|one| one.operation.id)
        .collect();
    assert_eq!(ends, [4], "the drop, whose undo would show it");
    repo.erase(call, &what).expect("erased"); // 6
    assert!(repo.erasure(&what).expect("told").is_nothing());

    // The purge itself is not undone, nor passed over in silence.
    let refused = repo.undo(None, Millis(1));
    assert!(
        matches!(refused, Err(Error::PurgedLast { before: Some(5) })),
        "{refused:?}"
    );
    repo.undo(Some(5), Millis(1))
        .expect("it has nothing to do with it");
    assert_eq!(tip(), dropped);
    let refused = repo.undo(None, Millis(1));
    assert!(matches!(refused, Err(Error::Purged)), "{refused:?}");
    let refused = repo.undo_to(UndoTo::point(UndoPoint::After(1)), Millis(1));
    assert!(matches!(refused, Err(Error::Purged)), "{refused:?}");
    assert_eq!(tip(), dropped);
    // Where it was seen before, it may be seen after: as what it is now.
    repo.reset(call, &third.to_string(), ResetMode::Soft)
        .expect("back"); // 8
    repo.undo(None, Millis(1)).expect("a reset made since");
    assert_eq!(tip(), dropped);
    repo.redo(Millis(1)).expect("and forward");
    assert_eq!(tip(), Some(third));
}
