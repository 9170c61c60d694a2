//! Which results answer a call that came before them.
//!
//! Deliberately absent: results that name no call; their format says what they answer.

use std::collections::HashSet;
use std::ops::Range;

use super::Sink;
use super::records::Text;
use crate::error::Result;
use crate::model::Message;

/// The calls on a way.
#[derive(Default)]
pub(super) struct Calls(HashSet<String>);

impl Calls {
    /// Takes calls that do not stand in messages as such.
    pub(super) fn extend(&mut self, ids: impl IntoIterator<Item = String>) {
        self.0.extend(ids);
    }

    /// Takes a message's calls, and says which of its results answer none; it stands at `at`.
    pub(super) fn pair(
        &mut self,
        message: &Message,
        text: Text<'_>,
        at: &Range<usize>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.0.extend(message.calls().map(str::to_owned));
        for call in message.results().filter(|call| !self.0.contains(*call)) {
            let reason = format!("a tool result without its call '{call}'");
            sink.problem(text.problem(at.start, reason))?;
        }
        Ok(())
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }
}
