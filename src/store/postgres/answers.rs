//! What a view was told already: a snapshot answers the same question the same way.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use tokio_postgres::Row;

use super::driver::Asked;

/// The rows of an answer.
pub(super) type Answer = Arc<Vec<Row>>;

/// How many bytes of answers are kept, and of one at most.
const MOST_BYTES: usize = 8 << 20;
const BYTES: usize = 256 << 10;

/// Answers by their questions.
#[derive(Default)]
pub(super) struct Answers {
    kept: RefCell<HashMap<Asked, Answer>>,
    bytes: Cell<usize>,
    /// Those that are large: whoever asks first takes them.
    large: RefCell<HashMap<Asked, Answer>>,
}

impl Answers {
    pub(super) fn to(&self, asked: &Asked) -> Option<Answer> {
        let kept = self.kept.borrow().get(asked).cloned();
        kept.or_else(|| self.large.borrow_mut().remove(asked))
    }

    pub(super) fn has(&self, asked: &Asked) -> bool {
        self.kept.borrow().contains_key(asked) || self.large.borrow().contains_key(asked)
    }

    /// Keeps an answer until somebody asks for it, and for longer if it is small.
    pub(super) fn expect(&self, asked: Asked, answer: Vec<Row>) {
        let answer = Arc::new(answer);
        if !self.keep(asked.clone(), &answer) {
            self.large.borrow_mut().insert(asked, answer);
        }
    }

    /// Keeps an answer if it is small: whether it is.
    pub(super) fn keep(&self, asked: Asked, answer: &Answer) -> bool {
        let bytes = answer.iter().map(Row::raw_size_bytes).sum::<usize>();
        let is_small = bytes <= BYTES && self.bytes.get() + bytes <= MOST_BYTES;
        if is_small {
            self.bytes.set(self.bytes.get() + bytes);
            self.kept.borrow_mut().insert(asked, Arc::clone(answer));
        }
        is_small
    }
}
