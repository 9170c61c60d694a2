//! Databases of other programs, read as they stand: never written, never locked, and no file made beside them.
//!
//! Such a database may be in use, and what was written last may stand in its write-ahead log alone: the file
//! by itself may hold no table at all. SQLite would read the two together through a file of shared memory
//! that it makes beside them, and lock the database meanwhile, so that its owner might have to wait. Here it
//! opens the file read-only, without locks (the `unix-none` VFS), with its index of the log in its own memory
//! (`locking_mode=EXCLUSIVE`, before anything is read), and does not tidy up at the end
//! (`NO_CKPT_ON_CLOSE`); without a log, the file is declared immutable. Nobody holds the owner back then,
//! so what was read counts only if the file and the log are afterwards what they were before
//! ([`Moment`]); else it is read again. A copy of the two would need the same comparison, and would
//! copy gigabytes for a few new rows.
//!
//! What remains: where the owner ends, and takes its log away, between the look for the log and its opening,
//! SQLite makes an empty one, which whoever opens it next takes for none.
//!
//! Deliberately absent: which tables a tool has, and what is in them; rows are JSON objects here.
//!
//! # Source
//!
//! <https://www.sqlite.org/wal.html> (WAL without shared memory), <https://www.sqlite.org/vfs.html>,
//! <https://www.sqlite.org/uri.html>.

mod moment;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::{Map, Value, json};

use super::sqlite::immutable_uri;
use crate::error::{Error, Result, SPOILT_DATABASE};
use crate::model::base64::{self, BYTES};
use moment::Moment;

/// How often it is tried where the owner writes at the same time, and how long it waits between.
const ATTEMPTS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(25);
/// For how many of them a log that is being folded in may still be: whoever did so may have died.
const FOLDING: u32 = 10;

/// What every row of a table has, though it is no column.
const ROWID: &str = "rowid";

/// How a database begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A system's VFS that locks nothing.
#[cfg(unix)]
const LOCKS_NOTHING: &str = "unix-none";
#[cfg(windows)]
const LOCKS_NOTHING: &str = "win32-none";

/// The tables of a database at one moment.
pub struct ForeignTables {
    connection: Connection,
    path: PathBuf,
    /// How long the file and its log are.
    size_bytes: u64,
}

/// Reads a database of another program as it stands at one moment. `read` is called again, and what it
/// gave before is forgotten, where the database has changed meanwhile.
///
/// # Errors
///
/// [`Error::Io`] where it cannot be read, is damaged, or was left in the middle of a transaction,
/// [`Error::Overtaken`] where its owner writes all the time, and what `read` returns.
pub fn read_foreign<T>(
    path: &Path,
    mut read: impl FnMut(&ForeignTables) -> Result<T>,
) -> Result<T> {
    // The log stands beside the file itself, not beside a link to it.
    let path = std::fs::canonicalize(path).map_err(Error::io(path))?;
    let first = Moment::of(&path)?;
    for attempt in 1..=ATTEMPTS {
        let before = Moment::of(&path)?;
        if before.is_written() || before.is_being_folded() && attempt <= FOLDING {
            sleep(PAUSE);
            continue;
        }
        let found = ForeignTables::open(&path, &before).and_then(|tables| read(&tables));
        if before.holds(&Moment::of(&path)?) {
            return found;
        }
        sleep(PAUSE);
    }
    if first.is_written() && first == Moment::of(&path)? {
        let left = "a transaction is half in it, and nobody writes it; whoever opens it with its own tool takes that back";
        return Err(invalid(&path, left));
    }
    Err(Error::Overtaken {
        name: path.display().to_string(),
    })
}

/// Whether a file is an SQLite database, by how it begins; what cannot be read is none.
pub fn is_database(path: &Path) -> bool {
    // To open a pipe would wait for somebody to write to it.
    let is_file = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
    is_file && moment::bytes(path, 0).is_ok_and(|begin| begin.as_ref() == Some(MAGIC))
}

