//! A view or a transaction: one type for both, since a transaction reads as a view does.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rusqlite::{CachedStatement, Params};

use super::codec::{Key, Row, blob};
use super::memo::Memo;
use super::pack::{Holders, LeaningBlocks, OpenPack};
use super::seal::written_out;
use super::{Sqlite, engine, generation, waited};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Author, Millis};
use crate::store::Tx;
use crate::store::columns::Columns;
use crate::store::lineage::Place;
use crate::store::sources::Block;
use crate::store::words::Gathering;

/// A statement about many keys, which stand one after the other in its first parameter: a table
/// `keys` of their places `n`, from 0, and of each `key`.
///
/// One statement for any number: a list of parameters would be another for each.
pub(super) fn keyed<K: Key>(sql: &str) -> String {
    let bytes = K::BYTES;
    format!(
        "WITH RECURSIVE keys (n, key) AS (
             SELECT 0, substr(?1, 1, {bytes}) WHERE length(?1) > 0
             UNION ALL
             SELECT n + 1, substr(?1, (n + 1) * {bytes} + 1, {bytes}) FROM keys
             WHERE (n + 1) * {bytes} < length(?1)
         ) {sql}"
    )
}

/// What reads, and maybe writes, until it is dropped.
pub(super) struct Session<'a> {
    pub(super) store: &'a Sqlite,
    pub(super) writes: bool,
    committed: Cell<bool>,
    /// How many rows the connection had changed when this began.
    changes_before: u64,
    /// The open operation.
    pub(super) operation: Cell<Option<i64>>,
    /// One that comes with the first move: its time and what it is.
    pub(super) coming: RefCell<Option<(Millis, String, Option<Author>)>>,
    /// The newest purge, once someone asked: each message that comes in does.
    pub(super) last_purge: Cell<Option<Option<u64>>>,
    /// The last block of a source that was unpacked: spans come in order.
    pub(super) block: RefCell<Option<Block>>,
    /// The pack that new bodies come to.
    pub(super) open_pack: RefCell<Option<OpenPack>>,
    /// The packs and blocks that hold pieces of messages, once something was erased here.
    pub(super) holders: Holders,
    pub(super) leaning_blocks: LeaningBlocks,
    /// What this transaction knows already.
    pub(super) memo: Memo,
    /// In a view, where the commits stand that refs were seen at.
    pub(super) ends: RefCell<HashMap<CommitHash, Place>>,
    /// The words of what was put here.
    pub(super) gathering: RefCell<Gathering>,
    /// The statements that each message runs, by their texts' addresses.
    often: RefCell<Vec<(&'static str, CachedStatement<'a>)>>,
}

impl<'a> Session<'a> {
    /// A view. Views of one store share a transaction; while it writes there are none.
    pub(super) fn read(store: &'a Sqlite) -> Result<Self> {
        if store.writing.get() {
            return Err(Error::store("a write transaction is open on this store"));
        }
        if store.open_views.get() == 0 {
            begin(store, "BEGIN DEFERRED")?;
        }
        store.open_views.set(store.open_views.get() + 1);
        Ok(Self::new(store, false))
    }

    pub(super) fn write(store: &'a Sqlite) -> Result<Self> {
        if store.writing.get() || store.open_views.get() > 0 {
            return Err(Error::store("a view or transaction is open on this store"));
        }
        store.grows()?;
        begin(store, "BEGIN IMMEDIATE")?;
        store.writing.set(true);
        store.ledger.begin();
        Ok(Self::new(store, true))
    }

    /// A session inside whatever transaction a test has opened by hand.
    #[cfg(test)]
    pub(super) fn new_for_test(store: &'a Sqlite) -> Self {
        let session = Self::new(store, true);
        session.committed.set(true);
        session
    }

    fn new(store: &'a Sqlite, writes: bool) -> Self {
        Self {
            store,
            writes,
            committed: Cell::new(false),
            changes_before: store.connection.total_changes(),
            operation: Cell::new(None),
            coming: RefCell::default(),
            last_purge: Cell::new(None),
            block: RefCell::new(None),
            open_pack: RefCell::default(),
            holders: Holders::default(),
            leaning_blocks: LeaningBlocks::default(),
            memo: Memo::default(),
            ends: RefCell::default(),
            gathering: RefCell::default(),
            often: RefCell::default(),
        }
    }

