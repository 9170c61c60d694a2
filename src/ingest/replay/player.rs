//! Stored messages told again, event by event, as they happened.
//!
//! Whoever needs the tree alone steps to the end at once; whoever shows how it came takes the time
//! that lies between. Deliberately absent: waiting.

use std::collections::VecDeque;

use super::{Replay, ReplayedEntry};
use crate::model::Millis;
use crate::repo::ListedEntry;
use crate::tree::{Event, Fold, NodeId, Sequence, Tree};

/// Messages on their way into a tree.
pub struct Player {
    /// What is still to be told, and the message that it came with.
    events: VecDeque<(usize, Event)>,
    fold: Fold,
    found: Replay,
    /// Whether anything in it is hidden.
    hides: bool,
    /// Whether more may come behind it.
    goes_on: bool,
}

impl Player {
    /// Of these events, each of one of these messages; so many of them are the part's own.
    pub(super) fn of(
        events: Vec<(usize, Event)>,
        rows: Vec<ListedEntry>,
        places: &[usize],
        own: usize,
        goes_on: bool,
    ) -> Self {
        let place = |(at, event): (usize, Event)| (event.place, event.id.clone(), (at, event));
        let events = Sequence::in_order(events.into_iter().map(place));
        let told = rows.into_iter().zip(places).map(|(row, at)| ReplayedEntry {
            id: row.entry.id,
            at: *at,
            number: row.number,
            hidden: row.hidden,
        });
        let mut entries: Vec<ReplayedEntry> = told.collect();
        let hides = entries.iter().any(|entry| entry.hidden.is_some());
        let behind = entries.split_off(own);
        Self {
            events: events.into(),
            fold: Fold::default(),
            found: Replay {
                tree: Tree::default(),
                entries,
                earlier: 0,
                births: Vec::new(),
                behind,
            },
            hides,
            goes_on,
        }
    }

    /// When the next event happened, by its record, and the message that it came with, counted from
    /// the first of the range; none at the end.
    pub fn next(&self) -> Option<(Option<Millis>, usize)> {
        let (at, event) = self.events.front()?;
        Some((event.time, *at))
    }

    /// Tells the next event; false at the end.
    pub fn step(&mut self) -> bool {
        let Some((at, event)) = self.events.pop_front() else {
            return false;
        };
        let first = NodeId(self.fold.last().0 + 1);
        self.fold.feed(Event {
            place: None,
            ..event
        });
        if self.fold.last() >= first {
            self.found.births.push((first, at));
        }
        true
    }

    /// Says of what is hidden by what, so that it can be shown before the end.
    pub fn mark(&mut self) {
        if self.hides {
            let found = &self.found;
            self.fold.hide(|node| found.entry_of(node)?.1.hidden);
        }
    }

    /// The tree so far.
    pub fn tree(&self) -> &Tree {
        self.fold.tree()
    }

    /// The message that a node came with, and its place in the conversation.
    pub fn entry_of(&self, node: NodeId) -> Option<(usize, &ReplayedEntry)> {
        self.found.entry_of(node)
    }

    /// All of it; settled, unless more may come.
    pub fn finish(mut self) -> Replay {
        while self.step() {}
        let Self {
            mut fold,
            found,
            goes_on,
            ..
        } = self;
        fold.hide(|node| found.entry_of(node)?.1.hidden);
        let tree = if goes_on {
            fold.tree().clone()
        } else {
            fold.settle()
        };
        Replay { tree, ..found }
    }
}
