//! OpenAI's rules for the Responses API.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Findings, is_plain, text_of};

/// What is wrong with a request of the Responses API, or with `{"input": …}` alone. Empty: nothing.
pub fn check_responses(request: &Value) -> Vec<String> {
    let mut found = Findings::default();
    let Some(items) = request.get("input").and_then(Value::as_array) else {
        return vec!["no list 'input'".to_owned()];
    };
    found.require(!items.is_empty(), "input", "is empty");
    if let Some(text) = request.get("instructions") {
        let is_said = text.as_str().is_some_and(|text| !text.is_empty());
        found.require(is_said, "instructions", "is no text");
    }
    // The calls that nothing has answered yet, by their id.
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("input[{index}]");
        let text = |key| text_of(item, key);
        match text("type").unwrap_or_default() {
            "message" => message(item, &at, &mut found),
            "agent_message" => {
                found.require(text("recipient").is_some(), &at, "is for nobody");
            }
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
                call(item, &at, &mut found);
                *open.entry(text("call_id").unwrap_or_default()).or_default() += 1;
            }
            kind @ ("function_call_output" | "custom_tool_call_output" | "tool_search_output") => {
                let id = text("call_id").unwrap_or_default();
                let left = open.get_mut(id).filter(|left| **left > 0);
                // One that names its tool itself is what a client tells the model on its own.
                let is_told = text("name").is_some_and(|name| !name.is_empty());
                let is_due = left.is_some() || is_told;
                found.require(is_due, &at, "answers no open call before it");
                open.entry(id)
                    .and_modify(|left| *left = left.saturating_sub(1));
                let is_output = match kind {
                    "tool_search_output" => item.get("tools").is_some_and(Value::is_array),
                    _ => {
                        let output = item.get("output");
                        output.is_some_and(|output| output.is_string() || output.is_array())
                    }
                };
                found.require(is_output, &at, "has no output");
            }
            "reasoning" => {
                let is_sealed = text("encrypted_content").is_some();
                found.require(is_sealed, &at, "is reasoning without its seal");
            }
            // Whatever else a provider has told is its own.
            kind => found.require(!kind.is_empty(), &at, "has no type"),
        }
    }
    let left: HashSet<&str> = open
        .into_iter()
        .filter(|(_, left)| *left > 0)
        .map(|(id, _)| id)
        .collect();
    found.require(left.is_empty(), "the end", "leaves calls without output");
    found.0
}

fn message(item: &Value, at: &str, found: &mut Findings) {
    let allowed: &[&str] = match text_of(item, "role").unwrap_or_default() {
        "system" | "developer" | "user" => &["input_"],
        "assistant" => &["output_", "refusal"],
        _ => &[],
    };
    found.require(!allowed.is_empty(), at, "has an unknown role");
    let pieces = item.get("content").and_then(Value::as_array);
    found.require(pieces.is_some(), at, "has no content");
    for piece in pieces.into_iter().flatten() {
        let kind = text_of(piece, "type").unwrap_or_default();
        let fits = allowed.iter().any(|begin| kind.starts_with(begin));
        found.require(fits, at, "has a piece that its role does not allow");
    }
}

fn call(item: &Value, at: &str, found: &mut Findings) {
    let key = match text_of(item, "type").unwrap_or_default() {
        "custom_tool_call" => "input",
        "local_shell_call" => "action",
        _ => "arguments",
    };
    found.require(item.get(key).is_some(), at, "has no arguments");
    if let Some(name) = text_of(item, "name") {
        found.require(
            is_plain(name, 64),
            at,
            "calls a tool by a name that is not allowed",
        );
    }
}
