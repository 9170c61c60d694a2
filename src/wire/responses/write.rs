//! A message, to the response items that say it.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::json::{Object, array, is_object, quoted, text_at, type_of};
use crate::wire::media::{FILE_WORD, IMAGE_WORD, image_url};
use crate::wire::{Repair, Repairs, bridge_notes};

/// What Codex sends for a call that was cut off.
const ABORTED: &str = "aborted";

/// What a file without a name is called: the provider asks for one.
const UNNAMED: &str = "file";

/// The kind of a call that runs commands, whose output is a list of what they wrote.
pub(super) const SHELL: &str = "shell";

/// The kind of a call that changes a file, whose output says whether that went well.
pub(super) const PATCH: &str = "apply_patch";

/// The kind of a call that looks for tools, whose output is a list of them.
const SEARCH: &str = "tool_search";

/// Blocks of messages, as chats and frameworks have them.
const OF_CHAT: [&str; 15] = [
    "audio",
    "document",
    "file",
    "image",
    "image_url",
    "input_audio",
    "redacted_thinking",
    "server_tool_call",
    "server_tool_result",
    "text",
    "thinking",
    "tool_call",
    "tool_result",
    "tool_use",
    "video",
];

/// Whether a part goes into a message as what it is: a block of the provider's own is an item in a
/// reply, and a piece of content elsewhere; a sealed one is for an agent. Chat completions' own blocks
/// are neither, and an item of a kind that is read here is a block only where it was broken.
pub fn takes(message: &Message, part: &Part) -> bool {
    const PIECES: [&str; 3] = ["input_text", "input_image", "input_file"];
    const READ: [&str; 8] = [
        "",
        "agent_message",
        "custom_tool_call",
        "function_call",
        "local_shell_call",
        "message",
        "reasoning",
        "tool_search_call",
    ];
    let Part::Opaque { provider, data } = part else {
        return true;
    };
    let is_no_item = |kind: &str| OF_CHAT.contains(&kind) || bridge_notes::KINDS.contains(&kind);
    let kind = type_of(data).filter(|kind| !is_no_item(kind));
    // An output that names its tool itself answers no call.
    let is_stray = |kind: &str| {
        let tool = text_at(data, "name").unwrap_or_default();
        kind.ends_with("_output") && (tool.is_empty() || !gives_something(data))
    };
    let lacks = |key: &str| {
        let item: Value = serde_json::from_str(data).unwrap_or_default();
        !item[key].is_object()
    };
    // A bridge gives such items as they came.
    let is_broken = |kind: &str| match kind {
        "shell_call" => lacks("action"),
        "apply_patch_call" => lacks("operation"),
        kind => READ.contains(&kind) || is_stray(kind),
    };
    provider != PROVIDER
        || kind.is_some_and(|kind| match message.role {
            Role::Assistant => !kind.starts_with("input_") && !is_broken(&kind),
            _ if kind == "encrypted_content" => message.is_between_agents(),
            _ => PIECES.contains(&&*kind),
        })
}

