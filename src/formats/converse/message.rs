//! One message: its blocks, each an object with a member that names it.

use serde_json::Value;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::document::Said;
use crate::formats::shared::head::Keys;
use crate::formats::shared::parts::{self, checked, said};
use crate::model::{MediaSource, Message, Part, Role, Usage, UsageDetail, UsageRecord, base64};
use crate::wire::json::{Raw, decode, string, tight, word};
use crate::wire::usage::Numbers;
use crate::wire::{Notes, anthropic, media};

/// What a record is called that says nothing.
const EMPTY: &str = "empty message";

lazy! {
    struct Record { role, content, metadata }

    struct Block {
        text, image, document, video, audio, tool_use = "toolUse", tool_result = "toolResult", json,
        reasoning = "reasoningContent", citations = "citationsContent", cache_point = "cachePoint",
    }

    struct Medium { format, name, source }

    struct Source { bytes, text, s3 = "s3Location", location }

    struct Place { uri }

    struct Encoded { data }

    struct Call { id = "toolUseId", name, input }

    struct Given { id = "toolUseId", content, status }

    struct Reasoning { words = "reasoningText", redacted = "redactedContent" }

    struct Words { text, signature }

    struct Cited { content }

    struct Beside { usage }
}

/// The members that name blocks.
const BLOCKS: [&str; 11] = [
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "citationsContent",
    "cachePoint",
    "guardContent",
];

/// Whether an object is such a message: a block of it is named by a member, and names no type.
pub(super) fn is_message(object: &Keys<'_>) -> bool {
    let is_role = ["user", "assistant"]
        .iter()
        .any(|role| object.is("role", role));
    let mut blocks = object.list("content").into_iter().flatten();
    is_role && blocks.any(|block| !block.has("type") && block.has_any(&BLOCKS))
}

/// Reads a message: what tools gave in it is another one.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let role = parts::role(record.role, &[Role::User, Role::Assistant, Role::System])?;
    let blocks: Vec<&RawValue> =
        decode(record.content).ok_or_else(|| "a message without a list of blocks".to_owned())?;
    let mut found = Notes::default();
    let parts = blocks.into_iter().filter_map(|raw| part(raw, &mut found));
    let (results, others): (Vec<Part>, Vec<Part>) = parts.partition(Part::is_result);
    let both = [(Role::Tool, results), (role, others)];
    let messages = both
        .into_iter()
        .filter_map(|(role, parts)| parts::message(role, parts));
    let messages: Vec<Message> = messages.collect();
    checked(&messages)?;
    notes.merge(found);
    let beside: Beside<'_> = decode(record.metadata).unwrap_or_default();
    Ok(Said {
        usage: usage(beside.usage).filter(|_| role == Role::Assistant),
        kind: EMPTY.to_owned(),
        messages,
        ..Said::default()
    })
}

/// Instructions: a list of blocks.
pub(super) fn system(raw: Raw<'_>, notes: &mut Notes) -> Option<Message> {
    let blocks: Vec<&RawValue> = decode(raw)?;
    let parts = blocks.into_iter().filter_map(|raw| part(raw, notes));
    parts::message(Role::System, parts.collect())
}

