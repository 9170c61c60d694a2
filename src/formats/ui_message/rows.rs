//! Mastra's database: the object of a thread, put together from its rows.
//!
//! # Source
//!
//! `stores/libsql/src/storage/domains/memory` of <https://github.com/mastra-ai/mastra>.

use std::collections::{HashMap, HashSet};

use super::{MESSAGES, PARENT, THREAD};
use crate::error::Result;
use crate::formats::shared::rows::{
    ROWID, Row, Rows, StoredSession, Tables, WithDocument, length, moment, object, starters_first,
    text,
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
const UUID_BYTES: usize = 36;

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sums = rows.summed(TABLE, OWNER, CONTENT, ROWID)?.into_iter();
    let sums = sums.map(|(id, count, bytes, _)| (id, (count, bytes)));
    let mut sums: HashMap<String, (u64, u64)> = sums.collect();
    let threads = rows.rows(THREADS, None, &[CREATED, ROWID])?;
    let ids: HashSet<&str> = threads.iter().filter_map(|row| text(row, "id")).collect();
    Ok(starters_first(&threads, |row| {
        let id = text(row, "id")?;
        let parent = parent_of(id).filter(|parent| ids.contains(parent));
        stored(row, parent, sums.remove(id).unwrap_or_default())
    }))
}

/// The thread in which an agent asked another one, by the id of the thread that this made.
fn parent_of(id: &str) -> Option<&str> {
    let (parent, own) = id.split_at_checked(id.len().checked_sub(UUID_BYTES)?)?;
    let is_uuid = own.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    parent
        .strip_suffix('-')
        .filter(|it| is_uuid && !it.is_empty())
}

fn stored(
    thread: &Row,
    parent: Option<&str>,
    (rows, size_bytes): (u64, u64),
) -> Option<StoredSession> {
    Some(StoredSession {
        id: text(thread, "id")?.to_owned(),
        cwd: text(thread, "metadata").and_then(|about| text_at(about, "projectPath")),
        rows: rows + 1,
        size_bytes,
        updated: moment(thread, UPDATED),
        spawned_by: parent.map(str::to_owned),
    })
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows(THREADS, Some(("id", id)), &[])?;
    let Some(thread) = found.into_iter().next() else {
        return Ok(None);
    };
    let messages = rows.rows(TABLE, Some((OWNER, id)), &[CREATED, ROWID])?;
    let parent = match parent_of(id) {
        Some(parent) if !rows.rows(THREADS, Some(("id", parent)), &[])?.is_empty() => Some(parent),
        _ => None,
    };
    let size = (messages.len() as u64, length(&messages, CONTENT));
    let found = stored(&thread, parent, size);
    let messages = messages.iter().map(|row| of(row, CONTENT));
    // When a thread was last written changes with each message.
    let thread = thread
        .into_iter()
        .filter(|(column, _)| column != UPDATED)
        .collect();
    let document = Object::new().raw(THREAD, &of(&thread, "metadata"));
    let document = document.optional(PARENT, parent);
    let document = document.raw(MESSAGES, &array(messages)).finish();
    Ok(found.map(|found| (found, document)))
}

/// A row as it stands, but for a column that holds JSON.
fn of(row: &Row, json: &str) -> String {
    object(row, |column| (column, column == json)).finish()
}
