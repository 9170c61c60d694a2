//! What a thread makes once and works with: when the thread ends, the next one that needs such a thing takes it over. A server
//! and a framework begin a thread for each request, and to make these things takes longer than to write a short message.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many things of ended threads are held.
const IDLE: usize = 4;

/// Things whose threads have ended.
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    /// A pool without things.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thing of a thread that has ended, or else a new one.
    pub fn take(&'static self, make: impl FnOnce() -> T) -> Pooled<T> {
        let idle = self.idle().pop();
        Pooled {
            thing: Some(idle.unwrap_or_else(make)),
            pool: self,
        }
    }
}

/// A thing that goes back to its pool when it is dropped.
pub struct Pooled<T: 'static> {
    thing: Option<T>,
    pool: &'static Pool<T>,
}

impl<T> Deref for Pooled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing
            .as_ref()
            .expect("it is there until it is dropped")
    }
}

impl<T> DerefMut for Pooled<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing
            .as_mut()
            .expect("it is there until it is dropped")
    }
}

impl<T> Drop for Pooled<T> {
    fn drop(&mut self) {
        if let Some(thing) = self.thing.take() {
            let mut idle = self.pool.idle();
            if idle.len() < IDLE {
                idle.push(thing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    static NUMBERS: Pool<Vec<u32>> = Pool::new();

    thread_local! {
        static OWN: std::cell::RefCell<Pooled<Vec<u32>>> = NUMBERS.take(Vec::new).into();
    }

    #[test]
    fn a_thread_takes_over_what_one_before_it_made() {
        let add = |number| OWN.with_borrow_mut(|own| own.push(number));
        thread::spawn(move || add(1)).join().expect("ends");
        thread::spawn(move || add(2)).join().expect("ends");
        let seen = thread::spawn(|| OWN.with_borrow(|own| own.to_vec()));
        assert_eq!(seen.join().expect("ends"), [1, 2]);
    }
}
