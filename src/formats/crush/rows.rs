//! The database: the object of a session, put together from its rows.
//!
//! When a row was last written is left out. Messages are in the order of their seconds, then of their rows.
//!
//! # Source
//!
//! `internal/db/migrations` of <https://github.com/charmbracelet/crush>.

use std::collections::HashMap;

use super::MESSAGES;
use crate::error::Result;
use crate::formats::shared::rows::{
    ROWID, Row, Rows, StoredSession, Tables, WithDocument, length, object, starters_first, text,
};
use crate::wire::json::{Object, array};

/// How sessions stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: "crush.db",
    shown_by: &[
        (
            SESSIONS,
            &["id", PARENT, "title", "message_count", "completion_tokens"],
        ),
        (TABLE, &["id", OWNER, "role", PARTS, CREATED]),
    ],
    sessions,
    document,
};

const SESSIONS: &str = "sessions";
const PARENT: &str = "parent_session_id";
const TABLE: &str = "messages";
const OWNER: &str = "session_id";
const PARTS: &str = "parts";
const CREATED: &str = "created_at";
const UPDATED: &str = "updated_at";

/// How many rows a session's messages are, how long their texts are, and when one was last written, in seconds.
type Sum = (u64, u64, i64);

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sums = rows.summed(TABLE, OWNER, PARTS, UPDATED)?.into_iter();
    let sums = sums.map(|(id, count, bytes, newest)| (id, (count, bytes, newest)));
    let mut sums: HashMap<String, Sum> = sums.collect();
    let all = rows.rows(SESSIONS, None, &[CREATED, ROWID])?;
    Ok(starters_first(&all, |row| {
        let sum = sums.remove(text(row, "id")?).unwrap_or_default();
        stored(row, sum)
    }))
}

fn stored(row: &Row, (rows, size_bytes, newest): Sum) -> Option<StoredSession> {
    let own = row.get(UPDATED).and_then(serde_json::Value::as_i64);
    Some(StoredSession {
        id: text(row, "id")?.to_owned(),
        spawned_by: text(row, PARENT).map(str::to_owned),
        rows: rows + 1,
        size_bytes,
        updated: own.unwrap_or_default().max(newest).saturating_mul(1_000),
        ..StoredSession::default()
    })
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows(SESSIONS, Some(("id", id)), &[])?;
    let Some(session) = found.into_iter().next() else {
        return Ok(None);
    };
    let messages = rows.rows(TABLE, Some((OWNER, id)), &[CREATED, ROWID])?;
    let times = messages.iter().filter_map(|row| row.get(UPDATED)?.as_i64());
    let newest = times.max().unwrap_or_default();
    let sum = (messages.len() as u64, length(&messages, PARTS), newest);
    let found = stored(&session, sum);
    let messages = messages.iter().map(|row| of(row, &[UPDATED, OWNER]));
    let messages = messages.map(Object::finish);
    let document = of(&session, &[UPDATED]).raw(MESSAGES, &array(messages));
    Ok(found.map(|found| (found, document.finish())))
}

/// A row as an object, without some of its columns.
fn of(row: &Row, left_out: &[&str]) -> Object {
    let columns = row.iter();
    let columns = columns.filter(|(column, _)| !left_out.contains(&column.as_str()));
    object(columns, |column| {
        (column, [PARTS, "todos"].contains(&column))
    })
}
