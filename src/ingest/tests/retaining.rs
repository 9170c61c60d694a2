//! The law of retention: whatever is kept says what it said before, to the byte, and whatever went is nothing that a rule or
//! a ref keeps. As long as the log leads there, an undo brings all of it back.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;

use super::collecting::{bring_in, chat};
use crate::hash::CommitHash;
use crate::model::retention::{Expire, Retention};
use crate::model::{Draft, Message, Millis, RefName, RefValue, Role};
use crate::repo::{Call, CommitOptions, Repo, ResetMode, Target, load};

const DAY: i64 = 24 * 60 * 60 * 1000;
const SESSIONS: usize = 5;

type Refs = BTreeMap<RefName, RefValue>;

fn refs(repo: &Repo) -> Refs {
    repo.references("").expect("refs").into_iter().collect()
}

/// What each of these refs compiles to.
fn seen(repo: &Repo, refs: &Refs) -> BTreeMap<RefName, Vec<Message>> {
    let tips = refs
        .iter()
        .filter_map(|(name, value)| Some((name, value.commit()?)));
    tips.map(|(name, tip)| {
        let context = repo.context(&tip).expect("a context");
        (name.clone(), repo.messages(&context).expect("its messages"))
    })
    .collect()
}

fn path_of(repo: &Repo, tip: &CommitHash) -> BTreeSet<CommitHash> {
    let view = repo.store.read().expect("a view");
    let rows = view.ancestors(tip, None, usize::MAX).expect("a path");
    rows.into_iter().map(|row| row.hash).collect()
}

