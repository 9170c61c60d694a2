//! Signed thoughts of a tool loop: the provider takes all of those of one that still runs, unchanged, or none.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::upkeep::secrets::github;

/// The reply that thinks and calls, and the result.
fn step(number: usize, thought: &str) -> [Value; 2] {
    let (id, signature) = (format!("toolu_{number}"), format!("EqQB{number}"));
    let reply = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": thought, "signature": signature},
        {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}},
    ]});
    let result = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": "a.txt"},
    ]});
    [reply, result]
}

/// A loop of two steps that still runs; the first thought is this one.
fn running(thought: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let prompt = json!({"role": "user", "content": "Look around."});
    let steps = step(1, thought).into_iter().chain(step(2, "Once more."));
    let lines = std::iter::once(prompt)
        .chain(steps)
        .map(|it| it.to_string() + "\n");
    sandbox.write("talk.jsonl", lines.collect::<String>());
    sandbox.ok(&["commit", "--batch", "talk.jsonl"]);
    sandbox
}

/// The thoughts that a request has, and what is said of it.
fn thoughts(sandbox: &Sandbox) -> (usize, String) {
    let said = sandbox.tract(&["compile", "--format", "anthropic"]);
    let (request, notes) = said.split_once("--- stderr").unwrap_or((&said, ""));
    (
        request.matches(r#""type":"thinking""#).count(),
        notes.to_owned(),
    )
}

const NOTE: &str = "left out, for another one of its tool loop is gone";

#[test]
fn of_a_running_loops_thoughts_all_go_where_one_goes() {
    let token = github(3);
    let ways: [(&str, &[&str]); 3] = [
        ("Hm.", &["drop", ":2#0"]),
        ("Hm.", &["commit", "--edit", ":2", "--json", "edit.json"]),
        (&token, &["redact"]),
    ];
    for (thought, way) in ways {
        let sandbox = running(thought);
        let mut edit = step(1, "Something else.")[0].clone();
        edit["content"][0]["signature"] = json!("EqQB1");
        sandbox.write("edit.json", edit.to_string());
        assert_eq!(thoughts(&sandbox), (2, String::new()));
        sandbox.ok(way);
        let (count, notes) = thoughts(&sandbox);
        assert_eq!(count, 0, "{way:?}");
        assert!(notes.contains(NOTE), "{way:?}: {notes}");
        // A file that a tool goes on with is sent as well.
        let file = sandbox.ok(&["export", "--format", "claude-code"]);
        assert!(!file.contains("EqQB"), "{way:?}: {file}");
        assert!(
            file.contains("toolu_1") && file.contains("toolu_2"),
            "{file}"
        );
        sandbox.ok(&["undo"]);
        assert_eq!(thoughts(&sandbox), (2, String::new()));
    }
}

#[test]
fn a_loop_that_has_ended_keeps_its_other_thoughts() {
    let sandbox = running("Hm.");
    sandbox.ok(&["commit", "-r", "assistant", "-m", "One file."]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Thanks."]);
    sandbox.ok(&["drop", ":2#0"]);
    assert_eq!(thoughts(&sandbox), (1, String::new()));
}

/// What a whole step thought goes with its call: the others are as they were.
#[test]
fn a_step_that_goes_whole_leaves_the_others_theirs() {
    let sandbox = running("Hm.");
    sandbox.ok(&["drop", ":2"]);
    assert_eq!(thoughts(&sandbox), (1, String::new()));
    // An earlier loop is none of this one's business.
    let sandbox = running("Hm.");
    sandbox.ok(&["commit", "-r", "assistant", "-m", "One file."]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And there?"]);
    let lines = step(3, "There.").map(|it| it.to_string() + "\n");
    sandbox.write("more.jsonl", lines.concat());
    sandbox.ok(&["commit", "--batch", "more.jsonl"]);
    sandbox.ok(&["drop", ":2#0"]);
    assert_eq!(thoughts(&sandbox), (2, String::new()));
    sandbox.ok(&["drop", ":8#0"]);
    assert_eq!(thoughts(&sandbox).0, 1);
}
