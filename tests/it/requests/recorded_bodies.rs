//! A client's requests, recorded: what it did to its own context, and each request as it was sent.

use serde_json::Value;

use crate::sandbox::Sandbox;

const FILES: &str = include_str!("../../data/bodies/files.jsonl");

/// A folder of bodies, as a client writes it, one after the other.
fn folder(sandbox: &Sandbox) -> Vec<Value> {
    let mut requests = Vec::new();
    for (line, second) in FILES.lines().zip(0..) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let name = line["file"].as_str().expect("a name");
        let path = sandbox.write(&format!("bodies/{name}"), line["body"].to_string());
        let file = std::fs::File::options().write(true).open(path);
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_770_000_000 + second);
        file.and_then(|file| file.set_modified(time)).expect("set");
        if name.ends_with(".request.json") {
            requests.push(line["body"].clone());
        }
    }
    requests
}

#[test]
fn a_folder_of_recorded_requests_gives_each_of_them_back() {
    let sandbox = Sandbox::empty();
    let requests = folder(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["import", "bodies"]));
    insta::assert_snapshot!(sandbox.tract(&["log", "--reverse"]));
    let compiled = |of: &[&str]| -> Value {
        let words = [&["compile", "--request", "--format", "anthropic"], of].concat();
        serde_json::from_str(&sandbox.ok(&words)).expect("JSON")
    };
    // What the first reply answered, and where the session stands.
    assert_eq!(compiled(&["--for", ":4"]), requests[0]);
    assert_eq!(compiled(&["HEAD"]), requests[1]);
    let agent = "main/agent-5a1e0000-2";
    assert_eq!(compiled(&[agent]), requests[3]);
    // What is changed since is no request that was sent.
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on."]);
    let last = &compiled(&["HEAD"])["messages"];
    assert!(last.to_string().contains("Go on."), "{last}");
}

#[test]
fn a_changed_request_has_the_marks_and_forms_of_the_last_that_was_sent() {
    let sandbox = Sandbox::empty();
    let requests = folder(&sandbox);
    sandbox.ok(&["import", "bodies"]);
    let compiled = || -> Value {
        let words = ["compile", "--request", "--format", "anthropic"];
        serde_json::from_str(&sandbox.ok(&words)).expect("JSON")
    };
    let marks = |value: &Value| value.to_string().matches("cache_control").count();
    let last = &requests[1];
    // Without the word of skills: each other message is as it was, the marked one too.
    sandbox.ok(&["drop", "--force", ":3"]);
    let dropped = compiled();
    let mut wanted = last["messages"].as_array().expect("a list").clone();
    wanted.remove(1);
    assert_eq!(dropped["messages"], Value::from(wanted.clone()));
    assert_eq!((marks(&dropped), marks(last)), (2, 2));
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Flour."]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on."]);
    let more = compiled();
    let messages = more["messages"].as_array().expect("a list");
    assert_eq!(messages[..wanted.len()], wanted);
    assert_eq!(marks(&more), 2);
}

#[test]
fn a_request_alone_comes_back_as_it_was() {
    let cases = [
        (
            "anthropic",
            serde_json::json!({
                "max_tokens": 64, "model": "m", "stream": false, "system": "You keep a pantry.",
                "messages": [{"role": "user", "content": "What is left?"}],
            }),
        ),
        (
            "openai",
            serde_json::json!({
                "model": "m", "n": 1, "messages": [
                    {"role": "system", "content": "You keep a pantry."},
                    {"role": "user", "content": [{"type": "text", "text": "What is left?"}]},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{ }"}},
                    ]},
                    {"role": "tool", "content": "Jars.", "tool_call_id": "c", "name": "look"},
                ],
            }),
        ),
    ];
    for (format, body) in cases {
        let sandbox = Sandbox::empty();
        sandbox.write("one.json", body.to_string());
        sandbox.ok(&["import", "one.json"]);
        let words = ["compile", "--request", "--format", format];
        let back: Value = serde_json::from_str(&sandbox.ok(&words)).expect("JSON");
        assert_eq!(back, body, "{format}");
    }
}
