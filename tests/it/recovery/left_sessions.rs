//! A branch that leaves its session: what is new for it, and what it has left aside.

use crate::sandbox::Sandbox;
use crate::sessions::import::SESSION;

/// The session up to this line.
fn write(sandbox: &Sandbox, lines: usize) {
    let kept: Vec<&str> = SESSION.lines().take(lines).collect();
    sandbox.write("session.jsonl", kept.join("\n") + "\n");
}

/// The first line of a status.
fn head(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.push("status");
    let told = sandbox.ok(&all);
    told.lines().next().unwrap_or_default().to_owned()
}

/// A session of which more comes in later.
fn half() -> Sandbox {
    let sandbox = Sandbox::new();
    write(&sandbox, 58);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox
}

#[test]
fn a_fork_waits_for_nothing_of_its_session() {
    let sandbox = half();
    sandbox.ok(&["checkout", "-b", "other", ":4"]);
    assert!(!head(&sandbox, &[]).contains("new message"), "just begun");
    sandbox.ok(&["commit", "-r", "user", "-m", "Another way."]);
    assert!(!head(&sandbox, &[]).contains("new message"), "gone on");
    write(&sandbox, 100);
    sandbox.ok(&["import", "session.jsonl"]);
    assert!(
        !head(&sandbox, &[]).contains("new message"),
        "its session has grown"
    );
    // What one sets back is a fork as well.
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["reset", "HEAD~3"]);
    assert!(!head(&sandbox, &[]).contains("new message"), "set back");
}

#[test]
fn an_old_commit_that_is_looked_at_waits_for_nothing() {
    let sandbox = half();
    sandbox.ok(&["checkout", "HEAD~3"]);
    assert!(
        !head(&sandbox, &[]).contains("new message"),
        "{}",
        head(&sandbox, &[])
    );
}

#[test]
fn a_branch_that_left_its_session_at_the_end_is_told_what_came_in_since() {
    let sandbox = half();
    sandbox.ok(&["branch", "idea"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "a thought of my own"]);
    write(&sandbox, 100);
    sandbox.ok(&["import", "session.jsonl"]);
    let new = "4 new messages: tract import --onto";
    assert!(head(&sandbox, &[]).contains(new), "{}", head(&sandbox, &[]));
    // One that was made there by hand, too; and one that is set back to there is not.
    assert!(head(&sandbox, &["--on", "idea"]).contains(new));
    sandbox.ok(&["branch", "late", "idea"]);
    assert!(!head(&sandbox, &["--on", "late"]).contains("new message"));
    // What was taken over is not new, on a fork neither.
    sandbox.ok(&["import", "--onto", "main", "session.jsonl"]);
    assert!(!head(&sandbox, &[]).contains("new message"));
}

#[test]
fn taking_over_what_is_new_undoes_no_fork() {
    let sandbox = half();
    sandbox.ok(&["checkout", "-b", "other", ":4"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Another way."]);
    let before = sandbox.ok(&["log", "-n", "0"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "--onto", "other", "session.jsonl"]), @r"
    --- stderr
    Nothing new in claude-code 5b0c9a1e-7d42: 30 messages, 1 compaction
    other has all of it already
    ");
    assert_eq!(sandbox.ok(&["log", "-n", "0"]), before);
    write(&sandbox, 100);
    insta::assert_snapshot!(sandbox.tract(&["import", "--onto", "other", "session.jsonl"]), @r#"
    --- stderr
    Updated claude-code "Read the bank's amounts, and never in silence": 4 new commits, now 34 messages, 1 compaction, on main
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    hint: HEAD stayed where it was; to look: tract --on main status
    Appended 4 commits to other
    "#);
    let after = sandbox.ok(&["log", "-n", "0"]);
    assert_eq!(after.lines().count(), before.lines().count() + 4);
}

#[test]
fn a_session_that_grows_beside_a_branch_set_back_says_where_it_is() {
    let sandbox = half();
    sandbox.ok(&["reset", "HEAD~3"]);
    write(&sandbox, 100);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r#"
    --- stderr
    Updated claude-code "Read the bank's amounts, and never in silence": 4 new commits, now 34 messages, 1 compaction; main left the session earlier, so it stays
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    hint: the new messages are in the session: tract log claude-code/5b0c9a1e
    "#);
}

#[test]
fn a_slip_in_a_branchs_name_begins_no_history_in_silence() {
    let sandbox = Sandbox::with_messages(&[("user", "hello")]);
    insta::assert_snapshot!(sandbox.tract(&["--on", "mian", "commit", "-r", "user", "-m", "hi"]), @"
    91ed875 user 5 tokens
    --- stderr
    note: new branch mian, empty until now
    ");
    // Once it is there, there is nothing to say.
    insta::assert_snapshot!(sandbox.tract(&["--on", "mian", "commit", "-r", "user", "-m", "hi"]), @"4297527 user 5 tokens");
    let tip = sandbox.ok(&["rev-parse", "main"]);
    let expect = [
        "--on",
        "amin",
        "commit",
        "-r",
        "user",
        "-m",
        "hi",
        "--expect",
        tip.trim(),
    ];
    insta::assert_snapshot!(sandbox.tract(&expect), @r"
    exit code: 4
    --- stderr
    error: 'amin' has moved: expected 2298e0c, found none
    hint: someone else committed first: look at tract --on amin log, then try again
    ");
    insta::assert_snapshot!(sandbox.tract(&["--on", "amin", "log"]), @r#"
    exit code: 1
    --- stderr
    error: no branch 'amin'
    hint: did you mean main?
    "#);
}
