//! Going on in the tool that a session came from, or in another.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

/// Of two models, with parallel calls and thinking.
const TWO_MODELS: &str = include_str!("../../data/claude-code/parallel.jsonl");

/// Of Codex, with a developer's message.
const DEVELOPER: &str = include_str!("../../data/codex/fork.jsonl");

/// The only file below a directory.
fn only_file(directory: PathBuf) -> PathBuf {
    let mut entries = fs::read_dir(&directory).expect("it is there");
    let first = entries.next().expect("not empty").expect("readable").path();
    assert!(entries.next().is_none(), "one thing in {directory:?}");
    if first.is_dir() {
        only_file(first)
    } else {
        first
    }
}

/// The records of the session that a resume wrote for Claude Code.
pub fn written(sandbox: &Sandbox) -> Vec<Value> {
    let file = only_file(sandbox.home().join(".claude/projects"));
    let text = fs::read_to_string(file).expect("readable");
    let records = text.lines().map(serde_json::from_str);
    records.collect::<Result<_, _>>().expect("JSON")
}

fn title(records: &[Value]) -> Option<&str> {
    records
        .iter()
        .find_map(|record| record["customTitle"].as_str())
}

#[test]
fn each_reply_of_a_resumed_session_bears_the_model_that_made_it() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", TWO_MODELS);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let models = records
        .iter()
        .filter_map(|r| r["message"]["model"].as_str());
    let (opus, haiku) = ("claude-opus-4-5-20251101", "claude-haiku-4-5");
    // A record for each block: thinking and three calls, a text, and a text of the other model.
    assert_eq!(
        models.collect::<Vec<_>>(),
        [opus, opus, opus, opus, opus, haiku]
    );
}

#[test]
fn another_tools_model_is_not_taken_for_one_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "request.json",
        r#"{"model":"gpt-5.5","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#,
    );
    sandbox.ok(&["import", "request.json"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    let records = written(&sandbox);
    let models = records
        .iter()
        .filter_map(|r| r["message"]["model"].as_str());
    assert_eq!(models.collect::<Vec<_>>(), ["unknown"]);
}

#[test]
fn the_title_goes_along() {
    let sandbox = with_demo();
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    assert_eq!(
        title(&records),
        Some("Read the bank's amounts, and never in silence")
    );
}

#[test]
fn without_a_title_it_is_the_first_prompt_and_never_a_marker() {
    let sandbox = Sandbox::with_messages(&[
        ("system", "Be brief."),
        ("user", "<environment>linux</environment>"),
        ("user", "Mend the mill.\nNow."),
        ("assistant", "How?"),
        ("user", "With a hammer."),
        ("assistant", "Done."),
    ]);
    sandbox.ok(&["truncate", "--keep", "1"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    assert_eq!(title(&written(&sandbox)), Some("Mend the mill. Now."));
}

/// With what the client attaches: hooks, a file, lists, a prompt given in mid-turn, reminders.
const ATTACHED: &str = include_str!("../../data/claude-code/attached.jsonl");

fn with_attachments() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", ATTACHED);
    sandbox.tract(&["import", "session.jsonl"]);
    sandbox
}

#[test]
fn what_the_client_attached_is_seen_and_sent_as_the_model_takes_it() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", ATTACHED);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]));
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "0"]));
    // What the fourth reply answered; its model takes no system message in mid-conversation.
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "anthropic", "--for", ":18"]));
    // The second reply's does.
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "anthropic", "--for", ":9"]));
    insta::assert_snapshot!(sandbox.tract(&["compile", "--for", ":5"]));
    insta::assert_snapshot!(sandbox.tract(&["show", ":3"]));
}

#[test]
fn an_attachment_goes_with_the_message_beside_which_it_stands() {
    let sandbox = with_attachments();
    let texts = |sandbox: &Sandbox| sandbox.ok(&["compile", "--format", "text"]);
    let whole = texts(&sandbox);
    sandbox.ok(&["drop", ":13"]);
    let without = texts(&sandbox);
    assert!(
        !without.contains("Now the door.") && !without.contains("Hang the door"),
        "{without}"
    );
    sandbox.ok(&["undo"]);
    assert_eq!(texts(&sandbox), whole);

    // The task keeps what is attached to it.
    sandbox.ok(&["truncate", "--keep", "2"]);
    let kept = texts(&sandbox);
    for there in [
        "mend the wheel",
        "eight spokes",
        "And a bell.",
        "Bells are brass",
    ] {
        assert!(kept.contains(there), "{there}: {kept}");
    }
    for gone in ["And the door?", "Hang the door", "all whole"] {
        assert!(!kept.contains(gone), "{gone}: {kept}");
    }
    let hide = sandbox.ok(&["log", "-n", "1", "--format", "%h"]);
    sandbox.ok(&["restore", hide.trim()]);
    assert_eq!(texts(&sandbox), whole);

    // No attachment is a system message.
    sandbox.ok(&["clear"]);
    assert_eq!(sandbox.ok(&["compile", "--format", "text"]), "\n");
}

