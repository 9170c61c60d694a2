//! The SQLite engine: one file in WAL mode, one connection.
//!
//! An acknowledged commit is on disk (`synchronous=FULL`). The journal is folded into the file when
//! it has grown, and by whoever closes the database while nobody else reads or writes, who empties it: while
//! nobody has it open, the file alone is the repository. Deliberately absent: knowledge of commands, and any
//! SQL outside this folder; rusqlite's types don't leave it.

mod aside;
mod backup;
mod bodies;
mod broken;
mod codec;
mod derived;
mod dictionary;
mod generation;
mod health;
mod memo;
mod mend;
mod objects;
#[cfg(test)]
mod one_copy;
mod pack;
mod packs;
mod path;
mod reach;
mod reading;
mod recompress;
mod refs;
mod remembered;
mod repack;
mod restore;
mod room;
mod said;
mod schema;
mod seal;
mod search;
mod session;
mod sources;
mod verify;
mod waiting;
mod words;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::rows::Shown;
use super::{
    BlockText, Checked, Fault, Health, Ledger, Prepare, Prepared, PressedBlock, Room, Seat,
    SetAside, Store, Tx, View,
};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::model::word_weights::weighed;
use crate::model::{Author, Millis, RefName};
use dictionary::Dictionary;
use pack::{LARGE_BYTES, Packs};
pub use restore::{Successor, kept_aside};
use session::Session;
pub use waiting::WaitingRecords;

/// How long a writer waits for another one unless told otherwise.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The journal is folded into the file when it has this many pages of 4 KiB.
///
/// Each process reads all of it before its first answer: 1.5 ms where there were 1,000 pages, 0.9 ms less
/// with 256, and a commit, which writes 13, cost 0.02 ms more for the more frequent folding. SQLite by itself shows no
/// difference between 256 and this, and a process that stays open has 0.4 MB less on the disk.
const CHECKPOINT_PAGES: u32 = 160;
/// What the journal's file is cut to once it was folded in.
const JOURNAL_LIMIT_BYTES: u32 = 2 * 1024 * 1024;
/// What is held of the file at most where there are many refs: with 1,000 sessions, a command that tells of all comes to
/// 3,000 pages several times, and SQLite's own 2 MB had each read again.
const MANY_REFS_CACHE_KIB: i64 = 16 * 1024;
/// How many messages that one process writes are several, and what is held of the file at most from then on: of 100,000,
/// the two indexes of hashes take 10 MB and are written all over, and SQLite's own 2 MB had a third of a
/// batch's time go into pages that came and went. Of 1 MB that came to a long session, 800 pages were written 1,250 times.
const SEVERAL_MESSAGES: u64 = 64;
const MANY_CACHE_KIB: i64 = 32 * 1024;
/// How many messages are many; at how many pages the journal is folded in from then on, for the
/// same pages are written in it again and again. Who leaves such a journal empties it.
const MANY_MESSAGES: u64 = 1_000;
const MANY_CHECKPOINT_PAGES: u32 = 4_096;
/// A transaction of fewer messages than this is no part of much that comes in: a server that has written many, one by one, kept
/// a journal of 16 MB beside a database of 3.
const FEW_MESSAGES: u64 = 16;
/// What a database's name is followed by while it is being made.
const DRAFT: &str = ".new-";
/// All statements of this folder fit.
const STATEMENTS: usize = 128;

/// Far below SQLite's own limits and well above what this folder's statements need, so that a file
/// made to exhaust a reader is refused.
///
/// # Source
///
/// <https://www.sqlite.org/security.html>
const LIMITS: [(Limit, i32); 9] = [
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
    (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 16),
    // One, for VACUUM.
    (Limit::SQLITE_LIMIT_ATTACHED, 1),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 64),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
];

