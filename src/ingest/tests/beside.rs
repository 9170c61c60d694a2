//! Imports and recordings on a server where others write: they wait for whoever writes the same session, and for nobody else.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::formats::Format;
use crate::ingest::{
    ImportReport, ImportRequest, Reading, RecordRequest, Recorder, Waiting, adopt, import,
};
use crate::model::{Draft, Message, Millis, RefName, Role};
use crate::repo::{Call, CommitOptions, Expect, On, Repo, ResetMode};
use crate::store::postgres::Postgres;
use crate::store::postgres::tests::cluster;

/// Long enough for whoever need not wait.
const SOON: Duration = Duration::from_millis(300);

/// A session of Claude Code with so many messages.
fn session(id: &str, messages: usize) -> String {
    let record = |at: usize| {
        let kind = ["user", "assistant"][at % 2];
        let parent = match at.checked_sub(1) {
            Some(parent) => format!("\"{id}-{parent}\""),
            None => "null".to_owned(),
        };
        format!(
            r#"{{"type":"{kind}","parentUuid":{parent},"uuid":"{id}-{at}","isSidechain":false,"sessionId":"{id}","timestamp":"2026-01-02T03:04:{at:02}Z","message":{{"role":"{kind}","content":"message {at} of {id}"}}}}"#
        ) + "\n"
    };
    (0..messages).map(record).collect()
}

fn written(folder: &Path, id: &str, messages: usize) -> PathBuf {
    let path = folder.join(format!("{id}.jsonl"));
    std::fs::write(&path, session(id, messages)).expect("written");
    path
}

/// Somebody who waits no longer than whoever need not.
fn somebody(address: &str) -> Repo {
    let store = Postgres::open(address).expect("opens");
    Repo::of_server(store.with_busy_timeout(SOON))
}

fn bring_in(repo: &Repo, path: &Path) -> Result<ImportReport> {
    let request = ImportRequest {
        reading: Reading::New,
        ..ImportRequest::at(Millis(0), "import")
    };
    import(repo, path, &request, &mut |_| {})
}

fn say(repo: &Repo, branch: &str, text: &str) -> Result<()> {
    let on = On::Branch(RefName::branch(branch).expect("a name"));
    let draft = Draft::append(Message::text(Role::User, text));
    repo.commit(Call::default().on(&on), &[draft], &CommitOptions::default())
        .map(drop)
}

fn named(id: &str) -> RefName {
    RefName::session("claude-code", id)
}

/// How many messages a ref leads to, each of which is another one.
fn messages(repo: &Repo, name: &RefName) -> usize {
    let tip = repo.resolve(&On::Head, name.as_str()).expect("a tip");
    let context = repo.context(&tip).expect("a context");
    let said = repo.messages(&context).expect("its messages");
    let mut said: Vec<String> = said.iter().map(|one| format!("{one:?}")).collect();
    said.sort();
    said.dedup();
    said.len()
}

fn is_whole(repo: &Repo) {
    let checked = repo.fsck(false, &mut |_| Ok(())).expect("checked");
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
}

fn is_busy<T>(done: &Result<T>) -> bool {
    matches!(done, Err(Error::Busy { .. }))
}