#[test]
fn a_single_attachment_can_be_taken_out() {
    let sandbox = with_attachments();
    sandbox.ok(&["drop", ":4"]);
    let left = sandbox.ok(&["compile", "--format", "text"]);
    assert!(
        !left.contains("carve: Carves") && left.contains("eight spokes"),
        "{left}"
    );
}

#[test]
fn an_export_gives_attachments_back_as_their_records() {
    let sandbox = with_attachments();
    // Something hidden since: the file is put together anew.
    sandbox.ok(&["drop", ":13"]);
    sandbox.tract(&["export", "-o", "out.jsonl"]);
    let before = sandbox.ok(&["compile", "--format", "text"]);
    let out = fs::read_to_string(sandbox.work().join("out.jsonl")).expect("written");
    for record in ATTACHED
        .lines()
        .filter(|line| line.contains("eight spokes"))
    {
        assert!(out.lines().any(|line| line == record), "{record}");
    }
    let other = Sandbox::new();
    other.write("out.jsonl", out);
    other.tract(&["import", "out.jsonl"]);
    assert_eq!(other.ok(&["compile", "--format", "text"]), before);
}

#[test]
fn a_resumed_session_holds_attachments_as_records_of_its_own() {
    let sandbox = with_attachments();
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let kinds = records
        .iter()
        .filter_map(|r| r["attachment"]["type"].as_str());
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            "hook_success",
            "file",
            "skill_listing",
            // Of which nothing is known: the client may know more.
            "command_permissions",
            "weather_report",
            "edited_text_file",
            "queued_command",
            "task_reminder",
            "nested_memory"
        ]
    );
    let old = "22222222-2222-4333-8444-555555555555";
    let chain = records.iter().filter(|record| record["uuid"].is_string());
    let mut last = Value::Null;
    for record in chain {
        assert_eq!(record["parentUuid"], last, "one chain: {record}");
        assert_ne!(record["sessionId"], old);
        last = record["uuid"].clone();
    }
    let before = sandbox.ok(&["compile", "--format", "text"]);
    let file = only_file(sandbox.home().join(".claude/projects"));
    let other = Sandbox::new();
    other.tract(&["import", &file.display().to_string()]);
    assert_eq!(other.ok(&["compile", "--format", "text"]), before);
}

#[test]
fn in_another_tool_attachments_are_the_users_text_within_tags() {
    let sandbox = with_attachments();
    sandbox.ok(&["resume", "--in", "codex"]);
    let file = only_file(sandbox.home().join(".codex"));
    let text = fs::read_to_string(file).expect("readable");
    assert!(
        text.contains(r"<system-reminder>\nCalled the Read tool"),
        "{text}"
    );
}

#[test]
fn an_undo_after_a_resume_says_that_it_moved_nothing() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    exit code: 1
    --- stderr
    error: 'resume --in claude-code' changed nothing here that undo could reverse
    hint: the session file that it wrote belongs to the tool; tract undo 2 reverses the command before it
    ");
    assert!(sandbox.ok(&["reflog"]).starts_with("#3  "));
    sandbox.ok(&["undo", "2"]);
    assert_eq!(sandbox.ok(&["log", "-n", "0"]).lines().count(), 1);
    // Who went past it is told nothing more.
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.tract(&["log"]).lines().next(), Some("exit code: 1"));
    sandbox.ok(&["redo"]);
    // What was done since is taken back as ever.
    sandbox.ok(&["commit", "-r", "user", "-m", "three"]);
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.ok(&["log", "-n", "0"]).lines().count(), 1);
}

/// The records of the session that a resume wrote for Codex.
fn rollout(sandbox: &Sandbox) -> Vec<Value> {
    let file = only_file(sandbox.home().join(".codex/sessions"));
    let text = fs::read_to_string(file).expect("readable");
    let records = text.lines().map(serde_json::from_str);
    records.collect::<Result<_, _>>().expect("JSON")
}

/// A rollout with instructions of the tool's own, two counted turns, and a provider of one's own.
const ROLLOUT: &str = r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"019cec3f-0900-7000-8000-000000000001","timestamp":"2026-03-01T10:00:00Z","cwd":"/mill","originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"mine","base_instructions":{"text":"You are Codex."}}}
{"timestamp":"2026-03-01T10:00:01Z","type":"turn_context","payload":{"model":"gpt-5.5"}}
{"timestamp":"2026-03-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions instructions>All.</permissions instructions>"}]}}
{"timestamp":"2026-03-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"One."}]}}
{"timestamp":"2026-03-01T10:00:03Z","type":"response_item","payload":{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Two."}]}}
{"timestamp":"2026-03-01T10:00:03Z","type":"response_item","payload":{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"Three."}]}}
{"timestamp":"2026-03-01T10:00:04Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":180000,"output_tokens":5},"last_token_usage":{"input_tokens":180000,"output_tokens":5}}}}
{"timestamp":"2026-03-01T10:00:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Four."}]}}
"#;

