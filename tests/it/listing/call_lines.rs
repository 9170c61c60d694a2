//! A call is told in the same words wherever it is listed.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const CALL: &str = "Bash cargo test --all # Run all tests cwd=\"/w/x\", timeout=120";

fn with_calls() -> Sandbox {
    let call = |id: &str, arguments: Value| {
        json!({"id": id, "type": "function",
               "function": {"name": "Bash", "arguments": arguments.to_string()}})
    };
    let run = json!({"command": "cargo test --all", "cwd": "/w/x", "timeout": 120, "description": "Run all tests"});
    let messages = [
        json!({"role": "user", "content": "Build it."}),
        json!({"role": "assistant", "tool_calls": [call("a", run)]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "12 passed"}),
        json!({"role": "assistant", "content": "Two more.",
               "tool_calls": [call("b", json!({"command": "ls one"})), call("b", json!({"command": "ls two"}))]}),
        json!({"role": "tool", "tool_call_id": "b", "content": "1.rs"}),
        json!({"role": "tool", "tool_call_id": "b", "content": "2.rs"}),
        json!({"role": "assistant", "content": "Done."}),
    ];
    let sandbox = Sandbox::new();
    sandbox.write("talk.json", json!({ "messages": messages }).to_string());
    sandbox.ok(&["import", "talk.json"]);
    sandbox
}

#[test]
fn a_call_has_the_same_words_in_every_list() {
    let sandbox = with_calls();
    for words in [
        ["log"].as_slice(),
        &["drop", ":2", "--dry-run"],
        &["truncate", "--keep", "2", "--dry-run"],
        &["find", "cargo"],
        &["find", "-F", "timeout=120"],
        &["diff", "HEAD~6", "HEAD"],
        &["blame", ":2"],
        &["status", "-v"],
        &["reset", ":2", "--dry-run"],
    ] {
        let told = sandbox.ok(words);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        // A sentence has room for the beginning.
        let wanted = if words[0] == "reset" {
            "Bash cargo test --all # Run all tests c…"
        } else {
            CALL
        };
        assert!(told.contains(wanted), "{words:?}: {told}");
        assert!(!told.contains("command="), "{words:?}: {told}");
    }
    let request = r#"{"id": 1, "method": "did", "params": {"command": "cargo test"}}"#;
    let told = sandbox.tract_with(&["api"], request);
    let told: Value = serde_json::from_str(told.trim()).expect("JSON");
    let call = told["result"]["acts"][0]["call"].as_str().expect("a call");
    assert_eq!(call.split_whitespace().collect::<Vec<_>>().join(" "), CALL);
}

#[test]
fn two_calls_that_share_an_id_are_told_with_the_results_that_are_theirs() {
    let sandbox = with_calls();
    let log = sandbox.ok(&["log"]);
    for pair in ["Bash ls one → 1.rs", "Bash ls two → 2.rs"] {
        assert!(log.contains(pair), "{log}");
    }
    // The same of one commit alone.
    assert!(
        sandbox
            .ok(&["log", ":5", "-n", "1"])
            .contains("Bash ls one → 1.rs")
    );
    assert!(
        sandbox
            .ok(&["log", ":6", "-n", "1"])
            .contains("Bash ls two → 2.rs")
    );
    let request = r#"{"id": 1, "method": "did", "params": {"command": "ls one"}}"#;
    let told = sandbox.tract_with(&["api"], request);
    assert!(told.contains("1.rs") && !told.contains("2.rs"), "{told}");
}

#[test]
fn a_request_of_the_newest_messages_has_the_calls_that_they_answer() {
    let sandbox = with_calls();
    let compiled = |words: &[&str]| -> Vec<Value> {
        let told = sandbox.ok(&[&["compile"], words].concat());
        let told: Value = serde_json::from_str(&told).expect("JSON");
        told["messages"].as_array().expect("messages").clone()
    };
    assert_eq!(compiled(&[]).len(), 7);
    // What is not cut is the same to the byte; of no message there is no request.
    for format in ["openai", "anthropic", "responses", "gemini", "text"] {
        let whole = sandbox.ok(&["compile", "--format", format]);
        let all = sandbox.ok(&["compile", "--format", format, "--last", "100"]);
        assert_eq!(all, whole, "{format}");
    }
    let none = sandbox.tract(&["compile", "--last", "0"]);
    assert!(none.starts_with("exit code: 2"), "{none}");
    let last = compiled(&["--last", "2"]);
    let roles: Vec<&str> = last.iter().filter_map(|it| it["role"].as_str()).collect();
    assert_eq!(
        roles,
        ["assistant", "tool", "tool", "assistant"],
        "{last:?}"
    );
    assert_eq!(compiled(&["--last", "1"]).len(), 1);
    sandbox.ok(&["annotate", ":1", "--pin"]);
    assert_eq!(compiled(&["--last", "1"]).len(), 2);
    sandbox.ok(&["undo"]);
    let thinking = r#"{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Yes."}]}"#;
    sandbox.write("thought.json", thinking);
    sandbox.ok(&["commit", "--json", "thought.json"]);
    let anthropic = |words: &[&str]| {
        sandbox.ok(&[&["compile", "--format", "text", "--last", "1"], words].concat())
    };
    assert!(anthropic(&[]).contains("Hm."), "{}", anthropic(&[]));
    let without = anthropic(&["--without-thinking"]);
    assert!(
        !without.contains("Hm.") && without.contains("Yes."),
        "{without}"
    );
}
