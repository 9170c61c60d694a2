//! A view or a transaction: one type for both, since a transaction reads as a view does.
//!
//! A view is a snapshot on a connection of its own. Whoever writes holds the schema's advisory lock until
//! the transaction ends, alone or beside others (`turn.rs`).

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio_postgres::Row;

use super::Postgres;
use super::address::{Address, LOCKED};
use super::ahead;
use super::answers::{Answer, Answers};
use super::columns::{Key, Parameter, keys};
use super::driver::{Asked, Told};
use super::foresight::Ahead;
use super::known::Known;
use super::link::{Link, asked, rows, texts};
use super::numbers::Numbers;
use super::pending::Waiting;
use super::trace::Trace;
use super::turn::Turn;
use crate::error::{Error, Interrupted, Result};
use crate::model::{Author, Millis, RefName, RefValue};
use crate::store::Tx;
use crate::store::columns::Columns;
use crate::store::sources::Block;
use crate::store::tables::Table;
use crate::store::words::Gathering;

/// What begins a view.
pub(super) fn begin_view(address: &Address) -> String {
    address.begin("REPEATABLE READ READ ONLY", LOCKED)
}

/// What a view leaves to the next one that is to see the same.
pub(super) struct Moment {
    pub(super) link: Link,
    known: Known,
    answers: Answers,
    ahead: Ahead,
    last_purge: Option<Option<u64>>,
}

/// An operation that comes with the first move under it: its time, what it is, and who does it.
pub(super) type Coming = (Millis, String, Option<Author>);

/// What reads, and maybe writes, until it is dropped.
pub(super) struct Session<'a> {
    pub(super) store: &'a Postgres,
    /// None: nothing was asked yet.
    pub(super) link: OnceCell<Link>,
    /// What its commit will leave behind; none of a view.
    trace: Option<Trace>,
    is_over: Cell<bool>,
    /// Whether something that was asked could not be answered.
    failed: Cell<bool>,
    /// The open operation.
    pub(super) operation: Cell<Option<i64>>,
    /// Whether it goes again if it has moved no ref.
    pub(super) may_be_idle: Cell<bool>,
    /// The newest purge, once someone asked.
    pub(super) last_purge: Cell<Option<Option<u64>>>,
    /// The last block of a source that was unpacked: spans come in order.
    pub(super) block: RefCell<Option<Block>>,
    /// Beside whom it writes.
    pub(super) turn: Turn,
    /// The branch whose lock it has.
    pub(super) branch: RefCell<Option<RefName>>,
    /// An operation that comes with the first move under it, and of one that has come the ref that it moved first.
    pub(super) coming: RefCell<Option<Coming>>,
    pub(super) came_with: RefCell<Option<RefName>>,
    /// What it has read of refs, where others write.
    pub(super) read_refs: RefCell<BTreeMap<RefName, Option<RefValue>>>,
    /// The numbers of rows.
    pub(super) numbers: Numbers,
    /// What is known of objects.
    pub(super) known: Known,
    /// What a view was told.
    answers: Answers,
    /// What was asked for before anybody wanted it.
    pub(super) ahead: Ahead,
    /// The last source that is known to be here.
    pub(super) source: Cell<Option<u64>>,
    /// Rows that were put and not sent yet.
    waiting: RefCell<Waiting>,
    /// Statements behind these whose answers nobody needs: they go along with the next that is asked.
    later: RefCell<Vec<Asked>>,
    /// The words of what was put here.
    pub(super) gathering: RefCell<Gathering>,
}

impl<'a> Session<'a> {
    /// A view. It begins with what it is asked first.
    pub(super) fn read(store: &'a Postgres) -> Result<Self> {
        let mut view = Self::new(store, None, Turn::Alone);
        if let Some(moment) = store.moment.take() {
            let _ = view.link.set(moment.link);
            view.known = moment.known;
            view.answers = moment.answers;
            view.ahead = moment.ahead;
            view.last_purge.set(moment.last_purge);
        }
        Ok(view)
    }

    /// One that was begun on a link, with what was foreseen then.
    pub(super) fn begun(store: &'a Postgres, link: Link, foreseen: Vec<Told>) -> Result<Self> {
        let view = Self::new(store, None, Turn::Alone);
        let _ = view.link.set(link);
        view.took_view(foreseen)?;
        Ok(view)
    }

    pub(super) fn keep(&self, asked: Asked, rows: Vec<Row>) {
        self.answers.keep(asked, &Arc::new(rows));
    }

    /// The same of whatever size, until somebody asks for it.
    pub(super) fn expect(&self, asked: Asked, rows: Vec<Row>) {
        self.answers.expect(asked, rows);
    }

