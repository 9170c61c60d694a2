//! The law of collections: over any history, what any ref's path holds is after one as it was, to the
//! byte; what nothing leads to is gone; and what the log keeps can be undone as before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::Ground;
use super::commands::{Draw, command};
use crate::compile::{Provider, RequestOptions, compile};
use crate::conditions::second_reader;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::retention::Expire;
use crate::model::{Message, Millis, RefName, RefValue};
use crate::query::LogOptions;
use crate::repo::{Call, On, OperationEntry, Repo, load};
use crate::store::{ReflogRow, View};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// What there is to see at a commit: its context, its messages, its log, its requests.
type Seen = (Context, Vec<Message>, Vec<String>, Vec<String>);

fn seen(repo: &Repo, commit: &CommitHash) -> Seen {
    let context = repo.context(commit).expect("a context");
    let messages = repo.messages(&context).expect("its messages");
    let rows = repo.log(commit, &LogOptions::default()).expect("a log");
    let row =
        |row: &crate::query::LogRow| format!("{} {:?} {:?}", row.hash, row.commit, row.running);
    let view = repo.store.read().expect("a view");
    let settings = load::settings(&*view, &context).expect("settings");
    let request = |provider| {
        let options = RequestOptions {
            provider,
            whole_request: false,
            strict: false,
        };
        let request = compile(&messages, &settings, &options);
        request.map_or_else(|error| error.to_string(), |it| it.payload.to_string())
    };
    let providers = [Provider::OpenAi, Provider::Anthropic, Provider::Responses];
    let requests = providers.map(request).to_vec();
    (context, messages, rows.iter().map(row).collect(), requests)
}

/// All that any ref's path holds.
fn reachable(repo: &Repo) -> BTreeMap<CommitHash, Seen> {
    let view = repo.store.read().expect("a view");
    let tips: Vec<CommitHash> = load::tips(&*view, "")
        .expect("refs")
        .into_iter()
        .map(|(_, tip)| tip)
        .collect();
    let rows = view.by_reach(&tips).expect("split").reached;
    drop(view);
    let rows = rows.into_iter();
    rows.map(|row| (row.hash, seen(repo, &row.hash))).collect()
}

type Refs = Vec<(RefName, RefValue)>;

fn refs(repo: &Repo) -> Refs {
    repo.references("").expect("refs")
}

/// The log, newest first, and each ref's.
fn log(repo: &Repo) -> (Vec<OperationEntry>, Vec<Vec<ReflogRow>>) {
    let logs = refs(repo).into_iter().map(|(name, _)| {
        let rows = repo.reflog(&name, 0).expect("a log").into_iter();
        rows.map(|(row, _)| row).collect()
    });
    (repo.operations(0).expect("a log"), logs.collect())
}

/// What there is that nothing leads to.
fn stray(view: &dyn View) -> (usize, usize) {
    let named = view.named_commits().expect("named");
    let reach = view.by_reach(&named).expect("split");
    let rows = reach.reached.iter();
    let wanted: BTreeSet<ContentHash> = rows
        .flat_map(|row| row.commit.operation.contents())
        .collect();
    let all = view.all_contents().expect("contents").into_iter();
    let stray = all.filter(|content| !wanted.contains(content));
    (reach.unreached.len(), stray.count())
}

/// A command, or one of those that leave something behind.
fn act(repo: &Repo, (kind, a, b): Draw, now: Millis) -> Result<()> {
    let call = Call::at(now, "test");
    match kind % 24 {
        0 => {
            let name = RefName::branch(["one", "two"][usize::from(a % 2)])?;
            repo.delete_reference(call, &name).map(drop)
        }
        1 => {
            let tag = RefName::tag(["v1", "v2"][usize::from(a % 2)])?;
            match b % 3 {
                0 => repo.delete_reference(call, &tag).map(drop),
                _ => repo
                    .create_tag(call, &tag, "HEAD", Some("a note"))
                    .map(drop),
            }
        }
        2 => {
            let mode = crate::repo::ResetMode::Hard;
            repo.reset(call, &format!("HEAD~{}", a % 6), mode).map(drop)
        }
        3 => repo.undo(None, now).map(drop),
        other => command(
            repo,
            (other.wrapping_mul(7).wrapping_add(kind / 24), a, b),
            now,
        ),
    }
}

fn copy(from: &Path, to: &Path) -> Repo {
    Repo::init(to).expect("made");
    for name in ["tract.db", "tract.db-wal", "tract.db-shm"] {
        let (from, to) = (from.join(".tract").join(name), to.join(".tract").join(name));
        let _ = fs::remove_file(&to);
        let _ = fs::copy(from, to);
    }
    Repo::open(to).expect("opens")
}

