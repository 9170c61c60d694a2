//! One message: what a user said with the files that are named, or what a model said, called and was given.
//!
//! Newer versions keep a reply as items of the Responses API beside the text that is shown; older ones have its calls
//! and its thoughts as tags in that text.

use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts::{self, CountPaths, checked};
use crate::model::{MediaSource, Message, Millis, Part, Role, Usage};
use crate::wire::html::unescaped;
use crate::wire::json::{Raw, decode, string, type_of};
use crate::wire::responses::{self, Meaning};
use crate::wire::{Notes, media, openai};

/// Times of some clients are in milliseconds: whatever is later than the year 5138 in seconds.
const SECONDS_MAX: i64 = 100_000_000_000;

lazy! {
    /// What of a record is looked at.
    struct Wire {
        id, parent = "parentId", role, content, model, timestamp, files, output, usage, info, merged,
        summary = "contextSummary",
    }

    /// A file beside a prompt, or a reply that was made of others.
    struct Piece { r#type, content, url, id, name }
}

/// By whoever counted. Of a reply with calls, `input_tokens` is the sum over its requests and `prompt_tokens` that of the last one,
/// while the details are sums (`normalize_usage` and `merge_usage` in `backend/open_webui/utils`).
const COUNTS: CountPaths = CountPaths {
    input: &["input_tokens", "prompt_tokens", "prompt_eval_count"],
    output: &["output_tokens", "completion_tokens", "eval_count"],
    cached: &[
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
    ],
    written: &[
        "prompt_tokens_details.cache_write_tokens",
        "input_tokens_details.cache_write_tokens",
    ],
    written_hour: &[],
    reasoning: &[
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
    ],
};

/// A record.
#[derive(Default)]
pub(super) struct Said {
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) time: Option<Millis>,
    pub(super) model: Option<String>,
    pub(super) messages: Vec<Message>,
    /// What was counted for the last of them.
    pub(super) usage: Option<Usage>,
    /// What the model is told of all before it, which is not sent any more.
    pub(super) summary: Option<String>,
}

/// What a record says.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let wire: Wire<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let role = parts::role(wire.role, &[Role::User, Role::Assistant, Role::System])?;
    let mut found = Notes::default();
    let messages = match role {
        Role::Assistant => reply(&wire, &mut found)?,
        _ => Vec::from_iter(prompt(raw, wire.files, &mut found)?),
    };
    checked(&messages)?;
    notes.merge(found);
    let counted = |raw| parts::counts(raw, &COUNTS);
    let counted = counted(wire.usage).or_else(|| counted(wire.info));
    Ok(Said {
        id: parts::said(wire.id),
        parent: parts::said(wire.parent),
        time: decode::<f64>(wire.timestamp).map(|time| match time as i64 {
            ..=SECONDS_MAX => Millis((time * 1000.0) as i64),
            millis => Millis(millis),
        }),
        summary: parts::said(wire.summary).filter(|summary| !summary.trim().is_empty()),
        model: parts::said(wire.model).filter(|_| role == Role::Assistant),
        usage: counted.filter(|_| role == Role::Assistant),
        messages,
    })
}

/// What a user said, in OpenAI's form, with the files that are named.
fn prompt(raw: &RawValue, files: Raw<'_>, notes: &mut Notes) -> Result<Option<Message>, String> {
    let Message {
        role, mut parts, ..
    } = openai::message(raw, notes)?;
    let files: Vec<Piece<'_>> = decode(files).unwrap_or_default();
    parts.extend(files.iter().filter_map(file));
    Ok(parts::message(role, parts))
}

