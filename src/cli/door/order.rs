//! In which order requests are answered: what changes something waits for all before it, and all behind it wait for
//! it; what only looks is answered side by side. So a program may send several and be answered as if each had waited.

use std::collections::VecDeque;

/// Requests that wait, and how many are under way.
pub struct Order<T> {
    waiting: VecDeque<(bool, T)>,
    looking: usize,
    is_changing: bool,
    is_closed: bool,
}

impl<T> Default for Order<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            looking: 0,
            is_changing: false,
            is_closed: false,
        }
    }
}

impl<T> Order<T> {
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

    /// The next request, if it may begin now, and whether it changes something: say [`Order::done`] of that.
    pub fn next(&mut self) -> Option<(bool, T)> {
        let (changes, _) = self.waiting.front()?;
        if self.is_changing || *changes && self.looking > 0 {
            return None;
        }
        let (changes, request) = self.waiting.pop_front()?;
        if changes {
            self.is_changing = true;
        } else {
            self.looking += 1;
        }
        Some((changes, request))
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
        let mut order = Order::default();
        for (changes, name) in [(false, 'a'), (false, 'b'), (true, 'c'), (false, 'd')] {
            order.push(changes, name);
        }
        order.close();
        assert_eq!(order.next(), Some((false, 'a')));
        assert_eq!(order.next(), Some((false, 'b')));
        assert_eq!(order.next(), None);
        order.done(false);
        assert_eq!(order.next(), None);
        order.done(false);
        assert_eq!(order.next(), Some((true, 'c')));
        assert_eq!(order.next(), None);
        order.done(true);
        assert_eq!(order.next(), Some((false, 'd')));
        assert!(order.is_over());
    }
}
