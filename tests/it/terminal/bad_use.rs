//! Bad use ends in a clear error, and nothing is written.

use std::process::Stdio;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

#[test]
fn init_twice_is_harmless() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["init"]), @r#"
    --- stderr
    Made an empty repository in .tract
    hint: tract import brings in a session; tract commit -r user -m "…" writes one
    "#);
    sandbox.ok(&["commit", "-r", "user", "-m", "hello"]);
    insta::assert_snapshot!(sandbox.tract(&["init"]), @r"
    --- stderr
    There is a repository already in .tract; nothing changed
    ");
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 1);
}

#[test]
fn outside_a_repository_nothing_is_made() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    exit code: 1
    --- stderr
    error: no tract repository here or above
    hint: tract demo shows what tract does, tract init makes an empty repository
    ");
    let status = sandbox.tract(&["status"]);
    for command in [
        &["log"][..],
        &["show"],
        &["compile"],
        &["export", "--format", "openai"],
        &["resume"],
        &["config"],
        &["commit", "-r", "user", "-m", "hello"],
    ] {
        assert_eq!(sandbox.tract(command), status, "{command:?}");
    }
    assert!(!sandbox.work().join(".tract").exists());
}

#[test]
fn a_repository_that_is_named_and_not_there_is_missed_by_its_name() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["--repo", "other notes", "status"]), @r"
    exit code: 1
    --- stderr
    error: no tract repository in other notes
    hint: tract --repo 'other notes' init makes one
    ");
    insta::assert_snapshot!(sandbox.tract(&["--repo", "other notes", "init"]), @r#"
    --- stderr
    Made an empty repository in other notes/.tract
    hint: tract import brings in a session; tract commit -r user -m "…" writes one
    "#);
    sandbox.ok(&["--repo", "other notes", "status"]);
}