#[test]
fn codex_gets_its_records_and_its_provider_back_and_no_count_from_before_a_hide() {
    let sandbox = Sandbox::new();
    sandbox.write("rollout.jsonl", ROLLOUT);
    sandbox.ok(&["import", "rollout.jsonl"]);
    sandbox.ok(&["resume"]);
    let counts = |records: &[Value]| {
        let counts = records
            .iter()
            .filter(|r| r["payload"]["type"] == "token_count");
        counts.count()
    };
    let records = rollout(&sandbox);
    let meta = &records[0]["payload"];
    let facts = ["model_provider", "originator", "cli_version"].map(|key| meta[key].as_str());
    assert_eq!(facts, [Some("mine"), Some("codex_exec"), Some("0.169.0")]);
    assert_eq!(meta["base_instructions"]["text"], "You are Codex.");
    let phases = records
        .iter()
        .filter_map(|r| r["payload"]["phase"].as_str());
    assert_eq!(phases.collect::<Vec<_>>(), ["commentary", "final_answer"]);
    assert_eq!(counts(&records), 1);

    fs::remove_dir_all(sandbox.home().join(".codex")).expect("gone");
    sandbox.ok(&["drop", ":4"]);
    sandbox.ok(&["resume"]);
    assert_eq!(counts(&rollout(&sandbox)), 0);
}

#[test]
fn between_tools_the_base_prompt_stays_behind_and_the_provider_is_the_users() {
    let sandbox = Sandbox::new();
    sandbox.write("rollout.jsonl", ROLLOUT);
    sandbox.ok(&["import", "rollout.jsonl"]);
    insta::assert_snapshot!(sandbox.tract(&["resume", "--in", "claude-code"]).lines().skip(1).filter(|line| line.starts_with("note")).collect::<String>(), @"note: 2 system messages of the other tool left out");
    let text = serde_json::to_string(&written(&sandbox)).expect("JSON");
    assert!(
        !text.contains("You are Codex") && !text.contains("permissions"),
        "{text}"
    );
    assert!(text.contains("Four."));

    let sandbox = with_demo();
    let config = "# mine\nmodel = \"m\"\nmodel_provider = 'local' # here\n[model_providers.other]\nmodel_provider = \"no\"\n";
    fs::create_dir_all(sandbox.home().join(".codex")).expect("made");
    fs::write(sandbox.home().join(".codex/config.toml"), config).expect("written");
    sandbox.ok(&["resume", "--in", "codex"]);
    assert_eq!(rollout(&sandbox)[0]["payload"]["model_provider"], "local");
}

#[test]
fn without_the_client_the_session_is_written_and_the_command_is_told() {
    let sandbox = with_demo();
    sandbox.ok(&["commit", "-r", "user", "-m", "and now?"]);
    let run = |path: &str| {
        let mut command = sandbox.command(&["resume", "--in", "codex", "--run"]);
        let output = command.env("PATH", path).output().expect("it runs");
        let told = String::from_utf8(output.stderr).expect("UTF-8");
        let told: Vec<String> = told.lines().map(str::to_owned).collect();
        (output.status.code(), told)
    };
    let (code, told) = run("/nowhere");
    assert_eq!(code, Some(1), "{told:?}");
    let session = rollout(&sandbox);
    let id = session[0]["payload"]["id"].as_str().expect("it has one");
    assert_eq!(
        told[told.len() - 2..],
        [
            "error: codex is not installed here, or not in PATH".to_owned(),
            format!("hint: the session was written; it goes on with: codex resume {id}"),
        ]
    );
}

