//! The database file: recognising it, refusing it untouched, and making its tables.
//!
//! A tract database carries an application id and the number of its format in `user_version`, both of
//! which stand in the file's first 100 bytes. So a file is judged by reading those bytes, before
//! SQLite opens it and could write beside it.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::generation::{advance, has_foreign_journal};
use super::session::Session;
use super::{engine, journal};
use crate::error::{Error, Result};

/// All tables, as [`UPGRADED`] has them.
const TABLES: &str = include_str!("../../../migrations/0001_repository.sql");

/// What each format after that has beyond the one before it: a table, by its name.
const ADDED: [(&str, &str); 3] = [
    ("packs", include_str!("../../../migrations/0003_packs.sql")),
    (
        "injected",
        include_str!("../../../migrations/0004_injected.sql"),
    ),
    (
        "starters",
        include_str!("../../../migrations/0005_starters.sql"),
    ),
];

/// The newest format that this program reads and writes: what a repository has from its first commit on that has a
/// second parent or an origin.
pub(super) const FORMAT: u32 = PLAIN + 1;

/// The format of a repository without such a commit.
const PLAIN: u32 = UPGRADED + 2 * ADDED.len() as u32;

/// The oldest format that is read, of a repository without such a commit; with one it is the next number. Where it may
/// be written, it becomes [`PLAIN`] or [`FORMAT`] as it is opened.
const UPGRADED: u32 = 32;

/// How many of [`ADDED`] one of this format has.
fn added(format: u32) -> usize {
    (format.saturating_sub(UPGRADED) / 2) as usize
}

/// What [`FORMAT`] has beyond [`PLAIN`].
const MERGES: &str = include_str!("../../../migrations/0002_merges.sql");

/// What the name of a write-ahead journal ends in.
const WAL: &str = "-wal";

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
/// <https://www.sqlite.org/fileformat2.html#the_database_header> (18 and 19: the versions of the file format)
pub(super) fn inspect(path: &Path) -> Result<Found> {
    // Before the header, which is written before the journal by whoever turns a file without one into one with.
    let has_journal = journal_bytes(path) > 0;
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(Error::io(path)(error)),
    };
    let header = head(&mut file, path)?;
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
    judge(number(60))?;
    // What `tract backup` writes has a rollback journal, if any (1 in both), and a repository never has one
    // again: SQLite takes a write-ahead journal away before it writes that into the header. So the one that
    // lies here belongs to the file that was here before, and SQLite, which goes by its presence alone, would
    // write that file's pages into this one.
    let is_foreign = || header[18..20] == [1, 1] || has_foreign_journal(path, &journal(path, WAL));
    if has_journal && is_foreign() {
        return Err(Error::ForeignJournal {
            path: path.to_owned(),
        });
    }
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    // The page count is only to be trusted where the two change counters agree, and while no
    // journal could complete the file. Others may fold theirs in between two looks: who makes the file longer
    // empties the journal last, so that is looked at before the length; who makes it shorter writes the header first,
    // so that is looked at again.
    let counted = number(24) == number(92) && journal_bytes(path) == 0;
    let size_bytes = file.metadata().map_err(Error::io(path))?.len();
    if counted
        && size_bytes < u64::from(number(28)) * page_bytes
        && head(&mut file, path)? == header
    {
        return Err(Error::Damaged {
            detail: format!("{} is cut off", path.display()),
        });
    }
    Ok(Found::Database)
}

/// The file's header; what there is of one, where it is shorter.
fn head(file: &mut File, path: &Path) -> Result<Vec<u8>> {
    let mut header = Vec::with_capacity(100);
    let read = file.rewind();
    let read = read.and_then(|()| file.take(100).read_to_end(&mut header));
    read.map_err(Error::io(path))?;
    Ok(header)
}

/// The size of the write-ahead journal beside the database.
pub(super) fn journal_bytes(path: &Path) -> u64 {
    std::fs::metadata(journal(path, WAL)).map_or(0, |journal| journal.len())
}

/// Refuses a format that is another one.
fn judge(found: u32) -> Result<()> {
    let known = FORMAT;
    match found {
        UPGRADED..=FORMAT => Ok(()),
        _ if found < UPGRADED => Err(Error::OlderDatabase { found, known }),
        _ => Err(Error::NewerDatabase { found, known }),
    }
}

/// The same where the journal may say otherwise than the file.
pub(super) fn check(connection: &Connection) -> Result<()> {
    judge(format(connection)?)
}

