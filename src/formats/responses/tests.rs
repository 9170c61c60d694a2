//! Lists of items: what shows one, and what it says.

use serde_json::json;

use super::RESPONSES;
use crate::formats::shared::contract::read;
use crate::formats::sniff::sniff;

#[test]
fn a_list_of_items_alone_is_read_with_its_calls() {
    let items = json!([
        {"role": "user", "content": "How many sacks?"},
        {"type": "function_call", "call_id": "c1", "name": "count", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "call_id": "c1", "output": "12"},
        {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Twelve.", "annotations": []}]}]);
    let text = items.to_string();
    assert_eq!(sniff(&text.as_bytes()).expect("read"), Some(&RESPONSES));
    let told = read(&RESPONSES, text.as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(
        told.sessions[0].said(),
        [
            "user: How many sacks?",
            "assistant: c1: count {}",
            "tool: c1 false = 12",
            "assistant: Twelve."
        ]
    );
    // Any of them shows it.
    for one in [
        json!({"role": "user", "content": [{"type": "input_text", "text": "a"}]}),
        json!({"type": "reasoning", "id": "r", "summary": []}),
        json!({"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}}),
        json!({"type": "web_search_call", "id": "w", "status": "completed"}),
    ] {
        let text = json!([{"role": "user", "content": "a"}, one]).to_string();
        assert_eq!(
            sniff(&text.as_bytes()).expect("read"),
            Some(&RESPONSES),
            "{text}"
        );
    }
    let torn = &text.as_bytes()[..text.len() - 40];
    let told = read(&RESPONSES, torn);
    assert_eq!(told.problems.len(), 1);
    assert_eq!(told.sessions[0].said().len(), 3);
}
