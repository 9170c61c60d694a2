//! The tool's database: the export of a session, put together from its rows.
//!
//! What stands in columns that hold JSON is put in as it is; what is no JSON there is kept as text. The number
//! of a message's row and when the row was written are left out: both change where the tool writes a
//! conversation anew, and its order is told by the rest.
//!
//! # Source
//!
//! `crates/goose/src/session/session_manager.rs` of <https://github.com/block/goose>.

use std::collections::HashMap;

use super::MESSAGES;
use crate::error::Result;
use crate::formats::shared::rows::{
    Row, Rows, StoredSession, Tables, WithDocument, has, length, moment, object, starters_first,
    text,
};
use crate::wire::json::array;

/// How sessions stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: "sessions.db",
    shown_by: &[
        (
            "sessions",
            &["id", "working_dir", "created_at", "updated_at"],
        ),
        (TABLE, &["id", OWNER, "role", CONTENT, CREATED]),
    ],
    sessions,
    document,
};

const TABLE: &str = "messages";
const OWNER: &str = "session_id";
const CONTENT: &str = "content_json";
const METADATA: &str = "metadata_json";
const CREATED: &str = "created_timestamp";

/// The columns that hold JSON, with the names that an export has for them.
const JSON: [(&str, &str); 6] = [
    ("extension_data", "extension_data"),
    ("recipe_json", "recipe"),
    ("user_recipe_values_json", "user_recipe_values"),
    ("model_config_json", "model_config"),
    (CONTENT, "content"),
    (METADATA, "metadata"),
];

/// Other columns of a message by the names that an export has for them.
const NAMED: [(&str, &str); 2] = [("message_id", "id"), (CREATED, "created")];

/// Those of a message that are left out.
const LEFT_OUT: [&str; 3] = ["id", OWNER, "timestamp"];

/// How many rows a session's messages are, and how long their texts are.
type Sum = (u64, u64);

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let mut sums: HashMap<String, Sum> = HashMap::new();
    for (id, count, bytes, _) in rows.summed(TABLE, OWNER, CONTENT, CREATED)? {
        sums.insert(id, (count, bytes));
    }
    // What a compaction changes stands there alone.
    if has(rows, TABLE, &[METADATA])? {
        for (id, _, bytes, _) in rows.summed(TABLE, OWNER, METADATA, CREATED)? {
            sums.entry(id).or_default().1 += bytes;
        }
    }
    let all = rows.rows("sessions", None, &["created_at", "id"])?;
    Ok(starters_first(&all, |row| {
        let sum = sums.remove(text(row, "id")?).unwrap_or_default();
        stored(row, sum)
    }))
}

fn stored(row: &Row, (rows, size_bytes): Sum) -> Option<StoredSession> {
    Some(StoredSession {
        id: text(row, "id")?.to_owned(),
        spawned_by: text(row, "parent_session_id").map(str::to_owned),
        cwd: text(row, "working_dir").map(str::to_owned),
        rows: rows + 1,
        size_bytes,
        updated: moment(row, "updated_at"),
    })
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows("sessions", Some(("id", id)), &[])?;
    let Some(session) = found.into_iter().next() else {
        return Ok(None);
    };
    let messages = rows.rows(TABLE, Some((OWNER, id)), &[CREATED, "id"])?;
    let bytes = length(&messages, CONTENT) + length(&messages, METADATA);
    let found = stored(&session, (messages.len() as u64, bytes));
    let messages = messages.iter().map(|row| {
        let left = row.iter();
        let left = left.filter(|(it, _)| !LEFT_OUT.contains(&it.as_str()));
        object(left, named).finish()
    });
    let document = object(&session, named).raw(MESSAGES, &array(messages));
    Ok(found.map(|found| (found, document.finish())))
}

/// The name that an export has for a column, and whether it holds JSON.
fn named(column: &str) -> (&str, bool) {
    let all = JSON.iter().chain(&NAMED);
    let name = all.into_iter().find(|(it, _)| *it == column);
    let is_json = JSON.iter().any(|(it, _)| *it == column);
    (name.map_or(column, |(_, name)| name), is_json)
}
