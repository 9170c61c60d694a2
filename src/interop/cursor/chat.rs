//! The importer of chats: each bubble what was asked, or a piece of what came back: a text, a thought, a call with its
//! result.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{BUBBLES, CHAT, LACKING};
use crate::error::Result;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{elements, members};
use crate::interop::{ImportOptions, Input, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Millis, Part, Role, Settings, Usage, depth};
use crate::wire::json::{Raw, decode, quoted, string, text_or_json};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut end = SessionEnd::lacking(LACKING);
    let (mut bubbles, mut model) = (Vec::new(), None);
    for (key, at) in keys {
        match key.as_str() {
            BUBBLES => {
                let (found, torn) = elements(text.bytes, at.start);
                bubbles = found;
                broken = torn.or(broken);
            }
            CHAT => {
                let decoded = text.decode(&at).ok();
                let about: Value = decoded
                    .and_then(|(raw, _)| decode(Some(&raw)))
                    .unwrap_or_default();
                let word = |key: &str| about.get(key)?.as_str().filter(|it| !it.is_empty());
                let id = word("composerId").or_else(|| word("tabId"));
                start.id = id.map_or(start.id, str::to_owned);
                let title = word("name").or_else(|| word("chatTitle"));
                end.title = title.map(str::to_owned);
                let config = about.get("modelConfig").and_then(|it| it.get("modelName"));
                model = config.and_then(Value::as_str).map(quoted);
                // Whether it was sent yet is not told.
                if about
                    .get("latestConversationSummary")
                    .is_some_and(|it| !it.is_null())
                {
                    end.other("summary");
                }
            }
            _ => {}
        }
    }
    sink.session(start)?;
    let mut telling = Telling {
        sink,
        text,
        end,
        due: model.clone(),
        model,
        made: 0,
    };
    for at in &bubbles {
        telling.bubble(at)?;
    }
    held.end(broken, telling.sink)?;
    let count = bubbles.len() as u64;
    telling.sink.progress(text.bytes.len() as u64, count);
    telling.sink.end(telling.end)
}

/// A bubble, of composers and of older chats.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Bubble<'a> {
    r#type: Raw<'a>,
    text: Raw<'a>,
    #[serde(rename = "rawText")]
    raw_text: Raw<'a>,
    thinking: Raw<'a>,
    #[serde(rename = "toolFormerData")]
    tool: Raw<'a>,
    #[serde(rename = "modelType")]
    model_type: Raw<'a>,
    #[serde(rename = "modelInfo")]
    model_info: Raw<'a>,
    #[serde(rename = "createdAt")]
    created_at: Raw<'a>,
    #[serde(rename = "tokenCount")]
    counted: Raw<'a>,
    missing: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Tool<'a> {
    name: Raw<'a>,
    #[serde(rename = "toolCallId")]
    id: Raw<'a>,
    #[serde(rename = "rawArgs")]
    raw_args: Raw<'a>,
    params: Raw<'a>,
    result: Raw<'a>,
    error: Raw<'a>,
    status: Raw<'a>,
}

/// What a bubble says.
#[derive(Default)]
struct Said {
    messages: Vec<Message>,
    time: Option<Millis>,
    usage: Option<Usage>,
    model: Option<String>,
    is_missing: bool,
}

