//! Answers to one line: one of its own, or those of a batch together, once all are there.

use std::sync::Mutex;

use crate::cli::door::lock;

/// A batch whose answers are not all there.
pub struct Batch {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    left: usize,
    answers: Vec<String>,
}

impl Batch {
    /// Of so many messages.
    pub fn of(messages: usize) -> Self {
        let open = Open {
            left: messages,
            answers: Vec::new(),
        };
        Self {
            open: Mutex::new(open),
        }
    }

    /// One of its messages is done; all answers, if it was the last one and there are any.
    pub fn done(&self, answer: Option<String>) -> Option<String> {
        let mut open = lock(&self.open);
        open.answers.extend(answer);
        open.left -= 1;
        let is_told = open.left == 0 && !open.answers.is_empty();
        is_told.then(|| format!("[{}]", open.answers.join(",")))
    }
}
