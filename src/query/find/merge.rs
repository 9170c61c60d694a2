//! What several branches hold, as one list, newest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::error::Result;
use crate::model::Millis;
use crate::store::{CommitRow, Hit, View};

/// Hits of several paths as one list, newest first. Along a path the chain decides, between paths
/// the clock; what has no time of its own is as old as what comes after it on its path.
pub(crate) struct Merge {
    /// The next hit of each path: its time, then the preferred path first.
    heads: BinaryHeap<(Option<Millis>, Reverse<usize>)>,
    /// What is left of each path, the newest last, and the commit of that.
    lanes: HashMap<usize, (Vec<Hit>, CommitRow)>,
}

impl Merge {
    /// From hits that are newest first on each path.
    pub(crate) fn of(view: &dyn View, hits: Vec<Hit>) -> Result<Self> {
        let mut left: HashMap<usize, Vec<Hit>> = HashMap::new();
        for hit in hits.into_iter().rev() {
            left.entry(hit.tip).or_default().push(hit);
        }
        let mut merge = Self {
            heads: BinaryHeap::new(),
            lanes: HashMap::new(),
        };
        for (tip, hits) in left {
            merge.go_on(view, tip, hits, None)?;
        }
        Ok(merge)
    }

    /// The newest that is left, with its commit.
    pub(crate) fn next(&mut self, view: &dyn View) -> Result<Option<(Hit, CommitRow)>> {
        while let Some((time, Reverse(tip))) = self.heads.pop() {
            let Some((mut hits, row)) = self.lanes.remove(&tip) else {
                continue;
            };
            let hit = hits.pop();
            self.go_on(view, tip, hits, time)?;
            if let Some(hit) = hit {
                return Ok(Some((hit, row)));
            }
        }
        Ok(None)
    }

    /// Puts a path's next hit among the others'.
    fn go_on(
        &mut self,
        view: &dyn View,
        tip: usize,
        mut hits: Vec<Hit>,
        after: Option<Millis>,
    ) -> Result<()> {
        while let Some(hit) = hits.last() {
            // Between two views a commit may go.
            let Some(row) = view.commit(&hit.commit)? else {
                hits.pop();
                continue;
            };
            self.heads.push((row.commit.time.or(after), Reverse(tip)));
            self.lanes.insert(tip, (hits, row));
            break;
        }
        Ok(())
    }
}
