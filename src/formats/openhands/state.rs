//! The state of a conversation, as far as it tells of requests: the model, what was counted for each reply, and what all
//! requests came to.
//!
//! Deliberately absent: all else in it, secrets among it.

use std::collections::HashMap;

use serde_json::Value;

use super::event::Event;
use crate::error::{Error, Result};
use crate::formats::Input;
use crate::model::{Span, StatedUsage, Usage, UsageRecord};
use crate::wire::json::{Object, decode, quoted, word};

/// What kind of event its line is, and of what: the tool tells its clients of it so.
const KIND: &str = "ConversationStateUpdateEvent";
const KEY: &str = "full_state";

/// What the state says of requests.
#[derive(Default)]
pub(super) struct State {
    pub(super) model: Option<String>,
    /// By the id of each reply.
    pub(super) replies: HashMap<String, UsageRecord>,
    pub(super) stated: Option<StatedUsage>,
}

/// The line that is made of the file; none where it says nothing of requests.
pub(super) fn line(text: &str) -> Option<String> {
    let state: Value = serde_json::from_str(text).ok()?;
    let model = state["agent"]["llm"]["model"].as_str();
    let stats = state.get("stats").filter(|stats| stats.is_object());
    let llm = Object::new().optional_raw("model", model.map(quoted).as_deref());
    let agent = Object::new().raw("llm", &llm.finish());
    let value = Object::new()
        .raw("agent", &agent.finish())
        .optional_raw("stats", stats.map(Value::to_string).as_deref());
    let line = Object::new()
        .string("kind", KIND)
        .string("key", KEY)
        .raw("value", &value.finish());
    (model.is_some() || stats.is_some()).then(|| line.finish())
}

impl State {
    /// What the last line of a source says, if that is its state.
    ///
    /// # Errors
    ///
    /// Where the source cannot be read.
    pub(super) fn of(input: &dyn Input) -> Result<Self> {
        let line = last_line(input)?;
        let event: Event<'_> = serde_json::from_slice(&line).unwrap_or_default();
        let is_state = word(event.kind).is_some_and(|kind| kind == KIND)
            && word(event.key).is_some_and(|key| key == KEY);
        let value: Option<Value> = decode(event.value).filter(|_| is_state);
        Ok(value.map(|value| Self::read(&value)).unwrap_or_default())
    }

    fn read(value: &Value) -> Self {
        let mut state = Self {
            model: value["agent"]["llm"]["model"].as_str().map(str::to_owned),
            ..Self::default()
        };
        let metrics = value["stats"]["usage_to_metrics"].as_object();
        let (mut stated, mut dollars) = (StatedUsage::default(), 0.0);
        for metrics in metrics.into_iter().flat_map(|all| all.values()) {
            let model = metrics["model_name"].as_str().unwrap_or_default();
            if let Some(usage) = usage(&metrics["accumulated_token_usage"]) {
                stated.add(model.to_owned(), usage);
            }
            dollars += metrics["accumulated_cost"].as_f64().unwrap_or_default();
            for counted in metrics["token_usages"].as_array().into_iter().flatten() {
                let reply = counted["response_id"].as_str().unwrap_or_default();
                let usage = usage(counted).map(|usage| (reply.to_owned(), usage.into()));
                state.replies.extend(usage);
            }
        }
        stated.cost(dollars);
        state.stated = stated.if_any();
        state
    }
}

/// What was counted; what was read from a cache is part of the prompt.
fn usage(counts: &Value) -> Option<Usage> {
    let count = |key: &str| counts[key].as_u64().unwrap_or(0);
    let usage = Usage::new(count("prompt_tokens"), count("completion_tokens"))
        .cached(count("cache_read_tokens"), count("cache_write_tokens"))
        .reasoned(count("reasoning_tokens"));
    (usage != Usage::default()).then_some(usage)
}

/// The last line of a source, without its end.
fn last_line(input: &dyn Input) -> Result<Vec<u8>> {
    let size = input.size_bytes();
    let mut len = size.min(1 << 16);
    loop {
        let offset = size - len;
        let tail = input
            .bytes(Span { offset, len })
            .map_err(Error::io("source"))?;
        let line = tail.trim_ascii_end();
        match line.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => return Ok(line[at + 1..].to_vec()),
            None if len == size => return Ok(line.to_vec()),
            None => len = size.min(len.saturating_mul(4)),
        }
    }
}
