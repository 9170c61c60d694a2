//! Anthropic's rules for Messages.

use std::collections::HashSet;

use serde_json::Value;

use super::{Findings, has_text, is_plain, text_of};

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
        // Newer models take what a client attached as a system message after the user's.
        if role == "system" {
            let text = message.get("content").and_then(Value::as_str);
            let fits = last_role == "user" && text.is_some_and(|text| !text.trim().is_empty());
            found.require(fits, &at, "is no system text after the user's");
            continue;
        }
        found.require(
            matches!(role, "user" | "assistant"),
            &at,
            "has a role other than user and assistant",
        );
        // What a client attaches before it says anything, it may send as a message of its own.
        let beside = index > 0 && is_reminder(&messages[index - 1]);
        found.require(
            role != last_role || role == "user" && beside,
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

/// Whether a message is nothing but what a client attached.
fn is_reminder(message: &Value) -> bool {
    let blocks = message.get("content").and_then(Value::as_array);
    blocks.is_some_and(|blocks| {
        let mut texts = blocks.iter().map(|block| text_of(block, "text"));
        texts.all(|text| text.is_some_and(|text| text.starts_with("<system-reminder>")))
    })
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
