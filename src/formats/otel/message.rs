//! Messages as the conventions for generative AI have them: a list of JSON in an attribute's text.

use serde_json::value::RawValue;

use super::PROVIDER;
use super::heard::{Heard, told};
use crate::formats::bodies::settle;
use crate::formats::shared::head::Keys;
use crate::formats::shared::parts::{self, said};
use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::requests::Said;
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::json::{
    Object, Raw, array, decode, is_object, is_true, quoted, string, text_or_json, tight, type_of,
    word,
};
use crate::wire::{Notes, media};

/// Why a reply ended that was cut.
pub(super) const CUT: &str = "interrupted";

/// The type of a part that another provider alone understands.
const OPAQUE: &str = "opaque";

lazy! {
    struct Record { role, parts, name, finish_reason }

    /// The last row is our own.
    struct Piece {
        r#type, content, id, name, arguments, response, result, uri, url, file_id, modality, mime_type, media_type,
        signature, provider, kind, is_error, detail,
    }
}

/// The messages in a text: a list of them, or of the parts of instructions. None where it is neither, as one is
/// that was cut. Those that are held are not read again.
pub(super) fn listed(
    text: &str,
    mut heard: Option<&mut Heard>,
    notes: &mut Notes,
) -> Result<Option<Vec<Said>>, String> {
    let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(text) else {
        return Ok(None);
    };
    let mut known = |raw: &RawValue| heard.as_mut()?.find(raw.get());
    let found: Vec<Option<Vec<Said>>> = list.iter().map(|raw| known(raw)).collect();
    let records = list.iter().zip(&found).filter(|(_, known)| known.is_none());
    let records = records.filter_map(|(raw, _)| decode::<Record<'_>>(Some(raw)));
    let is_instructions =
        found.iter().all(Option::is_none) && records.into_iter().all(|it| it.role.is_none());
    if is_instructions {
        let parts = list.into_iter().filter(|raw| is_object(raw.get()));
        let parts = parts.filter_map(|raw| part(raw, notes)).collect();
        let message = parts::message(Role::System, parts);
        return told(message.into_iter().collect()).map(Some);
    }
    let mut said = Vec::with_capacity(list.len());
    for (raw, known) in list.into_iter().zip(found) {
        if let Some(known) = known {
            said.extend(known);
        } else if let Some(record) = decode(Some(raw)) {
            let new = told(messages_of(&record, notes))?;
            if let Some(heard) = &mut heard {
                heard.hold(raw.get().to_owned(), new.clone());
            }
            said.extend(new);
        }
    }
    Ok(Some(said))
}

/// Reads a message that stands alone.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Vec<Message>, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    if record.parts.is_none() {
        return Err("a message without parts".to_owned());
    }
    let mut found = Notes::default();
    let mut messages = messages_of(&record, &mut found);
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
fn messages_of(record: &Record<'_>, notes: &mut Notes) -> Vec<Message> {
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
    let name = said(record.name);
    let is_cut = word(record.finish_reason).as_deref() == Some(CUT);
    let messages = both.into_iter().filter_map(|(role, parts)| {
        parts::message(role, parts).map(|message| Message {
            name: name.clone(),
            interrupted: is_cut && role == Role::Assistant,
            ..message
        })
    });
    messages.collect()
}

