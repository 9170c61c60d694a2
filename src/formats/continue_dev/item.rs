//! One item of a history, and what items say together.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;

use super::{PROVIDER, SUMMARY};
use crate::formats::shared::parts::{self, opaque, picture, result, said, usage};
use crate::formats::shared::writers;
use crate::model::{Message, Part, Role, UsageRecord, depth};
use crate::wire::Notes;
use crate::wire::anthropic;
use crate::wire::json::{Raw, decode, string};
use crate::wire::media::attachment;
use crate::wire::openai;

/// What is said where a call was called off.
const CANCELED: &str = "The user cancelled this tool call.";

/// Who speaks in an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Reply,
    /// What was thought before the reply that follows.
    Thought,
    /// What a call gave back.
    Tool,
    /// Nobody whom the tool sends: a system prompt is made anew each time.
    #[default]
    Unsent,
}

/// An item, as far as it is read.
#[derive(Default)]
pub(super) struct Item {
    pub(super) speaker: Speaker,
    /// Its role, as it stands there.
    pub(super) role: String,
    parts: Vec<Part>,
    /// What its calls gave back.
    results: Vec<Part>,
    /// What stands in place of it and of all before it.
    summary: Option<Message>,
    pub(super) model: Option<String>,
    pub(super) usage: Option<UsageRecord>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Source<'a> {
    message: Said<'a>,
    context_items: Raw<'a>,
    tool_call_states: Raw<'a>,
    reasoning: Raw<'a>,
    prompt_logs: Raw<'a>,
    conversation_summary: Raw<'a>,
}

lazy! {
    struct Said {
        role, content, tool_calls = "toolCalls", tool_call_id = "toolCallId", signature,
        redacted_thinking = "redactedThinking", usage,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Call<'a> {
    id: Raw<'a>,
    function: Function<'a>,
}

lazy! { struct Function { name, arguments } }

lazy! {
    /// What was counted for a reply, as the command line tool has it, and which model was asked.
    struct Asked { model, prompt_tokens, cost_cents }
}

lazy! { struct State { tool_call_id = "toolCallId", status, output } }

/// What stands in a message's content, in its context or in an output.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Piece<'a> {
    r#type: Raw<'a>,
    text: Raw<'a>,
    content: Raw<'a>,
    image_url: Address<'a>,
}

lazy! { struct Address { url } }

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Log<'a> {
    model_title: Raw<'a>,
    completion_options: Options<'a>,
}

lazy! { struct Options { model } }

