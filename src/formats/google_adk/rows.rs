//! The database: the object of a session, put together from its rows.
//!
//! A session's id is unique for one user of one application; its name here is all three. Events are in the order of their
//! times, then of their rows.
//!
//! # Source
//!
//! `DatabaseSessionService` and `SqliteSessionService` of <https://github.com/google/adk-python>.

use std::collections::HashMap;

use serde_json::Value;

use super::{EVENTS, SESSION};
use crate::error::Result;
use crate::formats::shared::rows::{
    ROWID, Row, Rows, StoredSession, Tables, WithDocument, is_json, length, moment, object, text,
};
use crate::wire::json::{Object, array, quoted};

/// How sessions stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[
        (SESSIONS, &["app_name", "user_id", "id", UPDATED]),
        (
            TABLE,
            &["app_name", "user_id", OWNER, "invocation_id", TIME, DATA],
        ),
    ],
    sessions,
    document,
};

/// What the kit calls a database of which nobody says where it is.
pub(super) const DATABASE: &str = "session.db";
const SESSIONS: &str = "sessions";
const TABLE: &str = "events";
const OWNER: &str = "session_id";
const TIME: &str = "timestamp";
const DATA: &str = "event_data";
const UPDATED: &str = "update_time";

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sums = rows.summed(TABLE, OWNER, DATA, ROWID)?.into_iter();
    let sums = sums.map(|(id, count, bytes, _)| (id, (count, bytes)));
    let sums: HashMap<String, (u64, u64)> = sums.collect();
    let all = rows.rows(SESSIONS, None, &["create_time", ROWID])?;
    let stored = all.iter().filter_map(|row| {
        let sum = sums.get(text(row, "id")?).copied();
        stored(row, sum.unwrap_or_default())
    });
    Ok(stored.collect())
}

/// What all that bear the id come to is counted for each of them.
fn stored(row: &Row, (rows, size_bytes): (u64, u64)) -> Option<StoredSession> {
    let seconds = row.get(UPDATED).and_then(Value::as_f64);
    Some(StoredSession {
        id: name(row, "id")?,
        rows: rows + 1,
        size_bytes,
        updated: seconds.map_or_else(|| moment(row, UPDATED), |seconds| (seconds * 1000.0) as i64),
        ..StoredSession::default()
    })
}

/// A session's name, by a row that has its id in this column.
fn name(row: &Row, id: &str) -> Option<String> {
    let names = ["app_name", "user_id", id].map(|column| text(row, column));
    let names: Option<Vec<&str>> = names.into_iter().collect();
    Some(names?.join(":"))
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let is_it = |row: &Row| name(row, "id").as_deref() == Some(id);
    let mut found = rows.rows(SESSIONS, None, &[])?.into_iter().filter(is_it);
    let Some(session) = found.next() else {
        return Ok(None);
    };
    let own = text(&session, "id").map(|own| (OWNER, own));
    let mut events = rows.rows(TABLE, own, &[TIME, ROWID])?;
    let found = stored(&session, (events.len() as u64, length(&events, DATA)));
    events.retain(|row| name(row, OWNER).as_deref() == Some(id));
    let events = events.iter().filter_map(|row| {
        let data = text(row, DATA)?;
        // What is no JSON is kept as text, for the reader to name.
        Some(if is_json(data) {
            data.to_owned()
        } else {
            quoted(data)
        })
    });
    // When it was last written, and what all deltas gave, change with each event.
    let session = session
        .iter()
        .filter(|(column, _)| !["state", UPDATED].contains(&column.as_str()));
    let session = object(session, |column| (column, false)).finish();
    let document = Object::new()
        .raw(SESSION, &session)
        .raw(EVENTS, &array(events))
        .finish();
    Ok(found.map(|found| (found, document)))
}
