//! One request or response: the messages that it is.

use serde_json::Value;
use serde_json::value::RawValue;

use super::{HIDDEN, PROVIDER};
use crate::formats::shared::parts::{self, checked, said, sealed, standard_base64, text, time};
use crate::model::{MediaSource, Message, Millis, Part, Role, Usage, UsageDetail, UsageRecord};
use crate::wire::json::{Object, Raw, array, decode, string, text_at, text_or_json, tight, word};
use crate::wire::usage::Numbers;
use crate::wire::{Notes, anthropic, gemini, media, openai};

lazy! {
    /// What of a record is looked at.
    struct Record { kind, parts, timestamp, instructions, usage, model_name, state }

    struct Piece {
        part_kind, kind, content, tool_name, tool_call_id, args, outcome, signature, id, provider_name, transcript,
        url, data, media_type, file_id, provider_details, retry,
    }

    struct Details { thought_signature }

    struct Retry { cause }

    struct Fault { kind = "type", loc, msg, input }
}

/// What stands before the words that are told a model of a reply which could not be used.
const FEEDBACK: &str = "Your previous response failed the application's validation (this is automated feedback, not a \
    message from the user):";
/// What a model may be asked for instead of a reply that says nothing.
const INSTEAD: [&str; 4] = [
    "return text",
    "include your response in a tool call",
    "call a tool",
    "return an image",
];

/// What a record says.
#[derive(Default)]
pub(super) struct Said {
    /// The messages. Those of a request that are instructions at its beginning are so many.
    pub(super) messages: Vec<Message>,
    pub(super) leading: usize,
    pub(super) is_request: bool,
    /// Whether it brings nothing but what tools gave.
    pub(super) is_results: bool,
    /// The instructions that are sent with it.
    pub(super) instructions: Option<String>,
    /// Parts that are sent to no model, by their kinds.
    pub(super) left_out: Vec<String>,
    pub(super) time: Option<Millis>,
    pub(super) model: Option<String>,
    pub(super) usage: Option<UsageRecord>,
}

/// Reads a record.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let is_request = match word(record.kind).as_deref() {
        Some("request") => true,
        Some("response") => false,
        kind => return Err(format!("unknown kind '{}'", kind.unwrap_or_default())),
    };
    let mut building = Building::default();
    let pieces: Vec<&RawValue> = decode(record.parts).unwrap_or_default();
    let mut found = Notes::default();
    for raw in pieces {
        let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
        if is_request {
            building.given(raw, &piece, &mut found);
        } else {
            building.said(raw, &piece, &mut found);
        }
    }
    let Building {
        mut messages,
        left_out,
    } = building;
    let is_cut = word(record.state).as_deref() == Some("interrupted");
    if let Some(last) = messages.last_mut().filter(|_| is_cut && !is_request) {
        last.interrupted = true;
    }
    checked(&messages)?;
    notes.merge(found);
    let of_system = messages.iter().take_while(|it| it.role.is_system());
    Ok(Said {
        leading: of_system.count(),
        is_request,
        is_results: messages.iter().all(|message| message.role == Role::Tool),
        instructions: said(record.instructions),
        left_out,
        time: time(record.timestamp),
        model: said(record.model_name).filter(|_| !is_request),
        usage: usage(record.usage).filter(|_| !is_request),
        messages,
    })
}

/// The messages of a record, as its parts make them.
#[derive(Default)]
struct Building {
    messages: Vec<Message>,
    left_out: Vec<String>,
}

impl Building {
    /// Puts parts into the last message, where it is of the same role and may be several parts.
    fn add(&mut self, role: Role, more: Vec<Part>) {
        match self.messages.last_mut() {
            Some(last) if last.role == role && [Role::Tool, Role::Assistant].contains(&role) => {
                last.parts.extend(more);
            }
            _ => self.messages.extend(parts::message(role, more)),
        }
    }

    /// A part of a request.
    fn given(&mut self, raw: &RawValue, piece: &Piece<'_>, notes: &mut Notes) {
        let kind = string(piece.part_kind).unwrap_or_default();
        let has_tool = piece.tool_name.is_some();
        match kind.as_str() {
            "system-prompt" | "instruction" => {
                self.add(Role::System, Vec::from_iter(text(piece.content)))
            }
            "tool-return" => {
                let outcome = word(piece.outcome);
                let is_error = matches!(outcome.as_deref(), Some("retried" | "failed"));
                self.add(Role::Tool, vec![result(piece, is_error, notes)]);
            }
            "retry-prompt" if has_tool => self.add(Role::Tool, vec![result(piece, true, notes)]),
            "retry-prompt" | "retry-feedback" => {
                if let Some((role, words)) = feedback(piece) {
                    self.add(role, vec![Part::text(words)]);
                }
            }
            "user-prompt" => self.add(Role::User, content(piece.content, notes)),
            // What an instruction is from here on; none: it holds no more.
            "instruction-delta" if piece.content.is_some() => {
                self.add(Role::System, Vec::from_iter(text(piece.content)));
            }
            _ if ["instruction-", "model-", "capability-", "tool-avail"]
                .iter()
                .any(|it| kind.starts_with(it)) =>
            {
                self.left_out.push(kind);
            }
            _ => self.add(Role::User, vec![unknown(raw, &kind, notes)]),
        }
    }

