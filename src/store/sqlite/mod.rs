//! The SQLite engine, and the only SQL there is.
//!
//! WAL mode, `synchronous=FULL`: what has been committed is on disk. One connection a process; a
//! writer that finds the lock taken waits for a bounded time. rusqlite's types do not leave this
//! folder.

mod codec;
mod migrate;
mod objects;
mod refs;
mod sources;

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashBytes, HashPrefix};
use crate::interop::{Span, Usage};
use crate::model::{Commit, Encoding, Message, Millis, RefName, RefValue, TokenCount};
use crate::store::{
    CommitRow, ContentRow, CountKey, OperationRow, ReflogRow, ResumeRow, SessionRow, SourceRow,
    Store, Tx, View,
};

/// How long a writer waits for another.
const WAIT: Duration = Duration::from_secs(10);
/// Pages in the journal before they are copied into the database: 16 MiB.
const CHECKPOINT_PAGES: i64 = 4_096;
/// What the journal is cut to after a checkpoint.
const JOURNAL_BYTES: i64 = 32 << 20;

/// A SQLite database.
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Makes a database, or opens the one that is there. The file is its owner's alone.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be made, and as [`Sqlite::open`].
    pub fn create(path: &Path) -> Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(Error::io(path))?;
        Self::open(path)
    }

    /// Opens a database and brings it up to date.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDatabase`], [`Error::NewerDatabase`], [`Error::Damaged`], [`Error::Busy`]. A
    /// database that is refused stays as it was, to the byte.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_waiting(path, WAIT)
    }

    /// As [`Sqlite::open`], with a wait of one's own for other writers.
    ///
    /// # Errors
    ///
    /// As [`Sqlite::open`].
    pub fn open_waiting(path: &Path, wait: Duration) -> Result<Self> {
        migrate::inspect(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(wrap)?;
        Self::ready(connection, wait)
    }

    /// A database in memory.
    ///
    /// # Errors
    ///
    /// The engine's.
    pub fn in_memory() -> Result<Self> {
        Self::ready(Connection::open_in_memory().map_err(wrap)?, WAIT)
    }

    fn ready(connection: Connection, wait: Duration) -> Result<Self> {
        // The wait comes first: everything after it can meet another process's lock.
        connection.busy_timeout(wait).map_err(wrap)?;
        let set = |name: &str, value: &dyn rusqlite::ToSql| {
            connection.pragma_update(None, name, value).map_err(wrap)
        };
        set("journal_mode", &"WAL")?;
        set("synchronous", &"FULL")?;
        set("foreign_keys", &true)?;
        set("wal_autocheckpoint", &CHECKPOINT_PAGES)?;
        set("journal_size_limit", &JOURNAL_BYTES)?;
        connection
            .set_db_config(
                rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                true,
            )
            .map_err(wrap)?;
        connection.set_prepared_statement_cache_capacity(64);
        migrate::apply(&connection)?;
        Ok(Self { connection })
    }

    fn begin(&self, behavior: TransactionBehavior) -> Result<Guard<'_>> {
        let began = Instant::now();
        let begun = rusqlite::Transaction::new_unchecked(&self.connection, behavior);
        let inner = begun.map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                Error::Busy {
                    waited_ms: began.elapsed().as_millis() as u64,
                }
            }
            _ => wrap(error),
        })?;
        Ok(Guard {
            inner,
            operation: std::cell::Cell::new(None),
        })
    }
}

/// An engine error as the library's own.
fn wrap(error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => Error::Damaged {
            detail: error.to_string(),
        },
        Some(DatabaseBusy | DatabaseLocked) => Error::Busy {
            waited_ms: WAIT.as_millis() as u64,
        },
        _ => Error::store(error),
    }
}

/// A running transaction; dropped, it takes everything back.
struct Guard<'a> {
    inner: rusqlite::Transaction<'a>,
    operation: std::cell::Cell<Option<i64>>,
}

impl Store for Sqlite {
    fn read(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(self.begin(TransactionBehavior::Deferred)?))
    }

    fn write(&self) -> Result<Box<dyn Tx + '_>> {
        Ok(Box::new(self.begin(TransactionBehavior::Immediate)?))
    }
}

