//! The law of diffs: to read nothing of what two contexts begin with changes no word of how they differ.

use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::commands::{Draw, command};
use crate::compile::{Provider, shared_prefix};
use crate::diff::{ContextDiff, DiffOptions, Kind};
use crate::hash::CommitHash;
use crate::model::{Draft, Encoding, EntryId, Message, Millis, Priority, Role};
use crate::render::diff::{Form, Frame, Kept, Show, lines};
use crate::repo::load::work;
use crate::repo::{Call, CommitOptions, On, Repo, totals};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::laws::message;
use crate::rewrite::{Reach, Truncate};

/// All that is said of a diff, in each form.
fn told(diff: &ContextDiff, prefix: &Kept) -> Vec<String> {
    let frame = Frame {
        names: ("one".into(), "other".into()),
        remark: None,
        prefix: Some(prefix.clone()),
    };
    let mut told = Vec::new();
    for form in [Form::Whole, Form::Stat, Form::Lines] {
        for tool in [None, Some("read".to_owned())] {
            let show = Show {
                form,
                tool,
                ..Show::default()
            };
            let lines = lines(diff, &frame, &show, Some(100));
            told.extend(lines.iter().map(|line| line.text()));
        }
    }
    told
}

/// Both ways to compare, held against each other.
fn agree(repo: &Repo, before: &CommitHash, after: &CommitHash, provider: Provider) {
    let (options, encoding) = (DiffOptions::default(), Encoding::default());
    let whole = repo.diff(Some(before), Some(after), &options, encoding);
    let whole = whole.expect("compared");
    let rest = repo.diff_of_rest(before, after, &options, encoding);
    let rest = rest.expect("compared");
    assert_eq!(rest.changes, whole.changes);
    assert_eq!(rest.settings, whole.settings);
    assert_eq!(rest.delta(), whole.delta());
    let kept = |prefix: crate::compile::Prefix| Kept {
        messages: prefix.messages,
        size_bytes: prefix.size_bytes,
        provider: provider.as_str(),
    };
    let wanted = shared_prefix(&whole.before.messages, &whole.after.messages, provider);
    let wanted = kept(wanted.expect("nothing is refused"));
    let found = kept(repo.shared_prefix(&rest, provider, encoding).expect("read"));
    assert_eq!(found.size_bytes, wanted.size_bytes);
    assert_eq!(told(&rest, &found), told(&whole, &wanted));
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(192)
    })]

    #[test]
    fn a_diff_that_reads_only_the_rest_says_what_one_of_all_says(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
        pairs in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 8),
    ) {
        let repo = super::repository();
        let mut tips: Vec<CommitHash> = Vec::new();
        for (at, draw) in draws.into_iter().enumerate() {
            if draw.0 % 16 == 0 {
                let mut draft = Draft::append(Message::text(Role::User, "set"));
                draft.settings.insert(["model", "top_p"][draw.1 as usize % 2].into(), draw.2.to_string());
                let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
                done.expect("commits");
            } else {
                // What is not allowed here changes nothing.
                let _ = command(&repo, draw, Millis(at as i64));
            }
            let tip = repo.head(&On::Head).expect("a head").commit();
            tips.extend(tip.filter(|tip| !tips.contains(tip)));
        }
        prop_assume!(!tips.is_empty());
        for (at, (one, other)) in pairs.into_iter().enumerate() {
            let (one, other) = (one.get(&tips), other.get(&tips));
            agree(&repo, one, other, Provider::ALL[at % Provider::ALL.len()]);
        }
        for both in tips.windows(2) {
            agree(&repo, &both[0], &both[1], Provider::OpenAi);
        }
        repo.second_reading()?;
    }
}

#[test]
fn to_compare_neighbours_reads_as_much_of_a_long_history_as_of_a_short_one() {
    let steps = |messages: usize| {
        let (repo, steps) = Repo::counted();
        let said = |at: usize| Draft::append(Message::text(Role::User, at.to_string()));
        let talk: Vec<Draft> = (0..messages).map(said).collect();
        let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
        let done = done.expect("commits");
        let (one, other) = (&done[messages - 2].hash, &done[messages - 1].hash);
        let compared = || {
            let (options, encoding) = (DiffOptions::default(), Encoding::default());
            let diff = repo.diff_of_rest(one, other, &options, encoding);
            let diff = diff.expect("compared");
            assert_eq!((diff.before.len(), diff.changes.len()), (messages - 1, 1));
            repo.shared_prefix(&diff, Provider::OpenAi, encoding)
                .expect("measured")
        };
        // The first sums up, and keeps what it has found.
        repo.status(&On::Head, Encoding::default())
            .expect("summed up");
        let first = compared();
        let before = steps.load(Ordering::Relaxed);
        assert_eq!(compared(), first);
        steps.load(Ordering::Relaxed) - before
    };
    let (few, many) = (steps(500), steps(5_000));
    assert!(many < few + few / 5, "{few} and {many} steps");
}