impl ForeignTables {
    fn open(path: &Path, moment: &Moment) -> Result<Self> {
        let fail = failed(path);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if moment.has_log() {
            Connection::open_with_flags_and_vfs(path, flags, LOCKS_NOTHING)
        } else {
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable_uri(path), flags)
        };
        let connection = connection.map_err(&fail)?;
        for (config, value) in [
            (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
            // The file is a stranger's: its schema runs nothing.
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            connection.set_db_config(config, value).map_err(&fail)?;
        }
        for (name, value) in [("locking_mode", "EXCLUSIVE"), ("cell_size_check", "ON")] {
            let set = connection.pragma_update_and_check(None, name, value, |_| Ok(()));
            set.or_else(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                error => Err(error),
            })
            .map_err(&fail)?;
        }
        // No value is longer than what it stands in, whatever a column says that it is made of.
        let size_bytes = moment.size_bytes();
        let longest = i32::try_from(size_bytes).unwrap_or(i32::MAX);
        let limit = connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest);
        limit.map_err(&fail)?;
        // One transaction: all that is read is of one state.
        connection.execute_batch("BEGIN").map_err(&fail)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            size_bytes,
        })
    }

    fn read_rows(
        &self,
        table: &str,
        picked: Option<&[&str]>,
        holding: Option<(&str, &str)>,
        order: &[&str],
    ) -> Result<Vec<Map<String, Value>>> {
        let mut columns = self.columns(table)?;
        let asked = order
            .iter()
            .chain(holding.as_ref().map(|(column, _)| column))
            .chain(picked.into_iter().flatten());
        for column in asked {
            let is_known = |known: &String| known.eq_ignore_ascii_case(column);
            if *column != ROWID && !columns.iter().any(is_known) {
                return Err(invalid(
                    &self.path,
                    &format!("{table} has no column {column}"),
                ));
            }
        }
        if let Some(picked) = picked {
            columns = picked.iter().map(|column| (*column).to_owned()).collect();
        }
        let value = match picked {
            Some(_) => whole_value,
            None => value,
        };
        let named: Vec<String> = columns.iter().map(|column| name(column)).collect();
        let mut sql = format!("SELECT {} FROM {}", named.join(", "), name(table));
        if let Some((column, _)) = holding {
            sql += &format!(" WHERE {} = ?1", name(column));
        }
        for (at, column) in order.iter().enumerate() {
            sql += if at == 0 { " ORDER BY " } else { ", " };
            sql += &name(column);
        }
        let read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let values = holding.into_iter().map(|(_, value)| value);
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            let (mut found, mut left) = (Vec::new(), self.size_bytes);
            while let Some(row) = rows.next()? {
                let mut object = Map::new();
                for (at, name) in columns.iter().enumerate() {
                    let held = row.get_ref(at)?;
                    let Some(rest) = left.checked_sub(length(held)) else {
                        return Ok(None);
                    };
                    left = rest;
                    object.insert(name.clone(), value(held));
                }
                found.push(object);
            }
            Ok(Some(found))
        };
        let found = read().map_err(failed(&self.path))?;
        found.ok_or_else(|| {
            invalid(
                &self.path,
                &format!("the rows of {table} hold more than the file does"),
            )
        })
    }
}

impl ForeignTables {
    /// The columns of a table that hold something, not those that are made of others; none where there is no
    /// such table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn columns(&self, table: &str) -> Result<Vec<String>> {
        let sql = "SELECT c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
                   WHERE t.schema = 'main' AND t.type = 'table' AND t.name = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let names = statement.query_map([table], |row| row.get(0))?;
            names.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(failed(&self.path))
    }

    /// The rows of a table in an order of columns, as JSON objects by column: those that hold a text in a
    /// column, or all. Bytes that are no text are left out, and numbers that JSON does not have.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], also where these are no columns of the table, and where the rows hold more than the
    /// file does: damaged ones may share their pages.
    pub fn rows(
        &self,
        table: &str,
        holding: Option<(&str, &str)>,
        order: &[&str],
    ) -> Result<Vec<Map<String, Value>>> {
        self.read_rows(table, None, holding, order)
    }

    /// The same of these columns alone. Bytes in them are an object whose one member, `base64`, is their text.
    ///
    /// # Errors
    ///
    /// As [`Self::rows`].
    pub fn picked(
        &self,
        table: &str,
        columns: &[&str],
        holding: Option<(&str, &str)>,
        order: &[&str],
    ) -> Result<Vec<Map<String, Value>>> {
        self.read_rows(table, Some(columns), holding, order)
    }

    /// For each value of the column `by`: how many rows of a table hold it, how long their texts in the
    /// column `text` are in bytes, and the greatest number in the column `newest`. Reads no long text.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn summed(
        &self,
        table: &str,
        by: &str,
        text: &str,
        newest: &str,
    ) -> Result<Vec<(String, u64, u64, i64)>> {
        let [table, by, text, newest] = [table, by, text, newest].map(name);
        let sql = format!(
            "SELECT CAST({by} AS TEXT), count(*), total(octet_length({text})), max(CAST({newest} AS INTEGER))
             FROM {table} WHERE {by} IS NOT NULL GROUP BY {by}"
        );
        let read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let sums = statement.query_map([], |row| {
                let count: i64 = row.get(1)?;
                let bytes: f64 = row.get(2)?;
                let newest: Option<i64> = row.get(3)?;
                Ok((
                    row.get(0)?,
                    count.unsigned_abs(),
                    bytes as u64,
                    newest.unwrap_or_default(),
                ))
            })?;
            sums.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(failed(&self.path))
    }
}

/// A name in a statement, whatever is in it.
fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}

/// The same with bytes that are no text.
fn whole_value(held: ValueRef<'_>) -> Value {
    match held {
        ValueRef::Blob(bytes) => json!({ BYTES: base64::encode(bytes) }),
        other => value(other),
    }
}

/// How long a text or bytes are; a number takes no room of its own.
fn length(value: ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    }
}

/// What SQLite says of a database, with its place.
fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            invalid(&path, &format!("{SPOILT_DATABASE} ({error})"))
        }
        _ => invalid(&path, &error.to_string()),
    }
}

fn invalid(path: &Path, reason: &str) -> Error {
    Error::io(path)(io::Error::new(
        io::ErrorKind::InvalidData,
        reason.to_owned(),
    ))
}
