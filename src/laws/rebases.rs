//! The laws of rebases and reverts: nothing is lost or said twice, pairs are whole, and an undo leads back.

use std::collections::HashMap;

use proptest::prelude::*;

use super::commands::{Draw, command};
use crate::context::{Context, Entry, Mask, OrderEntry};
use crate::error::Error;
use crate::hash::{CommitHash, ContentHash};
use crate::model::pairs::{Links, Pairs};
use crate::model::{
    Author, Commit, Draft, Encoding, Message, Millis, Operation, Priority, RefName, Role,
};
use crate::repo::{Call, CommitOptions, On, Repo, ResetMode, Target, load};
use crate::rewrite::Pickable;
use crate::rewrite::{Rebase, RebaseFate, SurgeryOptions};
use crate::store::CommitRow;

/// Where the head is on a branch, its tip.
fn attached(repo: &Repo) -> Option<CommitHash> {
    let head = repo.head(&On::Head).expect("a head");
    head.branch().and(head.commit())
}

fn commit(repo: &Repo, hash: &CommitHash) -> Commit {
    repo.commit_at(hash).expect("it is here")
}

fn context(repo: &Repo, tip: &CommitHash) -> Context {
    repo.context(tip).expect("a context")
}

/// How many commits are on a path.
fn repo_len(repo: &Repo, tip: &CommitHash) -> usize {
    let view = repo.store.read().expect("a view");
    load::commit(&*view, tip).expect("it is here").depth as usize + 1
}

/// What a context shows, but for the names of its entries.
fn seen(context: &Context) -> Vec<(ContentHash, Mask, Priority)> {
    let entries = context.entries.iter();
    entries
        .map(|entry| (entry.content, entry.mask.clone(), entry.priority))
        .collect()
}

/// How many pairs have one end in a context and the other not.
fn parted(repo: &Repo, tip: &CommitHash) -> usize {
    let view = repo.store.read().expect("a view");
    let entries: Vec<OrderEntry> = repo.order(tip).expect("an order").entries().collect();
    let whole = entries
        .iter()
        .map(|entry| load::content(&*view, &entry.content));
    let whole: Vec<Links> = whole.map(|it| Links::of(&it.expect("a body"))).collect();
    let shown = entries.iter().map(|entry| match entry.visible {
        true => Links::of(&load::message(&*view, &Entry::from(entry)).expect("a message")),
        false => Links::default(),
    });
    let shown: Vec<Links> = shown.collect();
    let pairs = Pairs::new(&whole);
    let parted = pairs.pairs().iter().filter(|pair| {
        let id = &whole[pair.call.0].calls[pair.call.1];
        shown[pair.call.0].calls.contains(id) != shown[pair.result.0].results.contains(id)
    });
    parted.count()
}

/// Of how many pairs in the context each of its messages is an end, by the commits that appended them.
fn partners(repo: &Repo, tip: &CommitHash) -> HashMap<CommitHash, usize> {
    let view = repo.store.read().expect("a view");
    let entries = context(repo, tip).entries;
    let message = |entry: &Entry| load::message(&*view, entry).expect("a message");
    let links: Vec<Links> = entries
        .iter()
        .map(|entry| Links::of(&message(entry)))
        .collect();
    let mut partners: HashMap<CommitHash, usize> = HashMap::new();
    for entry in entries.iter() {
        partners.insert(entry.id.commit, 0);
    }
    for pair in Pairs::new(&links).pairs() {
        for at in [pair.call.0, pair.result.0] {
            *partners.entry(entries[at].id.commit).or_default() += 1;
        }
    }
    partners
}

/// What is said, mostly with tools, and now and then a command.
fn with_tools() -> impl Strategy<Value = Draw> {
    let said = (prop::sample::select(vec![1u8, 3, 3, 4, 4]), 0..2u8);
    prop_oneof![6 => said.prop_map(|(kind, id)| (0, kind, id)), 1 => any::<Draw>()]
}