/// The items of a message. `kind` gives the kind of the call that the part at an index, a result,
/// answers, where it is no function. What differs is told to `repairs`, under the message's number.
pub fn items<'a>(
    message: &Message,
    kind: impl Fn(usize) -> Option<&'a str>,
    number: usize,
    repairs: &mut Repairs,
) -> Vec<String> {
    let mut items = Vec::new();
    let mut content = Vec::new();
    if message.name.is_some() && !message.is_between_agents() {
        repairs.add(Repair::SpeakerName, number);
    }
    let role = match message.role {
        // Loose text beside outputs is input.
        Role::Tool => Role::User,
        role => role,
    };
    let said = |content: &[String]| match &message.recipient {
        Some(recipient) => between_agents(message.name.as_deref(), recipient, content),
        None => said(role, content),
    };
    for (index, part) in message.parts.iter().enumerate() {
        let item = match part {
            Part::Opaque { provider, data } if provider == PROVIDER => {
                match serde_json::from_str::<&RawValue>(data) {
                    Ok(_) if role == Role::Assistant && !is_piece(data) => data.clone(),
                    _ => {
                        content.extend(piece(part, role, number, repairs));
                        continue;
                    }
                }
            }
            Part::Thinking {
                text,
                signature: Some(signature),
                provider,
            } if provider.as_deref() == Some(PROVIDER) => {
                let summary = Object::typed("summary_text").string("text", text);
                let summary = (!text.is_empty()).then(|| summary.finish());
                Object::typed("reasoning")
                    .raw("summary", &array(summary))
                    .string("encrypted_content", signature)
                    .finish()
            }
            // The tool shows such a mark, and sends nothing for it.
            Part::Thinking { text, .. } if text.is_empty() => continue,
            Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            } => call(id, name, arguments, kind.as_deref()),
            Part::ToolResult {
                call,
                content,
                is_error,
            } => match (&content[..], kind(index)) {
                ([Part::Opaque { provider, data }], _)
                    if provider == PROVIDER && is_output_of(call, data) =>
                {
                    data.clone()
                }
                // What a provider's own tool gave is an object.
                ([Part::Opaque { provider, data }], Some(kind))
                    if provider == PROVIDER && kind.ends_with("_call") && is_object(data) =>
                {
                    answered(call, Some(kind), data, *is_error)
                }
                (parts, kind) => {
                    if kind == Some(SEARCH) && !parts.is_empty() {
                        repairs.add(Repair::Opaque, number);
                    }
                    let content = match kind {
                        Some(SHELL) => chunks(parts, number, repairs),
                        _ => result_content(parts, number, repairs),
                    };
                    answered(call, kind, &content, *is_error)
                }
            },
            _ => {
                content.extend(piece(part, role, number, repairs));
                continue;
            }
        };
        if !content.is_empty() {
            items.push(said(&std::mem::take(&mut content)));
        }
        items.push(item);
    }
    let empty_input = items.is_empty() && role != Role::Assistant && message.parts.is_empty();
    if !content.is_empty() || empty_input {
        items.push(said(&content));
    }
    items
}

fn said(role: Role, content: &[String]) -> String {
    let message = Object::typed("message").string("role", role.as_str());
    message.raw("content", &array(content)).finish()
}

/// What one agent sent to another, an item of its own.
fn between_agents(author: Option<&str>, recipient: &str, content: &[String]) -> String {
    let message = Object::typed("agent_message").optional("author", author);
    let message = message.string("recipient", recipient);
    message.raw("content", &array(content)).finish()
}

fn call(id: &str, name: &str, arguments: &str, kind: Option<&str>) -> String {
    let status = "completed";
    let item = match (kind, serde_json::from_str::<&RawValue>(arguments)) {
        (Some("custom"), _) => Object::typed("custom_tool_call")
            .string("status", status)
            .string("call_id", id)
            .string("name", name)
            .string("input", arguments),
        (Some("local_shell"), Ok(action)) => Object::typed("local_shell_call")
            .string("call_id", id)
            .string("status", status)
            .raw("action", action.get()),
        (Some(SHELL), Ok(action)) => Object::typed("shell_call")
            .string("call_id", id)
            .string("status", status)
            .raw("action", action.get()),
        (Some(PATCH), Ok(operation)) => Object::typed("apply_patch_call")
            .string("call_id", id)
            .string("status", status)
            .raw("operation", operation.get()),
        (Some(SEARCH), Ok(arguments)) => Object::typed("tool_search_call")
            .string("call_id", id)
            .string("status", status)
            .string("execution", "client")
            .raw("arguments", arguments.get()),
        _ => Object::typed("function_call")
            .string("name", name)
            .string("arguments", arguments)
            .string("call_id", id),
    };
    item.finish()
}

/// The item that answers a call of `kind` with a text, where it was cut off.
pub fn cut_off(call: &str, kind: Option<&str>) -> String {
    let content = match kind {
        Some(SHELL) => array([chunk(ABORTED)]),
        _ => quoted(ABORTED),
    };
    answered(call, kind, &content, true)
}

