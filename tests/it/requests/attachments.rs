//! What a newer Claude Code attaches: the text that is sent stands beside the record, and where it goes is said
//! there.

use std::fs;

use serde_json::Value;

use crate::sandbox::Sandbox;

const RENDERED: &str = include_str!("../../data/claude-code/rendered.jsonl");

fn imported() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", RENDERED);
    let told = sandbox.tract(&["import", "session.jsonl"]);
    assert!(
        !told.contains("exit code") && !told.contains("unknown kind"),
        "{told}"
    );
    sandbox
}

fn sent(sandbox: &Sandbox, rev: &str) -> Vec<String> {
    let request = sandbox.ok(&["compile", "--format", "anthropic", "--for", rev]);
    let request: Value = serde_json::from_str(&request).expect("JSON");
    let messages = request["messages"].as_array().expect("a list").iter();
    let told = messages.map(|message| {
        let role = message["role"].as_str().expect("a role");
        let content = match &message["content"] {
            Value::String(text) => vec![text.clone()],
            blocks => {
                let blocks = blocks.as_array().expect("a list").iter();
                blocks
                    .map(|block| match block["text"].as_str() {
                        Some(text) => text.to_owned(),
                        None => format!("({})", block["type"].as_str().expect("a type")),
                    })
                    .collect()
            }
        };
        format!("{role}: {}", content.join(" | "))
    });
    told.collect()
}

/// The replies, the newest first.
fn replies(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.ok(&["log", "-n", "0", "--format", "%h %r"]);
    let words = log.lines().filter_map(|line| line.split_once(' '));
    let replies = words.filter(|(_, role)| *role == "assistant");
    replies.map(|(hash, _)| hash.to_owned()).collect()
}

#[test]
fn each_text_goes_where_the_client_said() {
    let sandbox = imported();
    let replies = replies(&sandbox);
    let [_, after_notice, after_call, first] = &replies[..] else {
        panic!("{replies:?}");
    };
    insta::assert_snapshot!(sent(&sandbox, first).join("\n"));
    insta::assert_snapshot!(sent(&sandbox, after_call)[3..].join("\n"));
    insta::assert_snapshot!(sent(&sandbox, after_notice)[6..].join("\n"));
}

#[test]
fn what_stands_in_front_of_a_summary_is_sent_in_front_of_it() {
    let sandbox = imported();
    let expected = [
        "user: <system-reminder>\nThe brook is low.\n</system-reminder>\n | This session is being \
         continued. The wheel is mended.",
        "system: Still the third.",
    ];
    assert_eq!(sent(&sandbox, "HEAD"), expected);
}

#[test]
fn a_model_without_system_messages_gets_all_in_the_users_message() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "session.jsonl",
        RENDERED.replace("claude-opus-5-5", "claude-sonnet-4-5"),
    );
    sandbox.ok(&["import", "session.jsonl"]);
    let replies = replies(&sandbox);
    let first = replies.last().expect("a reply");
    insta::assert_snapshot!(sent(&sandbox, first).join("\n"));
}

#[test]
fn a_resumed_session_has_the_texts_the_tools_and_the_prompt() {
    let sandbox = imported();
    sandbox.ok(&["resume"]);
    let folder = sandbox.home().join(".claude/projects");
    let files = tract::ingest::tool_dirs::walk_directory(&folder);
    let [file] = &files[..] else {
        panic!("{files:?}");
    };
    let text = fs::read_to_string(file).expect("readable");
    let records = text.lines().map(serde_json::from_str);
    let records: Vec<Value> = records.collect::<Result<_, _>>().expect("JSON");
    let told = records.iter().map(|record| {
        let kind = record["attachment"]["type"].as_str();
        let kind = kind
            .or(record["subtype"].as_str())
            .or(record["type"].as_str());
        kind.expect("a kind")
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "compact_boundary",
            "session_context",
            "date",
            "user",
            "assistant",
            "deferred_tools_record",
            "prompt_snapshot",
            "custom-title",
        ]
    );
    let mut last = Value::Null;
    for record in records.iter().filter(|record| record["uuid"].is_string()) {
        assert_eq!(record["parentUuid"], last, "one chain: {record}");
        last = record["uuid"].clone();
    }
    // The same comes of it.
    let other = Sandbox::new();
    other.tract(&["import", &file.display().to_string()]);
    let now = |sandbox: &Sandbox| sandbox.ok(&["compile", "--format", "anthropic"]);
    assert_eq!(now(&other), now(&sandbox));
}
