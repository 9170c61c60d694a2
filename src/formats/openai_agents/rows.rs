//! The database of the SDK: the object of a session, put together from its rows.
//!
//! An item stands in it as its text in the row does; one that is no JSON is kept as text.
//!
//! # Source
//!
//! `SQLiteSession` and `AdvancedSQLiteSession` of <https://github.com/openai/openai-agents-python>.

use std::collections::BTreeMap;

use super::{ITEMS, ORDER, SESSION};
use crate::error::Result;
use crate::formats::shared::rows::{
    self, Row, Rows, StoredSession, Tables, WithDocument, has, length, moment, text,
};
use crate::wire::json::{Object, array};

const SESSIONS: &str = "agent_sessions";
const ID: &str = "session_id";
pub(super) const ITEM: &str = "message_data";
/// What the SDK counted for a turn, and nothing is read of yet.
const USAGE: &str = "turn_usage";

/// How sessions stand in the database.
pub(super) const TABLES: Tables = Tables {
    // It stands wherever its program has put it.
    file: "conversations.db",
    shown_by: &[
        (SESSIONS, &[ID, "updated_at"]),
        (ITEMS, &["id", ID, ITEM, "created_at"]),
    ],
    sessions,
    document,
};

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sums = rows.summed(ITEMS, ID, ITEM, "id")?.into_iter();
    let sums = sums.map(|(id, count, bytes, _)| (id, (count, bytes)));
    let mut sums: BTreeMap<String, (u64, u64)> = sums.collect();
    let mut found = Vec::new();
    for row in rows.rows(SESSIONS, None, &["created_at", ID])? {
        if let Some(id) = text(&row, ID) {
            found.push(stored(id, Some(&row), sums.remove(id).unwrap_or_default()));
        }
    }
    // Items may be here without their session.
    let others = sums.into_iter();
    found.extend(others.map(|(id, sum)| stored(&id, None, sum)));
    Ok(found)
}

fn stored(id: &str, row: Option<&Row>, (rows, size_bytes): (u64, u64)) -> StoredSession {
    StoredSession {
        id: id.to_owned(),
        rows,
        size_bytes,
        updated: row.map_or(0, |row| moment(row, "updated_at")),
        ..StoredSession::default()
    }
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let own = Some((ID, id));
    let session = rows.rows(SESSIONS, own, &[])?.into_iter().next();
    let items = rows.rows(ITEMS, own, &["id"])?;
    if session.is_none() && items.is_empty() {
        return Ok(None);
    }
    let sum = (items.len() as u64, length(&items, ITEM));
    let found = stored(id, session.as_ref(), sum);
    let session = session.unwrap_or_else(|| Row::from_iter([(ID.to_owned(), id.into())]));
    let mut document = Object::new()
        .raw(SESSION, &object(&session))
        .raw(ITEMS, &array(items.iter().map(object)));
    for (table, order) in [(ORDER, "sequence_number"), (USAGE, "id")] {
        if has(rows, table, &[ID, "id", order])? {
            let rows = rows.rows(table, own, &[order, "id"])?;
            document = document.raw(table, &array(rows.iter().map(object)));
        }
    }
    Ok(Some((found, document.finish())))
}

/// A row as it stands, but for its item, which is JSON in JSON.
fn object(row: &Row) -> String {
    rows::object(row, |column| (column, column == ITEM)).finish()
}
