//! Lineages: where a commit stands, and what follows from that alone about paths, in any engine.
//!
//! Deliberately absent: how an engine finds the lineages of a path, or reads the commits of one.

use super::CommitRow;
use super::codec::number;
use crate::error::{Error, Result};
use crate::hash::CommitHash;

/// Where a commit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its row.
    pub(super) id: i64,
    pub(super) lineage: i64,
    pub(super) depth: i64,
}

/// The lineage in which a path holds the commit at `depth`. A path is the lineages along which it goes, from its
/// end, each with the depth of the last commit on it.
pub(super) fn lineage_at(path: &[(i64, i64)], depth: i64) -> Option<i64> {
    let holds = path.iter().rev().find(|(_, last)| depth <= *last);
    holds.map(|(lineage, _)| *lineage)
}

/// A part of a path: a lineage, and the depths of the first and the last commit there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) lineage: i64,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// The parts of a path between these depths, oldest first.
pub(super) fn between(path: &[(i64, i64)], first: i64, last: i64) -> Vec<Stretch> {
    let ends = path.iter().enumerate().rev();
    let stretches = ends.map(|(at, (lineage, end))| {
        let begins = path.get(at + 1).map_or(0, |(_, fork)| fork + 1);
        Stretch {
            lineage: *lineage,
            first: begins.max(first),
            last: (*end).min(last),
        }
    });
    stretches.filter(|one| one.first <= one.last).collect()
}

/// The parts of a path with its newest `limit` commits that come after `after`, if that is on it; oldest first.
pub(super) fn newest(path: &[(i64, i64)], after: Option<Place>, limit: usize) -> Vec<Stretch> {
    let Some((_, end)) = path.first().copied() else {
        return Vec::new();
    };
    let limit = number(limit as u64);
    let first = end.saturating_sub(limit).saturating_add(1);
    let holds = |place: &Place| {
        let holds = |part: &(i64, i64)| part.0 == place.lineage && place.depth <= part.1;
        path.iter().any(holds)
    };
    let after = after.filter(holds).map_or(0, |after| after.depth + 1);
    between(path, first.max(after), end)
}

/// What the next commit of a path must be: each names the one before it.
pub(super) struct Links {
    tip: CommitHash,
    depth: i64,
    /// The commit before, where it is known.
    before: Option<CommitHash>,
}

impl Links {
    /// Of the part of the path to `tip` that begins at `depth`.
    pub(super) fn from(tip: CommitHash, depth: i64) -> Self {
        Self {
            tip,
            depth,
            before: None,
        }
    }

    /// Holds the next commit against the one before it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if it is not the next.
    pub(super) fn next(&mut self, row: &CommitRow) -> Result<()> {
        let parent = row.commit.parent;
        let follows = match self.before {
            Some(before) => parent == Some(before),
            None => parent.is_none() == (self.depth == 0),
        };
        if !follows || number(row.depth) != self.depth {
            let (tip, hash) = (self.tip, row.hash);
            let detail = format!("the path to {tip} is broken at {hash}");
            return Err(Error::Damaged { detail });
        }
        self.before = Some(row.hash);
        self.depth += 1;
        Ok(())
    }

    /// Makes sure that the last was the tip.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if it was not.
    pub(super) fn end(&self) -> Result<()> {
        if self.before == Some(self.tip) {
            return Ok(());
        }
        let tip = self.tip;
        let last = self.before;
        let last = last.map_or("before it begins".to_owned(), |last| format!("at {last}"));
        let detail = format!("the path to {tip} ends {last}");
        Err(Error::Damaged { detail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root's lineage up to 9, left at 4 for one up to 7, left at 6 for one that ends at 8.
    const PATH: [(i64, i64); 3] = [(3, 8), (2, 6), (1, 4)];

    fn parts(stretches: Vec<Stretch>) -> Vec<(i64, i64, i64)> {
        let parts = stretches.into_iter();
        parts
            .map(|one| (one.lineage, one.first, one.last))
            .collect()
    }

    fn place(lineage: i64, depth: i64) -> Option<Place> {
        let id = 0;
        Some(Place { id, lineage, depth })
    }

    #[test]
    fn the_newest_commits_of_a_path_are_ranges_of_its_lineages() {
        let all = vec![(1, 0, 4), (2, 5, 6), (3, 7, 8)];
        assert_eq!(parts(newest(&PATH, None, usize::MAX)), all);
        assert_eq!(parts(newest(&PATH, None, 3)), [(2, 6, 6), (3, 7, 8)]);
        assert_eq!(parts(newest(&PATH, None, 0)), []);
        assert_eq!(parts(newest(&PATH, place(1, 4), 9)), [(2, 5, 6), (3, 7, 8)]);
        // What is beside the path ends nothing.
        assert_eq!(parts(newest(&PATH, place(1, 5), usize::MAX)), all);
        assert_eq!(parts(newest(&PATH, place(9, 1), usize::MAX)), all);
        assert_eq!(parts(newest(&[], None, 9)), []);
    }

    #[test]
    fn each_depth_of_a_path_is_on_one_lineage() {
        let found: Vec<_> = (0..=9).map(|depth| lineage_at(&PATH, depth)).collect();
        let wanted = [1, 1, 1, 1, 1, 2, 2, 3, 3].map(Some);
        assert_eq!(found[..9], wanted);
        assert_eq!(found[9], None);
    }
}
