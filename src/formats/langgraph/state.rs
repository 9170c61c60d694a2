//! The state of a checkpoint: when it was made, and the messages in it; and what a task wrote.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::msgpack;
use crate::formats::shared::rows::bytes;

/// The channel that holds the messages, by the framework's own habit.
pub(super) const HABIT: &str = "messages";

/// What a checkpoint holds.
pub(super) struct State {
    pub(super) time: Option<String>,
    /// The messages of each channel that has some, by its name.
    pub(super) channels: Map<String, Value>,
    /// The channels that were ever written.
    pub(super) written: HashSet<String>,
}

impl State {
    /// Reads a checkpoint as its row has it.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in words.
    pub(super) fn of(kind: Option<&str>, held: &Value) -> Result<Self, String> {
        let state = value(kind, held, "state")?;
        let time = state.get("ts").and_then(Value::as_str).map(str::to_owned);
        let mut channels = Map::new();
        if let Some(Value::Object(values)) = state.get("channel_values") {
            for (name, value) in values {
                let Value::Array(all) = value else { continue };
                let messages: Vec<Value> = all.iter().filter_map(message).collect();
                // An empty list says that there is none left, where it is the messages'.
                if messages.len() == all.len() && (!all.is_empty() || name == HABIT) {
                    channels.insert(name.clone(), messages.into());
                }
            }
        }
        let versions = state.get("channel_versions").and_then(Value::as_object);
        let written = versions.into_iter().flat_map(Map::keys).cloned().collect();
        Ok(Self {
            time,
            channels,
            written,
        })
    }
}

/// What a column holds.
fn value(kind: Option<&str>, held: &Value, what: &str) -> Result<Value, String> {
    let bytes = bytes(Some(held));
    match kind {
        Some("msgpack") => msgpack::read(&bytes),
        // The first versions name no kind.
        Some("json") | None => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
        Some("null") => Ok(Value::Null),
        Some(other) => Err(format!("a {what} of the kind '{other}' is not read")),
    }
}

/// A change of a channel of messages.
pub(super) enum Change {
    /// All that came before is gone.
    Clear,
    /// The message with an id is gone.
    Remove(String),
    /// A message: in the place of the one with its id, or at the end.
    Put(Value),
}

/// What a write makes of a channel of messages: an overwrite, a message or several; none where it is of something
/// else.
///
/// # Errors
///
/// Why it cannot be read, in words.
pub(super) fn changes(kind: Option<&str>, held: &Value) -> Result<Option<Vec<Change>>, String> {
    let value = value(kind, held, "write")?;
    let is_mark = |value: &Value| value.as_str() == Some("__overwrite__");
    let overwrites = value.get("class").is_some_and(|class| class == "Overwrite")
        || value.get("type").is_some_and(is_mark);
    let base = match value.get("__overwrite__") {
        Some(base) => Some(base),
        None if overwrites => value.pointer("/kwargs/value").or(value.get("value")),
        None => None,
    };
    let mut found: Vec<Change> = base.map(|_| Change::Clear).into_iter().collect();
    let items = match base.unwrap_or(&value) {
        Value::Array(items) => &items[..],
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    for item in items {
        let Some(message) = message(item).or_else(|| plain_message(item)) else {
            return Ok(None);
        };
        let id = message["kwargs"].get("id").and_then(Value::as_str);
        found.push(match (message["class"].as_str(), id) {
            (Some("RemoveMessage"), Some("__remove_all__")) => Change::Clear,
            (Some("RemoveMessage"), id) => Change::Remove(id.unwrap_or_default().to_owned()),
            _ => Change::Put(message),
        });
    }
    Ok(Some(found))
}

/// A message that is told by its role, as a client of a graph may write it.
fn plain_message(value: &Value) -> Option<Value> {
    let told = value.get("role").or(value.get("type"))?.as_str()?;
    let class = match told {
        "user" | "human" => "HumanMessage",
        "assistant" | "ai" => "AIMessage",
        "tool" => "ToolMessage",
        "system" => "SystemMessage",
        "remove" => "RemoveMessage",
        _ => return None,
    };
    let is_one = class == "RemoveMessage" || value.get("content").is_some();
    is_one.then(|| json!({"class": class, "kwargs": value}))
}

/// A message by its class and what it was made of; none of another object.
fn message(value: &Value) -> Option<Value> {
    let class = match (value.get("class"), value.get("id")) {
        (Some(class), _) => class.as_str()?,
        // JSON names the class by the way to it.
        (None, Some(Value::Array(way))) => way.last()?.as_str()?,
        _ => return None,
    };
    let made_of = value.get("kwargs")?.as_object()?;
    let is_one = class.ends_with("Message") || class.ends_with("MessageChunk");
    (is_one && made_of.contains_key("content")).then(|| {
        let mut message = Map::new();
        message.insert("class".to_owned(), class.into());
        message.insert("kwargs".to_owned(), made_of.clone().into());
        message.into()
    })
}
