//! Taking out what a revision holds, no more and no less.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn fixture(path: &str) -> String {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    std::fs::read_to_string(data.join(path)).expect("a fixture")
}

/// The records of an export.
fn records(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let value = |line| serde_json::from_str(line).expect("a record");
    lines.map(value).collect()
}

fn uuids(records: &[Value]) -> Vec<&str> {
    let uuid = |record: &'_ Value| record["uuid"].as_str().map(str::len).is_some();
    let records = records.iter().filter(|record| uuid(record));
    records
        .filter_map(|record| record["uuid"].as_str())
        .collect()
}

#[test]
fn what_came_later_is_not_in_an_export_of_an_earlier_revision() {
    let sandbox = Sandbox::empty();
    sandbox.write("parallel.jsonl", fixture("claude-code/parallel.jsonl"));
    sandbox.ok(&["import", "parallel.jsonl"]);

    // The results of the first calls stand before the last call of the same reply.
    let reply = records(&sandbox.ok(&["export", ":2"]));
    assert_eq!(uuids(&reply), ["u1", "a1", "a2", "a3", "a4", "p1"]);
}

#[test]
fn another_tools_file_says_where_the_session_was_and_what_it_is_called() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", crate::sessions::import::SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    let written = |format: &str| sandbox.ok(&["export", "--format", format]);
    for format in [
        "codex",
        "continue",
        "copilot-cli",
        "kilo",
        "opencode",
        "pi",
        "qwen",
    ] {
        let file = written(format);
        assert!(file.contains(r#""/home/mara/tally""#), "{format}: {file}");
    }
    for format in ["continue", "kilo", "opencode", "vscode-chat"] {
        let file = written(format);
        assert!(file.contains("Read the bank's amounts"), "{format}: {file}");
    }
}

#[test]
fn the_ending_of_a_file_asks_for_a_page_where_no_format_is_named() {
    let sandbox = Sandbox::empty();
    sandbox.write("parallel.jsonl", fixture("claude-code/parallel.jsonl"));
    sandbox.ok(&["import", "parallel.jsonl"]);
    let written = |arguments: &[&str], file: &str| {
        sandbox.ok(&[&["export", "-o", file], arguments].concat());
        std::fs::read_to_string(sandbox.work().join(file)).expect("written")
    };
    assert!(written(&[], "page.html").starts_with("<!"));
    assert!(written(&[], "page.md").starts_with('#'));
    assert!(written(&[], "again.HTML").starts_with("<!"));
    assert!(!records(&written(&[], "session.jsonl")).is_empty());
    let named = written(&["--format", "claude-code"], "named.html");
    assert!(!records(&named).is_empty());

    // A session that is a file of Markdown stays one.
    let sandbox = Sandbox::empty();
    let session = fixture("specstory/session.md");
    sandbox.write("session.md", &session);
    sandbox.ok(&["import", "session.md"]);
    sandbox.ok(&["export", "-o", "again.md"]);
    let again = std::fs::read_to_string(sandbox.work().join("again.md"));
    assert_eq!(again.expect("written"), session);
}

#[test]
fn a_message_on_top_of_a_sub_agents_file_is_the_sub_agents() {
    let sandbox = Sandbox::empty();
    sandbox.write(
        "agent-abe7108.jsonl",
        fixture("claude-code/agent-abe7108.jsonl"),
    );
    sandbox.ok(&["import", "agent-abe7108.jsonl"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "and the tests"]);
    let before = sandbox.ok(&["compile"]);

    sandbox.ok(&["export", "-o", "agent-again.jsonl"]);
    sandbox.ok(&["init", "other"]);
    sandbox.ok(&["--repo", "other", "import", "agent-again.jsonl"]);
    assert_eq!(sandbox.ok(&["--repo", "other", "compile"]), before);
}

#[test]
fn a_form_that_is_read_and_not_written_is_answered_with_those_that_are_written() {
    let sandbox = Sandbox::empty();
    sandbox.write("wire.jsonl", fixture("kimi/plain.jsonl"));
    sandbox.ok(&["import", "wire.jsonl"]);
    // Until something is new, the file's own bytes are given.
    sandbox.ok(&["commit", "-r", "user", "-m", "And the barrels?"]);
    let told = sandbox.tract(&["export"]);
    let hint = told.lines().find(|line| line.starts_with("hint: "));
    let (_, names) = hint
        .and_then(|hint| hint.split_once("are written: "))
        .expect("a list");
    let names: Vec<&str> = names.split(", ").collect();
    assert!(!names.contains(&"kimi"), "{told}");
    assert!(names.len() > 5, "{told}");
    for name in names.iter().filter(|name| !name.ends_with("stream")) {
        sandbox.ok(&["export", "--format", name, "-o", &format!("{name}.out")]);
    }
}

#[test]
fn a_sub_agent_that_its_parents_file_mirrors_is_written_as_a_file_of_its_own() {
    let sandbox = Sandbox::empty();
    sandbox.write("parent.jsonl", fixture("claude-code/agent-progress.jsonl"));
    sandbox.ok(&["import", "parent.jsonl"]);
    let agent = "main/agent-abe7108";

    sandbox.ok(&["export", agent, "-o", "agent.jsonl"]);
    sandbox.ok(&["init", "other"]);
    sandbox.ok(&["--repo", "other", "import", "agent.jsonl"]);
    let before = sandbox.ok(&["compile", agent]);
    assert_eq!(sandbox.ok(&["--repo", "other", "compile"]), before);
}

#[test]
fn a_block_of_several_lines_is_one_line_of_a_rollout() {
    let sandbox = Sandbox::empty();
    sandbox.write("rollout.jsonl", fixture("codex/plain.jsonl"));
    sandbox.ok(&["import", "rollout.jsonl"]);
    let audio = "{\"role\":\"user\",\"content\":[{\"type\":\"input_note\",\n \
                 \"input_note\":\n{\"data\":\"AA==\",\"format\":\"wav\"}}]}";
    sandbox.write("audio.json", audio);
    sandbox.ok(&["commit", "--json", "audio.json"]);

    let exported = sandbox.ok(&["export"]);
    let last = records(&exported);
    let said = last
        .iter()
        .rev()
        .find(|record| record["type"] == "response_item");
    let content = &said.expect("an item")["payload"]["content"];
    assert_eq!(content[0]["input_note"]["data"], "AA==");
}

#[test]
fn an_edit_keeps_the_records_that_are_no_messages() {
    let sandbox = Sandbox::empty();
    let file = fixture("claude-code/parallel.jsonl");
    sandbox.write("parallel.jsonl", &file);
    sandbox.ok(&["import", "parallel.jsonl"]);
    sandbox.ok(&["commit", "--edit", ":1", "-m", "Compare the three logs."]);

    let kinds = |records: &[Value]| -> Vec<String> {
        let kind = |record: &Value| record["type"].as_str().unwrap_or_default().to_owned();
        let kinds = records.iter().map(kind);
        let mut kinds: Vec<String> = kinds.collect();
        kinds.sort();
        kinds
    };
    let exported = sandbox.ok(&["export"]);
    assert!(exported.contains("Compare the three logs."));
    assert_eq!(kinds(&records(&exported)), kinds(&records(&file)));
}

#[test]
fn an_edited_prompt_is_not_shown_as_it_was() {
    let sandbox = Sandbox::empty();
    let file = fixture("codex/plain.jsonl");
    sandbox.write("rollout.jsonl", &file);
    sandbox.ok(&["import", "rollout.jsonl"]);
    let prompt = records(&file)
        .into_iter()
        .find(|record| record["payload"]["type"] == "user_message");
    let prompt = prompt.expect("a prompt")["payload"]["message"].clone();
    let prompt = prompt.as_str().expect("a text").to_owned();
    sandbox.ok(&[
        "commit",
        "--edit",
        &format!(":/{prompt}"),
        "-m",
        "Something else",
    ]);

    let exported = records(&sandbox.ok(&["export"]));
    let shown: Vec<&Value> = exported
        .iter()
        .filter(|record| record["payload"]["type"] == "user_message")
        .map(|record| &record["payload"]["message"])
        .collect();
    assert!(shown.contains(&&Value::from("Something else")));
    assert!(!shown.contains(&&Value::from(prompt)));
    let contexts = |records: &[Value]| {
        records
            .iter()
            .filter(|r| r["type"] == "turn_context")
            .count()
    };
    assert_eq!(contexts(&exported), contexts(&records(&file)));
}

#[test]
fn of_two_sessions_that_say_the_same_the_one_that_is_named_is_written() {
    let sandbox = Sandbox::empty();
    let row = |id: &str, uuid: &str, parent: &str, role: &str, text: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{role}","uuid":"{uuid}","sessionId":"{id}","timestamp":"2026-01-05T10:00:01.000Z","message":{{"role":"{role}","content":"{text}"}}}}"#
        )
    };
    let ids = [
        "11111111-2222-4333-8444-555555555555",
        "99999999-2222-4333-8444-555555555555",
    ];
    for (id, name) in ids.iter().zip(["one", "two"]) {
        let rows = [
            row(id, "u1", "null", "user", "hello"),
            row(id, "a1", "\"u1\"", "assistant", "hi"),
        ];
        let file = format!("{id}.jsonl");
        sandbox.write(&file, rows.join("\n") + "\n");
        sandbox.ok(&["import", &file, "--as", name]);
    }
    for (id, name) in ids.iter().zip(["one", "two"]) {
        let exported = records(&sandbox.ok(&["export", name]));
        assert!(
            exported.iter().all(|record| record["sessionId"] == **id),
            "{name}"
        );
        let exported = records(&sandbox.ok(&["export", &format!("{name}~1")]));
        assert!(
            exported.iter().all(|record| record["sessionId"] == **id),
            "{name}~1"
        );
    }
}

