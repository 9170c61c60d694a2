//! A session into messages.

use serde::Deserialize;
use serde_json::from_str;
use serde_json::value::RawValue;

use crate::error::Result;
use crate::interop::records::Held;
use crate::interop::spans::{elements, members};
use crate::interop::{ImportOptions, Input, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Millis, Part, Role, Settings, Span, Usage, depth};
use crate::wire::Notes;
use crate::wire::gemini::{PROVIDER, answer, parts};
use crate::wire::json::{Raw, decode, quoted, string};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let bytes = held.text().bytes;
    let (keys, broken) = members(bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut end = SessionEnd::lacking(&["system prompt", "tool definitions"]);
    let mut messages = (Vec::new(), broken);
    for (key, at) in keys {
        let word = || serde_json::from_slice::<String>(&bytes[at.clone()]).ok();
        match key.as_str() {
            "sessionId" => start.id = word().unwrap_or(start.id),
            "summary" => end.title = word(),
            "messages" => {
                let (found, torn) = elements(bytes, at.start);
                messages = (found, torn.or(broken));
            }
            "projectHash" | "startTime" | "lastUpdated" => {}
            key => end.other(key),
        }
    }
    held.tell(start, end, messages, sink, steps)
}

/// What of a record is kept as it is written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Record<'a> {
    r#type: Raw<'a>,
    timestamp: Raw<'a>,
    model: Raw<'a>,
    thoughts: Raw<'a>,
    tokens: Raw<'a>,
    content: Raw<'a>,
    tool_calls: Vec<Call<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Call<'a> {
    id: String,
    name: String,
    timestamp: Raw<'a>,
    args: Raw<'a>,
    result: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Thought<'a> {
    subject: Raw<'a>,
    description: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Counts<'a> {
    input: Raw<'a>,
    output: Raw<'a>,
    thoughts: Raw<'a>,
    tool: Raw<'a>,
}

/// The type of a record, and its steps: a message, and what its calls gave back. What the tool
/// tells the person at the screen has none, for the model is never sent it.
pub(super) fn steps(
    text: &str,
    span: Span,
    notes: &mut Notes,
) -> Result<(String, Vec<Step>), String> {
    let bad = |error| format!("a message: {error}");
    let record: Record<'_> = from_str(text).map_err(bad)?;
    let kind = string(record.r#type).unwrap_or_else(|| "(no type)".to_owned());
    let role = match kind.as_str() {
        "user" => Role::User,
        "gemini" => Role::Assistant,
        _ => return Ok((kind, Vec::new())),
    };
    let thoughts: Vec<&RawValue> = decode(record.thoughts).unwrap_or_default();
    let mut said: Vec<Part> = thoughts.into_iter().map(thinking).collect();
    said.extend(parts(record.content, notes));
    let time = |raw: Raw<'_>| Millis::parse(&string(raw)?);
    let (mut results, mut last) = (Vec::new(), time(record.timestamp));
    for call in record.tool_calls {
        if let Some(result) = call.result {
            results.push(answer(&call.id, result, notes));
            last = time(call.timestamp).or(last);
        }
        said.push(Part::ToolCall {
            id: call.id,
            name: call.name,
            arguments: call.args.map_or("{}", RawValue::get).to_owned(),
            kind: None,
        });
    }
    if said.is_empty() {
        return Ok((format!("{kind} (empty)"), Vec::new()));
    }
    let append = |role, parts, time| Step {
        time,
        ..Step::append(Message::new(role, parts), span)
    };
    let model = string(record.model).map(|model| quoted(&model));
    let tokens = |raw: Raw<'_>| decode::<u64>(raw).unwrap_or(0);
    let mut steps = vec![Step {
        settings: Settings::from_iter(model.map(|model| ("model".to_owned(), model))),
        usage: decode::<Counts<'_>>(record.tokens).map(|counts| Usage {
            input_tokens: tokens(counts.input).saturating_add(tokens(counts.tool)),
            output_tokens: tokens(counts.output).saturating_add(tokens(counts.thoughts)),
        }),
        ..append(role, said, time(record.timestamp))
    }];
    if !results.is_empty() {
        steps.push(append(Role::Tool, results, last));
    }
    for message in steps.iter().filter_map(Step::message) {
        depth::check_message(message).map_err(|error| error.to_string())?;
    }
    Ok((kind, steps))
}

fn thinking(thought: &RawValue) -> Part {
    let thought: Thought<'_> = decode(Some(thought)).unwrap_or_default();
    let lines = [thought.subject, thought.description].map(|line| string(line).unwrap_or_default());
    let filled = lines.into_iter().filter(|text| !text.is_empty());
    Part::Thinking {
        text: filled.collect::<Vec<_>>().join("\n\n"),
        signature: None,
        provider: Some(PROVIDER.to_owned()),
    }
}
