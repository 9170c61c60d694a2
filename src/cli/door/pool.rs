//! Requests under way, which a few threads answer in the order that [`Order`] keeps. Any of them may be cancelled.
//!
//! Deliberately absent: what a request is, and how it is read and answered. That is a [`Door`]'s.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use serde_json::value::RawValue;

use super::order::Order;

/// How many requests that only look are answered side by side at most, each by a thread with a connection of its own.
pub const WORKERS: usize = 4;
/// How many requests may wait before no more are read.
const WAITING: usize = 256;

/// Who answers.
pub trait Door: Sync {
    /// What is asked.
    type Asked: Send;
    /// What a thread keeps from one request to the next.
    type Hand;
    /// What is answered.
    type Said;

    /// A new thread's.
    fn hand(&self) -> Self::Hand;

    /// Does what is asked.
    fn done(&self, hand: &mut Self::Hand, job: &Job<Self::Asked>) -> Self::Said;

    /// Tells what came of it.
    fn tell(&self, job: &Job<Self::Asked>, said: Self::Said);
}

/// A request that waits for its turn, or has it.
pub struct Job<A> {
    pub id: Box<RawValue>,
    pub asked: A,
    is_cancelled: Arc<AtomicBool>,
}

impl<A> Job<A> {
    /// Whether nobody waits for it any more.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// Requests that wait or are under way.
pub struct Pool<A> {
    order: Mutex<Order<Job<A>>>,
    /// Something can begin, or there is room again.
    changed: Condvar,
    /// Those that were not answered yet, by their ids.
    open: Mutex<HashMap<String, Arc<AtomicBool>>>,
    /// Nobody reads any more.
    is_left: AtomicBool,
}

/// A thread that fell over has left nothing half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<A: Send> Pool<A> {
    /// For so many threads at most.
    pub fn new(most: usize) -> Self {
        Self {
            order: Mutex::new(Order::new(most)),
            changed: Condvar::new(),
            open: Mutex::default(),
            is_left: AtomicBool::new(false),
        }
    }

    /// Whether nobody reads any more.
    pub fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// Nobody reads any more.
    pub fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// No more will come.
    pub fn close(&self) {
        lock(&self.order).close();
        self.changed.notify_all();
    }

    /// Whether a request of this id was under way, and nobody waits for it any more.
    pub fn cancel(&self, id: &str) -> bool {
        let open = lock(&self.open);
        let found = open.get(id);
        found.is_some_and(|open| {
            open.store(true, Ordering::Relaxed);
            true
        })
    }

    /// Takes a request down, once there is room. False: one of that id has no answer yet.
    pub fn take<'a, D: Door<Asked = A>>(
        &'a self,
        door: &'a D,
        (id, changes, asked): (&RawValue, bool, A),
        scope: &'a Scope<'a, '_>,
    ) -> io::Result<bool> {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        if id.get() != "null" {
            let mut open = lock(&self.open);
            if open.contains_key(id.get()) {
                return Ok(false);
            }
            open.insert(id.get().to_owned(), Arc::clone(&is_cancelled));
        }
        let job = Job {
            id: id.to_owned(),
            asked,
            is_cancelled,
        };
        let mut order = lock(&self.order);
        while order.len() >= WAITING && !self.is_left() {
            order = self.wait(order);
        }
        order.push(changes, job);
        self.hire(&mut order, door, scope)?;
        drop(order);
        self.changed.notify_all();
        Ok(true)
    }

    fn wait<'m>(&self, order: MutexGuard<'m, Order<Job<A>>>) -> MutexGuard<'m, Order<Job<A>>> {
        let waited = self.changed.wait(order);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a worker, if the next request has nobody. Where the system has no thread left, those that are there go on; an
    /// error says that there are none.
    fn hire<'a, D: Door<Asked = A>>(
        &'a self,
        order: &mut Order<Job<A>>,
        door: &'a D,
        scope: &'a Scope<'a, '_>,
    ) -> io::Result<()> {
        let Some(number) = order.hire() else {
            return Ok(());
        };
        let work = move || self.work(number, door, scope);
        match thread::Builder::new().spawn_scoped(scope, work) {
            Err(error) if !order.left(number) => Err(error),
            _ => Ok(()),
        }
    }

    /// Answers one request after the other.
    fn work<'a, D: Door<Asked = A>>(
        &'a self,
        number: usize,
        door: &'a D,
        scope: &'a Scope<'a, '_>,
    ) {
        let (mut hand, mut done) = (door.hand(), None);
        while let Some((changes, job)) = self.next(number, done, door, scope) {
            let said = door.done(&mut hand, &job);
            lock(&self.open).remove(job.id.get());
            lock(&self.order).ends(number);
            door.tell(&job, said);
            done = Some(changes);
        }
    }

    /// The next request for a worker that is done with one, if it was at one.
    fn next<'a, D: Door<Asked = A>>(
        &'a self,
        number: usize,
        done: Option<bool>,
        door: &'a D,
        scope: &'a Scope<'a, '_>,
    ) -> Option<(bool, Job<A>)> {
        let mut order = lock(&self.order);
        if let Some(changes) = done {
            // In one go with the look for the next one: nobody else comes in between.
            order.done(changes);
            self.changed.notify_all();
        }
        loop {
            if self.is_left() {
                return None;
            }
            if let Some(next) = order.next(number) {
                // What may begin beside it is for another one, who may be free and not have looked.
                let _ = self.hire(&mut order, door, scope);
                self.changed.notify_all();
                return Some(next);
            }
            if order.is_over() {
                return None;
            }
            order = self.wait(order);
        }
    }
}
