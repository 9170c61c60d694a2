//! A view or a transaction: one type for both, since a transaction reads as a view does.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use rusqlite::{CachedStatement, Params, Row};

use super::sources::Block;
use super::{Sqlite, engine, waited};
use crate::error::{Error, Result};

/// What reads, and maybe writes, until it is dropped.
pub(super) struct Session<'a> {
    store: &'a Sqlite,
    writes: bool,
    committed: Cell<bool>,
    /// The open operation.
    pub(super) operation: Cell<Option<i64>>,
    /// The last block of a source that was unpacked: spans come in order.
    pub(super) block: RefCell<Option<Block>>,
}

impl<'a> Session<'a> {
    /// A view. Views of one store share a transaction; while it writes there are none.
    pub(super) fn read(store: &'a Sqlite) -> Result<Self> {
        if store.writing.get() {
            return Err(Error::store("a write transaction is open on this store"));
        }
        if store.open_views.get() == 0 {
            let from = Instant::now();
            store
                .connection
                .execute_batch("BEGIN DEFERRED")
                .map_err(|error| waited(from.elapsed())(error))?;
        }
        store.open_views.set(store.open_views.get() + 1);
        Ok(Self::new(store, false))
    }

    pub(super) fn write(store: &'a Sqlite) -> Result<Self> {
        if store.writing.get() || store.open_views.get() > 0 {
            return Err(Error::store("a view or transaction is open on this store"));
        }
        let from = Instant::now();
        store
            .connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|error| waited(from.elapsed())(error))?;
        store.writing.set(true);
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
            operation: Cell::new(None),
            block: RefCell::new(None),
        }
    }

    pub(super) fn finish(&self) -> Result<()> {
        self.store
            .connection
            .execute_batch("COMMIT")
            .map_err(engine)?;
        self.committed.set(true);
        Ok(())
    }

    pub(super) fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>> {
        self.store.connection.prepare_cached(sql).map_err(engine)
    }

    /// Runs a statement that gives no rows.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params).map_err(engine)
    }

    /// Inserts a row and gives its id.
    pub(super) fn insert(&self, sql: &str, params: impl Params) -> Result<i64> {
        self.prepare(sql)?.insert(params).map_err(engine)
    }

    /// The first row, if there is one.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(params).map_err(engine)?;
        match rows.next().map_err(engine)? {
            Some(row) => read(row).map(Some).map_err(engine),
            None => Ok(None),
        }
    }

    /// All rows.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let rows = statement.query_map(params, read).map_err(engine)?;
        rows.collect::<rusqlite::Result<_>>().map_err(engine)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let connection = &self.store.connection;
        if self.writes {
            self.store.writing.set(false);
        } else {
            self.store.open_views.set(self.store.open_views.get() - 1);
        }
        let ends = self.store.open_views.get() == 0 && !self.committed.get();
        if ends && !connection.is_autocommit() {
            // What fails here was rolled back by SQLite itself, or is when the connection closes.
            let _ = connection.execute_batch("ROLLBACK");
        }
    }
}
