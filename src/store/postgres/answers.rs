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
}

impl Answers {
    pub(super) fn to(&self, asked: &Asked) -> Option<Answer> {
        self.kept.borrow().get(asked).cloned()
    }

    pub(super) fn keep(&self, asked: Asked, answer: &Answer) {
        let bytes = answer.iter().map(Row::raw_size_bytes).sum::<usize>();
        if bytes <= BYTES && self.bytes.get() + bytes <= MOST_BYTES {
            self.bytes.set(self.bytes.get() + bytes);
            self.kept.borrow_mut().insert(asked, Arc::clone(answer));
        }
    }
}
