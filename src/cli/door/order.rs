//! In which order requests are answered: what changes something waits for all before it, and all behind it wait for
//! it; what only looks is answered side by side. So a program may send several and be answered as if each had waited.
//!
//! Each worker has a connection of its own, so there are no more of them than were ever busy at once: a request goes to the
//! first of those that are free, and another worker begins only for a request that may begin and has nobody.

use std::collections::{BTreeSet, VecDeque};

/// Requests that wait, how many are under way, and who is free.
pub struct Order<T> {
    waiting: VecDeque<(bool, T)>,
    looking: usize,
    is_changing: bool,
    is_closed: bool,
    /// How many workers there are, and how many there may be.
    workers: usize,
    most: usize,
    /// Those that wait for a request.
    free: BTreeSet<usize>,
}

impl<T> Order<T> {
    /// Nothing yet, for so many workers at most.
    pub fn new(most: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            looking: 0,
            is_changing: false,
            is_closed: false,
            workers: 0,
            most,
            free: BTreeSet::new(),
        }
    }

    /// Takes a request down.
    pub fn push(&mut self, changes: bool, request: T) {
        self.waiting.push_back((changes, request));
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// No more will come.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether nobody needs to wait for another request.
    pub fn is_over(&self) -> bool {
        self.is_closed && self.waiting.is_empty()
    }

    /// Whether the next request may begin now.
    fn is_ready(&self) -> bool {
        let waits = |changes: bool| self.is_changing || changes && self.looking > 0;
        let first = self.waiting.front();
        first.is_some_and(|(changes, _)| !waits(*changes))
    }

    /// The number of a worker that is to begin, if a request may begin for which nobody is free.
    pub fn hire(&mut self) -> Option<usize> {
        let is_needed = self.is_ready() && self.free.is_empty() && self.workers < self.most;
        is_needed.then(|| {
            let worker = self.workers;
            self.workers += 1;
            // It is free from now on, though it has not looked yet.
            self.free.insert(worker);
            worker
        })
    }

    /// The newest worker could not begin; whether there is any other.
    pub fn left(&mut self, worker: usize) -> bool {
        self.free.remove(&worker);
        self.workers -= 1;
        self.workers > 0
    }

    /// The next request, if it may begin now and no worker before this one is free, and whether it changes something: say
    /// [`Order::done`] of that. A worker that gets none is free from now on.
    pub fn next(&mut self, worker: usize) -> Option<(bool, T)> {
        let is_first = self.free.first().is_none_or(|first| worker <= *first);
        if !is_first || !self.is_ready() {
            self.free.insert(worker);
            return None;
        }
        self.free.remove(&worker);
        let (changes, request) = self.waiting.pop_front()?;
        if changes {
            self.is_changing = true;
        } else {
            self.looking += 1;
        }
        Some((changes, request))
    }

    /// This worker is about to answer its request and to look for the next: nobody else begins for what it can take then.
    pub fn ends(&mut self, worker: usize) {
        self.free.insert(worker);
    }

    /// One is done.
    pub fn done(&mut self, changes: bool) {
        if changes {
            self.is_changing = false;
        } else {
            self.looking -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_stands_between_what_looks() {
        let mut order = Order::new(4);
        for (changes, name) in [(false, 'a'), (false, 'b'), (true, 'c'), (false, 'd')] {
            order.push(changes, name);
        }
        order.close();
        assert_eq!(order.next(0), Some((false, 'a')));
        assert_eq!(order.next(1), Some((false, 'b')));
        assert_eq!(order.next(2), None);
        order.done(false);
        assert_eq!(order.next(0), None);
        order.done(false);
        assert_eq!(order.next(0), Some((true, 'c')));
        assert_eq!(order.next(1), None);
        order.done(true);
        assert_eq!(order.next(0), Some((false, 'd')));
        assert!(order.is_over());
    }

    #[test]
    fn what_comes_one_after_the_other_has_one_worker() {
        let mut order = Order::new(4);
        assert_eq!(order.hire(), None);
        for at in 0..20 {
            let changes = at % 3 > 0;
            order.push(changes, at);
            assert_eq!(order.hire(), (at == 0).then_some(0));
            // More may come before it has looked.
            assert_eq!(order.hire(), None);
            assert_eq!(order.next(0), Some((changes, at)));
            // Whoever is answered may send the next one before the worker has looked.
            order.ends(0);
            order.push(false, at);
            assert_eq!(order.hire(), None);
            order.done(changes);
            assert_eq!(order.next(0), Some((false, at)));
            order.done(false);
            assert_eq!(order.next(0), None);
        }
        for at in 0..5 {
            order.push(true, at);
            assert_eq!(order.hire(), None);
        }
        for at in 0..5 {
            assert_eq!(order.next(0), Some((true, at)));
            assert_eq!(order.hire(), None);
            order.done(true);
        }
    }

    #[test]
    fn what_may_begin_beside_others_has_a_worker_up_to_the_most() {
        let mut order = Order::new(3);
        for at in 0..5 {
            order.push(false, at);
        }
        for worker in 0..3 {
            assert_eq!(order.hire(), Some(worker));
            assert_eq!(order.next(worker), Some((false, worker)));
        }
        assert_eq!(order.hire(), None);
        order.done(false);
        assert_eq!(order.next(2), Some((false, 3)));
        order.done(false);
        assert_eq!(order.next(1), Some((false, 4)));
        for worker in [2, 1, 0] {
            order.done(false);
            assert_eq!(order.next(worker), None);
        }
        // All are free: the first has it, whoever looks first.
        order.push(true, 5);
        assert_eq!(
            (order.hire(), order.next(2), order.next(1)),
            (None, None, None)
        );
        assert_eq!(order.next(0), Some((true, 5)));
    }
}
