//! The records of a rollout as they are decoded: borrowed, with what must stay verbatim as raw
//! JSON text.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::json::{Raw, decode, string};

/// One line, enveloped or legacy.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Record<'a> {
    pub timestamp: Raw<'a>,
    pub r#type: Raw<'a>,
    pub payload: Raw<'a>,
    /// Legacy: the type of a line that is no item.
    pub record_type: Raw<'a>,
}

/// The working directory that a rollout's first line names.
pub(super) fn cwd(first_line: &str) -> Option<String> {
    let first: Value = serde_json::from_str(first_line).ok()?;
    let cwd = first["payload"]["cwd"].as_str().or(first["cwd"].as_str());
    cwd.map(str::to_owned)
}

/// A `session_meta`, or the first line of a legacy file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct SessionMeta<'a> {
    pub id: Raw<'a>,
    pub forked_from_id: Raw<'a>,
    pub cwd: Raw<'a>,
    pub source: Raw<'a>,
    pub base_instructions: Raw<'a>,
    pub instructions: Raw<'a>,
    pub dynamic_tools: Raw<'a>,
}

impl SessionMeta<'_> {
    /// The system prompt, in the new form or the old one.
    pub fn system_prompt(&self) -> Option<String> {
        let base: Value = decode(self.base_instructions).unwrap_or_default();
        let base = base["text"].as_str().or(base.as_str());
        base.map(str::to_owned)
            .or_else(|| string(self.instructions))
            .filter(|text| !text.is_empty())
    }

    /// The thread that spawned this one, where `source` says so.
    pub fn spawned_by(&self) -> Option<String> {
        let source: Value = decode(self.source)?;
        let parent = &source["subagent"]["thread_spawn"]["parent_thread_id"];
        parent.as_str().map(str::to_owned)
    }
}

/// A `turn_context`: what of it belongs to the request.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct TurnContext<'a> {
    pub cwd: Raw<'a>,
    pub model: Raw<'a>,
    pub effort: Raw<'a>,
}

/// A `compacted` record.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Compacted<'a> {
    pub message: Raw<'a>,
    pub replacement_history: Option<Vec<&'a RawValue>>,
}

/// An `event_msg`: the fields that matter of all its types.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    pub r#type: Raw<'a>,
    pub message: Raw<'a>,
    pub text: Raw<'a>,
    pub thread_name: Raw<'a>,
    pub num_turns: Raw<'a>,
    pub info: Raw<'a>,
}

/// A `token_count`'s `info`.
#[derive(Debug, Deserialize)]
pub(super) struct TokenInfo {
    #[serde(default)]
    pub total_token_usage: Option<TokenUsage>,
    #[serde(default)]
    pub last_token_usage: Option<TokenUsage>,
}

/// Tokens of one reply, or of all so far.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct TokenUsage {
    #[serde(default)]
    pub input_tokens: u64,
    #[serde(default)]
    pub output_tokens: u64,
    #[serde(default)]
    pub total_tokens: u64,
}