/// The item that answers a call of `kind` with `content`, a JSON text. A search that gave no item of its
/// own found nothing.
fn answered(call: &str, kind: Option<&str>, content: &str, is_error: bool) -> String {
    let mut status = None;
    let kind = match kind {
        Some(SEARCH) => {
            return Object::typed("tool_search_output")
                .string("call_id", call)
                .string("status", "completed")
                .string("execution", "client")
                .raw("tools", "[]")
                .finish();
        }
        Some("custom") => "custom_tool_call_output".into(),
        Some(SHELL) => "shell_call_output".into(),
        Some(PATCH) => {
            status = Some(if is_error { "failed" } else { "completed" });
            "apply_patch_call_output".into()
        }
        Some(kind) if kind.ends_with("_call") => Cow::Owned(format!("{kind}_output")),
        _ => "function_call_output".into(),
    };
    let item = Object::typed(&kind).string("call_id", call);
    item.optional("status", status)
        .raw("output", content)
        .finish()
}

/// What commands wrote, as a list: what is a text here is what one of them wrote.
fn chunks(parts: &[Part], number: usize, repairs: &mut Repairs) -> String {
    let one = |part: &Part| match part {
        Part::Text { text } => Some(chunk(text)),
        Part::Opaque { provider, data } if provider == PROVIDER && is_object(data) => {
            Some(data.clone())
        }
        _ => {
            repairs.add(Repair::Opaque, number);
            None
        }
    };
    array(parts.iter().filter_map(one))
}

fn chunk(text: &str) -> String {
    let outcome = Object::typed("exit").raw("exit_code", "0").finish();
    let chunk = Object::new().string("stdout", text).string("stderr", "");
    chunk.raw("outcome", &outcome).finish()
}

/// What a tool gave: a string, or a list of pieces.
fn result_content(parts: &[Part], number: usize, repairs: &mut Repairs) -> String {
    match parts {
        [] => quoted(""),
        [Part::Text { text }] => quoted(text),
        parts => {
            let pieces = parts.iter();
            array(pieces.filter_map(|part| piece(part, Role::User, number, repairs)))
        }
    }
}

/// A piece of a message's content or of an output.
fn piece(part: &Part, role: Role, number: usize, repairs: &mut Repairs) -> Option<String> {
    let text = |text: &str| {
        let kind = match role {
            Role::Assistant => "output_text",
            _ => "input_text",
        };
        Some(Object::typed(kind).string("text", text).finish())
    };
    let refused = match part {
        Part::Text { text: said } => return text(said),
        Part::Image(media) => match image_url(media).filter(|_| role != Role::Assistant) {
            Some(url) => {
                let image = Object::typed("input_image").string("image_url", &url);
                return Some(image.optional("detail", media.detail.as_deref()).finish());
            }
            None => Repair::Media,
        },
        // The tool's items know no files; see [`with_files`].
        Part::File(_) => Repair::Media,
        Part::Thinking { .. } => Repair::Thinking,
        Part::Opaque { provider, data } if provider == PROVIDER && !is_of_chat(data) => {
            match serde_json::from_str::<&RawValue>(data) {
                Ok(raw) => return Some(raw.get().to_owned()),
                Err(_) => Repair::Opaque,
            }
        }
        _ => Repair::Opaque,
    };
    repairs.add(refused, number);
    match part {
        Part::Image(_) => text(IMAGE_WORD),
        Part::File(_) => text(FILE_WORD),
        _ => None,
    }
}