/// A repository's database.
pub struct Sqlite {
    connection: Connection,
    /// The wait in milliseconds; the busy handler shares it.
    wait_ms: Arc<AtomicU64>,
    /// How many views and transactions are open.
    open_views: Cell<u32>,
    writing: Cell<bool>,
    /// Whether the journal is folded in at the end: not that of a file which is refused or only read.
    folds: Cell<bool>,
    /// How many messages were written, committed or not, and how many of them before the last transaction began. Those of
    /// transactions of a few count as several at most.
    grown: Cell<u64>,
    grown_before: Cell<u64>,
    /// What is held of the file at most, where it was asked for; else SQLite's own 2 MB are.
    held_kib: Cell<i64>,
    /// Whether a purge has left its files to be rewritten by whoever writes next.
    owes_scrub: Cell<bool>,
    /// Whether the transaction that writes does not wait for the disk.
    is_loose: Cell<bool>,
    /// How many operations were committed.
    operations: Arc<AtomicU64>,
    /// The dictionaries that were read.
    dictionaries: RefCell<Vec<Arc<Dictionary>>>,
    /// The packs that were read.
    packs: Packs,
    /// Statements by what this folder writes for them, as SQLite is given them.
    written: RefCell<HashMap<String, Arc<str>>>,
    /// From where it is looked at.
    seat: Option<Seat>,
    /// Who is at work.
    worker: Option<Author>,
    /// How many statements were asked for.
    statements: Arc<AtomicU64>,
    /// What was done through this.
    ledger: Arc<Ledger>,
}

impl Sqlite {
    /// Makes a database at `path`, readable by its owner alone. A tract database that is there
    /// already is opened.
    ///
    /// # Errors
    ///
    /// As [`Sqlite::open`]; [`Error::Io`] where no file can be made.
    pub fn create(path: &Path) -> Result<Self> {
        if schema::inspect(path)? == schema::Found::Nothing && !path.exists() {
            make(path)?;
        }
        Self::open(path)
    }

    /// Opens the database at `path`; one that cannot be written to is opened for reading.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDatabase`], [`Error::ForeignJournal`], [`Error::OlderDatabase`],
    /// [`Error::NewerDatabase`] or [`Error::Damaged`] for a file that is not, not yet or no longer what this program writes; such
    /// a file is left as it is.
    pub fn open(path: &Path) -> Result<Self> {
        Self::look(path)?;
        Self::connect(path)
    }

    /// Refuses what is no database that this program could read.
    fn look(path: &Path) -> Result<()> {
        if schema::inspect(path)? == schema::Found::Database {
            return Ok(());
        }
        if path.exists() {
            return Err(Error::Damaged {
                detail: format!("{} is empty", path.display()),
            });
        }
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        Err(Error::io(path)(missing))
    }

    /// Opens a database that nobody writes, and leaves everything as it is.
    ///
    /// # Errors
    ///
    /// As [`Sqlite::open`].
    pub fn open_still(path: &Path) -> Result<Self> {
        Self::look(path)?;
        Self::connect_read_only(path)
    }

    /// A database in memory, gone when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] where SQLite cannot give one.
    pub fn in_memory() -> Result<Self> {
        let store = Self::prepare(Connection::open_in_memory().map_err(engine)?)?;
        schema::make(&store.connection)?;
        Ok(store)
    }

    /// The same, with another wait for other writers.
    #[must_use]
    pub fn with_busy_timeout(self, wait: Duration) -> Self {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.wait_ms.store(wait_ms, Ordering::Relaxed);
        self
    }

    fn connect(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(engine)?;
        match Self::prepare(connection).and_then(Self::set_up) {
            Err(error) if is_read_only(&error) => Self::connect_read_only(path),
            result => result,
        }
    }

