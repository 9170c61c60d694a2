//! The providers' published rules as a checker: what is wrong with a request, in words.
//!
//! Written from the rules, not from the writers in this module, so that each can find the other's
//! mistakes. Deliberately absent: anything that depends on a model or an account.
//!
//! # Source
//!
//! OpenAI's reference of chat completions; Anthropic's reference of the Messages API and the
//! guides on tool use, vision and extended thinking.

use std::collections::HashSet;

use serde_json::{Map, Value};

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

/// What is wrong with an Anthropic Messages request, or with `{"system": …, "messages": …}` alone.
/// Empty: nothing.
pub fn check_anthropic(request: &Value) -> Vec<String> {
    let mut found = Findings::default();
    match request.get("system") {
        None | Some(Value::String(_)) => {}
        Some(Value::Array(blocks)) => {
            found.require(!blocks.is_empty(), "system", "is an empty list");
            for block in blocks {
                let fits = text_of(block, "type") == Some("text") && has_text(block);
                found.require(fits, "system", "has a block that is no text, or blank");
            }
        }
        Some(_) => found.require(false, "system", "is neither a string nor a list"),
    }
    let Some(messages) = request.get("messages").and_then(Value::as_array) else {
        found.require(false, "messages", "is no list");
        return found.0;
    };
    found.require(!messages.is_empty(), "messages", "is empty");
    let mut ids = HashSet::new();
    let mut awaited: Vec<&str> = Vec::new();
    let mut last_role = "assistant";
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        let role = text_of(message, "role").unwrap_or_default();
        found.require(
            matches!(role, "user" | "assistant"),
            &at,
            "has a role other than user and assistant",
        );
        found.require(
            role != last_role,
            &at,
            "is not of the other role than the one before",
        );
        last_role = role;
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            found.require(false, &at, "has content that is no list of blocks");
            continue;
        };
        found.require(!blocks.is_empty(), &at, "has no blocks");
        if role == "assistant" {
            awaited = anthropic_reply(
                blocks,
                index + 1 == messages.len(),
                &at,
                &mut ids,
                &mut found,
            );
        } else {
            anthropic_user(blocks, &at, &mut awaited, &mut found);
        }
    }
    found.require(
        awaited.is_empty(),
        "the end",
        "comes before the last calls' results",
    );
    if let Some(last) = messages.last()
        && last_role == "assistant"
        && let Some(block) = last
            .get("content")
            .and_then(|content| content.as_array()?.last())
        && let Some(text) = text_of(block, "text")
    {
        let trimmed = text.trim_end() == text;
        found.require(trimmed, "the end", "is a reply that ends in white space");
    }
    found.0
}

/// Checks a reply's blocks; returns the ids of its calls.
fn anthropic_reply<'a>(
    blocks: &'a [Value],
    is_last: bool,
    at: &str,
    ids: &mut HashSet<&'a str>,
    found: &mut Findings,
) -> Vec<&'a str> {
    let mut calls = Vec::new();
    let mut server: HashSet<&str> = HashSet::new();
    for block in blocks {
        let kind = text_of(block, "type").unwrap_or_default();
        match kind {
            "text" => found.require(has_text(block), at, "has a blank text"),
            "thinking" => {
                let signed = text_of(block, "signature").is_some_and(|text| !text.is_empty());
                let whole = signed && text_of(block, "thinking").is_some();
                found.require(whole, at, "has thinking without a signature");
            }
            "redacted_thinking" => {
                found.require(
                    text_of(block, "data").is_some(),
                    at,
                    "has thinking without data",
                );
            }
            "tool_use" => {
                let id = text_of(block, "id").unwrap_or_default();
                found.require(
                    is_plain(id, usize::MAX),
                    at,
                    "has a call id that is not allowed",
                );
                found.require(ids.insert(id), at, "repeats a call's id");
                calls.push(id);
                let name = text_of(block, "name").unwrap_or_default();
                found.require(
                    is_plain(name, 128),
                    at,
                    "calls a tool by a name not allowed",
                );
                let is_object = block.get("input").is_some_and(Value::is_object);
                found.require(is_object, at, "has a call whose input is no object");
            }
            "server_tool_use" | "mcp_tool_use" => {
                let id = text_of(block, "id").unwrap_or_default();
                found.require(ids.insert(id), at, "repeats a server call's id");
                server.insert(id);
            }
            "compaction" => {}
            kind if kind.ends_with("_tool_result") => {
                let id = text_of(block, "tool_use_id").unwrap_or_default();
                found.require(
                    server.remove(id),
                    at,
                    "has a result without its server call",
                );
            }
            _ => found.require(false, at, "has a block that replies do not allow"),
        }
    }
    // A paused reply is sent back as it is, with the calls at its end.
    if is_last {
        for block in blocks.iter().rev() {
            match text_of(block, "type") {
                Some("server_tool_use" | "mcp_tool_use") => {
                    server.remove(text_of(block, "id").unwrap_or_default());
                }
                _ => break,
            }
        }
    }
    found.require(
        server.is_empty(),
        at,
        "has a server call without its result",
    );
    let last = blocks.last().and_then(|block| text_of(block, "type"));
    found.require(
        !matches!(last, Some("thinking" | "redacted_thinking")),
        at,
        "ends in thinking",
    );
    calls
}

