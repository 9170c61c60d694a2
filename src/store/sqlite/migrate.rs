//! Which databases are opened, and how they are brought up to date.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::wrap;
use crate::error::{Error, Result};

/// `application_id` of a tract database: "trct".
const APPLICATION: u32 = 0x7472_6374;

/// Every migration, oldest first. `user_version` is how many have been applied.
const MIGRATIONS: [&str; 3] = [
    include_str!("../../../migrations/0001_objects.sql"),
    include_str!("../../../migrations/0002_refs.sql"),
    include_str!("../../../migrations/0003_sources.sql"),
];

/// Looks at a file's header without opening it as a database, so that one that is refused is left
/// as it was. An empty file is a database to be.
///
/// # Source
///
/// The SQLite file format, "The Database Header": user version at offset 60, application id at 68.
pub(super) fn inspect(path: &Path) -> Result<()> {
    let mut header = [0u8; 100];
    let mut file = File::open(path).map_err(Error::io(path))?;
    let size = file.metadata().map_err(Error::io(path))?.len();
    if size == 0 {
        return Ok(());
    }
    let foreign = || Error::ForeignDatabase {
        path: path.to_owned(),
    };
    if size < 100 {
        return Err(foreign());
    }
    file.read_exact(&mut header).map_err(Error::io(path))?;
    let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(foreign());
    }
    // All zero: made by SQLite, and its first migration is still in the journal.
    let fresh = number(68) == 0 && number(60) == 0 && wal_of(path).exists();
    if number(68) != APPLICATION && !fresh {
        return Err(foreign());
    }
    let known = MIGRATIONS.len() as u32;
    if number(60) > known {
        return Err(Error::NewerDatabase {
            found: number(60),
            known,
        });
    }
    let page = match u32::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        page => page,
    };
    if u64::from(page) == 0 || size % u64::from(page) != 0 {
        return Err(Error::Damaged {
            detail: format!("{} is cut short", path.display()),
        });
    }
    Ok(())
}

fn wal_of(path: &Path) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn version(connection: &Connection) -> Result<u32> {
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(wrap)
}

/// Applies what is missing, in one transaction.
pub(super) fn apply(connection: &Connection) -> Result<()> {
    let known = MIGRATIONS.len() as u32;
    let check = |found: u32| {
        if found > known {
            Err(Error::NewerDatabase { found, known })
        } else {
            Ok(found)
        }
    };
    if check(version(connection)?)? == known {
        return Ok(());
    }
    let tx = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
        .map_err(wrap)?;
    // Another process may have been here while this one waited.
    let from = check(version(&tx)?)?;
    for migration in &MIGRATIONS[from as usize..] {
        tx.execute_batch(migration).map_err(wrap)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION)
        .map_err(wrap)?;
    tx.pragma_update(None, "user_version", known)
        .map_err(wrap)?;
    tx.commit().map_err(wrap)?;
    // The header carries both numbers from here on, for `inspect`.
    let _ = connection.pragma_update(None, "wal_checkpoint", "PASSIVE");
    Ok(())
}
