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
        serde_json::from_str(include_str!("../../data/responses/request.json")).expect("JSON");
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
    sandbox.write(
        "body.json",
        include_str!("../../data/responses/response.json"),
    );
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
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "responses"]), @r#"{"input":[{"type":"reasoning","summary":[],"encrypted_content":"c2VhbGVk"},{"type":"message","role":"assistant","content":"12 loaves."}]}"#);
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
        let resumed = crate::sessions::resume::written(&sandbox);
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
    for form in ["openai", "responses", "anthropic", "gemini", "text"] {
        sandbox.ok(&["config", "compile.format", form]);
        let asked = sandbox.ok(&["compile", "--format", form]);
        assert_eq!(sandbox.ok(&["compile"]), asked, "{form}");
    }
    insta::assert_snapshot!(sandbox.tract(&["config", "compile.format", "bedrock"]), @r"
    exit code: 2
    --- stderr
    error: request format: unknown 'bedrock' (openai, responses, anthropic, gemini, text)
    hint: tract config --help says what each setting takes
    ");
}

#[test]
fn a_request_has_the_system_prompt_and_tools_of_the_clients_snapshots() {
    let record = |kind: &str, uuid: &str, parent: &str, more: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","version":"2.1.290",{more}}}"#
        ) + "\n"
    };
    let snapshot = |more: &str| {
        format!(
            r#""attachment":{{"type":"prompt_snapshot","cliPrefix":"You are a client.","systemPrompt":["You mill.","Be brief."]{more}}}"#
        )
    };
    let tools = r#","tools":[{"name":"Mill","description":"Mills.","schema":{"name":"Mill","description":"Mills.","input_schema":{"type":"object"}}}]"#;
    let session = [
        record(
            "user",
            "u1",
            "null",
            r#""message":{"role":"user","content":"Hello."}"#,
        ),
        record("attachment", "s1", r#""u1""#, &snapshot(r#","tools":[]"#)),
        record(
            "assistant",
            "a1",
            r#""s1""#,
            r#""message":{"id":"m","role":"assistant","model":"claude-opus-5","content":[{"type":"text","text":"Hi."}]}"#,
        ),
        record("attachment", "s2", r#""a1""#, &snapshot(tools)),
    ];
    let sandbox = Sandbox::empty();
    sandbox.write("s.jsonl", session.concat());
    sandbox.ok(&["import", "s.jsonl"]);
    let request = sandbox.ok(&["compile", "--format", "anthropic", "--request"]);
    let request: Value = serde_json::from_str(&request).expect("JSON");
    assert_eq!(request["system"][0]["text"], "You are a client.");
    assert_eq!(request["system"][1]["text"], "You mill.\n\nBe brief.");
    assert_eq!(request["tools"][0]["input_schema"]["type"], "object");
    assert_eq!(request["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(request["model"], "claude-opus-5");
    let told = sandbox.tract(&["compile", "--format", "anthropic", "--request"]);
    assert!(
        told.contains("system prompt and tools are those of the session file"),
        "{told}"
    );
    assert!(!told.contains("not in the session file"), "{told}");
}

#[test]
fn what_a_text_cites_goes_back_to_the_provider() {
    let search = r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"rain"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://example.org/","title":"T","encrypted_content":"eA=="}]}"#;
    let cited = r#"{"type":"text","text":"It rains.","citations":[{"type":"web_search_result_location","url":"https://example.org/","title":"T","encrypted_index":"aQ==","cited_text":"It rains."}]}"#;
    let sandbox = Sandbox::empty();
    let request = format!(
        r#"{{"model":"claude-opus-5","max_tokens":9,"messages":[{{"role":"user","content":"Rain?"}},{{"role":"assistant","content":[{search},{cited}]}},{{"role":"user","content":"So."}}]}}"#
    );
    sandbox.write("request.json", &request);
    sandbox.ok(&["import", "request.json"]);
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    assert!(compiled.contains("aQ=="), "{compiled}");
    // What was changed is no longer what the references are to.
    sandbox.ok(&["commit", "--edit", ":2", "-m", "It does not."]);
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    assert!(!compiled.contains("aQ=="), "{compiled}");

    let record = |kind: &str, uuid: &str, parent: &str, message: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","cwd":"/w","version":"2.1.290","message":{message}}}"#
        ) + "\n"
    };
    let session = [
        record("user", "u1", "null", r#"{"role":"user","content":"Rain?"}"#),
        record(
            "assistant",
            "a1",
            r#""u1""#,
            &format!(
                r#"{{"id":"m","role":"assistant","model":"claude-opus-5","content":[{search},{cited}]}}"#
            ),
        ),
    ];
    let sandbox = Sandbox::empty();
    sandbox.write("s.jsonl", session.concat());
    sandbox.ok(&["import", "s.jsonl"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    let mut written = String::new();
    let folders = std::fs::read_dir(sandbox.home().join(".claude/projects")).expect("a folder");
    for folder in folders {
        for file in std::fs::read_dir(folder.expect("one").path()).expect("a folder") {
            written += &std::fs::read_to_string(file.expect("one").path()).expect("read");
        }
    }
    assert!(written.contains("aQ=="), "{written}");
}

/// What a request cites stands in its file in Anthropic's form: the client that goes on with it sends it back.
#[test]
fn what_a_request_cites_is_resumed_or_said() {
    let search = r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"rain"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://example.org/","title":"T","encrypted_content":"eA=="}]}"#;
    let citation = r#"{"type":"web_search_result_location","url":"https://example.org/","title":"T","encrypted_index":"aQ==","cited_text":"It rains."}"#;
    let request = format!(
        r#"{{"model":"claude-opus-5","max_tokens":9,"messages":[{{"role":"user","content":"Rain?"}},{{"role":"assistant","content":[{search},{{"type":"text","text":"It rains.","citations":[{citation}]}}]}},{{"role":"user","content":"It rains."}},{{"role":"assistant","content":"It rains."}}]}}"#
    );
    let sandbox = Sandbox::empty();
    sandbox.write("request.json", &request);
    sandbox.ok(&["import", "request.json"]);
    let resumed = |tool: &str, folder: &str| {
        let told = sandbox.tract(&["resume", "--in", tool]);
        let mut written = Vec::new();
        let mut folders = vec![sandbox.home().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("one").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    written.push(std::fs::read_to_string(path).expect("read"));
                }
            }
        }
        (written.concat(), told)
    };
    let (written, told) = resumed("claude-code", ".claude/projects");
    let records = written
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let blocks = records.flat_map(|record| {
        let content = record["message"]["content"].as_array().cloned();
        content.unwrap_or_default()
    });
    let texts: Vec<Value> = blocks.filter(|block| block["type"] == "text").collect();
    let citing: Vec<&Value> = texts
        .iter()
        .filter(|text| text["citations"].is_array())
        .collect();
    // Of three that say the same, the one that refers to the search.
    assert_eq!(citing.len(), 1, "{written}");
    assert_eq!(citing[0]["citations"][0]["encrypted_index"], "aQ==");
    assert!(!told.contains("refer"), "{told}");
    let (written, told) = resumed("codex", ".codex/sessions");
    assert!(!written.contains("aQ=="), "{written}");
    assert!(told.contains("what 1 text refers to is left out"), "{told}");
    // Where what was searched for is gone, there is nothing to refer to.
    sandbox.ok(&["commit", "--edit", ":2", "-m", "It does not."]);
    let (_, told) = resumed("codex", ".codex/sessions");
    assert!(!told.contains("refers"), "{told}");
}

/// The tools that a model of OpenAI's has of its own, and what a search at the provider found.
#[test]
fn own_tools_of_a_provider_are_read_found_and_sent_back() {
    let sandbox = Sandbox::new();
    let input = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files."}]},
        {"type": "shell_call", "call_id": "s1", "status": "completed", "action": {"commands": ["ls harbour"], "timeout_ms": 1000}},
        {"type": "shell_call_output", "call_id": "s1", "output": [
            {"stdout": "lighthouse.txt\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        ]},
        {"type": "apply_patch_call", "call_id": "p1", "status": "completed",
            "operation": {"type": "update_file", "path": "pier.txt", "diff": "@@\n-x\n+y\n"}},
        {"type": "apply_patch_call_output", "call_id": "p1", "status": "failed", "output": "hunk does not fit"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "tides of Emden"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]);
    sandbox.write(
        "body.json",
        json!({"model": "m", "input": &input}).to_string(),
    );
    sandbox.ok(&["import", "body.json"]);
    let body: Value =
        serde_json::from_str(&sandbox.ok(&["compile", "--format", "responses"])).expect("JSON");
    // A reply without an id is a text.
    let mut sent = input;
    sent[6]["content"] = json!("Done.");
    assert_eq!(body["input"], sent);
    for format in ["openai", "anthropic"] {
        let sent = sandbox.ok(&["compile", "--format", format]);
        for said in [
            "ls harbour",
            "lighthouse.txt",
            "pier.txt",
            "hunk does not fit",
        ] {
            assert!(sent.contains(said), "{format} lacks {said}: {sent}");
        }
    }
    for said in ["harbour", "lighthouse", "pier.txt", "tides of Emden"] {
        assert!(sandbox.ok(&["find", said]).contains(said), "{said}");
        assert!(
            sandbox.ok(&["log", "--grep", said]).lines().count() == 1,
            "{said}"
        );
    }
    let log = sandbox.ok(&["log", "--reverse", "--format", "%r %s"]);
    insta::assert_snapshot!(log, @r#"
    user List the files.
    assistant shell commands=["ls harbour"], timeout_ms=1000
    tool lighthouse.txt
    assistant apply_patch pier.txt type="update_file"
    tool hunk does not fit
    assistant Done.
    "#);
    let chat = sandbox.ok(&["view"]);
    assert!(chat.contains("tides of Emden"), "{chat}");
    // A result that was cut short is still what the tool takes.
    sandbox.ok(&["drop", ":3"]);
    let body = sandbox.ok(&["compile", "--format", "responses"]);
    let _: Value = serde_json::from_str(&body).expect("JSON");
}
