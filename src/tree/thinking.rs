//! A thought in a response.

use super::node::Node;

/// The model's reasoning, where it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thought {
    /// Its name.
    pub node: Node,
    /// What it says so far; may be empty.
    pub text: String,
    /// What the provider needs to accept it back.
    pub signature: Option<String>,
    /// Whose it is.
    pub provider: Option<String>,
    /// The message of the model's that it is part of.
    pub message: Option<String>,
    /// Whether more of it may come.
    pub open: bool,
    /// Whether the stream ended before it did.
    pub interrupted: bool,
    /// Whether its final text is known.
    pub(super) finished: bool,
}

impl Thought {
    /// It is complete, and says this.
    pub(super) fn finish(&mut self, text: String) {
        self.text = text;
        (self.open, self.finished) = (false, true);
    }
}
