//! What a thread says, and what is wrong with one.

use serde_json::json;

use super::AMP;
use crate::formats::shared::contract::{read, sound, value_at};
use crate::formats::sniff::sniff;
use crate::model::{Millis, Part, Usage};

const THREAD: &[u8] = include_bytes!("../../../tests/data/amp/thread.json");

#[test]
fn a_thread_is_its_messages_and_a_result_that_is_to_come_is_none() {
    assert_eq!(sniff(&THREAD).expect("readable"), Some(&AMP));
    let session = &sound(&AMP, THREAD);
    assert_eq!(session.start.id, "T-5e0f0c1e-0000-4000-8000-000000000002");
    assert_eq!(session.end.title.as_deref(), Some("Sacks"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    assert_eq!(
        session.said(),
        [
            "user: How many sacks?",
            r#"assistant: (Look. Some("anthropic") c2ln) | I look. | toolu_1: Read {"path":"sacks.txt"} | toolu_2: Bash {"cmd":"ls"} | toolu_3: Bash {"cmd":"sleep 9"}"#,
            r#"tool: toolu_1 false = {"content":"twelve"} | toolu_2 true = no such file"#,
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
        told.sessions[0].said(),
        [
            r#"user: one | {"type":"image","source":1}"#,
            "tool: x false = ",
            "user: two",
        ]
    );
    let torn = br#"{"id":"T-1","v":1,"messages":[{"role":"user","content":"a"},{"role":"#;
    let told = read(&AMP, torn);
    assert_eq!(told.sessions[0].said(), ["user: a"]);
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

#[test]
fn replies_have_their_times_and_counts_and_commands_give_what_was_sent() {
    let counts = json!({"model": "m", "inputTokens": 9, "outputTokens": 136, "cacheCreationInputTokens": 100,
        "cacheReadInputTokens": 50, "credits": 0.5});
    let request = |operation: &str, reply: u64| {
        json!({"timestamp": "2026-03-02T08:00:00Z", "model": "m", "operationType": operation,
            "toMessageId": reply, "tokens": {"input": 30, "output": 3}})
    };
    let run = json!({"status": "done", "result": {"output": "12\n", "exitCode": 0}});
    let source = json!({"v": 1, "id": "T-1",
        "usageLedger": {"events": [request("inference", 1), request("title-generation", 1)]},
        "messages": [
            {"role": "user", "messageId": 0, "content": [{"type": "text", "text": "How many?"}]},
            {"role": "assistant", "messageId": 1, "usage": counts,
                "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]},
            {"role": "user", "messageId": 2, "content": [{"type": "tool_result", "toolUseID": "t1", "run": run}]}]});
    let session = &sound(&AMP, source.to_string().as_bytes());
    let reply = &session.steps[1];
    assert_eq!(reply.time, Some(Millis(1_772_438_400_000)));
    assert_eq!(reply.detail.amounts["credits"], "0.5");
    let known = Usage::new(159, 136).cached(50, 100);
    let others = vec![("m".to_owned(), [30, 3, 0])];
    assert_eq!(session.counted(), (known, others));
    let (_, given, _) = session.messages()[2].parts[0]
        .as_result()
        .expect("a result");
    let sent = "<output>12\n</output>\n<exitCode>0</exitCode>";
    assert_eq!(given, [Part::text(sent)]);
}
