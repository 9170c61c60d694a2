//! The database file: recognising it, refusing it untouched, and bringing its tables up to date.
//!
//! A tract database carries an application id and counts its migrations in `user_version`, both of
//! which stand in the file's first 100 bytes. So a file is judged by reading those bytes, before
//! SQLite opens it and could write beside it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::engine;
use crate::error::{Error, Result};

/// In SQL order; a file that has landed is never edited.
const MIGRATIONS: [&str; 20] = [
    include_str!("../../../migrations/0001_objects.sql"),
    include_str!("../../../migrations/0002_refs.sql"),
    include_str!("../../../migrations/0003_sources.sql"),
    include_str!("../../../migrations/0004_search.sql"),
    include_str!("../../../migrations/0005_undo.sql"),
    include_str!("../../../migrations/0006_notes.sql"),
    include_str!("../../../migrations/0007_seals.sql"),
    include_str!("../../../migrations/0008_no_triggers.sql"),
    include_str!("../../../migrations/0009_scrubs.sql"),
    include_str!("../../../migrations/0010_changes.sql"),
    include_str!("../../../migrations/0011_attached.sql"),
    include_str!("../../../migrations/0012_totals.sql"),
    include_str!("../../../migrations/0013_tool_uses.sql"),
    include_str!("../../../migrations/0014_checks.sql"),
    include_str!("../../../migrations/0015_summaries.sql"),
    include_str!("../../../migrations/0016_collections.sql"),
    include_str!("../../../migrations/0017_dictionaries.sql"),
    include_str!("../../../migrations/0018_followed.sql"),
    include_str!("../../../migrations/0019_counted_changes.sql"),
    include_str!("../../../migrations/0020_unread.sql"),
];

/// The format that this program writes: the number of migrations.
pub(super) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// `TRCT` in ASCII.
const APPLICATION_ID: u32 = 0x5452_4354;

/// What stands at a path where a database is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No file, or a file without a byte.
    Nothing,
    /// A tract database.
    Database,
}

/// Judges the file by its header, without SQLite.
///
/// # Source
///
/// <https://www.sqlite.org/fileformat2.html#the_database_header>
pub(super) fn inspect(path: &Path) -> Result<Found> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(Error::io(path)(error)),
    };
    let mut header = Vec::with_capacity(100);
    (&mut file)
        .take(100)
        .read_to_end(&mut header)
        .map_err(Error::io(path))?;
    if header.is_empty() {
        return Ok(Found::Nothing);
    }
    let foreign = || Error::ForeignDatabase {
        path: path.to_owned(),
    };
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(foreign());
    }
    let number = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        u32::from_be_bytes(bytes)
    };
    if number(68) != APPLICATION_ID {
        return Err(foreign());
    }
    if number(60) > KNOWN {
        return Err(Error::NewerDatabase {
            found: number(60),
            known: KNOWN,
        });
    }
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let size_bytes = file.metadata().map_err(Error::io(path))?.len();
    // The page count is only to be trusted where the two change counters agree, and while no
    // journal could complete the file.
    let counted = number(24) == number(92) && journal_bytes(path) == 0;
    if counted && size_bytes < u64::from(number(28)) * page_bytes {
        return Err(Error::Damaged {
            detail: format!("{} is cut off", path.display()),
        });
    }
    Ok(Found::Database)
}

/// The size of the write-ahead journal beside the database.
pub(super) fn journal_bytes(path: &Path) -> u64 {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    std::fs::metadata(journal).map_or(0, |journal| journal.len())
}

fn version(connection: &Connection) -> Result<u32> {
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    version.map_err(engine)
}

/// Whether tables are missing; refuses a format from the future.
pub(super) fn is_behind(connection: &Connection) -> Result<bool> {
    let found = version(connection)?;
    if found > KNOWN {
        return Err(Error::NewerDatabase {
            found,
            known: KNOWN,
        });
    }
    Ok(found < KNOWN)
}

/// Applies what is missing, all in one transaction.
pub(super) fn migrate(connection: &Connection) -> Result<()> {
    migrate_to(connection, KNOWN)
}

/// The same up to a version, which is an earlier one only where tests want an old database.
pub(super) fn migrate_to(connection: &Connection, wanted: u32) -> Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
    let transaction = transaction.map_err(engine)?;
    // Another process may have done it while this one waited.
    if is_behind(&transaction)? {
        let done = version(&transaction)? as usize;
        for sql in &MIGRATIONS[done..wanted as usize] {
            transaction.execute_batch(sql).map_err(engine)?;
        }
        transaction
            .pragma_update(None, "application_id", APPLICATION_ID)
            .map_err(engine)?;
        transaction
            .pragma_update(None, "user_version", wanted)
            .map_err(engine)?;
    }
    transaction.commit().map_err(engine)
}
