//! Requests by the names of the AI SDK: what is sent is a list of the SDK's model messages, and what is answered stands in a
//! few attributes.
//!
//! # Source
//!
//! Observed: spans of `ai` 6.0.326, and of 7.0.173 by `LegacyOpenTelemetry` of `@ai-sdk/otel`; `recordSpan` of its open source.

use serde_json::value::RawValue;

use super::attributes::Attributes;
use crate::formats::shared::parts;
use crate::formats::shared::seals;
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Raw, array, decode, string, tight, word};
use crate::wire::media;

/// Whose opaque blocks these are.
const PROVIDER: &str = "ai-sdk";

lazy! {
    struct Said { role, content }

    struct Block {
        r#type, text, image, data, media_type = "mediaType", mime_type = "mimeType", id = "toolCallId",
        name = "toolName", input, args, output, result, is_error = "isError", options = "providerOptions",
        metadata = "providerMetadata",
    }

    struct Output { r#type, value, reason, text, data, media_type = "mediaType" }

    struct Tool { name, description, schema = "inputSchema", parameters }

    struct List { values }

    struct Text { text = "stringValue" }
}

/// Whether a span of this operation asks a model.
pub(super) fn asks(operation: &str) -> bool {
    let rest = operation.strip_prefix("ai.").unwrap_or_default();
    rest.ends_with(".dogenerate") || rest.ends_with(".dostream")
}

/// What was sent; none where it is no such list.
pub(super) fn input(text: &str, notes: &mut Notes) -> Option<Vec<Message>> {
    let said: Vec<Said<'_>> = serde_json::from_str(text).ok()?;
    let messages = said.iter().map(|said| {
        let role: Role = word(said.role)?.parse().ok()?;
        if let Some(text) = string(said.content) {
            return Some(Message::text(role, &text));
        }
        let blocks: Vec<&RawValue> = decode(said.content)?;
        let parts = blocks.into_iter().flat_map(|raw| sealed(raw, notes));
        Some(Message::new(role, parts.collect()))
    });
    messages.collect()
}

/// What was answered.
pub(super) fn output(of: &Attributes<'_>) -> Option<Message> {
    let thought = of.text("ai.response.reasoning").map(parts::thought);
    let text = of.first(&["ai.response.text", "ai.response.object"]);
    let calls = of.text("ai.response.toolCalls").unwrap_or_default();
    let calls: Vec<Block<'_>> = serde_json::from_str(&calls).unwrap_or_default();
    let calls = calls.iter().flat_map(|block| {
        let seal = seals::of_gemini(block.options.or(block.metadata));
        seal.into_iter().chain([call(block)])
    });
    let parts = thought.into_iter().chain(text.map(Part::text)).chain(calls);
    parts::message(Role::Assistant, parts.collect())
}

/// The tools that were offered.
pub(super) fn tools(of: &Attributes<'_>) -> Option<String> {
    let list: List<'_> = decode(of.get("ai.prompt.tools"))?;
    let list: Vec<Text<'_>> = decode(list.values)?;
    let tools = list.iter().filter_map(|text| {
        let text = string(text.text)?;
        let tool: Tool<'_> = serde_json::from_str(&text).ok()?;
        let schema = tool.schema.or(tool.parameters).map_or("{}", RawValue::get);
        let description = string(tool.description);
        Some(parts::tool(
            &string(tool.name)?,
            description.as_deref(),
            schema,
        ))
    });
    let tools: Vec<String> = tools.collect();
    (!tools.is_empty()).then(|| array(tools))
}

/// A part, behind the signature that it came with.
fn sealed(raw: &RawValue, notes: &mut Notes) -> Vec<Part> {
    let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
    let beside = block.options.or(block.metadata);
    let seal = match word(block.r#type).as_deref() {
        Some("text" | "tool-call") => seals::of_gemini(beside),
        _ => None,
    };
    let part = part(raw, &block, notes);
    seal.into_iter().chain(part).collect()
}

fn part(raw: &RawValue, block: &Block<'_>, notes: &mut Notes) -> Option<Part> {
    let kind = word(block.r#type).unwrap_or_default();
    match &*kind {
        "text" => parts::text(block.text),
        "reasoning" => {
            let text = string(block.text).unwrap_or_default();
            seals::thought(text, block.options.or(block.metadata))
        }
        "image" | "file" => {
            let media_type = string(block.media_type).or_else(|| string(block.mime_type));
            let is_picture = media_type
                .as_ref()
                .is_none_or(|it| it.starts_with("image/"));
            let found = file(string(block.image.or(block.data))?, media_type);
            Some(match is_picture {
                true => parts::picture(found),
                false => found,
            })
        }
        "tool-call" => Some(call(block)),
        "tool-result" => {
            let (content, is_error) = given(block, notes);
            Some(parts::result(string(block.id), content, is_error))
        }
        kind => Some(parts::opaque(PROVIDER, kind, tight(raw.get()), notes)),
    }
}

/// Bytes, or where they are.
fn file(data: String, media_type: Option<String>) -> Part {
    match data.contains("://") || data.starts_with("data:") {
        true => media::attachment(data, media_type, None),
        false => Part::media(Media::new(media_type, MediaSource::Base64(data))),
    }
}

fn call(block: &Block<'_>) -> Part {
    let input = block.input.or(block.args);
    let arguments = string(input).or_else(|| input.map(|input| tight(input.get())));
    parts::call(string(block.id), string(block.name), arguments)
}

/// What a tool gave, and whether it failed.
fn given(block: &Block<'_>, notes: &mut Notes) -> (Vec<Part>, bool) {
    let in_words = |raw: Raw<'_>| {
        let text = string(raw).or_else(|| raw.map(|raw| tight(raw.get())));
        text.map(Part::text).into_iter().collect::<Vec<_>>()
    };
    let Some(output) = decode::<Output<'_>>(block.output) else {
        let is_error = block.is_error.is_some_and(|raw| raw.get() == "true");
        return (in_words(block.result), is_error);
    };
    let kind = word(output.r#type).unwrap_or_default();
    match &*kind {
        "content" => {
            let pieces: Vec<&RawValue> = decode(output.value).unwrap_or_default();
            let pieces = pieces.into_iter().filter_map(|raw| {
                let piece: Output<'_> = decode(Some(raw))?;
                match word(piece.r#type).as_deref() {
                    Some("text") => parts::text(piece.text),
                    Some("media" | "image-data" | "file-data") => {
                        let found = file(string(piece.data)?, string(piece.media_type));
                        Some(parts::picture(found))
                    }
                    kind => {
                        let kind = kind.unwrap_or_default();
                        Some(parts::opaque(PROVIDER, kind, tight(raw.get()), notes))
                    }
                }
            });
            (pieces.collect(), false)
        }
        "execution-denied" => (in_words(output.reason), true),
        kind => (in_words(output.value), kind.starts_with("error")),
    }
}
