//! A request that was imported is the request that is made of it.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What is made of a request, and what is said of it.
fn made(body: &Value, format: &str) -> (Value, String) {
    let sandbox = Sandbox::empty();
    sandbox.write("body.json", body.to_string());
    sandbox.ok(&["import", "body.json"]);
    let exported: Value = serde_json::from_str(&sandbox.ok(&["export"])).expect("JSON");
    assert_eq!(exported, *body, "exported");
    let output = sandbox.tract(&["compile", "--request", "--format", format]);
    let (request, notes) = output.split_once('\n').expect("a line");
    let request = serde_json::from_str(request).expect("JSON");
    (request, notes.to_owned())
}

#[test]
fn of_anthropics_form() {
    let body = json!({
        "model": "claude-opus-4-8",
        "max_tokens": 100,
        "system": "Be brief.",
        "mcp_servers": [{"type": "url", "url": "https://example.com", "name": "e"}],
        "metadata": {"user_id": "u"},
        "service_tier": "auto",
        "cache_control": {"type": "ephemeral"},
        "context_management": {"edits": []},
        "output_config": {"effort": "high"},
        "stream": true,
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "two at once"},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
                {"type": "tool_use", "id": "t2", "name": "f", "input": {}},
                {"type": "tool_use", "id": "t3", "name": "f", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "", "is_error": false},
                {"type": "tool_result", "tool_use_id": "t2"},
                {"type": "tool_result", "tool_use_id": "t3", "content": "as a string"},
            ]},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": [
                {"type": "text", "text": "more", "cache_control": {"type": "ephemeral"}},
            ]},
        ],
    });
    let (request, notes) = made(&body, "anthropic");
    assert_eq!(request, body);
    assert!(!notes.contains("left out"), "{notes}");

    // What the other provider would not take is named.
    let (_, notes) = made(&body, "openai");
    for key in [
        "mcp_servers",
        "cache_control",
        "context_management",
        "output_config",
    ] {
        assert!(notes.contains(&format!("'{key}'")), "{key}: {notes}");
    }
}

#[test]
fn of_openais_form() {
    let body = json!({
        "model": "gpt-5",
        "n": 2,
        "logit_bias": {"1": 2},
        "verbosity": "low",
        "service_tier": "flex",
        "metadata": {"topic": "t"},
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "t1", "content": ""},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": "on"},
        ],
    });
    let (request, notes) = made(&body, "openai");
    assert_eq!(request, body);
    assert!(!notes.contains("left out"), "{notes}");

    let (_, notes) = made(&body, "anthropic");
    for key in ["n", "logit_bias", "verbosity", "service_tier", "metadata"] {
        assert!(notes.contains(&format!("'{key}'")), "{key}: {notes}");
    }
}

#[test]
fn of_a_clients_session() {
    let row = |uuid: &str, parent: Value, kind: &str, message: Value| {
        let row = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid,
            "sessionId": "11111111-2222-4333-8444-555555555555",
            "timestamp": "2026-01-05T10:00:01.000Z", "message": message,
        });
        row.to_string() + "\n"
    };
    let call = json!({
        "type": "tool_use", "id": "t1", "name": "f", "input": {}, "caller": {"type": "direct"},
    });
    let result = json!({
        "type": "tool_result", "tool_use_id": "t1", "content": "", "is_error": false,
    });
    let rows = [
        row(
            "u1",
            Value::Null,
            "user",
            json!({"role": "user", "content": "go"}),
        ),
        row(
            "a1",
            "u1".into(),
            "assistant",
            json!({
                "id": "m1", "role": "assistant", "model": "claude-x", "content": [call],
            }),
        ),
        row(
            "u2",
            "a1".into(),
            "user",
            json!({"role": "user", "content": [result]}),
        ),
    ];
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", rows.concat());
    sandbox.ok(&["import", "session.jsonl"]);
    let output = sandbox.tract(&["compile", "--request", "--format", "anthropic"]);
    let request = output.lines().next().expect("a line");
    let request: Value = serde_json::from_str(request).expect("JSON");
    let call = json!({"type": "tool_use", "id": "t1", "name": "f", "input": {}});
    assert_eq!(
        request["messages"],
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ])
    );
}
