//! The laws of merges: what is here is never brought again, what was here stays as it was, and time has no say.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::commands::{Draw, command};
use crate::compile::{RequestOptions, compile};
use crate::conditions::second_reader;
use crate::error::Error;
use crate::hash::CommitHash;
use crate::model::pairs::{Links, Pairs};
use crate::model::retention::Expire;
use crate::model::secret::Leaving;
use crate::model::{Draft, Message, Millis, RefName, Role, Settings};
use crate::repo::MergeForm;
use crate::repo::{Call, CommitOptions, On, Repo, ancestry};
use crate::rewrite::{Merge, MergeOptions, Whose};
use crate::store::CommitRow;
use crate::sync::{FetchOptions, Here, PushOptions, PushRef};

/// How a merge is asked for.
type Asked = (u8, u8, u8);

fn grown(repo: &Repo, draws: &[Draw], time: impl Fn(i64) -> i64) -> Vec<RefName> {
    for (at, draw) in draws.iter().enumerate() {
        let _ = command(repo, *draw, Millis(time(at as i64)));
    }
    let names = repo.references(RefName::HEADS).expect("branches");
    names.into_iter().map(|(name, _)| name).collect()
}

/// What one branch is, beside another.
struct Two {
    ours: On,
    theirs: RefName,
    tip: CommitHash,
    options: MergeOptions,
}

fn two(repo: &Repo, names: &[RefName], (one, other, how): Asked) -> Option<Two> {
    let ours = names.get(one as usize % names.len().max(1))?.clone();
    let theirs = names.get(other as usize % names.len())?.clone();
    let tip = repo.resolve(&On::Head, theirs.short()).ok()?;
    Some(Two {
        ours: On::Branch(ours),
        theirs,
        tip,
        options: MergeOptions {
            form: MergeForm::ALL[how as usize % 3],
            settle: [None, Some(Whose::Ours), Some(Whose::Theirs)][how as usize / 3 % 3],
            unrelated: true,
            ..MergeOptions::default()
        },
    })
}

impl Two {
    fn merge(&self, repo: &Repo, now: i64) -> crate::error::Result<Merge> {
        let call = Call::at(Millis(now), "merge").on(&self.ours);
        repo.merge(call, &self.tip, self.theirs.short(), &self.options, None)
    }
}

fn messages(repo: &Repo, tip: &CommitHash) -> Vec<Message> {
    let context = repo.context(tip).expect("a context");
    repo.messages(&context).expect("its messages")
}

fn tip(repo: &Repo, on: &On) -> CommitHash {
    repo.head(on).expect("a head").commit().expect("it has one")
}

/// The first of the commits of which each is a copy.
fn first(repo: &Repo, row: &CommitRow) -> CommitHash {
    let view = repo.store.read().expect("a view");
    let (mut first, mut next) = (row.hash, row.commit.origin);
    while let Some(origin) = next {
        first = origin;
        next = view
            .commit(&origin)
            .expect("read")
            .and_then(|row| row.commit.origin);
    }
    first
}

