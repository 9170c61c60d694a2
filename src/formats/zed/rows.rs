//! The editor's database: the object of a thread as it stands packed in its row, with what the row says beside it.
//!
//! Older versions have fewer columns; what they packed is JSON or a zstd frame of it. A frame that is damaged is what
//! is whole of it.

use super::{DATABASE, ROW};
use crate::error::Result;
use crate::formats::shared::records::DOCUMENT_BYTES_MAX;
use crate::formats::shared::rows::{
    Row, Rows, StoredSession, Tables, WithDocument, bytes, moment, sizes, starters_first, text,
    unpacked,
};
use crate::wire::json::Object;

/// How threads stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[(TABLE, &[ID, "summary", UPDATED, KIND, DATA])],
    sessions,
    document,
};

const TABLE: &str = "threads";
/// The thread's id.
pub(super) const ID: &str = "id";
const UPDATED: &str = "updated_at";
const KIND: &str = "data_type";
const DATA: &str = "data";

/// The columns of newer versions: which thread started it, and in which folders it was begun, one a line, with the
/// places in which they were given.
pub(super) const PARENT: &str = "parent_id";
pub(super) const FOLDERS: &str = "folder_paths";
pub(super) const ORDER: &str = "folder_paths_order";

/// The member that says what is wrong with what was packed.
pub(super) const DAMAGE: &str = "damage";

/// The first folder as they were given.
pub(super) fn first_folder(folders: &str, order: Option<&str>) -> Option<String> {
    let places = order.unwrap_or_default().split(',');
    let places = places.map(|place| place.parse().unwrap_or(usize::MAX));
    // Where a place is missing, the folders are in their order.
    let all = folders
        .lines()
        .zip(places.chain(std::iter::repeat(usize::MAX)));
    let first = all.min_by_key(|(_, place)| *place)?.0;
    (!first.is_empty()).then(|| first.to_owned())
}

fn stored(row: &Row, size_bytes: u64) -> Option<StoredSession> {
    let folders = text(row, FOLDERS);
    Some(StoredSession {
        id: text(row, ID)?.to_owned(),
        spawned_by: text(row, PARENT).map(str::to_owned),
        cwd: folders.and_then(|folders| first_folder(folders, text(row, ORDER))),
        rows: 1,
        size_bytes,
        updated: moment(row, UPDATED),
    })
}

/// The columns to read, as far as they are there.
fn columns(rows: &dyn Rows) -> Result<Vec<&'static str>> {
    let here = rows.columns(TABLE)?;
    let newer = [PARENT, FOLDERS, ORDER].into_iter();
    let newer = newer.filter(|name| here.iter().any(|column| column == name));
    Ok([ID, UPDATED].into_iter().chain(newer).collect())
}

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let sizes = sizes(rows, [TABLE, ID, DATA])?;
    let all = rows.picked(TABLE, &columns(rows)?, None, &[UPDATED, ID])?;
    Ok(starters_first(&all, |row| {
        let size = sizes.get(text(row, ID)?).copied();
        stored(row, size.unwrap_or_default())
    }))
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let mut columns = columns(rows)?;
    columns.extend([KIND, DATA]);
    let found = rows.picked(TABLE, &columns, Some((ID, id)), &[])?;
    let Some(row) = found.into_iter().next() else {
        return Ok(None);
    };
    let packed = bytes(row.get(DATA));
    let size_bytes = packed.len() as u64;
    let (json, damage) = match text(&row, KIND) {
        Some("zstd") => unpacked(&packed, DOCUMENT_BYTES_MAX),
        Some("json") => (packed, None),
        kind => {
            let why = format!(
                "its data is of an unknown kind '{}'",
                kind.unwrap_or_default()
            );
            (Vec::new(), Some(why))
        }
    };
    let about = [ID, PARENT, FOLDERS, ORDER]
        .into_iter()
        .fold(Object::new(), |about, column| {
            about.optional(column, text(&row, column))
        });
    let thread = String::from_utf8_lossy(&json);
    let document = joined(about, &thread, damage);
    Ok(stored(&row, size_bytes).map(|session| (session, document)))
}

/// A thread's object with what its row says at its front; whatever is broken in it stays so.
fn joined(about: Object, thread: &str, damage: Option<String>) -> String {
    let members = thread.trim_start().strip_prefix('{');
    let is_other = damage.is_none() && members.is_none();
    let damage = damage.or(is_other.then(|| "its data is no object".to_owned()));
    let about = about.optional(DAMAGE, damage.as_deref()).finish();
    let mut document = Object::new().raw(ROW, &about).finish();
    if let Some(members) = members {
        document.pop();
        if !members.trim_start().starts_with('}') {
            document.push(',');
        }
        document += members;
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_is_the_one_that_was_given_first() {
        let first = |folders, order| first_folder(folders, order);
        assert_eq!(first("/a\n/b", Some("1,0")).as_deref(), Some("/b"));
        assert_eq!(first("/a\n/b", Some("0,1")).as_deref(), Some("/a"));
        assert_eq!(first("/a\n/b", None).as_deref(), Some("/a"));
        assert_eq!(first("/a\n/b", Some("x")).as_deref(), Some("/a"));
        assert_eq!(first("", None), None);
    }
}
