//! One span: what its attributes say of a request to a model.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::value::RawValue;

use super::ai_sdk;
use super::attributes::Attributes;
use super::flat;
use super::heard::{Heard, told};
use super::message;
use crate::formats::bodies::Body;
use crate::formats::shared::parts;
use crate::formats::shared::requests::Said;
use crate::model::{Message, Millis, Role, Settings, Span, Usage, base64, depth};
use crate::wire::Notes;
use crate::wire::json::{Raw, array, decode, quoted, string, tight};

lazy! {
    struct Record {
        trace = "traceId", start = "startTimeUnixNano", end = "endTimeUnixNano", attributes,
    }

    struct Tool {
        name, function, description, parameters, schema = "inputSchema", of_anthropic = "input_schema",
    }
}

/// What a span that asks a model says of itself, but for what was said. A trace may have millions, so what many say is shared.
pub(super) struct Head {
    pub(super) place: Span,
    /// Nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) asker: Rc<Asker>,
}

/// Whose requests they are.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Asker {
    pub(super) unit: Unit,
    pub(super) agent: Option<Rc<str>>,
}

/// What requests have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    /// A conversation that their framework knows, by its id.
    Conversation(Rc<str>),
    /// A trace, where the framework knows no conversation.
    Trace(Rc<str>),
}

impl Unit {
    pub(super) fn id(&self) -> &Rc<str> {
        match self {
            Self::Conversation(id) | Self::Trace(id) => id,
        }
    }
}

/// Who asks, each held once.
#[derive(Default)]
pub(super) struct Askers(HashSet<Rc<Asker>>);

impl Askers {
    fn of(&mut self, asker: Asker) -> Rc<Asker> {
        if let Some(known) = self.0.get(&asker) {
            return Rc::clone(known);
        }
        let asker = Rc::new(asker);
        self.0.insert(Rc::clone(&asker));
        asker
    }
}

/// What a span that asks a model says.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) input: Vec<Said>,
    /// The reply; of several the first.
    pub(super) reply: Option<Message>,
    pub(super) settings: Settings,
    /// The model that answered, as JSON.
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) start: Option<Millis>,
    pub(super) end: Option<Millis>,
    /// What of it cannot be read.
    pub(super) broken: Vec<&'static str>,
}

/// What a span is called that asks no model.
pub(super) type Other = String;

/// Reads what a span says of itself.
pub(super) fn head(
    raw: &RawValue,
    place: Span,
    askers: &mut Askers,
) -> Result<Result<Head, Other>, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a span: {error}"))?;
    let of = Attributes::of(record.attributes);
    let operation = of.first(&[
        "gen_ai.operation.name",
        "llm.request.type",
        "openinference.span.kind",
        "ai.operationId",
    ]);
    let operation = operation.unwrap_or_default().to_lowercase();
    let asks = [
        "chat",
        "text_completion",
        "completion",
        "generate_content",
        "llm",
    ];
    if !asks.contains(&operation.as_str()) && !ai_sdk::asks(&operation) {
        let kind = if operation.is_empty() {
            "other"
        } else {
            &operation
        };
        return Ok(Err(format!("{kind} span")));
    }
    let conversation = of.first(&[
        "gen_ai.conversation.id",
        "session.id",
        "ai.telemetry.metadata.sessionId",
    ]);
    let unit = match conversation {
        Some(id) => Unit::Conversation(id.into()),
        None => {
            let trace = string(record.trace).map(|id| in_hex(&id));
            Unit::Trace(trace.unwrap_or_default().into())
        }
    };
    let agent = of.first(&["gen_ai.agent.name", "agent.name"]);
    Ok(Ok(Head {
        place,
        start: nanos(record.start).unwrap_or_default(),
        asker: askers.of(Asker {
            unit,
            agent: agent.map(Into::into),
        }),
    }))
}

