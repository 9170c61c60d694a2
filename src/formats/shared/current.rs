//! The record that a reader of lines is at.

use crate::formats::shared::records::Record;
use crate::formats::{Action, Step};
use crate::model::{Millis, Span};

/// The record just read: its line, its place, its time.
#[derive(Clone, Copy, Default)]
pub(in crate::formats) struct Current {
    pub(in crate::formats) line: u64,
    pub(in crate::formats) span: Span,
    pub(in crate::formats) time: Option<Millis>,
}

impl Current {
    /// At a record whose time is not known yet.
    pub(in crate::formats) fn at(record: &Record<'_>) -> Self {
        Self {
            line: record.line,
            span: record.span(),
            time: None,
        }
    }

    /// A step by it.
    pub(in crate::formats) fn step(&self, action: Action) -> Step {
        Step::new(action, self.span).at(self.time)
    }
}
