//! Lineages: where a commit stands, and what follows from that alone about paths, in any engine.
//!
//! Deliberately absent: how an engine finds the lineages of a path, or reads the commits of one.

use std::ops::Range;
use std::sync::Arc;

use super::checkpoint::{Checkpoints, Settings, decode_settings};
use super::codec::number;
use super::columns::{damaged, missing};
use super::{
    Appended, Cell, CommitRow, CountKey, Derivations, Facts, ListedCommit, Paths, Spot, Trail,
    Visit,
};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, RefName, RefValue, TokenCount};

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

/// How many commits two paths have in common.
fn shared(one: &[(i64, i64)], other: &[(i64, i64)]) -> i64 {
    let mut shared = 0;
    for ((lineage, last), (of_other, last_of_other)) in one.iter().rev().zip(other.iter().rev()) {
        if lineage != of_other {
            break;
        }
        // Where they leave it at different depths, they are on different ones from there on.
        shared = *last.min(last_of_other) + 1;
    }
    shared
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
            return Err(damaged(format!("the path to {tip} is broken at {hash}")));
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
        Err(damaged(format!("the path to {tip} ends {last}")))
    }
}

/// The lineages along which a path goes, from its end, each with the depth of the last commit on it.
pub(super) type Path = Arc<Vec<(i64, i64)>>;

/// What an engine tells of lineages. What follows of paths is said once, below.
pub(super) trait Lineages: Checkpoints + Derivations {
    /// Where a commit stands, if it is here.
    fn place(&self, commit: &CommitHash) -> Result<Option<Place>>;

    /// The path to a commit; an empty one where it is not here.
    fn path(&self, tip: &CommitHash) -> Result<Path>;

    /// On which lineages commits stand, and at which depths.
    fn standing(&self, commits: &[CommitHash]) -> Result<Vec<Option<(i64, i64)>>>;

    /// The commit at a place of a path.
    fn name_at(&self, lineage: i64, depth: i64) -> Result<Option<CommitHash>>;

    /// What on a path appends nothing, oldest first.
    fn changes_on(&self, path: &[(i64, i64)]) -> Result<Vec<CommitRow>>;

    /// What on a path has a second parent, oldest first.
    fn merges_on(&self, path: &[(i64, i64)]) -> Result<Vec<CommitRow>>;