impl View for Guard<'_> {
    fn commit(&self, hash: &CommitHash) -> Result<Option<CommitRow>> {
        objects::commit(&self.inner, hash)
    }
    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>> {
        objects::commits_with_prefix(&self.inner, prefix, limit)
    }
    fn ancestors(
        &self,
        tip: &CommitHash,
        until: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<CommitRow>> {
        objects::ancestors(&self.inner, tip, until, limit)
    }
    fn is_ancestor(&self, ancestor: &CommitHash, tip: &CommitHash) -> Result<bool> {
        objects::is_ancestor(&self.inner, ancestor, tip)
    }
    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>> {
        objects::ancestor_at(&self.inner, tip, depth)
    }
    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<CommitHash>> {
        objects::appends_after(&self.inner, parent, content)
    }
    fn content(&self, hash: &ContentHash) -> Result<Option<Message>> {
        objects::content(&self.inner, hash)
    }
    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<ContentRow>> {
        objects::content_rows(&self.inner, hashes)
    }
    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>> {
        objects::counts(&self.inner, keys, encoding)
    }
    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>> {
        codec::checkpoint(&self.inner, tip)
    }
    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        codec::commits_since_checkpoint(&self.inner, tip)
    }
    fn reference(&self, name: &RefName) -> Result<Option<RefValue>> {
        refs::reference(&self.inner, name)
    }
    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        refs::references(&self.inner, prefix)
    }
    fn operations(&self, limit: usize) -> Result<Vec<OperationRow>> {
        refs::operations(&self.inner, limit)
    }
    fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
        refs::reflog(&self.inner, name, limit)
    }
    fn config(&self, key: &str) -> Result<Option<String>> {
        refs::config(&self.inner, key)
    }
    fn sources(&self, session: &RefName) -> Result<Vec<SourceRow>> {
        sources::sources(&self.inner, session)
    }
    fn source(&self, id: u64) -> Result<Option<SourceRow>> {
        sources::source(&self.inner, id)
    }
    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>> {
        sources::source_bytes(&self.inner, id, span)
    }
    fn records(&self, commit: &CommitHash) -> Result<Vec<(u64, Vec<Span>)>> {
        sources::records(&self.inner, commit)
    }
    fn usage(&self, commit: &CommitHash) -> Result<Option<Usage>> {
        sources::usage(&self.inner, commit)
    }
    fn session(&self, name: &RefName) -> Result<Option<SessionRow>> {
        sources::session(&self.inner, name)
    }
    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
        sources::resumed(&self.inner, tool, id)
    }
}

impl Tx for Guard<'_> {
    fn put_content(&self, message: &Message) -> Result<ContentHash> {
        objects::put_content(&self.inner, message)
    }
    fn put_commit(&self, commit: &Commit) -> Result<(CommitHash, bool)> {
        objects::put_commit(&self.inner, commit)
    }
    fn put_count(&self, key: CountKey, encoding: Encoding, count: TokenCount) -> Result<()> {
        objects::put_count(&self.inner, key, encoding, count)
    }
    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        codec::put_checkpoint(&self.inner, commit, context)
    }
    fn begin_operation(&self, time: Millis, what: &str) -> Result<u64> {
        let id = refs::begin_operation(&self.inner, time, what)?;
        self.operation.set(Some(id));
        Ok(id as u64)
    }
    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()> {
        refs::set_reference(&self.inner, self.operation.get(), name, new)
    }
    fn set_config(&self, key: &str, value: Option<&str>) -> Result<()> {
        refs::set_config(&self.inner, key, value)
    }
    fn put_source(&self, session: &RefName, format: &str) -> Result<u64> {
        sources::put_source(&self.inner, session, format)
    }
    fn append_source(&self, id: u64, bytes: &[u8], fingerprint: &HashBytes) -> Result<()> {
        sources::append_source(&self.inner, id, bytes, fingerprint)
    }
    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()> {
        sources::put_records(&self.inner, commit, source, spans)
    }
    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()> {
        sources::put_usage(&self.inner, commit, usage)
    }
    fn put_session(&self, name: &RefName, session: &SessionRow) -> Result<()> {
        sources::put_session(&self.inner, name, session)
    }
    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()> {
        sources::put_resumed(&self.inner, tool, id, resume)
    }
    fn commit(self: Box<Self>) -> Result<()> {
        self.inner.commit().map_err(wrap)
    }
}
