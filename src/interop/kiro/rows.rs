//! The tool's database: the object of a conversation as it stands in its row.
//!
//! Older versions have one conversation for each directory, newer ones as many as there are.

use serde_json::{Map, Value};

use super::{DATABASE, ID};
use crate::error::Result;
use crate::interop::rows::{Rows, StoredSession, Tables, WithDocument};
use crate::wire::json::text_at;

/// How conversations stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[
        (OLDER, &[PLACE, VALUE]),
        ("migrations", &["version", "migration_time"]),
    ],
    sessions,
    document,
};

const OLDER: &str = "conversations";
const NEWER: &str = "conversations_v2";

/// The columns of both: the directory, and the conversation.
const PLACE: &str = "key";
const VALUE: &str = "value";
const UPDATED: &str = "updated_at";

/// A row, by column.
type Row = Map<String, Value>;

/// Whether there is the table of newer versions.
fn is_newer(rows: &dyn Rows) -> Result<bool> {
    let columns = rows.columns(NEWER)?;
    let needed = [PLACE, VALUE, ID, UPDATED];
    Ok(needed
        .iter()
        .all(|name| columns.iter().any(|column| column == name)))
}

fn text<'r>(row: &'r Row, column: &str) -> Option<&'r str> {
    row.get(column)?.as_str()
}

/// A row of older versions as a session; none where it holds no conversation.
fn older(row: &Row) -> Option<StoredSession> {
    let value = text(row, VALUE)?;
    Some(StoredSession {
        id: text_at(value, ID)?,
        cwd: text(row, PLACE).map(str::to_owned),
        rows: 1,
        size_bytes: value.len() as u64,
        ..StoredSession::default()
    })
}

fn newer(row: &Row, size_bytes: u64) -> Option<StoredSession> {
    Some(StoredSession {
        id: text(row, ID)?.to_owned(),
        cwd: text(row, PLACE).map(str::to_owned),
        rows: 1,
        size_bytes,
        updated: row.get(UPDATED).and_then(Value::as_i64).unwrap_or_default(),
        ..StoredSession::default()
    })
}

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let mut found: Vec<StoredSession> = Vec::new();
    if is_newer(rows)? {
        let sums = rows.summed(NEWER, ID, VALUE, UPDATED)?;
        for row in rows.picked(NEWER, &[PLACE, ID, UPDATED], None, &[UPDATED, PLACE])? {
            let sum = sums.iter().find(|(id, ..)| Some(&**id) == text(&row, ID));
            let session = newer(&row, sum.map_or(0, |(_, _, bytes, _)| *bytes));
            found.extend(session);
        }
    }
    for row in rows.rows(OLDER, None, &[PLACE])? {
        found.extend(older(&row));
    }
    // Of rows with the same id one alone can be asked for.
    let mut met = std::collections::HashSet::new();
    found.retain(|it| met.insert(it.id.clone()));
    Ok(found)
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    if is_newer(rows)? {
        let all = rows.rows(NEWER, Some((ID, id)), &[UPDATED, PLACE])?;
        let bytes = all.iter().filter_map(|row| text(row, VALUE));
        let bytes = bytes.map(|value| value.len() as u64).sum();
        let found = all.into_iter().next().and_then(|row| {
            let value = text(&row, VALUE)?.to_owned();
            Some((newer(&row, bytes)?, value))
        });
        if found.is_some() {
            return Ok(found);
        }
    }
    let mut all = rows.rows(OLDER, None, &[PLACE])?.into_iter();
    Ok(all.find_map(|row| {
        let session = older(&row).filter(|session| session.id == id)?;
        Some((session, text(&row, VALUE)?.to_owned()))
    }))
}