#[test]
fn a_message_that_a_merge_copied_is_resumed_as_what_it_is_a_copy_of() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", TWO_MODELS);
    sandbox.ok(&["import", "session.jsonl"]);
    // The last reply is of another model than all before it.
    sandbox.ok(&["checkout", "-b", "other", "HEAD~1"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Meanwhile."]);
    sandbox.ok(&["merge", "main", "--messages"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    let records = written(&sandbox);
    let mut replies = records.iter().filter(|r| r["type"] == "assistant");
    let last = replies.next_back().expect("a reply");
    assert_eq!(last["message"]["model"], "claude-haiku-4-5");
    let original = TWO_MODELS
        .lines()
        .rev()
        .find(|line| line.contains("claude-haiku-4-5"));
    let original: Value = serde_json::from_str(original.expect("it is there")).expect("JSON");
    let tokens = |record: &Value| record["message"]["usage"]["output_tokens"].clone();
    assert_eq!(tokens(last), tokens(&original));
}

#[test]
fn a_system_message_goes_to_the_tool_that_it_came_from_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("rollout.jsonl", DEVELOPER);
    sandbox.ok(&["import", "rollout.jsonl"]);
    sandbox.write("session.jsonl", TWO_MODELS);
    sandbox.ok(&["import", "session.jsonl", "--onto", "main"]);
    let told = sandbox.tract(&["resume", "--in", "claude-code"]);
    assert!(told.contains("of the other tool left out"), "{told}");
    let told = sandbox.tract(&["resume", "--in", "codex"]);
    assert!(!told.contains("of the other tool left out"), "{told}");
}

/// A provider refuses such a result, at each further prompt.
#[test]
fn a_result_whose_call_is_on_another_branch_goes_into_no_new_session() {
    let entry = |id: &str, parent: Option<&str>, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-09-02T12:00:00.000Z", "message": message});
    let call = json!({"type": "toolCall", "id": "call_jar", "name": "bash", "arguments": {"command": "ls"}});
    let records = [
        json!({"type": "session", "version": 3, "id": "a3d82391-09b3-4273-a1bb-a454787998b3", "timestamp":
            "2026-09-02T12:00:00.000Z", "cwd": "/home/mara/shop"}),
        entry(
            "00000001",
            None,
            json!({"role": "user", "content": "Count the jars.", "timestamp": 1}),
        ),
        entry(
            "00000002",
            Some("00000001"),
            json!({"role": "assistant", "content": [call], "provider": "anthropic",
            "model": "m", "stopReason": "toolUse", "timestamp": 2}),
        ),
        entry(
            "00000003",
            Some("00000001"),
            json!({"role": "assistant", "content": [{"type": "text", "text": "I wait."}],
            "provider": "anthropic", "model": "m", "stopReason": "stop", "timestamp": 3}),
        ),
        entry(
            "00000004",
            Some("00000003"),
            json!({"role": "toolResult", "toolCallId": "call_jar", "toolName": "bash",
            "content": [{"type": "text", "text": "14 jars"}], "isError": false, "timestamp": 4}),
        ),
        entry(
            "00000005",
            Some("00000004"),
            json!({"role": "user", "content": "Go on.", "timestamp": 5}),
        ),
    ];
    let lines = records.map(|record| record.to_string() + "\n").concat();
    let resumed = FORMATS_THAT_RESUME;
    for tool in resumed {
        let sandbox = Sandbox::new();
        sandbox.write("session.jsonl", &lines);
        sandbox.ok(&["import", "session.jsonl"]);
        let told = sandbox.tract(&["resume", "--in", tool]);
        assert!(
            told.contains("1 tool result without a call left out"),
            "{tool}: {told}"
        );
        let mut written = Vec::new();
        texts(&sandbox.home(), &mut written);
        assert!(
            written.iter().any(|text| text.contains("Go on.")),
            "{tool}: {told}"
        );
        assert!(
            !written.iter().any(|text| text.contains("14 jars")),
            "{tool}"
        );
    }
    // Nor into a file for another tool.
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", &lines);
    sandbox.ok(&["import", "session.jsonl"]);
    for tool in resumed.into_iter().filter(|tool| *tool != "pi") {
        let file = sandbox.tract(&["export", "--format", tool]);
        assert!(
            file.contains("1 tool result without a call left out"),
            "{tool}: {file}"
        );
        assert!(!file.contains("14 jars"), "{tool}: {file}");
    }
    // Its own file is as it was.
    assert_eq!(sandbox.ok(&["export", "--format", "pi"]), lines);
}

const FORMATS_THAT_RESUME: [&str; 6] = ["claude-code", "codex", "gemini", "qwen", "opencode", "pi"];

/// The texts of the files below a directory, but for repositories.
fn texts(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("it is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != ".tract") {
            texts(&path, found);
        } else if let Ok(text) = fs::read_to_string(&path) {
            found.push(text);
        }
    }
}

#[test]
fn a_directory_is_where_it_leads() {
    let sandbox = with_demo();
    std::fs::create_dir(sandbox.work().join("side")).expect("made");
    let told = sandbox.ok(&[
        "resume",
        "--in",
        "claude-code",
        "--directory",
        "side/../side/",
    ]);
    let line = told.lines().find(|line| line.contains("claude --resume"));
    assert!(
        line.is_some_and(|line| line.contains("/side && ")),
        "{told}"
    );
    assert!(!told.contains(".."), "{told}");
    let told = sandbox.tract(&["resume", "--in", "claude-code", "--directory", "nowhere"]);
    assert!(
        told.starts_with("exit code: 1") && told.contains("nowhere"),
        "{told}"
    );
}
