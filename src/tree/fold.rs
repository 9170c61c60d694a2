//! The fold: events in, a tree out.

use std::collections::HashSet;

use super::Tree;
use super::event::Event;
use super::node::{NodeId, Trail};
use super::sequence::{Sequence, Taken};

/// A tree in the making.
///
/// ```
/// use tract::tree::{Event, Fold, Happening, json};
///
/// let mut fold = Fold::live();
/// let text = |text: &str| Happening::TextDelta { text: text.into(), phase: None };
/// fold.feed(text("Hel").into());
/// let touched = fold.feed(text("lo").into());
/// assert_eq!(touched.nodes.len(), 1);
/// assert!(json::text(fold.tree()).contains(r#""kind":"typing""#));
/// let settled = json::text(&fold.settle());
/// assert!(settled.contains(r#""text":"Hello""#) && !settled.contains("typing"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fold {
    state: FoldState,
    sequence: Sequence<Event>,
    /// The state before the first numbered event: what everything numbered starts over from.
    base: Option<Box<FoldState>>,
}

#[derive(Clone, Debug, Default)]
struct FoldState {
    tree: Tree,
    trail: Trail,
    seen: HashSet<String>,
}

/// What an event did to the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    /// The nodes that came or changed.
    pub nodes: Vec<NodeId>,
    /// Whether the tree was made anew, so that no earlier name holds.
    pub anew: bool,
}

impl Fold {
    /// Of something that is under way: its tree ends in a typing indicator until it is settled.
    pub fn live() -> Self {
        let mut fold = Self::default();
        fold.state.tree.is_live = true;
        fold
    }

    /// The tree so far.
    pub fn tree(&self) -> &Tree {
        &self.state.tree
    }

    /// The last name that was given.
    pub fn last(&self) -> NodeId {
        self.state.trail.last
    }

    /// Whether something numbered waits for what comes before it.
    pub fn waits(&self) -> bool {
        self.sequence.waits()
    }

    /// Takes an event.
    pub fn feed(&mut self, event: Event) -> Touch {
        if event.place.is_some() && !self.sequence.is_numbered() {
            self.base = Some(Box::new(self.state.clone()));
        }
        let (place, id) = (event.place, event.id.clone());
        match self.sequence.take(place, id.as_deref(), event) {
            Taken::Nothing => Touch::default(),
            Taken::Next(events) => Touch {
                nodes: self.state.take(&events),
                anew: false,
            },
            Taken::Anew => {
                let base = self.base.as_ref().expect("something numbered has come");
                self.state = (**base).clone();
                let events: Vec<Event> = self.sequence.log().cloned().collect();
                Touch {
                    nodes: self.state.take(&events),
                    anew: true,
                }
            }
        }
    }

    /// Says of every node what hid it.
    pub fn hide(&mut self, by: impl Fn(NodeId) -> Option<&'static str>) {
        self.state
            .tree
            .each_node(&mut |node| node.hidden = by(node.id));
    }

    /// The tree when nothing more will come: what waited is taken, what ran is interrupted, and
    /// nothing is expected.
    pub fn settle(mut self) -> Tree {
        let rest = self.sequence.rest();
        self.state.take(&rest);
        let FoldState {
            mut tree,
            mut trail,
            ..
        } = self.state;
        tree.settle(&mut trail);
        tree
    }
}

impl FoldState {
    fn take(&mut self, events: &[Event]) -> Vec<NodeId> {
        for event in events {
            let known = event
                .id
                .as_ref()
                .is_some_and(|id| !self.seen.insert(id.clone()));
            if !known {
                self.tree.take(event, &mut self.trail);
            }
        }
        std::mem::take(&mut self.trail.changed)
    }
}