/// Reads a bubble; `made` counts the ids that were made.
fn said(raw: &RawValue, made: &mut u64) -> Result<Said, String> {
    let bubble: Bubble<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let mut said = Said {
        time: time(bubble.created_at),
        usage: usage(bubble.counted),
        model: model(&bubble),
        is_missing: bubble.missing.is_some(),
        ..Said::default()
    };
    if said.is_missing {
        return Ok(said);
    }
    let is_users = match bubble.r#type.map(RawValue::get) {
        Some("1" | "\"user\"") => true,
        Some("2" | "\"ai\"") => false,
        kind => {
            return Err(format!(
                "a bubble of an unknown kind {}",
                kind.unwrap_or("null")
            ));
        }
    };
    let not_empty = |raw| string(raw).filter(|text| !text.is_empty());
    let text = not_empty(bubble.text).or_else(|| not_empty(bubble.raw_text));
    let mut parts: Vec<Part> = Vec::new();
    if !is_users && let Some(text) = thought(bubble.thinking) {
        parts.push(Part::Thinking {
            text,
            signature: None,
            provider: None,
        });
    }
    parts.extend(text.map(Part::text));
    let tool: Tool<'_> = decode(bubble.tool).unwrap_or_default();
    let name = not_empty(tool.name).filter(|_| !is_users);
    let mut result = None;
    if let Some(name) = name {
        let id = not_empty(tool.id).unwrap_or_else(|| {
            *made += 1;
            format!("call-{made}")
        });
        let arguments = not_empty(tool.raw_args).or_else(|| said_or_json(tool.params));
        result = given(&tool, &id);
        parts.push(Part::ToolCall {
            id,
            name,
            arguments: arguments.unwrap_or_else(|| "{}".to_owned()),
            kind: None,
        });
    }
    let role = if is_users {
        Role::User
    } else {
        Role::Assistant
    };
    if !parts.is_empty() {
        said.messages.push(Message::new(role, parts));
    }
    said.messages
        .extend(result.map(|it| Message::new(Role::Tool, vec![it])));
    for message in &said.messages {
        depth::check_message(message).map_err(|error| error.to_string())?;
    }
    Ok(said)
}

/// What a call gave; none while it is to come.
fn given(tool: &Tool<'_>, id: &str) -> Option<Part> {
    let result = said_or_json(tool.result);
    let error = said_or_json(tool.error);
    let status = string(tool.status).unwrap_or_default();
    let is_error = error.is_some() || ["error", "cancelled"].contains(&status.as_str());
    let is_over = is_error || result.is_some() || status == "completed";
    is_over.then(|| Part::ToolResult {
        call: id.to_owned(),
        content: result.or(error).map(Part::text).into_iter().collect(),
        is_error,
    })
}

/// A text as it is, anything else as its JSON; none of nothing, nor of an empty text.
fn said_or_json(raw: Raw<'_>) -> Option<String> {
    text_or_json(raw).filter(|text| !text.is_empty())
}

/// A thought, which is a text or has one.
fn thought(raw: Raw<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct Held {
        text: String,
    }
    let text = string(raw).or_else(|| decode::<Held>(raw).map(|it| it.text));
    text.filter(|text| !text.is_empty())
}

fn time(raw: Raw<'_>) -> Option<Millis> {
    let text = string(raw).and_then(|text| Millis::parse(&text));
    text.or_else(|| decode(raw).map(Millis))
}

fn usage(raw: Raw<'_>) -> Option<Usage> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Counted {
        input_tokens: u64,
        output_tokens: u64,
    }
    let counted: Counted = decode(raw)?;
    // The editor writes zeros where it was told nothing.
    (counted.input_tokens > 0).then_some(Usage {
        input_tokens: counted.input_tokens,
        output_tokens: counted.output_tokens,
    })
}

fn model(bubble: &Bubble<'_>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        model_name: String,
    }
    let named = decode::<Named>(bubble.model_info).map(|it| it.model_name);
    let named = named.or_else(|| string(bubble.model_type));
    named.filter(|it| !it.is_empty()).map(|it| quoted(&it))
}

struct Telling<'t, 's> {
    sink: &'s mut dyn Sink,
    text: Text<'t>,
    end: SessionEnd,
    /// The model that the next step brings.
    due: Option<String>,
    model: Option<String>,
    /// How many ids were made.
    made: u64,
}

impl Telling<'_, '_> {
    fn bubble(&mut self, at: &Range<usize>) -> Result<()> {
        let (made, lone) = (&mut self.made, &mut self.end.lone_surrogates);
        let read = |raw: &RawValue| said(raw, made);
        let Some(found) = self.text.message(at, lone, self.sink, read)? else {
            return Ok(());
        };
        if found.is_missing {
            let reason = "a bubble that is not in the database";
            return self.sink.problem(self.text.problem(at.start, reason));
        }
        if found.model.is_some() && found.model != self.model {
            self.due.clone_from(&found.model);
            self.model = found.model;
        }
        if found.messages.is_empty() {
            self.end.other("empty bubble");
        }
        for message in found.messages {
            let model = self.due.take().map(|model| ("model".to_owned(), model));
            let usage = found.usage.filter(|_| message.role == Role::Assistant);
            self.sink.step(Step {
                time: found.time,
                usage,
                settings: Settings::from_iter(model),
                ..Step::append(message, self.text.span(at))
            })?;
        }
        Ok(())
    }
}
