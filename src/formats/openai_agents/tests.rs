//! What a session's items say, in one line and in branches, and what is wrong with one.

use serde_json::{Value, json};

use super::OPENAI_AGENTS;
use crate::formats::shared::contract::{TablesOf, read, sound, value_at};
use crate::formats::shared::rows::Row;
use crate::model::Millis;

const PLAIN: &[u8] = include_bytes!("../../../tests/data/openai-agents/plain.json");
const BRANCHES: &[u8] = include_bytes!("../../../tests/data/openai-agents/branches.json");

#[test]
fn items_of_one_reply_are_one_message_and_each_keeps_its_record() {
    let session = &sound(&OPENAI_AGENTS, PLAIN);
    assert_eq!(session.start.id, "mill:42");
    assert_eq!(
        session.said(),
        [
            "user: How many sacks are in the mill?",
            r#"assistant: (Both floors. Some("openai") c2VhbGVk) | call_1: count_sacks {"floor": 1.0} | call_2: count_sacks {"floor":2}"#,
            "tool: call_2 false = 7",
            r#"tool: call_1 false = 5 + [None Some("image/png")]"#,
            "assistant: 12 sacks 🌾.",
            "user: And barrels? | <file-1 None>",
            r#"assistant: {"id":"ws_1","action":{"query":"barrels","type":"search"},"status":"completed","type":"web_search_call"} | None."#,
        ]
    );
    let reply = &session.steps[1];
    assert_eq!(reply.time, Some(Millis(1_772_438_403_000)));
    let records: Vec<Value> = reply
        .records
        .iter()
        .map(|it| value_at(PLAIN, *it))
        .collect();
    let kinds: Vec<_> = records.iter().map(|it| it["type"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            Some("reasoning"),
            Some("function_call"),
            Some("function_call")
        ]
    );
    assert!(session.branches.is_empty());
}

#[test]
fn each_branch_that_leaves_the_newest_is_one_and_says_nothing_twice() {
    let session = &sound(&OPENAI_AGENTS, BRANCHES);
    assert_eq!(
        session.said(),
        [
            "user: Which wood for the wheel?",
            "assistant: Oak.",
            "user: And for the door?",
            "assistant: Pine.",
            "user: Thanks.",
            "user: And for the roof?",
            "assistant: c1: look {}",
            "tool: c1 false = reed",
            "assistant: Reed.",
        ]
    );
    let [(5, branch)] = &session.branches[..] else {
        panic!("{:?}", session.branches)
    };
    assert_eq!(branch.after.map(|step| step.0), Some(1));
    assert_eq!(branch.name, "branch_from_turn_2_1772438400");
}

#[test]
fn the_main_branch_is_the_session_wherever_the_newest_item_stands() {
    let mut document: Value = serde_json::from_slice(BRANCHES).expect("JSON");
    let order = document["message_structure"]
        .as_array_mut()
        .expect("a list");
    order.retain(|row| row["message_id"] != 9);
    for row in order.iter_mut().filter(|row| row["branch_id"] != "main") {
        row["branch_id"] = "leaf-1 of the roof".into();
    }
    let items = document["agent_messages"].as_array_mut().expect("a list");
    items.retain(|row| row["id"] != 9);
    let source = document.to_string();
    let session = &sound(&OPENAI_AGENTS, source.as_bytes());
    let said = session.said();
    assert_eq!(said[3..5], ["assistant: Pine.", "user: And for the roof?"]);
    let [(4, branch)] = &session.branches[..] else {
        panic!("{:?}", session.branches)
    };
    assert_eq!(branch.name, "branch-leaf-1_of_the_roof");
}

fn of(items: &[Value]) -> Vec<u8> {
    let rows = items.iter().enumerate();
    let rows = rows.map(|(at, item)| json!({"id": at, "message_data": item}));
    let rows: Vec<Value> = rows.collect();
    let session = json!({"agent_session": {"session_id": "s"}, "agent_messages": rows});
    session.to_string().into_bytes()
}

#[test]
fn what_is_no_item_is_named_and_the_rest_comes_in() {
    let said = |text: &str| json!({"role": "user", "content": text});
    let source = of(&[
        said("one"),
        json!("{\"role\":"),
        json!({"__enc__": 1, "v": 1, "kid": "hkdf-v1", "payload": "gAAAA"}),
        json!({"type": "function_call_output", "call_id": "none", "output": "x"}),
        json!(null),
        json!({"type": "new_kind", "inside": 1}),
        said("two"),
    ]);
    let told = read(&OPENAI_AGENTS, &source);
    assert_eq!(
        told.reasons(),
        [
            "a message that is no object",
            "a message that is no object",
            "a tool result without its call 'none'"
        ]
    );
    let session = &told.sessions[0];
    assert_eq!(
        session.said(),
        [
            "user: one",
            "tool: none false = x",
            r#"assistant: {"type":"new_kind","inside":1}"#,
            "user: two",
        ]
    );
    assert_eq!(session.end.other_records["encrypted item"], 1);
    // A row without an item, and a list that ends half-way.
    let text = "{\"agent_session\":{},\"agent_messages\":[{\"id\":1},{\"id\":2,\"message_data\":{\"role\":\"user\",\"content\":\"a\"}},{\"id\":";
    let told = read(&OPENAI_AGENTS, text.as_bytes());
    assert_eq!(told.sessions[0].start.id, "stem");
    assert_eq!(told.sessions[0].said(), ["user: a"]);
    assert_eq!(told.problems.len(), 2, "{:?}", told.problems);
}

/// The rows of a fixture as a database gives them.
fn rows_of(document: &Value, table: &str) -> Vec<Row> {
    let found = match table {
        "agent_sessions" => json!([document["agent_session"]]),
        other => document[other].clone(),
    };
    let rows = found.as_array().cloned().unwrap_or_default().into_iter();
    let row = |row: Value| {
        let mut row = row.as_object().expect("a row").clone();
        if let Some(item) = row.get_mut("message_data") {
            *item = item.to_string().into();
        }
        row
    };
    rows.map(row).collect()
}

#[test]
fn the_rows_of_a_session_make_its_object() {
    let tables = OPENAI_AGENTS.tables.expect("it has some");
    for source in [PLAIN, BRANCHES] {
        let document: Value = serde_json::from_slice(source).expect("JSON");
        let rows = TablesOf(|table: &str| rows_of(&document, table));
        assert!(tables.are_in(&rows).expect("read"));
        let all = (tables.sessions)(&rows).expect("read");
        let found = (tables.document)(&rows, &all[0].id).expect("read");
        let (session, made) = found.expect("it is there");
        assert_eq!(all, [session]);
        let made: Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(made, document);
        assert!((tables.document)(&rows, "none").expect("read").is_none());
    }
}
