//! OpenClaw's database of an agent: the JSON Lines of a session, put together from its rows.
//!
//! Each row holds an entry as it stood on a line of earlier versions, as text or as a zstd frame of it. Which entries lead
//! to where the session stands is told by the entries; the tool's own list of those is an index, and is not read. Of a
//! session that another one's agent started, the first line also names that one.
//!
//! # Source
//!
//! `src/config/sessions/transcript-payload.ts`, `src/state/openclaw-agent-schema.ts` of
//! <https://github.com/openclaw/openclaw>. Observed: a database of 2026.9.6.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::Result;
use crate::formats::shared::rows::{
    Row, Rows, StoredSession, Tables, WithDocument, bytes, has, sizes, starters_first, text,
    unpacked,
};
use crate::wire::json::quoted;

/// The database's name.
pub(super) const DATABASE: &str = "openclaw-agent.sqlite";

/// How sessions stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[
        (EVENTS, &[SESSION, NUMBER, EVENT, CREATED]),
        (WINDOWS, &[SESSION, KEY]),
    ],
    sessions,
    document,
};

const EVENTS: &str = "transcript_events";
const SESSION: &str = "session_id";
const NUMBER: &str = "seq";
const EVENT: &str = "event_json";
const PACKED: &str = "event_zstd";
const CREATED: &str = "created_at";

const WINDOWS: &str = "session_windows";
const KEY: &str = "session_key";
const STARTER: &str = "spawned_by";
const UPDATED: &str = "transcript_updated_at";

/// Which session each key means.
const NODES: &str = "session_nodes";
const CURRENT: &str = "current_session_id";

/// The longest entry that the tool packs: 4 MiB.
const ENTRY_BYTES_MAX: u64 = 4 << 20;

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let (windows, keys) = (Windows::of(rows)?, keys(rows)?);
    let mut sums: HashMap<String, StoredSession> = HashMap::new();
    for (id, count, size_bytes, newest) in rows.summed(EVENTS, SESSION, EVENT, CREATED)? {
        let sum = StoredSession {
            rows: count,
            size_bytes,
            updated: newest,
            ..StoredSession::default()
        };
        sums.insert(id, sum);
    }
    if has(rows, EVENTS, &[PACKED])? {
        for (id, more) in sizes(rows, [EVENTS, SESSION, PACKED])? {
            sums.entry(id).or_default().size_bytes += more;
        }
    }
    // The first entry is never packed.
    let first = rows.picked(EVENTS, &[SESSION, EVENT], Some((NUMBER, "0")), &[])?;
    for row in first {
        let sum = text(&row, SESSION).and_then(|id| sums.get_mut(id));
        if let Some(sum) = sum {
            sum.cwd = cwd(text(&row, EVENT));
        }
    }
    let all = rows.picked(WINDOWS, &windows.columns, None, &[SESSION])?;
    Ok(starters_first(&all, |row| {
        let sum = sums.remove(text(row, SESSION)?)?;
        stored(row, sum, &keys)
    }))
}

/// The columns of a session's row that are there.
struct Windows {
    columns: Vec<&'static str>,
}

impl Windows {
    fn of(rows: &dyn Rows) -> Result<Self> {
        let here = rows.columns(WINDOWS)?;
        let newer = [STARTER, UPDATED].into_iter();
        let newer = newer.filter(|name| here.iter().any(|column| column == name));
        Ok(Self {
            columns: [SESSION, KEY].into_iter().chain(newer).collect(),
        })
    }
}

/// The session that each key means.
fn keys(rows: &dyn Rows) -> Result<HashMap<String, String>> {
    if !has(rows, NODES, &[KEY, CURRENT])? {
        return Ok(HashMap::new());
    }
    let nodes = rows.picked(NODES, &[KEY, CURRENT], None, &[])?;
    let pairs = nodes.iter().filter_map(|row| {
        let pair = text(row, KEY).zip(text(row, CURRENT))?;
        Some((pair.0.to_owned(), pair.1.to_owned()))
    });
    Ok(pairs.collect())
}

/// A session by its row and the sum of its entries.
fn stored(row: &Row, sum: StoredSession, keys: &HashMap<String, String>) -> Option<StoredSession> {
    let written = row.get(UPDATED).and_then(Value::as_i64);
    Some(StoredSession {
        id: text(row, SESSION)?.to_owned(),
        spawned_by: text(row, STARTER).and_then(|key| keys.get(key).cloned()),
        updated: sum.updated.max(written.unwrap_or_default()),
        ..sum
    })
}

/// The working directory that a session's first entry says.
fn cwd(first: Option<&str>) -> Option<String> {
    let first: Value = serde_json::from_str(first?).ok()?;
    first["cwd"].as_str().map(str::to_owned)
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let windows = Windows::of(rows)?;
    let found = rows.picked(WINDOWS, &windows.columns, Some((SESSION, id)), &[])?;
    let mut columns = vec![NUMBER, EVENT, CREATED];
    columns.extend(has(rows, EVENTS, &[PACKED])?.then_some(PACKED));
    let entries = rows.picked(EVENTS, &columns, Some((SESSION, id)), &[NUMBER])?;
    let Some(window) = found.first().filter(|_| !entries.is_empty()) else {
        return Ok(None);
    };
    let number = |row: &Row, column| row.get(column).and_then(Value::as_i64);
    let mut sum = StoredSession {
        rows: entries.len() as u64,
        ..StoredSession::default()
    };
    let mut lines = String::new();
    for row in &entries {
        let packed = bytes(row.get(PACKED));
        let plain = text(row, EVENT);
        sum.updated = sum.updated.max(number(row, CREATED).unwrap_or_default());
        sum.size_bytes += (plain.unwrap_or_default().len() + packed.len()) as u64;
        if number(row, NUMBER) == Some(0) {
            sum.cwd = cwd(plain);
        }
        let line = match plain {
            Some(plain) => plain.to_owned(),
            None => entry(&packed),
        };
        // Between the tokens of JSON, a line's end is white space.
        lines += &line.replace('\n', " ");
        lines.push('\n');
    }
    let found = stored(window, sum, &keys(rows)?);
    Ok(found.map(|session| {
        let lines = match &session.spawned_by {
            Some(starter) => started_by(&lines, starter),
            None => lines,
        };
        (session, lines)
    }))
}

/// The entry in a frame; of one that is damaged why that is so, which is no entry.
fn entry(packed: &[u8]) -> String {
    let (bytes, damage) = unpacked(packed, ENTRY_BYTES_MAX + 1);
    match damage {
        Some(why) => quoted(&why),
        None => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// The lines with who started the session in the first of them.
fn started_by(lines: &str, starter: &str) -> String {
    let starter = quoted(starter);
    match lines.split_once("}\n") {
        Some((first, rest)) => format!("{first},\"spawnedBy\":{starter}}}\n{rest}"),
        None => lines.to_owned(),
    }
}
