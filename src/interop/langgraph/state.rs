//! The state of a checkpoint: when it was made, and the messages in it.

use serde_json::{Map, Value};

use super::msgpack;
use crate::interop::rows::bytes;

/// The channel that holds the messages, by the framework's own habit.
pub(super) const HABIT: &str = "messages";

/// What a checkpoint holds.
pub(super) struct State {
    pub(super) time: Option<String>,
    /// The messages of each channel that has some, by its name.
    pub(super) channels: Map<String, Value>,
}

impl State {
    /// Reads a checkpoint as its row has it.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in words.
    pub(super) fn of(kind: Option<&str>, held: &Value) -> Result<Self, String> {
        let bytes = bytes(Some(held));
        let state = match kind {
            Some("msgpack") => msgpack::read(&bytes)?,
            // The first versions name no kind.
            Some("json") | None => {
                serde_json::from_slice(&bytes).map_err(|error| error.to_string())?
            }
            Some(other) => return Err(format!("a state of the kind '{other}' is not read")),
        };
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
        Ok(Self { time, channels })
    }
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
