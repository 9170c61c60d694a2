//! The laws of looking: every way to ask for a context's tokens gives the same
//! number, and a narrow log is a part of the whole one.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use crate::context::laws::history::{CONTENTS, History, histories, message};
use crate::hash::CommitHash;
use crate::model::background::{KnownStart, KnownWork};
use crate::model::tokens::{Counter, context_total};
use crate::model::{
    Draft, Encoding, EntryId, Message, Millis, Operation, Part, PathSums, RefName, RefValue, Role,
    Summed,
};
use crate::query::LogOptions;
use crate::repo::counts::{Counts, key_of};
use crate::repo::stretches::Outline;
use crate::repo::weigh::Scales;
use crate::repo::{Call, CommitOptions, On, Repo, path_sums, sums};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Reach, Truncate};

/// A repository that holds `history`, with a checkpoint wherever `every` says so.
fn repo(history: &History, every: usize) -> Repo {
    let repo = super::repository();
    let tx = repo.store.write().expect("a transaction");
    for number in 0..CONTENTS {
        tx.keep(&message(number)).expect("kept");
    }
    for (at, (hash, commit)) in history.0.iter().enumerate() {
        tx.keep_commit(commit).expect("kept");
        if at % every == 0 {
            let context = history.order(at).context();
            tx.put_checkpoint(hash, &context).expect("kept");
        }
    }
    tx.commit().expect("durable");
    repo
}

fn log(repo: &Repo, tip: &CommitHash, limit: usize, operations: &[&str]) -> Vec<(CommitHash, u64)> {
    let options = LogOptions {
        limit,
        operations: operations.iter().map(|op| (*op).to_owned()).collect(),
        ..LogOptions::default()
    };
    let rows = repo.log(tip, &options).expect("listed");
    rows.iter()
        .map(|row| (row.hash, row.running.tokens))
        .collect()
}