fn anthropic_user<'a>(
    blocks: &'a [Value],
    at: &str,
    awaited: &mut Vec<&'a str>,
    found: &mut Findings,
) {
    let mut results_over = false;
    for block in blocks {
        if text_of(block, "type") != Some("tool_result") {
            results_over = true;
            user_block(block, at, found);
            continue;
        }
        found.require(!results_over, at, "has a result after other blocks");
        let id = text_of(block, "tool_use_id").unwrap_or_default();
        match awaited.iter().position(|call| *call == id) {
            Some(call) => {
                awaited.swap_remove(call);
            }
            None => found.require(false, at, "has a result that answers no open call"),
        }
        let failed = block.get("is_error") == Some(&Value::Bool(true));
        match block.get("content") {
            None => found.require(!failed, at, "has a failure without content"),
            Some(Value::String(text)) => {
                found.require(
                    !failed || !text.is_empty(),
                    at,
                    "has a failure without content",
                );
            }
            Some(Value::Array(inner)) => {
                found.require(
                    !failed || !inner.is_empty(),
                    at,
                    "has a failure without content",
                );
                for block in inner {
                    let kind = text_of(block, "type").unwrap_or_default();
                    found.require(
                        !failed || kind == "text",
                        at,
                        "has a failure that is no text",
                    );
                    if kind != "tool_reference" {
                        user_block(block, at, found);
                    }
                }
            }
            Some(_) => found.require(false, at, "has a result of a wrong type"),
        }
    }
    found.require(
        awaited.is_empty(),
        at,
        "lacks results of the calls before it",
    );
    awaited.clear();
}

fn user_block(block: &Value, at: &str, found: &mut Findings) {
    let source = block.get("source");
    let source_type = source.and_then(|source| text_of(source, "type"));
    match text_of(block, "type").unwrap_or_default() {
        "text" => found.require(has_text(block), at, "has a blank text"),
        "image" => match source_type {
            Some("base64") => {
                let media_type = source.and_then(|source| text_of(source, "media_type"));
                let known = ["image/jpeg", "image/png", "image/gif", "image/webp"];
                let fits = media_type.is_some_and(|media_type| known.contains(&media_type));
                found.require(
                    fits,
                    at,
                    "has a picture of a media type that is not allowed",
                );
            }
            Some("url" | "file") => {}
            _ => found.require(false, at, "has a picture without a source"),
        },
        "document" => {
            let fits = match source_type {
                Some("base64") => {
                    source.and_then(|source| text_of(source, "media_type"))
                        == Some("application/pdf")
                }
                Some("url" | "file" | "text" | "content") => true,
                _ => false,
            };
            found.require(fits, at, "has a document without an allowed source");
        }
        "search_result" | "container_upload" => {}
        _ => found.require(false, at, "has a block that user messages do not allow"),
    }
}

