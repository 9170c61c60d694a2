//! A line of the stream as events.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::formats::codex::TokenUsage;
use crate::formats::shared::parts;
use crate::formats::shared::stream::{EventReader, Telling};
use crate::model::{Part, StatedUsage};
use crate::tree::{Ending, Event, Happening};
use crate::wire::json::{decode, string};

/// What an item's type says of what it gives back. Everything else of it is what was asked.
const RESULTS: [&str; 7] = [
    "aggregated_output",
    "exit_code",
    "status",
    "result",
    "error",
    "id",
    "type",
];

/// Knows which items have started, and which run of the thread this is: each counts its items from
/// 0 again.
#[derive(Default)]
pub(super) struct ExecReader {
    runs: u64,
    started: HashSet<String>,
    /// How much of each item's output was told.
    told: HashMap<String, usize>,
}

lazy! { struct Line { kind = "type", thread_id, item, error, message, usage } }

impl EventReader for ExecReader {
    fn read(&mut self, record: &RawValue) -> Telling {
        let Ok(line) = serde_json::from_str::<Line<'_>>(record.get()) else {
            return Telling::other("(no object)");
        };
        let kind = string(line.kind).unwrap_or_else(|| "(no type)".to_owned());
        let mut told = Telling::default();
        let what = match kind.as_str() {
            "thread.started" => {
                self.runs += 1;
                told.session = string(line.thread_id);
                Vec::new()
            }
            "turn.started" => vec![Happening::TurnStart],
            "turn.completed" => {
                // The sum of all requests of the thread, those of earlier runs included. No reply has a count, and nothing
                // names the model.
                if let Some(usage) = decode::<TokenUsage>(line.usage) {
                    let mut stated = StatedUsage::default();
                    stated.add(String::new(), usage.usage());
                    told.stated = stated.if_any();
                }
                vec![Happening::TurnEnd]
            }
            "turn.failed" => {
                let error: Value = decode(line.error).unwrap_or_default();
                let text = error["message"].as_str().unwrap_or("the turn failed");
                let text = text.to_owned();
                vec![Happening::Fault { text }, Happening::TurnEnd]
            }
            "error" => vec![Happening::Fault {
                text: string(line.message).unwrap_or_default(),
            }],
            "item.started" | "item.updated" | "item.completed" => {
                let item: Map<String, Value> = decode(line.item).unwrap_or_default();
                self.item(&item, kind == "item.completed", &mut told)
            }
            _ => {
                told.other = Some(kind);
                Vec::new()
            }
        };
        told.events = what.into_iter().map(Event::new).collect();
        told
    }
}

impl ExecReader {
    fn item(
        &mut self,
        item: &Map<String, Value>,
        is_complete: bool,
        told: &mut Telling,
    ) -> Vec<Happening> {
        let word = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let text = || word("text").to_owned();
        match word("type") {
            "agent_message" if is_complete => vec![Happening::Block(Part::text(text()))],
            "reasoning" if is_complete => vec![Happening::Block(parts::thought(text()))],
            "error" if is_complete => vec![Happening::Fault {
                text: word("message").to_owned(),
            }],
            "agent_message" | "reasoning" | "error" => Vec::new(),
            "" => {
                told.other = Some("item".to_owned());
                Vec::new()
            }
            kind => self.call(kind, item, is_complete),
        }
    }

    /// An item that does something: a call, what it has given out so far, and its result.
    fn call(&mut self, kind: &str, item: &Map<String, Value>, is_complete: bool) -> Vec<Happening> {
        let word = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let call = match self.runs {
            0 | 1 => word("id").to_owned(),
            run => format!("{run}/{}", word("id")),
        };
        let mut what = Vec::new();
        if self.started.insert(call.clone()) {
            let (name, arguments) = match kind {
                "mcp_tool_call" => {
                    let arguments = item.get("arguments").unwrap_or(&Value::Null);
                    (word("tool").to_owned(), arguments.to_string())
                }
                kind => {
                    let asked = item
                        .iter()
                        .filter(|(key, _)| !RESULTS.contains(&key.as_str()));
                    let asked = asked.map(|(key, value)| (key.clone(), value.clone()));
                    let asked: Map<String, Value> = asked.collect();
                    (kind.to_owned(), Value::from(asked).to_string())
                }
            };
            what.push(Happening::Call {
                call: call.clone(),
                name,
                arguments,
            });
        }
        let output = word("aggregated_output");
        if is_complete {
            let code = item.get("exit_code").and_then(Value::as_i64);
            let failed = code.is_some_and(|code| code != 0)
                || ["failed", "declined"].contains(&word("status"));
            what.push(Happening::Answer {
                call,
                content: content(item, output),
                ending: Ending::of(failed),
            });
        } else if !output.is_empty() {
            // It tells all of it each time.
            let told = self.told.entry(call.clone()).or_default();
            let more = output.get(*told..).unwrap_or_default();
            *told = output.len();
            what.extend((!more.is_empty()).then(|| Happening::Output {
                call,
                text: more.to_owned(),
                offset: Some(output.len() as u64),
            }));
        }
        what
    }
}

/// What an item gave back.
fn content(item: &Map<String, Value>, output: &str) -> Vec<Part> {
    let given = ["result", "error"]
        .into_iter()
        .filter_map(|key| item.get(key));
    let given = given.filter(|value| !value.is_null());
    let text = given.map(|value| match (value, &value["message"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (value, _) => value.to_string(),
    });
    let output = Some(output.to_owned()).filter(|output| !output.is_empty());
    output.into_iter().chain(text).map(Part::text).collect()
}
