//! A connection, and what a server's errors mean.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::address::Address;
use super::columns::Parameter;
use super::driver::{Asked, Driver, NotConnected, Told};
use super::reason::reason;
use crate::error::{Error, Interrupted, Result, ServerTrouble};

/// How long it takes at most until a server is asked again whether it has a connection.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// A connection.
pub(super) struct Link {
    driver: RefCell<Driver>,
    /// Where it leads, as people are told of it.
    address: String,
    /// How often the server was asked.
    trips: Arc<AtomicU64>,
    /// Whether what is asked for is part of a transaction that writes.
    pub(super) writes: Cell<bool>,
    /// Whether others may write beside that.
    pub(super) shares: Cell<bool>,
}

/// A statement with its parameters, on its way to the server.
///
/// # Errors
///
/// [`Error::Store`] for a value that cannot be sent.
pub(super) fn asked(sql: impl Into<String>, parameters: &[&dyn Parameter]) -> Result<Asked> {
    Asked::rows(sql, parameters).map_err(Error::store)
}

/// The rows of an answer.
pub(super) fn rows(told: Option<Told>) -> Vec<Row> {
    match told {
        Some(Told::Rows(rows)) => rows,
        _ => Vec::new(),
    }
}

/// The same of statements whose answers came as text.
pub(super) fn texts(told: Option<Told>) -> Vec<Vec<Option<String>>> {
    match told {
        Some(Told::Text(rows)) => rows,
        _ => Vec::new(),
    }
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
        let driver = loop {
            let runtime = Builder::new_current_thread().enable_all().build();
            match address.connect(runtime.map_err(Error::store)?) {
                Ok(driver) => break driver,
                Err(NotConnected::Silent(waited)) => return Err(address.silent(waited)),
                Err(NotConnected::Refused(error)) if is_full(&error) || is_starting(&error) => {
                    if from.elapsed() + pause > wait {
                        return Err(if is_full(&error) {
                            full(address.to_string(), from)
                        } else {
                            address.refused(&error)
                        });
                    }
                    thread::sleep(pause);
                    pause = ASK_AGAIN.min(pause * 2);
                }
                Err(NotConnected::Refused(error)) => return Err(address.refused(&error)),
            }
        };
        Ok(Self {
            driver: RefCell::new(driver),
            address: address.to_string(),
            trips,
            writes: Cell::new(false),
            shares: Cell::new(false),
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.driver.borrow().is_closed()
    }

    /// Asks all of these in one round trip; each has an answer or an error of its own. Their texts go along each time:
    /// what is prepared is known to one server, and a pooler may have led to it for no longer than a transaction.
    pub(super) fn each(&self, asked: &[Asked]) -> Result<Vec<Result<Told>>> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        let from = Instant::now();
        let told = self.driver.borrow_mut().exchange(asked);
        let told = told.map_err(|error| self.wrong(error, from))?.into_iter();
        let told = told.map(|one| one.map_err(|error| self.wrong(error, from)));
        Ok(told.collect())
    }

    /// The same where one error is all that matters: the first.
    pub(super) fn exchange(&self, asked: &[Asked]) -> Result<Vec<Told>> {
        self.each(asked)?.into_iter().collect()
    }

    /// Runs a statement, in one round trip.
    pub(super) fn query(&self, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>> {
        Ok(rows(self.exchange(&[asked(sql, parameters)?])?.pop()))
    }

    /// Runs several statements in one round trip; the rows that they give, as text.
    pub(super) fn batch(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        Ok(texts(self.exchange(&[Asked::Text(sql.to_owned())])?.pop()))
    }

    /// Takes back what was done since a transaction began. What fails here ends with the connection, so nobody waits
    /// for the answer.
    pub(super) fn roll_back(&self) {
        self.driver.borrow_mut().send("ROLLBACK");
    }

    /// A server's error in the crate's own, to what was asked then.
    fn wrong(&self, error: tokio_postgres::Error, from: Instant) -> Error {
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
            // Somebody else has done the same, or holds what is needed here and waits for what is held here.
            Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE) => {
                Error::overtaken("the repository")
            }
            Some(&SqlState::UNIQUE_VIOLATION) if self.shares.get() => {
                Error::overtaken("the repository")
            }
            Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Error::ReadOnly,
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) if self.writes.get() => Error::ReadOnly,
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                server(ServerTrouble::NotGranted(message(&error).to_owned()))
            }
            // All statements are this folder's own: one that makes no sense to the server meets tables
            // that are not ours.
            Some(
                &SqlState::UNDEFINED_TABLE
                | &SqlState::UNDEFINED_COLUMN
                | &SqlState::UNDEFINED_FUNCTION,
            ) => Error::Damaged { detail: detail() },
            _ if of_class("XX") => Error::Damaged { detail: detail() },
            _ => Error::store(detail()),
        }
    }
}

/// What the server says; nothing where it is not the server's to say.
fn message(error: &tokio_postgres::Error) -> &str {
    error.as_db_error().map_or("", |error| error.message())
}

fn says(error: &tokio_postgres::Error, words: &str) -> bool {
    message(error).contains(words)
}

/// Whether the server has no connection left, or its pooler has none, which has no code of its own for it.
fn is_full(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
        || [
            "no more connections allowed",
            "client connections exceeded",
            "query_wait_timeout",
        ]
        .iter()
        .any(|words| says(error, words))
}

/// Whether the server has begun to start, or to end, and may be there soon.
fn is_starting(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::CANNOT_CONNECT_NOW)
}

/// It stayed so since then.
fn full(address: String, from: Instant) -> Error {
    let waited_ms = elapsed_ms(from);
    let trouble = ServerTrouble::Full { waited_ms };
    Error::Server { address, trouble }
}

/// Whether the server is gone, or has sent this connection away.
fn is_lost(error: &tokio_postgres::Error) -> bool {
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
