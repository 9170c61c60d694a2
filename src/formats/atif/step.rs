//! One step: what is said in it, and which result answers which call.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts::{
    call, checked, media, opaque, picture, result, said, text, thought, time,
};
use crate::model::{MediaSource, Message, Millis, Part, Role, Settings, Usage};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, quoted, string, text_or_json, word};
use crate::wire::media::attachment;

/// A step, as far as it is read.
pub(super) struct TrajectoryStep {
    pub(super) said: Said,
    pub(super) time: Option<Millis>,
    /// What holds from it on.
    pub(super) settings: Settings,
    pub(super) usage: Option<Usage>,
}

/// What a step says.
pub(super) enum Said {
    /// A message, with what its calls gave.
    Messages(Vec<Message>),
    /// What stands in place of all before it.
    Instead(Message),
    /// Nothing that is sent: what it is instead.
    Nothing(String),
}

lazy! {
    struct Record {
        timestamp, source, message, model_name, reasoning_effort, reasoning_content, tool_calls, observation,
        metrics, llm_call_count, extra,
    }
}

lazy! { struct Call { tool_call_id, function_name, arguments } }

lazy! { struct Observation { results } }

lazy! { struct Given { source_call_id, content } }

lazy! { struct Piece { r#type, text, source } }

lazy! { struct Place { media_type, path } }

lazy! { struct Extra { context_management } }

lazy! { struct Change { r#type, boundary } }

#[derive(Deserialize)]
struct Counts<'a> {
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    cached_tokens: Option<u64>,
    #[serde(borrow)]
    extra: Raw<'a>,
}

/// What has no name in the format, by those of whoever was counting.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OtherCounts {
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
}

impl TrajectoryStep {
    /// Reads a step.
    pub(super) fn of(text: &str, notes: &mut Notes) -> Result<Self, String> {
        let record: Record<'_> =
            serde_json::from_str(text).map_err(|error| format!("a step: {error}"))?;
        let said = match word(record.source).as_deref() {
            Some("system") => system(&record, notes)?,
            Some("user") => {
                let said = content(record.message, notes)?;
                told(Role::User, said, observed(&[], &record, notes)?)
            }
            Some("agent") => reply(&record, notes)?,
            source => return Err(format!("unknown source '{}'", source.unwrap_or_default())),
        };
        let messages = match &said {
            Said::Messages(messages) => &messages[..],
            Said::Instead(message) => std::slice::from_ref(message),
            Said::Nothing(_) => &[],
        };
        checked(messages)?;
        let settings = [
            ("model", record.model_name),
            ("reasoning_effort", record.reasoning_effort),
        ];
        let settings = settings.map(|(key, raw)| Some((key.to_owned(), quoted(&string(raw)?))));
        Ok(Self {
            said,
            time: time(record.timestamp),
            settings: settings.into_iter().flatten().collect(),
            usage: usage(&record),
        })
    }
}

/// The counts of one call of the model; of several, nobody knows what each had.
fn usage(record: &Record<'_>) -> Option<Usage> {
    let calls: Option<u64> = decode(record.llm_call_count);
    let counts: Counts<'_> = decode(record.metrics)?;
    let is_one = calls.is_none_or(|calls| calls == 1);
    let counts = Some(counts).filter(|counts| is_one && counts.prompt_tokens > 0)?;
    let extra: OtherCounts = decode(counts.extra).unwrap_or_default();
    let [cached, written, reasoning] = [
        counts.cached_tokens.or(extra.cache_read_tokens),
        extra
            .cache_write_tokens
            .or(extra.cache_creation_input_tokens),
        extra.reasoning_tokens.or(extra.reasoning_output_tokens),
    ]
    .map(Option::unwrap_or_default);
    let usage = Usage::new(counts.prompt_tokens, counts.completion_tokens);
    Some(usage.cached(cached, written).reasoned(reasoning))
}

/// A prompt, or what was done to the context: then the text is for who reads along, and what is sent is
/// what the step observed.
fn system(record: &Record<'_>, notes: &mut Notes) -> Result<Said, String> {
    let extra: Extra<'_> = decode(record.extra).unwrap_or_default();
    let given = observed(&[], record, notes)?;
    let Some(change) = extra.context_management else {
        let is_silent = given.results.is_empty() && given.said.is_empty();
        // What it observed is another trajectory.
        if record.observation.is_some() && is_silent {
            return Ok(Said::Nothing("operation".to_owned()));
        }
        return Ok(told(Role::System, content(record.message, notes)?, given));
    };
    let change: Change<'_> = decode(Some(change)).unwrap_or_default();
    let boundary = word(change.boundary);
    Ok(match boundary.as_deref() {
        Some("replace") if !given.said.is_empty() => {
            Said::Instead(Message::new(Role::User, given.said))
        }
        Some("append") => told(Role::System, Vec::new(), given),
        _ => {
            let kind = string(change.r#type).unwrap_or_else(|| "a change".to_owned());
            Said::Nothing(format!("{kind} (of what, it does not say)"))
        }
    })
}

fn reply(record: &Record<'_>, notes: &mut Notes) -> Result<Said, String> {
    let thought = said(record.reasoning_content).map(thought);
    let mut parts: Vec<Part> = thought.into_iter().collect();
    parts.extend(content(record.message, notes)?);
    let mut calls = Vec::new();
    for made in list::<Call<'_>>(record.tool_calls, "its tool calls")? {
        let id = string(made.tool_call_id).unwrap_or_default();
        calls.push(id.clone());
        // The object stands with the indents of its document.
        let arguments = text_or_json(made.arguments);
        parts.push(call(Some(id), string(made.function_name), arguments));
    }
    let given = observed(&calls, record, notes)?;
    Ok(told(Role::Assistant, parts, given))
}

/// What is said, what calls gave, and what else there was to see.
fn told(role: Role, parts: Vec<Part>, given: Observed) -> Said {
    let all = [
        (role, parts),
        (Role::Tool, given.results),
        (Role::User, given.said),
    ];
    let all = all.into_iter().filter(|(_, parts)| !parts.is_empty());
    let all: Vec<Message> = all.map(|(role, parts)| Message::new(role, parts)).collect();
    if all.is_empty() {
        Said::Nothing("empty step".to_owned())
    } else {
        Said::Messages(all)
    }
}

/// What there was to see behind a step.
struct Observed {
    /// What its calls gave.
    results: Vec<Part>,
    /// What answers none of them.
    said: Vec<Part>,
}

/// Reads the results of a step with these calls. One that names no call answers the next that none names.
/// Where there are fewer of them than such calls, these were carried out together, and the last ones stand
/// for all: the calls before them gave nothing of their own.
fn observed(calls: &[String], record: &Record<'_>, notes: &mut Notes) -> Result<Observed, String> {
    let observation: Observation<'_> = decode(record.observation).unwrap_or_default();
    let given = list::<Given<'_>>(observation.results, "its results")?;
    let names: Vec<Option<String>> = given.iter().map(|it| string(it.source_call_id)).collect();
    let mut named: HashMap<&str, u64> = HashMap::new();
    for name in names.iter().flatten() {
        *named.entry(name).or_default() += 1;
    }
    let open = calls.iter().filter(|call| {
        let left = named.get_mut(call.as_str()).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_none()
    });
    let open: Vec<&String> = open.collect();
    let nameless = names.iter().filter(|name| name.is_none()).count();
    let result = |call: &String, content| result(Some(call.clone()), content, false);
    let together = match nameless {
        0 => 0,
        nameless => open.len().saturating_sub(nameless),
    };
    let (together, one_by_one) = open.split_at(together);
    let mut found = Observed {
        results: together
            .iter()
            .map(|call| result(call, Vec::new()))
            .collect(),
        said: Vec::new(),
    };
    let mut next = one_by_one.iter();
    for (given, name) in given.iter().zip(names) {
        let content = content(given.content, notes)?;
        let call = name.as_ref().or_else(|| next.next().copied());
        match call {
            Some(call) => found.results.push(result(call, content)),
            None => found.said.extend(content),
        }
    }
    Ok(found)
}

/// The items of a list; none where there is no list.
fn list<'a, T: Deserialize<'a>>(raw: Raw<'a>, what: &str) -> Result<Vec<T>, String> {
    let Some(raw) = raw else {
        return Ok(Vec::new());
    };
    serde_json::from_str(raw.get()).map_err(|error| format!("{what}: {error}"))
}

/// A text, or texts and pictures.
fn content(raw: Raw<'_>, notes: &mut Notes) -> Result<Vec<Part>, String> {
    if raw.is_some_and(|raw| raw.get().starts_with('"')) {
        return Ok(text(raw).into_iter().collect());
    }
    let mut parts = Vec::new();
    for raw in list::<&RawValue>(raw, "its content")? {
        let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
        let kind = word(piece.r#type).unwrap_or_default();
        let source: Place<'_> = decode(piece.source).unwrap_or_default();
        parts.extend(match (&*kind, string(source.path)) {
            ("text", _) => text(piece.text),
            ("image", Some(path)) => Some(picture_at(path, string(source.media_type))),
            (kind, _) => Some(opaque(PROVIDER, kind, raw.get().to_owned(), notes)),
        });
    }
    Ok(parts)
}

/// A picture at an address, or in a file beside the trajectory, of which only the name is here.
fn picture_at(path: String, media_type: Option<String>) -> Part {
    let mut addresses = ["http://", "https://", "data:"].iter();
    if addresses.any(|it| path.starts_with(it)) {
        picture(attachment(path, media_type, None))
    } else {
        Part::Image(media(MediaSource::FileId(path), media_type, None))
    }
}
