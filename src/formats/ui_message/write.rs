//! The exporter: messages as a program keeps them, a run of the model in each.
//!
//! What a reply says, its calls and what they gave are parts of one message, with a mark where each request begins.
//! What was counted for each request stands in the message's metadata, which are the program's own.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::message;
use super::part;
use super::read::Chat;
use crate::error::Result;
use crate::formats::shared::chat::write::write_all;
use crate::formats::shared::document::Document as _;
use crate::formats::shared::histories::write::{Run, begin_with, framed, runs};
use crate::formats::shared::remarks::{FOREIGN, Remarks};
use crate::formats::shared::seals;
use crate::formats::shared::writers::{arguments, texts};
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, Usage};
use crate::wire::json::{Object, array, quoted, tight};
use crate::wire::{Notes, gemini};

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let document = export.document;
    let mut remarks = Remarks::of(document);
    let mut records = Vec::new();
    let (system, first, messages) = match export.messages {
        [first, rest @ ..] if instructions(first).is_some() => (instructions(first), 1, rest),
        all => (None, 0, all),
    };
    for run in runs(messages, kept) {
        match run {
            Run::Kept(record) => records.push(record),
            Run::Anew(at, messages) => {
                let mut writing = Writing::default();
                for (number, outgoing) in (first + at..).zip(messages) {
                    writing.take(number, outgoing, &mut remarks);
                }
                records.extend(writing.finish(document));
            }
        }
    }
    let source = document.source.as_deref();
    let text = framed(&records, Chat::RECORDS, source, system);
    write_all(export.out, &text)?;
    Ok(remarks.into_words())
}

/// The text, as JSON, of instructions that stand beside the messages.
fn instructions(first: &Outgoing) -> Option<&str> {
    match &first.records[..] {
        [record] if record.starts_with('"') && first.message.role == Role::System => Some(record),
        _ => None,
    }
}

/// How many messages a record still says, and the record.
fn kept(record: &str, messages: &[Outgoing]) -> Option<(usize, String)> {
    let raw: &RawValue = serde_json::from_str(record).ok()?;
    let said = message::read(raw, &mut Notes::default()).ok()?.messages;
    let is_said = begin_with(messages, record, said.iter().map(|(message, _)| message));
    is_said.then(|| (said.len(), record.to_owned()))
}

/// Messages in the making.
#[derive(Default)]
struct Writing {
    done: Vec<UiMessage>,
    /// Where the newest call of each id stands: its message, and its part.
    calls: HashMap<String, (usize, usize)>,
    /// Which of them was answered last.
    answered: Option<(usize, usize)>,
}

struct UiMessage {
    number: usize,
    role: Role,
    time: Option<Millis>,
    parts: Vec<Piece>,
    /// The requests behind it.
    steps: Vec<Step>,
}

struct Step {
    time: Option<Millis>,
    model: Option<String>,
    usage: Option<Usage>,
}

enum Piece {
    Written(String),
    Call {
        id: String,
        name: String,
        /// As JSON.
        input: String,
        /// What its provider needs to accept it back, as JSON.
        seal: Option<String>,
        result: Option<Given>,
    },
}

/// What a call gave: JSON, or what went wrong.
enum Given {
    Output(String),
    Error(String),
}

impl Writing {
    fn take(&mut self, number: usize, outgoing: &Outgoing, remarks: &mut Remarks) {
        let message = &outgoing.message;
        if message.name.is_some() {
            remarks.add("the name of a speaker");
        }
        match message.role {
            Role::Assistant => self.reply(number, outgoing, remarks),
            Role::System | Role::Developer => {
                if message.role == Role::Developer {
                    remarks.say("a developer's message is a system message");
                }
                let count = message.parts.len();
                if message.parts.iter().filter_map(Part::as_text).count() < count {
                    remarks.add("a part of instructions that is no text");
                }
                let text = Object::typed("text").string("text", &texts(&message.parts, ""));
                self.add(number, Role::System, outgoing.time, vec![text.finish()]);
            }
            Role::User | Role::Tool => {
                let (results, said): (Vec<&Part>, Vec<&Part>) =
                    message.parts.iter().partition(|part| part.is_result());
                for result in results {
                    self.answer(result, remarks);
                }
                let said: Vec<String> = said
                    .into_iter()
                    .filter_map(|part| written(part, None, None, remarks))
                    .collect();
                if !said.is_empty() {
                    if message.role == Role::Tool {
                        remarks.say("what stands beside a tool's results is a user message");
                    }
                    self.add(number, Role::User, outgoing.time, said);
                }
            }
        }
    }

    fn add(&mut self, number: usize, role: Role, time: Option<Millis>, parts: Vec<String>) {
        self.done.push(UiMessage {
            number,
            role,
            time,
            parts: parts.into_iter().map(Piece::Written).collect(),
            steps: Vec::new(),
        });
    }

