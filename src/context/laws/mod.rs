//! The laws of the fold, on generated histories.

pub(crate) mod history;
mod oracle;

use proptest::prelude::*;

use self::history::{content, fold, histories};
use crate::context::{Context, Order};
use crate::error::Error;
use crate::hash::CommitHash;
use crate::model::{Commit, EntryId, Operation, Settings};

/// Cases a law.
/// Commits in a history, at most.
const COMMITS: usize = 40;

/// The context at the end of a path, resumed from the context after its first `from` commits.
fn resume(path: &[(CommitHash, Commit)], from: usize) -> Context {
    let mut context = fold(&path[..from]).context();
    for (at, (hash, commit)) in path.iter().enumerate().skip(from) {
        context = match context.step(*hash, commit) {
            Some(next) => next,
            None => fold(&path[..=at]).context(),
        };
    }
    context
}

/// A commit after a path, with a content of its own time.
fn after(path: &[(CommitHash, Commit)], operation: Operation) -> (CommitHash, Commit) {
    let parent = path.last().map(|(hash, _)| *hash);
    let commit = Commit {
        parent,
        operation,
        time: None,
        settings: Settings::new(),
        note: None,
        author: None,
        merged: None,
        origin: None,
    };
    (commit.hash(), commit)
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// The fold shows what the definition says.
    #[test]
    fn the_fold_is_what_the_definition_says(history in histories(COMMITS)) {
        for at in 0..history.0.len() {
            let path = history.path(at);
            let order = fold(&path);
            let seen: Vec<oracle::Seen> = order.context().entries.iter().map(|entry| {
                let mask = entry.mask.parts().iter().map(|part| (part.part, part.stub)).collect();
                (entry.id, entry.content, mask, entry.priority, entry.placed)
            }).collect();
            prop_assert_eq!(seen, oracle::visible(&path));
            let ids: Vec<EntryId> = order.entries().map(|entry| entry.id).collect();
            prop_assert_eq!(ids, oracle::order(&path));
        }
    }

    /// Appending adds one entry at the end and leaves every other as it was.
    #[test]
    fn appending_never_changes_what_stands_before(history in histories(COMMITS), number: u32) {
        let path = history.path(history.0.len() - 1);
        let mut order = fold(&path);
        let before = order.context();
        let (hash, commit) = after(&path, Operation::Append { content: content(number) });
        order.apply(hash, &commit).expect("an append is always possible");
        let mut now = order.context();
        let last = now.entries.pop_back().expect("the new one");
        prop_assert_eq!(last.id, EntryId::of(hash));
        prop_assert_eq!(now.entries, before.entries);
        prop_assert_eq!(now.hides, before.hides);
        prop_assert_eq!(now.total_entries, before.total_entries + 1);
    }

    /// Folding from any checkpoint agrees with folding from the root, field by field.
    #[test]
    fn checkpoints_change_nothing(history in histories(COMMITS), cut: prop::sample::Index) {
        for at in 0..history.0.len() {
            let path = history.path(at);
            let from = cut.index(path.len() + 1);
            prop_assert_eq!(resume(&path, from), fold(&path).context());
        }
    }

    /// Wherever one step is enough, it gives what the whole fold gives.
    #[test]
    fn a_step_agrees_with_the_fold(history in histories(COMMITS)) {
        for at in 0..history.0.len() {
            let path = history.path(at);
            let (last, before) = path.split_last().expect("a path holds a commit");
            let stepped = fold(before).context().step(last.0, &last.1);
            if let Some(stepped) = stepped {
                prop_assert_eq!(stepped, fold(&path).context());
            }
        }
    }

    /// Two restores that can be made in either order end in the same place.
    #[test]
    fn restores_commute(history in histories(COMMITS)) {
        let path = history.path(history.0.len() - 1);
        let order = fold(&path);
        let mut restores: Vec<Operation> = Vec::new();
        for (hash, _) in &path {
            restores.push(Operation::Restore { target: *hash, entries: Vec::new() });
            let hidden = order.entries().filter(|entry| entry.hidden_by.contains(hash));
            restores.extend(hidden.map(|entry| Operation::Restore {
                target: *hash,
                entries: vec![entry.id],
            }));
        }
        let apply = |first: &Operation, second: &Operation| -> Option<Context> {
            let mut order = order.clone();
            for operation in [first, second] {
                let (hash, commit) = after(&path, operation.clone());
                order.apply(hash, &commit).ok()?;
            }
            Some(order.context())
        };
        for first in &restores {
            for second in &restores {
                if let (Some(one), Some(other)) = (apply(first, second), apply(second, first)) {
                    prop_assert_eq!(one, other);
                }
            }
        }
    }

    /// Undoing a hide gives what stood there without it; what was appended since stays.
    #[test]
    fn a_restored_hide_leaves_no_trace(
        history in histories(COMMITS),
        draw: history::Draw,
        appends in prop::collection::vec(any::<u32>(), 0..4),
    ) {
        let mut hidden = history.clone();
        hidden.grow((6, draw.1 | 1, draw.2, draw.3, draw.4));
        let path = hidden.path(hidden.0.len() - 1);
        let (hide, before) = path.split_last().expect("a path holds a commit");
        if matches!(hide.1.operation, Operation::Hide(_)) && !before.is_empty() {
            let (mut with, mut without) = (path.clone(), before.to_vec());
            let mut appended = Vec::new();
            for number in appends {
                let operation = Operation::Append { content: content(number) };
                with.push(after(&with, operation.clone()));
                without.push(after(&without, operation));
                appended.push((with[with.len() - 1].0, without[without.len() - 1].0));
            }
            with.push(after(&with, Operation::Restore { target: hide.0, entries: Vec::new() }));
            let same = |id: EntryId| {
                let found = appended.iter().find(|(with, _)| *with == id.commit);
                found.map_or(id, |(_, without)| EntryId::of(*without))
            };
            let restored = fold(&with).context();
            let plain = fold(&without).context();
            let seen = |context: &Context, name: &dyn Fn(EntryId) -> EntryId| -> Vec<_> {
                let entries = context.entries.iter();
                entries.map(|e| (name(e.id), e.content, e.mask.clone(), e.priority)).collect()
            };
            prop_assert_eq!(seen(&restored, &same), seen(&plain, &|id| id));
            prop_assert_eq!(restored.hides, plain.hides);
        }
    }

    /// An edited entry keeps its place, and a hidden one stays hidden.
    #[test]
    fn an_edit_moves_and_shows_nothing(history in histories(COMMITS), pick: prop::sample::Index) {
        let path = history.path(history.0.len() - 1);
        let mut order = fold(&path);
        let before: Vec<_> = order.entries().map(|e| (e.id, e.visible)).collect();
        let (id, _) = before[pick.index(before.len())];
        let new = crate::hash::ContentHash::of("never drawn");
        let (hash, commit) = after(&path, Operation::Edit { target: id, content: new });
        order.apply(hash, &commit).expect("the entry is there");
        let now: Vec<_> = order.entries().map(|e| (e.id, e.visible)).collect();
        prop_assert_eq!(now, before);
        let edited = order.entries().find(|entry| entry.id == id).expect("there");
        prop_assert_eq!(edited.content, new);
        prop_assert!(edited.mask.is_empty(), "hidden parts are of the old content");
    }

    /// An edit's name means the entry that it edits, whether or not it has been undone.
    #[test]
    fn an_edit_of_an_edit_edits_the_entry(history in histories(COMMITS)) {
        let path = history.path(history.0.len() - 1);
        let new = crate::hash::ContentHash::of("never drawn");
        for (edit, commit) in &path {
            let Operation::Edit { .. } = commit.operation else { continue };
            let mut order = fold(&path);
            let operation = Operation::Edit { target: EntryId::of(*edit), content: new };
            let (hash, commit) = after(&path, operation);
            prop_assert!(order.apply(hash, &commit).is_ok());
            let meant = order.edits().find(|(made, _)| made == edit).map(|(_, entry)| entry);
            let edited: Vec<_> = order.entries().filter(|e| e.content == new).map(|e| e.id).collect();
            prop_assert_eq!(edited, meant.into_iter().collect::<Vec<_>>());
        }
    }

    /// What cannot be done is an error, and changes nothing.
    #[test]
    fn what_is_refused_changes_nothing(history in histories(COMMITS)) {
        let path = history.path(history.0.len() - 1);
        let order = fold(&path);
        let nowhere = CommitHash::of("nowhere");
        let mut wrong = vec![
            Operation::Edit { target: nowhere.into(), content: content(0) },
            Operation::Restore { target: nowhere, entries: Vec::new() },
            Operation::Annotate {
                targets: vec![path[0].0.into(), nowhere.into()],
                priority: crate::model::Priority::Skip,
                reason: None,
            },
        ];
        for (at, (hash, commit)) in path.iter().enumerate() {
            let again = |(_, later): &(CommitHash, Commit)| {
                matches!(&later.operation, Operation::Restore { target, entries }
                    if target == hash && entries.is_empty())
            };
            let restorable =
                matches!(commit.operation, Operation::Hide(_) | Operation::Edit { .. });
            if !restorable || path[at..].iter().any(again) {
                wrong.push(Operation::Restore { target: *hash, entries: Vec::new() });
            }
        }
        for operation in wrong {
            let (hash, commit) = after(&path, operation);
            let mut tried = order.clone();
            let refused = tried.apply(hash, &commit);
            prop_assert!(
                matches!(refused, Err(Error::NotOnPath { .. } | Error::NotRestorable { .. })),
                "{:?} was taken", commit.operation
            );
            prop_assert_eq!(tried.context(), order.context());
            let entries: Vec<_> = order.entries().collect();
            prop_assert_eq!(tried.entries().collect::<Vec<_>>(), entries);
        }
    }
}

#[test]
fn an_empty_order_has_an_empty_context() {
    assert_eq!(Order::default().context(), Context::default());
}
