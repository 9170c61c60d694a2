//! The service's database: the export of a chat, put together from its row.
//!
//! When it was last looked at is left out, and so are copies that others may read.
//!
//! # Source
//!
//! `backend/open_webui/models/chats.py` of <https://github.com/open-webui/open-webui>.

use crate::error::Result;
use crate::formats::shared::rows::{
    Row, Rows, StoredSession, Tables, WithDocument, object, sizes, starters_first, text,
};

/// How chats stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: "webui.db",
    shown_by: &[(CHATS, &["id", OWNER, "title", CHATS, "created_at", UPDATED])],
    sessions,
    document,
};

/// The table, and its column with what was said.
const CHATS: &str = "chat";
const OWNER: &str = "user_id";
const UPDATED: &str = "updated_at";

/// The columns that hold JSON.
const JSON: [&str; 4] = [CHATS, "meta", "variables", "tasks"];

/// Those that change where nothing is said.
const LEFT_OUT: [&str; 2] = ["last_read_at", "timer_at"];

/// What the owner of a copy that others may read is called.
const SHARED: &str = "shared-";

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sizes = sizes(rows, [CHATS, "id", CHATS])?;
    let all = rows.picked(CHATS, &["id", OWNER, UPDATED], None, &[UPDATED, "id"])?;
    Ok(starters_first(&all, |row| {
        let size = sizes.get(text(row, "id")?).copied();
        stored(row, size.unwrap_or_default())
    }))
}

fn stored(row: &Row, size_bytes: u64) -> Option<StoredSession> {
    let updated = row.get(UPDATED).and_then(serde_json::Value::as_i64);
    let is_copy = text(row, OWNER).is_some_and(|owner| owner.starts_with(SHARED));
    let id = text(row, "id").filter(|_| !is_copy)?;
    Some(StoredSession {
        id: id.to_owned(),
        rows: 1,
        size_bytes,
        updated: updated.unwrap_or_default().saturating_mul(1_000),
        ..StoredSession::default()
    })
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows(CHATS, Some(("id", id)), &[])?;
    let Some(row) = found.first() else {
        return Ok(None);
    };
    let size = text(row, CHATS).map_or(0, |chat| chat.len() as u64);
    let columns = row.iter();
    let columns = columns.filter(|(column, _)| !LEFT_OUT.contains(&column.as_str()));
    let document = object(columns, |column| (column, JSON.contains(&column)));
    Ok(stored(row, size).map(|found| (found, document.finish())))
}
