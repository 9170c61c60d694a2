//! Anthropic content blocks to parts.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::interop::chat::{Notes, type_of};
use crate::model::{Media, MediaSource, Part};

pub(super) const PROVIDER: &str = "anthropic";

#[derive(Deserialize)]
struct Block<'a> {
    r#type: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    title: Option<String>,
    #[serde(borrow)]
    context: Option<&'a RawValue>,
    #[serde(borrow)]
    citations: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Source {
    r#type: String,
    media_type: Option<String>,
    data: Option<String>,
    url: Option<String>,
    file_id: Option<String>,
}

/// The parts of some content: a string or a list of blocks. An empty string has none.
pub(super) fn parts_of_content(raw: &RawValue, notes: &mut Notes) -> Vec<Part> {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return if text.is_empty() {
            Vec::new()
        } else {
            vec![Part::Text { text }]
        };
    }
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Ok(blocks) => blocks.into_iter().map(|block| part(block, notes)).collect(),
        Err(_) => vec![opaque(raw, notes)],
    }
}

fn part(raw: &RawValue, notes: &mut Notes) -> Part {
    let block = serde_json::from_str::<Block<'_>>(raw.get()).ok();
    block
        .and_then(|block| known(block, notes))
        .unwrap_or_else(|| opaque(raw, notes))
}

fn opaque(raw: &RawValue, notes: &mut Notes) -> Part {
    notes.opaque(&type_of(raw).unwrap_or_else(|| "no type".to_owned()));
    Part::Opaque {
        provider: PROVIDER.to_owned(),
        data: raw.get().to_owned(),
    }
}

fn known(block: Block<'_>, notes: &mut Notes) -> Option<Part> {
    Some(match block.r#type.as_str() {
        "text" => Part::Text { text: block.text? },
        "thinking" => Part::Thinking {
            text: block.thinking?,
            signature: block.signature,
            provider: Some(PROVIDER.to_owned()),
        },
        "tool_use" => Part::ToolCall {
            id: block.id?,
            name: block.name?,
            arguments: block.input.map_or("{}", RawValue::get).to_owned(),
            kind: None,
        },
        "tool_result" => Part::ToolResult {
            call: block.tool_use_id?,
            content: block
                .content
                .map_or(Vec::new(), |content| parts_of_content(content, notes)),
            is_error: block.is_error.unwrap_or(false),
        },
        "image" => Part::Image(media(block.source?, None)?),
        "document" if block.context.is_none() && block.citations.is_none() => {
            Part::File(media(block.source?, block.title)?)
        }
        _ => return None,
    })
}

fn media(source: &RawValue, name: Option<String>) -> Option<Media> {
    let source: Source = serde_json::from_str(source.get()).ok()?;
    let place = match source.r#type.as_str() {
        "base64" => MediaSource::Base64(source.data?),
        "url" => MediaSource::Url(source.url?),
        "file" => MediaSource::FileId(source.file_id?),
        _ => return None,
    };
    Some(Media {
        media_type: source.media_type,
        name,
        detail: None,
        source: place,
    })
}