/// One part; none where it says nothing, as where contents are not to be recorded.
fn part(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(piece.r#type).unwrap_or_default();
    let media_type = said(piece.mime_type).or_else(|| said(piece.media_type));
    Some(match kind.as_str() {
        "text" => parts::text(piece.content)?,
        "reasoning" | "thinking" => {
            let (signature, provider) = (said(piece.signature), said(piece.provider));
            let text = string(piece.content).unwrap_or_default();
            if text.is_empty() && signature.is_none() {
                return None;
            }
            Part::thinking(text, signature, provider.as_deref())
        }
        "tool_call" => {
            let (id, name) = (string(piece.id), string(piece.name));
            let call = parts::call(id, name, text_or_json(piece.arguments));
            match (call, said(piece.kind)) {
                (
                    Part::ToolCall {
                        id,
                        name,
                        arguments,
                        ..
                    },
                    Some(kind),
                ) => Part::call(id, name, arguments, Some(&kind)),
                (call, _) => call,
            }
        }
        "tool_call_response" => {
            let given = piece.response.or(piece.result);
            let given = blocks(given, notes).unwrap_or_else(|| {
                let given = text_or_json(given);
                given.map(Part::text).into_iter().collect()
            });
            parts::result(string(piece.id), given, is_true(piece.is_error))
        }
        "uri" | "image-url" | "audio-url" | "video-url" | "document-url" => {
            let at = said(piece.uri).or_else(|| said(piece.url))?;
            let part = media::attachment(at, media_type, said(piece.name));
            medium(part, &piece, kind == "image-url")
        }
        "blob" | "binary" => {
            let data = MediaSource::Base64(said(piece.content)?);
            let media = parts::media(data, media_type, said(piece.name));
            medium(Part::media(media), &piece, false)
        }
        "file" => {
            let file = MediaSource::FileId(said(piece.file_id)?);
            let media = parts::media(file, media_type, said(piece.name));
            medium(Part::media(media), &piece, false)
        }
        OPAQUE if piece.provider.is_some() => {
            Part::opaque(&string(piece.provider)?, string(piece.content)?)
        }
        _ => parts::opaque(PROVIDER, &kind, parts::object(raw.get()), notes),
    })
}

/// A picture where that is said of it, with how closely it is to be looked at.
fn medium(part: Part, piece: &Piece<'_>, is_picture: bool) -> Part {
    let modality = word(piece.modality);
    let detailed = |media: Media| Media {
        detail: said(piece.detail),
        ..media
    };
    match part {
        Part::Image(media) | Part::File(media)
            if is_picture || modality.as_deref() == Some("image") =>
        {
            Part::Image(detailed(media))
        }
        Part::Image(media) if modality.as_deref() == Some("document") => {
            Part::File(detailed(media))
        }
        Part::Image(media) => Part::Image(detailed(media)),
        Part::File(media) => Part::File(detailed(media)),
        part => part,
    }
}

/// What a tool gave, where that is a list of parts.
fn blocks(raw: Raw<'_>, notes: &mut Notes) -> Option<Vec<Part>> {
    let pieces: Vec<&RawValue> = decode(raw)?;
    let is_part = |raw: &&RawValue| {
        let piece: Piece<'_> = decode(Some(*raw)).unwrap_or_default();
        match word(piece.r#type).as_deref() {
            Some("text" | "blob") => piece.content.is_some(),
            Some("uri") => piece.uri.is_some(),
            Some("file") => piece.file_id.is_some(),
            Some(OPAQUE) => piece.provider.is_some(),
            _ => false,
        }
    };
    let is_list = !pieces.is_empty() && pieces.iter().all(is_part);
    is_list.then(|| {
        let parts = pieces.into_iter();
        parts.filter_map(|raw| part(raw, notes)).collect()
    })
}

/// A message.
pub(super) fn written(message: &Message, remarks: &mut Remarks) -> String {
    let role = Object::new().string("role", message.role.as_str());
    let object = role
        .optional("name", message.name.as_deref())
        .raw("parts", &parts(message, remarks));
    let is_reply = message.role == Role::Assistant;
    let reason = match () {
        () if message.interrupted => Some(CUT),
        () if !is_reply => None,
        () if message.calls().next().is_some() => Some("tool_call"),
        () => Some("stop"),
    };
    object.optional("finish_reason", reason).finish()
}

/// The parts of a message, as a list.
pub(super) fn parts(message: &Message, remarks: &mut Remarks) -> String {
    let parts = message.parts.iter();
    array(parts.filter_map(|part| piece(part, remarks)))
}

/// What a tool gave, as JSON: one text is a text, nothing is null, else its parts.
pub(super) fn response(content: &[Part], remarks: &mut Remarks) -> String {
    match content {
        [] => "null".to_owned(),
        [Part::Text { text }] => quoted(text),
        // A list of blocks that nobody knows would be a text.
        parts => array(parts.iter().filter_map(|part| match part {
            Part::Opaque { provider, data } => Some(wrapped(provider, data)),
            part => piece(part, remarks),
        })),
    }
}

/// A block that another reader need not know.
fn wrapped(provider: &str, data: &str) -> String {
    let block = Object::typed(OPAQUE).string("provider", provider);
    block.string("content", data).finish()
}

/// A part; none of what says nothing.
fn piece(part: &Part, remarks: &mut Remarks) -> Option<String> {
    let object = match part {
        Part::Text { text } if text.is_empty() => {
            remarks.add("an empty text");
            return None;
        }
        Part::Text { text } => Object::typed("text").string("content", text),
        Part::Thinking {
            text,
            signature,
            provider,
        } => {
            if text.is_empty() && signature.as_ref().is_none_or(String::is_empty) {
                remarks.add("an empty thought");
                return None;
            }
            Object::typed("reasoning")
                .string("content", text)
                .optional("signature", signature.as_deref())
                .optional("provider", provider.as_deref())
        }
        Part::ToolCall {
            id,
            name,
            arguments,
            kind,
        } => {
            let call = Object::typed("tool_call")
                .string("id", id)
                .string("name", name);
            let call = match is_object(arguments) && tight(arguments) == *arguments {
                true => call.raw("arguments", arguments),
                false => call.string("arguments", arguments),
            };
            call.optional("kind", kind.as_deref())
        }
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let result = Object::typed("tool_call_response")
                .string("id", call)
                .raw("response", &response(content, remarks));
            match is_error {
                true => result.flag("is_error", true),
                false => result,
            }
        }
        Part::Image(media) => written_media(media, "image"),
        Part::File(media) => {
            let kind = media.media_type.as_deref().unwrap_or_default();
            let modality = ["audio", "video"]
                .into_iter()
                .find(|it| kind.starts_with(it));
            written_media(media, modality.unwrap_or("document"))
        }
        Part::Opaque { provider, data } if provider == PROVIDER && type_of(data).is_some() => {
            return Some(data.clone());
        }
        Part::Opaque { provider, data } => return Some(wrapped(provider, data)),
    };
    Some(object.finish())
}

fn written_media(media: &Media, modality: &str) -> Object {
    let (kind, key, value) = match &media.source {
        MediaSource::Base64(data) => ("blob", "content", data),
        MediaSource::Url(url) => ("uri", "uri", url),
        MediaSource::FileId(id) => ("file", "file_id", id),
    };
    Object::typed(kind)
        .string("modality", modality)
        .optional("mime_type", media.media_type.as_deref())
        .string(key, value)
        .optional("name", media.name.as_deref())
        .optional("detail", media.detail.as_deref())
}
