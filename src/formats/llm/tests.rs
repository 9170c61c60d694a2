//! What conversations of both kinds of tables say, and what is wrong with one.

use serde_json::{Value, json};

use super::LLM;
use crate::formats::shared::contract::{read, sound, value_at};
use crate::model::{Millis, Usage};

const REPLIES: &[u8] = include_bytes!("../../../tests/data/llm/replies.json");
const TREE: &[u8] = include_bytes!("../../../tests/data/llm/tree.json");

#[test]
fn a_reply_of_older_versions_is_what_was_new_before_it_and_itself() {
    let session = &sound(&LLM, REPLIES);
    assert_eq!(session.start.id, "01mill0000000000000000aaaa");
    assert_eq!(session.end.title.as_deref(), Some("How many sacks…"));
    assert_eq!(
        session.said(),
        [
            "system: Speak plainly.\n\nYou mind the mill.",
            "user: Floors: 1 and 2.\nHow many sacks? | [None Some(\"image/png\")] | {\"id\":\"a2\",\"type\":\"audio/wav\",\"path\":\"/home/mara/wheel.wav\"}",
            r#"assistant: call-1: count_sacks {"floor":1} | call-2: count_sacks {"floor":2}"#,
            "tool: call-1 false = 7 | call-2 true = Error: no floor 2",
            "assistant: (One floor failed. None) | 7 and an error 🌾.",
            // The prompt of the system holds still.
            "user: In one word?",
            "assistant: Seven."
        ]
    );
    let reply = &session.steps[2];
    assert_eq!(reply.time, Some(Millis(1_772_438_401_250)));
    assert_eq!(reply.usage, Some(Usage::new(40, 12)));
    assert!(session.steps[1].usage.is_none());
    let first = &session.steps[0].settings;
    assert_eq!(first["model"], "\"gpt-4o-mini\"");
    assert_eq!(first["temperature"], "0.2");
    let tools: Value = serde_json::from_str(&first["tools"]).expect("JSON");
    assert_eq!(tools[0]["function"]["name"], "count_sacks");
    let changed = &session.steps[5].settings;
    assert_eq!(changed.keys().collect::<Vec<_>>(), ["model"]);
    let record = value_at(REPLIES, reply.records[0]);
    assert_eq!(record["id"], "01mill0000000000000000aaab");
}

#[test]
fn a_tree_is_the_way_to_its_tip_and_what_other_turns_took_is_a_branch() {
    let session = &sound(&LLM, TREE);
    assert_eq!(
        session.said(),
        [
            "system: You mind the mill.",
            r#"user: Read this: Oak lasts. Which wood? | [None Some("application/pdf")]"#,
            r#"assistant: (Oak it is. Some("anthropic") c2ln) | call_1: count_sacks {"floor":1} | {"type":"tool_call","tool_name":"web_search","payload":{"name":"web_search","arguments":{"q":"oak"},"tool_call_id":"srv_1","server_executed":true}}"#,
            "tool: call_1 false = 7",
            "assistant: Oak.",
            "user: And the roof?",
            "assistant: Reed.",
            "user: And the door?",
            "assistant: Pine.",
        ]
    );
    let [(7, branch)] = &session.branches[..] else {
        panic!("{:?}", session.branches)
    };
    assert_eq!(branch.after.map(|step| step.0), Some(4));
    // What holds for a turn holds from what it was given on.
    assert!(session.steps[0].settings.is_empty());
    assert_eq!(session.steps[1].settings["model"], "\"claude-sonnet\"");
    assert!(session.steps[2].usage.is_some());
    assert_eq!(session.end.opaque_blocks["tool_call"], 1);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let source = json!({"llm_conversation": {"tip_message_hash": "gone"}, "messages": [
        {"hash": "a", "parent_hash": "lost", "role": "user", "parts": text("one")},
        {"hash": "b", "parent_hash": "a", "role": "nobody", "parts": text("two")},
        "three",
        {"hash": "c", "parent_hash": "c", "role": "user", "parts": text("four")},
        {"hash": "d", "parent_hash": "b", "role": "tool", "parts": [
            {"type": "tool_result", "payload": {"output": "x"}}, 7, {"type": "new"}]},
        {"hash": "e", "parent_hash": "d", "role": "assistant", "parts": []}
    ]});
    let told = read(&LLM, source.to_string().as_bytes());
    let mut reasons: Vec<&str> = told.problems.iter().map(|it| &*it.reason).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [
            "a message that is no object",
            "a message that stands below itself",
            "a tool result without its call 'call-1'",
            "message lost before it is not in the database",
            "the last message gone is not in the database",
            "unknown role 'nobody'",
        ]
    );
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "stem");
    assert_eq!(
        session.said(),
        [
            "user: one",
            r#"tool: call-1 false = x | {"type":"part","value":7} | {"type":"new"}"#,
            "user: four",
        ]
    );
    let torn = br#"{"llm_conversation":{},"responses":[{"prompt":"a","response":"b"},{"prompt":"#;
    let told = read(&LLM, torn);
    assert_eq!(told.sessions[0].said(), ["user: a", "assistant: b"]);
    assert_eq!(told.problems.len(), 1);
}
