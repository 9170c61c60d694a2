//! Commits handed to somebody else in one file.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, dump};

/// A session that was imported, and a message of one's own behind it.
fn mine() -> Sandbox {
    let sandbox = Sandbox::empty();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let session = fs::read(data.join("claude-code/compaction.jsonl")).expect("a fixture");
    sandbox.write("talk.jsonl", session);
    sandbox.ok(&["import", "talk.jsonl"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Look at this."]);
    sandbox
}

/// Brings a file from one to the other.
fn hand_over(from: &Sandbox, to: &Sandbox, file: &str) {
    let bytes = fs::read(from.work().join(file)).expect("it was written");
    to.write(file, bytes);
}

#[test]
fn a_session_that_was_handed_over_goes_on_there() {
    let (mine, yours) = (mine(), Sandbox::empty());
    insta::assert_snapshot!(mine.tract(&["bundle", "talk.tract", "--sources"]), @r"
    --- stderr
    Wrote 8 commits, 8 messages, 1 session file to talk.tract
    ");
    hand_over(&mine, &yours, "talk.tract");
    insta::assert_snapshot!(yours.tract(&["unbundle", "talk.tract"]), @r"
    --- stderr
    Made a repository in .tract
    Received 8 commits, 8 messages, 1 session file
      new    8e9d3a5  main
      new    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    assert_eq!(
        yours.ok(&["log", "--format", "%H %s"]),
        mine.ok(&["log", "--format", "%H %s"])
    );
    assert_eq!(yours.ok(&["compile"]), mine.ok(&["compile"]));
    assert_eq!(yours.ok(&["export"]), mine.ok(&["export"]));
    let resumed = yours.ok(&["resume"]);
    assert!(resumed.starts_with("claude --resume "), "{resumed}");
    yours.ok(&["fsck"]);

    // And back: only what is new.
    yours.ok(&["commit", "-r", "assistant", "-m", "I see."]);
    insta::assert_snapshot!(yours.tract(&["bundle", "back.tract", "HEAD^..main"]), @r"
    --- stderr
    Wrote 1 commit, 1 message to back.tract
    note: whoever reads it must already have 8e9d3a5
    ");
    hand_over(&yours, &mine, "back.tract");
    insta::assert_snapshot!(mine.tract(&["unbundle", "back.tract"]), @r"
    --- stderr
    Received 1 commit, 1 message
      grown  702ddbd  main
    ");
    assert_eq!(mine.ok(&["compile"]), yours.ok(&["compile"]));
    let reflog = mine.ok(&["reflog"]);
    insta::assert_snapshot!(mine.tract(&["unbundle", "back.tract"]), @r"
    --- stderr
    Nothing new
      known  702ddbd  main
    ");
    assert_eq!(mine.ok(&["reflog"]), reflog);
    mine.ok(&["undo"]);
    assert!(!mine.ok(&["log"]).contains("I see."));
}

/// Without the session files, what is handed over are the commits and the messages alone.
#[test]
fn what_is_in_a_session_file_beside_the_messages_goes_along_only_if_asked() {
    let mine = mine();
    mine.ok(&["bundle", "bare.tract"]);
    let yours = Sandbox::empty();
    hand_over(&mine, &yours, "bare.tract");
    yours.ok(&["unbundle", "bare.tract"]);
    assert_eq!(yours.ok(&["compile"]), mine.ok(&["compile"]));
    let tables = dump(&yours);
    for table in ["sources", "source_blocks", "commit_records", "sessions"] {
        let (_, rows) = tables
            .iter()
            .find(|(name, _)| name == table)
            .expect("a table");
        assert!(rows.is_empty(), "{table}");
    }
}

#[test]
fn what_goes_on_from_what_is_not_there_is_refused() {
    let (mine, yours) = (mine(), Sandbox::with_messages(&[("user", "other")]));
    mine.ok(&["bundle", "more.tract", "HEAD^..main"]);
    hand_over(&mine, &yours, "more.tract");
    let before = dump(&yours);
    insta::assert_snapshot!(yours.tract(&["unbundle", "more.tract"]), @r"
    exit code: 1
    --- stderr
    error: the bundle builds on commits that are not here: d128895
    hint: nothing was written; a bundle of the whole branch, not of a range, has them
    ");
    assert_eq!(dump(&yours), before);
}

#[test]
fn what_is_damaged_or_no_bundle_is_refused_and_makes_no_repository() {
    let (mine, yours) = (mine(), Sandbox::empty());
    mine.ok(&["bundle", "talk.tract"]);
    let mut bytes = fs::read(mine.work().join("talk.tract")).expect("it was written");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    yours.write("talk.tract", bytes);
    yours.write("notes.txt", "Not a bundle.");
    yours.write("later.tract", "tract bundle 3\nand what it will be");
    let files = [
        "talk.tract",
        "notes.txt",
        "later.tract",
        "missing.tract",
        ".",
    ];
    let told = files.map(|file| format!("{file}\n{}", yours.tract(&["unbundle", file])));
    insta::assert_snapshot!(told.concat(), @r"
    talk.tract
    exit code: 3
    --- stderr
    error: the bundle is not whole: it is not as it was written
    hint: nothing was written; tract bundle makes one where the commits are
    notes.txt
    exit code: 3
    --- stderr
    error: the bundle is not whole: it does not begin as one
    hint: nothing was written; tract bundle makes one where the commits are
    later.tract
    exit code: 3
    --- stderr
    error: the bundle is not whole: its version is not known here
    hint: nothing was written; tract bundle makes one where the commits are
    missing.tract
    exit code: 1
    --- stderr
    error: missing.tract: no such file or directory
    hint: check the path: its directories must exist, and a relative path begins at the current directory
    .
    exit code: 2
    --- stderr
    error: . is not a file
    hint: tract unbundle --help
    ");
    assert!(!yours.work().join(".tract").exists());
}

#[test]
fn what_has_no_name_cannot_be_handed_over() {
    let mine = mine();
    let before = dump(&mine);
    let told = [
        &["bundle", "a.tract", "HEAD~2"][..],
        &["bundle", "a.tract", "nothing"],
        &["bundle", "talk.jsonl"],
    ];
    let told = told.map(|command| mine.tract(command)).concat();
    insta::assert_snapshot!(told, @r"
    exit code: 2
    --- stderr
    error: 'HEAD~2' is not a branch, tag or session
    hint: tract branch NAME HEAD~2 gives it a name
    exit code: 1
    --- stderr
    error: nothing here is called 'nothing'
    hint: tract log --oneline lists them, tract branch the branches
    exit code: 1
    --- stderr
    error: talk.jsonl exists already
    hint: --force writes over it
    ");
    assert_eq!(dump(&mine), before);
    assert!(!mine.work().join("a.tract").exists());
    mine.ok(&["bundle", "talk.jsonl", "--force", "--all"]);
    // What is named twice is in it once, whatever stands between.
    mine.ok(&["tag", "v1"]);
    mine.ok(&["bundle", "twice.tract", "main", "v1", "main"]);
    let yours = Sandbox::empty();
    hand_over(&mine, &yours, "twice.tract");
    yours.ok(&["unbundle", "twice.tract"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        mine.ok(&["bundle", "private.tract"]);
        let facts = fs::metadata(mine.work().join("private.tract")).expect("it is there");
        assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_name_that_another_history_has_here_gets_a_number() {
    let (mine, yours) = (mine(), Sandbox::with_messages(&[("user", "my own")]));
    mine.ok(&["bundle", "talk.tract", "--all"]);
    hand_over(&mine, &yours, "talk.tract");
    insta::assert_snapshot!(yours.tract(&["unbundle", "talk.tract"]), @r"
    --- stderr
    Received 8 commits, 8 messages
      new    8e9d3a5  main-2, for main is another history here
      new    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(yours.tract(&["unbundle", "talk.tract"]), @r"
    --- stderr
    Nothing new
      known  8e9d3a5  main-2, for main is another history here
      known  d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
}
