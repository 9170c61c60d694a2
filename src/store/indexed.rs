//! What an index says of contents, to be held against them: of words and of pieces of words alike.

use std::collections::HashMap;

/// What an index says of contents, by their numbers, to be held against them.
#[derive(Default)]
pub(super) struct Indexed<S> {
    /// The last content that the index has come to.
    pub(super) watermark: i64,
    sums: HashMap<i64, S>,
}

impl<S: Default> Indexed<S> {
    /// What is known of a content so far.
    pub(super) fn of(&mut self, id: i64) -> &mut S {
        self.sums.entry(id).or_default()
    }

    /// What is known of a content; none where the index has not come to it.
    pub(super) fn take(&mut self, id: i64) -> Option<S> {
        let sum = self.sums.remove(&id);
        (id <= self.watermark).then(|| sum.unwrap_or_default())
    }

    /// Of how many something is known that were not taken.
    pub(super) fn left(&self) -> u64 {
        self.sums.len() as u64
    }
}
