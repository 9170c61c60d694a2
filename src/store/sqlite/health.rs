//! How the file stands.

use super::{Sqlite, engine, room, session::Session};
use crate::error::{Error, Result};
use crate::store::{FileHealth, Health, HealthOf, Refs, Store};

/// All of it.
pub(super) fn health(store: &Sqlite) -> Result<Health> {
    let is_being_written = match store.begin(false) {
        // It is never committed.
        Ok(_) => Some(false),
        Err(Error::Busy { .. }) => Some(true),
        Err(Error::ReadOnly) => None,
        Err(error) => return Err(error),
    };
    let text = |pragma: &str| -> Result<String> {
        let read = |row: &rusqlite::Row<'_>| row.get(0);
        let value = store.connection.pragma_query_value(None, pragma, read);
        value.map_err(engine)
    };
    let number = |pragma: &str| -> Result<i64> {
        let read = |row: &rusqlite::Row<'_>| row.get(0);
        let value = store.connection.pragma_query_value(None, pragma, read);
        value.map_err(engine)
    };
    let session = Session::read(store)?;
    Ok(Health {
        engine: format!("SQLite {}", rusqlite::version()),
        format: u32::try_from(number("user_version")?).unwrap_or(0),
        room: room::room(store, &session)?,
        upkeep: session.upkeep()?,
        owes_scrub: store.owes_scrub.get(),
        place: HealthOf::File(FileHealth {
            journal_mode: text("journal_mode")?,
            synchronous: number("synchronous")?.cast_unsigned(),
            is_being_written,
        }),
    })
}
