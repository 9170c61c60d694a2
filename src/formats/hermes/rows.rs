//! The database: the export of a session, put together from all of its rows.
//!
//! # Source
//!
//! `hermes_state.py` of `hermes-agent` 0.19.0 on PyPI.

use std::collections::HashMap;

use serde_json::Value;

use super::MESSAGES;
use crate::error::Result;
use crate::formats::shared::rows::{
    Row, Rows, StoredSession, Tables, WithDocument, is_json, length, object, starters_first, text,
};
use crate::wire::json::{Object, array};

/// The database's name.
pub(super) const DATABASE: &str = "state.db";

/// How sessions stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[
        (
            SESSIONS,
            &["id", "system_prompt", "started_at", "api_call_count"],
        ),
        (
            MESSAGES,
            &["id", OWNER, "role", CONTENT, CALLS, TIME, ACTIVE],
        ),
    ],
    sessions,
    document,
};

const SESSIONS: &str = "sessions";
const OWNER: &str = "session_id";
const CONTENT: &str = "content";
const CALLS: &str = "tool_calls";
const TIME: &str = "timestamp";
const ACTIVE: &str = "active";

/// The columns that hold JSON.
const JSON: [&str; 4] = [
    CALLS,
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
];

/// What stands before a content that is a list of parts.
const LISTED: &str = "\0json:";

/// How many rows a session's messages are, how long their texts are, and when the newest was written, in seconds.
type Sum = (u64, u64, i64);

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sums = rows.summed(MESSAGES, OWNER, CONTENT, TIME)?.into_iter();
    let sums = sums.map(|(id, count, bytes, newest)| (id, (count, bytes, newest)));
    let mut sums: HashMap<String, Sum> = sums.collect();
    let all = rows.rows(SESSIONS, None, &["started_at", "id"])?;
    Ok(starters_first(&all, |row| {
        let sum = sums.remove(text(row, "id")?).unwrap_or_default();
        stored(row, sum)
    }))
}

fn stored(row: &Row, (count, size_bytes, newest): Sum) -> Option<StoredSession> {
    // What was taken back leaves no other trace in a session's rows as a whole.
    let rewinds = row.get("rewind_count").and_then(Value::as_u64);
    let begun = row.get("started_at").and_then(seconds);
    Some(StoredSession {
        id: text(row, "id")?.to_owned(),
        spawned_by: text(row, "model_config").and_then(|config| named_in(config, STARTED_BY)),
        cwd: text(row, "cwd").map(str::to_owned),
        rows: count + 1 + rewinds.unwrap_or_default(),
        size_bytes,
        updated: newest.max(begun.unwrap_or_default()).saturating_mul(1_000),
    })
}

/// The members of a session's settings that name the session whose agent started it, and the one that it was
/// branched off.
pub(super) const STARTED_BY: &str = "_delegate_from";
pub(super) const BRANCHED_FROM: &str = "_branched_from";

/// The session that settings, as JSON, name by a member.
pub(super) fn named_in(config: &str, member: &str) -> Option<String> {
    let config: Value = serde_json::from_str(config).ok()?;
    config[member].as_str().map(str::to_owned)
}

fn seconds(time: &Value) -> Option<i64> {
    time.as_f64().map(|seconds| seconds as i64)
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows(SESSIONS, Some(("id", id)), &[])?;
    let Some(session) = found.into_iter().next() else {
        return Ok(None);
    };
    let messages = rows.rows(MESSAGES, Some((OWNER, id)), &["id"])?;
    let times = messages.iter().filter_map(|row| seconds(row.get(TIME)?));
    let newest = times.max().unwrap_or_default();
    let sum = (messages.len() as u64, length(&messages, CONTENT), newest);
    let found = stored(&session, sum);
    let messages = messages.iter().map(|row| message(row).finish());
    let document = object(&session, |column| (column, false)).raw(MESSAGES, &array(messages));
    Ok(found.map(|found| (found, document.finish())))
}

/// A message's row as an export has it.
fn message(row: &Row) -> Object {
    let listed = text(row, CONTENT).and_then(|text| text.strip_prefix(LISTED));
    let listed = listed.filter(|json| is_json(json));
    let columns = row
        .iter()
        .filter(|(column, _)| listed.is_none() || *column != CONTENT);
    let message = object(columns, |column| (column, JSON.contains(&column)));
    match listed {
        Some(json) => message.raw(CONTENT, json),
        None => message,
    }
}
