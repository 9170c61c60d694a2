//! The PostgreSQL engine: a schema is a repository.
//!
//! As durable as the server is set. Views are snapshots on connections of their own; whoever writes holds
//! the schema's advisory lock, alone or beside those who write other branches and sessions, and waits for it no longer than is said.
//! Many keys go into one statement, and none is prepared; what each commit asks is functions of the schema's, whose plans the server keeps. All that a
//! transaction needs is said in it, so a pooler may give it any connection. Deliberately absent: knowledge
//! of commands, any SQL outside this folder.

mod address;
mod ahead;
mod answers;
mod bodies;
mod columns;
mod contents;
mod derived;
mod driver;
mod foreseen;
mod foresight;
mod health;
mod known;
mod link;
mod mend;
mod numbers;
mod objects;
mod parameters;
mod passwords;
mod path;
mod pending;
mod reach;
mod reason;
mod ref_move;
mod refs;
mod remembered;
mod room;
mod schema;
mod search;
mod services;
mod session;
mod sources;
mod sums;
mod tips;
mod tls;
mod trace;
mod trust;
mod turn;
mod usual;
mod verify;
mod whole;
mod words;
mod writing;

#[cfg(all(test, unix))]
mod behind_pooler;
#[cfg(test)]
mod beside;
#[cfg(all(test, unix))]
mod crashes;
#[cfg(test)]
pub(crate) mod tests;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::{Checked, Fault, Health, Ledger, Look, Room, Seat, Servers, SetAside, Store, Tx, View};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::model::{Author, Millis, RefName};
use address::Address;
use driver::{Asked, Told};
use link::Link;
use schema::{Found, Within};
use session::{Moment, Session, begin_view};
use turn::Turn;

/// How long a writer waits for another one unless told otherwise.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How many connections are kept open.
const LINKS: usize = 4;

/// A repository's schema.
pub struct Postgres {
    address: Address,
    /// The schema's number, by which its locks are known.
    schema: i32,
    wait: Duration,
    /// Connections that nobody uses.
    free: RefCell<Vec<Link>>,
    /// Whether the views that follow are to see the same, and what the last of them has seen.
    is_held: Cell<bool>,
    moment: RefCell<Option<Moment>>,
    /// The branch whose commits are looked at, where it was named.
    on: RefCell<Option<RefName>>,
    /// The contents that the next transaction is about to put.
    foreseen: RefCell<Vec<ContentHash>>,
    /// Whether a purge has left its rows to be rewritten by whoever writes next.
    owes_scrub: Cell<bool>,
    /// How often a server was asked.
    trips: Arc<AtomicU64>,
    /// What was done through this.
    ledger: Arc<Ledger>,
    /// How many operations were committed.
    operations: Arc<AtomicU64>,
    /// From where it is looked at.
    seat: Option<Seat>,
    /// Who is at work.
    worker: Option<Author>,
}

impl Postgres {
    /// Makes a repository in the schema that an address names, or opens the one that is there. The flag
    /// says whether it is new.
    ///
    /// # Errors
    ///
    /// As [`Postgres::open`]; [`Error::ReadOnly`] where one may not make it.
    pub fn create(url: &str) -> Result<(Self, bool)> {
        Self::create_as(url, &Servers::default())
    }

    /// The same, for somebody whose surroundings say how servers are reached.
    ///
    /// # Errors
    ///
    /// As [`Postgres::create`].
    pub fn create_as(url: &str, servers: &Servers) -> Result<(Self, bool)> {
        let (address, trips) = (Address::parse(url, servers)?, Arc::default());
        let link = Link::connect(&address, Arc::clone(&trips), BUSY_TIMEOUT)?;
        let is_new = schema::inspect(&link, &address, Within::Nothing)? == Found::Nothing
            && schema::make(&link, &address)?;
        Ok((Self::enter(address, link, trips, None)?, is_new))
    }