/// One of the commands that make, move or leave a name.
fn act(repo: &Repo, (kind, at): (u8, usize), now: Millis) {
    let call = Call::at(now, "test");
    let names = repo.references(RefName::HEADS).expect("refs");
    let branch = names
        .get(at % names.len().max(1))
        .map(|(name, _)| name.short().to_owned());
    let branch = branch.unwrap_or_default();
    // What is refused changes nothing.
    match kind {
        0 => {
            let name = RefName::branch(&format!("own{at}")).expect("a name");
            let _ = repo.create_branch(call, &name, &branch);
        }
        1 => {
            let draft = Draft::append(Message::text(Role::User, format!("own {at}")));
            let _ = repo.commit(call, &[draft], &CommitOptions::default());
        }
        2 => {
            let tag = RefName::tag(&format!("v{at}")).expect("a name");
            let _ = repo.create_tag(call, &tag, &branch, None);
        }
        3 => drop(repo.reset(call, "HEAD~1", ResetMode::Hard)),
        4 => drop(repo.delete_reference(call, &RefName::tag(&format!("v{at}")).expect("a name"))),
        _ => drop(repo.checkout(call, &Target::Named(branch))),
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    #[test]
    fn whatever_is_kept_is_as_it_was_and_whatever_went_nothing_keeps(
        steps in prop::collection::vec((0..12_u8, 0..SESSIONS), 1..30),
        newest in prop::option::of(0..4_u64),
        days in prop::option::of(0..30_u64),
        stays in prop::collection::hash_set(0..SESSIONS, 0..2),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let repo = Repo::ephemeral().expect("a repository");
        let mut chats: Vec<Vec<usize>> = vec![Vec::new(); SESSIONS];
        let mut moved: BTreeMap<RefName, Millis> = BTreeMap::new();
        let session = |at: usize| RefName::session("openai", &format!("s{at}"));
        for (at, (kind, of)) in steps.iter().enumerate() {
            let now = Millis(at as i64 * DAY);
            if *kind < 6 {
                act(&repo, (*kind, *of), now);
                continue;
            }
            // It grows; some begin as another one does.
            let begun = chats[*of].is_empty();
            let first = if *kind == 6 && begun { vec![1, 2] } else { vec![10 * at, 10 * at + 1] };
            chats[*of].extend(first);
            let path = folder.path().join(format!("s{of}.json"));
            std::fs::write(&path, chat(&chats[*of])).expect("written");
            bring_in(&repo, &path, now);
            moved.insert(session(*of), now);
        }
        let now = Millis(steps.len() as i64 * DAY);
        let stays: HashSet<RefName> = stays.into_iter().map(session).collect();
        let retention = Retention { newest, days };
        let before = refs(&repo);
        let said = seen(&repo, &before);
        let operations = repo.operations(0).expect("a log").len();

        let foreseen = repo.let_go_forecast(retention, &|_, _| Ok(stays.clone()), now).expect("foreseen");
        prop_assert_eq!(refs(&repo), before.clone());
        let gone = repo.let_go(retention, &|_, _| Ok(stays.clone()), now).expect("let go");
        prop_assert_eq!(&gone, &foreseen);
        let left = refs(&repo);
        let names: BTreeSet<RefName> = gone
            .iter()
            .flat_map(|one| one.refs().cloned())
            .collect();
        for (name, value) in &before {
            prop_assert_eq!(left.get(name), (!names.contains(name)).then_some(value));
        }

        // Newest first, as people count.
        let mut by_time: Vec<(&RefName, &Millis)> = moved.iter().collect();
        by_time.sort_by_key(|(name, time)| (std::cmp::Reverse(**time), (*name).clone()));
        let rank = |of: &RefName| by_time.iter().position(|(name, _)| *name == of).expect("it came in");
        let by_rule = |of: &RefName| {
            newest.is_some_and(|newest| (rank(of) as u64) < newest)
                || days.is_some_and(|days| moved[of].0 >= now.0 - days as i64 * DAY)
                || stays.contains(of)
        };
        let no_rule = newest.is_none() && days.is_none();
        for one in &gone {
            prop_assert!(!no_rule && !by_rule(&one.session), "{one:?}");
            // Nobody who is left stands on its end, or beyond it, unless another session that is left begins as this
            // one did and is where they come from.
            let own = path_of(&repo, &one.tip);
            for tip in left.values().filter_map(RefValue::commit) {
                let path = path_of(&repo, &tip);
                let is_on = |name: &RefName, value: &RefValue| {
                    let session = name.as_session().and(value.commit());
                    session.is_some_and(|of| path_of(&repo, &of).intersection(&path).any(|it| !own.contains(it)))
                };
                let is_anothers = left.iter().any(|(name, value)| is_on(name, value));
                let is_session = left.iter().all(|(name, value)| {
                    value.commit() != Some(tip) || name.as_session().is_some()
                });
                prop_assert!(is_session || is_anothers || !path.contains(&one.tip), "{one:?}");
            }
        }
        // What shares nothing with anybody, and no rule keeps, is gone.
        for (name, value) in &before {
            let Some(tip) = value.commit().filter(|_| name.as_session().is_some()) else { continue };
            let own = path_of(&repo, &tip);
            let is_shared = left.iter().any(|(other, value)| match value {
                RefValue::Commit(tip) => other != name && !path_of(&repo, tip).is_disjoint(&own),
                RefValue::Symbolic(_) => false,
            });
            if !no_rule && !by_rule(name) && !is_shared {
                prop_assert!(names.contains(name), "{name} stays");
            }
        }

        let kept: BTreeMap<_, _> = said.clone().into_iter().filter(|(name, _)| !names.contains(name)).collect();
        prop_assert_eq!(&seen(&repo, &left), &kept);
        if !gone.is_empty() {
            prop_assert_eq!(repo.operations(0).expect("a log").len(), operations + 1);
            repo.undo(None, now).expect("undone");
            prop_assert_eq!(&refs(&repo), &before);
            prop_assert_eq!(&seen(&repo, &before), &said);
            repo.redo(now).expect("done again");
        }
        repo.gc(Expire::Now, now, &mut |_| {}).expect("collected");
        prop_assert_eq!(&refs(&repo), &left);
        prop_assert_eq!(&seen(&repo, &left), &kept);
        let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        prop_assert!(!found.is_damaged(), "{found:?}");
        // What nothing leads to is gone from the disk, with its file.
        let view = repo.store.read().expect("a view");
        let tips: Vec<CommitHash> = load::tips(&*view, "").expect("refs").into_iter().map(|(_, tip)| tip).collect();
        let named = view.named_commits().expect("named");
        let reach = view.by_reach(&[tips, named].concat()).expect("split");
        prop_assert!(reach.unreached.is_empty());
        drop(view);
        // What comes in again is whole.
        for of in (0..SESSIONS).filter(|of| !chats[*of].is_empty()) {
            bring_in(&repo, &folder.path().join(format!("s{of}.json")), now);
        }
        let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        prop_assert!(!found.is_damaged(), "{found:?}");
        repo.second_reading()?;
    }
}

#[test]
fn a_rule_reads_as_it_is_written() {
    let read = |text: &str| text.parse::<Retention>().map(|it| it.to_string());
    for text in ["100", "90d", "100,90d"] {
        assert_eq!(read(text).ok().as_deref(), Some(text));
    }
    assert_eq!(read(" 90D , 100 ").ok().as_deref(), Some("100,90d"));
    for text in ["", "d", "-1", "1,2", "1d,2d", "90 d", "soon", "1,2d,3"] {
        assert!(read(text).is_err(), "{text}");
    }
}
