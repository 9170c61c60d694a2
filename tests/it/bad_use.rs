//! Bad use ends in a clear error, and nothing is written.

use std::process::Stdio;

use crate::sandbox::Sandbox;

#[test]
fn init_twice_is_harmless() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["init"]));
    sandbox.ok(&["commit", "-r", "user", "-m", "hello"]);
    insta::assert_snapshot!(sandbox.tract(&["init"]));
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 1);
}

#[test]
fn outside_a_repository_nothing_is_made() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["status"]));
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
fn what_cannot_be_committed_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.txt", b"caf\xe9");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "usr", "-m", "hello"]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "wizard", "-m", "hello"]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-m", ""]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-F", "missing.txt"]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-F", "bad.txt"]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-F", "~nosuchuser/x"]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "tool", "-m", "output"]));
    insta::assert_snapshot!(sandbox.tract(&["--on", "a..b", "commit", "-r", "user", "-m", "x"]));
    insta::assert_snapshot!(sandbox.tract(&["log"]));
}

#[test]
fn an_unknown_revision_gets_the_nearest() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    insta::assert_snapshot!(sandbox.tract(&["show", "mian"]));
    insta::assert_snapshot!(sandbox.tract(&["show", "nothing-like-it"]));
    insta::assert_snapshot!(sandbox.tract(&["compile", "HEAD~7"]));
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
    let sandbox = Sandbox::new();
    let database = sandbox.work().join(".tract/tract.db");
    let text = "this is no database, and it was here first\n".repeat(40);
    std::fs::write(&database, &text).expect("written");
    let told = sandbox.tract(&["status"]);
    assert!(told.starts_with("exit code: 3\n"), "{told}");
    assert_eq!(std::fs::read_to_string(&database).expect("readable"), text);
}
