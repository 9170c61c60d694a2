//! The record that a reader of lines is at.

use super::records::Record;
use super::{Action, Step};
use crate::model::{Millis, Span};

/// The record just read: its line, its place, its time.
#[derive(Clone, Copy, Default)]
pub(super) struct Current {
    pub(super) line: u64,
    pub(super) span: Span,
    pub(super) time: Option<Millis>,
}

impl Current {
    /// At a record whose time is not known yet.
    pub(super) fn at(record: &Record<'_>) -> Self {
        Self {
            line: record.line,
            span: record.span(),
            time: None,
        }
    }

    /// A step by it.
    pub(super) fn step(&self, action: Action) -> Step {
        Step::new(action, self.span).at(self.time)
    }
}
