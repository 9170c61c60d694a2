//! What a conversation says, as a list and as a tree, and what is wrong with one.

use serde_json::{Value, json};

use super::CLAUDE_AI;
use crate::formats::shared::contract::{read, sound};
use crate::model::Millis;

const FILE: &[u8] = include_bytes!("../../../tests/data/claude-ai/conversations.json");

#[test]
fn a_list_is_read_in_its_order_and_results_by_theirs() {
    let session = &sound(&CLAUDE_AI, FILE);
    assert_eq!(session.start.id, "0e0e0e00-1111-4222-8333-444455556666");
    assert_eq!(session.start.descent.begun, Some(Millis(1_772_438_400_250)));
    assert_eq!(session.end.title.as_deref(), Some("The wheel"));
    insta::assert_snapshot!(session.said().join("\n"));
    assert_eq!(session.steps[2].time, Some(Millis(1_772_438_402_000)));
    assert_eq!(session.end.other_records["empty message"], 1);
    let opaque = ["hologram", "token_budget"].map(|kind| session.end.opaque_blocks[kind]);
    assert_eq!(opaque, [1, 1]);
}

#[test]
fn a_tree_stands_where_its_leaf_is_and_other_ways_are_branches() {
    let told = read(&CLAUDE_AI, FILE);
    let session = &told.sessions[1];
    let said = [
        "user: Count the sacks.",
        "assistant: Twelve.",
        "user: And barrels?",
        "assistant: Ten.",
        "user: Good night.",
    ];
    assert_eq!(session.said(), said);
    let branches: Vec<_> = session
        .branches
        .iter()
        .map(|(at, branch)| (*at, &*branch.name, branch.after.map(|step| step.0)))
        .collect();
    assert_eq!(branches, [(3, "leaf-1", Some(0)), (4, "leaf-2", None)]);
    let models: Vec<usize> = (0..5)
        .filter(|at| !session.steps[*at].settings.is_empty())
        .collect();
    assert_eq!(models, [0, 4]);
    assert_eq!(session.steps[0].settings["model"], "\"claude-sonnet-4-5\"");
}

#[test]
fn what_is_wrong_is_said_and_nothing_else_is_lost() {
    let mut file: Value = serde_json::from_slice(FILE).expect("JSON");
    file[1]["chat_messages"][2]["sender"] = json!("oracle");
    file[1]["chat_messages"][3]["parent_message_uuid"] = json!("gone");
    file[1]["chat_messages"][4]["parent_message_uuid"] = json!("c5");
    file[1]["current_leaf_message_uuid"] = json!("gone");
    file[0]["chat_messages"][0]["content"] = json!(7);
    file.as_array_mut().expect("a list").push(json!([1]));
    let told = read(&CLAUDE_AI, file.to_string().as_bytes());
    let reasons: Vec<&str> = told
        .problems
        .iter()
        .map(|problem| &*problem.reason)
        .collect();
    insta::assert_debug_snapshot!(reasons);
    let whole = read(&CLAUDE_AI, FILE);
    assert_eq!(told.sessions[0].said(), whole.sessions[0].said()[2..]);
    assert_eq!(told.sessions[1].messages().len(), 4);
}

#[test]
fn what_is_too_deep_is_left_in_the_source() {
    let deep = "[".repeat(300) + &"]".repeat(300);
    let text = std::str::from_utf8(FILE)
        .expect("text")
        .replace(r#""light":1.0"#, &format!(r#""light":{deep}"#));
    let told = read(&CLAUDE_AI, text.as_bytes());
    assert_eq!(told.problems.len(), 1, "{:?}", told.problems);
    assert!(told.problems[0].reason.contains("levels"));
}