#[test]
fn what_cannot_be_committed_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.txt", b"caf\xe9");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "usr", "-m", "hello"]), @r"
    exit code: 2
    --- stderr
    error: unknown role 'usr'
    hint: did you mean user?
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "wizard", "-m", "hello"]), @r"
    exit code: 2
    --- stderr
    error: unknown role 'wizard'
    hint: system, developer, user, assistant or tool
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-m", ""]), @r"
    exit code: 2
    --- stderr
    error: the message is empty
    hint: tract commit -r user -m TEXT
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-F", "missing.txt"]), @r"
    exit code: 1
    --- stderr
    error: missing.txt: no such file or directory
    hint: check the path: its directories must exist, and a relative path begins at the current directory
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-F", "bad.txt"]), @r"
    exit code: 2
    --- stderr
    error: bad.txt: not valid UTF-8 at byte 3
    hint: iconv -f ISO-8859-1 -t UTF-8 bad.txt converts Latin-1
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-F", "~nosuchuser/x"]), @r"
    exit code: 2
    --- stderr
    error: '~nosuchuser/x': the home of 'nosuchuser' is not known
    hint: only ~ and ~/… are understood; ./~nosuchuser/x is a file of that name
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "tool", "-m", "output"]), @r"
    exit code: 2
    --- stderr
    error: a tool's message must name the --call that it answers
    hint: tract commit --call ID -m TEXT
    ");
    insta::assert_snapshot!(sandbox.tract(&["--on", "a..b", "commit", "-r", "user", "-m", "x"]), @r"
    exit code: 2
    --- stderr
    error: 'a..b' is not a valid name: '..' and '@{' have a meaning in revisions
    hint: such as fix-parser or ideas/one
    ");
    insta::assert_snapshot!(sandbox.tract(&["log"]), @r#"
    exit code: 1
    --- stderr
    error: 'main' has no commits yet
    hint: tract import, or tract commit -r user -m "…"
    "#);
}

#[test]
fn an_unknown_revision_gets_the_nearest() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    insta::assert_snapshot!(sandbox.tract(&["show", "mian"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'mian'
    hint: did you mean main?
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", "nothing-like-it"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'nothing-like-it'
    hint: tract log --oneline lists them, tract branch the branches
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile", "HEAD~7"]), @r#"
    exit code: 1
    --- stderr
    error: 'HEAD~7' goes back beyond the first commit
    hint: the first is dbc1344 ("one")
    "#);
}

#[test]
fn a_branch_that_nobody_made_is_an_error_with_what_was_meant() {
    let sandbox = Sandbox::new();
    // HEAD may be on a branch that is new.
    sandbox.ok(&["init"]);
    sandbox.ok(&["--on", "main", "status"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Which rivers are there?"]);
    sandbox.ok(&["branch", "ideas"]);
    for command in [
        &["status"][..],
        &["log"],
        &["view"],
        &["compile"],
        &["diff"],
        &["show"],
        &["blame", ":1"],
        &["truncate", "--keep", "1"],
        &["prune"],
        &["clear"],
        &["rebase", "main"],
        &["bundle", "all.tract"],
        &["push", "../there"],
    ] {
        let told = sandbox.tract(&[&["--on", "idaes"], command].concat());
        let meant = "error: no branch 'idaes'\nhint: did you mean ideas?\n";
        assert!(
            told.starts_with("exit code: 1\n") && told.contains(meant),
            "{command:?}: {told}"
        );
    }
    let told = sandbox.tract(&["--on", "window", "log"]);
    assert!(
        told.contains("no branch 'window'") && !told.contains("did you mean"),
        "{told}"
    );
    // Programs ask for the kind, whoever made it.
    let told = sandbox.tract(&["--on", "idaes", "api", "log", "{}"]);
    assert!(told.contains(r#""kind":"empty_branch""#), "{told}");
    // One that had commits was made, and so was one that somebody's HEAD is on.
    sandbox.ok(&["--on", "sluice", "commit", "-r", "user", "-m", "And locks?"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["--on", "sluice", "status"]);
    let told = sandbox.tract(&["--on", "sluice", "log"]);
    assert!(
        told.contains("error: 'sluice' has no commits yet"),
        "{told}"
    );
    // In a clone the other's branches are known by the other's name.
    sandbox.ok(&["clone", ".", "copy"]);
    let there = |arguments: &[&str]| sandbox.tract(&[&["--repo", "copy"], arguments].concat());
    let begin = "hint: origin/ideas is a remote's branch: tract branch ideas origin/ideas begins one here\n";
    for command in ["status", "log"] {
        let told = there(&["--on", "ideas", command]);
        assert!(told.contains(begin), "{told}");
    }
    there(&["branch", "ideas", "origin/ideas"]);
    let told = there(&["--on", "ideas", "log"]);
    assert!(told.contains("Which rivers"), "{told}");
}

#[test]
fn a_commit_that_brings_no_message_is_not_said_to_be_elsewhere() {
    let sandbox = Sandbox::new();
    for text in ["one", "two", "three"] {
        sandbox.ok(&["commit", "-r", "user", "-m", text]);
    }
    sandbox.ok(&["drop", ":2"]);
    let named = [
        &["blame", "HEAD"][..],
        &["drop", "HEAD"],
        &["annotate", "HEAD", "--pin"],
        &["commit", "--edit", "HEAD", "-m", "other"],
    ];
    for arguments in named {
        let said = sandbox.tract(arguments);
        let expected = "error: HEAD brings no message: its operation is drop\n\
             hint: tract show says what a commit does; tract log lists the messages";
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let asked = r#"{"id":1,"method":"read","params":{"rev":"HEAD"}}"#;
    let read = sandbox.tract_with(&["api"], asked.to_owned() + "\n");
    assert!(read.contains(r#""kind":"no_message""#), "{read}");
}

#[test]
fn a_closed_pipe_is_silent_success() {
    let sandbox = Sandbox::new();
    let long = "a long line of text ".repeat(20_000);
    sandbox.write("long.txt", &long);
    sandbox.ok(&["commit", "-r", "user", "-F", "long.txt"]);
    let mut child = sandbox
        .command(&["compile"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    let database = sandbox.work().join(".tract/tract.db");
    let text = "this is no database, and it was here first\n".repeat(40);
    std::fs::write(&database, &text).expect("written");
    let told = sandbox.tract(&["status"]);
    assert!(told.starts_with("exit code: 3\n"), "{told}");
    assert_eq!(std::fs::read_to_string(&database).expect("readable"), text);
}