/// A file that lies in the service, unless its bytes stand in its address.
fn file(beside: &Piece<'_>) -> Option<Part> {
    let name = parts::said(beside.name);
    match (string(beside.r#type).as_deref(), parts::said(beside.url)) {
        (Some("image"), Some(url)) => Some(picture(url)),
        (_, url) => {
            let id = parts::said(beside.id).or(url).or_else(|| name.clone())?;
            let source = MediaSource::FileId(id);
            Some(Part::File(parts::media(source, None, name)))
        }
    }
}

fn picture(url: String) -> Part {
    if url.contains(':') {
        return parts::picture(media::attachment(url, None, None));
    }
    Part::Image(parts::media(MediaSource::FileId(url), None, None))
}

/// What a model said, what its tools gave, what it said then.
fn reply(wire: &Wire<'_>, notes: &mut Notes) -> Result<Vec<Message>, String> {
    let mut found = Vec::new();
    let items: Vec<&RawValue> = decode(wire.output).unwrap_or_default();
    for item in items {
        // What the service runs itself has no form of the API's.
        if let Some(kind) = type_of(item.get()).filter(|kind| kind.starts_with("open_webui:")) {
            let block = parts::opaque(PROVIDER, &kind, parts::object(item.get()), notes);
            add(&mut found, Role::Assistant, vec![block]);
            continue;
        }
        match responses::read(item, notes) {
            Meaning::Reply(parts) => {
                let parts = parts.into_iter().map(unsealed).collect();
                add(&mut found, Role::Assistant, parts);
            }
            Meaning::Output(message) => add(&mut found, Role::Tool, message.parts),
            Meaning::Input(message) => add(&mut found, message.role, message.parts),
            Meaning::Aside => {}
            Meaning::TooDeep(reason) => return Err(reason),
        }
    }
    if found.is_empty() {
        let merged: Piece<'_> = decode(wire.merged).unwrap_or_default();
        let text = parts::said(merged.content).or_else(|| parts::said(wire.content));
        tagged(&text.unwrap_or_default(), &mut found);
    }
    Ok(found)
}

/// Puts parts into the last message, where it is of the same role.
fn add(messages: &mut Vec<Message>, role: Role, more: Vec<Part>) {
    match messages.last_mut() {
        Some(last) if last.role == role => last.parts.extend(more),
        _ => messages.extend(parts::message(role, more)),
    }
}

/// A thought that bears no seal is nobody's own.
fn unsealed(part: Part) -> Part {
    match part {
        Part::Thinking {
            text,
            signature: None,
            ..
        } => parts::thought(text),
        part => part,
    }
}

/// How a tag begins, and ends.
const TAG: [&str; 2] = ["<details type=\"", "</details>"];

/// What a text says that has calls and thoughts as tags; a tag that is neither, or has no end, is text.
fn tagged(text: &str, found: &mut Vec<Message>) {
    let mut rest = text;
    let mut plain = String::new();
    while let Some(at) = rest.find(TAG[0])
        && let Some((whole, behind)) = rest[at..].split_once(TAG[1])
    {
        plain += &rest[..at];
        match block(whole) {
            Some((reply, result)) => {
                say(&mut plain, found);
                add(found, Role::Assistant, vec![reply]);
                add(found, Role::Tool, Vec::from_iter(result));
            }
            None => plain += &rest[at..rest.len() - behind.len()],
        }
        rest = behind;
    }
    plain += rest;
    say(&mut plain, found);
}

fn say(plain: &mut String, found: &mut Vec<Message>) {
    let text = std::mem::take(plain);
    if !text.trim().is_empty() {
        add(found, Role::Assistant, vec![Part::text(text.trim())]);
    }
}

/// What a tag stands for: a thought, or a call with what it gave.
fn block(tag: &str) -> Option<(Part, Option<Part>)> {
    let (head, body) = tag.split_once('>')?;
    let value = |name: &str| {
        let (_, behind) = head.split_once(&format!(" {name}=\""))?;
        behind.split_once('"').map(|(value, _)| unescaped(value))
    };
    let kind = head.strip_prefix(TAG[0])?.split('"').next()?;
    let inner = body
        .split_once("</summary>")
        .map_or(body, |(_, inner)| inner);
    match kind {
        "reasoning" => {
            let lines = inner.trim().lines();
            let lines = lines.map(|line| line.strip_prefix('>').unwrap_or(line).trim_start());
            let text = unescaped(&lines.collect::<Vec<_>>().join("\n"));
            Some((parts::thought(text), None))
        }
        "tool_calls" => {
            let id = value("id").filter(|id| !id.is_empty())?;
            let arguments = value("arguments").map(in_json);
            let own = Some(unescaped(inner.trim())).filter(|text| !text.is_empty());
            let result = value("result").or(own).map(in_json);
            let result = result.map(Part::text);
            let result = result.map(|text| parts::result(Some(id.clone()), vec![text], false));
            Some((parts::call(Some(id), value("name"), arguments), result))
        }
        _ => None,
    }
}

/// A text that may stand in a JSON string.
fn in_json(text: String) -> String {
    serde_json::from_str(&text).unwrap_or(text)
}
