//! Content blocks as Anthropic's Messages API and Claude Code write them, made into parts.
//!
//! Arguments and blocks that only the provider understands keep their source text. Deliberately
//! absent: roles, messages, and the way back, which differ between the two formats.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::{Media, MediaSource, Part};

/// The provider's name in thinking and opaque parts.
pub const PROVIDER: &str = "anthropic";

/// Blocks kept opaque, by type.
pub type OpaqueCounts = BTreeMap<String, u64>;

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Source {
    r#type: String,
    media_type: Option<String>,
    data: Option<String>,
    url: Option<String>,
    file_id: Option<String>,
}

/// The parts of a `content` value: a string, a list of blocks, or null; with the blocks that were
/// kept opaque, by type.
///
/// # Errors
///
/// When `raw` is neither, or holds something that is no block.
pub fn parts_of_content(raw: &RawValue) -> Result<(Vec<Part>, OpaqueCounts), serde_json::Error> {
    let mut opaque = OpaqueCounts::new();
    let parts = parts(raw, &mut opaque)?;
    Ok((parts, opaque))
}

fn parts(raw: &RawValue, opaque: &mut OpaqueCounts) -> Result<Vec<Part>, serde_json::Error> {
    let text = raw.get();
    if text.starts_with('"') {
        return Ok(vec![Part::text(serde_json::from_str::<String>(text)?)]);
    }
    if text == "null" {
        return Ok(Vec::new());
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(text)?;
    blocks
        .into_iter()
        .map(|block| {
            if block.get().starts_with('"') {
                return Ok(Part::text(serde_json::from_str::<String>(block.get())?));
            }
            let parsed: Block<'_> = serde_json::from_str(block.get())?;
            Ok(match known(&parsed, opaque) {
                Some(part) => part,
                None => {
                    let kind = match parsed.kind.as_ref() {
                        "" => "(no type)",
                        kind => kind,
                    };
                    *opaque.entry(kind.to_owned()).or_default() += 1;
                    Part::Opaque {
                        provider: PROVIDER.to_owned(),
                        data: block.get().to_owned(),
                    }
                }
            })
        })
        .collect()
}

fn string(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

/// The part for a block of a known type and shape.
fn known(block: &Block<'_>, opaque: &mut OpaqueCounts) -> Option<Part> {
    Some(match block.kind.as_ref() {
        "text" => Part::Text {
            text: string(block.text)?,
        },
        "thinking" => Part::Thinking {
            text: string(block.thinking)?,
            signature: string(block.signature),
            provider: Some(PROVIDER.to_owned()),
        },
        "tool_use" => Part::ToolCall {
            id: string(block.id)?,
            name: string(block.name)?,
            arguments: block.input?.get().to_owned(),
            kind: None,
        },
        "tool_result" => Part::ToolResult {
            call: string(block.tool_use_id)?,
            content: match block.content {
                Some(content) => {
                    // Counts of a result that turns out malformed must not linger.
                    let mut inner = OpaqueCounts::new();
                    let parts = parts(content, &mut inner).ok()?;
                    for (kind, count) in inner {
                        *opaque.entry(kind).or_default() += count;
                    }
                    parts
                }
                None => Vec::new(),
            },
            is_error: block.is_error.is_some_and(|flag| flag.get() == "true"),
        },
        "image" => Part::Image(media(block)?),
        "document" => Part::File(media(block)?),
        _ => return None,
    })
}

fn media(block: &Block<'_>) -> Option<Media> {
    let source: Source = serde_json::from_str(block.source?.get()).ok()?;
    Some(Media {
        media_type: source.media_type,
        name: string(block.title),
        detail: None,
        source: match source.r#type.as_str() {
            "base64" => MediaSource::Base64(source.data?),
            "url" => MediaSource::Url(source.url?),
            "file" => MediaSource::FileId(source.file_id?),
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (Vec<Part>, OpaqueCounts) {
        let raw: &RawValue = serde_json::from_str(json).expect("JSON");
        parts_of_content(raw).expect("content")
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
            counts.into_iter().collect::<Vec<_>>(),
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
