//! A context that is made to fit in one step: old tool outputs first, then the oldest messages.

use std::fmt::Write as _;

use serde_json::json;

use crate::sandbox::Sandbox;

/// Twelve steps, each with an output of some 6,000 tokens, and one last question.
fn long() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["init"]);
    let mut lines = String::new();
    let mut say = |line: serde_json::Value| writeln!(lines, "{line}").expect("a string takes all");
    for step in 0..12 {
        say(json!({ "role": "user", "content": format!("Do step {step}.") }));
        let id = format!("call_{step}");
        let function = json!({ "name": "read_file", "arguments": "{\"path\":\"notes.md\"}" });
        let call = json!({ "id": id, "type": "function", "function": function });
        say(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        let output = format!("line {step} of the notes\n").repeat(1_000);
        say(json!({ "role": "tool", "tool_call_id": id, "content": output }));
        say(json!({ "role": "assistant", "content": format!("Step {step} is done.") }));
    }
    say(json!({ "role": "user", "content": "And now?" }));
    let done = sandbox.tract_with(&["-q", "commit", "--batch", "-"], lines);
    assert!(!done.contains("error"), "{done}");
    sandbox
}

fn tokens(sandbox: &Sandbox) -> u64 {
    let status = sandbox.tract_with(&["api"], r#"{"id":1,"method":"status","params":{}}"#);
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    let tokens = status["result"]["tokens"]["tokens"].as_u64();
    tokens.unwrap_or_else(|| panic!("{status}"))
}

#[test]
fn only_as_many_outputs_as_it_takes_become_lines_and_undo_brings_them_back() {
    let sandbox = long();
    let before = tokens(&sandbox);
    let compiled = sandbox.ok(&["compile"]);
    let to = (before * 9 / 10).to_string();
    let would = sandbox.ok(&["shrink", "--to", &to, "--dry-run"]);
    assert!(would.starts_with("Would change 2 messages"), "{would}");
    assert!(would.contains("shrink would reach"), "{would}");
    assert_eq!(tokens(&sandbox), before);
    let did = sandbox.tract(&["shrink", "--to", &to]);
    assert!(did.contains("Pruned 2 tool outputs (-"), "{did}");
    assert!(tokens(&sandbox) <= before * 9 / 10);
    // With no cache known the oldest go first.
    let view = sandbox.ok(&["view"]);
    let lines: Vec<&str> = view
        .lines()
        .filter(|line| line.contains("hidden:"))
        .collect();
    assert_eq!(lines.len(), 2, "{view}");
    assert!(view.find("hidden:") < view.find("Do step 1."), "{view}");
    let again = sandbox.tract(&["shrink", "--to", &to]);
    assert!(
        again.contains("Nothing to shrink: the context fits"),
        "{again}"
    );
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.ok(&["compile"]), compiled);
}

#[test]
fn where_all_old_outputs_are_not_enough_the_oldest_messages_go_in_the_same_operation() {
    let sandbox = long();
    let compiled = sandbox.ok(&["compile"]);
    sandbox.ok(&["config", "budget.max", "7400"]);
    let did = sandbox.tract(&["shrink"]);
    assert!(
        did.contains(" tool output") && did.contains(", hid "),
        "{did}"
    );
    assert!(tokens(&sandbox) <= 7_400);
    let view = sandbox.ok(&["view"]);
    // The task and the newest turns stay.
    for stays in ["Do step 0.", "Do step 11.", "And now?"] {
        assert!(view.contains(stays), "{stays}: {view}");
    }
    assert!(!view.contains("Do step 1.\n"), "{view}");
    let reflog = sandbox.ok(&["reflog"]);
    assert!(reflog.contains("shrink"), "{reflog}");
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.ok(&["compile"]), compiled);

    let failed = sandbox.tract(&["shrink", "--to", "5"]);
    assert!(
        failed.contains("error: ") && failed.contains("hint: tract compact"),
        "{failed}"
    );
    assert_eq!(sandbox.ok(&["compile"]), compiled);
}

#[test]
fn how_far_is_said_by_an_option_or_a_setting() {
    let sandbox = Sandbox::with_messages(&[("user", "Hello.")]);
    let asked = sandbox.tract(&["shrink"]);
    assert!(
        asked.contains("hint: with tract config budget.max 128k"),
        "{asked}"
    );
    let asked = sandbox.tract(&["shrink", "--to", "80%"]);
    assert!(asked.contains("budget.max is not set"), "{asked}");
    let asked = sandbox.tract_with(
        &["api"],
        r#"{"id":1,"method":"shrink","params":{"to":"1k"}}"#,
    );
    assert!(asked.contains("\"commits\":[]"), "{asked}");
}
