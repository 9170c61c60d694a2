//! How the file stands.

use rusqlite::types::FromSql;

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
    let session = Session::read(store)?;
    Ok(Health {
        engine: format!("SQLite {}", rusqlite::version()),
        format: u32::try_from(pragma::<i64>(store, "user_version")?).unwrap_or(0),
        room: room::room(store, &session)?,
        upkeep: session.upkeep()?,
        owes_scrub: store.owes_scrub.get(),
        place: HealthOf::File(FileHealth {
            journal_mode: pragma(store, "journal_mode")?,
            synchronous: pragma::<i64>(store, "synchronous")?.cast_unsigned(),
            is_being_written,
        }),
    })
}

/// What SQLite says of one of its settings.
fn pragma<T: FromSql>(store: &Sqlite, name: &str) -> Result<T> {
    let value = store
        .connection
        .pragma_query_value(None, name, |row| row.get(0));
    value.map_err(engine)
}
