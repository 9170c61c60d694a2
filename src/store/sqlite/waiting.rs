//! Records behind commits that wait for their source, outside of memory: a file may have millions.
//!
//! They stand in a database of its own, which SQLite keeps in its cache, then in a file of the system's temporary
//! folder. That file has no name, and is gone with whoever made it. So nothing of it is in the repository.

use std::ops::Range;

use rusqlite::{Connection, params};

use super::engine;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Span;
use crate::store::codec::{pack_spans, unpack_spans};

/// `places` leads from a part of the file to the commits of which a record stands there.
const TABLES: &str = "
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -2000;
    CREATE TABLE waiting (number INTEGER PRIMARY KEY, hash BLOB, spans BLOB);
    CREATE TABLE places (start INTEGER, number INTEGER, end INTEGER, nth INTEGER,
        PRIMARY KEY (start, number, nth)) WITHOUT ROWID;
    BEGIN";

/// Commits with their records, in the order in which they came.
pub struct WaitingRecords {
    connection: Connection,
    len: usize,
    /// The most bytes that a record has: one that reaches into a part begins no further before it.
    longest: i64,
}

impl WaitingRecords {
    /// None so far.
    ///
    /// # Errors
    ///
    /// The engine's.
    pub fn new() -> Result<Self> {
        let connection = Connection::open("").map_err(engine)?;
        connection.execute_batch(TABLES).map_err(engine)?;
        Ok(Self {
            connection,
            len: 0,
            longest: 0,
        })
    }

    /// How many commits there are.
    #[expect(clippy::len_without_is_empty, reason = "there are some")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a commit.
    ///
    /// # Errors
    ///
    /// The engine's: no room in the temporary folder, above all.
    pub fn push(&mut self, commit: &CommitHash, spans: &[Span]) -> Result<()> {
        let number = whole(self.len as u64);
        self.run(
            "INSERT INTO waiting VALUES (?1, ?2, ?3)",
            params![number, commit.as_bytes(), pack_spans(spans)],
        )?;
        for (nth, span) in spans.iter().enumerate() {
            let (start, end) = (
                whole(span.offset),
                whole(span.offset.saturating_add(span.len)),
            );
            self.longest = self.longest.max(end - start);
            let place = [start, number, end, whole(nth as u64)];
            self.run("INSERT INTO places VALUES (?1, ?2, ?3, ?4)", place)?;
        }
        self.len += 1;
        Ok(())
    }

    /// The commits of which a record stands in this part of the file, in their order, once for each such record.
    ///
    /// # Errors
    ///
    /// The engine's.
    pub fn within(&self, part: &Range<u64>) -> Result<Vec<CommitHash>> {
        let sql = "SELECT hash FROM places JOIN waiting USING (number)
                   WHERE start > ?1 AND start < ?2 AND end > ?3 ORDER BY number, nth";
        let (start, end) = (whole(part.start), whole(part.end));
        let from = start.saturating_sub(self.longest);
        self.rows(sql, params![from, end, start], |row| row.get(0))
            .map(|found| found.into_iter().map(CommitHash::from_bytes).collect())
    }

    /// At most so many commits with their records, from one on, in their order.
    ///
    /// # Errors
    ///
    /// The engine's.
    pub fn some(&self, from: usize, most: usize) -> Result<Vec<(CommitHash, Vec<Span>)>> {
        let sql = "SELECT hash, spans FROM waiting WHERE number >= ?1 ORDER BY number LIMIT ?2";
        let found: Vec<([u8; 32], Vec<u8>)> =
            self.rows(sql, [from, most].map(|it| whole(it as u64)), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let read = |(hash, spans): ([u8; 32], Vec<u8>)| {
            Ok((CommitHash::from_bytes(hash), unpack_spans(&spans)?))
        };
        found.into_iter().map(read).collect()
    }

    fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<()> {
        let prepared = self.connection.prepare_cached(sql);
        let done = prepared.and_then(|mut prepared| prepared.execute(values));
        done.map(|_| ()).map_err(engine)
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut prepared = self.connection.prepare_cached(sql).map_err(engine)?;
        let found = prepared.query_map(values, read).map_err(engine)?;
        found.collect::<rusqlite::Result<_>>().map_err(engine)
    }
}

/// A number as SQLite has numbers: no file is longer.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