    /// For media that cannot be written to: SQLite needs its shared-memory file to read a journal,
    /// so without a journal the file is declared immutable, and with one it is an error.
    fn connect_read_only(path: &Path) -> Result<Self> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let target = if schema::journal_bytes(path) == 0 {
            flags |= OpenFlags::SQLITE_OPEN_URI;
            immutable_uri(path)
        } else {
            path.to_owned()
        };
        let store = Self::prepare(Connection::open_with_flags(target, flags).map_err(engine)?)?;
        schema::check(&store.connection)?;
        schema::complete(&store.connection)?;
        Ok(store)
    }

    /// How many statements were asked for so far.
    #[cfg(test)]
    pub(crate) fn statements(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.statements)
    }

    /// Counts the steps of SQLite's virtual machine from here on: how much work there is, whatever
    /// the machine and its clock.
    #[cfg(test)]
    pub(crate) fn count_steps(&mut self) -> Arc<AtomicU64> {
        let steps = Arc::new(AtomicU64::new(0));
        let counted = steps.clone();
        let count = move || {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            false
        };
        self.connection
            .progress_handler(1, Some(count))
            .expect("no statement runs");
        steps
    }

    /// Settings that touch no file; the wait comes first, since everything after may have to wait.
    fn prepare(mut connection: Connection) -> Result<Self> {
        let wait_ms = Arc::new(AtomicU64::new(BUSY_TIMEOUT.as_millis() as u64));
        let statements = Arc::default();
        connection
            .busy_handler(Some(wait_for(Arc::clone(&wait_ms))))
            .map_err(engine)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        seal::register(&connection).map_err(engine)?;
        for (config, value) in [
            // The journal is emptied, never taken away: to make it anew takes one more sync of the folder, and
            // SQLite takes for the last one whoever finds the file without a lock of another process.
            (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
            // A statement's plan goes by its text alone: where it goes by the values, each other
            // value has the statement prepared anew, which took half the time of an import.
            (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
            // The file may be a stranger's: its schema runs nothing, and damage in it or in our own
            // statements cannot spread to the schema or the index's tables.
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        ] {
            connection.set_db_config(config, value).map_err(engine)?;
        }
        for (limit, value) in LIMITS {
            connection.set_limit(limit, value).map_err(engine)?;
        }
        connection
            .pragma_update(None, "cell_size_check", true)
            .map_err(engine)?;
        Ok(Self {
            connection,
            wait_ms,
            open_views: Cell::new(0),
            writing: Cell::new(false),
            folds: Cell::new(false),
            grown: Cell::new(0),
            grown_before: Cell::new(0),
            held_kib: Cell::new(0),
            written: RefCell::default(),
            owes_scrub: Cell::new(false),
            is_loose: Cell::new(false),
            operations: Arc::default(),
            dictionaries: RefCell::default(),
            packs: Packs::default(),
            seat: None,
            worker: None,
            ledger: Ledger::counting(Arc::clone(&statements)),
            statements,
        })
    }

    /// Settings of a file that may be written to.
    fn set_up(self) -> Result<Self> {
        let connection = &self.connection;
        schema::check(connection)?;
        let mode: String = connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .map_err(engine)?;
        if mode != "wal" && !connection.is_readonly("main").map_err(engine)? {
            self.set("journal_mode", &"WAL")?;
        }
        if connection.is_readonly("main").map_err(engine)? {
            schema::complete(connection)?;
        } else {
            schema::upgrade(connection)?;
        }
        self.set("synchronous", &"FULL")?;
        self.set("wal_autocheckpoint", &CHECKPOINT_PAGES)?;
        self.set("journal_size_limit", &JOURNAL_LIMIT_BYTES)?;
        let owed = "SELECT EXISTS (SELECT 1 FROM unscrubbed)";
        let owed = connection.query_row(owed, [], |row| row.get(0));
        self.owes_scrub.set(owed.map_err(engine)?);
        self.folds
            .set(!connection.is_readonly("main").map_err(engine)?);
        Ok(self)
    }
}

impl Store for Sqlite {
    fn read(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(Session::read(self)?))
    }

    fn begin(&self, waits: bool) -> Result<Box<dyn Tx + '_>> {
        if waits {
            self.pay_scrub();
            return Ok(Box::new(Session::write(self)?));
        }
        Ok(Box::new(self.without_waiting(Session::write)?))
    }

    fn begin_loose(
        &self,
        _: Option<&RefName>,
        _: &mut dyn FnMut() -> Vec<ContentHash>,
    ) -> Result<Box<dyn Tx + '_>> {
        self.pay_scrub();
        // The next commit syncs the journal with all that stands before it.
        self.set("synchronous", &"NORMAL")?;
        let session = Session::write(self);
        match &session {
            Ok(_) => self.is_loose.set(true),
            Err(_) => self.set("synchronous", &"FULL")?,
        }
        Ok(Box::new(session?))
    }

    fn preparing(&self, weighs: bool) -> Result<Box<Prepare>> {
        // What goes into a pack is not pressed alone.
        let press = |body: &str| match body.len() {
            LARGE_BYTES.. => codec::press(body.as_bytes()),
            _ => None,
        };
        Ok(Box::new(move |message| Prepared {
            shown: Shown::of(message),
            words: weighs.then(|| weighed(message)),
            body: press(message.canonical()),
        }))
    }

    fn press(&self) -> fn(&[u8], &BlockText) -> Option<PressedBlock> {
        sources::press
    }

    fn sit(&mut self, seat: Option<Seat>) {
        self.seat = seat;
    }

    fn seat(&self) -> Option<&Seat> {
        self.seat.as_ref()
    }

    fn work_as(&mut self, who: Option<Author>) {
        self.worker = who;
    }

    fn worker(&self) -> Option<&Author> {
        self.worker.as_ref()
    }

    fn operations_committed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.operations)
    }

    fn ledger(&self) -> Arc<Ledger> {
        Arc::clone(&self.ledger)
    }

    fn version(&self) -> Result<u64> {
        let version = self.connection.prepare_cached("PRAGMA data_version");
        let version = version.and_then(|mut version| version.query_row([], |row| row.get(0)));
        version.map(i64::cast_unsigned).map_err(engine)
    }

    fn verify(
        &self,
        tell: &mut dyn FnMut(Checked, Option<Fault>) -> Result<()>,
    ) -> Result<Checked> {
        verify::verify(&Session::read(self)?, tell)
    }

    fn size_bytes(&self) -> Result<u64> {
        room::size_bytes(self, &Session::read(self)?)
    }

    fn recompress(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        repack::repack(self, progress)?;
        recompress::recompress(self, progress)
    }

    fn has_free_room(&self) -> Result<bool> {
        let session = Session::read(self)?;
        let free = session.first("PRAGMA freelist_count", [], |row| row.get::<i64>(0))?;
        Ok(free.is_some_and(|free| free > 0))
    }

    fn room(&self) -> Result<Room> {
        room::room(self, &Session::read(self)?)
    }

    fn health(&self, _: Millis) -> Result<Health> {
        health::health(self)
    }

    fn rebuild(&self) -> Result<Vec<SetAside>> {
        let tx = Session::write(self)?;
        let aside = mend::rebuild(&tx)?;
        Box::new(tx).commit()?;
        Ok(aside)
    }

    fn backup(&self, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        backup::backup(self, to, progress)
    }

    fn checked(&self, now: Millis) -> Result<()> {
        let tx = Session::write(self)?;
        tx.set_last_check(now)?;
        Box::new(tx).commit()
    }

    fn scrub(&self) -> Result<()> {
        // A purge that comes in between is not among them.
        let owed = "SELECT operation FROM unscrubbed";
        let mut owed = self.connection.prepare(owed).map_err(engine)?;
        let owed = owed.query_map([], |row| row.get(0)).map_err(engine)?;
        let owed: Vec<i64> = owed.collect::<rusqlite::Result<_>>().map_err(engine)?;
        // Erased bytes stand in the journal's and the file's free pages until both are new. The
        // second checkpoint brings the new file out of the journal.
        self.empty_journal()?;
        // The pages lie elsewhere from here on: no copy from before goes with a journal from after.
        generation::advance(&self.connection)?;
        self.connection.execute_batch("VACUUM").map_err(engine)?;
        self.empty_journal()?;
        generation::advance(&self.connection)?;
        for operation in owed {
            let done = "DELETE FROM unscrubbed WHERE operation = ?1";
            self.connection.execute(done, [operation]).map_err(engine)?;
        }
        self.owes_scrub.set(false);
        Ok(())
    }
}

