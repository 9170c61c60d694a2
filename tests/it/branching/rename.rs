//! What is kept by a branch's name stays the branch's own when it is called otherwise, and is no new branch's.

use std::path::Path;

use tract::model::RefName;
use tract::repo::Repo;

use crate::sandbox::Sandbox;

/// A session of Claude Code with so many messages.
fn session(count: usize) -> String {
    let record = |at: usize| {
        let role = ["user", "assistant"][at % 2];
        let parent = match at.checked_sub(1) {
            Some(above) => format!("\"{above:08}-0000-4000-8000-000000000000\""),
            None => "null".to_owned(),
        };
        format!(
            "{{\"type\":\"{role}\",\"parentUuid\":{parent},\"uuid\":\"{at:08}-0000-4000-8000-000000000000\",\
             \"isSidechain\":false,\"sessionId\":\"aaaaaaaa-0000-4000-8000-000000000001\",\"cwd\":\"/w\",\
             \"timestamp\":\"2026-01-02T03:04:05Z\",\"message\":{{\"role\":\"{role}\",\"content\":\"said {at}\"}}}}\n"
        )
    };
    (0..count).map(record).collect()
}

fn branches(sandbox: &Sandbox) -> Vec<String> {
    let lines = sandbox.ok(&["branch"]);
    let name = |line: &str| line[2..].split(' ').next().unwrap_or("").to_owned();
    lines.lines().map(name).collect()
}

#[test]
fn a_session_goes_on_on_its_branch_whatever_that_is_called() {
    let sandbox = Sandbox::with_messages(&[("user", "mine")]);
    let import = |count: usize| {
        sandbox.write("session.jsonl", session(count));
        sandbox.tract(&["import", "session.jsonl"])
    };
    import(2);
    sandbox.ok(&["branch", "-m", "claude-code-aaaaaaaa", "plan"]);
    assert!(import(4).contains("now 4 messages, on plan"));
    assert_eq!(branches(&sandbox), ["main", "plan"]);
    assert!(sandbox.tract(&["checkout", "aaaaaaaa"]).contains("On plan"));
    sandbox.ok(&["checkout", "main"]);
    // As often as one likes, and back again.
    sandbox.ok(&["branch", "-m", "plan", "idea"]);
    assert!(import(6).contains("now 6 messages, on idea"));
    sandbox.ok(&["branch", "-m", "idea", "notion"]);
    sandbox.ok(&["undo"]);
    assert!(import(8).contains("now 8 messages, on idea"));
    assert_eq!(branches(&sandbox), ["main", "idea"]);
}

#[test]
fn a_session_whose_branch_somebody_has_named_stays() {
    let sandbox = Sandbox::with_messages(&[("user", "mine")]);
    let path = sandbox.write("session.jsonl", session(2));
    sandbox.ok(&["import", "session.jsonl"]);
    std::fs::remove_file(path).expect("removed");
    sandbox.wait_days(100);
    let goes = |sandbox: &Sandbox| sandbox.ok(&["gc", "--keep", "0", "--dry-run"]);
    assert!(goes(&sandbox).contains("claude-code/aaaaaaaa"));
    sandbox.ok(&["branch", "-m", "claude-code-aaaaaaaa", "plan"]);
    assert!(!goes(&sandbox).contains("claude-code/aaaaaaaa"));
    sandbox.ok(&["gc", "--keep", "0", "--expire", "now"]);
    assert!(sandbox.ok(&["log", "plan"]).contains("said 1"));
    sandbox.ok(&["branch", "-m", "plan", "claude-code-aaaaaaaa-2"]);
    assert!(goes(&sandbox).contains("claude-code/aaaaaaaa"));
}

#[test]
fn a_rename_that_is_done_again_takes_the_session_along_again() {
    let sandbox = Sandbox::with_messages(&[("user", "mine")]);
    let import = |count: usize| {
        sandbox.write("session.jsonl", session(count));
        sandbox.tract(&["import", "session.jsonl"])
    };
    import(2);
    sandbox.ok(&["branch", "-m", "claude-code-aaaaaaaa", "plan"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["redo"]);
    assert!(import(4).contains("now 4 messages, on plan"));
    assert_eq!(branches(&sandbox), ["main", "plan"]);
}

/// Two paths that edited one message differently, and the merge of them that was begun.
fn conflict() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&["commit", "--edit", ":1", "-m", "theirs"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["commit", "--edit", ":1", "-m", "ours"]);
    sandbox.tract(&["merge", "idea", "--messages"]);
    assert!(sandbox.ok(&["status"]).contains("Merging idea"));
    sandbox
}

#[test]
fn a_merge_that_is_under_way_goes_along_with_its_branch() {
    let sandbox = conflict();
    sandbox.ok(&["branch", "-m", "trunk"]);
    assert!(sandbox.ok(&["status"]).contains("Merging idea"));
    sandbox.ok(&["undo"]);
    assert!(sandbox.ok(&["status"]).contains("Merging idea"));
    sandbox.ok(&["branch", "-m", "trunk"]);
    sandbox.ok(&["resolve", ":1", "--ours"]);
    sandbox.ok(&["merge", "--continue"]);
    assert!(!sandbox.ok(&["status"]).contains("Merging"));
}

#[test]
fn a_new_branch_of_an_old_name_takes_over_nothing_of_it() {
    let sandbox = conflict();
    sandbox.ok(&["checkout", "idea"]);
    sandbox.ok(&["branch", "-d", "main"]);
    // What is deleted by mistake comes back with its merge.
    sandbox.ok(&["undo"]);
    sandbox.ok(&["checkout", "main"]);
    assert!(sandbox.ok(&["status"]).contains("Merging idea"));
    for make in [&["branch", "main"][..], &["checkout", "-b", "main"]] {
        sandbox.ok(&["checkout", "idea"]);
        sandbox.ok(&["branch", "-d", "main"]);
        sandbox.ok(make);
        sandbox.tract(&["checkout", "main"]);
        assert!(!sandbox.ok(&["status"]).contains("Merging"), "{make:?}");
    }
}

#[test]
fn a_branch_goes_to_the_remote_that_was_set_for_it() {
    let sandbox = Sandbox::with_messages(&[("user", "mine")]);
    let mut there = sandbox.command(&["init", "there"]);
    assert!(
        there
            .env_remove("TRACT_REPO")
            .status()
            .expect("it runs")
            .success()
    );
    sandbox.ok(&["remote", "add", "there", "there"]);
    sandbox.ok(&["push", "-u", "there", "main"]);
    let goes_to = |branch: &str| {
        let repo = Repo::open(Path::new(&sandbox.place())).expect("opens");
        let branch = RefName::branch(branch).expect("a name");
        repo.remote_of(&branch).expect("reads")
    };
    assert_eq!(goes_to("main").as_deref(), Some("there"));
    sandbox.ok(&["branch", "-m", "trunk"]);
    assert_eq!(goes_to("trunk").as_deref(), Some("there"));
    sandbox.ok(&["checkout", "-b", "main"]);
    assert_eq!(goes_to("main"), None);
}
