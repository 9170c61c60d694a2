//! Parts in the form of Gemini's API, both ways.
//!
//! Deliberately absent: requests. No context is compiled for this provider yet; its parts stand in
//! the sessions of Gemini CLI.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Notes;
use super::json::{Object, Raw, array, decode, is_object, string};
use crate::model::{Media, MediaSource, Part};

/// The provider's name in thinking and opaque parts.
pub const PROVIDER: &str = "gemini";

/// What of the API's parts has a neutral form. One with more members than these has none.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Known {
    Text(String),
    #[serde(rename_all = "camelCase")]
    InlineData {
        mime_type: String,
        data: String,
    },
    #[serde(rename_all = "camelCase")]
    FileData {
        mime_type: String,
        file_uri: String,
    },
}

/// The parts of a content: a text, a part, or a list of them.
pub fn parts(content: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let Some(raw) = content else {
        return Vec::new();
    };
    match (string(content), decode::<Vec<&RawValue>>(content)) {
        (Some(text), _) if text.is_empty() => Vec::new(),
        (Some(text), _) => vec![Part::Text { text }],
        (_, Some(list)) => list.into_iter().map(|raw| part(raw, notes)).collect(),
        _ => vec![part(raw, notes)],
    }
}

fn part(raw: &RawValue, notes: &mut Notes) -> Part {
    let (media_type, source) = match decode(Some(raw)) {
        Some(Known::Text(text)) => return Part::Text { text },
        Some(Known::InlineData { mime_type, data }) => (mime_type, MediaSource::Base64(data)),
        Some(Known::FileData {
            mime_type,
            file_uri,
        }) => (mime_type, MediaSource::Url(file_uri)),
        None => {
            let members = decode::<serde_json::Map<_, _>>(Some(raw)).unwrap_or_default();
            notes.opaque(members.keys().next().map_or("part", String::as_str));
            return Part::Opaque {
                provider: PROVIDER.to_owned(),
                data: raw.get().to_owned(),
            };
        }
    };
    let is_image = media_type.starts_with("image/");
    let media = Media {
        media_type: Some(media_type),
        name: None,
        detail: None,
        source,
    };
    match is_image {
        true => Part::Image(media),
        false => Part::File(media),
    }
}

/// What a function gave back: the result of `call`, the function's answer first in it.
pub fn answer(call: &str, result: &RawValue, notes: &mut Notes) -> Part {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        #[serde(borrow)]
        function_response: Response<'a>,
    }
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        response: Words<'a>,
    }
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
    struct Words<'a> {
        output: Raw<'a>,
        error: Raw<'a>,
    }
    let (mut found, mut is_error) = (Vec::new(), false);
    for raw in decode::<Vec<&RawValue>>(Some(result)).unwrap_or_else(|| vec![result]) {
        match decode::<Answer<'_>>(Some(raw)) {
            Some(Answer { function_response }) => {
                let Words { output, error } = function_response.response;
                is_error |= error.is_some();
                found.extend(parts(output.or(error), notes));
            }
            None => found.extend(parts(Some(raw), notes)),
        }
    }
    Part::ToolResult {
        call: call.to_owned(),
        content: found,
        is_error,
    }
}

/// A part in the API's form; none if it has none there.
pub fn write_part(part: &Part) -> Option<String> {
    let known = match part {
        Part::Text { text } => Known::Text(text.clone()),
        Part::Image(media) | Part::File(media) => {
            let mime_type = media.media_type.clone()?;
            match &media.source {
                MediaSource::Base64(data) => Known::InlineData {
                    mime_type,
                    data: data.clone(),
                },
                MediaSource::Url(uri) => Known::FileData {
                    mime_type,
                    file_uri: uri.clone(),
                },
                MediaSource::FileId(_) => return None,
            }
        }
        Part::Opaque { provider, data } if provider == PROVIDER => return Some(data.clone()),
        _ => return None,
    };
    Some(serde_json::to_string(&known).expect("strings are JSON"))
}

/// Arguments as the object that the API wants.
pub fn args(arguments: &str) -> &str {
    match is_object(arguments) {
        true => arguments,
        false => "{}",
    }
}

/// What the call gave back, of these parts, in the API's form, and its status: the first text as the
/// answer, then the other parts. None if the result is not among them; `left_out` is called for
/// each part that has no form there.
pub fn write_answer(
    id: &str,
    function: &str,
    parts: &[&Part],
    mut left_out: impl FnMut(),
) -> Option<(String, &'static str)> {
    let (content, is_error) = parts.iter().find_map(|part| match part {
        Part::ToolResult {
            call,
            content,
            is_error,
        } if call == id => Some((&content[..], *is_error)),
        _ => None,
    })?;
    let (text, rest) = match content {
        [Part::Text { text }, rest @ ..] => (text.as_str(), rest),
        rest => ("", rest),
    };
    let (key, status) = match is_error {
        true => ("error", "error"),
        false => ("output", "success"),
    };
    let response = Object::new()
        .string("id", id)
        .string("name", function)
        .raw("response", &Object::new().string(key, text).finish());
    let response = Object::new().raw("functionResponse", &response.finish());
    let mut found = vec![response.finish()];
    for part in rest {
        match write_part(part) {
            Some(part) => found.push(part),
            None => left_out(),
        }
    }
    Some((array(found), status))
}