impl Item {
    /// Reads an item.
    pub(super) fn of(text: &str, notes: &mut Notes) -> Result<Self, String> {
        let source: Source<'_> =
            serde_json::from_str(text).map_err(|error| format!("an item: {error}"))?;
        let role = string(source.message.role).ok_or("an item without a role")?;
        let mut item = Self {
            speaker: match role.as_str() {
                "user" => Speaker::User,
                "assistant" => Speaker::Reply,
                "thinking" => Speaker::Thought,
                "tool" => Speaker::Tool,
                _ => Speaker::Unsent,
            },
            role,
            model: model(source.prompt_logs),
            usage: counted(source.message.usage),
            ..Self::default()
        };
        item.model = item
            .model
            .or_else(|| said(decode::<Asked<'_>>(source.message.usage)?.model));
        item.read(&source, notes);
        item.summary = item.summed(string(source.conversation_summary));
        for parts in [&item.parts, &item.results] {
            depth::check_parts(parts).map_err(|error| error.to_string())?;
        }
        Ok(item)
    }

    fn read(&mut self, source: &Source<'_>, notes: &mut Notes) {
        let message = &source.message;
        match self.speaker {
            Speaker::User => {
                let asked = content(message.content, notes);
                // Without a prompt it is not sent, whatever stands beside it.
                if !is_blank(message.content) {
                    self.parts.extend(context(source.context_items));
                    self.parts.extend(asked);
                }
            }
            Speaker::Reply => {
                self.parts.extend(reasoning(source.reasoning));
                if !is_blank(message.content) {
                    self.parts.extend(content(message.content, notes));
                }
                self.parts.extend(calls(message.tool_calls));
                let made = Message::new(Role::Assistant, self.parts.clone());
                let is_made = |call: &str| made.calls().any(|id| id == call);
                self.results
                    .extend(results(source.tool_call_states, is_made));
            }
            Speaker::Thought => self.parts.extend(thought(message, notes)),
            Speaker::Tool => {
                let call = string(message.tool_call_id);
                let content = content(message.content, notes);
                self.results.push(result(call, content, false));
            }
            Speaker::Unsent => {}
        }
    }

    /// The message for a summary: the command line tool says it as a reply, the editor behind its system
    /// prompt, and then does not send the item.
    fn summed(&self, summary: Option<String>) -> Option<Message> {
        let summary = summary.filter(|summary| !summary.is_empty())?;
        let reply = Message::text(Role::Assistant, summary.clone());
        Some(
            if self.speaker == Speaker::Reply && self.parts == reply.parts {
                reply
            } else {
                Message::text(Role::System, format!("{SUMMARY}{summary}"))
            },
        )
    }
}

/// What was counted for a reply: the editor has it by names of its own, the command line tool as OpenAI's API says it, with
/// what it takes the reply to have cost.
fn counted(raw: Raw<'_>) -> Option<UsageRecord> {
    let asked: Asked<'_> = decode(raw)?;
    if asked.prompt_tokens.is_none() {
        return Some(usage(raw, &["promptTokens", "completionTokens"])?.into());
    }
    let mut record = openai::usage_record(raw)?;
    let cents = decode::<Number>(asked.cost_cents).filter(|cents| cents.as_f64() != Some(0.0));
    let name = "cost_cents";
    record.detail.counts.remove(name);
    let amounts = &mut record.detail.amounts;
    amounts.extend(cents.map(|cents| (name.to_owned(), cents.to_string())));
    Some(record)
}

/// What items say, in their order.
pub(super) enum Told {
    /// A message, and which items say it.
    Message(Message, Range<usize>),
    /// What stands in place of all before it.
    Summary(Message, Range<usize>),
}

impl Told {
    pub(super) fn message(&self) -> &Message {
        match self {
            Self::Message(message, _) | Self::Summary(message, _) => message,
        }
    }
}

/// What items say one after the other.
pub(super) fn told(items: &[Item]) -> Vec<Told> {
    let mut found = Vec::new();
    let mut thought: Option<(Vec<Part>, usize)> = None;
    let mut answered: HashSet<&str> = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        match item.speaker {
            Speaker::Unsent => {}
            Speaker::Thought => {
                let (parts, _) = thought.get_or_insert_with(|| (Vec::new(), at));
                parts.extend(item.parts.iter().cloned());
            }
            Speaker::User => {
                found.extend(reply(thought.take(), &[], at));
                if !item.parts.is_empty() {
                    let message = Message::new(Role::User, item.parts.clone());
                    found.push(Told::Message(message, at..at + 1));
                }
            }
            // What a summary says is that alone.
            Speaker::Reply if item.is_summary() => found.extend(reply(thought.take(), &[], at)),
            Speaker::Reply => {
                let begins = thought.as_ref().map_or(at, |(_, begins)| *begins);
                found.extend(reply(thought.take(), &item.parts, at + 1));
                answered = item.results.iter().filter_map(call).collect();
                if !item.results.is_empty() {
                    let message = Message::new(Role::Tool, item.results.clone());
                    found.push(Told::Message(message, begins..at + 1));
                }
            }
            Speaker::Tool => {
                found.extend(reply(thought.take(), &[], at));
                let new = item.results.iter().filter(|part| {
                    let call = call(part);
                    call.is_none_or(|call| !answered.contains(call))
                });
                let new: Vec<Part> = new.cloned().collect();
                if !new.is_empty() {
                    found.push(Told::Message(Message::new(Role::Tool, new), at..at + 1));
                }
            }
        }
        if let Some(summary) = &item.summary {
            found.extend(reply(thought.take(), &[], at));
            found.push(Told::Summary(summary.clone(), at..at + 1));
        }
    }
    found.extend(reply(thought.take(), &[], items.len()));
    found
}

impl Item {
    /// Whether all that it says is a summary.
    fn is_summary(&self) -> bool {
        self.summary
            .as_ref()
            .is_some_and(|summary| summary.role == Role::Assistant)
    }
}

/// A reply, with what was thought before it, by the items up to one.
fn reply(thought: Option<(Vec<Part>, usize)>, said: &[Part], end: usize) -> Option<Told> {
    let (mut parts, begins) = thought.unwrap_or((Vec::new(), end.saturating_sub(1)));
    parts.extend_from_slice(said);
    let message = Message::new(Role::Assistant, parts);
    (!message.parts.is_empty()).then_some(Told::Message(message, begins..end))
}

/// The call that a result answers.
fn call(part: &Part) -> Option<&str> {
    part.as_result().map(|(call, ..)| call)
}

/// Whether a content is a text of nothing but white space.
fn is_blank(content: Raw<'_>) -> bool {
    string(content).is_none_or(|text| text.trim().is_empty())
        && !content.is_some_and(|content| content.get().starts_with('['))
}

fn content(content: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    if let Some(text) = string(content) {
        return vec![Part::text(text)];
    }
    let pieces = decode::<Vec<&RawValue>>(content).unwrap_or_default();
    let pieces = pieces.into_iter().map(|raw| {
        let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
        let (kind, text) = (string(piece.r#type), string(piece.text));
        match (kind.as_deref(), text, string(piece.image_url.url)) {
            (Some("text"), Some(text), _) => Part::Text { text },
            (Some("imageUrl"), _, Some(url)) => picture(attachment(url, None, None)),
            (kind, ..) => {
                let data = raw.get().to_owned();
                opaque(PROVIDER, kind.unwrap_or("(no type)"), data, notes)
            }
        }
    });
    pieces.collect()
}

/// What the editor puts before a prompt.
fn context(items: Raw<'_>) -> Vec<Part> {
    let texts = contents(items).into_iter().map(|text| text + "\n");
    let texts = texts.filter(|text| !text.trim().is_empty());
    texts.map(|text| Part::Text { text }).collect()
}

/// The contents of context items.
fn contents(items: Raw<'_>) -> Vec<String> {
    each::<Piece<'_>>(items)
        .filter_map(|item| string(item.content))
        .collect()
}

/// What a model thought within its reply.
fn reasoning(raw: Raw<'_>) -> Option<Part> {
    said(decode::<Piece<'_>>(raw)?.text).map(parts::thought)
}

/// What was thought before a reply; only Anthropic's models seal it.
fn thought(message: &Said<'_>, notes: &mut Notes) -> Vec<Part> {
    if let Some(data) = said(message.redacted_thinking) {
        notes.opaque("redacted_thinking");
        return vec![parts::redacted(&data)];
    }
    let text = writers::texts(&content(message.content, notes), "");
    let seal = said(message.signature);
    if text.is_empty() && seal.is_none() {
        return Vec::new();
    }
    vec![parts::sealed(text, seal, anthropic::PROVIDER)]
}

/// The elements of a list; one of another shape is as one that says nothing.
fn each<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> impl Iterator<Item = T> {
    let all = decode::<Vec<&RawValue>>(raw).unwrap_or_default();
    all.into_iter()
        .map(|one| decode(Some(one)).unwrap_or_default())
}

fn calls(raw: Raw<'_>) -> Vec<Part> {
    let calls = each::<Call<'_>>(raw).map(|call| {
        let Function { name, arguments } = call.function;
        let arguments = string(arguments).unwrap_or_default();
        parts::call(string(call.id), string(name), Some(arguments))
    });
    calls.collect()
}

/// What calls gave back; one that is not done gave nothing yet.
fn results(states: Raw<'_>, is_made: impl Fn(&str) -> bool) -> Vec<Part> {
    let results = each::<State<'_>>(states).filter_map(|state| {
        let call = string(state.tool_call_id).filter(|call| is_made(call))?;
        let status = string(state.status).unwrap_or_default();
        let texts = match (status.as_str(), state.output) {
            ("canceled", _) => vec![CANCELED.to_owned()],
            ("done" | "errored", _) | (_, Some(_)) => contents(state.output),
            _ => return None,
        };
        let content = texts.into_iter().map(Part::text).collect();
        Some(result(Some(call), content, status == "errored"))
    });
    results.collect()
}

fn model(logs: Raw<'_>) -> Option<String> {
    let log = each::<Log<'_>>(logs).last()?;
    string(log.completion_options.model).or_else(|| string(log.model_title))
}
