//! Parts as a request has them, by the API's rules.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::PROVIDER;
use super::write::{own_response, response_part, text_part, write_part};
use crate::model::{Media, MediaSource, Part, Role};
use crate::wire::json::{Object, is_object};
use crate::wire::media::{FILE_WORD, IMAGE_WORD, PDF, image_type, split_data_url};
use crate::wire::{INTERRUPTED, NO_ARGUMENTS, Repair, Repairs};

/// What the API takes in place of the signature of a call that has none.
///
/// # Source
///
/// The guide on thought signatures, of calls that another model made; so Gemini CLI sends it.
pub const UNSEALED: &str = "skip_thought_signature_validator";

/// A part that is neither call nor result, nor a thought of the model's, in a message of `role`; none where the API takes nothing for it. What
/// differs is told to `repairs`, under the message's number.
pub fn said_part(part: &Part, role: Role, number: usize, repairs: &mut Repairs) -> Option<String> {
    let takes_media = !role.is_system();
    let (taken, repair, word) = match part {
        Part::Text { text } if text.is_empty() => return None,
        Part::Text { text } => return Some(text_part(text, None)),
        Part::Image(media) => (medium(media), Repair::Media, IMAGE_WORD),
        Part::File(media) => (medium(media), Repair::Media, FILE_WORD),
        Part::Thinking { .. } => (None, Repair::Thinking, ""),
        Part::Opaque { provider, data } if provider == PROVIDER => {
            (own(data, role), Repair::Opaque, "")
        }
        Part::Opaque { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => {
            (None, Repair::Opaque, "")
        }
    };
    if let Some(taken) = taken.filter(|_| takes_media) {
        return Some(taken);
    }
    repairs.add(repair, number);
    (!word.is_empty()).then(|| text_part(word, None))
}

/// What a function gave back.
pub struct Given<'a> {
    /// The id of the call.
    pub id: &'a str,
    /// The function's name.
    pub function: &'a str,
    /// What it gave; none where it was interrupted.
    pub content: Option<&'a [Part]>,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether it is written as Gemini CLI does: the first text as `output`, whatever is in it, and each other part behind it.
    pub as_client: bool,
}

/// What a function gave back: its answer, and behind it the pictures and files that belong to it. A text that is a JSON object is
/// the answer itself, as frameworks send what functions return.
pub fn given_parts(given: &Given<'_>, number: usize, repairs: &mut Repairs) -> Vec<String> {
    let content = given.content.unwrap_or_default();
    let (mut texts, mut own, mut rest) = (Vec::new(), None, Vec::new());
    for part in content {
        match part {
            Part::Text { text } if !given.as_client || texts.is_empty() && rest.is_empty() => {
                texts.push(text.as_str());
            }
            part => match own_response(part).filter(|_| own.is_none()) {
                Some(response) => own = Some(response),
                None => rest.extend(said_part(part, Role::Tool, number, repairs)),
            },
        }
    }
    if given.content.is_none() {
        texts.push(INTERRUPTED);
    }
    let text = texts.join("\n");
    let key = if given.is_error { "error" } else { "output" };
    let is_answer = match given.is_error {
        _ if given.as_client => false,
        false => is_object(&text),
        true => is_failure(&text),
    };
    let response = match own {
        Some(response) if text.is_empty() => response,
        _ if is_answer => text,
        _ => Object::new().string(key, &text).finish(),
    };
    let mut parts = vec![response_part(given.id, given.function, &response)];
    parts.extend(rest);
    parts
}

/// Whether a text is an object that tells of a failure and nothing else.
fn is_failure(text: &str) -> bool {
    let members = serde_json::from_str::<Map<String, Value>>(text);
    members.is_ok_and(|members| members.len() == 1 && members.contains_key("error"))
}

/// Arguments as the object that the API takes.
pub fn sent_args<'a>(arguments: &'a str, number: usize, repairs: &mut Repairs) -> Cow<'a, str> {
    if is_object(arguments) {
        return Cow::Borrowed(arguments);
    }
    if arguments.trim().is_empty() {
        return Cow::Borrowed(NO_ARGUMENTS);
    }
    repairs.add(Repair::RawArguments, number);
    Object::new().string("_raw", arguments).finish().into()
}

/// The part for a picture or a file, where models take it.
fn medium(media: &Media) -> Option<String> {
    let said = media.media_type.as_deref();
    match &media.source {
        MediaSource::Url(text) | MediaSource::Base64(text) if text.starts_with("data:") => {
            let (media_type, data) = split_data_url(text)?;
            inline(Some(media_type).filter(|it| !it.is_empty()).or(said), data)
        }
        MediaSource::Base64(data) => inline(said, data),
        MediaSource::Url(uri) | MediaSource::FileId(uri) => {
            let is_known = ["https://", "gs://"].iter().any(|it| uri.starts_with(it));
            let is_taken = said.is_none_or(is_taken);
            let file = Object::new().optional("mimeType", said);
            let file = file.string("fileUri", uri).finish();
            let part = Object::new().raw("fileData", &file).finish();
            (is_known && is_taken).then_some(part)
        }
    }
}

fn inline(said: Option<&str>, data: &str) -> Option<String> {
    let is_pdf = data.starts_with("JVBERi0");
    let known = said.or_else(|| image_type(None, data));
    let media_type = known.or_else(|| is_pdf.then_some(PDF));
    let media = Media::new(
        Some(media_type.filter(|it| is_taken(it))?.to_owned()),
        MediaSource::Base64(data.to_owned()),
    );
    write_part(&Part::File(media))
}

/// Whether models take files of a type.
///
/// # Source
///
/// The guides on pictures, documents, sound and video.
fn is_taken(media_type: &str) -> bool {
    match media_type.split_once('/') {
        Some(("image", kind)) => matches!(kind, "png" | "jpeg" | "webp" | "heic" | "heif"),
        Some(("audio" | "video" | "text", _)) => true,
        _ => media_type == PDF,
    }
}

/// A part that has no neutral form, where a message of `role` may hold it: its members are the API's, and hold what theirs do.
/// Calls and results among them are in no pair, and go nowhere.
fn own(data: &str, role: Role) -> Option<String> {
    let members: Map<String, Value> = serde_json::from_str(data).ok()?;
    let is_reply = role == Role::Assistant;
    let fits = |(key, value): (&String, &Value)| match key.as_str() {
        "text" | "thoughtSignature" => value.is_string(),
        "thought" => value.is_boolean(),
        "inlineData" => has_texts(value, &["data", "mimeType", "displayName"]),
        "fileData" => has_texts(value, &["fileUri", "mimeType", "displayName"]),
        "executableCode" => is_reply && has_texts(value, &["id", "language", "code"]),
        "codeExecutionResult" => is_reply && has_texts(value, &["id", "outcome", "output"]),
        "videoMetadata" | "mediaResolution" | "partMetadata" => value.is_object(),
        _ => false,
    };
    (!members.is_empty() && members.iter().all(fits)).then(|| data.to_owned())
}

/// Whether a value is an object of texts under these keys alone.
fn has_texts(value: &Value, keys: &[&str]) -> bool {
    let members = value.as_object();
    let fits = |(key, value): (&String, &Value)| keys.contains(&key.as_str()) && value.is_string();
    members.is_some_and(|members| !members.is_empty() && members.iter().all(fits))
}
