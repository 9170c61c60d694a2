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
    let audio = "{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\n \
                 \"input_audio\":\n{\"data\":\"AA==\",\"format\":\"wav\"}}]}";
    sandbox.write("audio.json", audio);
    sandbox.ok(&["commit", "--json", "audio.json"]);

    let exported = sandbox.ok(&["export"]);
    let last = records(&exported);
    let said = last
        .iter()
        .rev()
        .find(|record| record["type"] == "response_item");
    let content = &said.expect("an item")["payload"]["content"];
    assert_eq!(content[0]["input_audio"]["data"], "AA==");
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