impl Sqlite {
    /// Brings all that is in the journal into the file, and cuts the journal to nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] where somebody reads what stands before it; SQLite says so in a row, and that
    /// is no error of its own.
    fn empty_journal(&self) -> Result<()> {
        let from = Instant::now();
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy: bool = self
            .connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|error| waited(from.elapsed())(error))?;
        if is_busy {
            Err(Error::Busy {
                waited_ms: u64::try_from(from.elapsed().as_millis()).unwrap_or(u64::MAX),
            })
        } else {
            Ok(())
        }
    }

    /// Does what a purge has left, without a wait: where someone else reads or writes, another
    /// one's turn comes.
    fn pay_scrub(&self) {
        let is_free = self.open_views.get() == 0 && !self.writing.get();
        if is_free && self.owes_scrub.replace(false) {
            let _ = self.without_waiting(Self::scrub);
        }
    }

    /// More of the file is kept from here on, for there are many refs.
    fn has_many_refs(&self) -> Result<()> {
        self.hold(MANY_REFS_CACHE_KIB)
    }

    /// So much of the file is kept from here on, if less was.
    fn hold(&self, kib: i64) -> Result<()> {
        if kib > self.held_kib.replace(kib.max(self.held_kib.get())) {
            self.set("cache_size", &-kib)?;
        }
        Ok(())
    }

    /// Begins to count what a transaction writes. After one of a few messages the journal is a short one again.
    fn grows(&self) -> Result<()> {
        let grown = self.grown.get();
        if grown - self.grown_before.get() < FEW_MESSAGES {
            if grown >= MANY_MESSAGES {
                self.set("wal_autocheckpoint", &CHECKPOINT_PAGES)?;
            }
            self.grown.set(grown.min(SEVERAL_MESSAGES));
        }
        self.grown_before.set(self.grown.get());
        Ok(())
    }

    /// Counts a message that was written; from several on, more of the file is kept, from many on of the journal.
    fn grew(&self) -> Result<()> {
        self.grown.set(self.grown.get() + 1);
        match self.grown.get() {
            SEVERAL_MESSAGES => self.hold(MANY_CACHE_KIB),
            MANY_MESSAGES => self.set("wal_autocheckpoint", &MANY_CHECKPOINT_PAGES),
            _ => Ok(()),
        }
    }

    /// Sets what SQLite answers with a row, or with none.
    /// From here on a commit waits for the disk again.
    fn tighten(&self) {
        if self.is_loose.take() {
            // What cannot be set is as it was in a connection that is of no use any more.
            let _ = self.set("synchronous", &"FULL");
        }
    }

    fn set(&self, name: &str, value: &dyn rusqlite::ToSql) -> Result<()> {
        self.connection
            .pragma_update_and_check(None, name, value, |_| Ok(()))
            .or_else(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                error => Err(error),
            })
            .map_err(engine)
    }

    fn without_waiting<'a, T>(&'a self, act: impl FnOnce(&'a Self) -> Result<T>) -> Result<T> {
        let wait_ms = self.wait_ms.swap(0, Ordering::Relaxed);
        let done = act(self);
        self.wait_ms.store(wait_ms, Ordering::Relaxed);
        done
    }
}

