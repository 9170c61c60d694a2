//! How far another file is read that a rollout begins with.

use crate::formats::Sink;

/// How far another file is read.
pub(super) struct Inherited {
    /// The first record that is not taken.
    end: u64,
    /// The record after the last that was there.
    next: u64,
    /// How many lines there were, for files whose records have no number.
    lines: u64,
}

/// Nobody is told what is wrong in another file: it was said when that one came in.
impl Sink for Inherited {}

impl Inherited {
    /// The records from `start` up to `end`.
    pub(super) fn new(start: u64, end: u64) -> Self {
        Self {
            end,
            next: start,
            lines: start,
        }
    }

    /// Whether the next record, of this number if it has one, is among them.
    pub(super) fn takes(&mut self, ordinal: Option<u64>) -> bool {
        let ordinal = ordinal.unwrap_or(self.lines);
        self.lines += 1;
        let takes = ordinal < self.end;
        if takes {
            self.next = self.next.max(ordinal + 1);
        }
        takes
    }

    /// The record after the last that was there.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
}
