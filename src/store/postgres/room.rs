//! What takes the room on the server, by tables.

use super::columns::get;
use super::session::Session;
use crate::error::Result;
use crate::store::columns::Columns;
use crate::store::{Room, RoomOf, tables};

/// What is in a table; its indexes are counted with it.
fn kind(table: &str) -> RoomOf {
    tables::named(table).map_or(RoomOf::Names, |table| table.room)
}

/// The room that the tables take.
pub(super) fn room(session: &Session<'_>) -> Result<Room> {
    let sql = "SELECT relname::text::bytea, pg_total_relation_size(oid) FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'";
    let mut room = Room::default();
    for row in session.query(sql, &[])?.iter() {
        let table: &[u8] = get(row, 0)?;
        room.add(kind(&String::from_utf8_lossy(table)), row.unsigned(1)?);
    }
    room.0.sort_unstable();
    Ok(room)
}
