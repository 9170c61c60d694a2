//! A connection, and what a server's errors mean.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use postgres::{Client, Row, SimpleQueryMessage};

use super::address::{Address, NotConnected};
use super::columns::{Given, Parameter};
use super::reason::reason;
use crate::error::{Error, Interrupted, Result, ServerTrouble};

/// How long it takes at most until a server is asked again whether it has a connection.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// A connection.
pub(super) struct Link {
    client: RefCell<Client>,
    /// Where it leads, as people are told of it.
    address: String,
    /// How often the server was asked.
    trips: Arc<AtomicU64>,
    /// Whether what is asked for is part of a transaction that writes.
    pub(super) writes: Cell<bool>,
}

impl Link {
    /// Makes a connection; a server that has none to give is waited for.
    ///
    /// # Errors
    ///
    /// [`Error::Unreachable`], [`Error::Server`].
    pub(super) fn connect(
        address: &Address,
        trips: Arc<AtomicU64>,
        wait: Duration,
    ) -> Result<Self> {
        let wait = wait.min(address.patience());
        let (from, mut pause) = (Instant::now(), Duration::from_millis(20));
        let client = loop {
            match address.connect() {
                Ok(client) => break client,
                Err(NotConnected::Silent(waited)) => return Err(address.silent(waited)),
                Err(NotConnected::Refused(error)) if is_full(&error) => {
                    if from.elapsed() + pause > wait {
                        return Err(full(address.to_string(), from));
                    }
                    thread::sleep(pause);
                    pause = ASK_AGAIN.min(pause * 2);
                }
                Err(NotConnected::Refused(error)) => return Err(address.refused(&error)),
            }
        };
        Ok(Self {
            client: RefCell::new(client),
            address: address.to_string(),
            trips,
            writes: Cell::new(false),
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.borrow().is_closed()
    }

    /// Runs a statement, in one round trip. Its text goes along each time: what is prepared is known to one server,
    /// and a pooler may have led to it for no longer than a transaction.
    pub(super) fn query(&self, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>> {
        let given: Vec<(Given<'_>, Type)> = parameters.iter().map(|one| one.given()).collect();
        let values = given.iter().map(|(value, of)| (value.value(), of.clone()));
        let values: Vec<(&(dyn ToSql + Sync), Type)> = values.collect();
        self.trips.fetch_add(1, Ordering::Relaxed);
        let from = Instant::now();
        let found = self.client.borrow_mut().query_typed(sql, &values);
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
        let detail = || reason(&error);
        let server = |trouble| Error::Server {
            address: self.address.clone(),
            trouble,
        };
        match code {
            _ if is_full(&error) => full(self.address.clone(), from),
            _ if says(&error, "statement pooling mode") => server(ServerTrouble::StatementPooling),
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
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                server(ServerTrouble::NotGranted(message(&error).to_owned()))
            }
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

/// What the server says; nothing where it is not the server's to say.
fn message(error: &postgres::Error) -> &str {
    error.as_db_error().map_or("", |error| error.message())
}

fn says(error: &postgres::Error, words: &str) -> bool {
    message(error).contains(words)
}

/// Whether the server has no connection left, or its pooler has none, which has no code of its own for it.
fn is_full(error: &postgres::Error) -> bool {
    error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
        || [
            "no more connections allowed",
            "client connections exceeded",
            "query_wait_timeout",
        ]
        .iter()
        .any(|words| says(error, words))
}

/// It stayed so since then.
fn full(address: String, from: Instant) -> Error {
    let waited_ms = elapsed_ms(from);
    let trouble = ServerTrouble::Full { waited_ms };
    Error::Server { address, trouble }
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
    let waited_ms = elapsed_ms(from);
    Error::Busy { waited_ms }
}

fn elapsed_ms(from: Instant) -> u64 {
    u64::try_from(from.elapsed().as_millis()).unwrap_or(u64::MAX)
}