#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn require(&mut self, holds: bool, at: &str, otherwise: &str) {
        if !holds {
            self.0.push(format!("{at} {otherwise}"));
        }
    }
}

fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value
        .as_object()
        .and_then(|object: &Map<String, Value>| object.get(key)?.as_str())
}

fn has_text(block: &Value) -> bool {
    text_of(block, "text").is_some_and(|text| !text.trim().is_empty())
}

fn is_plain(text: &str, max: usize) -> bool {
    !text.is_empty()
        && text.len() <= max
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn broken_openai_requests_are_found() {
        let call =
            json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": ""}});
        let broken = [
            json!([{"role": "tool", "tool_call_id": "1", "content": ""}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call]}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call]}, {"role": "user", "content": "x"}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call, call]},
                {"role": "tool", "tool_call_id": "1", "content": ""}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "1", "content": ""},
                {"role": "tool", "tool_call_id": "1", "content": ""}]),
            json!([{"role": "assistant", "content": null}]),
            json!([{"role": "user", "content": []}]),
            json!([{"role": "bot", "content": "x"}]),
            json!([{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]),
            json!([{"role": "user", "name": "a b", "content": "x"}]),
            json!([]),
        ];
        for messages in broken {
            assert!(
                !check_openai(&json!({"messages": messages})).is_empty(),
                "{messages}"
            );
        }
        let good = json!([{"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": ""}]);
        assert_eq!(
            check_openai(&json!({"messages": good})),
            Vec::<String>::new()
        );
    }

    #[test]
    fn broken_anthropic_requests_are_found() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let hello = json!({"role": "user", "content": [text("hello")]});
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id});
        let reply = |blocks: Value| json!({"role": "assistant", "content": blocks});
        let user = |blocks: Value| json!({"role": "user", "content": blocks});
        let broken = [
            json!([]),
            json!([reply(json!([text("x")]))]),
            json!([hello, hello]),
            json!([{"role": "user", "content": "x"}]),
            json!([user(json!([]))]),
            json!([user(json!([text(" ")]))]),
            json!([user(json!([result("1")]))]),
            json!([hello, reply(json!([call("1")]))]),
            json!([hello, reply(json!([call("1")])), hello]),
            json!([
                hello,
                reply(json!([call("1"), call("1")])),
                user(json!([result("1"), result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("1")])),
                user(json!([text("x"), result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("1")])),
                user(json!([result("1"), result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("a b")])),
                user(json!([result("a b")]))
            ]),
            json!([hello, reply(json!([text("x ")]))]),
            json!([
                hello,
                reply(json!([{"type": "thinking", "thinking": "x", "signature": "s"}]))
            ]),
            json!([
                hello,
                reply(json!([{"type": "thinking", "thinking": "x"}, text("y")]))
            ]),
            json!([hello, reply(json!([{"type": "fallback"}, text("y")]))]),
            json!([
                hello,
                reply(json!([{"type": "server_tool_use", "id": "1"}, text("y")]))
            ]),
            json!([
                hello,
                reply(json!([{"type": "tool_use", "id": "1", "name": "f", "input": "x"}])),
                user(json!([result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("1")])),
                user(json!([{"type": "tool_result", "tool_use_id": "1", "is_error": true}]))
            ]),
            json!([user(
                json!([{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}}])
            )]),
        ];
        for messages in broken {
            assert!(
                !check_anthropic(&json!({"messages": messages})).is_empty(),
                "{messages}"
            );
        }
        let good = json!([
            hello,
            reply(json!([text("x"), call("1"), call("2")])),
            user(json!([result("2"), result("1"), text("y")]))
        ]);
        assert_eq!(
            check_anthropic(&json!({"system": [text("s")], "messages": good})),
            Vec::<String>::new()
        );
        assert!(!check_anthropic(&json!({"system": [], "messages": good})).is_empty());
    }
}