/// The forms of frameworks.
const FORMS: [&str; 3] = ["ui-message", "pydantic-ai", "otel"];

/// What a model is sent, without what no form holds: white space in the arguments of calls, where instructions are cut
/// into texts, and that they are a developer's.
fn sent(sandbox: &Sandbox, rev: &str) -> Vec<Value> {
    let text = sandbox.ok(&["compile", rev, "--format", "openai"]);
    let mut sent: Value = serde_json::from_str(&text).expect("JSON");
    if let Value::Object(request) = &mut sent {
        sent = request.remove("messages").expect("messages");
    }
    let mut messages = sent.as_array().expect("a list").clone();
    for message in &mut messages {
        if message["role"] == "developer" {
            message["role"] = "system".into();
        }
        if message["role"] == "system"
            && let Some(texts) = message["content"].as_array()
        {
            let texts = texts.iter().filter_map(|part| part["text"].as_str());
            message["content"] = texts.collect::<String>().into();
        }
        // pydantic-ai has no names of files.
        let parts = message.get_mut("content").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            if let Some(file) = part.get_mut("file").and_then(Value::as_object_mut) {
                file.remove("filename");
            }
        }
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten() {
            // A call that is no function's is one.
            if let Some(custom) = call.get("custom").cloned() {
                *call = serde_json::json!({"id": call["id"], "type": "function",
                    "function": {"name": custom["name"], "arguments": custom["input"]}});
            }
            let arguments = &mut call["function"]["arguments"];
            let parsed = arguments.as_str().map(serde_json::from_str::<Value>);
            if let Some(Ok(parsed)) = parsed {
                *arguments = parsed;
            }
        }
    }
    messages
}

