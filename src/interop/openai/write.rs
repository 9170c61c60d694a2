//! Messages to an OpenAI request: untouched ones as their records were, others anew.

use std::collections::HashSet;
use std::io::Write;

use crate::error::Result;
use crate::interop::chat::write::{Remarks, document_text, write_all};
use crate::interop::{Document, Outgoing};
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::json::{Object, array, quoted};
use crate::wire::openai::PROVIDER;

pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut remarks = Remarks::of(document);
    let mut legacy = HashSet::new();
    let mut items = Vec::new();
    for outgoing in messages {
        for part in &outgoing.message.parts {
            if let Part::ToolCall { id, kind, .. } = part {
                match kind.as_deref() {
                    Some("function_call") => legacy.insert(id.as_str()),
                    _ => legacy.remove(id.as_str()),
                };
            }
        }
        if outgoing.records.is_empty() {
            build(&outgoing.message, &legacy, &mut items, &mut remarks);
        } else {
            items.extend(outgoing.records.iter().cloned());
        }
    }
    write_all(out, &document_text(None, &items, &document.settings))?;
    Ok(remarks.into_words())
}

/// Adds the messages that `message` becomes: each result is one of its own.
fn build(
    message: &Message,
    legacy: &HashSet<&str>,
    items: &mut Vec<String>,
    remarks: &mut Remarks,
) {
    let mut content = Vec::new();
    let mut text_only = true;
    let mut calls = Vec::new();
    let mut function_call = None;
    let mut reasoning: Option<String> = None;
    let mut results = 0;
    for part in &message.parts {
        match part {
            Part::Text { text } => {
                content.push(Object::typed("text").string("text", text).finish());
            }
            Part::Thinking { text, provider, .. } => {
                if provider.as_deref() == Some(PROVIDER) {
                    reasoning.get_or_insert_default().push_str(text);
                } else {
                    remarks.add("thinking of another provider");
                }
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            } => match kind.as_deref() {
                Some("function_call") if function_call.is_none() => {
                    function_call = Some(function(name, arguments));
                }
                Some("custom") => {
                    let custom = Object::new()
                        .string("name", name)
                        .string("input", arguments);
                    let call = Object::new().string("id", id).string("type", "custom");
                    calls.push(call.raw("custom", &custom.finish()).finish());
                }
                _ => {
                    let call = Object::new().string("id", id).string("type", "function");
                    calls.push(call.raw("function", &function(name, arguments)).finish());
                }
            },
            Part::ToolResult {
                call,
                content,
                is_error,
            } => {
                results += 1;
                if *is_error {
                    remarks.add("the mark of a failed tool call");
                }
                let text = result_content(content, remarks);
                let result = if legacy.contains(call.as_str()) {
                    Object::new()
                        .string("role", "function")
                        .string("name", call)
                } else {
                    let result = Object::new()
                        .string("role", "tool")
                        .string("tool_call_id", call);
                    result.optional("name", message.name.as_deref())
                };
                items.push(result.raw("content", &text).finish());
            }
            Part::Image(media) => {
                text_only = false;
                content.extend(image(media, remarks));
            }
            Part::File(media) => {
                text_only = false;
                content.extend(file(media, remarks));
            }
            Part::Opaque { provider, data } if provider == PROVIDER => {
                text_only = false;
                content.push(data.clone());
            }
            Part::Opaque { .. } => remarks.add("a block of another provider"),
        }
    }
    let has_calls = !calls.is_empty() || function_call.is_some();
    if results > 0 && content.is_empty() && !has_calls {
        return;
    }
    let role = match message.role {
        Role::Tool => "user",
        role => role.as_str(),
    };
    let mut object = Object::new().string("role", role);
    if message.role != Role::Tool {
        object = object.optional("name", message.name.as_deref());
    }
    object = object.optional("reasoning_content", reasoning.as_deref());
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    object = match texts[..] {
        [] if content.is_empty() && has_calls => object.raw("content", "null"),
        [] if content.is_empty() => object.string("content", ""),
        [text] if text_only => object.string("content", text),
        _ => object.raw("content", &array(&content)),
    };
    if !calls.is_empty() {
        object = object.raw("tool_calls", &array(&calls));
    }
    if let Some(call) = function_call {
        object = object.raw("function_call", &call);
    }
    items.push(object.finish());
}

fn function(name: &str, arguments: &str) -> String {
    let object = Object::new().string("name", name);
    object.string("arguments", arguments).finish()
}

/// A tool's content is text alone.
fn result_content(parts: &[Part], remarks: &mut Remarks) -> String {
    let mut texts = Vec::new();
    for part in parts {
        match part {
            Part::Text { text } => texts.push(text),
            Part::Image(_) | Part::File(_) => remarks.add("a picture or file in a tool result"),
            _ => remarks.add("a block in a tool result"),
        }
    }
    match texts[..] {
        [] => quoted(""),
        [text] => quoted(text),
        _ => {
            let blocks = texts
                .iter()
                .map(|text| Object::typed("text").string("text", text).finish());
            array(blocks.collect::<Vec<_>>())
        }
    }
}

fn image(media: &Media, remarks: &mut Remarks) -> Option<String> {
    let url = match &media.source {
        MediaSource::Base64(data) => {
            let kind = media.media_type.as_deref().unwrap_or("image/png");
            format!("data:{kind};base64,{data}")
        }
        MediaSource::Url(url) => url.clone(),
        MediaSource::FileId(_) => {
            remarks.add("a picture that only its provider holds");
            return None;
        }
    };
    let inner = Object::new().string("url", &url);
    let inner = inner.optional("detail", media.detail.as_deref()).finish();
    Some(Object::typed("image_url").raw("image_url", &inner).finish())
}

fn file(media: &Media, remarks: &mut Remarks) -> Option<String> {
    let inner = Object::new().optional("filename", media.name.as_deref());
    let inner = match (&media.source, &media.media_type) {
        (MediaSource::Base64(data), Some(kind)) => {
            inner.string("file_data", &format!("data:{kind};base64,{data}"))
        }
        (MediaSource::Base64(data), None) => inner.string("file_data", data),
        (MediaSource::FileId(id), _) => inner.string("file_id", id),
        (MediaSource::Url(_), _) => {
            remarks.add("a file at an address");
            return None;
        }
    };
    Some(Object::typed("file").raw("file", &inner.finish()).finish())
}