fn check(
    draws: Vec<Draw>,
    more: Vec<Draw>,
    expire: Expire,
    now: i64,
) -> std::result::Result<(), TestCaseError> {
    let (here, there) = (Ground::new(), Ground::new());
    let made = |at: &Ground| {
        let repo = Repo::init(at.path()).expect("a repository").0;
        for (at, draw) in draws.iter().enumerate() {
            let done = act(&repo, *draw, Millis(at as i64 * DAY));
            prop_assert!(
                !matches!(done, Err(Error::Store(_) | Error::Damaged { .. })),
                "{:?}",
                done
            );
        }
        Ok(repo)
    };
    drop(made(&here)?);
    let beside = if here.is_folder() {
        copy(here.path(), there.path())
    } else {
        made(&there)?
    };
    let repo = Repo::open(here.path()).expect("opens");
    let (held, names, logs) = (reachable(&repo), refs(&repo), log(&repo));

    let now = Millis(now * DAY);
    let forecast = repo.gc_forecast(expire, now).expect("foreseen");
    prop_assert_eq!(log(&repo), log(&beside), "a forecast changes nothing");
    let done = repo.gc(expire, now, &mut |_| {}).expect("collected");
    prop_assert_eq!(forecast.dropped, done.dropped);
    prop_assert_eq!(
        (forecast.operations, &forecast.oldest),
        (done.operations, &done.oldest)
    );
    prop_assert_eq!(&done.unfinished, &None);
    drop(repo);

    let repo = Repo::open(here.path()).expect("opens");
    prop_assert_eq!(&refs(&repo), &names);
    prop_assert_eq!(&reachable(&repo), &held);
    prop_assert_eq!(stray(&*repo.store.read().expect("a view")), (0, 0));
    let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
    prop_assert!(!found.is_damaged(), "{:?}", found);
    if here.is_folder()
        && let Some((sound, _, faults)) = second_reader(&here.path().join(".tract/tract.db"))
    {
        prop_assert!(sound, "{}", faults);
    }
    let again = repo.gc(expire, now, &mut |_| {}).expect("collected");
    prop_assert!(again.is_nothing(), "{:?}", again);
    prop_assert_eq!(again.size_bytes.0, again.size_bytes.1);

    // What is left of the log is its end as it was.
    let (left, logs_left) = log(&repo);
    let kept = logs.0.len().saturating_sub(done.operations as usize);
    prop_assert_eq!(&left[..kept], &logs.0[..kept]);
    prop_assert_eq!(
        done.oldest.as_ref().map(|row| row.id),
        (done.operations > 0)
            .then(|| left[..kept].last().map(|last| last.operation.id))
            .flatten()
    );
    for (now, was) in logs_left.iter().zip(&logs.1) {
        let same = now.len().min(was.len());
        prop_assert_eq!(
            &now[..same.saturating_sub(1)],
            &was[..same.saturating_sub(1)]
        );
    }
    // So undo goes as far back as it is kept, through the states that were, and then no further.
    let reversals =
        |entry: &&OperationEntry| entry.operation.reversal != crate::store::Reversal::None;
    if !left[..kept].iter().any(|entry| reversals(&entry)) {
        for _ in 0..kept {
            let (here, there) = (repo.undo(None, now), beside.undo(None, now));
            prop_assert_eq!(here.is_ok(), there.is_ok());
            prop_assert_eq!(refs(&repo), refs(&beside));
        }
        if done.operations > 0 {
            let refused = matches!(repo.undo(None, now), Err(Error::NothingToUndo));
            prop_assert!(refused, "an undo of what is forgotten");
        }
        for _ in 0..kept {
            let (here, there) = (repo.redo(now), beside.redo(now));
            prop_assert_eq!(here.is_ok(), there.is_ok());
            prop_assert_eq!(refs(&repo), refs(&beside));
        }
    }
    // Life goes on as it would have without.
    for (at, draw) in more.into_iter().enumerate() {
        let now = Millis(now.0 + at as i64);
        let (here, there) = (act(&repo, draw, now), act(&beside, draw, now));
        prop_assert!(
            !matches!(here, Err(Error::Store(_) | Error::Damaged { .. })),
            "{:?}",
            here
        );
        if done.operations == 0 {
            prop_assert_eq!(here.is_ok(), there.is_ok(), "{:?} {:?}", here, there);
            prop_assert_eq!(refs(&repo), refs(&beside));
        }
    }
    let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
    prop_assert!(!found.is_damaged(), "{:?}", found);
    let _ = repo.head(&On::Head).expect("a head");
    Ok(())
}

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    #[test]
    fn what_is_kept_is_as_it_was_and_what_nothing_leads_to_is_gone(
        draws in prop::collection::vec(any::<Draw>(), 1..50),
        more in prop::collection::vec(any::<Draw>(), 0..8),
        kind in 0..4_u8,
        days in 0..60_i64,
    ) {
        let expire = match kind {
            0 | 1 => Expire::Now,
            2 => Expire::Days(20),
            _ => Expire::default(),
        };
        check(draws, more, expire, days)?;
    }
}