/// How many replies were billed, and what for.
fn billed(sandbox: &Sandbox) -> Value {
    let told: Value = serde_json::from_str(&sandbox.ok(&["api", "cost", "{}"])).expect("JSON");
    told["total"].clone()
}

#[test]
fn what_a_framework_is_given_comes_back_and_is_paid_for_once() {
    let fixtures = [
        ("claude-code/compaction.jsonl", "claude.jsonl"),
        ("claude-code/agent-progress.jsonl", "agents.jsonl"),
        ("codex/plain.jsonl", "rollout.jsonl"),
        ("gemini/plain.json", "chat.json"),
    ];
    for (fixture_name, name) in fixtures {
        let sandbox = Sandbox::empty();
        sandbox.write(name, fixture(fixture_name));
        sandbox.ok(&["import", name]);
        let (before, paid) = (sent(&sandbox, "HEAD"), billed(&sandbox));
        for form in FORMS {
            let file = format!("again-{form}.json");
            sandbox.ok(&["export", "--format", form, "-o", &file]);
            sandbox.ok(&["import", &file, "--as", form]);
            assert_eq!(sent(&sandbox, form), before, "{fixture_name} as {form}");
            assert_eq!(billed(&sandbox), paid, "{fixture_name} as {form}");
        }
        sandbox.ok(&["fsck"]);
    }
}

