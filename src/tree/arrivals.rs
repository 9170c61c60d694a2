//! Where in a tree what came last stands, so that whoever wants the newest looks at nothing else.
//!
//! Too many places may be told, never too few. Deliberately absent: what sub-agents did, and what a settled tree has
//! become.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::node::NodeId;
use super::{Tree, TreeItem};

/// The places where something came, in the order in which it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    all: Vec<Arrival>,
    /// The last name that was given as places were noted last, and how many items there were.
    last: NodeId,
    items: usize,
    /// What was touched since.
    touched: Vec<Touched>,
}

/// An item, the place within it, and the last name that was given as something came there.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    item: usize,
    within: usize,
    last: NodeId,
}

/// A turn of which something may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touched {
    item: usize,
    within: usize,
    /// Whether all behind that may have come since.
    goes_on: bool,
}

impl Arrivals {
    /// A turn of so many items may get more.
    pub(super) fn at_the_end(&mut self, item: usize, items: usize) {
        let within = items.saturating_sub(1);
        self.touch(item, within, true);
    }

    /// So may one of its items.
    pub(super) fn within(&mut self, item: usize, within: usize) {
        self.touch(item, within, false);
    }

    fn touch(&mut self, item: usize, within: usize, goes_on: bool) {
        let touched = Touched {
            item,
            within,
            goes_on,
        };
        if self.touched.last() != Some(&touched) {
            self.touched.push(touched);
        }
    }

    fn push(&mut self, item: usize, within: usize) {
        let last = self.last;
        match self.all.last_mut() {
            Some(newest) if (newest.item, newest.within) == (item, within) => newest.last = last,
            _ => self.all.push(Arrival { item, within, last }),
        }
    }
}

impl Tree {
    /// Notes where what was named since the last time stands.
    pub(super) fn note_arrivals(&mut self, last: NodeId) {
        let arrivals = &mut self.index.arrivals;
        let touched = mem::take(&mut arrivals.touched);
        if last == arrivals.last {
            return;
        }
        arrivals.last = last;
        for item in arrivals.items..self.items.len() {
            arrivals.push(item, 0);
        }
        arrivals.items = self.items.len();
        for at in touched {
            let end = match self.items.get(at.item) {
                Some(TreeItem::Turn(turn)) if at.goes_on => turn.items.len(),
                _ => 0,
            };
            for within in at.within..end.max(at.within + 1) {
                arrivals.push(at.item, within);
            }
        }
    }

    /// The places of the items, and of what is in turns, where the names from one on stand; of a tree that is not settled.
    pub(crate) fn places_from(&self, from: NodeId) -> BTreeMap<usize, BTreeSet<usize>> {
        let all = &self.index.arrivals.all;
        let first = all.partition_point(|arrival| arrival.last < from);
        let mut places: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for arrival in &all[first..] {
            let within = places.entry(arrival.item).or_default();
            within.insert(arrival.within);
        }
        places
    }
}