impl Drop for Sqlite {
    /// Whoever copies the file alone is to have all of it, and a journal that is left, be it by a process that
    /// was killed, would be read into whatever file is put here next. Where others are at work it stays, and
    /// where the file may only be read.
    fn drop(&mut self) {
        let path = self.connection.path().map(Path::new);
        let has_journal = path.is_some_and(|path| schema::journal_bytes(path) > 0);
        if self.folds.get() && has_journal {
            let _ = self.without_waiting(Self::empty_journal);
        }
    }
}

/// Makes a database under another name and then gives it its own, so that whoever looks meanwhile
/// sees no file or all of it, and of several makers one wins.
///
/// Filling the file in place left a window in which one process switched it to WAL while another
/// one began to write, and waited in vain.
fn make(path: &Path) -> Result<()> {
    let draft = draft(path)?;
    let made = fill(&draft).and_then(|()| match fs::hard_link(&draft, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        // Some file systems have no links.
        Err(_) => fs::rename(&draft, path).map_err(Error::io(path)),
    });
    sweep(path, &draft);
    #[cfg(unix)]
    if let Some(folder) = path.parent().and_then(|folder| fs::File::open(folder).ok()) {
        // Not every file system can, and the next commit doesn't depend on it.
        let _ = folder.sync_all();
    }
    match made {
        // Whoever was first has swept this draft away.
        Err(_) if path.exists() => Ok(()),
        made => made,
    }
}

