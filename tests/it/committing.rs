//! Messages written by hand or by a program.

use crate::sandbox::Sandbox;

#[test]
fn a_conversation_is_written_looked_at_and_compiled() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.tract(&["status"]));
    for arguments in [
        &["commit", "-r", "system", "-m", "You are helpful."][..],
        &[
            "commit",
            "-r",
            "user",
            "-m",
            "What is 6 × 7?",
            "--note",
            "first try",
        ],
        &[
            "commit",
            "-r",
            "assistant",
            "-m",
            "42",
            "--model",
            "gpt-5",
            "--temperature",
            "0.7",
        ],
    ] {
        insta::assert_snapshot!(sandbox.tract(arguments));
    }
    insta::assert_snapshot!(sandbox.tract(&["log"]));
    insta::assert_snapshot!(sandbox.tract(&["log", "--verbose", "-n", "2"]));
    insta::assert_snapshot!(sandbox.tract(&["status"]));
    insta::assert_snapshot!(sandbox.tract(&["show"]));
    insta::assert_snapshot!(sandbox.tract(&["compile"]));
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "anthropic", "--request"]));
    insta::assert_snapshot!(sandbox.tract(&["compile", "--for", "HEAD", "--format", "text"]));
}

#[test]
fn a_tools_call_and_its_result_come_as_json_and_text() {
    let sandbox = Sandbox::with_messages(&[("user", "list the files")]);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"path\": \".\"}"}}]}"#;
    sandbox.write("call.json", call);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--json", "call.json"]));
    insta::assert_snapshot!(
        sandbox.tract_with(&["commit", "--call", "call_1", "-"], "a.txt\nb.txt\n")
    );
    insta::assert_snapshot!(sandbox.tract(&["compile"]));
    let anthropic = r#"{"role":"assistant","content":[{"type":"text","text":"Two."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"n":1.0}}]}"#;
    insta::assert_snapshot!(sandbox.tract_with(&["commit", "--json", "-"], anthropic));
    insta::assert_snapshot!(sandbox.tract(&["show"]));
    insta::assert_snapshot!(sandbox.tract_with(&["commit", "--json", "-"], "not json"));
    insta::assert_snapshot!(
        sandbox.tract_with(&["commit", "-r", "user", "-"], "{\"not\": \"guessed\"}")
    );
}

#[test]
fn an_edit_keeps_its_place_and_role() {
    let sandbox = Sandbox::with_messages(&[("user", "old prompt"), ("assistant", "an answer")]);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--edit", ":1", "-m", "better prompt"]));
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "text"]));
    insta::assert_snapshot!(sandbox.tract(&["show"]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "--edit", ":9", "-m", "x"]));
}

#[test]
fn a_lost_expectation_is_exit_4_and_changes_nothing() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(
        sandbox.tract(&["commit", "-r", "user", "-m", "one", "--expect", "none"])
    );
    insta::assert_snapshot!(
        sandbox.tract(&["commit", "-r", "user", "-m", "two", "--expect", "none"])
    );
    let first = sandbox.ok(&["log"]);
    let first = &first[..7];
    sandbox.ok(&["commit", "-r", "assistant", "-m", "two", "--expect", first]);
    insta::assert_snapshot!(
        sandbox.tract(&["commit", "-r", "user", "-m", "late", "--expect", first])
    );
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 2);
}

#[test]
fn a_batch_comes_in_whole_or_not_at_all() {
    let sandbox = Sandbox::new();
    let good =
        "{\"role\":\"user\",\"content\":\"one\"}\n\n{\"role\":\"assistant\",\"content\":\"two\"}\n";
    let bad = format!("{good}{{\"role\":\"wizard\",\"content\":\"three\"}}\n");
    sandbox.write("bad.jsonl", &bad);
    sandbox.write("good.jsonl", good);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--batch", "bad.jsonl"]));
    insta::assert_snapshot!(sandbox.tract(&["log"]));
    insta::assert_snapshot!(sandbox.tract(&["commit", "--batch", "good.jsonl"]));
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 2);
}

#[test]
fn on_a_branch_head_stays() {
    let sandbox = Sandbox::with_messages(&[("user", "on main")]);
    sandbox.ok(&["--on", "side", "commit", "-r", "user", "-m", "on side"]);
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 1);
    insta::assert_snapshot!(sandbox.tract(&["--on", "side", "status"]));
}

#[test]
fn hostile_text_is_shown_and_never_executed() {
    let sandbox = Sandbox::new();
    let text = "\u{1b}[2J\u{7}wiped\u{202e}txt.exe\r\n\u{9b}31m";
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        text,
        "--note",
        "\u{1b}]0;title\u{7}",
    ]);
    for command in [&["log"][..], &["log", "-v"], &["status"], &["show"]] {
        let told = sandbox.ok(command);
        let leaked = told
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(leaked, None, "{command:?}: {told:?}");
        assert!(told.contains('␛'), "{command:?}: {told:?}");
    }
}

#[test]
fn a_setting_is_checked_and_kept() {
    let sandbox = Sandbox::with_messages(&[("user", "hello")]);
    sandbox.ok(&["config", "budget.max", "128k"]);
    assert_eq!(sandbox.ok(&["config", "budget.max"]), "128000\n");
    insta::assert_snapshot!(sandbox.tract(&["status"]));
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.maks", "5"]));
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.max", "much"]));
    sandbox.ok(&["config", "--unset", "budget.max"]);
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.max"]));
}