    /// Reads these parts of a path, oldest first.
    fn scan_commits(&self, parts: &[Stretch], visit: Visit<'_, CommitRow>) -> Result<()>;

    /// The same with what a listing shows of the messages.
    fn scan_listed(
        &self,
        parts: &[Stretch],
        encoding: Encoding,
        visit: Visit<'_, ListedCommit>,
    ) -> Result<()>;

    /// The same of what they append; there is a row at each depth.
    fn scan_appended(
        &self,
        parts: &[Stretch],
        facts: Facts,
        visit: Visit<'_, Appended>,
    ) -> Result<()>;

    /// Tells the commits of the path to `tip` after `after` that set anything; it may tell others.
    fn scan_setting(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        visit: Visit<'_, CommitRow>,
    ) -> Result<()>
    where
        Self: Sized,
    {
        self.walk(tip, after, usize::MAX, visit)
    }

    /// The place of a commit that must be here.
    fn must_place(&self, commit: &CommitHash) -> Result<Place> {
        self.place(commit)?.ok_or_else(|| missing("commit", commit))
    }

    /// Columns as a row holds them: in place of a commit its row, which must be here.
    fn rows_of(&self, cells: Vec<Cell>) -> Result<Vec<Cell>> {
        let cells = cells.into_iter().map(|cell| match cell {
            Cell::Commit(commit) => Ok(Cell::Number(self.must_place(&commit)?.id)),
            other => Ok(other),
        });
        cells.collect()
    }

    /// What a ref holds in two columns: the row of a commit, which must be here, or another ref's name.
    fn held(&self, value: Option<&RefValue>) -> Result<(Option<i64>, Option<RefName>)> {
        Ok(match value {
            Some(RefValue::Commit(commit)) => (Some(self.must_place(commit)?.id), None),
            Some(RefValue::Symbolic(name)) => (None, Some(name.clone())),
            None => (None, None),
        })
    }

    /// The parts of the path to `tip` with its newest `limit` commits that come after `after`, if that is on it.
    fn parts(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<Stretch>> {
        let path = self.path(tip)?;
        if path.is_empty() {
            return Ok(Vec::new());
        }
        let after = after.map(|after| self.place(after)).transpose()?.flatten();
        Ok(newest(&path, after, limit))
    }
}

/// Puts counts by a rule for pictures in place of those that are estimated without.
fn by_rule<T>(
    store: &impl Derivations,
    all: &mut [T],
    encoding: Encoding,
    content: impl Fn(&T) -> Option<ContentHash>,
    count: impl Fn(&mut T) -> &mut Option<TokenCount>,
) -> Result<()> {
    let mut estimated = Vec::new();
    for one in all {
        let content = content(one);
        let count = count(one);
        if count.is_none_or(|count| count.estimated) {
            estimated.extend(content.map(|content| (content, count)));
        }
    }
    let keys = estimated.iter().map(|(content, _)| CountKey {
        content: *content,
        mask: None,
    });
    let known = store.kept_counts(&keys.collect::<Vec<_>>(), encoding)?;
    for ((_, count), known) in estimated.into_iter().zip(known) {
        *count = known;
    }
    Ok(())
}

impl<E: Lineages> Paths for E {
    fn along(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        shows: Option<Encoding>,
        visit: Visit<'_, ListedCommit>,
    ) -> Result<()> {
        let parts = self.parts(tip, after, limit)?;
        let Some(first) = parts.first() else {
            return Ok(());
        };
        let mut links = Links::from(*tip, first.first);
        let mut read = |listed: ListedCommit| {
            links.next(&listed.row)?;
            visit(listed)
        };
        match shows {
            None => self.scan_commits(&parts, &mut |row| read(row.into()))?,
            Some(encoding) if encoding == encoding.plain() => {
                self.scan_listed(&parts, encoding, &mut read)?
            }
            Some(encoding) => {
                let mut all = Vec::new();
                self.scan_listed(&parts, encoding.plain(), &mut |listed| {
                    all.push(listed);
                    Ok(())
                })?;
                let content = |one: &ListedCommit| one.row.appended();
                by_rule(self, &mut all, encoding, content, |one| &mut one.count)?;
                all.into_iter().try_for_each(&mut read)?;
            }
        }
        links.end()
    }

    fn appended(
        &self,
        tip: &CommitHash,
        depths: Range<u64>,
        facts: Facts,
        visit: Visit<'_, Appended>,
    ) -> Result<()> {
        let (first, last) = (number(depths.start), number(depths.end) - 1);
        let parts = between(&self.path(tip)?, first, last);
        let Some(encoding) = facts.counts.filter(|one| *one != one.plain()) else {
            return self.scan_appended(&parts, facts, visit);
        };
        let mut all = Vec::new();
        let facts = Facts {
            counts: Some(encoding.plain()),
            ..facts
        };
        self.scan_appended(&parts, facts, &mut |one| {
            all.push(one);
            Ok(())
        })?;
        let content = |one: &Appended| Some(one.content);
        by_rule(self, &mut all, encoding, content, |one| &mut one.count)?;
        all.into_iter().try_for_each(visit)
    }

    fn settings_at(&self, tip: &CommitHash) -> Result<Settings> {
        let newest = self.newest_data(tip, |data| decode_settings(self, data))?;
        let (base, mut settings) = match newest {
            Some((base, settings)) => (Some(base), settings),
            None => (None, Settings::new()),
        };
        self.scan_setting(tip, base.as_ref(), &mut |row| {
            let keys = row.commit.settings.into_keys();
            settings.extend(keys.map(|key| (key, row.hash)));
            Ok(())
        })?;
        Ok(settings)
    }

    fn changes(&self, tip: &CommitHash) -> Result<Vec<CommitRow>> {
        let path = self.path(tip)?;
        if path.is_empty() {
            Ok(Vec::new())
        } else {
            self.changes_on(&path)
        }
    }

    fn merges(&self, tip: &CommitHash) -> Result<Vec<CommitRow>> {
        self.merges_on(&self.path(tip)?)
    }

    fn trail(
        &self,
        tip: &CommitHash,
        commits: &[CommitHash],
    ) -> Result<(Trail, Vec<Option<Spot>>)> {
        let path = self.path(tip)?;
        if path.is_empty() || commits.is_empty() {
            return Ok((Trail(path), vec![None; commits.len()]));
        }
        let found = self.standing(commits)?.into_iter();
        let found = found.map(|at| at.map(|(lineage, depth)| Spot { lineage, depth }));
        Ok((Trail(path), found.collect()))
    }

    fn shared(&self, one: &CommitHash, other: &CommitHash) -> Result<u64> {
        Ok(shared(&self.path(one)?, &self.path(other)?).cast_unsigned())
    }

    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>> {
        let depth = number(depth);
        let Some(lineage) = lineage_at(&self.path(tip)?, depth) else {
            return Ok(None);
        };
        // There is one at every depth of a path.
        let found = self.name_at(lineage, depth)?;
        found.map(Some).ok_or_else(|| no_commit_at(depth))
    }
}

/// What is wrong with a path that has no commit at a depth.
pub(super) fn no_commit_at(depth: i64) -> Error {
    damaged(format!("the path at depth {depth} is missing"))
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
    fn two_paths_have_in_common_what_is_on_the_same_lineages() {
        let with = |other: &[(i64, i64)]| (shared(&PATH, other), shared(other, &PATH));
        assert_eq!(with(&PATH), (9, 9));
        assert_eq!(with(&PATH[1..]), (7, 7));
        assert_eq!(with(&[(1, 9)]), (5, 5));
        assert_eq!(with(&[(1, 2)]), (3, 3));
        assert_eq!(with(&[(4, 6), (1, 4)]), (5, 5));
        assert_eq!(with(&[(4, 6), (1, 3)]), (4, 4));
        assert_eq!(with(&[(5, 3)]), (0, 0));
        assert_eq!(with(&[]), (0, 0));
    }

    #[test]
    fn each_depth_of_a_path_is_on_one_lineage() {
        let found: Vec<_> = (0..=9).map(|depth| lineage_at(&PATH, depth)).collect();
        let wanted = [1, 1, 1, 1, 1, 2, 2, 3, 3].map(Some);
        assert_eq!(found[..9], wanted);
        assert_eq!(found[9], None);
    }
}