proptest! {
    #![proptest_config(crate::conditions::laws(96))]

    /// Whatever stays behind or waits on the new base: what goes along has the partners that it had.
    #[test]
    fn a_rebase_leaves_no_half_of_a_pair_behind(
        draws in prop::collection::vec(with_tools(), 3..16),
        onto in any::<u8>(),
        from in any::<u8>(),
    ) {
        let repo = super::repository();
        for (at, draw) in draws.into_iter().enumerate() {
            let _ = command(&repo, draw, Millis(at as i64));
        }
        let Some(tip) = attached(&repo) else { return Ok(()) };
        let path = repo.store.read().and_then(|view| view.ancestors(&tip, None, usize::MAX));
        let path = path.expect("a path");
        let named = |draw: u8| path[draw as usize % path.len()].hash;
        let rebase = Rebase {
            from: Some(named(from)),
            ..Rebase::onto(named(onto), Encoding::default())
        };
        let done = match repo.rebase(Call::at(Millis(100), "rebase"), &rebase) {
            Ok(done) if done.blocked().next().is_none() => done,
            Ok(_) | Err(Error::Refused(_)) => {
                prop_assert_eq!(attached(&repo), Some(tip));
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let (before, after) = (partners(&repo, &tip), partners(&repo, &done.after));
        for step in &done.steps {
            let RebaseFate::Put(copy) = step.fate else { continue };
            if let (Some(was), Some(is)) = (before.get(&step.commit), after.get(&copy)) {
                prop_assert!(is >= was, "{} has lost a partner", step.commit);
            }
        }
        repo.second_reading()?;
    }

    #[test]
    fn a_rebase_loses_nothing_and_parts_nothing_and_is_undone_at_once(
        draws in prop::collection::vec(any::<Draw>(), 2..24),
        theirs in prop::collection::vec(any::<Draw>(), 0..10),
        base in any::<u8>(),
        whose in any::<bool>(),
    ) {
        let repo = super::repository();
        let author = Author { name: Some("Mara".into()), ..Author::default() };
        for (at, draw) in draws.into_iter().enumerate() {
            let at = at as i64;
            if at % 5 == 4 {
                let settings = [("model".to_owned(), format!("{at}"))].into();
                let message = Message::text(Role::User, format!("by Mara at {at}"));
                let author = Some(author.clone());
                let draft = Draft { settings, author, ..Draft::append(message) };
                let call = Call::at(Millis(at), "commit");
                let _ = repo.commit(call, &[draft], &CommitOptions::default());
            }
            let _ = command(&repo, draw, Millis(at));
        }
        let Some(tip) = attached(&repo) else { return Ok(()) };
        let mine = repo.head(&On::Head).expect("a head").branch().expect("attached").clone();
        let path = repo.store.read().and_then(|view| view.ancestors(&tip, None, usize::MAX));
        let path = path.expect("a path");
        let base = path[base as usize % path.len()].hash;
        let call = Call::at(Millis(100), "checkout");
        let theirs_name = RefName::branch("theirs").expect("a name");
        repo.checkout(call, &Target::NewBranch(theirs_name.clone(), Some(base.to_string())))
            .expect("it is new");
        for (at, draw) in theirs.into_iter().enumerate() {
            // Not to other branches, and not back.
            if !(11..=14).contains(&(draw.0 % 16)) {
                let _ = command(&repo, draw, Millis(200 + at as i64));
            }
        }
        let onto = attached(&repo).expect("it is on it");
        repo.checkout(Call::at(Millis(300), "checkout"), &Target::Named(mine.short().to_owned()))
            .expect("it is there");
        let before = repo.references("").expect("read");
        let call = Call::at(Millis(301), "rebase");
        let rebase = Rebase {
            whose: whose.then_some(crate::context::plan::carry::Whose::Theirs),
            ..Rebase::onto(onto, Encoding::default())
        };
        let dry = repo.rebase(call, &Rebase { dry_run: true, ..rebase.clone() });
        prop_assert_eq!(repo.references("").expect("read"), before.clone(), "a dry run moved something");
        let done = repo.rebase(call, &rebase);
        let done = match (dry, done) {
            (Ok(dry), Ok(done)) => {
                prop_assert_eq!((dry.after, dry.is, dry.kept), (done.after, done.is, done.kept));
                done
            }
            (Err(dry), Err(done)) => {
                prop_assert_eq!(dry.to_string(), done.to_string());
                let refused = matches!(done, Error::Refused(_));
                prop_assert!(refused, "{}", done);
                prop_assert_eq!(repo.references("").expect("read"), before);
                return Ok(());
            }
            (dry, done) => return Err(TestCaseError::fail(format!("{dry:?} {done:?}"))),
        };
        if done.blocked().next().is_some() || done.is_nothing() {
            prop_assert_eq!(repo.references("").expect("read"), before);
            return Ok(());
        }
        prop_assert!(repo.store.read().expect("a view").is_ancestor(&onto, &done.after).expect("asked"));
        let mut copies = HashMap::new();
        for step in &done.steps {
            let RebaseFate::Put(copy) = step.fate else { continue };
            let (was, is) = (commit(&repo, &step.commit), commit(&repo, &copy));
            prop_assert_eq!(is.origin, Some(step.commit));
            prop_assert_eq!((was.time, was.author, was.note), (is.time, is.author, is.note));
            if !matches!(was.operation, Operation::Restore { .. }) {
                prop_assert_eq!(was.settings, is.settings);
            }
            copies.insert(step.commit, copy);
        }
        // What the branch appended is there, in its order and once each.
        let was: Vec<CommitHash> = done.steps.iter().map(|step| step.commit)
            .filter(|own| matches!(commit(&repo, own).operation, Operation::Append { .. }))
            .collect();
        let order = repo.order(&done.after).expect("an order");
        let is: Vec<CommitHash> = order.names().map(|id| id.commit).collect();
        let own: Vec<CommitHash> = is.iter().copied()
            .filter(|hash| was.iter().any(|own| copies.get(own) == Some(hash)))
            .collect();
        let expected: Vec<CommitHash> = was.iter().filter_map(|own| copies.get(own)).copied().collect();
        prop_assert_eq!(own, expected);
        prop_assert_eq!(order.context(), context(&repo, &done.after), "as it is kept, and as it folds");
        // What was so before may stay so.
        let loose = parted(&repo, &tip) + parted(&repo, &onto);
        prop_assert!(parted(&repo, &done.after) <= loose, "something is parted");

        let after = repo.references("").expect("read");
        repo.undo(None, Millis(400)).expect("undone");
        prop_assert_eq!(&repo.references("").expect("read"), &before);
        repo.redo(Millis(401)).expect("done again");
        prop_assert_eq!(repo.references("").expect("read"), after);

        // Once more there is nothing to do.
        let again = repo.rebase(Call::at(Millis(402), "rebase"), &rebase).expect("nothing");
        prop_assert!(again.is_nothing());
        repo.second_reading()?;
    }

    /// What a commit of another branch does is done here, or it is said why not; done once, it is so already.
    #[test]
    fn a_picked_operation_does_here_what_it_did_or_says_why(
        draws in prop::collection::vec(any::<Draw>(), 2..20),
        theirs in prop::collection::vec(any::<Draw>(), 1..8),
        base in any::<u8>(),
        chosen in any::<u8>(),
    ) {
        let repo = super::repository();
        for (at, draw) in draws.into_iter().enumerate() {
            let _ = command(&repo, draw, Millis(at as i64));
        }
        let Some(tip) = attached(&repo) else { return Ok(()) };
        let mine = repo.head(&On::Head).expect("a head").branch().expect("attached").clone();
        let path = repo.store.read().and_then(|view| view.ancestors(&tip, None, usize::MAX));
        let base = path.expect("a path")[base as usize % 4 % repo_len(&repo, &tip)].hash;
        let theirs_name = RefName::branch("theirs").expect("a name");
        let to = Target::NewBranch(theirs_name, Some(base.to_string()));
        repo.checkout(Call::at(Millis(100), "checkout"), &to).expect("it is new");
        for (at, draw) in theirs.into_iter().enumerate() {
            if !(11..=14).contains(&(draw.0 % 16)) {
                let _ = command(&repo, draw, Millis(200 + at as i64));
            }
        }
        let end = attached(&repo).expect("it is on it");
        let back = Target::Named(mine.short().to_owned());
        repo.checkout(Call::at(Millis(300), "checkout"), &back).expect("it is there");
        let view = repo.store.read().expect("a view");
        let rows = view.ancestors(&end, Some(&base), usize::MAX).expect("a path");
        drop(view);
        let made: Vec<&CommitRow> = rows.iter().filter(|row| row.appended().is_none()).collect();
        let Some(row) = made.get(chosen as usize % made.len().max(1)) else { return Ok(()) };
        let (call, options) = (Call::at(Millis(301), "pick"), SurgeryOptions::default());
        let picked = [Pickable::Operation(row.hash)];
        let before = parted(&repo, &tip);
        let done = match repo.cherry_pick(call, &picked, &options) {
            Ok(done) => done,
            Err(Error::DoesNotFit { .. } | Error::Conflicts { .. }) => {
                prop_assert_eq!(attached(&repo), Some(tip));
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let now = attached(&repo).expect("a tip");
        prop_assert_eq!(done.already.is_empty(), now != tip);
        let is_edit = matches!(row.commit.operation, Operation::Edit { .. });
        prop_assert!(is_edit || parted(&repo, &now) <= before, "something is parted");
        let order = repo.order(&now).expect("an order");
        prop_assert_eq!(order.context(), context(&repo, &now));
        if let (Operation::Hide(hide), true) = (&row.commit.operation, done.spared == 0) {
            let parent = row.commit.parent.expect("what it hides came before");
            let then = repo.order(&parent).expect("an order");
            for id in then.covered(hide).expect("it is there").iter().filter(|id| order.has(id)) {
                let seen = order.entry(id).expect("it is there").visible;
                let hidden = !then.entry(id).expect("it is there").visible;
                prop_assert!(!seen || hidden, "{} is seen still", id);
            }
        }
        if !matches!(row.commit.operation, Operation::Restore { .. }) {
            let again = repo.cherry_pick(call, &picked, &options).expect("nothing");
            prop_assert_eq!(again.already, [row.hash]);
        }
        repo.second_reading()?;
    }

    /// To put the own commits on where they began changes nothing but their names.
    #[test]
    fn a_rebase_onto_a_copy_of_the_base_says_the_same(
        draws in prop::collection::vec(any::<Draw>(), 2..24),
        base in any::<u8>(),
    ) {
        let repo = super::repository();
        for (at, draw) in draws.into_iter().enumerate() {
            let _ = command(&repo, draw, Millis(at as i64));
        }
        let Some(tip) = attached(&repo) else { return Ok(()) };
        let view = repo.store.read().expect("a view");
        let path = view.ancestors(&tip, None, usize::MAX).expect("a path");
        drop(view);
        let from = path[base as usize % path.len()].hash;
        // A pin of what nothing names later: the base is another commit, and says the same.
        let call = Call::at(Millis(100), "reset");
        repo.reset(call, &from.to_string(), ResetMode::Soft).expect("back");
        let draft = Draft::new(
            Operation::Annotate { targets: Vec::new(), priority: Priority::Normal, reason: None },
            Vec::new(),
        );
        let onto = repo.commit(call, &[draft], &CommitOptions::default()).expect("made")[0].hash;
        repo.reset(call, &tip.to_string(), ResetMode::Soft).expect("forward");
        let rebase = Rebase { from: Some(from), ..Rebase::onto(onto, Encoding::default()) };
        let done = repo.rebase(Call::at(Millis(101), "rebase"), &rebase).expect("it fits");
        let blocked: Vec<_> = done.blocked().collect();
        prop_assert!(blocked.is_empty(), "{:?}", blocked);
        if from != tip {
            prop_assert_eq!(seen(&context(&repo, &done.after)), seen(&context(&repo, &tip)));
        }
        repo.second_reading()?;
    }

    /// The newest commit reverted: the context is as it was before it.
    #[test]
    fn a_revert_of_the_last_commit_gives_the_context_before_it(
        draws in prop::collection::vec(any::<Draw>(), 2..24),
    ) {
        let repo = super::repository();
        for (at, draw) in draws.into_iter().enumerate() {
            let _ = command(&repo, draw, Millis(at as i64));
        }
        let Some(tip) = attached(&repo) else { return Ok(()) };
        let last = commit(&repo, &tip);
        let Some(parent) = last.parent else { return Ok(()) };
        let call = Call::at(Millis(100), "revert");
        let options = SurgeryOptions::default();
        let done = match repo.revert(call, &tip, true, &options) {
            Ok(done) => done,
            // A call still open, or a pin.
            Err(Error::Refused(_)) => return Ok(()),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let now = attached(&repo).expect("a tip");
        let what = &last.operation;
        match what {
            Operation::Append { .. } => {
                let order = repo.order(&now).expect("an order");
                prop_assert!(!order.entry(&tip.into()).expect("it is there").visible);
            }
            // Several restores are one command: their partners came back in another commit.
            Operation::Restore { .. } if parted(&repo, &parent) != parted(&repo, &now) => {}
            _ => {
                prop_assert_eq!(seen(&context(&repo, &now)), seen(&context(&repo, &parent)), "{:?}", what);
            }
        }
        // It has no effect any more; an annotation may never have had one.
        let again = repo.revert(call, &tip, true, &options).expect("nothing");
        prop_assert!(again.already, "{:?}", what);
        if !done.already {
            let view = repo.store.read().expect("a view");
            prop_assert!(view.is_ancestor(&tip, &now).expect("asked"), "it stays in the history");
            prop_assert!(load::commit(&*view, &now).is_ok());
        }
        repo.second_reading()?;
    }
}
