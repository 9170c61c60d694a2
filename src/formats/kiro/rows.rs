//! The tool's database: the object of a conversation as it stands in its row.
//!
//! Older versions have one conversation for each directory, newer ones as many as there are.

use serde_json::Value;

use super::{DATABASE, ID};
use crate::error::Result;
use crate::formats::shared::rows::{
    Row, Rows, StoredSession, Tables, WithDocument, has, length, sizes, text,
};
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

/// Whether there is the table of newer versions.
fn is_newer(rows: &dyn Rows) -> Result<bool> {
    has(rows, NEWER, &[PLACE, VALUE, ID, UPDATED])
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
        let sizes = sizes(rows, [NEWER, ID, VALUE])?;
        for row in rows.picked(NEWER, &[PLACE, ID, UPDATED], None, &[UPDATED, PLACE])? {
            let size = text(&row, ID).and_then(|id| sizes.get(id));
            found.extend(newer(&row, size.copied().unwrap_or_default()));
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
        let bytes = length(&all, VALUE);
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
