//! Parts of messages as formats say them, one or another of whose members may be missing.
//!
//! Deliberately absent: by which names a format says them, and blocks of providers ([`crate::wire`]).

use serde_json::Deserializer;

use crate::formats::shared::lazy::members;
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, Usage, depth};
use crate::wire::json::{Object, Raw, decode, string, tight, word};
use crate::wire::usage::Numbers;
use crate::wire::{Notes, anthropic, gemini};

/// A text that is not empty.
pub(in crate::formats) fn said(raw: Raw<'_>) -> Option<String> {
    string(raw).filter(|text| !text.is_empty())
}

/// The part of a text that is not empty.
pub(in crate::formats) fn text(raw: Raw<'_>) -> Option<Part> {
    said(raw).map(Part::text)
}

/// A call of a function; where nothing is said of its arguments, there are none.
pub(in crate::formats) fn call(
    id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
) -> Part {
    let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
    Part::call(
        id.unwrap_or_default(),
        name.unwrap_or_default(),
        arguments,
        None,
    )
}

/// What a call gave.
pub(in crate::formats) fn result(call: Option<String>, content: Vec<Part>, is_error: bool) -> Part {
    Part::result(call.unwrap_or_default(), content, is_error)
}

/// What a model thought, as nobody's own.
pub(in crate::formats) fn thought(text: String) -> Part {
    Part::thinking(text, None, None)
}

/// What a model thought; where it bears a seal, that is a provider's.
pub(in crate::formats) fn sealed(text: String, seal: Option<String>, provider: &str) -> Part {
    let signature = seal.filter(|seal| !seal.is_empty());
    let provider = signature.is_some().then_some(provider);
    Part::thinking(text, signature, provider)
}

/// The signature that a model of Gemini's gave with the part behind it.
pub(in crate::formats) fn seal(signature: String) -> Part {
    Part::thinking(String::new(), Some(signature), Some(gemini::PROVIDER))
}

/// What a model of Anthropic's thought, and nobody is to read.
pub(in crate::formats) fn redacted(data: &str) -> Part {
    let block = Object::typed("redacted_thinking").string("data", data);
    Part::opaque(anthropic::PROVIDER, block.finish())
}

/// A block that is kept as it is, counted by its type.
pub(in crate::formats) fn opaque(
    provider: &str,
    kind: &str,
    data: String,
    notes: &mut Notes,
) -> Part {
    let kind = if kind.is_empty() { "(no type)" } else { kind };
    notes.keep(kind, provider, &data)
}

/// A block without space between its tokens; what is no object stands in one.
pub(in crate::formats) fn object(block: &str) -> String {
    if block.starts_with('{') {
        tight(block)
    } else {
        Object::new().raw("value", block).finish()
    }
}

/// A picture or a file.
pub(in crate::formats) fn media(
    source: MediaSource,
    media_type: Option<String>,
    name: Option<String>,
) -> Media {
    Media {
        name,
        ..Media::new(media_type, source)
    }
}

/// A base64 text in the usual letters, where it may be in those of addresses, as Python's libraries write it.
pub(in crate::formats) fn standard_base64(text: &str) -> String {
    text.replace('-', "+").replace('_', "/")
}

/// The same where a format says that it is a picture.
pub(in crate::formats) fn picture(part: Part) -> Part {
    match part {
        Part::File(media) => Part::Image(media),
        part => part,
    }
}

/// Who speaks, by the word for it; one of these.
pub(in crate::formats) fn role(raw: Raw<'_>, known: &[Role]) -> Result<Role, String> {
    let word = word(raw).unwrap_or_default();
    let role = word.parse().ok().filter(|role| known.contains(role));
    role.ok_or_else(|| format!("unknown role '{word}'"))
}

/// A message of these parts; none of nothing.
pub(in crate::formats) fn message(role: Role, parts: Vec<Part>) -> Option<Message> {
    (!parts.is_empty()).then(|| Message::new(role, parts))
}

/// Messages that are nested no deeper than any may be.
pub(in crate::formats) fn checked<'m>(
    messages: impl IntoIterator<Item = &'m Message>,
) -> Result<(), String> {
    let mut messages = messages.into_iter();
    let checked = messages.try_for_each(depth::check_message);
    checked.map_err(|error| error.to_string())
}

/// A tool, as a provider is offered it.
pub(in crate::formats) fn tool(name: &str, description: Option<&str>, schema: &str) -> String {
    let function = Object::new()
        .string("name", name)
        .optional("description", description)
        .raw("parameters", &tight(schema));
    let framed = Object::typed("function");
    framed.raw("function", &function.finish()).finish()
}

/// What was counted, by the names of both counts.
pub(in crate::formats) fn usage(raw: Raw<'_>, names: &'static [&'static str; 2]) -> Option<Usage> {
    let mut record = Deserializer::from_str(raw?.get());
    let [input, output] = members(&mut record, "Usage", names).ok()?;
    Some(Usage::new(decode(input)?, decode(output)?))
}

/// Where a usage record has its counts: the paths of each, of which the first counts that is there and is not 0.
#[derive(Default)]
pub(in crate::formats) struct CountPaths {
    /// All input, whatever a cache had of it.
    pub(in crate::formats) input: &'static [&'static str],
    pub(in crate::formats) output: &'static [&'static str],
    /// What of the input was read from a cache.
    pub(in crate::formats) cached: &'static [&'static str],
    /// What of it was written to one, for minutes.
    pub(in crate::formats) written: &'static [&'static str],
    /// The same, for an hour.
    pub(in crate::formats) written_hour: &'static [&'static str],
    /// What of the output was reasoning.
    pub(in crate::formats) reasoning: &'static [&'static str],
}

/// What was counted, whatever else stands in the record; none where that is nothing at all.
pub(in crate::formats) fn counts(raw: Raw<'_>, paths: &CountPaths) -> Option<Usage> {
    let mut numbers = Numbers::of(&decode(raw)?);
    let mut count = |paths: &[&str]| numbers.first(paths).unwrap_or(0);
    let (input, output) = (count(paths.input), count(paths.output));
    let (written, hour) = (count(paths.written), count(paths.written_hour));
    let usage = Usage {
        written_hour_tokens: hour,
        ..Usage::new(input, output)
            .cached(count(paths.cached), written.saturating_add(hour))
            .reasoned(count(paths.reasoning))
    };
    (usage != Usage::default()).then_some(usage)
}

/// A time as ISO 8601 has it.
pub(in crate::formats) fn time(raw: Raw<'_>) -> Option<Millis> {
    word(raw).and_then(|time| Millis::parse(&time))
}

/// A time in seconds.
pub(in crate::formats) fn seconds(raw: Raw<'_>) -> Option<Millis> {
    let seconds: f64 = decode(raw)?;
    Some(Millis((seconds * 1000.0) as i64))
}
