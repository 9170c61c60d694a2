//! What the user asked for, which is said again with each summary.

use super::message::user_message;
use crate::model::Span;

/// The prompts, by their events. Each is read once, when a summary needs it.
#[derive(Default)]
pub(super) struct Asked {
    spans: Vec<Span>,
    /// Those that were read, as they are said again.
    text: String,
    /// Where the text of each of them ends.
    ends: Vec<usize>,
}

impl Asked {
    pub(super) fn push(&mut self, event: Span) {
        self.spans.push(event);
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.spans.truncate(count);
        self.ends.truncate(count);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// The first that was not read yet.
    pub(super) fn unread(&self) -> Option<Span> {
        self.spans.get(self.ends.len()).copied()
    }

    /// The first that was not read yet is this one; nothing if it asks for nothing.
    pub(super) fn read(&mut self, prompt: Option<&str>) {
        if let Some(prompt) = prompt {
            self.text += &user_message(prompt);
        }
        self.ends.push(self.text.len());
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}
