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
fn of_the_responses_api() {
    let body: Value =
        serde_json::from_str(include_str!("../data/responses/request.json")).expect("JSON");
    let (request, notes) = made(&body, "responses");
    assert_eq!(request, body);
    assert!(!notes.contains("left out"), "{notes}");

    // One text is all of an input, until there is more.
    let body = json!({"model": "gpt-5", "input": "go", "parallel_tool_calls": false});
    let (request, _) = made(&body, "responses");
    assert_eq!(request, body);

    // Chat completions have a word for how hard it thinks, and not for what it is to send.
    let body = json!({
        "model": "gpt-5", "reasoning": {"effort": "low"}, "max_output_tokens": 9,
        "include": ["reasoning.encrypted_content"], "input": [
            {"role": "developer", "content": "Be brief."}, {"role": "user", "content": "go"},
        ],
    });
    let (request, notes) = made(&body, "openai");
    assert_eq!(request["reasoning_effort"], "low");
    assert_eq!(request["max_completion_tokens"], 9);
    assert_eq!(
        request["messages"][0],
        json!({"role": "developer", "content": "Be brief."})
    );
    assert!(
        notes.contains("'include'") && !notes.contains("'reasoning"),
        "{notes}"
    );
}

#[test]
fn a_response_of_the_responses_api_is_a_reply() {
    let sandbox = Sandbox::empty();
    sandbox.write("body.json", include_str!("../data/responses/response.json"));
    insta::assert_snapshot!(sandbox.tract(&["import", "body.json"]), @r"
    --- stderr
    Made a repository in .tract
    Imported responses body: 1 message, on main
    ");
    insta::assert_snapshot!(sandbox.tract(&["show"]), @r"
    append 99683f3c04551bcc564f12dd8fb7fc197f88367c7e384b4b1695bffe65551833
    refs      HEAD -> main, responses/body
    time      2026-01-01 00:00:00 +0000
    message   assistant (thinking, text)
    tokens    +11 = 11
    settings  model=gpt-5
    model     gpt-5
    usage     30 input (20 from the cache), 7 output (3 reasoning)
    price     $0.0001, API-equivalent, list prices of genai-prices 0.2.1 of 2026-10-30
    source    responses, 2 records

    #0
        thinking (signed)

    #1
        12 loaves.
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "responses"]), @r#"{"input":[{"type":"reasoning","summary":[],"encrypted_content":"c2VhbGVk"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"12 loaves."}]}]}"#);
}

#[test]
fn what_nobody_knows_of_a_request_goes_back_to_its_provider_alone() {
    for (body, format, other) in [
        (
            json!({"model": "m", "route_to": ["a"], "messages": [
                {"role": "system", "content": "Be brief."}, {"role": "user", "content": "go"},
            ]}),
            "openai",
            "responses",
        ),
        (
            json!({"model": "m", "max_tokens": 9, "system": "Be brief.", "route_to": {"a": 1.0}, "messages": [
                {"role": "user", "content": "go"},
            ]}),
            "anthropic",
            "openai",
        ),
        (
            json!({"model": "m", "route_to": "a", "input": [{"role": "user", "content": "go"}]}),
            "responses",
            "anthropic",
        ),
    ] {
        let (request, notes) = made(&body, format);
        assert_eq!(request, body);
        assert!(!notes.contains("left out"), "{notes}");
        let (request, notes) = made(&body, other);
        assert_eq!(request.get("route_to"), None);
        assert!(notes.contains("'route_to'"), "{other}: {notes}");
    }
}

#[test]
fn of_a_clients_session() {
    let call = json!({
        "type": "tool_use", "id": "t1", "name": "f", "input": {}, "caller": {"type": "direct"},
    });
    let without = json!({"type": "tool_use", "id": "t1", "name": "f", "input": {}});
    let result = json!({
        "type": "tool_result", "tool_use_id": "t1", "content": "", "is_error": false,
    });
    // Who made a call is sent back from a version on; none is older than all.
    let versions = [
        (None, &without),
        (Some("2.1.303"), &without),
        (Some("2.1.304"), &call),
    ];
    for (version, sent) in versions {
        let row = |uuid: &str, parent: Option<&str>, kind: &str, message: Value| {
            let mut row = json!({
                "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid,
                "sessionId": "11111111-2222-4333-8444-555555555555",
                "timestamp": "2026-01-05T10:00:01.000Z", "message": message,
            });
            if let Some(version) = version {
                row["version"] = version.into();
            }
            row.to_string() + "\n"
        };
        let reply = json!({
            "id": "m1", "role": "assistant", "model": "claude-x", "content": [call],
        });
        let rows = [
            row("u1", None, "user", json!({"role": "user", "content": "go"})),
            row("a1", Some("u1"), "assistant", reply),
            row(
                "u2",
                Some("a1"),
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
        assert_eq!(
            request["messages"],
            json!([
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [sent]},
                {"role": "user", "content": [result]},
            ]),
            "{version:?}"
        );
        // A session that goes on has it from the file, whoever reads that.
        sandbox.ok(&["resume"]);
        let resumed = crate::resuming::written(&sandbox);
        let calls = resumed
            .iter()
            .map(|record| &record["message"]["content"][0]);
        let calls: Vec<_> = calls.filter(|block| block["type"] == "tool_use").collect();
        assert_eq!(calls, [&call]);
    }
}

#[test]
fn each_form_of_a_request_can_be_the_usual_one() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    for form in ["openai", "responses", "anthropic", "text"] {
        sandbox.ok(&["config", "compile.format", form]);
        let asked = sandbox.ok(&["compile", "--format", form]);
        assert_eq!(sandbox.ok(&["compile"]), asked, "{form}");
    }
    insta::assert_snapshot!(sandbox.tract(&["config", "compile.format", "gemini"]), @r"
    exit code: 2
    --- stderr
    error: request format: unknown 'gemini' (openai, responses, anthropic, text)
    ");
}
