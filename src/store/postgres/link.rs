//! A connection, and what a server's errors mean.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use postgres::{Client, NoTls, Row, SimpleQueryMessage, Statement};

use super::address::Address;
use super::columns::{Given, Parameter};
use crate::error::{Error, Interrupted, Result};

/// A connection with the statements that it knows.
pub(super) struct Link {
    client: RefCell<Client>,
    /// Statements by their text; none of one that was asked for once.
    known: RefCell<HashMap<String, Option<Statement>>>,
    /// How often the server was asked.
    trips: Arc<AtomicU64>,
    /// Whether what is asked for is part of a transaction that writes.
    pub(super) writes: Cell<bool>,
}

impl Link {
    pub(super) fn connect(address: &Address, trips: Arc<AtomicU64>) -> Result<Self> {
        let client = address.config.connect(NoTls).map_err(|error| {
            let (address, reason) = (address.to_string(), super::address::reason(&error));
            Error::Unreachable { address, reason }
        })?;
        Ok(Self {
            client: RefCell::new(client),
            known: RefCell::default(),
            trips,
            writes: Cell::new(false),
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.borrow().is_closed()
    }

    /// Runs a statement. The first time its text goes along, which takes one round trip; one that is
    /// asked for again is prepared.
    pub(super) fn query(&self, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>> {
        let given: Vec<(Given<'_>, Type)> = parameters.iter().map(|one| one.given()).collect();
        let mut client = self.client.borrow_mut();
        let mut known = self.known.borrow_mut();
        self.trips.fetch_add(1, Ordering::Relaxed);
        let from = Instant::now();
        let found = match known.get_mut(sql) {
            None => {
                known.insert(sql.to_owned(), None);
                let values = given.iter().map(|(value, of)| (value.value(), of.clone()));
                let values: Vec<(&(dyn ToSql + Sync), Type)> = values.collect();
                client.query_typed(sql, &values)
            }
            Some(statement) => {
                if statement.is_none() {
                    self.trips.fetch_add(1, Ordering::Relaxed);
                    let types: Vec<Type> = given.iter().map(|(_, of)| of.clone()).collect();
                    let prepared = client.prepare_typed(sql, &types);
                    *statement = Some(prepared.map_err(|error| self.wrong(error, from))?);
                }
                let statement = statement.as_ref().expect("it was put there");
                let values: Vec<&(dyn ToSql + Sync)> =
                    given.iter().map(|(value, _)| value.value()).collect();
                client.query(statement, &values)
            }
        };
        found.map_err(|error| self.wrong(error, from))
    }

    /// Runs several statements in one round trip; the rows that they give, as text.
    pub(super) fn batch(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        let from = Instant::now();
        let told = self.client.borrow_mut().simple_query(sql);
        let told = told.map_err(|error| self.wrong(error, from))?;
        let rows = told.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                let columns = (0..row.len()).map(|at| row.get(at).map(str::to_owned));
                Some(columns.collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    /// A server's error in the crate's own, to what was asked then.
    fn wrong(&self, error: postgres::Error, from: Instant) -> Error {
        let code = error.code();
        let of_class = |class: &str| code.is_some_and(|code| code.code().starts_with(class));
        let detail = || super::address::reason(&error);
        match code {
            _ if is_lost(&error) => Error::Disconnected {
                during: if self.writes.get() {
                    Interrupted::Undone
                } else {
                    Interrupted::Reading
                },
            },
            Some(&SqlState::LOCK_NOT_AVAILABLE) => busy(from),
            Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Error::ReadOnly,
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) if self.writes.get() => Error::ReadOnly,
            // All statements are this folder's own: one that makes no sense to the server meets tables
            // that are not ours.
            Some(&SqlState::UNDEFINED_TABLE | &SqlState::UNDEFINED_COLUMN) => {
                Error::Damaged { detail: detail() }
            }
            _ if of_class("XX") => Error::Damaged { detail: detail() },
            _ => Error::store(detail()),
        }
    }
}

/// Whether the server is gone, or has sent this connection away.
fn is_lost(error: &postgres::Error) -> bool {
    match error.code() {
        Some(code) => ["08", "57P"].iter().any(|of| code.code().starts_with(of)),
        None => {
            let source = std::error::Error::source(error);
            error.is_closed() || source.is_some_and(|source| source.is::<std::io::Error>())
        }
    }
}

/// Somebody else holds what was waited for since then.
pub(super) fn busy(from: Instant) -> Error {
    let waited_ms = u64::try_from(from.elapsed().as_millis()).unwrap_or(u64::MAX);
    Error::Busy { waited_ms }
}

/// A wait as the server takes it.
pub(super) fn milliseconds(wait: Duration) -> u64 {
    // 0 would be without end.
    u64::try_from(wait.as_millis())
        .unwrap_or(u64::MAX)
        .clamp(1, i32::MAX as u64)
}
