//! One event of an older run: an action, which the model asked for, or what came of it.
//!
//! Where a run does not keep what the model called, a call is named by its action and holds what the action says;
//! the next observation answers it.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::formats::shared::condensation::{Forget, Said};
use crate::formats::shared::parts;
use crate::model::{Message, Part, Role};

/// What a call's action says besides.
const NOT_ARGUMENTS: [&str; 12] = [
    "action",
    "thought",
    "source",
    "id",
    "timestamp",
    "message",
    "keep_prompt",
    "is_confirmed",
    "action_risk",
    "confirmation_state",
    "kernel_init_code",
    "tool_call_metadata",
];

/// The calls of a run that were not answered yet, and how many there were.
#[derive(Default)]
pub(super) struct Run {
    open: Vec<String>,
    calls: usize,
    has_prompt: bool,
}

fn text<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object[key].as_str().filter(|text| !text.is_empty())
}

impl Run {
    /// What an event says.
    pub(super) fn said(&mut self, raw: &RawValue) -> Result<Said, String> {
        let event: Value =
            serde_json::from_str(raw.get()).map_err(|error| format!("an event: {error}"))?;
        let said = match (text(&event, "action"), text(&event, "observation")) {
            (Some(action), _) => self.action(action, &event),
            (None, Some(what)) => self.observation(what, &event),
            (None, None) => {
                return Err("an event that is neither action nor observation".to_owned());
            }
        };
        if let Said::Message(message) = &said {
            parts::checked([message])?;
        }
        Ok(said)
    }

    fn action(&mut self, action: &str, event: &Value) -> Said {
        // Newer runs keep what an action says together.
        let args = if event["args"].is_object() {
            &event["args"]
        } else {
            event
        };
        let said = text(args, "content").or_else(|| text(args, "thought"));
        let words = said.map(Part::text);
        let (role, found) = match action {
            "system" => (Role::System, words.into_iter().collect()),
            "message" => {
                let is_first = !std::mem::replace(&mut self.has_prompt, true);
                let is_users = text(event, "source").map_or(is_first, |source| source == "user");
                let role = if is_users {
                    Role::User
                } else {
                    Role::Assistant
                };
                (role, words.into_iter().collect())
            }
            "condensation" => return Said::Forget(forgotten(args)),
            "change_agent_state" | "null" | "recall" | "pause" | "resume" | "stop" => {
                return Said::Nothing(action.to_owned());
            }
            "finish" if event["tool_call_metadata"].is_null() => {
                let outputs = text(args, "final_thought").map(Part::text);
                (Role::Assistant, words.into_iter().chain(outputs).collect())
            }
            _ => {
                let thought = text(args, "thought").map(Part::text);
                let call = self.call(action, args, &event["tool_call_metadata"]);
                (Role::Assistant, thought.into_iter().chain([call]).collect())
            }
        };
        let nothing = || Said::Nothing(format!("{action} (empty)"));
        parts::message(role, found).map_or_else(nothing, Said::Message)
    }

    fn call(&mut self, action: &str, args: &Value, known: &Value) -> Part {
        self.calls += 1;
        let id = text(known, "tool_call_id")
            .map_or_else(|| format!("call-{}", self.calls), str::to_owned);
        self.open.push(id.clone());
        let calls = known["model_response"]["choices"][0]["message"]["tool_calls"].as_array();
        let own = calls
            .into_iter()
            .flatten()
            .find(|call| call["id"] == id.as_str());
        let own = own.and_then(|call| text(&call["function"], "arguments"));
        let arguments = own.map_or_else(|| arguments(args), str::to_owned);
        let name = text(known, "function_name").unwrap_or(action).to_owned();
        parts::call(Some(id), Some(name), Some(arguments))
    }

    fn observation(&mut self, what: &str, event: &Value) -> Said {
        let named = text(&event["tool_call_metadata"], "tool_call_id");
        let at = match named {
            Some(id) => self.open.iter().position(|open| open == id),
            None if ["agent_state_changed", "null", "recall"].contains(&what) => None,
            None => self.open.len().checked_sub(1),
        };
        let words: Vec<Part> = text(event, "content").map(Part::text).into_iter().collect();
        if let Some(at) = at {
            let id = self.open.remove(at);
            let result = parts::result(Some(id), words, what == "error");
            return Said::Message(Message::new(Role::Tool, vec![result]));
        }
        let message = match what {
            "agent_state_changed" | "null" => None,
            // What nobody called for is told to the model as the user's.
            _ => parts::message(Role::User, words),
        };
        message.map_or_else(|| Said::Nothing(what.to_owned()), Said::Message)
    }
}

/// What an action says but for the thought, as JSON.
fn arguments(args: &Value) -> String {
    let members = args.as_object().into_iter().flatten();
    let members =
        members.filter(|(key, value)| !value.is_null() && !NOT_ARGUMENTS.contains(&key.as_str()));
    let found: Map<String, Value> = members
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Value::Object(found).to_string()
}

/// What a condensation leaves out: events by their numbers, or from one to another.
fn forgotten(args: &Value) -> Forget {
    let listed = args["forgotten_event_ids"].as_array().into_iter().flatten();
    let ends =
        ["forgotten_events_start_id", "forgotten_events_end_id"].map(|key| args[key].as_u64());
    let range = match ends {
        // No run is longer than what may be hidden at once.
        [Some(start), Some(end)] => start..end.saturating_add(1).min(start.saturating_add(1 << 20)),
        _ => 0..0,
    };
    let ids = listed.filter_map(Value::as_u64).chain(range);
    Forget {
        ids: ids.map(|id| id.to_string()).collect(),
        summary: text(args, "summary").map(str::to_owned),
        offset: args["summary_offset"]
            .as_u64()
            .and_then(|at| usize::try_from(at).ok()),
    }
}
