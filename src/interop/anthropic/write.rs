//! Messages to an Anthropic request: untouched ones as their records were, others anew.

use std::io::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Result;
use crate::interop::chat::write::{Remarks, document_text, write_all};
use crate::interop::{Document, Outgoing};
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::anthropic::PROVIDER;
use crate::wire::json::{Object, array, quoted};

pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut remarks = Remarks::of(document);
    let leading = messages
        .iter()
        .take_while(|outgoing| {
            let as_message = outgoing.records.first().is_some_and(|r| r.starts_with('{'));
            outgoing.message.role.is_system() && !as_message
        })
        .count();
    let (system, rest) = messages.split_at(leading);
    let system = system_value(system, &mut remarks);
    let mut items = Vec::new();
    // Results that were made anew and belong into one message.
    let mut results: Vec<String> = Vec::new();
    for outgoing in rest {
        let is_results = outgoing.records.is_empty() && outgoing.message.role == Role::Tool;
        if !is_results && !results.is_empty() {
            items.push(user(&std::mem::take(&mut results)));
        }
        if is_results {
            results.extend(blocks(&outgoing.message.parts, &mut remarks));
        } else if outgoing.records.is_empty() {
            items.push(build(&outgoing.message, &mut remarks));
        } else {
            items.extend(outgoing.records.iter().map(|record| as_message(record)));
        }
    }
    if !results.is_empty() {
        items.push(user(&results));
    }
    let text = document_text(system.as_deref(), &items, &document.settings);
    write_all(out, &text)?;
    Ok(remarks.into_words())
}

/// The `system` of a request: one record as it was, or all texts as blocks.
fn system_value(system: &[Outgoing], remarks: &mut Remarks) -> Option<String> {
    if let [only] = system {
        if let [record] = &only.records[..] {
            return Some(record.clone());
        }
        if let [Part::Text { text }] = &only.message.parts[..] {
            return Some(quoted(text));
        }
    }
    let parts: Vec<Part> = system
        .iter()
        .flat_map(|outgoing| outgoing.message.parts.iter().cloned())
        .collect();
    let blocks = blocks(&parts, remarks);
    (!blocks.is_empty()).then(|| array(&blocks))
}

/// A record as an element of `messages`: of a response body its role and content.
fn as_message(record: &str) -> String {
    #[derive(Deserialize)]
    struct Body<'a> {
        r#type: String,
        role: String,
        #[serde(borrow)]
        content: &'a RawValue,
    }
    match serde_json::from_str::<Body<'_>>(record) {
        Ok(body) if body.r#type == "message" => Object::new()
            .string("role", &body.role)
            .raw("content", body.content.get())
            .finish(),
        _ => record.to_owned(),
    }
}

fn user(blocks: &[String]) -> String {
    let object = Object::new().string("role", "user");
    object.raw("content", &array(blocks)).finish()
}

/// A message that was made anew.
pub(in crate::interop) fn build(message: &Message, remarks: &mut Remarks) -> String {
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
        Role::System | Role::Developer => {
            remarks.say("a system message inside the conversation became a user's");
            "user"
        }
    };
    if message.name.is_some() {
        remarks.add("a speaker's name");
    }
    let object = Object::new().string("role", role);
    match &message.parts[..] {
        [Part::Text { text }] => object.string("content", text).finish(),
        parts => object
            .raw("content", &array(blocks(parts, remarks)))
            .finish(),
    }
}

/// The blocks of some parts; results come first, as the provider wants it.
fn blocks(parts: &[Part], remarks: &mut Remarks) -> Vec<String> {
    let is_result = |part: &&Part| matches!(part, Part::ToolResult { .. });
    let results = parts.iter().filter(is_result);
    let others = parts.iter().filter(|part| !is_result(part));
    let all: Vec<&Part> = results.chain(others).collect();
    all.into_iter()
        .filter_map(|part| block(part, remarks))
        .collect()
}

fn block(part: &Part, remarks: &mut Remarks) -> Option<String> {
    Some(match part {
        // The provider refuses empty text.
        Part::Text { text } if text.is_empty() => return None,
        Part::Text { text } => Object::typed("text").string("text", text).finish(),
        Part::Thinking {
            text,
            signature: Some(signature),
            provider,
        } if provider.as_deref() == Some(PROVIDER) => Object::typed("thinking")
            .string("thinking", text)
            .string("signature", signature)
            .finish(),
        Part::Thinking { .. } => {
            remarks.add("thinking of another provider, or without its signature");
            return None;
        }
        Part::ToolCall {
            id,
            name,
            arguments,
            ..
        } => Object::typed("tool_use")
            .string("id", id)
            .string("name", name)
            .raw("input", &input(arguments, remarks))
            .finish(),
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let mut result = Object::typed("tool_result").string("tool_use_id", call);
            result = match &content[..] {
                [] => result,
                [Part::Text { text }] => result.string("content", text),
                parts => result.raw("content", &array(blocks(parts, remarks))),
            };
            if *is_error {
                result = result.raw("is_error", "true");
            }
            result.finish()
        }
        Part::Image(media) => {
            let image = Object::typed("image");
            image.raw("source", &source(media, "image/png")).finish()
        }
        Part::File(media) => Object::typed("document")
            .raw("source", &source(media, "application/pdf"))
            .optional("title", media.name.as_deref())
            .finish(),
        Part::Opaque { provider, data } if provider == PROVIDER => data.clone(),
        Part::Opaque { .. } => {
            remarks.add("a block of another provider");
            return None;
        }
    })
}

/// Arguments as the object that the provider wants.
fn input(arguments: &str, remarks: &mut Remarks) -> String {
    let raw: Result<&RawValue, _> = serde_json::from_str(arguments);
    match raw {
        Ok(raw) if raw.get().starts_with('{') => raw.get().to_owned(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => {
            remarks.say("arguments that are no JSON object stand under '_raw'");
            Object::new().string("_raw", arguments).finish()
        }
    }
}

fn source(media: &Media, default_type: &str) -> String {
    match &media.source {
        MediaSource::Base64(data) => Object::typed("base64")
            .string(
                "media_type",
                media.media_type.as_deref().unwrap_or(default_type),
            )
            .string("data", data)
            .finish(),
        MediaSource::Url(url) => Object::typed("url").string("url", url).finish(),
        MediaSource::FileId(id) => Object::typed("file").string("file_id", id).finish(),
    }
}