    pub(super) fn new(store: &'a Postgres, trace: Option<Trace>, turn: Turn) -> Self {
        Self {
            store,
            link: OnceCell::new(),
            trace,
            is_over: Cell::new(false),
            failed: Cell::new(false),
            operation: Cell::new(None),
            may_be_idle: Cell::new(false),
            last_purge: Cell::new(None),
            block: RefCell::default(),
            turn,
            branch: RefCell::default(),
            coming: RefCell::default(),
            came_with: RefCell::default(),
            read_refs: RefCell::default(),
            numbers: Numbers::default(),
            known: Known::default(),
            answers: Answers::default(),
            ahead: Ahead::default(),
            source: Cell::new(None),
            waiting: RefCell::default(),
            later: RefCell::default(),
            gathering: RefCell::default(),
        }
    }

    /// What the commit will leave behind.
    #[cfg(test)]
    pub(super) fn trace(&self) -> Trace {
        self.trace.clone().expect("it writes")
    }

    /// Asks all of these in one round trip, behind whatever waits for one.
    pub(super) fn exchange(&self, asked: Vec<Asked>) -> Result<Vec<Told>> {
        let mut all = self.later.take();
        let before = all.len();
        all.extend(asked);
        if let Some(link) = self.link.get() {
            let told = link.exchange(&all);
            self.failed.set(told.is_err());
            return Ok(told?.split_off(before));
        }
        all.insert(0, Asked::Text(begin_view(&self.store.address)));
        let wanted = all.len();
        if self.store.is_held.get() {
            all.extend(ahead::of_view(&self.store.names())?);
        }
        let begin = |link: &Link| link.exchange(&all);
        let (link, mut told) = self
            .store
            .enter_transaction(false, self.store.wait, begin)?;
        let _ = self.link.set(link);
        let foreseen = told.split_off(wanted);
        if !foreseen.is_empty() {
            self.took_view(foreseen)?;
        }
        Ok(told.split_off(before + 1))
    }

    /// The number of the next row of a table.
    pub(super) fn next_id(&self, table: &'static str) -> Result<i64> {
        if let Some(id) = self.numbers.next(self.turn, table) {
            return Ok(id);
        }
        let more = Asked::Text(self.numbers.more(self.turn, table)?);
        let told = texts(self.exchange(vec![more])?.pop())
            .into_iter()
            .flatten()
            .flatten()
            .next();
        self.numbers.took_more(table, &told.unwrap_or_default())
    }

