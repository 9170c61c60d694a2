//! What chats say, by their trees and lists, and what is wrong with one.

use serde_json::json;

use super::OPEN_WEBUI;
use crate::formats::shared::contract::read;
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
