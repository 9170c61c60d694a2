//! A conversation with a command, every turn a commit.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

fn texts(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.ok(&["log", "-n", "0", "--format", "%s"]);
    log.lines().rev().map(str::to_owned).collect()
}

#[test]
fn every_prompt_is_sent_with_all_earlier_turns_and_every_turn_is_a_commit() {
    let sandbox = Sandbox::new();
    let chat = ["chat", "--agent", "cat", "--format", "text"];
    insta::assert_snapshot!(
        sandbox.tract_with(&chat, "hello\n\nand you?\n/undo\n/quit\nnot said\n")
    );
    insta::assert_snapshot!(sandbox.ok(&["log", "--oneline"]));
    insta::assert_snapshot!(sandbox.ok(&["reflog"]));
    let asked = sandbox.tract_with(
        &["chat", "--agent", "cat", "--format", "openai"],
        "//etc is a place",
    );
    assert!(
        asked.contains(r#"{"role":"user","content":"/etc is a place"}"#),
        "{asked}"
    );
}

#[test]
fn an_answer_may_be_a_stream_of_events() {
    let sandbox = Sandbox::new();
    let stream = format!(
        "{}/tests/data/anthropic-stream/tools.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let agent = format!("cat {stream}");
    insta::assert_snapshot!(sandbox.tract_with(&["chat", "--agent", &agent], "water\n"));
    assert_eq!(texts(&sandbox)[..2], ["water", "I look at both beds."]);
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    assert!(
        compiled.contains("\"signature\":\"c2lnbmVk\""),
        "{compiled}"
    );
}

#[test]
fn an_agent_that_fails_keeps_what_it_said_and_the_chat_goes_on() {
    let sandbox = Sandbox::new();
    let agent = "read first; case \"$first\" in *dies*) printf 'so far'; echo why >&2; exit 3;; \
                 *mute*) ;; *killed*) printf 'half '; kill -9 $$;; *) printf fine;; esac";
    let script = "it dies\nit is mute\nit is killed\nit works\n";
    let agent = format!("tail -n 1 | (IFS=; {agent})");
    let chat = ["chat", "--agent", &agent, "--format", "text"];
    insta::assert_snapshot!(sandbox.tract_with(&chat, script));
    assert_eq!(
        texts(&sandbox),
        [
            "it dies",
            "(interrupted) so far",
            "it is mute",
            "it is killed",
            "(interrupted) half",
            "it works",
            "fine"
        ]
    );
}

#[test]
fn an_agent_that_floods_is_stopped() {
    let sandbox = Sandbox::new();
    let said = sandbox.tract_with(&["chat", "--agent", "yes | tr -d '\\n'"], "go\n");
    assert!(
        said.contains("it said more than 16 MiB"),
        "{}",
        &said[said.len() - 300..]
    );
    assert_eq!(texts(&sandbox).len(), 2);
    let missing = sandbox.tract_with(&["chat", "--agent", "no-such-command-here"], "go\n");
    assert!(missing.contains("it ended with exit code 127"), "{missing}");
}

#[test]
fn ctrl_c_cancels_an_answer_and_keeps_what_was_said() {
    let sandbox = Sandbox::new();
    let agent = "trap '' INT TERM; printf 'so far'; while :; do sleep 3; done";
    let mut child = sandbox
        .command(&["chat", "--agent", agent])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(b"go\n").expect("taken");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("go") {
        line.clear();
        assert_ne!(out.read_line(&mut line).expect("UTF-8"), 0, "it ended");
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(sent.expect("kill").success());
    while !line.contains("so far") {
        line.clear();
        assert_ne!(out.read_line(&mut line).expect("UTF-8"), 0, "it ended");
    }
    // It goes on with the next prompt.
    stdin.write_all(b"/undo\n").expect("taken");
    drop(stdin);
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
    assert_eq!(texts(&sandbox), ["go"]);
    sandbox.ok(&["redo"]);
    assert_eq!(texts(&sandbox), ["go", "(interrupted) so far"]);
}

#[test]
fn the_budget_applies_before_each_turn() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "budget.max", "12"]);
    sandbox.ok(&["config", "budget.action", "refuse"]);
    let long = "one two three four five six seven eight nine ten eleven twelve\nhi\n";
    insta::assert_snapshot!(sandbox.tract_with(&["chat", "--agent", "true"], long));
    assert_eq!(texts(&sandbox), ["hi"]);
}

#[test]
fn a_chat_in_memory_is_the_same_and_can_be_kept() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::empty();
    let chat = ["--ephemeral", "chat", "--agent", "cat", "--format", "text"];
    insta::assert_snapshot!(sandbox.tract_with(&chat, "one\ntwo\n/save kept\n/save kept\n"));
    insta::assert_snapshot!(sandbox.ok(&["--repo", "kept", "log", "--oneline"]));
    insta::assert_snapshot!(sandbox.tract_with(&chat, "lost\n"));
    assert!(!sandbox.work().join(".tract").exists());
    insta::assert_snapshot!(sandbox.tract_with(&["chat", "--agent", "cat"], "nowhere\n"));
}

#[test]
fn a_saved_chat_goes_on_where_it_was_saved() {
    let sandbox = Sandbox::empty();
    let agent = "cat >/dev/null; echo ok";
    let said = sandbox.tract_with(
        &["--ephemeral", "chat", "--agent", agent],
        "hi\n/save\nthere\n/save\n",
    );
    assert!(!said.contains("nothing of it was kept"), "{said}");
    assert_eq!(texts(&sandbox), ["hi", "ok", "there", "ok"]);
    assert_eq!(sandbox.ok(&["branch"]).lines().count(), 1, "{said}");
}

#[test]
fn no_answer_is_refused_once_it_was_given() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "budget.max", "30"]);
    sandbox.ok(&["config", "budget.action", "refuse"]);
    let agent = "cat >/dev/null; echo an answer that is long enough to be counted as many tokens";
    let said = sandbox.tract_with(
        &["chat", "--agent", agent],
        "a first prompt with some words in it\nand one more\n",
    );
    // The next prompt is: it has no room, and stands nowhere.
    assert!(
        said.contains("over its budget of 30; nothing was committed"),
        "{said}"
    );
    let kept = texts(&sandbox);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept[1].starts_with("an answer that is long"), "{kept:?}");
}
