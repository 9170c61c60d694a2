//! Parts in the form of Gemini's API, both ways.
//!
//! Deliberately absent: requests. No context is compiled for this provider yet; its parts stand in
//! the sessions of Gemini CLI and of Qwen Code.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Notes;
use super::json::{Object, Raw, array, decode, is_object, string};
use crate::model::{Media, MediaSource, Part};

/// The provider's name in thinking and opaque parts.
pub const PROVIDER: &str = "gemini";

/// What is written of parts that have a neutral form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Known {
    Text(String),
    InlineData(InlineData),
    FileData(FileData),
}

/// A part as it is read. One with more members than these has no neutral form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Read<'a> {
    text: Raw<'a>,
    /// Whether the text is what the model thought.
    #[serde(default)]
    thought: bool,
    thought_signature: Option<String>,
    function_call: Option<Call<'a>>,
    function_response: Option<Response<'a>>,
    inline_data: Option<InlineData>,
    file_data: Option<FileData>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Call<'a> {
    /// Older versions of the API have none.
    id: Option<String>,
    name: String,
    args: Raw<'a>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Response<'a> {
    id: Option<String>,
    name: Option<String>,
    response: Raw<'a>,
    /// Media that belong to it.
    #[serde(default)]
    parts: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
struct Words<'a> {
    output: Raw<'a>,
    error: Raw<'a>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InlineData {
    mime_type: String,
    data: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileData {
    mime_type: String,
    file_uri: String,
}

/// The parts of a content: a text, a part, or a list of them.
pub fn parts(content: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    each(content, notes, part)
}

fn each(content: Raw<'_>, notes: &mut Notes, part: fn(&RawValue, &mut Notes) -> Part) -> Vec<Part> {
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

/// The parts of a whole message: media right behind what a function gave back belong to that.
pub fn message_parts(content: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    for part in parts(content, notes) {
        match (found.last_mut(), part) {
            (Some(Part::ToolResult { content, .. }), part @ (Part::Image(_) | Part::File(_))) => {
                content.push(part);
            }
            (_, part) => found.push(part),
        }
    }
    found
}

fn part(raw: &RawValue, notes: &mut Notes) -> Part {
    let read = decode::<Read<'_>>(Some(raw));
    let part = read.and_then(|read| read.part(raw, notes));
    part.unwrap_or_else(|| opaque(raw, notes))
}

/// A part of what a function gave back: no call, and nothing thought.
fn inner(raw: &RawValue, notes: &mut Notes) -> Part {
    match part(raw, notes) {
        Part::Thinking { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => {
            opaque(raw, notes)
        }
        part => part,
    }
}

fn opaque(raw: &RawValue, notes: &mut Notes) -> Part {
    let members = decode::<serde_json::Map<_, _>>(Some(raw)).unwrap_or_default();
    notes.opaque(members.keys().next().map_or("part", String::as_str));
    Part::opaque(PROVIDER, raw.get())
}

impl Read<'_> {
    /// The part, if it is one thing.
    fn part(self, raw: &RawValue, notes: &mut Notes) -> Option<Part> {
        let one = (
            self.text,
            self.function_call,
            self.function_response,
            self.inline_data,
            self.file_data,
        );
        Some(match one {
            (Some(text), None, None, None, None) => {
                let text = string(Some(text))?;
                if self.thought {
                    Part::thinking(text, self.thought_signature, Some(PROVIDER))
                } else {
                    Part::Text { text }
                }
            }
            (None, Some(call), None, None, None) => {
                let id = call.id.unwrap_or_else(|| call.name.clone());
                let args = call.args.map_or("{}", RawValue::get);
                Part::call(id, call.name, args.to_owned(), None)
            }
            (None, None, Some(response), None, None) => {
                let call = response.id.clone().or_else(|| response.name.clone())?;
                let mut content = Vec::new();
                let is_error = response.said(raw, &mut content, notes);
                Part::result(call, content, is_error)
            }
            (None, None, None, Some(data), None) => {
                media(data.mime_type, MediaSource::Base64(data.data))
            }
            (None, None, None, None, Some(file)) => {
                media(file.mime_type, MediaSource::Url(file.file_uri))
            }
            _ => return None,
        })
    }
}

impl Response<'_> {
    /// Adds what it says, the words first; gives whether it tells of a failure. What is worded in another
    /// way stays as it is in `raw`.
    fn said(self, raw: &RawValue, found: &mut Vec<Part>, notes: &mut Notes) -> bool {
        let Some(Words { output, error }) = decode(self.response) else {
            found.push(opaque(raw, notes));
            return false;
        };
        found.extend(each(output, notes, inner));
        found.extend(each(error, notes, inner));
        found.extend(self.parts.into_iter().map(|raw| inner(raw, notes)));
        error.is_some()
    }
}

fn media(media_type: String, source: MediaSource) -> Part {
    Part::media(Media::new(Some(media_type), source))
}

/// What a function gave back: the result of `call`, the function's answer first in it.
pub fn answer(call: &str, result: &RawValue, notes: &mut Notes) -> Part {
    let (mut found, mut is_error) = (Vec::new(), false);
    for raw in decode::<Vec<&RawValue>>(Some(result)).unwrap_or_else(|| vec![result]) {
        match decode::<Read<'_>>(Some(raw)) {
            Some(Read {
                function_response: Some(response),
                ..
            }) => is_error |= response.said(raw, &mut found, notes),
            _ => found.extend(each(Some(raw), notes, inner)),
        }
    }
    Part::result(call.to_owned(), found, is_error)
}

