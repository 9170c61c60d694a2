//! The importer: the summary of what was taken away, then the entries of the history.

use std::collections::VecDeque;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{entry, summary};
use super::{HISTORY, ID};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts;
use crate::model::{Message, Millis, Part, depth};
use crate::wire::json::{Raw, array, decode, quoted};

/// A conversation.
#[derive(Default)]
pub(super) struct Conversation {
    summed_up: Option<(String, Range<usize>)>,
    has_tools: bool,
    /// The ids that calls without one got, and that no result has answered.
    open: VecDeque<String>,
    made: usize,
}

impl Document for Conversation {
    const RECORDS: &'static str = HISTORY;
    const LACKING: &'static [&'static str] = &["system prompt", "context files"];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        let raw = member.raw;
        match member.key {
            ID => teller.name(member.word()),
            "latest_summary" => {
                let told: Vec<Value> = decode(Some(raw)).unwrap_or_default();
                let told = told.first().and_then(Value::as_str).map(str::to_owned);
                self.summed_up = told.map(|told| (told, member.at.clone()));
            }
            "model_info" => teller.set("model", model(raw)),
            "tools" => {
                let tools = tools(raw);
                self.has_tools = tools.is_some();
                teller.set("tools", tools);
            }
            // What is said next, if it was not sent, and what the tool goes back to.
            "next_message" | "tangent_state" if raw.get() != "null" => teller.end.other(member.key),
            _ => {}
        }
        true
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        if !self.has_tools {
            teller.end.absent.push("tool definitions".to_owned());
        }
        teller.open()?;
        let Some((told, at)) = self.summed_up.take() else {
            return Ok(());
        };
        let mut summed_up = summary(&told).into_iter();
        summed_up.try_for_each(|message| self.message(message, None, &at, teller))
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let Some(found) = teller.read(at, |raw, _| entry(raw))? else {
            return Ok(());
        };
        teller.set("model", found.model.as_deref().map(quoted));
        teller.end.cwd = teller.end.cwd.take().or(found.cwd);
        for message in found.given {
            self.message(message, found.given_at, at, teller)?;
        }
        if let Some(reply) = found.reply {
            return self.message(reply, found.replied_at, at, teller);
        }
        teller.end.other("entry without a reply");
        Ok(())
    }
}

impl Conversation {
    /// Tells of a message, in which each call has an id.
    fn message(
        &mut self,
        mut message: Message,
        time: Option<Millis>,
        at: &Range<usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        for part in &mut message.parts {
            match part {
                Part::ToolCall { id, .. } if id.is_empty() => {
                    self.made += 1;
                    *id = format!("call-{}", self.made);
                    self.open.push_back(id.clone());
                }
                Part::ToolResult { call, .. } if call.is_empty() => {
                    let answered = self.open.pop_front();
                    *call = answered.unwrap_or_else(|| "call-?".to_owned());
                }
                _ => {}
            }
        }
        teller.append(message, at, time, None).map(drop)
    }
}

fn model(raw: &RawValue) -> Option<String> {
    let info: Value = decode(Some(raw))?;
    Some(quoted(info.get("model_id")?.as_str()?))
}

/// The tools that are offered, by name: the tool keeps them in no order.
fn tools(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Tool<'a> {
        #[serde(rename = "ToolSpecification")]
        specification: Specification<'a>,
    }
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Specification<'a> {
        name: String,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        input_schema: Raw<'a>,
    }
    lazy! { struct Schema { json } }
    let all: std::collections::BTreeMap<String, Vec<&RawValue>> = decode(Some(raw))?;
    let mut found = Vec::new();
    for raw in all.into_values().flatten() {
        let Some(Tool {
            specification: tool,
        }) = decode::<Tool<'_>>(Some(raw))
        else {
            continue;
        };
        let schema = decode::<Schema<'_>>(tool.input_schema).and_then(|it| it.json);
        let schema = schema.map_or("{}", RawValue::get);
        let offered = parts::tool(&tool.name, tool.description.as_deref(), schema);
        found.push((tool.name, offered));
    }
    found.sort();
    let tools = array(found.into_iter().map(|(_, tool)| tool));
    let is_one = tools != "[]" && depth::check_json("tools", &tools, 1).is_ok();
    is_one.then_some(tools)
}
