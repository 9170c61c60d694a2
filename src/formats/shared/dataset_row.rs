//! One row of a data set, as JSON.
//!
//! Messages have the form of OpenAI's Chat Completions, with a text for content: so a column of them has one type.
//! Deliberately absent: which messages a row has.

use crate::formats::shared::tool_offer::Offered;
use crate::model::{Message, Millis, Part, Role, Usage};
use crate::wire::json::{Object, array};

/// A row.
pub(crate) struct Row<'r> {
    pub(crate) id: String,
    /// The columns of messages, by their names.
    pub(crate) said: Vec<(&'r str, &'r String)>,
    pub(crate) tools: Option<&'r str>,
    pub(crate) model: Option<&'r str>,
    pub(crate) outcome: Option<&'r str>,
    pub(crate) usage: Option<Usage>,
    pub(crate) dollars: Option<f64>,
    pub(crate) source: &'r str,
    pub(crate) number: u64,
    pub(crate) commit: String,
    pub(crate) begun: Option<Millis>,
    pub(crate) ended: Option<Millis>,
    pub(crate) license: Option<&'r str>,
}

impl Row<'_> {
    /// Its JSON. Each row has the same members.
    pub(crate) fn line(self) -> String {
        let mut row = Object::new().string("id", &self.id);
        for (name, column) in self.said {
            row = row.raw(name, column);
        }
        let of = |field: fn(&Usage) -> u64| {
            let count = self.usage.as_ref().map(field);
            count.map_or("null".to_owned(), |count| count.to_string())
        };
        let dollars = self.dollars.filter(|dollars| dollars.is_finite());
        let dollars = dollars.map_or("null".to_owned(), |dollars| format!("{dollars:?}"));
        let [begun, ended] = [self.begun, self.ended].map(|time| time.map(Millis::to_iso));
        row.nullable("tools", self.tools)
            .nullable("model", self.model)
            .nullable("outcome", self.outcome)
            .raw("input_tokens", &of(|usage| usage.input_tokens))
            .raw("cached_tokens", &of(|usage| usage.cached_tokens))
            .raw("output_tokens", &of(|usage| usage.output_tokens))
            .raw("cost_usd", &dollars)
            .string("source", self.source)
            .number("number", self.number)
            .string("commit", &self.commit)
            .nullable("begun", begun.as_deref())
            .nullable("ended", ended.as_deref())
            .nullable("license", self.license)
            .finish()
    }
}

/// Values as a list.
pub(crate) fn list(values: impl Iterator<Item = String>) -> String {
    array(values)
}

/// The tools of a setting `tools`, as Chat Completions take them; none where there are none.
pub(crate) fn offered(tools: &str) -> Option<String> {
    let tools = Offered::all(tools).filter(|tools| !tools.is_empty())?;
    Some(array(tools.iter().map(Offered::nested)))
}

/// A message as Chat Completions have it: one for each result, and one for all else.
pub(crate) fn spoken(message: &Message, left_out: &mut u64) -> Vec<String> {
    let mut spoken = Vec::new();
    let (mut texts, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for part in &message.parts {
        match part {
            Part::Text { text } => texts.push(text.as_str()),
            Part::Thinking { text, .. } => {
                if !text.is_empty() {
                    thoughts.push(text.as_str());
                }
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let function = Object::new()
                    .string("name", name)
                    .string("arguments", arguments);
                let call = Object::new().string("id", id).string("type", "function");
                calls.push(call.raw("function", &function.finish()).finish());
            }
            Part::ToolResult { call, content, .. } => {
                let given: Vec<&str> = content.iter().filter_map(Part::as_text).collect();
                *left_out += (content.len() - given.len()) as u64;
                let result = Object::new().string("role", "tool");
                let result = result.string("content", &given.join("\n"));
                spoken.push(result.string("tool_call_id", call).finish());
            }
            Part::Image(_) | Part::File(_) | Part::Opaque { .. } => *left_out += 1,
        }
    }
    let is_results = !message.parts.is_empty() && message.parts.iter().all(Part::is_result);
    if is_results {
        return spoken;
    }
    let role = match message.role {
        Role::Tool => Role::User,
        role => role,
    };
    let mut said = Object::new()
        .string("role", role.as_str())
        .string("content", &texts.join("\n"));
    if !thoughts.is_empty() {
        said = said.string("reasoning_content", &thoughts.join("\n\n"));
    }
    if !calls.is_empty() {
        said = said.raw("tool_calls", &array(calls));
    }
    spoken.push(said.finish());
    spoken
}
