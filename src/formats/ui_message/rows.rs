//! Mastra's database: the object of a thread, put together from its rows.
//!
//! # Source
//!
//! `stores/libsql/src/storage/domains/memory` of <https://github.com/mastra-ai/mastra>.

use std::collections::HashMap;

use super::{MESSAGES, THREAD};
use crate::error::Result;
use crate::formats::shared::rows::{
    ROWID, Row, Rows, StoredSession, Tables, WithDocument, length, moment, object, text,
};
use crate::wire::json::{Object, array, text_at};

/// The database's name where Mastra Code has it; a program of one's own calls it as it likes.
pub(super) const DATABASE: &str = "mastra.db";

/// How threads stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[
        (THREADS, &["id", "title", CREATED, UPDATED]),
        (TABLE, &["id", OWNER, CONTENT, "role", CREATED]),
    ],
    sessions,
    document,
};

const THREADS: &str = "mastra_threads";
const TABLE: &str = "mastra_messages";
const OWNER: &str = "thread_id";
const CONTENT: &str = "content";
const CREATED: &str = "createdAt";
const UPDATED: &str = "updatedAt";

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sums = rows.summed(TABLE, OWNER, CONTENT, ROWID)?.into_iter();
    let sums = sums.map(|(id, count, bytes, _)| (id, (count, bytes)));
    let mut sums: HashMap<String, (u64, u64)> = sums.collect();
    let threads = rows.rows(THREADS, None, &[CREATED, ROWID])?;
    let stored = threads.iter().filter_map(|row| {
        let sum = sums.remove(text(row, "id")?).unwrap_or_default();
        stored(row, sum)
    });
    Ok(stored.collect())
}

fn stored(thread: &Row, (rows, size_bytes): (u64, u64)) -> Option<StoredSession> {
    Some(StoredSession {
        id: text(thread, "id")?.to_owned(),
        cwd: text(thread, "metadata").and_then(|about| text_at(about, "projectPath")),
        rows: rows + 1,
        size_bytes,
        updated: moment(thread, UPDATED),
        ..StoredSession::default()
    })
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows(THREADS, Some(("id", id)), &[])?;
    let Some(thread) = found.into_iter().next() else {
        return Ok(None);
    };
    let messages = rows.rows(TABLE, Some((OWNER, id)), &[CREATED, ROWID])?;
    let found = stored(&thread, (messages.len() as u64, length(&messages, CONTENT)));
    let messages = messages.iter().map(|row| of(row, CONTENT));
    // When a thread was last written changes with each message.
    let thread = thread
        .into_iter()
        .filter(|(column, _)| column != UPDATED)
        .collect();
    let document = Object::new().raw(THREAD, &of(&thread, "metadata"));
    let document = document.raw(MESSAGES, &array(messages)).finish();
    Ok(found.map(|found| (found, document)))
}

/// A row as it stands, but for a column that holds JSON.
fn of(row: &Row, json: &str) -> String {
    object(row, |column| (column, column == json)).finish()
}