    /// Opens the repository in the schema that an address names.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for no address, [`Error::Unreachable`] where no server lets us in, [`Error::Server`]
    /// where it is not trusted, has no connection left or does not allow it, [`Error::NoRepository`] where nothing is in the schema, [`Error::ForeignDatabase`] where something
    /// else is, [`Error::OlderDatabase`] and [`Error::NewerDatabase`]; what is refused is left as it is.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_as(url, &Servers::default())
    }

    /// The same, for somebody whose surroundings say how servers are reached.
    ///
    /// # Errors
    ///
    /// As [`Postgres::open`].
    pub fn open_as(url: &str, servers: &Servers) -> Result<Self> {
        Self::look_as(url, servers, None)
    }

    /// The same for somebody who looks at once, and holds what is seen then ([`Store::hold`]): from where, and at which
    /// branch, if it is not HEAD's.
    ///
    /// # Errors
    ///
    /// As [`Postgres::open`].
    pub fn look_as(url: &str, servers: &Servers, look: Option<&Look>) -> Result<Self> {
        let (address, trips) = (Address::parse(url, servers)?, Arc::default());
        let link = Link::connect(&address, Arc::clone(&trips), BUSY_TIMEOUT)?;
        Self::enter(address, link, trips, look)
    }

    fn enter(
        address: Address,
        link: Link,
        trips: Arc<AtomicU64>,
        look: Option<&Look>,
    ) -> Result<Self> {
        let mut more = Vec::new();
        if let Some(Look { seat, branch }) = look {
            more.push(Asked::Text(begin_view(&address)));
            more.extend(ahead::of_view(&ahead::names(
                seat.as_ref(),
                branch.as_ref(),
            ))?);
        }
        let (mut found, along) = schema::inspect_along(&link, &address, Within::Nothing, more)?;
        let seen: Option<Vec<Told>> = along.into_iter().map(Result::ok).collect();
        let seen =
            seen.filter(|seen| !seen.is_empty() && matches!(found, Found::Repository { .. }));
        if look.is_some() && seen.is_none() {
            link.roll_back();
        }
        if let Found::Older(older) = found {
            schema::upgrade(&link, &address, older)?;
            found = schema::inspect(&link, &address, Within::Nothing)?;
        }
        let Found::Repository { schema, owes_scrub } = found else {
            return Err(Error::NoRepository {
                start: address.to_string().into(),
            });
        };
        let store = Self {
            address,
            schema,
            wait: BUSY_TIMEOUT,
            free: RefCell::default(),
            is_held: Cell::new(look.is_some()),
            moment: RefCell::default(),
            on: RefCell::default(),
            foreseen: RefCell::default(),
            owes_scrub: Cell::new(owes_scrub),
            ledger: Ledger::counting(Arc::clone(&trips)),
            trips,
            operations: Arc::default(),
            seat: None,
            worker: None,
        };
        match seen {
            // It leaves what it has seen to the next view.
            Some(mut seen) => drop(Session::begun(&store, link, seen.split_off(1))?),
            None => store.give_back(link),
        }
        Ok(store)
    }

    /// The same, with another wait for other writers.
    #[must_use]
    pub fn with_busy_timeout(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The address, without a password.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// How often the server was asked so far.
    #[cfg(test)]
    pub(crate) fn trips(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.trips)
    }

    fn connect(&self, wait: Duration) -> Result<Link> {
        Link::connect(&self.address, Arc::clone(&self.trips), wait)
    }

    /// A connection on which a transaction has begun, and what that told. One that was kept may have been
    /// lost since; nothing was done on it, so another takes its place.
    fn enter_transaction<T>(
        &self,
        writes: bool,
        wait: Duration,
        begin: impl Fn(&Link) -> Result<T>,
    ) -> Result<(Link, T)> {
        let kept = self
            .free
            .borrow_mut()
            .pop()
            .filter(|link| !link.is_closed());
        if let Some(link) = kept {
            link.writes.set(writes);
            match begin(&link) {
                Ok(told) => return Ok((link, told)),
                Err(Error::Disconnected { .. }) => {}
                Err(error) => {
                    link.roll_back();
                    self.give_back(link);
                    return Err(error);
                }
            }
        }
        let link = self.connect(wait)?;
        link.writes.set(writes);
        let told = begin(&link)?;
        Ok((link, told))
    }

    /// The names by which the tip is looked for whose commits are most likely asked for.
    fn names(&self) -> Vec<RefName> {
        ahead::names(self.seat.as_ref(), self.on.borrow().as_ref())
    }

    /// Keeps what a view has seen for the next one.
    fn keep(&self, moment: Moment) {
        let last = self.moment.replace(Some(moment));
        self.end(last);
    }

    /// Those that follow need not see what was seen so far.
    fn let_go(&self) {
        self.end(self.moment.take());
    }

    /// Waits until nothing that was seen here holds anything back on the server.
    fn settle(&self) {
        self.let_go();
        for link in &*self.free.borrow() {
            let _ = link.batch("SELECT 1");
        }
    }

    fn end(&self, moment: Option<Moment>) {
        if let Some(Moment { link, .. }) = moment {
            link.roll_back();
            self.give_back(link);
        }
    }

    fn give_back(&self, link: Link) {
        let mut free = self.free.borrow_mut();
        if !link.is_closed() && free.len() < LINKS {
            free.push(link);
        }
    }

    /// Runs one statement outside of any transaction.
    fn ask(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let (link, told) = self.enter_transaction(false, self.wait, |link| link.batch(sql))?;
        self.give_back(link);
        Ok(told)
    }

    /// Does what a purge has left, without a wait: where someone else reads or writes, another one's turn
    /// comes.
    fn pay_scrub(&self) {
        if self.owes_scrub.replace(false) {
            self.settle();
            let _ = mend::scrub(self, Duration::ZERO);
        }
    }
}

