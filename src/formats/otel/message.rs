//! Messages as the conventions for generative AI have them: a list of JSON in an attribute's text.

use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::bodies::settle;
use crate::formats::shared::head::Keys;
use crate::formats::shared::parts;
use crate::model::{MediaSource, Message, Part, Role};
use crate::wire::json::{decode, string, text_or_json, word};
use crate::wire::{Notes, media};

lazy! {
    struct Record { role, parts }

    struct Piece {
        r#type, content, id, name, arguments, response, result, uri, url, file_id, modality, mime_type, media_type,
    }
}

/// The messages in a text: a list of them, or of the parts of instructions. None where it is neither, as one is
/// that was cut.
pub(super) fn listed(text: &str, notes: &mut Notes) -> Option<Vec<Message>> {
    let list: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let records: Vec<(Record<'_>, &RawValue)> = list
        .into_iter()
        .filter_map(|raw| Some((decode(Some(raw))?, raw)))
        .collect();
    let is_instructions = records.iter().all(|(record, _)| record.role.is_none());
    if is_instructions {
        let parts = records.iter().filter_map(|(_, raw)| part(raw, notes));
        return Some(
            parts::message(Role::System, parts.collect())
                .into_iter()
                .collect(),
        );
    }
    let messages = records.iter().flat_map(|(record, _)| said(record, notes));
    Some(messages.collect())
}

/// Reads a message that stands alone.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Vec<Message>, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    if record.parts.is_none() {
        return Err("a message without parts".to_owned());
    }
    let mut found = Notes::default();
    let mut messages = said(&record, &mut found);
    messages
        .iter_mut()
        .flat_map(|message| &mut message.parts)
        .for_each(settle);
    parts::checked(&messages)?;
    notes.merge(found);
    Ok(messages)
}

/// Whether an object is such a message: its texts are called contents, and calls name no tool in their type.
pub(in crate::formats) fn is_message(object: &Keys<'_>) -> bool {
    let mut parts = object.list("parts").into_iter().flatten();
    object.has("role")
        && parts.any(|part| match part.text("type").as_deref() {
            Some("text" | "reasoning") => part.has("content") && !part.has("text"),
            Some("tool_call" | "tool_call_response" | "blob" | "uri") => true,
            _ => false,
        })
}

/// What a message says: what tools gave in it, which is a user's for some, is another one.
fn said(record: &Record<'_>, notes: &mut Notes) -> Vec<Message> {
    let role = word(record.role);
    let role = match role.as_deref() {
        Some("model") => Role::Assistant,
        Some(role) => role.parse().unwrap_or(Role::User),
        None => Role::User,
    };
    let pieces: Vec<&RawValue> = decode(record.parts).unwrap_or_default();
    let parts = pieces.into_iter().filter_map(|raw| part(raw, notes));
    let (results, others): (Vec<Part>, Vec<Part>) = parts.partition(Part::is_result);
    let both = [(Role::Tool, results), (role, others)];
    let messages = both
        .into_iter()
        .filter_map(|(role, parts)| parts::message(role, parts));
    messages.collect()
}

/// One part; none where it says nothing, as where contents are not to be recorded.
fn part(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(piece.r#type).unwrap_or_default();
    let media_type = parts::said(piece.mime_type).or_else(|| parts::said(piece.media_type));
    Some(match kind.as_str() {
        "text" => parts::text(piece.content)?,
        "reasoning" | "thinking" => parts::thought(parts::said(piece.content)?),
        "tool_call" => {
            let (id, name) = (string(piece.id), string(piece.name));
            parts::call(id, name, text_or_json(piece.arguments))
        }
        "tool_call_response" => {
            let given = text_or_json(piece.response.or(piece.result));
            let given = given.map(Part::text).into_iter().collect();
            parts::result(string(piece.id), given, false)
        }
        "uri" | "image-url" | "audio-url" | "video-url" | "document-url" => {
            let at = parts::said(piece.uri).or_else(|| parts::said(piece.url))?;
            let part = media::attachment(at, media_type, None);
            let is_picture =
                word(piece.modality).as_deref() == Some("image") || kind == "image-url";
            if is_picture {
                parts::picture(part)
            } else {
                part
            }
        }
        "blob" | "binary" => {
            let data = MediaSource::Base64(parts::said(piece.content)?);
            Part::media(parts::media(data, media_type, None))
        }
        "file" => {
            let file = MediaSource::FileId(parts::said(piece.file_id)?);
            Part::media(parts::media(file, media_type, None))
        }
        _ => parts::opaque(PROVIDER, &kind, parts::object(raw.get()), notes),
    })
}
