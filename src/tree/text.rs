//! A segment of text in a response.

use super::node::Node;

/// Text between two other blocks, or between two phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Its name.
    pub node: Node,
    /// What it says so far.
    pub text: String,
    /// What kind of text it is: `commentary`, `final_answer`.
    pub phase: Option<String>,
    /// The message of the model's that it is part of.
    pub message: Option<String>,
    /// Whether more of it may come.
    pub open: bool,
    /// Whether the stream ended before it did.
    pub interrupted: bool,
    /// Whether it came in pieces.
    pub(super) streamed: bool,
    /// Whether its final text is known.
    pub(super) finished: bool,
}

impl Segment {
    /// Whether text of this phase may be part of it. What names no phase goes with any.
    pub(super) fn is_of(&self, phase: Option<&str>) -> bool {
        match (self.phase.as_deref(), phase) {
            (Some(mine), Some(other)) => mine == other,
            _ => true,
        }
    }

    /// Whether it came in pieces and nobody has told its final text.
    pub(super) fn awaits_end(&self) -> bool {
        self.streamed && !self.finished
    }

    /// It is complete, and says this.
    pub(super) fn finish(&mut self, text: String, phase: Option<String>) {
        self.text = text;
        self.phase = phase.or(self.phase.take());
        (self.open, self.finished) = (false, true);
    }
}