/// The forms that list of many neighbours the first and the last, and no more is read for them.
fn ends_agree(repo: &Repo, before: &CommitHash, after: &CommitHash, provider: Provider) -> usize {
    let (all, encoding) = (DiffOptions::default(), Encoding::default());
    let ends = DiffOptions {
        ends_only: true,
        ..all
    };
    let told = |options: &DiffOptions| {
        let diff = repo.diff_of_rest(before, after, options, encoding);
        let diff = diff.expect("compared");
        let prefix = repo.shared_prefix(&diff, provider, encoding);
        let prefix = prefix.expect("read");
        let frame = Frame {
            names: ("one".into(), "other".into()),
            remark: None,
            prefix: Some(Kept {
                messages: prefix.messages,
                size_bytes: prefix.size_bytes,
                provider: provider.as_str(),
            }),
        };
        let mut told = Vec::new();
        for form in [Form::Whole, Form::Stat] {
            let show = Show {
                form,
                ..Show::default()
            };
            let lines = lines(&diff, &frame, &show, Some(100));
            told.extend(lines.iter().map(|line| line.text()));
        }
        let sides = [&diff.before, &diff.after];
        told.push(format!("{} tokens", diff.delta()));
        told.extend(sides.map(|side| format!("{}: {}", side.len(), side.total().tokens)));
        let omitted = sides.iter().map(|side| side.omitted.len()).sum::<usize>();
        (told, omitted)
    };
    let (told_of_all, nothing) = told(&all);
    let (told_of_ends, omitted) = told(&ends);
    assert_eq!(told_of_ends, told_of_all);
    assert_eq!(nothing, 0);
    omitted
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(256)
    })]

    #[test]
    fn a_diff_that_reads_the_ends_of_long_runs_says_what_one_of_all_says(
        steps in prop::collection::vec(
            (any::<Draw>(), prop::collection::vec(any::<(u8, u8)>(), 0..24)),
            1..8,
        ),
        pairs in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 8),
    ) {
        let repo = super::repository();
        let mut tips: Vec<CommitHash> = Vec::new();
        for (at, (draw, said)) in steps.into_iter().enumerate() {
            let said = said.into_iter().map(|drawn| Draft::append(message(drawn)));
            let said: Vec<Draft> = said.collect();
            if !said.is_empty() {
                let done = repo.commit(Call::default(), &said, &CommitOptions::default());
                done.expect("commits");
            }
            // What is not allowed here changes nothing.
            let _ = command(&repo, draw, Millis(at as i64));
            if at % 3 == 2 {
                let keep = Truncate::new(Reach::Keep(draw.1 as usize % 5));
                let _ = repo.carry_out(Call::default(), &keep, &SurgeryOptions::default());
            }
            let tip = repo.head(&On::Head).expect("a head").commit();
            tips.extend(tip.filter(|tip| !tips.contains(tip)));
        }
        prop_assume!(!tips.is_empty());
        for (at, (one, other)) in pairs.into_iter().enumerate() {
            let (one, other) = (one.get(&tips), other.get(&tips));
            ends_agree(&repo, one, other, Provider::ALL[at % Provider::ALL.len()]);
        }
        for both in tips.windows(2) {
            ends_agree(&repo, &both[0], &both[1], Provider::OpenAi);
            ends_agree(&repo, &both[1], &both[0], Provider::OpenAi);
        }
        repo.second_reading()?;
    }
}

#[test]
fn to_compare_what_a_hide_took_out_reads_as_much_of_many_messages_as_of_few() {
    let steps = |messages: usize| {
        let (repo, steps) = Repo::counted();
        // Rounds of a prompt, a call, its result and an answer.
        let said = |at: usize| {
            let kind = [1, 4, 6, 1][at % 4];
            Draft::append(message((kind, (at / 4) as u8)))
        };
        let talk: Vec<Draft> = (0..messages).map(said).collect();
        let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
        let talk = done.expect("commits");
        let pin = |at: usize| EntryId::of(talk[at].hash);
        let (call, options) = (Call::default(), SurgeryOptions::default());
        let pins = [pin(messages / 8 * 4), pin(messages / 12 * 4)];
        repo.annotate(call, &pins, Priority::Pinned, None, &options)
            .expect("pinned");
        let before = repo.resolve(&On::Head, "HEAD").expect("a commit");
        let keep = Truncate::new(Reach::Keep(5));
        let done = repo.carry_out(call, &keep, &options);
        let hide = done.expect("hidden").commits[0].hash;
        // What both come to is known from here on.
        for commit in [&before, &hide] {
            totals::of_commit(&repo, commit, Encoding::default()).expect("summed up");
        }
        assert_eq!(ends_agree(&repo, &before, &hide, Provider::OpenAi), 3);
        assert_eq!(ends_agree(&repo, &hide, &before, Provider::OpenAi), 3);
        let ends = DiffOptions {
            ends_only: true,
            ..DiffOptions::default()
        };
        let first = steps.load(Ordering::Relaxed);
        let (work, ()) = work::of(|| {
            let diff = repo.diff_of_rest(&before, &hide, &ends, Encoding::default());
            let diff = diff.expect("compared");
            let gone = diff.changes.iter().filter(|it| it.kind == Kind::Hidden);
            let gone: usize = gone.map(|change| change.count).sum();
            assert_eq!(gone, messages - 8);
            repo.shared_prefix(&diff, Provider::OpenAi, Encoding::default())
                .expect("measured");
        });
        (steps.load(Ordering::Relaxed) - first, work.bodies)
    };
    let (few, many) = (steps(300), steps(3_000));
    // Of all runs but the longest, the counts are read.
    assert!(many.0 - few.0 < 2_700 * 60, "{few:?} and {many:?} steps");
    assert_eq!(many.1, few.1);
}