    /// A part of a response.
    fn said(&mut self, raw: &RawValue, piece: &Piece<'_>, notes: &mut Notes) {
        let kind = string(piece.part_kind).unwrap_or_default();
        let part = match kind.as_str() {
            "text" => text(piece.content),
            "speech" => text(piece.transcript),
            "thinking" => thought(piece),
            "tool-call" | "builtin-tool-call" => {
                let (id, name) = (string(piece.tool_call_id), string(piece.tool_name));
                Some(parts::call(id, name, text_or_json(piece.args)))
            }
            // The provider ran it, and the reply goes on behind it.
            "builtin-tool-return" => {
                return self.add(Role::Tool, vec![result(piece, false, notes)]);
            }
            "file" => {
                let file: Option<&RawValue> = piece.content;
                file.and_then(|raw| medium(&decode(Some(raw)).unwrap_or_default()))
            }
            _ => Some(unknown(raw, &kind, notes)),
        };
        let details: Details<'_> = decode(piece.provider_details).unwrap_or_default();
        let seal = said(details.thought_signature).map(parts::seal);
        self.add(Role::Assistant, seal.into_iter().chain(part).collect());
    }
}

/// What a model is told of a reply that could not be used, and as whose words, as version 2 of the framework sends it. Older
/// records are sent so, too.
fn feedback(piece: &Piece<'_>) -> Option<(Role, String)> {
    let faults: Option<Vec<&RawValue>> = decode(piece.content);
    let retry: Retry<'_> = decode(piece.retry).unwrap_or_default();
    let is_of_faults = match word(retry.cause).as_deref() {
        Some("no_output") => {
            let words = text_or_json(piece.content).filter(|words| is_asked_for(words));
            if let Some(words) = words {
                return Some((Role::System, words));
            }
            false
        }
        Some(cause) => cause == "validation_error",
        None => faults.is_some(),
    };
    let words = faults.map_or_else(|| text_or_json(piece.content), |it| Some(told(&it)))?;
    let tag = if is_of_faults {
        "pyai:validation_errors"
    } else {
        "pyai:retry_feedback"
    };
    let words = format!("{FEEDBACK}\n<{tag}>\n{words}\n</{tag}>");
    Some((Role::User, words))
}

/// Whether these are the framework's own words for a reply that says nothing.
fn is_asked_for(words: &str) -> bool {
    let asked = words.strip_prefix("Please ");
    let asked = asked.and_then(|words| words.strip_suffix('.'));
    asked.is_some_and(|words| words.split(" or ").all(|one| INSTEAD.contains(&one)))
}

/// Faults as they are sent: what the model gave as a whole once, and nothing of the validator's own.
fn told(faults: &[&RawValue]) -> String {
    let mut whole: Option<String> = None;
    let told = faults.iter().map(|raw| {
        let fault: Fault<'_> = decode(Some(*raw)).unwrap_or_default();
        let place: Vec<&RawValue> = decode(fault.loc).unwrap_or_default();
        let mut input = fault.input.map(|raw| tight(raw.get()));
        if place.len() <= 1 {
            match &whole {
                Some(whole) => input = input.filter(|input| input != whole),
                None => whole = Some(input.clone().unwrap_or_default()),
            }
        }
        let members = [("type", fault.kind), ("loc", fault.loc), ("msg", fault.msg)];
        let members = members
            .into_iter()
            .filter_map(|(key, raw)| Some((key, tight(raw?.get()))));
        let members = members.chain(input.map(|input| ("input", input)));
        let put = |object: Object, (key, raw): (&str, String)| object.raw(key, &raw);
        members.fold(Object::new(), put).finish()
    });
    array(told)
}

/// Whether a block is one of the framework's own, which goes by such a kind.
pub(super) fn is_own(provider: &str, data: &str, kind: &str) -> bool {
    provider == PROVIDER && text_at(data, kind).is_some()
}

fn unknown(raw: &RawValue, kind: &str, notes: &mut Notes) -> Part {
    parts::opaque(PROVIDER, kind, parts::object(raw.get()), notes)
}

