//! The database: the object of a session, put together from its rows.
//!
//! Runs have a table of their own since version 3; before, they were a column of the session.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{RUNS, SESSION};
use crate::error::Result;
use crate::formats::shared::rows::{
    ROWID, Row, Rows, StoredSession, Tables, WithDocument, has, length, object, text,
};
use crate::wire::json::{Object, array, quoted};

/// How sessions stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[(
        SESSIONS,
        &[ID, "session_type", "session_data", "agent_data", CREATED],
    )],
    sessions,
    document,
};

/// What the database is called of which a program says no more.
pub(super) const DATABASE: &str = "agno.db";
const SESSIONS: &str = "agno_sessions";
const TABLE: &str = "agno_runs";
const ID: &str = "session_id";
const DATA: &str = "run_data";
const CREATED: &str = "created_at";
/// The column that held all runs.
const COLUMN: &str = "runs";

fn has_runs(rows: &dyn Rows) -> Result<bool> {
    has(rows, TABLE, &[ID, DATA, "run_index"])
}

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let mut sums = HashMap::new();
    if has_runs(rows)? {
        let found = rows.summed(TABLE, ID, DATA, ROWID)?.into_iter();
        sums.extend(found.map(|(id, count, bytes, _)| (id, (count, bytes))));
    }
    let all = rows.rows(SESSIONS, None, &[CREATED, ROWID])?;
    let stored = all.iter().filter_map(|row| {
        let sum = sums.get(text(row, ID)?).copied();
        stored(row, sum.unwrap_or_default())
    });
    Ok(stored.collect())
}

fn stored(row: &Row, (runs, size_bytes): (u64, u64)) -> Option<StoredSession> {
    let own = text(row, COLUMN).map_or(0, |text| text.len() as u64);
    let seconds = ["updated_at", CREATED]
        .into_iter()
        .find_map(|column| row.get(column)?.as_i64());
    Some(StoredSession {
        id: text(row, ID)?.to_owned(),
        rows: runs + 1,
        size_bytes: size_bytes + own,
        updated: seconds.unwrap_or_default().saturating_mul(1000),
        ..StoredSession::default()
    })
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows(SESSIONS, Some((ID, id)), &[])?.into_iter().next();
    let Some(session) = found else {
        return Ok(None);
    };
    let mut list = Vec::new();
    if has_runs(rows)? {
        list = rows.rows(TABLE, Some((ID, id)), &["run_index", CREATED, ROWID])?;
    }
    let found = stored(&session, (list.len() as u64, length(&list, DATA)));
    let mut runs: Vec<String> = Vec::new();
    let of_session = text(&session, COLUMN).map(json);
    if let Some(all) = &of_session {
        match serde_json::from_str::<Vec<&RawValue>>(all) {
            Ok(all) => runs.extend(all.into_iter().map(|run| run.get().to_owned())),
            Err(_) => runs.push(all.clone()),
        }
    }
    runs.extend(list.iter().filter_map(|row| Some(json(text(row, DATA)?))));
    // What all runs together came to changes with each.
    let changes = [COLUMN, "updated_at", "session_data", "summary"];
    let session = session
        .iter()
        .filter(|(column, _)| !changes.contains(&column.as_str()));
    let session = object(session, |column| {
        let is_json = ["agent_data", "team_data", "metadata"].contains(&column);
        (column, is_json)
    });
    let document = Object::new()
        .raw(SESSION, &session.finish())
        .raw(RUNS, &array(runs))
        .finish();
    Ok(found.map(|found| (found, document)))
}

/// The JSON in a column, which some versions wrote as a text of JSON. What is none is kept as text, for the reader to name.
fn json(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::String(inner)) if serde_json::from_str::<&RawValue>(&inner).is_ok() => inner,
        Ok(_) => text.to_owned(),
        Err(_) => quoted(text),
    }
}
