//! Anthropic's JSON to messages.
//!
//! Arguments, and blocks that only the provider understands, keep their source text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::model::{Media, MediaSource, Message, Part, Role, Usage, depth};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, has_content, is_true};

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Block<'a> {
    #[serde(rename = "type", default)]
    kind: Cow<'a, str>,
    text: Raw<'a>,
    thinking: Raw<'a>,
    signature: Raw<'a>,
    id: Raw<'a>,
    name: Raw<'a>,
    input: Raw<'a>,
    tool_use_id: Raw<'a>,
    content: Raw<'a>,
    is_error: Raw<'a>,
    source: Raw<'a>,
    title: Raw<'a>,
}

#[derive(Deserialize)]
struct Source {
    r#type: String,
    media_type: Option<String>,
    data: Option<String>,
    url: Option<String>,
    file_id: Option<String>,
}

/// A message; one of the user's that holds nothing but results is the tools'.
///
/// # Errors
///
/// What is wrong with `raw`, in words.
pub fn message(raw: &RawValue, notes: &mut Notes) -> Result<Message, String> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        role: String,
        #[serde(borrow, default)]
        content: Raw<'a>,
    }
    let wire: Wire<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let role = match wire.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        other => return Err(format!("unknown role '{other}'")),
    };
    if wire.content.is_none() {
        has_content(raw)?;
    }
    let parts = parts(wire.content, notes).map_err(|error| format!("its content: {error}"))?;
    let results = role == Role::User && !parts.is_empty() && parts.iter().all(Part::is_result);
    let role = if results { Role::Tool } else { role };
    Ok(Message::new(role, parts))
}

/// The message that the `system` of a request is; none if it says nothing.
pub fn system(raw: &RawValue, notes: &mut Notes) -> Option<Message> {
    raw.get().starts_with(['"', '[']).then_some(())?;
    let parts = parts(Some(raw), notes).ok()?;
    (!parts.is_empty()).then(|| Message::new(Role::System, parts))
}

/// The parts of a `content` value: a string, a list of blocks, or nothing.
///
/// # Errors
///
/// When `raw` is neither, holds something that is no block, or is nested too deep.
pub fn parts(raw: Raw<'_>, notes: &mut Notes) -> Result<Vec<Part>, serde_json::Error> {
    let fits = depth::check_json("content", raw.map_or("", RawValue::get), 1);
    fits.map_err(serde::de::Error::custom)?;
    let mut found = Notes::default();
    let parts = content(raw, &mut found)?;
    depth::check_parts(&parts).map_err(serde::de::Error::custom)?;
    notes.merge(found);
    Ok(parts)
}

/// The same of what is not nested too deep: a result's content is read by it again.
fn content(raw: Raw<'_>, notes: &mut Notes) -> Result<Vec<Part>, serde_json::Error> {
    let text = raw.map_or("null", RawValue::get);
    if text.starts_with('"') {
        return Ok(vec![Part::text(serde_json::from_str::<String>(text)?)]);
    }
    if text == "null" {
        return Ok(Vec::new());
    }
    // Counts of content that turns out malformed must not linger.
    let mut found = Notes::default();
    let blocks: Vec<&RawValue> = serde_json::from_str(text)?;
    let parts = blocks.into_iter().map(|block| part(block, &mut found));
    let parts = parts.collect::<Result<_, _>>()?;
    notes.merge(found);
    Ok(parts)
}

fn part(raw: &RawValue, notes: &mut Notes) -> Result<Part, serde_json::Error> {
    if raw.get().starts_with('"') {
        return Ok(Part::text(serde_json::from_str::<String>(raw.get())?));
    }
    let block: Block<'_> = serde_json::from_str(raw.get())?;
    Ok(known(&block, notes).unwrap_or_else(|| {
        notes.opaque(match block.kind.as_ref() {
            "" => "(no type)",
            kind => kind,
        });
        Part::opaque(PROVIDER, raw.get())
    }))
}

/// The part for a block of a known type and shape.
fn known(block: &Block<'_>, notes: &mut Notes) -> Option<Part> {
    Some(match block.kind.as_ref() {
        "text" => Part::text(decode::<String>(block.text)?),
        "thinking" => {
            let (text, signature) = (decode(block.thinking)?, decode(block.signature));
            Part::thinking(text, signature, Some(PROVIDER))
        }
        "tool_use" => {
            let (id, name) = (decode(block.id)?, decode(block.name)?);
            Part::call(id, name, block.input?.get().to_owned(), None)
        }
        "tool_result" => {
            let call = decode(block.tool_use_id)?;
            let content = content(block.content, notes).ok()?;
            Part::result(call, content, is_true(block.is_error))
        }
        "image" => Part::Image(media(block)?),
        "document" => Part::File(media(block)?),
        _ => return None,
    })
}