/// The message with its files and pictures as the provider's own types ask for them. Codex has none of these in its sessions.
pub fn with_files(message: Cow<'_, Message>) -> Cow<'_, Message> {
    let has_files = |parts: &[Part]| parts.iter().any(|part| block(part).is_some());
    let holds = |part: &Part| match part {
        Part::ToolResult { content, .. } => has_files(content),
        Part::Image(media) if media.detail.is_none() => true,
        part => block(part).is_some(),
    };
    if message.role == Role::Assistant || !message.parts.iter().any(holds) {
        return message;
    }
    let mut message = message.into_owned();
    for part in &mut message.parts {
        match part {
            // A hosted tool's one output is an object of another kind.
            Part::ToolResult { content, .. } if content.len() > 1 => {
                for part in content {
                    *part = block(part).unwrap_or_else(|| part.clone());
                }
            }
            Part::ToolResult { .. } => {}
            part => {
                if let Part::Image(media) = part {
                    // The provider's types ask for it; what it does without is this.
                    media.detail.get_or_insert_with(|| "auto".to_owned());
                }
                *part = block(part).unwrap_or_else(|| part.clone());
            }
        }
    }
    Cow::Owned(message)
}

/// The block for a file, or for a picture that only the provider has; none of anything else.
fn block(part: &Part) -> Option<Part> {
    let data = match part {
        Part::File(media) => file(media)?,
        Part::Image(media) => match &media.source {
            MediaSource::FileId(id) => {
                let image = Object::typed("input_image").string("file_id", id);
                image.optional("detail", media.detail.as_deref()).finish()
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(Part::opaque(PROVIDER, data))
}

/// A file that is read as text: one that is heard or seen has no form.
fn file(media: &Media) -> Option<String> {
    let kind = media.media_type.as_deref().unwrap_or_default();
    let is_other = ["audio/", "video/", "image/"];
    if is_other.iter().any(|other| kind.starts_with(other)) {
        return None;
    }
    let file = Object::typed("input_file");
    let name = media.name.as_deref();
    Some(match &media.source {
        MediaSource::FileId(id) => file.string("file_id", id).finish(),
        MediaSource::Url(url) => file.string("file_url", url).finish(),
        MediaSource::Base64(data) => file
            .string("filename", name.unwrap_or(UNNAMED))
            .string("file_data", &held(media, data))
            .finish(),
    })
}

/// The bytes of a file as a data URL, or bare where their type was not told.
fn held(media: &Media, data: &str) -> String {
    match &media.media_type {
        Some(kind) => format!("data:{kind};base64,{data}"),
        None => data.to_owned(),
    }
}

fn is_of_chat(data: &str) -> bool {
    type_of(data).is_some_and(|kind| OF_CHAT.contains(&kind.as_str()))
}

/// Whether a block is a piece of a message's content, not an item.
fn is_piece(data: &str) -> bool {
    type_of(data).is_some_and(|kind| {
        kind == "refusal" || kind.starts_with("input_") || kind.starts_with("output_")
    })
}

/// Whether a block is the whole item that answers this call.
fn is_output_of(call: &str, data: &str) -> bool {
    let item: Value = serde_json::from_str(data).unwrap_or_default();
    let kind = item["type"].as_str().unwrap_or_default();
    let gives = kind != "tool_search_output" || item["tools"].is_array();
    kind.ends_with("_output") && item["call_id"] == call && gives
}

/// Whether an item that a client wrote is no output, or one that gives something as providers take it.
pub fn gives_something(item: &str) -> bool {
    let item: Value = serde_json::from_str(item).unwrap_or_default();
    match item["type"].as_str() {
        Some("tool_search_output") => item["tools"].is_array(),
        Some("function_call_output" | "custom_tool_call_output") => {
            item["output"].is_string() || item["output"].is_array()
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_names_its_tool_goes_as_it_is_and_one_of_no_call_does_not() {
        let takes = |data: &str| {
            let part = Part::Opaque {
                provider: PROVIDER.into(),
                data: data.into(),
            };
            takes(&Message::new(Role::Assistant, Vec::new()), &part)
        };
        assert!(takes(
            r#"{"type":"function_call_output","name":"goal_objective","namespace":"agent","output":"x"}"#
        ));
        for stray in ["", r#""name":"","#] {
            assert!(!takes(&format!(
                r#"{{"type":"function_call_output",{stray}"output":"x"}}"#
            )));
        }
        assert!(!takes(r#"{"type":"function_call_output","name":"goal"}"#));
        assert!(!takes(r#"{"type":"function_call","arguments":[]}"#));
    }

    #[test]
    fn a_sealed_piece_is_for_an_agent_alone() {
        let part = Part::Opaque {
            provider: PROVIDER.into(),
            data: r#"{"type":"encrypted_content","encrypted_content":"x"}"#.into(),
        };
        let mut message = Message::new(Role::User, vec![part]);
        assert!(!takes(&message, &message.parts[0]));
        message.recipient = Some("/root".into());
        assert!(takes(&message, &message.parts[0]));
    }
}