/// A part in the API's form; none if it has none there.
pub fn write_part(part: &Part) -> Option<String> {
    let known = match part {
        Part::Text { text } => Known::Text(text.clone()),
        Part::Image(media) | Part::File(media) => {
            let mime_type = media.media_type.clone()?;
            match &media.source {
                MediaSource::Base64(data) => Known::InlineData(InlineData {
                    mime_type,
                    data: data.clone(),
                }),
                MediaSource::Url(uri) => Known::FileData(FileData {
                    mime_type,
                    file_uri: uri.clone(),
                }),
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
    if is_object(arguments) {
        arguments
    } else {
        "{}"
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
    let mut results = parts.iter().filter_map(|part| part.as_result());
    let (_, content, is_error) = results.find(|(call, ..)| *call == id)?;
    let status = if is_error { "error" } else { "success" };
    let found = result(id, function, content, is_error, &mut left_out);
    Some((array(found), status))
}

/// The parts of a message in the API's form; `function` names the function of a call, and `left_out` is
/// called for each part that has no form there.
pub fn write_message(
    parts: &[Part],
    function: impl Fn(&str) -> String,
    mut left_out: impl FnMut(),
) -> String {
    let mut found = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Thinking {
                text,
                signature,
                provider,
            } if provider.as_deref() == Some(PROVIDER) => {
                let thought = Object::new().string("text", text).raw("thought", "true");
                let thought = thought.optional("thoughtSignature", signature.as_deref());
                found.push(thought.finish());
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let call = Object::new().string("id", id).string("name", name);
                let call = call.raw("args", args(arguments)).finish();
                found.push(Object::new().raw("functionCall", &call).finish());
            }
            Part::ToolResult {
                call,
                content,
                is_error,
            } => found.extend(result(
                call,
                &function(call),
                content,
                *is_error,
                &mut left_out,
            )),
            part => match write_part(part) {
                Some(part) => found.push(part),
                None => left_out(),
            },
        }
    }
    array(found)
}

/// What a call gave back: the first text as the answer, then the other parts.
fn result(
    id: &str,
    function: &str,
    content: &[Part],
    is_error: bool,
    left_out: &mut impl FnMut(),
) -> Vec<String> {
    let (text, rest) = match content {
        [Part::Text { text }, rest @ ..] => (text.as_str(), rest),
        rest => ("", rest),
    };
    let key = if is_error { "error" } else { "output" };
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
    found
}
