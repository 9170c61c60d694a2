//! What a thread says, and what is wrong with one.

use serde_json::json;

use super::AMP;
use crate::formats::shared::contract::{read, sound, value_at};
use crate::formats::sniff::sniff;
use crate::model::{Millis, Part};

const THREAD: &[u8] = include_bytes!("../../../tests/data/amp/thread.json");

/// A part in a few words.
fn part(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Thinking { text, .. } => format!("({text})"),
        Part::ToolCall { id, name, .. } => format!("{id}: {name}"),
        Part::ToolResult {
            call,
            content,
            is_error,
        } => format!("{call} = {content:?} {is_error}"),
        Part::Opaque { .. } => "[opaque]".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_thread_is_its_messages_and_a_result_that_is_to_come_is_none() {
    assert_eq!(sniff(&THREAD).expect("readable"), Some(&AMP));
    let session = &sound(&AMP, THREAD);
    assert_eq!(session.start.id, "T-5e0f0c1e-0000-4000-8000-000000000002");
    assert_eq!(session.end.title.as_deref(), Some("Sacks"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    assert_eq!(
        session.sketches(part),
        [
            "user: How many sacks?",
            "assistant: (Look.) | I look. | toolu_1: Read | toolu_2: Bash | toolu_3: Bash",
            r#"tool: toolu_1 = [Text { text: "{\"content\":\"twelve\"}" }] false | toolu_2 = [Text { text: "no such file" }] true"#,
            "assistant: 12 🌾.",
        ]
    );
    assert!(session.messages()[3].interrupted);
    assert_eq!(session.steps[0].settings["model"], "\"claude-sonnet-4-5\"");
    assert_eq!(session.steps[1].settings["model"], "\"claude-opus-4\"");
    assert_eq!(session.steps[0].time, Some(Millis(1_772_438_400_000)));
    let record = value_at(THREAD, session.steps[2].records[0]);
    assert_eq!(record["messageId"], 2);
    assert_eq!(session.end.other_records["info"], 1);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let source = json!({"v": 1, "id": "T-1", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image", "source": 1}]},
        {"role": "nobody", "content": [{"type": "text", "text": "x"}]}, 3,
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": "tool_result", "toolUseID": "x", "run": {"status": "done"}}]},
        {"role": "user", "content": "two"}]});
    let told = read(&AMP, source.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        [
            "unknown role 'nobody'",
            "a message that is no object",
            "a tool result without its call 'x'"
        ]
    );
    assert_eq!(
        told.sessions[0].sketches(part),
        ["user: one | [opaque]", "tool: x = [] false", "user: two"]
    );
    let torn = br#"{"id":"T-1","v":1,"messages":[{"role":"user","content":"a"},{"role":"#;
    let told = read(&AMP, torn);
    assert_eq!(told.sessions[0].sketches(part), ["user: a"]);
    assert_eq!(told.problems.len(), 1);
}

#[test]
fn a_thread_that_has_its_last_request_lacks_no_more_than_that_does() {
    let lacking = |sent: serde_json::Value| {
        let source = json!({"v": 1, "id": "T-1", "messages": [{"role": "user", "content": "one"}],
            "~debug": {"lastInferenceInput": sent}});
        read(&AMP, source.to_string().as_bytes()).sessions[0]
            .end
            .absent
            .clone()
    };
    assert!(
        lacking(json!({"system": [{"type": "text", "text": "You mill."}], "tools": []})).is_empty()
    );
    assert_eq!(
        lacking(json!({"system": "You mill."})),
        ["tool definitions"]
    );
    assert_eq!(lacking(json!(null)), ["system prompt", "tool definitions"]);
}