/// An empty file, readable by its owner alone, for a database that is to be at `path` when it is whole.
fn draft(path: &Path) -> Result<PathBuf> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut number = 0u32;
    loop {
        let draft = journal(path, &format!("{DRAFT}{}-{number}", std::process::id()));
        match options.open(&draft) {
            Ok(_) => return Ok(draft),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(Error::io(path)(error)),
        }
    }
}

/// A file that belongs to the database at `path`, by its ending.
fn journal(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Takes away the draft and its journals, and once the database is there all drafts: those of makers
/// that were stopped, and those of makers that come too late. What stays behind harms nothing.
fn sweep(path: &Path, draft: &Path) {
    backup::take_away(draft);
    sweep_drafts(path);
}

/// Takes away what makers have left beside a database that is there, and were stopped before it had its name.
pub fn sweep_drafts(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    if !path.exists() {
        return;
    }
    let drafts = format!("{}{DRAFT}", name.to_string_lossy());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&drafts)) {
        let _ = fs::remove_file(entry.path());
    }
}

fn fill(draft: &Path) -> Result<()> {
    let connection = Connection::open(draft).map_err(engine)?;
    schema::make(&connection)?;
    connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
        .map_err(engine)?;
    connection.close().map_err(|(_, error)| engine(error))
}

/// Sleeps briefly and unevenly until the wait is over. SQLite's own handler backs off to 100 ms a
/// step, so among several busy writers the one that waited longest asks least often.
fn wait_for(wait_ms: Arc<AtomicU64>) -> impl FnMut(i32) -> bool + Send + 'static {
    let mut since = Instant::now();
    let mut seed = u64::from(std::process::id()) | 1;
    move |attempts| {
        if attempts == 0 {
            since = Instant::now();
        }
        let left = Duration::from_millis(wait_ms.load(Ordering::Relaxed));
        let Some(left) = left.checked_sub(since.elapsed()).filter(|l| !l.is_zero()) else {
            return false;
        };
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        thread::sleep(Duration::from_micros(500 + seed % 3_500).min(left));
        true
    }
}

/// The name of a database that nobody writes, so that no journal of it is looked for.
pub(super) fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

fn is_read_only(error: &Error) -> bool {
    let source = match error {
        Error::ReadOnly => return true,
        Error::Store(source) => source,
        _ => return false,
    };
    let code = source
        .downcast_ref::<rusqlite::Error>()
        .and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::CannotOpen))
}

/// SQLite's errors in the crate's own.
fn engine(error: rusqlite::Error) -> Error {
    waited(Duration::ZERO)(error)
}

/// The same, where it is known how long the call took.
fn waited(time: Duration) -> impl FnOnce(rusqlite::Error) -> Error {
    move |error| {
        use rusqlite::Error as E;
        let error = match error {
            // All statements are this folder's own: one that makes no sense to SQLite meets tables
            // that are not ours.
            E::SqlInputError { msg, .. } => return Error::Damaged { detail: msg },
            error => error,
        };
        match (error.sqlite_error_code(), &error) {
            (Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase), _)
            | (
                None,
                E::FromSqlConversionFailure(..)
                | E::IntegralValueOutOfRange(..)
                | E::Utf8Error(..)
                | E::InvalidColumnType(..),
            ) => Error::Damaged {
                detail: error.to_string(),
            },
            (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _) => Error::Busy {
                waited_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            },
            (Some(ErrorCode::ReadOnly), _) => Error::ReadOnly,
            (Some(ErrorCode::Unknown), _) => Error::Damaged {
                detail: error.to_string(),
            },
            _ => Error::store(error),
        }
    }
}

#[cfg(test)]
mod tests;