    pub(super) fn prepare(&self, sql: &str) -> Result<CachedStatement<'a>> {
        let store = self.store;
        store.statements.fetch_add(1, Ordering::Relaxed);
        let known = store.written.borrow().get(sql).cloned();
        let written = known.unwrap_or_else(|| {
            let written: Arc<str> = written_out(sql).into();
            let mut all = store.written.borrow_mut();
            all.insert(sql.to_owned(), Arc::clone(&written));
            written
        });
        let prepared = store.connection.prepare_cached(&written);
        prepared.map_err(engine)
    }

    /// Runs a statement that gives no rows.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<()> {
        self.changed(sql, params).map(|_| ())
    }

    /// The same; how many rows it changed.
    pub(super) fn changed(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params).map_err(engine)
    }

    /// The same of a statement that each message runs: to look for it took a tenth of its time.
    pub(super) fn changed_often(&self, sql: &'static str, params: impl Params) -> Result<usize> {
        let mut often = self.often.borrow_mut();
        let known = often
            .iter()
            .position(|(known, _)| std::ptr::eq(*known, sql));
        let at = match known {
            Some(at) => {
                self.store.statements.fetch_add(1, Ordering::Relaxed);
                at
            }
            None => {
                often.push((sql, self.prepare(sql)?));
                often.len() - 1
            }
        };
        often[at].1.execute(params).map_err(engine)
    }

    /// Counts a message that was put here.
    pub(super) fn grew(&self) -> Result<()> {
        self.memo.grew();
        self.store.grew()
    }

    /// The id of the next row of a table, which its seal must know before it is there. Where a
    /// table gives no id twice, neither does this. One that is not used is passed over.
    pub(super) fn next_id(&self, table: &str) -> Result<i64> {
        if let Some(id) = self.memo.next_id(table) {
            return Ok(id);
        }
        let sql = format!(
            "SELECT 1 + max(coalesce((SELECT max(id) FROM {table}), 0),
                 coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0))"
        );
        let id = self.first(&sql, [], |row| row.get(0))?;
        let id = id.ok_or_else(|| Error::store("an aggregate without a row"))?;
        self.memo.gave(table, id);
        Ok(id)
    }

    /// The first row, if there is one.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(params).map_err(engine)?;
        match rows.next().map_err(engine)? {
            Some(row) => read(&Row(row)).map(Some),
            None => Ok(None),
        }
    }

    /// Answers to so many keys, in their order. Each row begins with the place of the key that it
    /// answers.
    pub(super) fn each<T>(
        &self,
        sql: &str,
        keys: usize,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let mut answers: Vec<Option<T>> = (0..keys).map(|_| None).collect();
        if keys == 0 {
            return Ok(answers);
        }
        self.scan(sql, params, |row| {
            answers[row.unsigned(0)? as usize] = Some(read(row)?);
            Ok(true)
        })?;
        Ok(answers)
    }

    /// The same of keys that stand in the table `keys`, see [`keyed`].
    pub(super) fn by_key<K: Key, T>(
        &self,
        sql: &str,
        keys: &[K],
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        self.each(&keyed::<K>(sql), keys.len(), [blob(keys)], read)
    }

    /// Reads row after row while that says to go on. Whether it read them all.
    pub(super) fn scan(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(params).map_err(engine)?;
        while let Some(row) = rows.next().map_err(engine)? {
            if !read(&Row(row))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// All rows.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.scan(sql, params, |row| {
            all.push(read(row)?);
            Ok(true)
        })?;
        Ok(all)
    }
}

fn begin(store: &Sqlite, sql: &str) -> Result<()> {
    let from = Instant::now();
    let begun = store.connection.execute_batch(sql);
    begun.map_err(|error| waited(from.elapsed())(error))
}

impl Tx for Session<'_> {
    fn commit(self: Box<Self>) -> Result<()> {
        self.close_pack()?;
        Gathering::keep(&self.gathering, &*self)?;
        let connection = &self.store.connection;
        let is_in_file = connection.path().is_some_and(|path| !path.is_empty());
        if is_in_file && connection.total_changes() != self.changes_before {
            generation::advance(connection)?;
        }
        connection.execute_batch("COMMIT").map_err(engine)?;
        self.committed.set(true);
        self.store.ledger.commit();
        if self.operation.get().is_some() {
            self.store.operations.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let connection = &self.store.connection;
        if self.writes {
            self.store.writing.set(false);
            if !self.committed.get() {
                self.store.packs.forget();
            }
        } else {
            self.store.open_views.set(self.store.open_views.get() - 1);
        }
        let ends = self.store.open_views.get() == 0 && !self.committed.get();
        if ends && !connection.is_autocommit() {
            // What fails here was rolled back by SQLite itself, or is when the connection closes.
            let _ = connection.execute_batch("ROLLBACK");
        }
        if self.writes {
            self.store.tighten();
        }
    }
}
