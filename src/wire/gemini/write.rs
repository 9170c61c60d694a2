//! Parts in the API's form, as sessions keep them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{FileData, InlineData, PROVIDER, seal_of};
use crate::model::{MediaSource, Part};
use crate::wire::json::{Object, array, is_object};

/// What is written of parts that have a neutral form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Known {
    Text(String),
    InlineData(InlineData),
    FileData(FileData),
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

/// A text, with the signature that it came with.
pub fn text_part(text: &str, seal: Option<&str>) -> String {
    let part = Object::new().string("text", text);
    part.optional("thoughtSignature", seal).finish()
}

/// A thought in words, with its signature.
pub fn thought_part(text: &str, seal: Option<&str>) -> String {
    let thought = Object::new().string("text", text).raw("thought", "true");
    thought.optional("thoughtSignature", seal).finish()
}

/// A call, with the signature that it came with; `args` is a JSON object.
pub fn call_part(id: &str, name: &str, args: &str, seal: Option<&str>) -> String {
    let call = Object::new().string("id", id).string("name", name);
    let part = Object::new().raw("functionCall", &call.raw("args", args).finish());
    part.optional("thoughtSignature", seal).finish()
}

/// The parts of a message in the API's form; `function` names the function of a call, and `left_out` is
/// called for each part that has no form there.
pub fn write_message(
    parts: &[Part],
    function: impl Fn(&str) -> String,
    mut left_out: impl FnMut(),
) -> String {
    let mut found = Vec::with_capacity(parts.len());
    let mut seal = None;
    for part in parts {
        if let Some(next) = seal_of(part) {
            found.extend(alone(seal.replace(next)));
            continue;
        }
        match part {
            Part::Thinking {
                text,
                signature,
                provider,
            } if provider.as_deref() == Some(PROVIDER) => {
                found.push(thought_part(text, signature.as_deref()));
            }
            Part::Text { text } => found.push(text_part(text, seal.take())),
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => found.push(call_part(id, name, args(arguments), seal.take())),
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
    found.extend(alone(seal));
    array(found)
}

/// A signature that no part follows: the API gives such a one with an empty text.
fn alone(seal: Option<&str>) -> Option<String> {
    Some(text_part("", Some(seal?)))
}

/// What a call gave back: the first text as the answer, then the other parts. An answer that is worded in another way is one as
/// it is.
fn result(
    id: &str,
    function: &str,
    content: &[Part],
    is_error: bool,
    left_out: &mut impl FnMut(),
) -> Vec<String> {
    let key = if is_error { "error" } else { "output" };
    let worded = |text: &str| Object::new().string(key, text).finish();
    let (response, rest) = match content {
        [Part::Text { text }, rest @ ..] => (worded(text), rest),
        [first, rest @ ..] => match own_response(first) {
            Some(response) => (response, rest),
            None => (worded(""), content),
        },
        [] => (worded(""), content),
    };
    let mut found = vec![response_part(id, function, &response)];
    for part in rest {
        match write_part(part) {
            Some(part) => found.push(part),
            None => left_out(),
        }
    }
    found
}

/// What a function gave back, as the API has it: `response` is a JSON object.
pub(super) fn response_part(id: &str, function: &str, response: &str) -> String {
    let given = Object::new().string("id", id).string("name", function);
    let given = given.raw("response", response).finish();
    Object::new().raw("functionResponse", &given).finish()
}

/// The object that a function gave back and that has no words of the API's in it, of the part that keeps it.
pub(super) fn own_response(part: &Part) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
    struct Kept<'a> {
        function_response: Inner<'a>,
    }
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Inner<'a> {
        response: &'a RawValue,
    }
    let Part::Opaque { provider, data } = part else {
        return None;
    };
    let kept = (provider == PROVIDER).then(|| serde_json::from_str::<Kept<'_>>(data));
    let response = kept?.ok()?.function_response.response.get();
    is_object(response).then(|| response.to_owned())
}