/// What a call gave: a text, JSON, or what of it is pictures and files.
fn result(piece: &Piece<'_>, is_error: bool, notes: &mut Notes) -> Part {
    let id = string(piece.tool_call_id);
    let items: Vec<&RawValue> = decode(piece.content).unwrap_or_default();
    let media = |raw: &RawValue| medium(&decode(Some(raw)).unwrap_or_default());
    let alone = piece.content.and_then(media);
    let content = if items.iter().any(|item| media(item).is_some()) {
        let (media, others): (Vec<&RawValue>, Vec<&RawValue>) =
            items.into_iter().partition(|item| media(item).is_some());
        if others.iter().all(|item| item.get().starts_with('"')) {
            content(piece.content, notes)
        } else {
            let mut found = vec![Part::text(list(&others).get())];
            found.extend(content(Some(&list(&media)), notes));
            found
        }
    } else if let Some(alone) = alone {
        vec![alone]
    } else {
        text_or_json(piece.content)
            .map(Part::text)
            .into_iter()
            .collect()
    };
    parts::result(id, content, is_error)
}

/// These values as a list.
fn list(items: &[&RawValue]) -> Box<RawValue> {
    let text = array(items.iter().map(|item| tight(item.get())));
    RawValue::from_string(text).expect("a list of JSON is JSON")
}

/// What a user has said: a text, or texts, pictures and files.
fn content(raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let Some(items) = decode::<Vec<&RawValue>>(raw) else {
        return Vec::from_iter(text(raw));
    };
    let part = |raw: &RawValue| {
        if raw.get().starts_with('"') {
            return text(Some(raw));
        }
        let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
        let kind = string(piece.kind).unwrap_or_default();
        match kind.as_str() {
            "text-content" | "structured-content" => text(piece.content),
            // Where a provider's cache is to end: of the request, not of the message.
            "cache-point" => None,
            _ => medium(&piece).or_else(|| Some(unknown(raw, &kind, notes))),
        }
    };
    items.into_iter().filter_map(part).collect()
}

/// A picture or a file; none of anything else.
fn medium(piece: &Piece<'_>) -> Option<Part> {
    let kind = string(piece.kind)?;
    let media_type = said(piece.media_type);
    let source = match kind.as_str() {
        "binary" => MediaSource::Base64(standard_base64(&string(piece.data)?)),
        "uploaded-file" => MediaSource::FileId(said(piece.file_id)?),
        "image-url" | "audio-url" | "video-url" | "document-url" => {
            let part = media::attachment(said(piece.url)?, media_type, None);
            let is_picture = kind == "image-url";
            return Some(if is_picture {
                parts::picture(part)
            } else {
                part
            });
        }
        _ => return None,
    };
    Some(Part::media(parts::media(source, media_type, None)))
}

/// What a model thought, with what its provider needs to accept it back.
fn thought(piece: &Piece<'_>) -> Option<Part> {
    let words = string(piece.content).unwrap_or_default();
    let signature = said(piece.signature);
    let provider = string(piece.provider_name);
    let provider = match provider.as_deref() {
        Some(name) if name.starts_with("google") => Some(gemini::PROVIDER),
        Some(name) if name.starts_with("openai") || name.starts_with("azure") => {
            Some(openai::PROVIDER)
        }
        other => other,
    };
    let is_hidden = word(piece.id).as_deref() == Some(HIDDEN);
    match (signature, provider) {
        (Some(data), Some(anthropic::PROVIDER)) if is_hidden => Some(parts::redacted(&data)),
        (Some(signature), Some(of)) => Some(sealed(words, Some(signature), of)),
        // Whose the seal is is not said.
        (Some(signature), None) => Some(Part::thinking(words, Some(signature), None)),
        (None, _) => (!words.is_empty()).then(|| parts::thought(words)),
    }
}

/// A usage record: of the input what a cache had is part, of the output the reasoning.
fn usage(raw: Raw<'_>) -> Option<UsageRecord> {
    let record: Value = decode(raw)?;
    let mut numbers = Numbers::of(&record);
    let mut take = |names: &[&str]| numbers.first(names).unwrap_or_default();
    let [input, output] = [
        ["input_tokens", "request_tokens"],
        ["output_tokens", "response_tokens"],
    ]
    .map(|it| take(&it));
    let [cached, written, hour, reasoning] = [
        ["cache_read_tokens", "details.cached_tokens"],
        ["cache_write_tokens", "details.cache_creation_input_tokens"],
        ["cache_write_1h_tokens", "details.ephemeral_1h_input_tokens"],
        ["output_reasoning_tokens", "details.reasoning_tokens"],
    ]
    .map(|it| take(&it));
    let usage = Usage {
        written_hour_tokens: hour,
        ..Usage::new(input, output)
            .cached(cached, written)
            .reasoned(reasoning)
    };
    // What both say is said once; totals are sums.
    numbers.drop(&[
        "requests",
        "total_tokens",
        "details.cached_tokens",
        "details.cache_creation_input_tokens",
        "details.input_tokens",
        "details.output_tokens",
        "details.cache_read_input_tokens",
        "details.ephemeral_1h_input_tokens",
        "details.reasoning_tokens",
    ]);
    let mut detail = UsageDetail::default();
    numbers.rest(&mut detail, |path| {
        path.strip_prefix("details.").map(str::to_owned)
    });
    (usage != Usage::default()).then_some(UsageRecord { usage, detail })
}