    /// Adds a reply to the run that it belongs to.
    fn reply(&mut self, number: usize, outgoing: &Outgoing, remarks: &mut Remarks) {
        let message = &outgoing.message;
        if self
            .done
            .last()
            .is_none_or(|last| last.role != Role::Assistant)
        {
            self.add(number, Role::Assistant, outgoing.time, Vec::new());
        }
        let at = self.done.len() - 1;
        let run = &mut self.done[at];
        run.steps.push(Step {
            time: outgoing.time,
            model: outgoing.model(),
            usage: outgoing.usage,
        });
        let begins = Object::typed("step-start").finish();
        run.parts.push(Piece::Written(begins));
        let is_cut = cut(message, remarks);
        // The signature that the next part came with.
        let mut seal = None;
        for (index, part) in message.parts.iter().enumerate() {
            if let Some(of_next) = seals::of_next(part, message.parts.get(index + 1)) {
                seal = Some(of_next);
                continue;
            }
            let seal = seals::beside(seal.take(), Some(gemini::PROVIDER));
            let Part::ToolCall {
                id,
                name,
                arguments: given,
                kind,
            } = part
            else {
                let state = if is_cut == Some(index) {
                    "streaming"
                } else {
                    "done"
                };
                let piece = written(part, Some(state), seal.as_deref(), remarks);
                run.parts.extend(piece.map(Piece::Written));
                continue;
            };
            if kind.is_some() {
                remarks.add("the kind of a call that is no function's");
            }
            let input = arguments(given);
            if input == *given && tight(given) != *given {
                remarks.add("white space in the arguments of a call");
            }
            self.calls.insert(id.clone(), (at, run.parts.len()));
            run.parts.push(Piece::Call {
                id: id.clone(),
                name: name.clone(),
                input,
                seal,
                result: None,
            });
        }
    }

    /// Puts a result to its call.
    fn answer(&mut self, part: &Part, remarks: &mut Remarks) {
        let Some((call, content, is_error)) = part.as_result() else {
            return;
        };
        let place = self.calls.remove(call);
        let Some((message, part)) = place else {
            return remarks.add("a tool result without its call");
        };
        if self.answered.replace((message, part)) > Some((message, part)) {
            remarks.say("results stand in the order of their calls");
        }
        if message + 1 < self.done.len() {
            remarks.say("a result that came later stands with its call");
        }
        if let Piece::Call { result, .. } = &mut self.done[message].parts[part] {
            *result = Some(if is_error {
                if content.len() != 1 || content[0].as_text().is_none() {
                    remarks.say("what a failed call gave is one text");
                }
                Given::Error(texts(content, "\n"))
            } else {
                Given::Output(output(content, remarks))
            });
        }
    }

    fn finish(self, document: &Document) -> Vec<String> {
        self.done
            .into_iter()
            .map(|it| it.finish(document))
            .collect()
    }
}

/// Which part of a reply that was cut is marked as such: the last one, where it can be.
fn cut(message: &Message, remarks: &mut Remarks) -> Option<usize> {
    if !message.interrupted {
        return None;
    }
    let last = message.parts.last();
    let can_be = match last {
        Some(Part::Text { text }) => !text.is_empty(),
        Some(Part::Thinking { .. }) => true,
        _ => false,
    };
    if !can_be {
        remarks.add("the mark of a reply that was cut");
    }
    can_be.then(|| message.parts.len() - 1)
}

impl UiMessage {
    fn finish(self, document: &Document) -> String {
        let about = metadata(self.time, &self.steps);
        let parts = self.parts.into_iter().map(Piece::finish);
        let role = match self.role {
            Role::Tool => Role::User,
            role => role,
        };
        Object::new()
            .string("id", &document.new_id(self.number as u64))
            .string("role", role.as_str())
            .optional_raw("metadata", about.as_deref())
            .raw("parts", &array(parts))
            .finish()
    }
}

impl Piece {
    fn finish(self) -> String {
        let (id, name, input, seal, result) = match self {
            Self::Written(json) => return json,
            Self::Call {
                id,
                name,
                input,
                seal,
                result,
            } => (id, name, input, seal, result),
        };
        let state = match &result {
            None => "input-available",
            Some(Given::Output(_)) => "output-available",
            Some(Given::Error(_)) => "output-error",
        };
        let call = Object::typed("dynamic-tool")
            .string("toolName", &name)
            .string("toolCallId", &id)
            .string("state", state)
            .raw("input", &input)
            .optional_raw("callProviderMetadata", seal.as_deref());
        match result {
            None => call,
            Some(Given::Output(json)) => call.raw("output", &json),
            Some(Given::Error(text)) => call.string("errorText", &text),
        }
        .finish()
    }
}

/// When a message was made, and what was counted for each of its requests.
fn metadata(time: Option<Millis>, steps: &[Step]) -> Option<String> {
    let is_known =
        |step: &Step| step.model.is_some() || step.usage.is_some() || step.time.is_some();
    if time.is_none() && !steps.iter().any(is_known) {
        return None;
    }
    let moment = |object: Object, time: Option<Millis>| match time {
        Some(time) => object.string("createdAt", &time.to_iso()),
        None => object,
    };
    let mut about = moment(Object::new(), time);
    let model = steps.last().and_then(|step| step.model.as_deref());
    about = about.optional("model", model);
    let counted = steps.iter().filter_map(|step| step.usage);
    let total = counted.reduce(Usage::plus);
    if let Some(total) = total {
        about = about.raw("totalUsage", &usage(&total));
    }
    if steps.iter().any(is_known) {
        let step = |step: &Step| {
            let object = moment(Object::new(), step.time).optional("model", step.model.as_deref());
            let counted = step.usage.as_ref().map(usage);
            object.optional_raw("usage", counted.as_deref()).finish()
        };
        about = about.raw("steps", &array(steps.iter().map(step)));
    }
    Some(about.finish())
}

