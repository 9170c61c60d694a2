//! The records of a rollout as they are decoded: borrowed, with what must stay verbatim as raw
//! JSON text.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::parts;
use crate::formats::shared::spans::members;
use crate::formats::{Base, BaseEnd, Descent};
use crate::model::Usage;
use crate::wire::json::{Raw, decode, string, word};

lazy! {
    /// One line, enveloped or legacy.
    pub(super) struct Record {
        timestamp,
        /// Its number among the session's records, those before the file included; older files have none.
        ordinal,
        r#type, payload,
        /// Legacy: the type of a line that is no item.
        record_type,
    }
}

/// The working directory that a rollout's first line names.
pub(super) fn cwd(first_line: &str) -> Option<String> {
    let first: Value = serde_json::from_str(first_line).ok()?;
    let cwd = first["payload"]["cwd"].as_str().or(first["cwd"].as_str());
    cwd.map(str::to_owned)
}

/// What a rollout's first line says of other sessions, and its own session's id.
pub(super) fn descent(first_line: &str) -> Option<(String, Descent)> {
    let record = serde_json::from_str::<Record<'_>>(first_line).ok()?;
    if word(record.r#type)? != "session_meta" {
        return None;
    }
    let meta = serde_json::from_str::<SessionMeta<'_>>(record.payload?.get()).ok()?;
    Some((string(meta.id)?, meta.descent()))
}

/// The session that the one was forked from whose opening this is.
pub(super) fn copied_from(record: &str) -> Option<String> {
    if !record.contains(r#""forked_from_id""#) {
        return None;
    }
    let record = serde_json::from_str::<Record<'_>>(record).ok()?;
    let meta = serde_json::from_str::<SessionMeta<'_>>(record.payload?.get()).ok()?;
    string(meta.forked_from_id)
}

/// The number of the record that begins so.
pub(super) fn number(record: &[u8]) -> Option<u64> {
    let (members, _) = members(record, 0);
    let found = members.into_iter().find(|(key, _)| key == "ordinal");
    std::str::from_utf8(&record[found?.1]).ok()?.parse().ok()
}

lazy! {
    /// A `session_meta`, or the first line of a legacy file.
    pub(super) struct SessionMeta {
        id, timestamp, forked_from_id, parent_thread_id, history_base, cwd, source, base_instructions,
        instructions, dynamic_tools,
    }
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

    /// What it says of other sessions.
    pub fn descent(&self) -> Descent {
        let base = decode::<HistoryBase>(self.history_base).map(|base| Base {
            session: base.thread_id,
            thread: string(self.forked_from_id).or_else(|| string(self.id)),
            end: BaseEnd::Before {
                records: base.end_ordinal_exclusive,
                size_bytes: base.end_byte_offset,
            },
        });
        Descent {
            base,
            spawned_by: string(self.parent_thread_id).or_else(|| self.spawned_by()),
            begun: parts::time(self.timestamp),
        }
    }

    /// The thread that spawned this one, where `source` says so.
    pub fn spawned_by(&self) -> Option<String> {
        let source: Value = decode(self.source)?;
        let parent = &source["subagent"]["thread_spawn"]["parent_thread_id"];
        parent.as_str().map(str::to_owned)
    }
}

/// Where a session's records begin: in another file, up to a place of it.
#[derive(Debug, Deserialize)]
struct HistoryBase {
    thread_id: String,
    end_ordinal_exclusive: u64,
    end_byte_offset: Option<u64>,
}

/// The type of a record that says what a turn is made with.
pub(super) const TURN: &str = "turn_context";

lazy! {
    /// A `turn_context`: what of it belongs to the request.
    pub(super) struct TurnContext { cwd, model, effort }
}

/// A `token_usage_record`: what was counted for a request, whatever it was for.
#[derive(Deserialize)]
pub(super) struct CountedRequest {
    pub thread_id: Option<String>,
    pub usage: TokenUsage,
}

/// A `compacted` record.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Compacted<'a> {
    pub message: Raw<'a>,
    pub replacement_history: Option<Vec<&'a RawValue>>,
}

lazy! {
    /// An `event_msg`: the fields that matter of all its types.
    pub(super) struct Event {
        r#type, message, text, thread_name, num_turns, info, thread_id, new_thread_id, item,
    }
}

lazy! {
    /// What an `item_completed` says of other threads.
    struct Item { receiver_thread_ids, agent_thread_id }
}

impl Event<'_> {
    /// The threads that it names; the session's own may be among them.
    pub fn threads(&self) -> Vec<String> {
        let item = decode::<Item<'_>>(self.item).unwrap_or_default();
        let mut threads: Vec<String> = decode(item.receiver_thread_ids).unwrap_or_default();
        let others = [self.thread_id, self.new_thread_id, item.agent_thread_id];
        threads.extend(others.into_iter().filter_map(string));
        threads
    }
}

/// A `token_count`'s `info`.
#[derive(Deserialize)]
pub(super) struct TokenInfo {
    pub total_token_usage: Option<TokenUsage>,
    pub last_token_usage: Option<TokenUsage>,
}

/// Tokens of one reply, or of all so far.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(in crate::formats) struct TokenUsage {
    pub input_tokens: u64,
    pub cached_input_tokens: u64,
    pub cache_write_input_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_output_tokens: u64,
    pub total_tokens: u64,
}

impl TokenUsage {
    /// What it comes to.
    pub fn usage(&self) -> Usage {
        Usage::new(self.input_tokens, self.output_tokens)
            .cached(self.cached_input_tokens, self.cache_write_input_tokens)
            .reasoned(self.reasoning_output_tokens)
    }
}
