//! What messages say, alone and in a session's state, and what is wrong with one.

use serde_json::json;

use super::AGENT_FRAMEWORK;
use crate::formats::shared::contract::{read, sound};
use crate::formats::sniff::sniff;
use crate::model::Usage;

const LINES: &[u8] = include_bytes!("../../../tests/data/agent-framework/mill.jsonl");
const SESSION: &[u8] = include_bytes!("../../../tests/data/agent-framework/session.json");

const SAID: [&str; 4] = [
    "system: You mind the mill.",
    "user: How many sacks? | [None Some(\"image/png\")] | [None Some(\"application/pdf\")] | <file-1 None>",
    "assistant: (Count both. None c2VhbA==) | I count. | c1: count {\"floor\":1} | c2: count {\"floor\": 9}",
    "tool: c1 false = 12 + [None Some(\"image/png\")] | c2 true = Error: no such floor",
];

#[test]
fn lines_are_messages_and_results_are_the_tools() {
    let session = &sound(&AGENT_FRAMEWORK, LINES);
    let said = session.said();
    assert_eq!(said[..4], SAID);
    assert_eq!(
        said[4..],
        [
            "assistant: c3: see {} | {\"type\":\"hologram\",\"a\":1}",
            "tool: c3 false = {\"carts\":0}",
            "assistant: Twelve sacks 🌾.",
        ]
    );
    let steps = &session.steps;
    assert_eq!(
        steps[2].usage,
        Some(Usage::new(120, 30).cached(64, 0).reasoned(4))
    );
    assert_eq!(steps[2].detail.counts["openai.searches"], 2);
    assert_eq!(
        steps[1].message().and_then(|it| it.name.as_deref()),
        Some("ida")
    );
}

#[test]
fn a_session_holds_the_same_in_its_state() {
    let session = &sound(&AGENT_FRAMEWORK, SESSION);
    assert_eq!(session.start.id, "mill");
    assert_eq!(session.said(), SAID);
    assert_eq!(json!(session.end.other_records), json!({"memory": 1}));
    let list = json!([{"type": "message", "role": "user", "contents": [{"type": "text", "text": "How many?"}]}]);
    let text = list.to_string();
    let found = sniff(&text.as_bytes()).expect("readable");
    assert_eq!(found, Some(&AGENT_FRAMEWORK));
    assert_eq!(
        sound(&AGENT_FRAMEWORK, text.as_bytes()).said(),
        ["user: How many?"]
    );
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let message = |role: &str, content: serde_json::Value| json!({"type": "message", "role": role, "contents": [content]});
    let list = json!([
        message("robot", json!({"type": "text", "text": "a"})),
        message("user", json!({"type": "error", "message": "b"})),
        message("user", json!({"type": "uri"})),
        message("user", json!({"type": "text", "text": "c"})),
    ]);
    let told = read(&AGENT_FRAMEWORK, list.to_string().as_bytes());
    assert_eq!(told.reasons(), ["unknown role 'robot'"]);
    let session = &told.sessions[0];
    assert_eq!(session.said(), ["user: {\"type\":\"uri\"}", "user: c"]);
    assert_eq!(session.end.other_records["empty message"], 1);
}