/// What was counted, by the names of the SDK.
fn usage(usage: &Usage) -> String {
    let hour = usage.written_hour_tokens;
    let mut of_input = Object::new()
        .number("noCacheTokens", usage.uncached_tokens())
        .number("cacheReadTokens", usage.cached_tokens)
        .number("cacheWriteTokens", usage.written_tokens);
    if hour > 0 {
        of_input = of_input.number(part::HOUR_TOKENS, hour);
    }
    let spoken = usage.output_tokens.saturating_sub(usage.reasoning_tokens);
    let of_output = Object::new()
        .number("textTokens", spoken)
        .number("reasoningTokens", usage.reasoning_tokens);
    let total = usage.input_tokens.saturating_add(usage.output_tokens);
    Object::new()
        .number("inputTokens", usage.input_tokens)
        .raw("inputTokenDetails", &of_input.finish())
        .number("outputTokens", usage.output_tokens)
        .raw("outputTokenDetails", &of_output.finish())
        .number("totalTokens", total)
        .finish()
}

/// A part that is no call; none of what the form cannot hold. The state is that of a reply's part, and the seal what its
/// provider needs to accept a text back.
fn written(
    part: &Part,
    state: Option<&str>,
    seal: Option<&str>,
    remarks: &mut Remarks,
) -> Option<String> {
    let piece = match part {
        Part::Text { text } if text.is_empty() => {
            remarks.add("an empty text");
            return None;
        }
        Part::Text { text } => Object::typed("text")
            .string("text", text)
            .optional("state", state)
            .optional_raw("providerMetadata", seal),
        Part::Thinking {
            text,
            signature,
            provider,
        } => {
            let seal = seals::beside(signature.as_deref(), provider.as_deref());
            if seal.is_none() && (signature.is_some() || provider.is_some()) {
                remarks.add("whose a thought is");
            }
            if text.is_empty() && seal.is_none() {
                remarks.add("an empty thought");
                return None;
            }
            Object::typed("reasoning")
                .string("text", text)
                .optional("state", state)
                .optional_raw("providerMetadata", seal.as_deref())
        }
        Part::Image(media) => return file(media, true, remarks),
        Part::File(media) => return file(media, false, remarks),
        Part::Opaque { provider, data } => {
            let own = part::opaque(provider, data);
            if own.is_none() {
                remarks.add(FOREIGN);
            }
            return own;
        }
        Part::ToolCall { .. } | Part::ToolResult { .. } => {
            remarks.add("a call that no reply makes");
            return None;
        }
    };
    Some(piece.finish())
}

fn file(media: &Media, is_picture: bool, remarks: &mut Remarks) -> Option<String> {
    let Some((media_type, url)) = part::address(media, is_picture) else {
        remarks.add("a file that only its provider has");
        return None;
    };
    if matches!(media.source, MediaSource::Base64(_)) && media.media_type.is_none() {
        remarks.say("a file of unknown type is given one");
    }
    let detail = media.detail.as_ref().map(|detail| {
        let of_openai = Object::new().string(part::DETAIL, detail).finish();
        Object::new().raw("openai", &of_openai).finish()
    });
    let file = Object::typed("file")
        .string("mediaType", &media_type)
        .string("url", &url)
        .optional("filename", media.name.as_deref())
        .optional_raw("providerMetadata", detail.as_deref());
    Some(file.finish())
}

/// What a call gave, as JSON: one text is a text; nothing is null; else blocks, as a tool gives them to a model.
fn output(content: &[Part], remarks: &mut Remarks) -> String {
    let blocks = match content {
        [] => return "null".to_owned(),
        [Part::Text { text }] => return quoted(text),
        blocks => blocks,
    };
    let blocks = blocks.iter().filter_map(|part| {
        let block = match part {
            Part::Text { text } => Object::typed("text").string("text", text),
            Part::Image(media) | Part::File(media) => match &media.source {
                MediaSource::Base64(data) => {
                    let media_type = media.media_type.as_deref();
                    if media.name.is_some() || media.detail.is_some() {
                        remarks.add("the name or detail of a file of a result");
                    }
                    if media_type.is_none() {
                        remarks.say("a file of a result has no type: it was written as one of any");
                    }
                    Object::typed("media")
                        .string("data", data)
                        .string("mediaType", media_type.unwrap_or(part::UNKNOWN_TYPE))
                }
                _ => {
                    remarks.add("a file of a result that stands elsewhere");
                    return None;
                }
            },
            _ => {
                remarks.add(FOREIGN);
                return None;
            }
        };
        Some(block.finish())
    });
    let blocks = array(blocks);
    Object::typed("content").raw("value", &blocks).finish()
}
