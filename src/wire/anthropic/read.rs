//! Anthropic's JSON to messages.
//!
//! Arguments, and blocks that only the provider understands, keep their source text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::model::{
    Iteration, Media, MediaSource, Message, Part, Role, Usage, UsageDetail, UsageRecord, depth,
};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, has_content, is_true};
use crate::wire::usage::Numbers;

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
        let kind = match block.kind.as_ref() {
            "" => "(no type)",
            kind => kind,
        };
        notes.keep(kind, PROVIDER, raw.get())
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
    usage_record(raw).map(|record| record.usage)
}

/// The kind of an iteration that is the model's own.
const OWN: &str = "message";

/// A usage record, read whole.
///
/// # Source
///
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool>: what an adviser or a compaction took is in
/// `iterations` alone. Of the model's own iterations, `output_tokens` is the sum, and the input that of the first, or of all.
/// The last one was given the whole context.
pub fn usage_record(raw: Raw<'_>) -> Option<UsageRecord> {
    let mut record: Value = decode(raw)?;
    let iterations = record.as_object_mut()?.remove("iterations");
    let mut detail = UsageDetail::default();
    let whole = counted(&record, &mut detail);
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut parts = UsageDetail::default();
    for iteration in iterations
        .as_ref()
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let text = |key: &str| iteration[key].as_str().map(str::to_owned);
        let kind = text("type").unwrap_or_else(|| OWN.to_owned());
        let usage = counted(iteration, &mut parts);
        let is_own = kind == OWN;
        let made = Iteration::new(kind, text("model"), usage);
        if is_own { &mut own } else { &mut others }.push(made);
    }
    detail.fuller(parts);
    let sum = own
        .iter()
        .fold(Usage::default(), |sum, it| sum.plus(it.usage()));
    let is_all = sum.input_tokens >= whole.input_tokens && sum.output_tokens >= whole.output_tokens;
    let mut usage = whole;
    match own.pop() {
        Some(one) if own.is_empty() => usage = whole.fuller(one.usage()),
        Some(last) if is_all => {
            usage = last.usage();
            let reasoning = whole.reasoning_tokens.saturating_sub(sum.reasoning_tokens);
            usage.reasoning_tokens = usage.reasoning_tokens.saturating_add(reasoning);
            detail.iterations = own;
        }
        // A record that was written before the reply was whole.
        _ => {}
    }
    detail.iterations.append(&mut others);
    Some(UsageRecord { usage, detail })
}

/// The tokens of a record or of one of its iterations; what else it counts goes to the detail.
fn counted(record: &Value, detail: &mut UsageDetail) -> Usage {
    let mut numbers = Numbers::of(record);
    let mut take = |path: &str| numbers.take(path).unwrap_or(0);
    let [new, cached] = ["input_tokens", "cache_read_input_tokens"].map(&mut take);
    let [minutes, hour] = [
        "cache_creation.ephemeral_5m_input_tokens",
        "cache_creation.ephemeral_1h_input_tokens",
    ]
    .map(&mut take);
    let written = take("cache_creation_input_tokens").max(minutes.saturating_add(hour));
    let output = take("output_tokens");
    let reasoning = take("output_tokens_details.thinking_tokens");
    numbers.rest(detail, |path| {
        Some(path.strip_prefix("server_tool_use.")?.to_owned())
    });
    let input = new.saturating_add(cached).saturating_add(written);
    Usage {
        written_hour_tokens: hour,
        ..Usage::new(input, output)
            .cached(cached, written)
            .reasoned(reasoning)
    }
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
