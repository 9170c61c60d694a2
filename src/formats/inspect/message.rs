//! One message of a sample.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts::{self, checked, said, text};
use crate::model::{MediaSource, Message, Part, Role};
use crate::wire::json::{Raw, decode, is_true, string, text_or_json};
use crate::wire::{Notes, media};

/// With what a text begins that stands elsewhere in the sample.
const ATTACHMENT: &str = "attachment://";

lazy! {
    struct Record { id, role, content, tool_calls, tool_call_id, error, model }

    struct Call { id, function, arguments }

    struct Failure { message }

    struct Piece { r#type, text, reasoning, redacted, signature, image, audio, video, document, filename, mime_type, detail }
}

/// A message, with what stands beside it.
pub(super) struct Said {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) message: Message,
}

/// Reads a message. Long texts and pictures may stand in `attachments`, by their hashes.
pub(super) fn read(
    raw: &RawValue,
    attachments: &HashMap<String, String>,
    notes: &mut Notes,
) -> Result<Said, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let role = parts::role(
        record.role,
        &[Role::System, Role::User, Role::Assistant, Role::Tool],
    )?;
    let mut found = Notes::default();
    let mut parts = content(record.content, &mut found);
    if role == Role::Tool {
        let failure: Failure<'_> = decode(record.error).unwrap_or_default();
        // Of a call that failed the error is what is sent.
        let failure = said(failure.message).map(Part::text);
        let is_error = failure.is_some();
        if parts.is_empty() || is_error {
            parts = failure.into_iter().collect();
        }
        parts = vec![parts::result(string(record.tool_call_id), parts, is_error)];
    }
    let calls: Vec<Call<'_>> = decode(record.tool_calls).unwrap_or_default();
    parts.extend(calls.into_iter().map(|call| {
        let arguments = text_or_json(call.arguments);
        parts::call(string(call.id), string(call.function), arguments)
    }));
    parts.iter_mut().for_each(|part| resolve(part, attachments));
    let message = Message::new(role, parts);
    checked([&message])?;
    notes.merge(found);
    Ok(Said {
        id: said(record.id),
        model: said(record.model),
        message,
    })
}

/// What is said: a text, or blocks.
fn content(raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let Some(blocks) = decode::<Vec<&RawValue>>(raw) else {
        return Vec::from_iter(text(raw));
    };
    blocks
        .into_iter()
        .filter_map(|raw| part(raw, notes))
        .collect()
}

fn part(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(piece.r#type).unwrap_or_default();
    let file = |at: Raw<'_>| {
        let part = media::attachment(said(at)?, said(piece.mime_type), said(piece.filename));
        Some(part)
    };
    match kind.as_str() {
        "text" => text(piece.text),
        "reasoning" if is_true(piece.redacted) => Some(parts::redacted(
            &string(piece.reasoning).unwrap_or_default(),
        )),
        "reasoning" => {
            let words = string(piece.reasoning).unwrap_or_default();
            // Whose the seal is the model tells, if anything: it is kept, and nobody is sent it.
            let sealed =
                said(piece.signature).map(|seal| Part::thinking(words.clone(), Some(seal), None));
            sealed.or_else(|| (!words.is_empty()).then(|| parts::thought(words)))
        }
        "image" => file(piece.image).map(|part| match parts::picture(part) {
            Part::Image(mut media) => {
                media.detail = said(piece.detail).filter(|detail| detail != "auto");
                Part::Image(media)
            }
            part => part,
        }),
        "audio" => file(piece.audio),
        "video" => file(piece.video),
        "document" => file(piece.document),
        _ => Some(parts::opaque(
            PROVIDER,
            &kind,
            parts::object(raw.get()),
            notes,
        )),
    }
}

/// Puts what stands elsewhere in its place.
fn resolve(part: &mut Part, attachments: &HashMap<String, String>) {
    let whole = |text: &str| attachments.get(text.strip_prefix(ATTACHMENT)?).cloned();
    match part {
        Part::Text { text } | Part::Thinking { text, .. } => {
            if let Some(whole) = whole(text) {
                *text = whole;
            }
        }
        Part::Image(media) | Part::File(media) => {
            if let MediaSource::Url(at) = &media.source
                && let Some(whole) = whole(at)
            {
                let found = media::attachment(whole, media.media_type.take(), media.name.take());
                if let Part::Image(new) | Part::File(new) = found {
                    (media.media_type, media.name, media.source) =
                        (new.media_type, new.name, new.source);
                }
            }
        }
        Part::ToolResult { content, .. } => {
            content
                .iter_mut()
                .for_each(|part| resolve(part, attachments));
        }
        Part::ToolCall { .. } | Part::Opaque { .. } => {}
    }
}