    /// Takes the open operation back if it is to go where it has moved no ref, and has moved none.
    pub(super) fn drop_idle_operation(&self) -> Result<()> {
        let operation = self
            .operation
            .get()
            .filter(|_| self.may_be_idle.replace(false));
        let Some(operation) = operation else {
            return Ok(());
        };
        let sql = "WITH gone AS (
                 DELETE FROM operations WHERE id = $1
                 AND NOT EXISTS (SELECT 1 FROM reflog WHERE operation = $1) RETURNING id
             ), whose AS (DELETE FROM authors WHERE operation IN (SELECT id FROM gone))
             SELECT id FROM gone";
        if self.first(sql, &[&operation], |_| Ok(()))?.is_some() {
            // Their row has no gap, and nobody has seen this number.
            self.numbers.give_back("operations");
            self.operation.set(None);
        }
        Ok(())
    }

    /// Rows were taken out: what was known of them is not.
    pub(super) fn forget(&self) {
        self.known.forget();
        self.source.set(None);
    }

    pub(super) fn query(&self, sql: &str, parameters: &[&dyn Parameter]) -> Result<Answer> {
        self.ask(asked(sql, parameters)?)
    }

    /// Whether it is no view.
    pub(super) fn is_writing(&self) -> bool {
        self.trace.is_some()
    }

    /// What a view was told already.
    pub(super) fn told(&self, asked: &Asked) -> Option<Answer> {
        self.answers.to(asked)
    }

    /// The same of a statement with its parameters.
    pub(super) fn ask(&self, asked: Asked) -> Result<Answer> {
        self.send()?;
        if self.trace.is_some() {
            return Ok(Arc::new(rows(self.exchange(vec![asked])?.pop())));
        }
        if let Some(answer) = self.answers.to(&asked) {
            return Ok(answer);
        }
        let told = self.exchange_along(vec![asked.clone()])?.pop();
        let answer = Arc::new(rows(told));
        self.answers.keep(asked, &answer);
        Ok(answer)
    }

    /// Asks several questions of a view at once: whoever asks one of them next has its answer.
    pub(super) fn together(&self, mut asked: Vec<Asked>) -> Result<()> {
        if self.is_writing() {
            return Ok(());
        }
        let mut seen = HashSet::new();
        asked.retain(|one| !self.answers.has(one) && seen.insert(one.clone()));
        if asked.len() > 1 {
            let told = self.exchange_along(asked.clone())?;
            for (asked, told) in asked.into_iter().zip(told) {
                self.answers.expect(asked, rows(Some(told)));
            }
        }
        Ok(())
    }

    /// Asks a view's questions, and along with them what is asked for whole, if it was not yet.
    pub(super) fn exchange_along(&self, mut asked: Vec<Asked>) -> Result<Vec<Told>> {
        let is_more = !self.is_writing()
            && self.store.is_held.get()
            && self.link.get().is_some()
            && !self.ahead.has_asked_more.replace(true);
        if !is_more {
            return self.exchange(asked);
        }
        let own = asked.len();
        asked.extend(self.along()?);
        let mut told = self.exchange(asked)?;
        self.took_along(told.split_off(own))?;
        Ok(told)
    }

    /// The first row of a statement about an object that nobody remembers: what waits has no part in it, as
    /// long as none of that was forgotten.
    pub(super) fn first_aside<T>(
        &self,
        sql: &str,
        parameters: &[&dyn Parameter],
        read: impl FnOnce(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        if self.known.has_forgotten() && self.waiting.borrow().has_objects() {
            self.send()?;
        }
        if self.trace.is_none() {
            return self.first(sql, parameters, read);
        }
        let rows = rows(self.exchange(vec![asked(sql, parameters)?])?.pop());
        rows.first().map(read).transpose()
    }

    /// Puts a row among those that wait.
    pub(super) fn put(&self, row: impl FnOnce(&mut Waiting)) -> Result<()> {
        row(&mut self.waiting.borrow_mut());
        let are_many = self.waiting.borrow().are_many();
        if are_many {
            self.send()?;
            self.exchange(Vec::new())?;
        }
        Ok(())
    }

    /// What waits goes along with what is asked next.
    pub(super) fn send(&self) -> Result<()> {
        self.known.sent();
        let mut waiting = self.waiting.take();
        if self.turn != Turn::Alone {
            waiting.sort();
        }
        let rows = waiting.asked()?;
        self.later.borrow_mut().extend(rows);
        Ok(())
    }

    /// Runs a statement whose rows nobody asks for, with whatever is asked next. Should it fail, so does that.
    pub(super) fn execute(&self, sql: &str, parameters: &[&dyn Parameter]) -> Result<()> {
        self.ask_later(asked(sql, parameters)?)
    }

    /// The same of a statement with its parameters.
    pub(super) fn ask_later(&self, asked: Asked) -> Result<()> {
        self.send()?;
        self.later.borrow_mut().push(asked);
        Ok(())
    }

    /// Deletes all rows of some tables.
    pub(super) fn empty(&self, tables: impl Iterator<Item = &'static Table>) -> Result<()> {
        let gone = tables.map(|table| format!("{0}_gone AS (DELETE FROM {0})", table.name));
        let gone: Vec<String> = gone.collect();
        self.execute(&format!("WITH {} SELECT 1", gone.join(", ")), &[])
    }

    /// The first row, if there is one.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        parameters: &[&dyn Parameter],
        read: impl FnOnce(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.query(sql, parameters)?.first().map(read).transpose()
    }

    /// All rows.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        parameters: &[&dyn Parameter],
        read: impl FnMut(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.query(sql, parameters)?.iter().map(read).collect()
    }

    /// Answers to keys, in their order. The statement finds them as `unnest($1) WITH ORDINALITY AS keys
    /// (key, n)`, and each row begins with the place `n` of the key that it answers.
    pub(super) fn by_key<K: Key, T>(
        &self,
        sql: &str,
        asked: &[K],
        mut read: impl FnMut(&Row) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let mut answers: Vec<Option<T>> = asked.iter().map(|_| None).collect();
        if asked.is_empty() {
            return Ok(answers);
        }
        for row in self.query(sql, &[&keys(asked)])?.iter() {
            answers[place_of(row)?] = Some(read(row)?);
        }
        Ok(answers)
    }
}

/// Which key a row answers.
pub(super) fn place_of(row: &Row) -> Result<usize> {
    Ok(row.unsigned(0)? as usize - 1)
}

impl Tx for Session<'_> {
    fn commit(self: Box<Self>) -> Result<()> {
        Gathering::keep(&self.gathering, &*self)?;
        self.send()?;
        self.drop_idle_operation()?;
        let trace = self.trace.as_ref().expect("it writes");
        // If any of what goes before it fails, this is not done.
        let (gave, left) = (self.numbers.gave(), trace.left());
        let done = self.exchange(vec![Asked::Text(format!("{gave}{left} COMMIT"))]);
        match done {
            Ok(_) => self.is_over.set(true),
            Err(Error::Disconnected { .. }) => {
                self.is_over.set(true);
                let during = match self.store.is_made(trace) {
                    Some(true) => None,
                    Some(false) => Some(Interrupted::Undone),
                    None => Some(Interrupted::InDoubt),
                };
                if let Some(during) = during {
                    return Err(Error::Disconnected { during });
                }
            }
            Err(error) => return Err(error),
        }
        self.store.ledger.commit();
        if self.operation.get().is_some() || self.came_with.borrow().is_some() {
            self.store.operations.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            if self.trace.is_none() && self.store.is_held.get() && !self.failed.get() {
                let moment = Moment {
                    link,
                    known: std::mem::take(&mut self.known),
                    answers: std::mem::take(&mut self.answers),
                    ahead: std::mem::take(&mut self.ahead),
                    last_purge: self.last_purge.get(),
                };
                return self.store.keep(moment);
            }
            if !self.is_over.get() {
                link.roll_back();
            }
            self.store.give_back(link);
        }
    }
}