proptest! {
    #![proptest_config(crate::conditions::laws(512))]

    /// However long its pages are, a log says the same, whether its totals are known or not; none is empty.
    #[test]
    fn a_log_in_pages_is_the_log(
        history in histories(24),
        every in 1_usize..9,
        page in 1_usize..7,
        limit in 0_usize..12,
        from in any::<prop::sample::Index>(),
        only in prop::option::of(prop::sample::select(vec!["append", "hide", "edit"])),
    ) {
        let repo = repo(&history, every);
        let at = history.0.len() - 1;
        let path = history.path(at);
        let (until, _) = path[from.index(path.len())];
        let options = LogOptions {
            limit,
            until: Some(until).filter(|until| *until != history.0[at].0),
            operations: only.iter().map(|op| (*op).to_owned()).collect(),
            numbers: true,
            ..LogOptions::default()
        };
        for _ in 0..2 {
            let read = |page| {
                let pages = repo.pages_of(&history.0[at].0, &options, page);
                pages.collect::<crate::Result<Vec<_>>>().expect("listed")
            };
            let (pages, whole) = (read(page), read(usize::MAX));
            prop_assert!(pages.iter().all(|rows| !rows.is_empty()));
            prop_assert!(whole.len() <= 1);
            let told = |pages: Vec<Vec<_>>| pages.into_iter().flatten().map(|row| format!("{row:?}")).collect::<Vec<_>>();
            prop_assert_eq!(told(pages), told(whole));
        }
        repo.second_reading()?;
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    /// At every commit: the log's running total, what a status says, and the sum over what is
    /// compiled. And the steps between the totals are the changes that the log says.
    #[test]
    fn log_and_status_and_compile_agree_to_the_token(history in histories(24), every in 1_usize..9) {
        let repo = repo(&history, every);
        let counter = Counter::of(Encoding::default());
        let branch = RefName::branch("main").expect("a name");
        for (at, (hash, _)) in history.0.iter().enumerate() {
            let tx = repo.store.write().expect("a transaction");
            tx.begin_operation(Millis(0), "test").expect("open");
            tx.set_reference(&branch, Some(&RefValue::Commit(*hash))).expect("moved");
            tx.commit().expect("durable");

            let messages = repo.messages(&history.order(at).context()).expect("read");
            let compiled = context_total(messages.iter().map(|message| counter.message(message)));
            let status = repo.status(&On::Head, Encoding::default()).expect("summed up");
            prop_assert_eq!(status.total, compiled);
            let summary = &status.summary;
            prop_assert_eq!(summary.total.messages as usize, messages.len());
            let context = history.order(at).context();
            prop_assert_eq!(summary.hidden, context.hidden_entries());
            prop_assert!(status.hidden <= summary.hidden);
            prop_assert_eq!(summary.hides, context.hides);
            let counts: Vec<_> = messages.iter().map(|message| counter.message(message)).collect();
            for (role, tokens) in Role::ALL.iter().zip(summary.by_role) {
                let of_role = messages.iter().zip(&counts).filter(|(message, _)| message.role == *role);
                prop_assert_eq!(tokens, of_role.map(|(_, count)| count.tokens).sum::<u64>());
            }
            let most = counts.iter().map(|count| count.tokens).max();
            prop_assert_eq!(summary.largest.map(|one| one.tokens.tokens), most);
            let first = counts.iter().position(|count| Some(count.tokens) == most);
            prop_assert_eq!(summary.largest.map(|one| one.number as usize - 1), first);
            for one in summary.largest.iter().zip(first) {
                let entry = &context.entries[one.1];
                prop_assert_eq!((one.0.entry, one.0.content), (entry.id, entry.content));
            }

            let options = LogOptions {
                numbers: true,
                ..LogOptions::default()
            };
            let rows = repo.log(hash, &options).expect("listed");
            prop_assert_eq!(rows[0].running, compiled);
            let places = history.order(at).context().positions();
            for row in &rows {
                if let Operation::Append { .. } = row.commit.operation {
                    let place = places.get(&EntryId::of(row.hash));
                    prop_assert_eq!(row.number, place.map(|at| at + 1));
                }
            }
            let path = history.path(at);
            prop_assert_eq!(rows.len(), path.len());
            let sum: i64 = rows.iter().map(|row| row.delta).sum();
            prop_assert_eq!(sum, compiled.tokens as i64);
            let count: i64 = rows.iter().map(|row| row.messages).sum();
            prop_assert_eq!(count, messages.len() as i64);
            prop_assert!(rows.iter().map(|row| row.hash).eq(path.iter().rev().map(|(hash, _)| *hash)));
        }
        repo.second_reading()?;
    }

    /// What is committed between two looks changes nothing of what they say: each agrees with a sum over what
    /// is compiled, whatever was looked at before it.
    #[test]
    fn whoever_commits_between_two_looks_is_told_the_same(
        history in histories(24),
        every in 1_usize..9,
        more in proptest::collection::vec((0_usize..4, 1_usize..400), 1..5),
    ) {
        let repo = repo(&history, every);
        let counter = Counter::of(Encoding::default());
        let (mut tip, _) = history.0[history.0.len() - 1];
        let branch = RefName::branch("main").expect("a name");
        let tx = repo.store.write().expect("a transaction");
        tx.begin_operation(Millis(0), "test").expect("open");
        tx.set_reference(&branch, Some(&RefValue::Commit(tip))).expect("moved");
        tx.commit().expect("durable");
        let mut said = 0;
        for (looks, count) in more {
            let tokens = |repo: &Repo, tip: &CommitHash| {
                let context = repo.context(tip).expect("a context");
                let messages = repo.messages(&context).expect("read");
                context_total(messages.iter().map(|message| counter.message(message))).tokens
            };
            if looks & 1 == 1 {
                prop_assert_eq!(listed(&repo, &tip, 3), tokens(&repo, &tip));
            }
            if looks & 2 == 2 {
                let status = repo.status(&On::Head, Encoding::default()).expect("summed up");
                prop_assert_eq!(status.total.tokens, tokens(&repo, &tip));
            }
            tip = say(&repo, said..said + count, tools);
            said += count;
        }
        let status = repo.status(&On::Head, Encoding::default()).expect("summed up");
        let context = repo.context(&tip).expect("a context");
        prop_assert_eq!(status.summary.total.messages as usize, context.entries.len());
        prop_assert_eq!(listed(&repo, &tip, 0), status.total.tokens);
        let messages = repo.messages(&context).expect("read");
        let compiled = context_total(messages.iter().map(|message| counter.message(message)));
        prop_assert_eq!(status.total, compiled);
        repo.second_reading()?;
    }

    /// A log of some operations, and a short one, list what the whole log lists of them.
    #[test]
    fn a_narrow_log_is_a_part_of_the_whole_one(history in histories(40), limit in 1_usize..6) {
        let repo = repo(&history, 7);
        let tip = &history.0[history.0.len() - 1].0;
        let whole = repo.log(tip, &LogOptions::default()).expect("listed");
        for op in ["append", "edit", "hide", "compact", "restore", "annotate"] {
            let wanted: Vec<_> = whole
                .iter()
                .filter(|row| [row.commit.operation.type_name(), row.commit.operation.verb()].contains(&op))
                .map(|row| (row.hash, row.running.tokens))
                .collect();
            prop_assert_eq!(&log(&repo, tip, 0, &[op]), &wanted);
            let first = wanted.into_iter().take(limit).collect::<Vec<_>>();
            prop_assert_eq!(log(&repo, tip, limit, &[op]), first);
        }
        let all: Vec<_> = whole.iter().map(|row| (row.hash, row.running.tokens)).collect();
        prop_assert_eq!(&log(&repo, tip, limit, &[]), &all[..limit.min(all.len())]);
        repo.second_reading()?;
    }
}

/// What listing the last 20 costs the database, in steps, at some visible messages; and what they come to.
fn steps_of_a_log(messages: usize, said: fn(usize) -> Message) -> (u64, u64) {
    steps_of(20, messages, said)
}

/// The same of the last `limit`; 0: of all.
fn steps_of(limit: usize, messages: usize, said: fn(usize) -> Message) -> (u64, u64) {
    let (repo, steps) = talk_of(messages, said);
    let tip = repo.resolve(&On::Head, "HEAD").expect("a tip");
    // The first sums up, and keeps what it has found.
    listed(&repo, &tip, limit);
    let before = steps.load(Ordering::Relaxed);
    let tokens = listed(&repo, &tip, limit);
    (steps.load(Ordering::Relaxed) - before, tokens)
}

/// A repository of so many messages, whose engine's steps are counted.
fn talk_of(messages: usize, said: fn(usize) -> Message) -> (Repo, Arc<AtomicU64>) {
    let (repo, steps) = Repo::counted();
    say(&repo, 0..messages, said);
    (repo, steps)
}

/// Commits more.
fn say(repo: &Repo, which: Range<usize>, said: fn(usize) -> Message) -> CommitHash {
    let talk: Vec<Draft> = which.map(|at| Draft::append(said(at))).collect();
    let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
    done.expect("commits").last().expect("some").hash
}

/// Lists, and says what the context comes to.
fn listed(repo: &Repo, tip: &CommitHash, limit: usize) -> u64 {
    let options = LogOptions {
        limit,
        numbers: true,
        ..LogOptions::default()
    };
    repo.log(tip, &options).expect("listed")[0].running.tokens
}

/// What looking costs after each of several commits of `more` messages, at some visible messages.
fn steps_of_looks(messages: usize, more: usize, look: fn(&Repo, &CommitHash) -> u64) -> u64 {
    let (repo, steps) = talk_of(messages, tools);
    look(&repo, &repo.resolve(&On::Head, "HEAD").expect("a tip"));
    let counter = Counter::of(Encoding::default());
    let mut took = 0;
    for round in 0..5 {
        let first = messages + round * more;
        let tip = say(&repo, first..first + more, tools);
        let before = steps.load(Ordering::Relaxed);
        let tokens = look(&repo, &tip);
        took += steps.load(Ordering::Relaxed) - before;
        let all = context_total((0..first + more).map(|at| counter.message(&tools(at))));
        assert_eq!(tokens, all.tokens);
    }
    took
}

/// Whoever commits and looks pays for what is new, not for what was there.
#[test]
fn a_look_after_a_commit_costs_as_much_at_a_long_history_as_at_a_short_one() {
    let looks: [fn(&Repo, &CommitHash) -> u64; 4] = [
        |repo, tip| listed(repo, tip, 20),
        |repo, _| {
            let status = repo.status(&On::Head, Encoding::default());
            status.expect("summed up").total.tokens
        },
        |repo, _| {
            let branches = repo.branches(Encoding::default());
            branches.expect("listed")[0].tokens.tokens
        },
        |repo, tip| {
            repo.show(tip, Encoding::default()).expect("shown");
            listed(repo, tip, 1)
        },
    ];
    let few_commits = crate::conditions::size(300, 600);
    for (which, look) in looks.into_iter().enumerate() {
        for more in [1, 300] {
            let few = steps_of_looks(few_commits, more, look);
            let many = steps_of_looks(10 * few_commits, more, look);
            assert!(
                many < few + few / 4,
                "{which}, {more}: {few} and {many} steps"
            );
        }
    }
}

/// Whoever commits many with their counts keeps a total near the end: the next look costs what it costs after one.
#[test]
fn a_look_after_a_batch_costs_what_it_costs_after_one_commit() {
    let counter = Counter::of(Encoding::default());
    let steps_after = |more: usize| {
        let (repo, steps) = talk_of(300, tools);
        listed(&repo, &repo.resolve(&On::Head, "HEAD").expect("a tip"), 20);
        let options = CommitOptions {
            counter: Some(counter),
            ..CommitOptions::default()
        };
        let talk: Vec<Draft> = (300..300 + more)
            .map(|at| Draft::append(tools(at)))
            .collect();
        let done = repo.commit(Call::default(), &talk, &options);
        let tip = done.expect("commits").last().expect("some").hash;
        let before = steps.load(Ordering::Relaxed);
        let tokens = listed(&repo, &tip, 20);
        let all = context_total((0..300 + more).map(|at| counter.message(&tools(at))));
        assert_eq!(tokens, all.tokens);
        let took = steps.load(Ordering::Relaxed) - before;
        let found = repo.fsck(true, &mut |_| Ok(())).expect("checked");
        assert!(!found.is_damaged(), "{found:?}");
        took
    };
    let (one, many) = (steps_after(1), steps_after(1_000));
    assert!(many < 2 * one, "{one} and {many} steps");
}

proptest! {
    #![proptest_config(crate::conditions::laws(128))]

    /// What a context comes to by the sums of its path's blocks is what its messages come to, one by one; and whoever goes on
    /// with such sums has what one has who begins with the path.
    #[test]
    fn sums_in_blocks_are_those_of_the_messages(history in histories(40), every in 1_usize..9) {
        let repo = repo(&history, every);
        let encoding = Encoding::default();
        let mut known: HashMap<CommitHash, PathSums> = HashMap::new();
        for (at, (hash, commit)) in history.0.iter().enumerate() {
            let context = history.order(at).context();
            let counts = repo.counts(&context, encoding).expect("counted");
            let all = history.path(at).into_iter().map(|(_, commit)| commit);
            let said = all.filter_map(|commit| match commit.operation {
                Operation::Append { content } => Some(key_of(content)),
                _ => None,
            });
            let said: Vec<_> = said.map(|key| (*hash, key)).collect();
            Counts::of_contents(&*repo.store, &said, encoding).expect("counted");
            let view = repo.store.read().expect("a view");
            let before = commit.parent.and_then(|parent| known.get(&parent)).cloned();
            let sums = path_sums::of_most(&*view, hash, before.clone(), encoding, 4).expect("summed up");
            let anew = path_sums::of_most(&*view, hash, None, encoding, 4).expect("summed up");
            prop_assert_eq!(&sums, &anew);
            let len = history.path(at).len() as u64;
            prop_assert!(len - sums.covered() < sums.size);
            let are_sound = path_sums::are_sound(&*view, hash, &sums, before.as_ref(), encoding);
            prop_assert_eq!(are_sound.expect("checked"), Some(true));
            let outline = Outline::of(&*view, hash).expect("an outline");
            let by_blocks = sums::of_outline(&*view, &outline, Some(&sums), encoding);
            let one_by_one = sums::of_context(&*view, hash, &context, &counts);
            let one_by_one = one_by_one.expect("summed up");
            prop_assert_eq!(by_blocks.expect("summed up"), Some(one_by_one.clone()));
            drop(view);
            let total = one_by_one.total;
            let tx = repo.store.write().expect("a transaction");
            let summary = Summed { sums: Some(sums.clone()), ..one_by_one };
            tx.put_summary(hash, encoding, &summary).expect("kept");
            tx.commit().expect("durable");
            let view = repo.store.read().expect("a view");
            let fresh = Default::default();
            let scales = Scales::new(&*view, *hash, encoding, &fresh).expect("made");
            prop_assert_eq!(scales.first(&outline, usize::MAX).expect("weighed"), total);
            drop(scales);
            drop(view);
            known.insert(*hash, sums);
        }
    }
}

/// Behind a hide in the middle, the first status reads the ends of what is left, where the path was summed up before.
#[test]
fn the_first_status_behind_a_hide_reads_few_messages_of_a_summed_up_path() {
    let steps_of_first = |is_summed_up: bool| {
        let messages = 6_000;
        let (repo, steps) = talk_of(messages, |at| Message::text(Role::User, at.to_string()));
        let status = || {
            repo.status(&On::Head, Encoding::default())
                .expect("told")
                .summary
        };
        if is_summed_up {
            status();
        }
        let keep = Truncate::new(Reach::Keep(messages / 2));
        let done = repo.carry_out(Call::default(), &keep, &SurgeryOptions::default());
        assert!(!done.expect("carried out").is_nothing());
        let before = steps.load(Ordering::Relaxed);
        let first = status();
        (
            steps.load(Ordering::Relaxed) - before,
            first.by_role,
            first.largest,
        )
    };
    let (few, by_role, largest) = steps_of_first(true);
    let (many, again, other) = steps_of_first(false);
    assert_eq!((by_role, largest), (again, other));
    assert!(2 * few < many, "{few} and {many} steps");
}

/// Once a status has looked behind a hide, the next one reads what came since.
#[test]
fn a_status_behind_a_hide_is_kept() {
    let steps_of_second = |messages: usize| {
        let (repo, steps) = talk_of(messages, tools);
        let keep = Truncate::new(Reach::Keep(messages / 2));
        let done = repo.carry_out(Call::default(), &keep, &SurgeryOptions::default());
        assert!(!done.expect("carried out").is_nothing());
        let status = || {
            let status = repo.status(&On::Head, Encoding::default());
            format!("{:?}", status.expect("summed up").summary)
        };
        status();
        say(&repo, messages..messages + 2, tools);
        status();
        let before = steps.load(Ordering::Relaxed);
        status();
        steps.load(Ordering::Relaxed) - before
    };
    let (few, many) = (steps_of_second(600), steps_of_second(6_000));
    assert!(many < few + few / 4, "{few} and {many} steps");
}

/// A tool's call and its result, in turn.
fn tools(at: usize) -> Message {
    match at % 2 {
        0 => {
            let call = Part::ToolCall {
                id: at.to_string(),
                name: "read".into(),
                arguments: r#"{"path":"a"}"#.into(),
                kind: None,
            };
            Message::new(Role::Assistant, vec![call])
        }
        _ => {
            let result = Part::ToolResult {
                call: (at - 1).to_string(),
                content: vec![Part::text(at.to_string())],
                is_error: false,
            };
            Message::new(Role::Tool, vec![result])
        }
    }
}

#[test]
fn a_status_reads_as_much_of_a_long_history_as_of_a_short_one() {
    let steps = |messages: usize| {
        let (repo, steps) = Repo::counted();
        let talk: Vec<Draft> = (0..messages).map(|at| Draft::append(tools(at))).collect();
        let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
        done.expect("commits");
        let status = || {
            repo.status(&On::Head, Encoding::default())
                .expect("summed up")
        };
        // The first sums up, and keeps what it has found.
        let first = format!("{:?}", status());
        let before = steps.load(Ordering::Relaxed);
        assert_eq!(format!("{:?}", status()), first);
        let kept = steps.load(Ordering::Relaxed) - before;
        let more = Draft::append(Message::text(Role::User, "one more"));
        let done = repo.commit(Call::default(), &[more], &CommitOptions::default());
        done.expect("commits");
        assert_eq!(status().summary.total.messages as usize, messages + 1);
        kept
    };
    let (few, many) = (steps(500), steps(5_000));
    assert!(many < few + few / 5, "{few} and {many} steps");
}

#[test]
fn what_is_added_reads_as_much_of_a_long_history_as_of_a_short_one() {
    let steps = |messages: usize| {
        let (repo, steps) = Repo::counted();
        let commit = |count: usize| {
            let talk: Vec<Draft> = (0..count).map(|at| Draft::append(tools(at))).collect();
            let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
            done.expect("commits");
        };
        commit(messages);
        let before = steps.load(Ordering::Relaxed);
        // So many that it is looked whether a checkpoint is due; here none is.
        commit(300);
        steps.load(Ordering::Relaxed) - before
    };
    let (few, many) = (steps(1_100), steps(9_000));
    assert!(many < few + few / 5, "{few} and {many} steps");
}

#[test]
fn a_whole_log_is_read_in_one_scan() {
    // Each commit with its message, its count and how it uses tools; nothing is looked for by a hash.
    let (few, _) = steps_of(0, 500, tools);
    let (many, _) = steps_of(0, 5_000, tools);
    assert!(many < 5_000 * 120, "{many} steps");
    assert!(many < 11 * few, "{few} and {many} steps");
}

#[test]
fn a_log_of_calls_and_results_costs_little_more_than_one_of_texts() {
    let (plain, _) = steps_of_a_log(1_001, |at| Message::text(Role::User, at.to_string()));
    let (few, _) = steps_of_a_log(501, tools);
    let (many, _) = steps_of_a_log(5_001, tools);
    assert!(many < few + few / 5, "{few} and {many} steps");
    assert!(many < 2 * plain, "{plain} and {many} steps");
}

#[test]
fn what_is_purged_is_summed_up_anew() {
    let repo = Repo::ephemeral().expect("made");
    let said = |at: usize| {
        Draft::append(Message::text(
            Role::User,
            format!("said {at} times, in many more words"),
        ))
    };
    let talk: Vec<Draft> = (0..9).map(said).collect();
    let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
    let done = done.expect("commits");
    let last = LogOptions {
        limit: 1,
        ..LogOptions::default()
    };
    let running = |at: usize| {
        let rows = repo.log(&done[at].hash, &last);
        rows.expect("listed")[0].running.tokens
    };
    let before = running(8);
    assert_eq!(running(8), before, "as it was kept");
    let tx = repo.store.write().expect("the lock");
    let Operation::Append { content } = done[2].commit.operation else {
        panic!("an append");
    };
    tx.purge_content(&content).expect("erased");
    tx.commit().expect("durable");
    let context = repo.context(&done[8].hash).expect("a context");
    let counts = repo.counts(&context, Encoding::default()).expect("counted");
    assert_ne!(context_total(counts.iter().copied()).tokens, before);
    assert_eq!(running(8), context_total(counts).tokens);
}

#[test]
fn a_summary_that_is_another_contexts_is_damage_and_goes_where_it_is_mended() {
    let repo = Repo::ephemeral().expect("made");
    let talk: Vec<Draft> = (0..9)
        .map(|at| {
            let role = [Role::User, Role::System][usize::from(at == 3)];
            let mut said = Draft::append(Message::text(role, format!("said {at}")));
            if at == 4 {
                said.settings.insert("model".into(), "\"a\"".into());
            }
            said
        })
        .collect();
    let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
    let tip = done.expect("commits").last().expect("some").hash;
    let status = || {
        repo.status(&On::Head, Encoding::default())
            .expect("told")
            .summary
    };
    let right = status();
    let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
    assert!(!found.is_damaged(), "{found:?}");
    let mut of_others = right.clone();
    of_others.by_role.rotate_left(1);
    let mut too_few = right.clone();
    let standouts = too_few.standouts.as_mut().expect("looked for");
    assert_eq!(
        (standouts.covered, standouts.depths.as_slice()),
        (9, &[3][..])
    );
    standouts.depths.clear();
    let mut summed_up_wrongly = right.clone();
    let sums = summed_up_wrongly.sums.as_mut().expect("summed up");
    let block = sums.blocks[1].as_mut().expect("appends alone");
    block.injected += 1;
    let mut set_by_others = right.clone();
    let settings = set_by_others.settings.as_mut().expect("looked for");
    assert_eq!(settings.len(), 1);
    settings.insert("model".into(), CommitHash::of("nobody"));
    let mut run_by_others = right.clone();
    run_by_others.background = Some(KnownWork {
        covered: 3,
        open: vec![KnownStart {
            called: 0,
            at: 1,
            id: "b1".into(),
        }],
        calls: Vec::new(),
    });
    for wrong in [
        of_others,
        too_few,
        summed_up_wrongly,
        set_by_others,
        run_by_others,
    ] {
        let tx = repo.store.write().expect("the lock");
        tx.put_summary(&tip, Encoding::default(), &wrong)
            .expect("kept");
        tx.commit().expect("durable");
        assert_eq!(status(), wrong, "it is what is asked");
        let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        let said: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["summaries: 1 not as they were written"]);
        repo.repair(&found).expect("mended");
        let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        assert!(!found.is_damaged(), "{found:?}");
        assert_eq!(status(), right);
    }
}