/// Reads what was asked and answered. What is held of earlier requests is not read again.
pub(super) fn asked(raw: &RawValue, heard: &mut Heard, notes: &mut Notes) -> Result<Asked, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a span: {error}"))?;
    let of = Attributes::of(record.attributes);
    let mut asked = Asked {
        start: nanos(record.start).map(millis),
        end: nanos(record.end).map(millis),
        usage: usage(&of),
        ..Asked::default()
    };
    let mut listed = |key: &'static str, heard: Option<&mut Heard>| {
        let Some(text) = of.text(key) else {
            return Ok(None);
        };
        let found = message::listed(&text, heard, notes)?;
        if found.is_none() {
            asked.broken.push(key);
        }
        Ok::<_, String>(found)
    };
    let instructions = listed("gen_ai.system_instructions", None)?;
    let input = listed("gen_ai.input.messages", Some(heard))?;
    // No request repeats a reply as it was told there, with why it ended.
    let output = listed("gen_ai.output.messages", None)?;
    let is_of_conventions = input.is_some() || output.is_some();
    let mut output = output.unwrap_or_default();
    if is_of_conventions {
        asked.input = instructions.into_iter().chain(input).flatten().collect();
    } else if let Some(prompt) = of.text("ai.prompt.messages") {
        match ai_sdk::input(&prompt, notes) {
            Some(input) => asked.input = told(input)?,
            None => asked.broken.push("ai.prompt.messages"),
        }
        output.extend(told(ai_sdk::output(&of).into_iter().collect())?);
    } else {
        let whole = of.text("input.value").and_then(|body| request(&body));
        let (input, settings) = match whole {
            Some(found) => found,
            None => (flat::messages(&of, &flat::INPUT, notes), Settings::new()),
        };
        (asked.input, asked.settings) = (told(input)?, settings);
        output = told(flat::messages(&of, &flat::OUTPUT, notes))?;
    }
    let reply = output
        .into_iter()
        .find(|said| said.message.role == Role::Assistant);
    asked.reply = reply.map(|said| Rc::unwrap_or_clone(said.message));
    let model = of.first(&["gen_ai.request.model", "llm.model_name"]);
    asked.model = of
        .text("gen_ai.response.model")
        .or_else(|| model.clone())
        .map(|it| quoted(&it));
    let model = model.map(|model| ("model".to_owned(), quoted(&model)));
    let tools = of
        .text("gen_ai.tool.definitions")
        .and_then(|text| tools(&text))
        .or_else(|| ai_sdk::tools(&of));
    let tools = tools.map(|tools| ("tools".to_owned(), tools));
    let numbers = ["temperature", "top_p", "max_tokens"].into_iter();
    let numbers = numbers.filter_map(|key| {
        let raw = of.get(&format!("gen_ai.request.{key}"))?;
        let number = raw.get().trim_matches('"');
        let is_number = number.parse::<f64>().is_ok();
        is_number.then(|| (key.to_owned(), number.to_owned()))
    });
    // What the request itself says holds: OpenInference calls the model by the name that the reply has.
    for (key, value) in model.into_iter().chain(tools).chain(numbers) {
        asked.settings.entry(key).or_insert(value);
    }
    Ok(asked)
}

/// The request that a text is, as its provider was sent it.
fn request(body: &str) -> Option<(Vec<Message>, Settings)> {
    let place = Span {
        offset: 0,
        len: body.len() as u64,
    };
    let body = Body::read(body.as_bytes(), place).ok()??;
    let messages = body
        .steps
        .into_iter()
        .filter_map(|step| step.message().cloned());
    body.is_request.then(|| (messages.collect(), body.settings))
}

/// Tools as a provider is offered them: each with its function inside, or flat.
fn tools(text: &str) -> Option<String> {
    let list: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let tool = |raw: &&RawValue| {
        let tool: Tool<'_> = decode(Some(*raw))?;
        if tool.function.is_some() {
            return Some(tight(raw.get()));
        }
        // The conventions say `parameters`; the AI SDK and whoever writes down Anthropic's tools keep their own name.
        let schema = tool.parameters.or(tool.schema).or(tool.of_anthropic);
        let schema = schema.map_or("{}", RawValue::get);
        let description = string(tool.description);
        Some(parts::tool(
            &string(tool.name)?,
            description.as_deref(),
            schema,
        ))
    };
    let found: Option<Vec<String>> = list.iter().map(tool).collect();
    found
        .map(array)
        .filter(|tools| depth::check_json("tools", tools, 1).is_ok())
}

/// What was counted, by each convention: of the input what a cache had is part.
fn usage(of: &Attributes<'_>) -> Option<Usage> {
    let input = of.count(&[
        "ai.usage.inputTokens",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
    ]);
    let output = of.count(&[
        "ai.usage.outputTokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    ]);
    let cached = of.count(&[
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "ai.usage.cachedInputTokens",
        "llm.token_count.prompt_details.cache_read",
    ]);
    let written = of.count(&[
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
        "ai.usage.inputTokenDetails.cacheWriteTokens",
        "llm.token_count.prompt_details.cache_write",
    ]);
    let reasoning = of.count(&[
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "ai.usage.reasoningTokens",
        "llm.token_count.completion_details.reasoning",
    ]);
    let hour = of.count(&["gen_ai.usage.details.cache_write_1h_tokens"]);
    let usage = Usage {
        written_hour_tokens: hour.unwrap_or_default(),
        ..Usage::new(input?, output.unwrap_or_default())
    };
    let usage = usage.cached(cached.unwrap_or_default(), written.unwrap_or_default());
    Some(usage.reasoned(reasoning.unwrap_or_default()))
}

/// An id in hexadecimal digits, as OTLP has it; Python's writer has it in base64.
fn in_hex(id: &str) -> String {
    let bytes = base64::decode(id).filter(|_| id.ends_with('='));
    match bytes {
        Some(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        None => id.to_lowercase(),
    }
}

fn nanos(raw: Raw<'_>) -> Option<u64> {
    let nanos = decode(raw).or_else(|| string(raw)?.parse().ok());
    nanos.filter(|nanos| *nanos > 0)
}

fn millis(nanos: u64) -> Millis {
    Millis((nanos / 1_000_000) as i64)
}
