//! A message in the form of the framework that the tool is made with (AI SDK).

use serde_json::value::RawValue;

use crate::formats::shared::parts::{self, checked, role};
use crate::formats::shared::states::Said;
use crate::model::{MediaSource, Message, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, text_or_json, tight, word};
use crate::wire::media::attachment;

/// Whose opaque blocks these are.
const PROVIDER: &str = "cursor";

lazy! { struct Record { role, content, options = "providerOptions", missing, unread } }

lazy! {
    struct Block {
        r#type, text, signature, tool_call_id = "toolCallId", tool_name = "toolName", args, result,
        is_error = "isError", content = "experimental_content", image, data, mime_type = "mimeType",
        filename,
    }
}

/// Reads a record.
pub(super) fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    if let Some(id) = string(record.missing) {
        return Err(format!("a message that is not in the database: {id}"));
    }
    if let Some(id) = string(record.unread) {
        return Err(format!("a message that is no JSON object: {id}"));
    }
    let role = role(
        record.role,
        &[Role::System, Role::User, Role::Assistant, Role::Tool],
    )?;
    let mut found = Notes::default();
    let has_failed = has_failed(record.options);
    let parts = match string(record.content) {
        Some(text) => vec![Part::text(text)],
        None => {
            let blocks: Vec<&RawValue> = decode(record.content).unwrap_or_default();
            let part = |raw| part(raw, has_failed, &mut found);
            blocks.into_iter().map(part).collect()
        }
    };
    let message = Message::new(role, parts);
    checked([&message])?;
    notes.merge(found);
    Ok(Said {
        message,
        time: None,
        tools: None,
        usage: None,
        model: None,
    })
}

/// Whether the tool says beside a result that its call failed.
fn has_failed(options: Raw<'_>) -> bool {
    lazy! {
        struct Options { cursor }
        struct Cursor { result = "highLevelToolCallResult" }
        struct Outcome { is_error = "isError" }
    }
    let options: Options<'_> = decode(options).unwrap_or_default();
    let cursor: Cursor<'_> = decode(options.cursor).unwrap_or_default();
    let outcome: Outcome<'_> = decode(cursor.result).unwrap_or_default();
    decode(outcome.is_error) == Some(true)
}

fn part(raw: &RawValue, has_failed: bool, notes: &mut Notes) -> Part {
    let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(block.r#type).unwrap_or_default();
    let known = match kind.as_str() {
        "text" => string(block.text).map(Part::text),
        // Whose the seal is is not said.
        "reasoning" => {
            let text = string(block.text);
            text.map(|text| Part::thinking(text, parts::said(block.signature), None))
        }
        "tool-call" => {
            let (id, name) = (string(block.tool_call_id), string(block.tool_name));
            Some(parts::call(id, name, text_or_json(block.args)))
        }
        "tool-result" => {
            let is_error = has_failed || decode(block.is_error).unwrap_or_default();
            let content = given(&block, notes);
            Some(parts::result(string(block.tool_call_id), content, is_error))
        }
        "image" | "file" => media(&block, &kind),
        _ => None,
    };
    known.unwrap_or_else(|| parts::opaque(PROVIDER, &kind, parts::object(raw.get()), notes))
}

/// What a call gave: its blocks where it has some, which are what is sent, else the value beside them.
fn given(block: &Block<'_>, notes: &mut Notes) -> Vec<Part> {
    let blocks: Vec<&RawValue> = decode(block.content).unwrap_or_default();
    if blocks.is_empty() {
        let text = text_or_json(block.result).filter(|text| !text.is_empty());
        return text.map(Part::text).into_iter().collect();
    }
    let inside = |raw: &RawValue| {
        let is_call = matches!(
            word(decode::<Block<'_>>(Some(raw)).unwrap_or_default().r#type).as_deref(),
            Some("tool-call" | "tool-result" | "reasoning")
        );
        if is_call {
            Part::opaque(PROVIDER, tight(raw.get()))
        } else {
            part(raw, false, notes)
        }
    };
    blocks.into_iter().map(inside).collect()
}

/// A picture or a file, by its address or its bytes.
fn media(block: &Block<'_>, kind: &str) -> Option<Part> {
    let held = string(block.image).or_else(|| string(block.data))?;
    let (media_type, name) = (string(block.mime_type), string(block.filename));
    let part = if held.contains(':') {
        attachment(held, media_type, name)
    } else {
        Part::File(parts::media(MediaSource::Base64(held), media_type, name))
    };
    Some(match kind {
        "image" => parts::picture(part),
        _ => part,
    })
}
