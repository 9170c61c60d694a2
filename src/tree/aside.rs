//! What stands between what the user and the model say.

use super::node::Node;
use crate::model::{HideKind, Part, Role, Speaker};

/// A message that nobody typed: instructions, a reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Its name.
    pub node: Node,
    /// Whose it is.
    pub role: Role,
    /// What it says.
    pub parts: Vec<Part>,
}

impl Notation {
    /// Who speaks, for people: what a client says in the user's name is injected.
    pub fn who(&self) -> &'static str {
        match self.role {
            Role::User => Speaker::INJECTED,
            role => role.as_str(),
        }
    }
}

/// That someone cancelled what was under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// Its name.
    pub node: Node,
    /// The message that tells the model of it, where there is one.
    pub said: Vec<Part>,
    /// Whether it is a line of its own: no tool block says it.
    pub stands: bool,
}

/// A failure of the program that talks to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faulted {
    /// Its name.
    pub node: Node,
    /// What it says.
    pub text: String,
}

/// What stands in place of hidden messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name.
    pub node: Node,
    /// What hid them.
    pub kind: HideKind,
    /// Whose message it is.
    pub role: Role,
    /// What it says.
    pub parts: Vec<Part>,
}