fn media(block: &Block<'_>) -> Option<Media> {
    let source: Source = decode(block.source)?;
    Some(Media {
        media_type: source.media_type,
        name: decode(block.title),
        detail: None,
        source: match source.r#type.as_str() {
            "base64" => MediaSource::Base64(source.data?),
            "url" => MediaSource::Url(source.url?),
            "file" => MediaSource::FileId(source.file_id?),
            _ => return None,
        },
    })
}

/// What was counted for a reply; its input is said in three.
pub fn usage(raw: Raw<'_>) -> Option<Usage> {
    #[derive(Deserialize)]
    struct Counts {
        input_tokens: Option<u64>,
        cache_creation_input_tokens: Option<u64>,
        cache_creation: Option<Written>,
        cache_read_input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        output_tokens_details: Option<Said>,
    }
    #[derive(Deserialize)]
    struct Written {
        ephemeral_1h_input_tokens: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Said {
        thinking_tokens: Option<u64>,
    }
    let counts: Counts = decode(raw)?;
    let [new, cached, written] = [
        counts.input_tokens,
        counts.cache_read_input_tokens,
        counts.cache_creation_input_tokens,
    ]
    .map(Option::unwrap_or_default);
    let hour = counts
        .cache_creation
        .and_then(|it| it.ephemeral_1h_input_tokens);
    let reasoning = counts
        .output_tokens_details
        .and_then(|it| it.thinking_tokens);
    let input = new.saturating_add(cached).saturating_add(written);
    let usage = Usage::new(input, counts.output_tokens.unwrap_or(0))
        .cached(cached, written)
        .reasoned(reasoning.unwrap_or(0));
    Some(Usage {
        written_hour_tokens: hour.unwrap_or(0),
        ..usage
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (Vec<Part>, Notes) {
        let raw: &RawValue = serde_json::from_str(json).expect("JSON");
        {
            let mut notes = Notes::default();
            (parts(Some(raw), &mut notes).expect("content"), notes)
        }
    }

    #[test]
    fn a_string_is_one_text_and_null_is_nothing() {
        assert_eq!(read(r#""a\u0000b""#).0, [Part::text("a\0b")]);
        assert_eq!(read("null").0, []);
        assert_eq!(read("[]").0, []);
    }

    #[test]
    fn arguments_keep_their_source_text() {
        let json = r#"[{"type":"tool_use","id":"t","name":"f","input":{"n" : 1.0, "big":12345678901234567890}}]"#;
        let arguments = r#"{"n" : 1.0, "big":12345678901234567890}"#.to_owned();
        assert_eq!(
            read(json).0,
            [Part::ToolCall {
                id: "t".into(),
                name: "f".into(),
                arguments,
                kind: None
            }]
        );
    }

    #[test]
    fn unknown_blocks_and_odd_shapes_stay_opaque() {
        let block = r#"{"type":"redacted_thinking","data":"x"}"#;
        let document =
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}"#;
        let (parts, counts) = read(&format!(
            r#"[{block},{document},{{"type":"tool_result","tool_use_id":"t","content":[{{"type":"tool_reference","tool_name":"n"}}]}}]"#
        ));
        let opaque = |data: &str| Part::Opaque {
            provider: "anthropic".into(),
            data: data.into(),
        };
        assert_eq!(parts[0], opaque(block));
        assert_eq!(parts[1], opaque(document));
        assert_eq!(
            parts[2],
            Part::ToolResult {
                call: "t".into(),
                content: vec![opaque(r#"{"type":"tool_reference","tool_name":"n"}"#)],
                is_error: false,
            }
        );
        assert_eq!(
            counts.opaque_blocks.into_iter().collect::<Vec<_>>(),
            [
                ("document".to_owned(), 1),
                ("redacted_thinking".to_owned(), 1),
                ("tool_reference".to_owned(), 1)
            ]
        );
    }

    #[test]
    fn absent_content_of_a_result_is_empty() {
        let (parts, _) = read(r#"[{"type":"tool_result","tool_use_id":"t","is_error":true}]"#);
        assert_eq!(
            parts,
            [Part::ToolResult {
                call: "t".into(),
                content: vec![],
                is_error: true
            }]
        );
    }
}