/// One block; none where it says nothing, or is no part of what is said.
fn part(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
    if block.text.is_some() {
        return parts::text(block.text);
    }
    if block.cache_point.is_some() {
        return None;
    }
    if let Some(call) = decode::<Call<'_>>(block.tool_use) {
        let input = call.input.map(|raw| tight(raw.get()));
        return Some(parts::call(string(call.id), string(call.name), input));
    }
    if let Some(given) = decode::<Given<'_>>(block.tool_result) {
        let content: Vec<&RawValue> = decode(given.content).unwrap_or_default();
        let content = content.into_iter().filter_map(|raw| part(raw, notes));
        let is_error = word(given.status).as_deref() == Some("error");
        return Some(parts::result(string(given.id), content.collect(), is_error));
    }
    if let Some(thought) = decode::<Reasoning<'_>>(block.reasoning) {
        if let Some(data) = bytes(thought.redacted) {
            return Some(parts::redacted(&data));
        }
        let words: Words<'_> = decode(thought.words).unwrap_or_default();
        let text = string(words.text).unwrap_or_default();
        let seal = said(words.signature);
        let says = !text.is_empty() || seal.is_some();
        return says.then(|| parts::sealed(text, seal, anthropic::PROVIDER));
    }
    if let Some(json) = block.json {
        return Some(Part::text(tight(json.get())));
    }
    if let Some(cited) = decode::<Cited<'_>>(block.citations) {
        let pieces: Vec<Block<'_>> = decode(cited.content).unwrap_or_default();
        let texts: Vec<String> = pieces.iter().filter_map(|it| string(it.text)).collect();
        return (!texts.is_empty()).then(|| Part::text(texts.concat()));
    }
    let media = [
        ("image", block.image),
        ("document", block.document),
        ("video", block.video),
        ("audio", block.audio),
    ];
    let medium = media
        .into_iter()
        .find_map(|(kind, raw)| medium(kind, &decode(raw)?));
    let unknown = || {
        let kind = serde_json::from_str::<serde_json::Map<_, _>>(raw.get());
        let kind = kind.ok().and_then(|keys| keys.keys().next().cloned());
        let kind = kind.unwrap_or_default();
        parts::opaque(PROVIDER, &kind, parts::object(raw.get()), notes)
    };
    Some(medium.unwrap_or_else(unknown))
}

/// A picture or a file, which tells its format by a short word.
fn medium(kind: &str, medium: &Medium<'_>) -> Option<Part> {
    let format = string(medium.format).unwrap_or_default();
    let media_type = media_type(kind, &format);
    let name = said(medium.name);
    let source: Source<'_> = decode(medium.source)?;
    let place = decode::<Place<'_>>(source.s3).or_else(|| decode(source.location));
    let part = if let Some(data) = bytes(source.bytes) {
        Part::media(parts::media(
            MediaSource::Base64(data),
            Some(media_type),
            name,
        ))
    } else if let Some(text) = said(source.text) {
        let data = MediaSource::Base64(base64::encode(text.as_bytes()));
        Part::media(parts::media(data, Some("text/plain".to_owned()), name))
    } else {
        media::attachment(said(place?.uri)?, Some(media_type), name)
    };
    Some(match kind {
        "image" => parts::picture(part),
        _ => part,
    })
}

/// Bytes in base64: a text, or as Strands marks them.
fn bytes(raw: Raw<'_>) -> Option<String> {
    said(raw).or_else(|| said(decode::<Encoded<'_>>(raw)?.data))
}

/// The media type of what is of such a kind, and has this format.
fn media_type(kind: &str, format: &str) -> String {
    let office = |name: &str| format!("application/vnd.openxmlformats-officedocument.{name}");
    match (kind, format) {
        ("document", "pdf") => "application/pdf".to_owned(),
        ("document", "doc") => "application/msword".to_owned(),
        ("document", "docx") => office("wordprocessingml.document"),
        ("document", "xls") => "application/vnd.ms-excel".to_owned(),
        ("document", "xlsx") => office("spreadsheetml.sheet"),
        ("document", "md") => "text/markdown".to_owned(),
        ("document", "txt" | "") => "text/plain".to_owned(),
        ("document", other) => format!("text/{other}"),
        ("image", "jpg") => "image/jpeg".to_owned(),
        ("video", "mov") => "video/quicktime".to_owned(),
        ("video", "mkv") => "video/x-matroska".to_owned(),
        ("audio", "mp3") => "audio/mpeg".to_owned(),
        _ => format!("{kind}/{format}"),
    }
}

/// What was counted: of the input, what a cache had and what it took stand beside the rest.
fn usage(raw: Raw<'_>) -> Option<UsageRecord> {
    let record: Value = decode(raw)?;
    let mut numbers = Numbers::of(&record);
    let mut take = |names: &[&str]| numbers.first(names).unwrap_or_default();
    let input = [
        take(&["inputTokens"]),
        take(&["cacheReadInputTokens", "cacheReadInputTokenCount"]),
        take(&["cacheWriteInputTokens", "cacheWriteInputTokenCount"]),
    ];
    let output = take(&["outputTokens"]);
    numbers.drop(&["totalTokens"]);
    let usage = Usage::apart(input, [output, 0])?;
    let mut detail = UsageDetail::default();
    numbers.rest(&mut detail, |path| Some(path.to_owned()));
    Some(UsageRecord { usage, detail })
}
