//! The exporter: spans of a conversation, by the conventions for generative AI.
//!
//! A turn is a trace: a span of the agent, below it a span for each request and one for each call of a tool. Each request
//! repeats all that was said before it, as the conventions have it. What the conventions have no name for (signatures,
//! failed results, names of files) stands in members of our own, which they allow. A request of the source that still
//! says what the context says stays as it was.
//!
//! # Source
//!
//! `docs/gen-ai` of <https://github.com/open-telemetry/semantic-conventions-genai>, 0.1.0; for costs, which these do not
//! name, `gen_ai.usage.cost`, as Langfuse and OpenLIT take it, in US dollars.

use std::io::Write;

use serde_json::value::RawValue;

use super::heard::Heard;
use super::message::{self, CUT};
use super::span::{Askers, Unit, asked, head};
use crate::error::{Error, Result};
use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::tool_offer::Offered;
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Message, Millis, Part, Role, Span};
use crate::wire::Notes;
use crate::wire::json::{Object, array, quoted};

/// The kinds of spans: within a program, and as a client of another one.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let mut remarks = Remarks::of(export.document);
    let said = export.messages.iter();
    let said = said.map(|outgoing| {
        let written = message::written(&outgoing.message, &mut remarks);
        // Within the text of an attribute.
        let text = quoted(&written);
        text[1..text.len() - 1].to_owned()
    });
    let trace = Trace {
        messages: export.messages,
        document: export.document,
        said: said.collect(),
    };
    let mut out = Spans {
        out: export.out,
        count: 0,
    };
    out.text("{\"resourceSpans\":[{\"resource\":{\"attributes\":")?;
    out.text(&array([attribute("service.name", &text("tract"))]))?;
    out.text("},\"scopeSpans\":[{\"scope\":")?;
    let scope = Object::new().string("name", "tract");
    let scope = scope.string("version", env!("CARGO_PKG_VERSION"));
    out.text(&scope.finish())?;
    out.text(",\"spans\":[")?;
    trace.write(&mut out)?;
    out.text("]}]}]}\n")?;
    Ok(remarks.into_words())
}

/// Spans on their way out.
struct Spans<'o> {
    out: &'o mut dyn Write,
    count: u64,
}

impl Spans<'_> {
    fn text(&mut self, text: &str) -> Result<()> {
        self.out
            .write_all(text.as_bytes())
            .map_err(Error::io("export"))
    }

    fn span(&mut self, span: &str) -> Result<()> {
        if self.count > 0 {
            self.text(",\n")?;
        }
        self.count += 1;
        self.text(span)
    }
}

/// A conversation.
struct Trace<'m> {
    messages: &'m [Outgoing],
    document: &'m Document,
    /// Each message as JSON, escaped once.
    said: Vec<String>,
}

/// A request.
struct Request<'m> {
    /// How many messages it was sent, and which one, if any, is the reply.
    sent: usize,
    start: Millis,
    end: Millis,
    /// The span of it that the source has.
    kept: Option<&'m str>,
}

/// A call, and what it gave.
struct Answered<'m> {
    id: &'m str,
    name: &'m str,
    arguments: &'m str,
    content: &'m [Part],
    is_error: bool,
    end: Millis,
}

/// What the spans of a turn have in common.
struct Turn<'t> {
    trace: String,
    root: String,
    conversation: Option<&'t str>,
}

