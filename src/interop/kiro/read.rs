//! The importer: the summary of what was taken away, then the entries of the history.

use std::collections::VecDeque;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::said::{entry, summary};
use super::{HISTORY, ID};
use crate::error::Result;
use crate::interop::calls::Calls;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{elements, members};
use crate::interop::{Action, ImportOptions, Input, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Millis, Part, Settings, depth};
use crate::wire::json::{Object, Raw, array, decode, quoted, string, tight};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut end = SessionEnd::lacking(&["system prompt", "context files"]);
    let (mut history, mut summed_up) = (Vec::new(), None);
    let (mut settings, mut has_tools) = (Settings::new(), false);
    for (key, at) in keys {
        if key == HISTORY {
            let (found, torn) = elements(text.bytes, at.start);
            history = found;
            broken = torn.or(broken);
            continue;
        }
        let Ok((raw, lone)) = text.decode(&at) else {
            continue;
        };
        end.lone_surrogates += lone;
        match key.as_str() {
            ID => {
                start.id = string(Some(&raw))
                    .filter(|id| !id.is_empty())
                    .unwrap_or(start.id)
            }
            "latest_summary" => {
                let told: Vec<Value> = decode(Some(&raw)).unwrap_or_default();
                let told = told.first().and_then(Value::as_str).map(str::to_owned);
                summed_up = told.map(|told| (told, at));
            }
            "model_info" => settings.extend(model(&raw)),
            "tools" => {
                let tools = tools(&raw);
                has_tools = tools.is_some();
                settings.extend(tools.map(|tools| ("tools".to_owned(), tools)));
            }
            // What is said next, if it was not sent, and what the tool goes back to.
            "next_message" | "tangent_state" if raw.get() != "null" => end.other(key),
            _ => {}
        }
    }
    if !has_tools {
        end.absent.push("tool definitions".to_owned());
    }
    sink.session(start)?;
    let mut telling = Telling {
        sink,
        text,
        end,
        due: settings,
        model: None,
        open: VecDeque::new(),
        made: 0,
        calls: Calls::default(),
    };
    telling.model = telling.due.get("model").cloned();
    if let Some((told, at)) = summed_up {
        for message in summary(&told) {
            telling.message(message, None, &at)?;
        }
    }
    let count = history.len() as u64;
    for at in &history {
        telling.entry(at)?;
    }
    held.end(broken, telling.sink)?;
    telling.sink.progress(text.bytes.len() as u64, count);
    telling.sink.end(telling.end)
}

fn model(raw: &RawValue) -> Option<(String, String)> {
    let info: Value = decode(Some(raw))?;
    let id = info.get("model_id")?.as_str()?;
    Some(("model".to_owned(), quoted(id)))
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
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Schema<'a> {
        #[serde(default)]
        json: Raw<'a>,
    }
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
        let function = Object::new()
            .string("name", &tool.name)
            .optional("description", tool.description.as_deref())
            .raw("parameters", &tight(schema));
        let framed = Object::typed("function").raw("function", &function.finish());
        found.push((tool.name, framed.finish()));
    }
    found.sort();
    let tools = array(found.into_iter().map(|(_, tool)| tool));
    let is_one = tools != "[]" && depth::check_json("tools", &tools, 1).is_ok();
    is_one.then_some(tools)
}

struct Telling<'t, 's> {
    sink: &'s mut dyn Sink,
    text: Text<'t>,
    end: SessionEnd,
    /// Settings that the next step brings.
    due: Settings,
    model: Option<String>,
    /// The ids that calls without one got, and that no result has answered.
    open: VecDeque<String>,
    made: usize,
    calls: Calls,
}

impl Telling<'_, '_> {
    fn entry(&mut self, at: &Range<usize>) -> Result<()> {
        let lone = &mut self.end.lone_surrogates;
        let Some(found) = self.text.message(at, lone, self.sink, entry)? else {
            return Ok(());
        };
        if let Some(model) = found.model.as_deref().map(quoted)
            && self.model.as_ref() != Some(&model)
        {
            self.due.insert("model".to_owned(), model.clone());
            self.model = Some(model);
        }
        self.end.cwd = self.end.cwd.take().or(found.cwd);
        for message in found.given {
            self.message(message, found.given_at, at)?;
        }
        match found.reply {
            Some(reply) => self.message(reply, found.replied_at, at),
            None => {
                self.end.other("entry without a reply");
                Ok(())
            }
        }
    }

    fn message(
        &mut self,
        mut message: Message,
        time: Option<Millis>,
        at: &Range<usize>,
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
        self.calls.pair(&message, self.text, at, self.sink)?;
        self.sink.step(Step {
            time,
            settings: std::mem::take(&mut self.due),
            ..Step::new(Action::Append(message), self.text.span(at))
        })
    }
}
