//! Paths: the commits that lead to one, and what they append.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use super::objects::{CommitRow, ContentRow};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::pairs::Links;
use crate::model::{Encoding, Role, TokenCount, ToolUses};

/// A commit with what a listing shows of the message that it appends; of any other commit, the commit
/// alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedCommit {
    /// The commit.
    pub row: CommitRow,
    /// The message.
    pub said: Option<ContentRow>,
    /// Its tokens, if they are known.
    pub count: Option<TokenCount>,
    /// How it uses tools, if that is kept.
    pub uses: Option<ToolUses>,
}

impl From<CommitRow> for ListedCommit {
    fn from(row: CommitRow) -> Self {
        Self {
            row,
            said: None,
            count: None,
            uses: None,
        }
    }
}

/// A message that a commit on a path appends, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The commit.
    pub commit: CommitHash,
    /// How many commits stand before it on its path.
    pub depth: u64,
    /// What it appends.
    pub content: ContentHash,
    /// Who speaks.
    pub role: Role,
    /// Whether a client attached it.
    pub attached: bool,
    /// Whether it calls tools or holds results.
    pub uses_tools: bool,
    /// Its calls and results, if they were asked for and are kept.
    pub links: Option<Links>,
    /// Its tokens, if they were asked for and are known.
    pub count: Option<TokenCount>,
}

/// What is to be told of appended messages beyond who speaks; each costs a look into another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Their calls and results.
    pub links: bool,
    /// Their tokens in this encoding.
    pub counts: Option<Encoding>,
}

/// Who is told of rows, one at a time.
pub type Visit<'a, T> = &'a mut dyn FnMut(T) -> Result<()>;

/// Where a commit stands: on which lineage, and how deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub(super) lineage: i64,
    pub(super) depth: i64,
}

/// The path that ends in a commit, for many questions about it: its lineages, the newest first, each with the depth of its
/// last commit there. It has none where there is no such commit.
#[derive(Clone, Debug)]
pub struct Trail(pub(super) Arc<Vec<(i64, i64)>>);

impl Trail {
    /// Whether what stands there is on the path.
    pub fn holds(&self, at: Spot) -> bool {
        let on = self.0.iter().find(|(lineage, _)| *lineage == at.lineage);
        on.is_some_and(|(_, last)| at.depth <= *last)
    }
}

/// What leads to any of some commits by first parents.
#[derive(Clone, Debug, Default)]
pub struct Trails(HashMap<i64, i64>);

impl Trails {
    /// One more path.
    pub fn add(&mut self, trail: &Trail) {
        for (lineage, last) in trail.0.iter() {
            let known = self.0.entry(*lineage).or_insert(*last);
            *known = (*known).max(*last);
        }
    }

    /// Whether what stands there is on one of them.
    pub fn hold(&self, at: Spot) -> bool {
        self.0
            .get(&at.lineage)
            .is_some_and(|last| at.depth <= *last)
    }

    /// How many commits stand before the last one of this path that is on one of them.
    pub fn last_on(&self, trail: &Trail) -> Option<u64> {
        let shared = trail.0.iter().find_map(|(lineage, last)| {
            let known = self.0.get(lineage)?;
            Some(*known.min(last))
        });
        shared.and_then(|depth| u64::try_from(depth).ok())
    }
}

/// Reading paths.
pub trait Paths {
    /// Tells the newest `limit` commits of the path that ends in `tip`, oldest first, one at a time: those
    /// after `after`, if that is on the path. With an encoding, what a listing shows of the messages that
    /// they append goes with them. A range scan of a lineage, never a walk by parent.
    fn along(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        shows: Option<Encoding>,
        visit: Visit<'_, ListedCommit>,
    ) -> Result<()>;

    /// The commits alone.
    fn walk(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        visit: Visit<'_, CommitRow>,
    ) -> Result<()> {
        self.along(tip, after, limit, None, &mut |listed| visit(listed.row))
    }

    /// The same commits newest first, held all at once.
    fn ancestors(
        &self,
        tip: &CommitHash,
        until: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<CommitRow>> {
        let mut rows = Vec::new();
        self.walk(tip, until, limit, &mut |row| {
            rows.push(row);
            Ok(())
        })?;
        rows.reverse();
        Ok(rows)
    }

    /// The same with what a listing shows of the messages that they append.
    fn listing(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        encoding: Encoding,
    ) -> Result<Vec<ListedCommit>> {
        let mut rows = Vec::new();
        self.along(tip, after, limit, Some(encoding), &mut |listed| {
            rows.push(listed);
            Ok(())
        })?;
        rows.reverse();
        Ok(rows)
    }

    /// Tells what the commits at these depths of the path to `tip` append, oldest first, one at a time;
    /// of commits that append nothing, nothing. Reads neither bodies nor the commits' texts.
    fn appended(
        &self,
        tip: &CommitHash,
        depths: Range<u64>,
        facts: Facts,
        visit: Visit<'_, Appended>,
    ) -> Result<()>;

    /// For each request setting that is in force at `tip`, the commit that set it last. Reads the
    /// commits since the newest checkpoint.
    fn settings_at(&self, tip: &CommitHash) -> Result<BTreeMap<String, CommitHash>>;

    /// The commits on the path that ends in `tip` that append no message, oldest first. What it costs
    /// grows with how many there are, not with the path.
    fn changes(&self, tip: &CommitHash) -> Result<Vec<CommitRow>>;

    /// The commits on the path that ends in `tip` that have a second parent, oldest first. What it costs
    /// grows with how many there are, not with the path.
    fn merges(&self, tip: &CommitHash) -> Result<Vec<CommitRow>>;

    /// The path that ends in `tip`, and where these commits stand. A few hops between lineages.
    fn trail(&self, tip: &CommitHash, commits: &[CommitHash])
    -> Result<(Trail, Vec<Option<Spot>>)>;

    /// Whether these commits are on the path that ends in `tip`, `tip` itself included.
    fn are_ancestors(&self, commits: &[CommitHash], tip: &CommitHash) -> Result<Vec<bool>> {
        let (trail, standings) = self.trail(tip, commits)?;
        let standings = standings.into_iter();
        Ok(standings
            .map(|at| at.is_some_and(|at| trail.holds(at)))
            .collect())
    }

    /// The same of one commit.
    fn is_ancestor(&self, ancestor: &CommitHash, tip: &CommitHash) -> Result<bool> {
        Ok(self.are_ancestors(slice::from_ref(ancestor), tip)?[0])
    }

    /// How many commits the paths that end in these two have in common, from the root: once they have parted, they never meet
    /// again. A few hops between lineages.
    fn shared(&self, one: &CommitHash, other: &CommitHash) -> Result<u64>;

    /// The commit at `depth` on the path that ends in `tip`.
    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>>;
}
