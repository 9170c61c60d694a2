//! A turn: what the user said, and all that came of it.

use super::aside::{Cancelled, Faulted, Notation};
use super::node::{Node, NodeId};
use super::response::Response;
use crate::model::Part;

/// A turn of the conversation.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Its name.
    pub id: NodeId,
    /// Its id in the source.
    pub turn: Option<String>,
    /// What the user said; none where it began on its own.
    pub user: Option<User>,
    /// What came of it.
    pub items: Vec<TurnItem>,
    /// Whether the source says that it is complete.
    pub(super) ended: bool,
    /// Whether nothing more is expected, as far as can be told.
    pub(super) settled: bool,
    /// Whether something says already that it was interrupted.
    pub(super) interrupted: bool,
    /// When a call in it was answered, put off or cancelled last, in the order of nodes.
    pub(super) answered: Option<NodeId>,
}

/// The user's bubble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its name.
    pub node: Node,
    /// What was said.
    pub parts: Vec<Part>,
    /// The agent that spoke in the user's place.
    pub from: Option<String>,
}

/// Something in a turn.
#[derive(Clone, Debug)]
pub enum TurnItem {
    /// The model's.
    Response(Response),
    /// A message that nobody typed.
    Note(Notation),
    /// The line that says that someone cancelled it.
    Interrupted(Cancelled),
    /// What the program said of a failure.
    Fault(Faulted),
}

impl Turn {
    pub(super) fn new(id: NodeId, turn: Option<String>) -> Self {
        Self {
            id,
            turn,
            ..Self::default()
        }
    }

    /// The responses in it.
    pub(super) fn responses(&mut self) -> impl Iterator<Item = &mut Response> {
        self.items.iter_mut().filter_map(|item| match item {
            TurnItem::Response(response) => Some(response),
            _ => None,
        })
    }

    /// The response at its end, if that is what stands there.
    pub(super) fn last_response(&mut self) -> Option<&mut Response> {
        match self.items.last_mut() {
            Some(TurnItem::Response(response)) => Some(response),
            _ => None,
        }
    }

    /// Whether more of it is to come, as far as can be told.
    pub fn is_under_way(&self) -> bool {
        !self.ended && !self.settled
    }

    /// Whether nothing is in it that can be seen.
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.items.iter().all(TurnItem::is_empty)
    }
}

impl TurnItem {
    /// Whether there is nothing to see in it.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Response(response) => response.is_empty(),
            Self::Interrupted(cancelled) => !cancelled.stands,
            Self::Note(_) | Self::Fault(_) => false,
        }
    }
}
