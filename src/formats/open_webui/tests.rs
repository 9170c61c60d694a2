//! What chats say, by their trees and lists, and what is wrong with one.

use serde_json::{Value, json};

use super::OPEN_WEBUI;
use super::rows::TABLES;
use crate::formats::Cover;
use crate::formats::shared::contract::{TablesOf, hides, read, sound, texts};
use crate::formats::shared::rows::Row;
use crate::formats::sniff::sniff;
use crate::model::{Millis, Usage};

const CHATS: &[u8] = include_bytes!("../../../tests/data/open-webui/chats.json");

#[test]
fn a_chat_is_the_way_to_its_current_message() {
    assert_eq!(sniff(&CHATS).expect("readable"), Some(&OPEN_WEBUI));
    let told = read(&OPEN_WEBUI, CHATS);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let [tree, list] = &told.sessions[..] else {
        panic!("{}", told.sessions.len());
    };
    assert_eq!(
        tree.said(),
        [
            "system: Be brief.",
            "user: How many sacks? | [None Some(\"image/png\")] | <f-1 Some(\"sacks.txt\")>",
            "assistant: (Count. None) | call_1: count {\"what\": \"sacks\"}",
            "tool: call_1 false = 42",
            "assistant: {\"type\":\"open_webui:code_interpreter\",\"id\":\"ci\",\"code\":\"42\"} | 42 sacks.",
            "user: And barrels?",
            "assistant: (Look & see. None) | call_2: count {\"what\": \"barrels\"}",
            "tool: call_2 false = none",
            "assistant: None. <details type=\"other\">x</details>",
            "user: And carts? | {\"type\":\"hologram\"}",
        ]
    );
    let [(9, branch)] = &tree.branches[..] else {
        panic!("{:?}", tree.branches);
    };
    assert_eq!(branch.after.map(|it| it.0), Some(4));
    let usage = |input, output| Some(Usage::new(input, output));
    assert_eq!(tree.steps[4].usage, usage(12, 5));
    assert_eq!(tree.steps[8].usage, usage(20, 2));
    assert_eq!(tree.steps[1].time, Some(Millis(1_772_438_400_000)));
    assert_eq!(tree.steps[2].settings["model"], "\"llama3.2\"");
    assert_eq!(tree.steps[6].settings["model"], "\"qwen3\"");
    assert_eq!(list.end.title.as_deref(), Some("Wood"));
    assert_eq!(list.said(), ["user: Which wood?", "assistant: Oak."]);
    assert_eq!(list.end.other_records["empty message"], 1);
}

/// A chat whose messages follow each other.
fn chat(messages: &[Value]) -> Value {
    let id = |at: usize| format!("m{at}");
    let linked = messages.iter().enumerate().map(|(at, message)| {
        let mut message = message.clone();
        message["parentId"] = at.checked_sub(1).map(id).into();
        (id(at), message)
    });
    let linked: serde_json::Map<String, Value> = linked.collect();
    let history = json!({"currentId": id(messages.len() - 1), "messages": linked});
    let system = json!({"system": "Be brief."});
    json!([{"id": "c", "user_id": "u", "chat": {"params": system, "history": history}}])
}

#[test]
fn what_is_summed_up_is_hidden_by_the_summary() {
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let summed = |role: &str, text: &str, summary: &str| json!({"role": role, "content": text, "contextSummary": summary});
    let messages = [
        said("user", "One."),
        said("assistant", "Two."),
        summed("user", "Three.", "One and two."),
        summed("assistant", "Four.", "One to three."),
        said("user", "Five."),
    ];
    let session = sound(&OPEN_WEBUI, chat(&messages).to_string().as_bytes());
    let steps = hides(&session.steps);
    let told = steps.iter().map(|hide| {
        let Cover::Range(first, last) = hide.cover else {
            panic!("{hide:?}");
        };
        let entry = |it: crate::formats::StepEntry| (it.step.0, it.replacement);
        let message = &hide.replacements[0].1;
        (entry(first), entry(last), texts(message).concat())
    });
    let summary = |of: &str| format!("Be brief.\n[CONVERSATION SUMMARY]\n{of}");
    let wanted = [
        ((0, None), (2, None), summary("One and two.")),
        ((3, Some(0)), (4, None), summary("One to three.")),
    ];
    assert_eq!(told.collect::<Vec<_>>(), wanted);
    // Of nothing but what it is told, a chat begins with it.
    let first = [summed("user", "Three.", "One and two.")];
    let session = sound(&OPEN_WEBUI, chat(&first).to_string().as_bytes());
    assert_eq!(hides(&session.steps).len(), 1);
}

#[test]
fn a_reply_of_several_requests_counts_all_of_them() {
    let usage = json!({
        "prompt_tokens": 6326, "completion_tokens": 20, "total_tokens": 12591, "input_tokens": 12551, "output_tokens": 40,
        "prompt_tokens_details": {"cached_tokens": 6275}, "completion_tokens_details": {"reasoning_tokens": 5},
    });
    let messages = [
        json!({"role": "user", "content": "Count."}),
        json!({"role": "assistant", "content": "Done.", "usage": usage}),
    ];
    let session = sound(&OPEN_WEBUI, chat(&messages).to_string().as_bytes());
    let wanted = Usage::new(12_551, 40).cached(6_275, 0).reasoned(5);
    assert_eq!(session.steps[2].usage, Some(wanted));
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let messages = json!({"a": {"role": "robot"}, "b": {"parentId": "none", "role": "user", "content": "one"}});
    let chat = json!({"id": "c", "chat": {"history": {"currentId": "z", "messages": messages}}});
    let told = read(&OPEN_WEBUI, chat.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        [
            "unknown role 'robot'",
            "parent none is not in the conversation",
            "current message z is not in the conversation",
        ]
    );
    assert_eq!(told.sessions[0].said(), ["user: one"]);
}

#[test]
fn the_row_of_a_chat_makes_what_an_export_has_of_it() {
    let chats: Vec<Value> = serde_json::from_slice(CHATS).expect("JSON");
    let rows = TablesOf(|_: &str| -> Vec<Row> {
        let rows = chats.iter().map(|chat| {
            let mut row = chat.as_object().expect("a chat").clone();
            row.insert("chat".into(), chat["chat"].to_string().into());
            for (column, value) in [("updated_at", json!(7)), ("last_read_at", json!(9))] {
                row.insert(column.into(), value);
            }
            row
        });
        let rows: Vec<Row> = rows.collect();
        let mut copy = rows[0].clone();
        copy.insert("id".into(), "copy".into());
        copy.insert("user_id".into(), "shared-c0ffee00".into());
        [rows, vec![copy]].concat()
    });
    assert!(TABLES.are_in(&rows).expect("read"));
    let all = (TABLES.sessions)(&rows).expect("read");
    assert_eq!(all.len(), chats.len());
    let id = chats[0]["id"].as_str().expect("an id");
    let found = (TABLES.document)(&rows, id).expect("read");
    let (_, made) = found.expect("it is there");
    let told = read(&OPEN_WEBUI, made.as_bytes());
    let exported = read(&OPEN_WEBUI, CHATS);
    assert_eq!(told.sessions[0].said(), exported.sessions[0].said());
    assert_eq!(told.sessions[0].start.id, exported.sessions[0].start.id);
    for id in ["none", "copy"] {
        assert!((TABLES.document)(&rows, id).expect("read").is_none());
    }
}