/// Texts without the beginnings of hashes: they depend on the times of commits.
fn timeless(messages: &[Message]) -> Vec<String> {
    let text = |message: &Message| {
        let text = message.canonical();
        match text.split_once(" up to ") {
            Some((head, rest)) => format!("{head}{}", rest.get(7..).unwrap_or_default()),
            None => text,
        }
    };
    messages.iter().map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(192)
    })]

    #[test]
    fn a_merge_brings_what_is_new_once_and_an_undo_takes_it_back(
        draws in prop::collection::vec(any::<Draw>(), 4..50),
        asked in any::<Asked>(),
    ) {
        let repo = super::repository();
        let names = grown(&repo, &draws, |at| at);
        let Some(two) = two(&repo, &names, asked) else { return Ok(()) };
        let was = tip(&repo, &two.ours);
        let before = messages(&repo, &was);
        let view = repo.store.read().expect("a view");
        let is_here = ancestry::leads_to(&*view, &two.tip, &was).expect("asked");
        let is_begin = ancestry::leads_to(&*view, &was, &two.tip).expect("asked");
        drop(view);
        let operations = repo.operations(1).expect("a log").first().map(|it| it.operation.id);
        let made = match two.merge(&repo, 99) {
            Ok(made) => made,
            // A call waits at the end.
            Err(Error::Refused(_)) => {
                prop_assert_eq!(tip(&repo, &two.ours), was);
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let now = tip(&repo, &two.ours);
        let made = match made {
            Merge::Here => {
                prop_assert!(is_here);
                prop_assert_eq!(now, was);
                let last = repo.operations(1).expect("a log").first().map(|it| it.operation.id);
                prop_assert_eq!(last, operations, "nothing was written");
                return Ok(());
            }
            Merge::Forward { .. } => {
                prop_assert!(is_begin && !is_here);
                prop_assert_eq!(now, two.tip);
                return Ok(());
            }
            Merge::Conflicts(found) => {
                prop_assert!(!found.is_empty() && two.options.settle.is_none());
                prop_assert_eq!(now, was, "nothing was written");
                prop_assert!(repo.merge_under_way(&two.ours).expect("asked").is_some());
                let options = MergeOptions { settle: Some(Whose::Theirs), ..two.options.clone() };
                let call = Call::at(Millis(99), "merge --continue").on(&two.ours);
                let on = repo.merge_on(call, &options, None).expect("settled");
                prop_assert!(matches!(on, Merge::Made(_)), "{:?}", on);
                prop_assert!(repo.merge_under_way(&two.ours).expect("asked").is_none());
                return Ok(());
            }
            Merge::Made(made) => made,
        };
        prop_assert!(!is_here && !is_begin);
        prop_assert!(made.surgery.commits.last().is_some_and(|last| last.commit.merged == Some(two.tip)));

        // It is here now, and the other branch only has to move.
        prop_assert!(matches!(two.merge(&repo, 100), Ok(Merge::Here)));
        prop_assert_eq!(tip(&repo, &two.ours), now);
        let view = repo.store.read().expect("a view");
        prop_assert!(ancestry::leads_to(&*view, &two.tip, &now).expect("asked"));
        let path = view.ancestors(&now, None, usize::MAX).expect("a path");
        drop(view);

        // What was copied stands there once, and whole.
        let copied: Vec<CommitHash> = path.iter()
            .filter(|row| row.appended().is_some())
            .map(|row| first(&repo, row))
            .collect();
        prop_assert_eq!(copied.iter().collect::<BTreeSet<_>>().len(), copied.len());
        let after = messages(&repo, &now);
        if two.options.form == MergeForm::Messages {
            let new: Vec<_> = made.surgery.commits.iter()
                .filter_map(|made| match made.commit.operation {
                    crate::model::Operation::Append { content } => Some(content),
                    _ => None,
                })
                .collect();
            let new = repo.contents(&new).expect("they are here");
            let links: Vec<Links> = new.iter().map(Links::of).collect();
            let pairs = Pairs::new(&links);
            let results: usize = links.iter().map(|it| it.results.len()).sum();
            prop_assert!((0..links.len()).all(|at| !pairs.is_open(at)));
            prop_assert_eq!(pairs.pairs().len(), results);
        }
        if made.changes == 0 {
            prop_assert_eq!(&after[..before.len()], &before[..], "what stood before is as it was");
        }
        if two.options.form == MergeForm::Message && made.changes == 0 {
            prop_assert_eq!(after.len() - before.len(), usize::from(made.said > 0));
        }

        // A request can be made of it, and is the same twice.
        let request = || compile(&after, &Settings::new(), &RequestOptions::default());
        prop_assert_eq!(request().expect("compiles").payload, request().expect("compiles").payload);

        // One undo takes all of it back.
        repo.undo(None, Millis(101)).expect("undone");
        prop_assert_eq!(tip(&repo, &two.ours), was);
        prop_assert_eq!(messages(&repo, &was), before);
        repo.second_reading()?;
    }

    #[test]
    fn the_times_of_commits_change_nothing_that_is_visible(
        draws in prop::collection::vec(any::<Draw>(), 4..40),
        asked in any::<Asked>(),
    ) {
        // The stub of a prune names a commit, and so does what it saves.
        let mut draws = draws;
        draws.retain(|(kind, a, _)| kind % 16 != 15 || a % 4 != 2);
        let seen = |time: &dyn Fn(i64) -> i64, now: i64| {
            let repo = super::repository();
            let names = grown(&repo, &draws, time);
            let two = two(&repo, &names, asked)?;
            let made = two.merge(&repo, now);
            let conflicts = match &made {
                Ok(Merge::Conflicts(found)) => found.iter().map(|it| (it.number, it.clash.kind)).collect(),
                _ => Vec::new(),
            };
            repo.second_reading().expect("sound");
            Some((made.is_ok(), conflicts, timeless(&messages(&repo, &tip(&repo, &two.ours)))))
        };
        prop_assert_eq!(seen(&|at| at, 99), seen(&|at| 1_000 - 7 * at, 3));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(48)
    })]

    /// However two branches merge each other, at whichever of their commits, each message is in each of them once.
    #[test]
    fn merged_any_way_each_message_is_there_once(
        draws in prop::collection::vec(any::<(bool, u8)>(), 4..24),
    ) {
        let repo = super::repository();
        let say = |on: &On, text: String, at: usize| {
            let draft = Draft::append(Message::text(Role::User, text));
            let call = Call::at(Millis(at as i64), "say").on(on);
            repo.commit(call, &[draft], &CommitOptions::default()).expect("said")[0].hash
        };
        let branches = ["main", "idea"].map(|name| RefName::branch(name).expect("a name"));
        let begun = say(&On::Branch(branches[0].clone()), "begun".to_owned(), 0);
        repo.create_branch(Call::default(), &branches[1], "main").expect("made");
        let mut ends = [vec![begun], vec![begun]];
        let mut said = BTreeSet::from(["begun".to_owned()]);
        let merge = |own: usize, theirs: &CommitHash, at: usize| {
            let on = On::Branch(branches[own].clone());
            let options = MergeOptions { form: MergeForm::Messages, ..MergeOptions::default() };
            let call = Call::at(Millis(at as i64), "merge").on(&on);
            repo.merge(call, theirs, "other", &options, None).expect("merged");
            tip(&repo, &on)
        };
        for (at, (is_other, draw)) in draws.into_iter().enumerate() {
            let own = usize::from(is_other);
            let end = if draw % 3 == 0 {
                let theirs = &ends[1 - own];
                merge(own, &theirs[draw as usize / 3 % theirs.len()], at + 1)
            } else {
                said.insert(format!("said {at}"));
                say(&On::Branch(branches[own].clone()), format!("said {at}"), at + 1)
            };
            ends[own].push(end);
        }
        let theirs = tip(&repo, &On::Branch(branches[1].clone()));
        let end = merge(0, &theirs, 98);
        prop_assert_eq!(merge(1, &end, 99), end, "it only has to move");
        for end in ends[1].iter().chain([&end]) {
            let mut texts: Vec<String> = messages(&repo, end).iter().map(Message::canonical).collect();
            let all = texts.len();
            texts.sort_unstable();
            texts.dedup();
            prop_assert_eq!(texts.len(), all, "nothing twice");
        }
        prop_assert_eq!(messages(&repo, &end).len(), said.len(), "all that was said");
        repo.second_reading()?;
    }

    /// Push, pull, collection, check and the second reader see one and the same.
    #[test]
    fn all_who_carry_or_check_a_merged_history_agree(
        draws in prop::collection::vec(any::<Draw>(), 4..40),
        asked in prop::collection::vec(any::<Asked>(), 1..4),
    ) {
        let ground = super::Ground::new();
        let (repo, _) = Repo::init(ground.path()).expect("made");
        let names = grown(&repo, &draws, |at| at);
        for (at, asked) in asked.into_iter().enumerate() {
            if let Some(two) = two(&repo, &names, asked)
                && let Ok(Merge::Conflicts(_)) = two.merge(&repo, 100 + at as i64)
            {
                repo.merge_abort(&two.ours).expect("given up");
            }
        }
        let tips: Vec<(RefName, CommitHash)> = names.iter()
            .map(|name| (name.clone(), tip(&repo, &On::Branch(name.clone()))))
            .collect();
        let then: Vec<Vec<Message>> = tips.iter().map(|(_, tip)| messages(&repo, tip)).collect();
        let all = |repo: &Repo| -> BTreeSet<CommitHash> {
            let view = repo.store.read().expect("a view");
            let tips: Vec<CommitHash> = tips.iter().map(|(_, tip)| *tip).collect();
            view.by_reach(&tips).expect("told").reached.iter().map(|row| row.hash).collect()
        };
        let whole = all(&repo);

        let there = super::repository();
        let now = || Millis(7);
        let wanted: Vec<PushRef> = tips.iter()
            .map(|(name, commit)| PushRef { name: name.clone(), commit: Some(*commit) })
            .collect();
        if !wanted.is_empty() {
            let mut peer = Here { repo: &there, now: &now };
            let options = PushOptions { is_named: false, remote: None, sources: false, with_lease: false, is_dry: false, leaving: Leaving::Allowed };
            repo.push(Call::default(), &mut peer, &wanted, &options, &mut |_, _| Ok(()))
                .expect("pushed");
            prop_assert_eq!(&all(&there), &whole);
            let third = super::repository();
            let mut peer = Here { repo: &there, now: &now };
            let options = FetchOptions { remote: "origin", ..FetchOptions::default() };
            third.fetch(Call::default(), &mut peer, &options, &mut |_, _| Ok(())).expect("fetched");
            prop_assert_eq!(&all(&third), &whole);
        }
        repo.gc(Expire::Now, Millis(1_000), &mut |_| {}).expect("collected");
        prop_assert_eq!(&all(&repo), &whole);
        for ((_, tip), then) in tips.iter().zip(&then) {
            prop_assert_eq!(&messages(&repo, tip), then);
        }
        let checked = repo.fsck(true, &mut |_| Ok(())).expect("checked");
        prop_assert!(checked.faults.is_empty(), "{:?}", checked.faults);
        if ground.is_folder()
            && let Some((sound, _, faults)) = second_reader(&ground.path().join(".tract/tract.db"))
        {
            prop_assert!(sound, "{}", faults);
        }
    }
}