fn format(connection: &Connection) -> Result<u32> {
    let found = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    found.map_err(engine)
}

/// When a branch was worked on last, of a row of `refs`: what [`Activity`](crate::store::Activity) says, as an expression. A
/// text that is damaged counts as one without a time: whoever reads it says so.
pub(super) const LAST_TIME: &str = "coalesce((
         WITH RECURSIVE timed (id, parent, time) AS (
             SELECT id, parent, CASE json_valid(canonical) WHEN 1 THEN canonical ->> '$.time' END FROM commits
         ), back (n, parent, time) AS (
             SELECT 1, parent, time FROM timed WHERE id = refs.target
             UNION ALL
             SELECT n + 1, timed.parent, timed.time FROM back JOIN timed ON timed.id = back.parent
             WHERE back.time IS NULL AND n < 64
         )
         SELECT CAST(time AS INTEGER) FROM back WHERE time IS NOT NULL
     ), -9223372036854775808)";

/// Which rows of `refs` are branches that are at a commit.
pub(super) const AT_COMMITS: &str =
    "target IS NOT NULL AND name >= 'refs/heads/' AND name < 'refs/heads0'";

/// Says of each branch when it was worked on last.
pub(super) fn tell_activity() -> String {
    format!("UPDATE refs SET active = {LAST_TIME} WHERE {AT_COMMITS}")
}

/// Gives a database of the format before what it lacks: a program that has it open meanwhile goes on undisturbed.
pub(super) fn upgrade(connection: &Connection) -> Result<()> {
    if format(connection)? >= PLAIN {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
    let transaction = transaction.map_err(engine)?;
    // Another process may have been first.
    let found = format(&transaction)?;
    if found < PLAIN {
        advance(&transaction)?;
        for (_, what) in &ADDED[added(found)..] {
            transaction.execute_batch(what).map_err(engine)?;
        }
        let now = PLAIN + (found - UPGRADED) % 2;
        let told = transaction.pragma_update(None, "user_version", now);
        told.map_err(engine)?;
    }
    transaction.commit().map_err(engine)
}

/// The same for one that stays as it is: what it lacks is there for this connection, and empty.
pub(super) fn complete(connection: &Connection) -> Result<()> {
    for (_, table) in &ADDED[added(format(connection)?)..] {
        let beside = table.replace("CREATE TABLE", "CREATE TEMP TABLE");
        // It would make a second table of numbers, in front of the file's own.
        let beside = beside.replace("AUTOINCREMENT", "");
        connection.execute_batch(&beside).map_err(engine)?;
    }
    Ok(())
}

/// Makes all tables in a database that is empty.
pub(super) fn make(connection: &Connection) -> Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
    let transaction = transaction.map_err(engine)?;
    transaction.execute_batch(TABLES).map_err(engine)?;
    for (_, what) in ADDED {
        transaction.execute_batch(what).map_err(engine)?;
    }
    for (name, value) in [("application_id", APPLICATION_ID), ("user_version", PLAIN)] {
        transaction
            .pragma_update(None, name, value)
            .map_err(engine)?;
    }
    transaction.commit().map_err(engine)
}

impl Session<'_> {
    /// Whether there may be commits with a second parent here.
    pub(super) fn may_merge(&self) -> Result<bool> {
        Ok((self.format()? - UPGRADED) % 2 == 1)
    }

    /// The tables that have no place here, for it is of an older format, and only read.
    pub(super) fn lacking(&self) -> Result<impl Iterator<Item = &'static str>> {
        let lacking = ADDED.into_iter().skip(added(self.format()?));
        Ok(lacking.map(|(name, _)| name))
    }

    fn format(&self) -> Result<u32> {
        let format = self.first("PRAGMA user_version", [], |row| row.get::<u32>(0))?;
        Ok(format.unwrap_or(UPGRADED))
    }

    /// Says that there are commits with a second parent or an origin, which an older program cannot read.
    pub(super) fn allow_merges(&self) -> Result<()> {
        if self.may_merge()? {
            return Ok(());
        }
        self.execute(MERGES, [])?;
        self.execute(&format!("PRAGMA user_version = {FORMAT}"), [])
    }
}

/// A statement that made a table or an index, however it was laid out.
pub(super) fn laid_out(sql: &str) -> String {
    let mut words = String::with_capacity(sql.len());
    for word in sql.split_ascii_whitespace() {
        if words.ends_with(|last: char| !"(),".contains(last)) && !word.starts_with(['(', ')', ','])
        {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}
