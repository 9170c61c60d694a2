//! One record of a session: what is said in it, and what its calls gave back.

use serde::Deserialize;
use serde_json::from_str;
use serde_json::value::RawValue;

use crate::formats::Step;
use crate::formats::shared::list::Listed;
use crate::formats::shared::parts::{self, time};
use crate::model::{Message, Millis, Part, Role, Span, Usage};
use crate::wire::Notes;
use crate::wire::gemini::{PROVIDER, answer, message_parts, seal_of};
use crate::wire::json::{Raw, decode, quoted, string};

/// A record, as far as it is read.
#[derive(Debug)]
pub(super) struct Said {
    /// Its type.
    pub(super) kind: String,
    /// A message, and what its calls gave back. What the tool tells the person at the screen is none,
    /// for the model is never sent it. What the tool itself puts into a history names no model.
    pub(super) listed: Listed,
    /// The sessions that its calls started.
    pub(super) started: Vec<String>,
}

/// What of a record is kept as it is written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Record<'a> {
    id: Raw<'a>,
    r#type: Raw<'a>,
    timestamp: Raw<'a>,
    model: Raw<'a>,
    thoughts: Raw<'a>,
    tokens: Raw<'a>,
    content: Raw<'a>,
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Call<'a> {
    id: String,
    name: String,
    timestamp: Raw<'a>,
    args: Raw<'a>,
    result: Raw<'a>,
    agent_id: Raw<'a>,
}

lazy! { struct Thought { subject, description } }

lazy! { struct Counts { input, cached, output, thoughts, tool } }

/// Reads a record.
pub(super) fn said(text: &str, span: Span, notes: &mut Notes) -> Result<Said, String> {
    let bad = |error| format!("a message: {error}");
    let record: Record<'_> = from_str(text).map_err(bad)?;
    let mut said = Said {
        kind: string(record.r#type).unwrap_or_else(|| "(no type)".to_owned()),
        listed: Listed {
            id: string(record.id).unwrap_or_default(),
            ..Listed::default()
        },
        started: Vec::new(),
    };
    match said.kind.as_str() {
        "user" => said.listed.steps = prompt(&record, span, notes),
        "gemini" => {
            said.listed.is_reply = string(record.model).is_some();
            let calls = record.tool_calls.iter().flatten();
            said.started = calls.filter_map(|call| string(call.agent_id)).collect();
            said.listed.steps = reply(&record, span, notes);
        }
        _ => return Ok(said),
    }
    if said.listed.steps.is_empty() {
        said.kind += " (empty)";
    }
    parts::checked(said.listed.steps.iter().filter_map(Step::message))?;
    Ok(said)
}

/// What the user says, or the tool in their place: what calls gave back, too.
fn prompt(record: &Record<'_>, span: Span, notes: &mut Notes) -> Vec<Step> {
    let parts = message_parts(record.content, notes);
    let role = if parts.iter().all(Part::is_result) {
        Role::Tool
    } else {
        Role::User
    };
    if parts.is_empty() {
        Vec::new()
    } else {
        vec![append(role, parts, time(record.timestamp), span)]
    }
}

/// What the model says, and what its calls gave back.
///
/// # Source
///
/// `convertSessionToClientHistory` of the tool: thoughts or calls that stand in the content are all
/// that there are.
fn reply(record: &Record<'_>, span: Span, notes: &mut Notes) -> Vec<Step> {
    let content = message_parts(record.content, notes);
    let is_thought = |part: &Part| matches!(part, Part::Thinking { .. }) && seal_of(part).is_none();
    let is_call = |part: &Part| matches!(part, Part::ToolCall { .. });
    let is_whole = content.iter().any(|part| is_thought(part) || is_call(part));
    let mut parts = Vec::new();
    if !is_whole {
        let thoughts: Vec<&RawValue> = decode(record.thoughts).unwrap_or_default();
        parts.extend(thoughts.into_iter().map(thinking));
    }
    parts.extend(content);
    let (mut results, mut last) = (Vec::new(), time(record.timestamp));
    for call in record.tool_calls.iter().flatten() {
        if let Some(result) = call.result {
            results.push(answer(&call.id, result, notes));
            last = time(call.timestamp).or(last);
        }
        if !is_whole {
            let arguments = call.args.map(|args| args.get().to_owned());
            let (id, name) = (call.id.clone(), call.name.clone());
            parts.push(parts::call(Some(id), Some(name), arguments));
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let model = string(record.model).map(|model| quoted(&model));
    let tokens = |raw: Raw<'_>| decode::<u64>(raw).unwrap_or(0);
    let usage = decode::<Counts<'_>>(record.tokens).map(|counts| {
        let input = tokens(counts.input).saturating_add(tokens(counts.tool));
        let thoughts = tokens(counts.thoughts);
        Usage::new(input, tokens(counts.output).saturating_add(thoughts))
            .cached(tokens(counts.cached), 0)
            .reasoned(thoughts)
    });
    let mut steps = vec![
        append(Role::Assistant, parts, time(record.timestamp), span)
            .by_model(model)
            .counted(usage),
    ];
    if !results.is_empty() {
        steps.push(append(Role::Tool, results, last, span));
    }
    steps
}

fn append(role: Role, parts: Vec<Part>, time: Option<Millis>, span: Span) -> Step {
    Step::append(Message::new(role, parts), span).at(time)
}

fn thinking(thought: &RawValue) -> Part {
    let thought: Thought<'_> = decode(Some(thought)).unwrap_or_default();
    let lines = [thought.subject, thought.description].map(|line| string(line).unwrap_or_default());
    let filled = lines.into_iter().filter(|text| !text.is_empty());
    let text = filled.collect::<Vec<_>>().join("\n\n");
    Part::thinking(text, None, Some(PROVIDER))
}