#[test]
fn what_writes_one_session_or_one_branch_waits_for_nobody_on_another() {
    let Some(address) = cluster::address() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    drop(Postgres::create(&address).expect("made"));
    let (holder, repo) = (somebody(&address), somebody(&address));
    for branch in ["main", "elsewhere"] {
        say(&holder, branch, "at first").expect("made");
    }
    // Somebody is at a branch, and has begun to keep the file of a session.
    let elsewhere = named("elsewhere");
    let branch = RefName::branch("elsewhere").expect("a name");
    let held = holder.store.begin_on(Some(&branch), &mut Vec::new);
    let held = held.expect("a turn");
    held.put_source(&elsewhere, "claude-code", None)
        .expect("begun");
    // A first import, one of what is new, and one onto a branch.
    for length in [6, 8, 11] {
        let file = written(folder.path(), "s", length);
        bring_in(&repo, &file).expect("it waits for nobody");
        let onto = RefName::branch("onto").expect("a name");
        adopt(&repo, &named("s"), &onto, Millis(0), "import --onto").expect("nor does this");
        assert_eq!(messages(&repo, &onto), length);
    }
    // A recording, message by message.
    let request = RecordRequest {
        format: Format::named("openai-stream").expect("known"),
        stem: Some("recorded"),
        branch: None,
        moves_head: false,
        what: "record",
    };
    let mut recorder = Recorder::new(&repo, request).expect("a stream");
    let stream = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openai-stream");
    let stream = std::fs::read_dir(stream).expect("a folder").next();
    let stream = stream.expect("one").expect("a file").path();
    let bytes = std::fs::read(stream).expect("read");
    for piece in bytes.chunks(256) {
        recorder.push(piece).expect("its lines end");
        recorder.commit(Millis(0)).expect("it waits for nobody");
    }
    let report = recorder.finish(Millis(0)).expect("nor does the end");
    assert!(report.is_some());
    // What moves a branch to commits that are there already.
    let on = On::Branch(RefName::branch("ahead").expect("a name"));
    let call = Call::default().on(&on);
    let draft = Draft::append(Message::text(Role::User, "behind nothing"));
    let made = repo.commit_after(call, None, &[draft], &CommitOptions::default());
    let made = made.expect("it waits for nobody")[0].hash;
    repo.advance(call, made, Expect::Nothing)
        .expect("nor does this");
    let tag = RefName::tag("one").expect("a name");
    let forked = RefName::branch("forked").expect("a name");
    repo.create_tag(call, &tag, "main", Some("noted"))
        .expect("nor does this");
    repo.create_branch(call, &forked, "main")
        .expect("nor does this");
    let reset = |branch: &RefName| {
        let on = On::Branch(branch.clone());
        repo.reset(Call::default().on(&on), "forked", ResetMode::Soft)
    };
    reset(&RefName::branch("onto").expect("a name")).expect("nor does this");
    // On what is held, whoever comes second is refused after a while, and so is whoever starts from it.
    assert!(is_busy(&reset(&branch)));
    let second = RefName::branch("second").expect("a name");
    assert!(is_busy(&repo.create_branch(call, &second, "elsewhere")));
    let file = written(folder.path(), "elsewhere", 4);
    assert!(is_busy(&bring_in(&repo, &file)));
    assert!(is_busy(&adopt(
        &repo,
        &named("s"),
        &branch,
        Millis(0),
        "import --onto"
    )));
    held.commit().expect("made");
    bring_in(&repo, &file).expect("it comes in");
    assert_eq!(messages(&repo, &elsewhere), 4);
    is_whole(&repo);
}

#[test]
fn while_a_session_comes_in_others_write_all_but_that() {
    let Some(address) = cluster::address() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    drop(Postgres::create(&address).expect("made"));
    let (repo, other) = (somebody(&address), somebody(&address));
    say(&repo, "main", "at first").expect("made");
    let [file, beside] = ["s", "t"].map(|id| written(folder.path(), id, 8));
    let is_first = Cell::new(true);
    let meanwhile = || {
        if is_first.replace(false) {
            say(&other, "main", "meanwhile").expect("made");
            bring_in(&other, &beside).expect("it comes in");
            assert!(is_busy(&bring_in(&other, &file)));
        }
        false
    };
    let request = ImportRequest {
        waiting: Waiting {
            is_stopped: Some(&meanwhile),
            ..Waiting::TO_THE_END
        },
        ..ImportRequest::at(Millis(0), "import")
    };
    import(&repo, &file, &request, &mut |_| {}).expect("it comes in");
    assert!(!is_first.get());
    for id in ["s", "t"] {
        assert_eq!(messages(&repo, &named(id)), 8, "{id}");
    }
    is_whole(&repo);
}

#[test]
fn whoever_writes_the_same_session_or_branch_loses_nothing() {
    const TIMES: usize = 12;
    let Some(address) = cluster::address() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    drop(Postgres::create(&address).expect("made"));
    say(&somebody(&address), "main", "at first").expect("made");
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for who in 0..4 {
            let (folder, address, start) = (folder.path().join(who.to_string()), &address, &start);
            scope.spawn(move || {
                std::fs::create_dir(&folder).expect("a folder");
                let repo = Repo::of_server(Postgres::open(address).expect("opens"));
                let own = format!("own-{who}");
                start.wait();
                for at in 1..=TIMES {
                    // The same file for all, at another place for each, and one of their own.
                    for id in ["same", own.as_str()] {
                        let file = written(&folder, id, at);
                        bring_in(&repo, &file).expect("it comes in");
                    }
                    let onto = RefName::branch("onto").expect("a name");
                    adopt(&repo, &named("same"), &onto, Millis(0), "onto").expect("taken over");
                    say(&repo, "main", &format!("{at} by {who}")).expect("made");
                }
            });
        }
    });
    let repo = somebody(&address);
    for id in ["same", "own-0", "own-1", "own-2", "own-3"] {
        assert_eq!(messages(&repo, &named(id)), TIMES, "{id}");
        let view = repo.store.read().expect("a view");
        assert_eq!(view.sources(&named(id)).expect("sources").len(), 1, "{id}");
    }
    for (branch, count) in [("onto", TIMES), ("main", 1 + 4 * TIMES)] {
        let branch = RefName::branch(branch).expect("a name");
        assert_eq!(messages(&repo, &branch), count, "{branch}");
    }
    is_whole(&repo);
}
