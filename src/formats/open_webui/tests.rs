//! What chats say, by their trees and lists, and what is wrong with one.

use serde_json::{Value, json};

use super::OPEN_WEBUI;
use super::rows::TABLES;
use crate::formats::shared::contract::{TablesOf, read};
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
