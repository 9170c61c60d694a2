//! OpenAI's rules for chat completions.

use std::collections::HashSet;

use serde_json::Value;

use super::{Findings, is_plain, text_of};

/// What is wrong with an OpenAI chat-completions request, or with `{"messages": …}` alone. Empty:
/// nothing.
pub fn check_openai(request: &Value) -> Vec<String> {
    let mut found = Findings::default();
    let Some(messages) = request.get("messages").and_then(Value::as_array) else {
        return vec!["no list 'messages'".to_owned()];
    };
    found.require(!messages.is_empty(), "messages", "is empty");
    let mut awaited: HashSet<&str> = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        let role = text_of(message, "role").unwrap_or_default();
        if role == "tool" {
            let id = text_of(message, "tool_call_id").unwrap_or_default();
            found.require(
                awaited.remove(id),
                &at,
                "answers no open call of the assistant message before it",
            );
        } else {
            found.require(
                awaited.is_empty(),
                &at,
                "stands before the last calls' results",
            );
            awaited.clear();
        }
        openai_content(message, role, &at, &mut found);
        if let Some(name) = message.get("name") {
            let allowed = name.as_str().is_some_and(|name| {
                !name.is_empty()
                    && name.chars().count() <= 64
                    && !name.contains(|c: char| c.is_whitespace() || "<|\\/>".contains(c))
            });
            found.require(allowed, &at, "has a name that is not allowed");
        }
        let Some(calls) = message.get("tool_calls") else {
            continue;
        };
        found.require(
            role == "assistant",
            &at,
            "has calls but is not the assistant's",
        );
        let calls = calls.as_array().map(Vec::as_slice).unwrap_or_default();
        found.require(!calls.is_empty(), &at, "has an empty list of calls");
        for call in calls {
            let id = text_of(call, "id").unwrap_or_default();
            found.require(awaited.insert(id), &at, "repeats a call's id");
            openai_call(call, &at, &mut found);
        }
    }
    found.require(
        awaited.is_empty(),
        "the end",
        "comes before the last calls' results",
    );
    found.0
}

fn openai_content(message: &Value, role: &str, at: &str, found: &mut Findings) {
    let allowed: &[&str] = match role {
        "system" | "developer" | "tool" => &["text"],
        "user" => &["text", "image_url", "input_audio", "file"],
        "assistant" => &["text", "refusal"],
        _ => {
            found.require(false, at, "has an unknown role");
            return;
        }
    };
    match message.get("content") {
        Some(Value::String(_)) => {}
        Some(Value::Null) | None => {
            let has_calls = message.get("tool_calls").is_some();
            found.require(role == "assistant" && has_calls, at, "has no content");
        }
        Some(Value::Array(parts)) => {
            found.require(!parts.is_empty(), at, "has an empty list of parts");
            for part in parts {
                let kind = text_of(part, "type").unwrap_or_default();
                found.require(
                    allowed.contains(&kind),
                    at,
                    "has a part that its role does not allow",
                );
                let whole = match kind {
                    "text" => text_of(part, "text").is_some_and(|text| !text.is_empty()),
                    "refusal" => text_of(part, "refusal").is_some(),
                    "image_url" => part
                        .get("image_url")
                        .and_then(|image| text_of(image, "url"))
                        .is_some(),
                    "input_audio" => part.get("input_audio").is_some_and(Value::is_object),
                    "file" => part.get("file").is_some_and(Value::is_object),
                    _ => true,
                };
                found.require(whole, at, "has a part without its substance");
            }
        }
        Some(_) => found.require(false, at, "has content of a wrong type"),
    }
}

fn openai_call(call: &Value, at: &str, found: &mut Findings) {
    let (body, text) = match text_of(call, "type") {
        Some("function") => (call.get("function"), "arguments"),
        Some("custom") => (call.get("custom"), "input"),
        _ => (None, ""),
    };
    let Some(body) = body else {
        found.require(false, at, "has a call of an unknown type");
        return;
    };
    found.require(
        text_of(body, text).is_some(),
        at,
        "has a call without arguments",
    );
    let name = text_of(body, "name").unwrap_or_default();
    found.require(
        is_plain(name, 64),
        at,
        "calls a tool by a name that is not allowed",
    );
}
