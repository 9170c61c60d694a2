//! The conversation as a tree, and the fold that makes it of events.
//!
//! A live stream, a session file and a stored conversation all become [`Event`]s, and one pure fold
//! makes a [`Tree`] of them: what is seen live, what is seen later, and the messages that an
//! importer of such a stream makes, are one truth. `docs/render.md` says what a tree looks like
//! from outside ([`json`]). Deliberately absent: how any source spells an event (that is
//! [`crate::formats`]), how a tree is drawn (that is [`crate::render`]), the store, and the clock.
//!
//! The floor lies below `formats`, so that an importer can make its messages from the settled tree.

mod arrivals;
mod aside;
mod calls;
pub mod console;
pub mod cut;
mod event;
mod fold;
pub mod group;
mod interrupt;
pub mod json;
#[cfg(test)]
mod laws;
mod node;
mod place;
mod response;
mod rest;
mod sequence;
mod stored;
mod take;
mod talk;
#[cfg(test)]
mod tests;
mod text;
mod thinking;
mod tool;
mod turn;
pub mod words;

use std::collections::HashMap;

use arrivals::Arrivals;

pub use aside::{Cancelled, Faulted, Mark, Notation};
pub use event::{Ending, Event, EventPlace, Happening};
pub use fold::{Fold, Touch};
pub use node::{Node, NodeId};
pub use response::{Held, Response, ResponseBlock};
pub use rest::Rest;
pub use sequence::Sequence;
pub use stored::events_of;
pub(crate) use stored::user;
pub use talk::Talk;
pub use text::Segment;
pub use thinking::Thought;
pub use tool::{State, Tool};
pub use turn::{Turn, TurnItem, User};

/// A conversation, or what a sub-agent did in one.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// What is in it, in order.
    pub items: Vec<TreeItem>,
    /// Whether something is still to come: then it ends in a typing indicator.
    pub is_live: bool,
    index: Index,
}

/// Something at the top of a tree.
#[derive(Clone, Debug)]
pub enum TreeItem {
    /// A turn.
    Turn(Turn),
    /// What stands in place of hidden messages.
    Mark(Mark),
    /// A message that nobody typed, outside any turn.
    Note(Notation),
    /// A failure outside any turn.
    Fault(Faulted),
}

/// Where things stand in a tree.
#[derive(Clone, Debug, Default)]
struct Index {
    /// The item that goes on with each turn.
    turns: HashMap<String, usize>,
    /// The item with the user's bubble of each turn.
    users: HashMap<String, usize>,
    /// Each response: the item, and which of its items.
    responses: HashMap<String, (usize, usize)>,
    /// The blocks of each call, oldest first.
    calls: HashMap<String, Vec<BlockPlace>>,
    /// The call whose answer names this exchange.
    exchanges: HashMap<String, BlockPlace>,
    /// What came before its call.
    held: HashMap<String, Vec<Event>>,
    /// How many items stand before or at the last marker.
    marked: usize,
    arrivals: Arrivals,
}

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockPlace {
    item: usize,
    response: usize,
    block: usize,
}

impl Tree {
    /// Whether a turn is under way: more is to come as far as can be told.
    pub fn is_under_way(&self) -> bool {
        match self.items.last() {
            Some(TreeItem::Turn(turn)) => turn.is_under_way(),
            _ => false,
        }
    }

    /// Whether anything of a sub-agent waits for the call that started it.
    pub fn waits(&self) -> bool {
        let mut held = self.index.held.values().flatten();
        held.any(|event| event.parent.is_some())
    }

    fn turns_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Turn> {
        self.items.iter_mut().filter_map(|item| match item {
            TreeItem::Turn(turn) => Some(turn),
            _ => None,
        })
    }

    /// The turns, in order.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.items.iter().filter_map(|item| match item {
            TreeItem::Turn(turn) => Some(turn),
            _ => None,
        })
    }

    /// The calls in it, sub-agents' aside, in order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        let items = self.turns().flat_map(|turn| &turn.items);
        let blocks = items.flat_map(|item| match item {
            TurnItem::Response(response) => &response.blocks[..],
            _ => &[],
        });
        blocks.filter_map(|block| match block {
            ResponseBlock::Tool(tool) => Some(&**tool),
            _ => None,
        })
    }
}
