//! What a conversation says, with ids and without, and what is wrong with one.

use serde_json::{Value, json};

use super::KIRO;
use crate::formats::shared::contract::{read, sound, value_at};
use crate::model::Millis;

const CONVERSATION: &[u8] = include_bytes!("../../../tests/data/kiro/conversation.json");
const BARE: &[u8] = include_bytes!("../../../tests/data/kiro/bare.json");

#[test]
fn a_conversation_is_what_was_sent_in_the_tools_own_frame() {
    let session = &sound(&KIRO, CONVERSATION);
    assert_eq!(session.start.id, "5e0f0c1e-0000-4000-8000-000000000001");
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    let all = session.said();
    let summary = "SUMMARY CONTENT:\nThe mill has two floors.\n--- CONTEXT ENTRY END ---";
    assert!(all[0].starts_with("user: --- CONTEXT ENTRY BEGIN ---\n") && all[0].ends_with(summary));
    assert!(all[1].starts_with("assistant: I will"));
    assert_eq!(
        all[2..],
        [
            "user: --- CONTEXT ENTRY BEGIN ---\nCurrent time: Monday, 2026-03-02T09:00:00.123+01:00\n--- CONTEXT ENTRY END ---\n\n--- USER MESSAGE BEGIN ---\nHow many sacks?--- USER MESSAGE END --- | [None Some(\"image/png\")]",
            r#"assistant: I look. | tooluse_1: fs_read {"path":"sacks.txt"} | tooluse_2: execute_bash {"command":"ls"}"#,
            r#"tool: tooluse_1 false = twelve + {"n":12} | tooluse_2 true = no"#,
            "assistant: 12 sacks 🌾.",
            "user: --- CONTEXT ENTRY BEGIN ---\nhook\n--- CONTEXT ENTRY END ---\n\n--- USER MESSAGE BEGIN ---\nDelete them.--- USER MESSAGE END ---",
            r#"assistant: tooluse_3: execute_bash {"command":"rm sacks.txt"}"#,
            "tool: tooluse_3 true = Tool use was cancelled by the user",
            "user: No, stop.",
            "assistant: Stopped.",
        ]
    );
    let first = &session.steps[0].settings;
    assert_eq!(first["model"], "\"claude-sonnet-4.5\"");
    let tools: Value = serde_json::from_str(&first["tools"]).expect("JSON");
    assert_eq!(tools[0]["function"]["name"], "execute_bash");
    assert_eq!(session.steps[4].settings["model"], "\"claude-haiku-4.5\"");
    assert_eq!(session.steps[2].time, Some(Millis(1_772_438_400_123)));
    assert_eq!(session.steps[3].time, Some(Millis(1_772_438_403_000)));
    let record = value_at(CONVERSATION, session.steps[3].records[0]);
    assert_eq!(record["request_metadata"]["request_id"], "r1");
    assert_eq!(session.end.other_records["next_message"], 1);
}

#[test]
fn calls_without_ids_are_answered_in_order() {
    let session = &sound(&KIRO, BARE);
    assert_eq!(session.start.id, "stem");
    assert_eq!(
        session.said(),
        [
            "user: Mend the wheel",
            r#"assistant: call-1: fs_write {"path":"wheel"} | call-2: fs_read {"path":"wheel"}"#,
            "tool: call-1 false = written | call-2 false = read",
            "assistant: Mended.",
            "assistant: And oiled.",
        ]
    );
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let said = |text: &str| json!({"user": {"content": {"Prompt": {"prompt": text}}}});
    let source = json!({"conversation_id": "c", "history": [
        said("one"), 7, {"user": {"content": {"Whispered": {}}}},
        {"user": {"content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "x"}]}}},
         "assistant": {"Sung": {}}},
        {"user": {"content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "x"}]}}}},
        said("two")]});
    let told = read(&KIRO, source.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        [
            "a message that is no object",
            "a message of an unknown kind",
            "a reply of an unknown kind",
            "a tool result without its call 'x'",
        ]
    );
    let session = &told.sessions[0];
    assert_eq!(
        session.said(),
        ["user: one", "tool: x false = ", "user: two",]
    );
    assert_eq!(session.end.other_records["entry without a reply"], 3);
    let torn = br#"{"conversation_id":"c","history":[{"user":{"content":{"Prompt":{"prompt":"a"}}}},{"user"#;
    let told = read(&KIRO, torn);
    assert_eq!(told.sessions[0].said(), ["user: a"]);
    assert_eq!(told.problems.len(), 1);
}
