//! The API's parts read.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{FileData, InlineData, PROVIDER};
use crate::model::{Media, MediaSource, Part};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string};

/// A part as it is read. One with more members than these has no neutral form.
#[derive(Default, Deserialize)]
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

/// The parts of a content: a text, a part, or a list of them.
pub fn parts(content: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    each(content, notes, part)
}

fn each(
    content: Raw<'_>,
    notes: &mut Notes,
    part: fn(&RawValue, &mut Notes) -> Vec<Part>,
) -> Vec<Part> {
    let Some(raw) = content else {
        return Vec::new();
    };
    match (string(content), decode::<Vec<&RawValue>>(content)) {
        (Some(text), _) if text.is_empty() => Vec::new(),
        (Some(text), _) => vec![Part::Text { text }],
        (_, Some(list)) => list.into_iter().flat_map(|raw| part(raw, notes)).collect(),
        _ => part(raw, notes),
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

/// A part, behind the signature that it came with.
fn part(raw: &RawValue, notes: &mut Notes) -> Vec<Part> {
    let mut read = decode::<Read<'_>>(Some(raw)).unwrap_or_default();
    let seal = match read.thought {
        true => None,
        false => read.thought_signature.take(),
    };
    let seal = seal.filter(|seal| !seal.is_empty());
    let Some(part) = read.part(raw, notes) else {
        return vec![opaque(raw, notes)];
    };
    let seal = seal.map(|seal| Part::thinking(String::new(), Some(seal), Some(PROVIDER)));
    let is_empty = part.as_text().is_some_and(str::is_empty);
    let part = (!is_empty || seal.is_none()).then_some(part);
    seal.into_iter().chain(part).collect()
}

/// A part of what a function gave back: no call, and nothing thought.
fn inner(raw: &RawValue, notes: &mut Notes) -> Vec<Part> {
    match &part(raw, notes)[..] {
        [part] if !is_outer(part) => vec![part.clone()],
        _ => vec![opaque(raw, notes)],
    }
}

/// Whether a part stands in no result.
fn is_outer(part: &Part) -> bool {
    matches!(
        part,
        Part::Thinking { .. } | Part::ToolCall { .. } | Part::ToolResult { .. }
    )
}

fn opaque(raw: &RawValue, notes: &mut Notes) -> Part {
    let members = decode::<serde_json::Map<_, _>>(Some(raw)).unwrap_or_default();
    let kind = members.keys().next().map_or("part", String::as_str);
    notes.keep(kind, PROVIDER, raw.get())
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
        found.extend(self.parts.into_iter().flat_map(|raw| inner(raw, notes)));
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
