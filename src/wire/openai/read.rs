//! OpenAI's JSON to messages.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::model::{
    Media, MediaSource, Message, Part, Role, Usage, UsageDetail, UsageRecord, depth,
};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, has_content, type_of};
use crate::wire::media::{image_at, owned_data};
use crate::wire::usage::Numbers;

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Wire<'a> {
    role: String,
    content: Raw<'a>,
    /// Some exports call it so.
    value: Raw<'a>,
    name: Option<String>,
    tool_calls: Option<Vec<&'a RawValue>>,
    function_call: Raw<'a>,
    tool_call_id: Option<String>,
    reasoning_content: Raw<'a>,
    refusal: Raw<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(default)]
    name: String,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
}

#[derive(Deserialize)]
struct Call<'a> {
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    custom: Option<Custom>,
}

#[derive(Deserialize)]
struct Custom {
    name: String,
    input: String,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    text: Option<String>,
    value: Option<String>,
    image_url: Option<ImageUrl>,
    file: Option<FileBlock>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ImageUrl {
    Plain(String),
    Full { url: String, detail: Option<String> },
}

#[derive(Deserialize)]
struct FileBlock {
    file_data: Option<String>,
    file_id: Option<String>,
    filename: Option<String>,
}

/// A message.
///
/// # Errors
///
/// What is wrong with `raw`, in words.
pub fn message(raw: &RawValue, notes: &mut Notes) -> Result<Message, String> {
    let wire: Wire<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let role = match wire.role.as_str() {
        "function" => Role::Tool,
        other => other
            .parse()
            .map_err(|_| format!("unknown role '{other}'"))?,
    };
    let says = [
        wire.content,
        wire.value,
        wire.reasoning_content,
        wire.refusal,
        wire.function_call,
    ];
    if says.iter().all(Option::is_none) && wire.tool_calls.is_none() {
        has_content(raw)?;
    }
    let content = parts(wire.content.or(wire.value), notes);
    let fits = |message: Message| match depth::check_message(&message) {
        Ok(()) => Ok(message),
        Err(error) => Err(error.to_string()),
    };
    if role == Role::Tool {
        let legacy = wire.role == "function";
        let call = if legacy {
            wire.name.clone()
        } else {
            wire.tool_call_id
        };
        let result = Part::result(call.unwrap_or_default(), content, false);
        return fits(Message {
            name: wire.name.filter(|_| !legacy),
            ..Message::new(role, vec![result])
        });
    }
    let mut all = Vec::new();
    if let Some(text) = decode(wire.reasoning_content) {
        all.push(Part::thinking(text, None, Some(PROVIDER)));
    }
    all.extend(content);
    if let Some(refusal) = wire.refusal {
        let data = format!(r#"{{"type":"refusal","refusal":{}}}"#, refusal.get());
        all.push(opaque(data, "refusal", notes));
    }
    if let Some(call) = wire.function_call {
        all.push(function_call(call, notes));
    }
    for call in wire.tool_calls.unwrap_or_default() {
        all.push(tool_call(call, notes));
    }
    fits(Message {
        name: wire.name,
        ..Message::new(role, all)
    })
}

/// What was counted for a reply, by either API's names; what a cache had a part in is said as part of the input.
pub fn usage(raw: Raw<'_>) -> Option<Usage> {
    usage_record(raw).map(|record| record.usage)
}

/// A usage record, read whole.
pub fn usage_record(raw: Raw<'_>) -> Option<UsageRecord> {
    let record: Value = decode(raw)?;
    record.as_object()?;
    let mut numbers = Numbers::of(&record);
    let input = ["prompt_tokens_details", "input_tokens_details"];
    let output = ["completion_tokens_details", "output_tokens_details"];
    let mut first = |places: &[&str], name: &str| {
        let paths: Vec<String> = places.iter().map(|at| format!("{at}.{name}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        numbers.first(&paths).unwrap_or(0)
    };
    let cached = first(&input, "cached_tokens");
    let written = first(&input, "cache_write_tokens");
    let reasoning = first(&output, "reasoning_tokens");
    let sent = numbers.first(&["prompt_tokens", "input_tokens"]);
    let said = numbers.first(&["completion_tokens", "output_tokens"]);
    let (sent, mut said) = (sent.unwrap_or(0), said.unwrap_or(0));
    // xAI counts reasoning beside the reply: the total tells.
    let total = numbers.first(&["total_tokens"]).unwrap_or(0);
    if reasoning > 0 && total == sent.saturating_add(said).saturating_add(reasoning) {
        said = said.saturating_add(reasoning);
    }
    let mut detail = UsageDetail::default();
    numbers.rest(&mut detail, |path| {
        let below = |places: [&str; 2]| {
            let below = |at: &str| path.strip_prefix(at)?.strip_prefix('.');
            places.iter().find_map(|at| below(at))
        };
        let name = match (below(input), below(output)) {
            // Text is the rest of all.
            (Some("text_tokens"), _) | (_, Some("text_tokens")) => String::new(),
            (Some(kind @ ("audio_tokens" | "image_tokens")), _) => format!("input_{kind}"),
            (_, Some(kind @ ("audio_tokens" | "image_tokens"))) => format!("output_{kind}"),
            (Some(other), _) | (_, Some(other)) => other.to_owned(),
            (None, None) => return None,
        };
        Some(name)
    });
    let usage = Usage::new(sent, said)
        .cached(cached, written)
        .reasoned(reasoning);
    Some(UsageRecord { usage, detail })
}

fn opaque(data: String, kind: &str, notes: &mut Notes) -> Part {
    notes.keep(kind, PROVIDER, &data)
}

/// Content: a string, a list of parts, or nothing. An empty string is nothing.
fn parts(content: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let Some(content) = content else {
        return Vec::new();
    };
    if let Some(text) = decode::<String>(Some(content)) {
        return if text.is_empty() {
            Vec::new()
        } else {
            vec![Part::Text { text }]
        };
    }
    match serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        Ok(blocks) => blocks.into_iter().map(|block| part(block, notes)).collect(),
        Err(_) => vec![opaque(content.get().to_owned(), "content", notes)],
    }
}

fn part(raw: &RawValue, notes: &mut Notes) -> Part {
    let block = serde_json::from_str::<Block>(raw.get()).ok();
    let known = block.and_then(|block| match block.r#type.as_str() {
        "text" => Some(Part::text(block.text.or(block.value)?)),
        "image_url" => Some(Part::Image(image(block.image_url?))),
        "file" => Some(Part::File(file(block.file?)?)),
        _ => None,
    });
    known.unwrap_or_else(|| {
        let kind = type_of(raw.get()).unwrap_or_else(|| "no type".to_owned());
        opaque(raw.get().to_owned(), &kind, notes)
    })
}

fn image(image: ImageUrl) -> Media {
    match image {
        ImageUrl::Plain(url) => image_at(url, None),
        ImageUrl::Full { url, detail } => image_at(url, detail),
    }
}

fn file(file: FileBlock) -> Option<Media> {
    let media = match (file.file_data, file.file_id) {
        // Some servers take an address.
        (Some(url), _) if ["https://", "http://"].iter().any(|it| url.starts_with(it)) => {
            Media::new(None, MediaSource::Url(url))
        }
        (Some(data), _) => {
            let (media_type, data) = owned_data(&data).unwrap_or((None, data));
            Media::new(media_type, MediaSource::Base64(data))
        }
        (None, Some(id)) => Media::new(None, MediaSource::FileId(id)),
        (None, None) => return None,
    };
    Some(Media {
        name: file.filename,
        ..media
    })
}

/// The arguments: the string's value, or the text of what some servers send instead.
fn arguments(raw: Raw<'_>) -> String {
    raw.map_or(String::new(), |raw| {
        decode(Some(raw)).unwrap_or_else(|| raw.get().to_owned())
    })
}

fn tool_call(raw: &RawValue, notes: &mut Notes) -> Part {
    let call = serde_json::from_str::<Call<'_>>(raw.get()).ok();
    let known = call.and_then(|call| match (call.function, call.custom) {
        (Some(function), _) => {
            let arguments = arguments(function.arguments);
            Some((call.id, function.name, arguments, None))
        }
        (None, Some(custom)) => Some((call.id, custom.name, custom.input, Some("custom"))),
        (None, None) => None,
    });
    let Some((id, name, arguments, kind)) = known else {
        return opaque(raw.get().to_owned(), "tool_call", notes);
    };
    Part::call(id.unwrap_or_default(), name, arguments, kind)
}

/// The call of old, without an id: the function's name stands in for it.
fn function_call(raw: &RawValue, notes: &mut Notes) -> Part {
    match serde_json::from_str::<Function<'_>>(raw.get()) {
        Ok(Function {
            name,
            arguments: raw,
        }) => Part::call(name.clone(), name, arguments(raw), Some("function_call")),
        Err(_) => opaque(raw.get().to_owned(), "function_call", notes),
    }
}
