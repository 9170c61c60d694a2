//! One event: what was said, and what it does to those before it.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::formats::shared::parts::{self, checked, said, seconds, standard_base64};
use crate::model::{MediaSource, Message, Millis, Part, Role, Usage};
use crate::wire::json::{Object, Raw, decode, is_true, string, tight, word};
use crate::wire::{Notes, gemini};

lazy! {
    struct Record {
        invocation_id, author, content, timestamp, usage_metadata, model_version, actions, partial, error_message,
        interrupted, long_running_tool_ids,
    }

    struct Content { role, parts }

    struct Actions { rewind = "rewind_before_invocation_id", compaction }

    struct Compacted { start_timestamp, end_timestamp, compacted_content }

    struct Piece {
        text, thought, thought_signature, function_call, function_response, inline_data, file_data, executable_code,
        code_execution_result,
    }

    struct Function { id, name, args, response, parts }

    struct Medium { mime_type, data, file_uri, display_name }

    struct Counts {
        prompt = "prompt_token_count", candidates = "candidates_token_count", cached = "cached_content_token_count",
        thoughts = "thoughts_token_count", tools = "tool_use_prompt_token_count",
    }
}

/// What an event is.
pub(super) enum Meaning {
    Messages(Vec<Message>),
    /// All from this invocation on is sent no more.
    Rewind(String),
    /// These stand in place of what was said between two times.
    Summary([Millis; 2], Vec<Message>),
    /// Nothing that is sent: what it is instead.
    Nothing(&'static str),
}

/// An event.
pub(super) struct Event {
    pub(super) meaning: Meaning,
    pub(super) invocation: Option<String>,
    pub(super) time: Option<Millis>,
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    /// Calls whose answers come when they come.
    pub(super) lasting: BTreeSet<String>,
}

/// Reads an event.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Event, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("an event: {error}"))?;
    let actions: Actions<'_> = decode(record.actions).unwrap_or_default();
    let mut found = Notes::default();
    let is_user = word(record.author).as_deref() == Some("user");
    let meaning = if let Some(invocation) = said(actions.rewind) {
        Meaning::Rewind(invocation)
    } else if let Some(compaction) = actions.compaction {
        let of: Compacted<'_> = decode(Some(compaction)).unwrap_or_default();
        let times = seconds(of.start_timestamp).zip(seconds(of.end_timestamp));
        let messages = messages(of.compacted_content, false, &mut found)?;
        match times {
            Some((start, end)) if !messages.is_empty() => Meaning::Summary([start, end], messages),
            _ => Meaning::Nothing("compaction"),
        }
    } else if is_true(record.partial) {
        Meaning::Nothing("partial event")
    } else {
        let mut messages = messages(record.content, is_user, &mut found)?;
        if let Some(last) = messages.last_mut().filter(|it| it.role == Role::Assistant) {
            last.interrupted = is_true(record.interrupted);
        }
        match messages.is_empty() {
            true if record.error_message.is_some() => Meaning::Nothing("error"),
            true => Meaning::Nothing("event without content"),
            false => Meaning::Messages(messages),
        }
    };
    notes.merge(found);
    Ok(Event {
        meaning,
        invocation: said(record.invocation_id),
        time: seconds(record.timestamp),
        model: said(record.model_version),
        usage: usage(record.usage_metadata),
        lasting: decode(record.long_running_tool_ids).unwrap_or_default(),
    })
}

/// What a content says: results as the tools', the rest as whose it is.
fn messages(raw: Raw<'_>, is_user: bool, notes: &mut Notes) -> Result<Vec<Message>, String> {
    let content: Content<'_> = decode(raw).unwrap_or_default();
    let role = match word(content.role).as_deref() {
        Some("user") => Role::User,
        Some("model") => Role::Assistant,
        None if is_user => Role::User,
        None => Role::Assistant,
        Some(other) => return Err(format!("unknown role '{other}'")),
    };
    let pieces: Vec<&RawValue> = decode(content.parts).unwrap_or_default();
    let parts = pieces.into_iter().flat_map(|raw| sealed(raw, notes));
    let (results, others): (Vec<Part>, Vec<Part>) = parts.partition(Part::is_result);
    let both = [(Role::Tool, results), (role, others)];
    let messages = both
        .into_iter()
        .filter_map(|(role, parts)| parts::message(role, parts));
    let messages: Vec<Message> = messages.collect();
    checked(&messages)?;
    Ok(messages)
}

/// A part, behind the signature that it came with.
fn sealed(raw: &RawValue, notes: &mut Notes) -> Vec<Part> {
    let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
    let is_thought = is_true(piece.thought);
    let seal = said(piece.thought_signature).filter(|_| !is_thought);
    // The bytes of a signature are written as those of files are.
    let seal = seal.map(|seal| parts::seal(standard_base64(&seal)));
    seal.into_iter().chain(part(raw, notes)).collect()
}

fn part(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
    if let Some(call) = decode::<Function<'_>>(piece.function_call) {
        let arguments = call.args.map(|raw| tight(raw.get()));
        let name = string(call.name);
        let id = said(call.id).or_else(|| name.clone());
        return Some(parts::call(id, name, arguments));
    }
    if let Some(given) = decode::<Function<'_>>(piece.function_response) {
        let id = said(given.id).or_else(|| said(given.name));
        let mut content: Vec<Part> = given
            .response
            .map(|raw| Part::text(tight(raw.get())))
            .into_iter()
            .collect();
        let media: Vec<&RawValue> = decode(given.parts).unwrap_or_default();
        content.extend(media.into_iter().filter_map(|raw| part(raw, notes)));
        return Some(parts::result(id, content, has_failed(given.response)));
    }
    if let Some(medium) = decode::<Medium<'_>>(piece.inline_data.or(piece.file_data)) {
        let data = string(medium.data).map(|data| MediaSource::Base64(standard_base64(&data)));
        let source = data.or_else(|| said(medium.file_uri).map(MediaSource::Url))?;
        return Some(Part::media(parts::media(
            source,
            said(medium.mime_type),
            said(medium.display_name),
        )));
    }
    let hosted = [
        ("executableCode", piece.executable_code),
        ("codeExecutionResult", piece.code_execution_result),
    ];
    if let Some((key, raw)) = hosted.into_iter().find_map(|(key, raw)| Some((key, raw?))) {
        let block = Object::new().raw(key, &tight(raw.get())).finish();
        return Some(parts::opaque(gemini::PROVIDER, key, block, notes));
    }
    let text = said(piece.text)?;
    Some(if is_true(piece.thought) {
        let seal = said(piece.thought_signature).map(|seal| standard_base64(&seal));
        parts::sealed(text, seal, gemini::PROVIDER)
    } else {
        Part::text(text)
    })
}

/// Whether a tool says that it failed: by an error and nothing else.
fn has_failed(response: Raw<'_>) -> bool {
    let members: Option<serde_json::Map<_, _>> = decode(response);
    members.is_some_and(|members| members.len() == 1 && members.contains_key("error"))
}

/// What was counted: what tools add to the prompt, and what the model thought, are beside the rest.
fn usage(raw: Raw<'_>) -> Option<Usage> {
    let counts: Counts<'_> = decode(raw)?;
    let number = |raw: Raw<'_>| decode::<u64>(raw).unwrap_or_default();
    let [prompt, tools, cached] = [counts.prompt, counts.tools, counts.cached].map(number);
    let [reply, thoughts] = [counts.candidates, counts.thoughts].map(number);
    let new = prompt.saturating_add(tools).saturating_sub(cached);
    Usage::apart([new, cached, 0], [reply, thoughts])
}
