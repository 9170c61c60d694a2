//! Imports that somebody ends: until the end of the last transaction they are heard, and then nothing of the session is here.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::ingest::slices::SHARE;
use crate::ingest::{FamilyReport, ImportRequest, Outcome, Waiting, import_family};
use crate::model::{Millis, RefName, RefValue};
use crate::repo::Repo;

const ID: &str = "11111111-2222-4333-8444-555555555555";

/// A session with so many messages, and that of its sub-agent beside it.
fn written(folder: &Path, messages: usize) -> PathBuf {
    let lines = |more: &str| -> String {
        let line = |at: usize| {
            let kind = ["user", "assistant"][at % 2];
            let parent = match at.checked_sub(1) {
                Some(before) => format!("\"{more}{before}\""),
                None => "null".to_owned(),
            };
            let agent = match more {
                "" => String::new(),
                id => format!(r#""isSidechain":true,"agentId":"{id}","#),
            };
            format!(
                r#"{{"type":"{kind}","uuid":"{more}{at}","parentUuid":{parent},{agent}"sessionId":"{ID}","cwd":"/w","version":"2.1.63","timestamp":"2026-03-07T06:{at:02}:00.000Z","message":{{"role":"{kind}","content":"{more} says {at}"}}}}"#
            ) + "\n"
        };
        (0..messages).map(line).collect()
    };
    let agents = folder.join(ID).join("subagents");
    std::fs::create_dir_all(&agents).expect("a folder");
    std::fs::write(agents.join("agent-a1b2c3d.jsonl"), lines("a1b2c3d")).expect("written");
    let own = folder.join(format!("{ID}.jsonl"));
    std::fs::write(&own, lines("")).expect("written");
    own
}

/// Takes it in, and ends that as it is asked for the time after so many.
fn ended_after(asks: usize, repo: &Repo, file: &Path) -> crate::Result<FamilyReport> {
    let asked = Cell::new(0);
    let is_stopped = || {
        asked.set(asked.get() + 1);
        asked.get() > asks
    };
    let request = ImportRequest {
        waiting: Waiting {
            is_stopped: Some(&is_stopped),
            ..Waiting::TO_THE_END
        },
        moves_head: true,
        ..ImportRequest::at(Millis(0), "import")
    };
    import_family(repo, file, &request, &mut |_| {})
}

/// Ends it earlier and later, each time a little, and at last not at all. What came in then, after how many times.
fn ended_all_along(repo: &Repo, file: &Path) -> (FamilyReport, usize) {
    let before = refs(repo);
    for asks in 0.. {
        match ended_after(asks, repo, file) {
            Ok(family) => return (family, asks),
            Err(Error::Cancelled) => assert_eq!(refs(repo), before, "after {asks}"),
            Err(error) => panic!("after {asks}: {error}"),
        }
    }
    unreachable!("it comes in")
}

fn refs(repo: &Repo) -> Vec<(RefName, RefValue)> {
    repo.references("refs/").expect("refs")
}

#[test]
fn an_import_that_is_ended_at_any_moment_leaves_nothing() {
    SHARE.set(Some(1));
    let folder = tempfile::tempdir().expect("a folder");
    let file = written(folder.path(), 6);
    let [whole, repo] = [(); 2].map(|()| Repo::ephemeral().expect("a repository"));
    ended_after(usize::MAX, &whole, &file).expect("it comes in");
    assert!(refs(&whole).len() >= 3, "{:?}", refs(&whole));
    let (family, times) = ended_all_along(&repo, &file);
    assert_eq!(family.own.sessions[0].outcome, Outcome::New);
    assert_eq!(family.kin.len(), 1);
    // Each of the two files is asked for its messages, its source and its refs.
    assert!(times > 20, "{times}");
    assert_eq!(refs(&repo), refs(&whole));

    // What has grown stays as it was.
    written(folder.path(), 8);
    ended_after(usize::MAX, &whole, &file).expect("it comes in");
    let (family, _) = ended_all_along(&repo, &file);
    assert_eq!(family.own.sessions[0].outcome, Outcome::Grown);
    assert_eq!(refs(&repo), refs(&whole));
    SHARE.set(None);
}

#[test]
fn whoever_waits_is_told_between_transactions_while_it_is_written() {
    SHARE.set(Some(1));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chat.json");
    let said: Vec<String> = (0..40)
        .map(|at| format!(r#"{{"role":"user","content":"{at}"}}"#))
        .collect();
    std::fs::write(&file, format!("[{}]", said.join(","))).expect("written");
    let repo = Repo::ephemeral().expect("a repository");
    let (told, read) = (Cell::new(0), Cell::new(0));
    let between = || told.set(told.get() + 1);
    let request = ImportRequest {
        waiting: Waiting {
            between: Some(&between),
            ..Waiting::TO_THE_END
        },
        ..ImportRequest::at(Millis(0), "import")
    };
    let mut progress = |_| read.set(read.get() + 1);
    import_family(&repo, &file, &request, &mut progress).expect("it comes in");
    SHARE.set(None);
    assert!(
        told.get() > read.get(),
        "{} beside {}",
        told.get(),
        read.get()
    );
}