impl Store for Postgres {
    fn read(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(Session::read(self)?))
    }

    fn config(&self) -> Result<Vec<(String, String)>> {
        self.configured_now()
    }

    fn begin(&self, waits: bool) -> Result<Box<dyn Tx + '_>> {
        if waits {
            self.pay_scrub();
        }
        self.foreseen.take();
        let turn = if waits { Turn::Alone } else { Turn::Aside };
        let wait = waits.then_some(self.wait);
        Ok(Box::new(Session::write(self, wait, turn)?))
    }

    fn begin_on(
        &self,
        branch: Option<&RefName>,
        contents: &mut dyn FnMut() -> Vec<ContentHash>,
    ) -> Result<Box<dyn Tx + '_>> {
        self.pay_scrub();
        self.on.replace(branch.cloned());
        self.foreseen.replace(contents());
        Ok(Box::new(Session::write(
            self,
            Some(self.wait),
            Turn::OnBranch,
        )?))
    }

    fn hold(&self, holds: bool) {
        self.is_held.set(holds);
        if !holds {
            self.let_go();
        }
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
        let turns = self.address.qualified("turns");
        let sum = format!("SELECT coalesce(sum(writes), 0)::bigint FROM {turns}");
        let told = self.ask(&sum)?.into_iter().flatten().flatten().next();
        told.and_then(|writes| writes.parse().ok())
            .ok_or_else(|| columns::damaged("a sum without a number"))
    }

    fn verify(
        &self,
        tell: &mut dyn FnMut(Checked, Option<Fault>) -> Result<()>,
    ) -> Result<Checked> {
        verify::verify(&Session::read(self)?, tell)
    }

    fn room(&self) -> Result<Room> {
        room::room(&Session::read(self)?)
    }

    fn health(&self, now: Millis) -> Result<Health> {
        health::health(self, now)
    }

    fn rebuild(&self) -> Result<Vec<SetAside>> {
        let tx = Session::write(self, Some(self.wait), Turn::Alone)?;
        mend::rebuild(&tx)?;
        Box::new(tx).commit()?;
        Ok(Vec::new())
    }

    fn checked(&self, now: Millis) -> Result<()> {
        let tx = Session::write(self, Some(self.wait), Turn::Alone)?;
        tx.execute("UPDATE tract_repository SET last_check = $1", &[&now.0])?;
        Box::new(tx).commit()
    }

    fn scrub(&self) -> Result<()> {
        self.settle();
        mend::scrub(self, self.wait)
    }
}
