//! What takes the room in the file, counted by pages, and what each message and source takes of it.

use std::path::Path;

use super::session::Session;
use super::{Sqlite, schema};
use crate::error::Result;
use crate::store::columns::Columns;
use crate::store::tables;
use crate::store::{Room, RoomOf};

/// What is in a table, by its name; its indexes are counted with it, and so are the tables that the search
/// index keeps for itself.
fn kind(table: &str) -> RoomOf {
    let own = table.split_once('_').map_or(table, |(before, _)| before);
    let found = tables::named(table).or_else(|| tables::named(own));
    found.map_or(RoomOf::Names, |table| table.room)
}

/// The main file and the journal beside it; nothing of what is in memory.
fn files_bytes(store: &Sqlite) -> u64 {
    let path = store.connection.path().filter(|path| !path.is_empty());
    path.map(Path::new).map_or(0, |path| {
        let file = std::fs::metadata(path).map_or(0, |file| file.len());
        file + schema::journal_bytes(path)
    })
}

/// How large the files are.
pub(super) fn size_bytes(store: &Sqlite, session: &Session<'_>) -> Result<u64> {
    let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let pages = session.first(sql, [], |row| row.unsigned(0))?.unwrap_or(0);
    Ok(pages.max(files_bytes(store)))
}

/// The room that the files take.
pub(super) fn room(store: &Sqlite, session: &Session<'_>) -> Result<Room> {
    let mut room = Room::default();
    let sql = "SELECT coalesce(tbl_name, name), sum(pgsize), sum(unused), sum(ncell)
         FROM dbstat LEFT JOIN sqlite_schema USING (name) WHERE aggregate = TRUE GROUP BY 1";
    session.scan(sql, [], |row| {
        let table: String = row.get(0)?;
        let (pages, mut unused) = (row.unsigned(1)?, row.unsigned(2)?);
        if row.unsigned(3)? == 0 {
            // A page without a row has its own head alone.
            unused = pages;
        }
        room.add(kind(&table), pages - unused);
        room.add(RoomOf::Unused, unused);
        Ok(true)
    })?;
    let pragma = |name: &str| -> Result<u64> {
        let sql = format!("PRAGMA {name}");
        Ok(session.first(&sql, [], |row| row.unsigned(0))?.unwrap_or(0))
    };
    let (pages, free) = (pragma("page_count")?, pragma("freelist_count")?);
    let page_bytes = pragma("page_size")?;
    room.add(RoomOf::Free, free * page_bytes);
    // What no table is charged with: bookkeeping of the engine's own.
    let told = room.size_bytes();
    room.add(RoomOf::Unused, (pages * page_bytes).saturating_sub(told));
    // Pages that are in the journal alone are told already.
    let journal = files_bytes(store).saturating_sub(room.size_bytes());
    room.add(RoomOf::Journal, journal);
    room.0.sort_unstable();
    Ok(room)
}