#[test]
fn what_is_hidden_stays_out_of_a_frameworks_form_and_what_is_secret_too() {
    let key = format!("sk-ant-api03-{}", "aB3dE6gH9jK2mN5pQ8".repeat(5));
    let sandbox = Sandbox::with_messages(&[
        ("user", "Name a river."),
        ("assistant", "The Elbe."),
        ("user", &format!("The key is {key}.")),
        ("assistant", "Noted."),
        ("user", "And a lake?"),
        ("assistant", "The Müritz."),
    ]);
    sandbox.ok(&["drop", ":2"]);
    for form in FORMS {
        let refused = sandbox.tract(&["export", "--format", form]);
        assert!(refused.starts_with("exit code: 1"), "{form}: {refused}");
        let file = format!("{form}.json");
        sandbox.ok(&["export", "--format", form, "--redact", "-o", &file]);
        let text = std::fs::read_to_string(sandbox.work().join(&file)).expect("written");
        assert!(
            !text.contains(&key) && text.contains("[redacted:"),
            "{text}"
        );
        assert!(!text.contains("Elbe") && text.contains("Müritz"), "{text}");
        sandbox.ok(&["import", &file, "--as", form]);
        let texts = sandbox.ok(&["compile", form, "--format", "text"]);
        assert!(
            texts.contains("And a lake?") && texts.contains("[redacted:"),
            "{texts}"
        );
    }
}

#[test]
fn a_trace_tells_what_replies_cost() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", crate::sessions::import::SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    let told: Value =
        serde_json::from_str(&sandbox.ok(&["export", "--format", "otel"])).expect("JSON");
    let spans = told["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .expect("spans");
    let of = |span: &Value, key: &str| {
        let attributes = span["attributes"].as_array().expect("a list");
        let found = attributes.iter().find(|it| it["key"] == key);
        found.map(|it| it["value"].clone())
    };
    let costs: Vec<f64> = spans
        .iter()
        .filter_map(|span| of(span, "gen_ai.usage.cost")?["doubleValue"].as_f64())
        .collect();
    let counted = spans
        .iter()
        .filter(|span| of(span, "gen_ai.usage.input_tokens").is_some());
    assert!(!costs.is_empty());
    assert_eq!(costs.len(), counted.count());
    assert!(costs.iter().all(|cost| *cost > 0.0));
    // Each span stands in a trace with a span of its agent.
    for span in spans.iter().filter(|span| !span["parentSpanId"].is_null()) {
        let parent = spans
            .iter()
            .find(|it| it["spanId"] == span["parentSpanId"])
            .expect("a parent");
        assert_eq!(parent["traceId"], span["traceId"]);
    }
}
