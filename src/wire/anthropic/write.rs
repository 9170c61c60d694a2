//! Messages to Anthropic's JSON, by its rules.

use super::PROVIDER;
use super::blocks::{Block, Place, own};
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::json::{Object, array, is_object, quoted};
use crate::wire::media::{
    FILE_WORD, IMAGE_WORD, PDF, image_type, is_anthropic_file, split_data_url,
};
use crate::wire::name::ToolNames;
use crate::wire::{NO_ARGUMENTS, Repair, Repairs};

/// The block of a part in `place`; none where the provider takes nothing for it. What differs is
/// told to `repairs`, under the message's number.
pub fn block<'a>(
    part: &'a Part,
    place: Place,
    number: usize,
    repairs: &mut Repairs,
) -> Option<Block<'a>> {
    let refused = match part {
        Part::Text { text } if text.is_empty() => return None,
        Part::Text { text } if text.trim().is_empty() => Repair::BlankText,
        Part::Text { text } => return Some(Block::Text(text)),
        Part::Image(media) => match image(media).filter(|_| place.takes_media()) {
            Some(raw) => return Some(Block::Other(raw)),
            None => Repair::Media,
        },
        Part::File(media) => match document(media).filter(|_| place.takes_media()) {
            Some(raw) => return Some(Block::Other(raw)),
            None => Repair::Media,
        },
        Part::Thinking {
            text,
            signature: Some(signature),
            provider,
        } if place == Place::Assistant
            && provider.as_deref() == Some(PROVIDER)
            && !signature.is_empty() =>
        {
            let thinking = Object::typed("thinking")
                .string("thinking", text)
                .string("signature", signature);
            return Some(Block::Thinking(thinking.finish()));
        }
        Part::Thinking { .. } => Repair::Thinking,
        Part::ToolCall {
            id,
            name,
            arguments,
            ..
        } if place == Place::Assistant => {
            let call = tool_use(id, name, arguments, number, repairs);
            return Some(Block::Other(call));
        }
        Part::ToolResult {
            call,
            content: parts,
            is_error,
        } if place == Place::User => {
            let content = content(&result_blocks(parts, *is_error, number, repairs));
            let result = tool_result(call, content.as_deref(), *is_error);
            return Some(Block::Other(result));
        }
        Part::Opaque { provider, data } if provider == PROVIDER => match own(data, place) {
            Some(block) => return Some(block),
            None => Repair::Opaque,
        },
        // Calls and results elsewhere are no provider's; they go as foreign blocks do.
        Part::Opaque { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => Repair::Opaque,
    };
    repairs.add(refused, number);
    match part {
        Part::Image(_) => Some(Block::Text(IMAGE_WORD)),
        Part::File(_) => Some(Block::Text(FILE_WORD)),
        _ => None,
    }
}

/// The blocks of what a tool gave; where it failed, text alone.
pub fn result_blocks<'a>(
    parts: &'a [Part],
    is_error: bool,
    number: usize,
    repairs: &mut Repairs,
) -> Vec<Block<'a>> {
    let place = if is_error {
        Place::Failure
    } else {
        Place::Result
    };
    let blocks = parts.iter();
    let blocks = blocks.filter_map(|part| block(part, place, number, repairs));
    blocks.collect()
}

/// Blocks as the value of `content`: one text as a string; none where there is nothing.
pub fn content(blocks: &[Block<'_>]) -> Option<String> {
    match blocks {
        [] => None,
        [Block::Text(text)] => Some(quoted(text)),
        _ => Some(array(blocks.iter().map(Block::json))),
    }
}

/// A message as an element of `messages`, its results first; none if all that it held had to be
/// left out. A system message becomes the user's.
pub fn written(message: &Message, number: usize, repairs: &mut Repairs) -> Option<String> {
    let (role, place) = match message.role {
        Role::Assistant => ("assistant", Place::Assistant),
        _ => ("user", Place::User),
    };
    let content = match &message.parts[..] {
        [Part::Text { text }] => quoted(text),
        parts => {
            let (results, others): (Vec<_>, Vec<_>) =
                parts.iter().partition(|part| part.is_result());
            let blocks = results.into_iter().chain(others);
            let blocks = blocks.filter_map(|part| block(part, place, number, repairs));
            let blocks: Vec<String> = blocks.map(|block| block.json()).collect();
            if blocks.is_empty() && !parts.is_empty() {
                return None;
            }
            array(blocks)
        }
    };
    if message.role.is_system() {
        repairs.add(Repair::SystemInPlace, number);
    }
    if message.name.is_some() {
        repairs.add(Repair::SpeakerName, number);
    }
    let object = Object::new().string("role", role);
    Some(object.raw("content", &content).finish())
}

/// A call's block. Arguments that are a JSON object go in byte for byte.
pub fn tool_use(
    id: &str,
    name: &str,
    arguments: &str,
    number: usize,
    repairs: &mut Repairs,
) -> String {
    let name = ToolNames::ANTHROPIC.of_call(name, number, repairs);
    let call = Object::typed("tool_use").string("id", id);
    let call = call.string("name", &name);
    if is_object(arguments) {
        return call.raw("input", arguments).finish();
    }
    if arguments.trim().is_empty() {
        return call.raw("input", NO_ARGUMENTS).finish();
    }
    repairs.add(Repair::RawArguments, number);
    let input = Object::new().string("_raw", arguments).finish();
    call.raw("input", &input).finish()
}

/// A result's block around its content, a JSON text.
pub fn tool_result(call: &str, content: Option<&str>, is_error: bool) -> String {
    let mut result = Object::typed("tool_result").string("tool_use_id", call);
    if let Some(content) = content {
        result = result.raw("content", content);
    }
    if is_error {
        result = result.raw("is_error", "true");
    }
    result.finish()
}

/// The block for a picture, where the provider takes it.
fn image(media: &Media) -> Option<String> {
    let base64 = |said: Option<&str>, data: &str| Some(base64(image_type(said, data)?, data));
    let source = match &media.source {
        MediaSource::Url(url) => match split_data_url(url) {
            Some((media_type, data)) => base64(Some(media_type), data)?,
            None => remote(url)?,
        },
        MediaSource::Base64(data) => base64(media.media_type.as_deref(), data)?,
        MediaSource::FileId(id) => file(id)?,
    };
    Some(Object::typed("image").raw("source", &source).finish())
}

/// The block for a file, where the provider takes it.
fn document(media: &Media) -> Option<String> {
    let source = match &media.source {
        MediaSource::Url(url) => match split_data_url(url) {
            Some((PDF, data)) => base64(PDF, data),
            Some(_) => return None,
            None => remote(url)?,
        },
        MediaSource::Base64(data) => match split_data_url(data) {
            Some((PDF, data)) => base64(PDF, data),
            None if media.media_type.as_deref() == Some(PDF) => base64(PDF, data),
            _ => return None,
        },
        MediaSource::FileId(id) => file(id)?,
    };
    let title = media.name.as_deref().filter(|name| !name.is_empty());
    let document = Object::typed("document").raw("source", &source);
    Some(document.optional("title", title).finish())
}

fn base64(media_type: &str, data: &str) -> String {
    let source = Object::typed("base64").string("media_type", media_type);
    source.string("data", data).finish()
}

fn remote(url: &str) -> Option<String> {
    let known = url.starts_with("https://") || url.starts_with("http://");
    known.then(|| Object::typed("url").string("url", url).finish())
}

fn file(id: &str) -> Option<String> {
    is_anthropic_file(id).then(|| Object::typed("file").string("file_id", id).finish())
}