impl<'m> Trace<'m> {
    fn write(&self, out: &mut Spans<'_>) -> Result<()> {
        let turns = self.turns();
        let all = turns.iter().flatten();
        let kept = all.filter_map(|request| request.kept).next();
        let kept = kept.and_then(|span| {
            let raw: &RawValue = serde_json::from_str(span).ok()?;
            let nowhere = Span { offset: 0, len: 0 };
            head(raw, nowhere, &mut Askers::default()).ok()?.ok()
        });
        // What belongs to no conversation goes on in its trace.
        let (conversation, trace) = match kept.as_ref().map(|head| &head.asker.unit) {
            Some(Unit::Conversation(id)) => (Some(id.to_string()), None),
            Some(Unit::Trace(id)) => (None, Some(id.to_string())),
            None => (Some(self.document.session_id.clone()), None),
        };
        for turn in &turns {
            let Some(first) = turn.first() else { continue };
            let number = first.sent as u64;
            let of = Turn {
                trace: trace.clone().unwrap_or_else(|| self.id(number, 0, 32)),
                root: self.id(number, 1, 16),
                conversation: conversation.as_deref(),
            };
            if turn.iter().any(|request| request.kept.is_none()) {
                out.span(&self.agent(&of, turn))?;
            }
            for request in turn {
                match request.kept {
                    Some(span) => out.span(span)?,
                    None => {
                        out.span(&self.request(&of, request))?;
                        for tool in self.tools(&of, request) {
                            out.span(&tool)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The requests of each turn: what a user says behind a reply begins the next one.
    fn turns(&self) -> Vec<Vec<Request<'m>>> {
        let mut turns: Vec<Vec<Request<'m>>> = vec![Vec::new()];
        let first = self.messages.iter().find_map(|outgoing| outgoing.time);
        let mut now = first.or(self.document.now).unwrap_or(Millis(0));
        let mut is_answered = false;
        let (mut before, mut is_whole) = (None, true);
        for (at, outgoing) in self.messages.iter().enumerate() {
            let Outgoing { message, time, .. } = outgoing;
            if message.role == Role::User && is_answered {
                turns.push(Vec::new());
                is_answered = false;
            }
            if message.role == Role::Assistant {
                let start = before.map_or(now, |before| now.max(before));
                let end = time.map_or(start, |time| start.max(time));
                // Of a request that says more or less than the context does, none that repeats it is as it was.
                let kept = if is_whole { self.kept(at) } else { None };
                is_whole = kept.is_some();
                let request = Request {
                    sent: at,
                    start,
                    end,
                    kept,
                };
                turns.last_mut().expect("one is there").push(request);
                now = end;
                is_answered = true;
            }
            before = time.or(before);
        }
        let is_open = self.messages.last();
        if is_open.is_some_and(|last| last.message.role != Role::Assistant) {
            let start = before.map_or(now, |before| now.max(before));
            let request = Request {
                sent: self.messages.len(),
                start,
                end: start,
                kept: None,
            };
            turns.last_mut().expect("one is there").push(request);
        }
        turns
    }

    /// The span of the source behind a reply, where that says all that the context has up to there.
    fn kept(&self, at: usize) -> Option<&'m str> {
        let [record] = &self.messages[at].records[..] else {
            return None;
        };
        let raw: &RawValue = serde_json::from_str(record).ok()?;
        let asked = asked(raw, &mut Heard::default(), &mut Notes::default()).ok()?;
        let input = self.messages[..at].iter().map(|it| &it.message);
        let sent = asked.input.iter().map(|said| &*said.message);
        let is_same = sent.eq(input) && asked.reply.as_ref() == Some(&self.messages[at].message);
        is_same.then_some(record)
    }

    /// An id of so many hexadecimal digits.
    fn id(&self, number: u64, which: u64, digits: usize) -> String {
        let mut id = self
            .document
            .new_id(number * 1_000 + which)
            .replace('-', "");
        id.truncate(digits);
        id
    }

    /// Messages as the text of an attribute.
    fn list(&self, at: impl Iterator<Item = usize>) -> String {
        let said: Vec<&str> = at.map(|at| &*self.said[at]).collect();
        let list = format!("\"[{}]\"", said.join(","));
        Object::new().raw("stringValue", &list).finish()
    }

    /// The reply of a request.
    fn reply(&self, request: &Request<'_>) -> Option<&'m Outgoing> {
        self.messages.get(request.sent)
    }

    /// The span of an agent, with what a user has said and what was answered in the end.
    fn agent(&self, of: &Turn<'_>, turn: &[Request<'_>]) -> String {
        let (first, last) = (&turn[0], &turn[turn.len() - 1]);
        let is_prompt = |at: &usize| self.messages[*at].message.role == Role::User;
        let prompts = (0..first.sent).rev().take_while(is_prompt).count();
        let mut attributes = common("invoke_agent", of);
        attributes.extend(self.provider(first));
        attributes.push(attribute(
            "gen_ai.input.messages",
            &self.list(first.sent - prompts..first.sent),
        ));
        if self.reply(last).is_some() {
            let list = self.list(last.sent..last.sent + 1);
            attributes.push(attribute("gen_ai.output.messages", &list));
        }
        let ids = (of.root.clone(), None);
        // No span ends after its parent, and a tool may give its result behind the last reply.
        let tools = turn.iter().flat_map(|request| self.answers(request));
        let end = tools.map(|answer| answer.end).fold(last.end, Millis::max);
        let times = (first.start, end);
        span("invoke_agent", of, ids, INTERNAL, times, attributes, None)
    }

    /// Which provider was asked: by the model's name.
    fn provider(&self, request: &Request<'_>) -> Option<String> {
        let said = self.reply(request).or(self.messages.last())?;
        let model = said.model();
        let provider = model.as_deref().map_or("unknown", provider_of);
        Some(attribute("gen_ai.provider.name", &text(provider)))
    }

    /// The span of a request.
    fn request(&self, of: &Turn<'_>, request: &Request<'_>) -> String {
        let reply = self.reply(request);
        let mut attributes = common("chat", of);
        attributes.extend(self.provider(request));
        let said = reply.or(self.messages.last());
        let model = said.and_then(Outgoing::model);
        if let Some(model) = &model {
            attributes.push(attribute("gen_ai.request.model", &text(model)));
            if reply.is_some() {
                attributes.push(attribute("gen_ai.response.model", &text(model)));
            }
        }
        attributes.extend(said.into_iter().flat_map(settings));
        if let Some(reply) = reply {
            let reason = finish_reason(&reply.message);
            let reasons = Object::new().raw("values", &array([text(reason)])).finish();
            let reasons = Object::new().raw("arrayValue", &reasons).finish();
            attributes.push(attribute("gen_ai.response.finish_reasons", &reasons));
            attributes.extend(counts(reply));
        }
        let instructions = self.instructions();
        if let Some(written) = &instructions {
            let list = text(written);
            attributes.push(attribute("gen_ai.system_instructions", &list));
        }
        let from = usize::from(instructions.is_some()).min(request.sent);
        let list = self.list(from..request.sent);
        attributes.push(attribute("gen_ai.input.messages", &list));
        if reply.is_some() {
            let list = self.list(request.sent..request.sent + 1);
            attributes.push(attribute("gen_ai.output.messages", &list));
        }
        let name = match &model {
            Some(model) => format!("chat {model}"),
            None => "chat".to_owned(),
        };
        let ids = (self.id(request.sent as u64, 2, 16), Some(&*of.root));
        let times = (request.start, request.end);
        span(&name, of, ids, CLIENT, times, attributes, None)
    }

    /// The instructions that the conversation begins with, if they are the only ones there.
    fn instructions(&self) -> Option<String> {
        let [first, rest @ ..] = self.messages else {
            return None;
        };
        let is_alone = rest
            .first()
            .is_some_and(|next| !next.message.role.is_system());
        let is_one = first.message.role == Role::System && first.message.name.is_none();
        (is_one && is_alone).then(|| message::parts(&first.message, &mut Remarks::default()))
    }

    /// The calls in a reply that were answered.
    fn answers(&self, request: &Request<'_>) -> Vec<Answered<'m>> {
        let Some(reply) = self.reply(request) else {
            return Vec::new();
        };
        let calls = reply.message.parts.iter().filter_map(|part| match part {
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => Some((id, name, arguments)),
            _ => None,
        });
        let answers = calls.filter_map(|(id, name, arguments)| {
            let later = self.messages[request.sent + 1..].iter();
            let (time, content, is_error) = later
                .take_while(|it| !it.message.calls().any(|call| call == id))
                .find_map(|outgoing| {
                    let mut results = outgoing.message.parts.iter().filter_map(Part::as_result);
                    let (_, content, is_error) = results.find(|(call, ..)| call == id)?;
                    Some((outgoing.time, content, is_error))
                })?;
            Some(Answered {
                id,
                name,
                arguments,
                content,
                is_error,
                end: time.map_or(request.end, |time| time.max(request.end)),
            })
        });
        answers.collect()
    }

    /// The spans of the calls in a reply that were answered.
    fn tools(&self, of: &Turn<'_>, request: &Request<'_>) -> Vec<String> {
        let mut spans = Vec::new();
        for answer in self.answers(request) {
            let Answered {
                id,
                name,
                arguments,
                content,
                is_error,
                end,
            } = answer;
            let mut attributes = common("execute_tool", of);
            attributes.push(attribute("gen_ai.tool.name", &text(name)));
            attributes.push(attribute("gen_ai.tool.type", &text("function")));
            attributes.push(attribute("gen_ai.tool.call.id", &text(id)));
            let given = text(arguments);
            attributes.push(attribute("gen_ai.tool.call.arguments", &given));
            let result = match content {
                [Part::Text { text }] => text.clone(),
                content => message::response(content, &mut Remarks::default()),
            };
            attributes.push(attribute("gen_ai.tool.call.result", &text(&result)));
            let failed = is_error.then_some("_OTHER");
            if let Some(kind) = failed {
                attributes.push(attribute("error.type", &text(kind)));
            }
            let number = 3 + spans.len() as u64;
            let ids = (self.id(request.sent as u64, number, 16), Some(&*of.root));
            let name = format!("execute_tool {name}");
            let times = (request.end, end);
            spans.push(span(&name, of, ids, INTERNAL, times, attributes, failed));
        }
        spans
    }
}

/// An attribute with a value.
fn attribute(key: &str, value: &str) -> String {
    Object::new()
        .string("key", key)
        .raw("value", value)
        .finish()
}

/// A text as a value.
fn text(text: &str) -> String {
    Object::new().string("stringValue", text).finish()
}

/// A count as a value: OTLP has whole numbers as texts.
fn count(count: u64) -> String {
    text_number(&count.to_string())
}

fn text_number(number: &str) -> String {
    Object::new().string("intValue", number).finish()
}

fn common(operation: &str, of: &Turn<'_>) -> Vec<String> {
    let mut attributes = vec![attribute("gen_ai.operation.name", &text(operation))];
    let conversation = of.conversation;
    attributes.extend(conversation.map(|id| attribute("gen_ai.conversation.id", &text(id))));
    attributes
}

/// A span: its own id and its parent's, when it began and ended, and how it failed, if it did.
fn span(
    name: &str,
    of: &Turn<'_>,
    (id, parent): (String, Option<&str>),
    kind: u8,
    (start, end): (Millis, Millis),
    attributes: Vec<String>,
    failed: Option<&str>,
) -> String {
    let nanos = |time: Millis| {
        let millis = u64::try_from(time.0).unwrap_or(0);
        millis.saturating_mul(1_000_000).to_string()
    };
    let status = match failed {
        Some(_) => Object::new().number("code", 2),
        None => Object::new(),
    };
    Object::new()
        .string("traceId", &of.trace)
        .string("spanId", &id)
        .optional("parentSpanId", parent)
        .string("name", name)
        .number("kind", kind)
        .string("startTimeUnixNano", &nanos(start))
        .string("endTimeUnixNano", &nanos(end))
        .raw("attributes", &array(attributes))
        .raw("status", &status.finish())
        .finish()
}

/// What was counted for a reply, and what it cost.
fn counts(reply: &Outgoing) -> Vec<String> {
    let mut attributes = Vec::new();
    if let Some(usage) = reply.usage {
        for (key, number, is_always) in [
            ("input_tokens", usage.input_tokens, true),
            ("output_tokens", usage.output_tokens, true),
            ("cache_read.input_tokens", usage.cached_tokens, false),
            ("cache_creation.input_tokens", usage.written_tokens, false),
            (
                "details.cache_write_1h_tokens",
                usage.written_hour_tokens,
                false,
            ),
            ("reasoning.output_tokens", usage.reasoning_tokens, false),
        ] {
            if is_always || number > 0 {
                attributes.push(attribute(&format!("gen_ai.usage.{key}"), &count(number)));
            }
        }
    }
    if let Some(dollars) = reply.dollars.filter(|dollars| dollars.is_finite()) {
        let value = Object::new().number("doubleValue", dollars).finish();
        attributes.push(attribute("gen_ai.usage.cost", &value));
    }
    attributes
}

/// What a request asked for beside its messages.
fn settings(of: &Outgoing) -> Vec<String> {
    let mut attributes = Vec::new();
    for key in ["temperature", "top_p"] {
        let number = of.settings.get(key).and_then(|it| it.parse::<f64>().ok());
        attributes.extend(number.filter(|it| it.is_finite()).map(|number| {
            let value = Object::new().number("doubleValue", number).finish();
            attribute(&format!("gen_ai.request.{key}"), &value)
        }));
    }
    let most = of.settings.get("max_tokens");
    let most = most.filter(|number| number.parse::<i64>().is_ok());
    let most = most.map(|number| text_number(number));
    attributes.extend(most.map(|value| attribute("gen_ai.request.max_tokens", &value)));
    let tools = of
        .settings
        .get("tools")
        .and_then(|tools| definitions(tools));
    attributes.extend(tools.map(|tools| attribute("gen_ai.tool.definitions", &text(&tools))));
    attributes
}

/// Tools as the conventions have them.
fn definitions(tools: &str) -> Option<String> {
    let found = Offered::all(tools)?;
    (!found.is_empty()).then(|| array(found.iter().map(Offered::flat)))
}

/// Why a reply ended.
fn finish_reason(message: &Message) -> &'static str {
    if message.interrupted {
        CUT
    } else if message.calls().next().is_some() {
        "tool_call"
    } else {
        "stop"
    }
}

/// Whose a model is, by the names of the conventions.
fn provider_of(model: &str) -> &'static str {
    let last = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let known = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("chatgpt", "openai"),
        ("codex", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini", "gcp.gemini"),
        ("gemma", "gcp.gemini"),
        ("mistral", "mistral_ai"),
        ("codestral", "mistral_ai"),
        ("devstral", "mistral_ai"),
        ("deepseek", "deepseek"),
        ("grok", "x_ai"),
        ("command", "cohere"),
        ("kimi", "moonshot_ai"),
    ];
    let found = known
        .iter()
        .find(|(beginning, _)| last.starts_with(beginning));
    found.map_or("unknown", |(_, provider)| provider)
}
