//! Search: which commits bring a content that may hold a text.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::codec::number;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::searched::Literals;
pub use crate::store::words::ranking::Ranking;

/// A commit with a content that a search may find there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The first of the tips that were asked about whose path holds the commit, from 0.
    pub tip: usize,
    /// The commit: it appends the content, edits it in, or puts it in place.
    pub commit: CommitHash,
    /// The content; none: the one that the commit appends.
    pub content: Option<ContentHash>,
    /// How many commits stand before it on its path.
    pub depth: u64,
}

/// A content that a ranked search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The content.
    pub content: ContentHash,
    /// How well it answers, by what the index knows.
    pub score: f32,
    /// Commits that bring it, those that came in last first: not all, where there are many.
    pub hits: Vec<Hit>,
}

/// What a ranked search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The contents, best first.
    pub found: Vec<Scored>,
    /// Of each wanted word, how rare it is: what it adds to a score at most.
    pub rarity: Vec<f32>,
    /// Whether these are all that there are.
    pub is_all: bool,
}

/// What a search finds, of the paths that end in its tips.
#[derive(Default)]
pub(super) struct Found {
    /// By lineage, the paths that go along it: whose tip each is, and the depth of the last commit on it.
    paths: HashMap<i64, Vec<(usize, i64)>>,
    hits: Vec<Hit>,
}

impl Found {
    /// The path to a tip goes along a lineage, up to this depth; tip by tip.
    pub(super) fn goes(&mut self, tip: usize, lineage: i64, last: i64) {
        self.paths.entry(lineage).or_default().push((tip, last));
    }

    /// Takes a commit with a content down, if a path holds it: that to the first tip.
    pub(super) fn hit(
        &mut self,
        (commit, content): (CommitHash, Option<ContentHash>),
        lineage: i64,
        depth: u64,
    ) {
        self.hits
            .extend(self.on_path((commit, content), lineage, depth));
    }

    /// A commit with a content, if a path holds it: that to the first tip.
    pub(super) fn on_path(
        &self,
        (commit, content): (CommitHash, Option<ContentHash>),
        lineage: i64,
        depth: u64,
    ) -> Option<Hit> {
        let mut paths = self.paths.get(&lineage)?.iter();
        let (tip, _) = paths.find(|(_, last)| number(depth) <= *last)?;
        Some(Hit {
            tip: *tip,
            commit,
            content,
            depth,
        })
    }

    /// The lineages along which paths go, each with the depth of the last commit there.
    pub(super) fn lineages(&self) -> impl Iterator<Item = (i64, i64)> {
        let last = |paths: &Vec<(usize, i64)>| paths.iter().map(|(_, last)| *last).max();
        let lineages = self.paths.iter();
        lineages.map(move |(lineage, paths)| (*lineage, last(paths).unwrap_or(-1)))
    }

    /// The hits as they are told, each once.
    pub(super) fn hits(mut self) -> Vec<Hit> {
        let hits = &mut self.hits;
        hits.sort_unstable_by_key(|hit| (hit.tip, Reverse(hit.depth), hit.commit, hit.content));
        hits.dedup();
        self.hits
    }
}

/// Searching.
pub trait Search {
    /// How many bytes of contents the search index doesn't know yet.
    fn unindexed_bytes(&self) -> Result<u64>;

    /// The commits on the paths that end in `tips` with a content whose
    /// [searched](crate::model::searched) text may hold `literals`: tip by tip, newest first, each
    /// commit once for each content.
    ///
    /// None that does hold them is missing, indexed or not; whether one does is for the caller to
    /// see. Reads no body.
    fn search(&self, literals: &Literals, tips: &[CommitHash]) -> Result<Vec<Hit>>;

    /// How many bytes of contents the index of words doesn't know yet.
    fn unweighed_bytes(&self) -> Result<u64>;

    /// The contents with any of the words that are asked for, best first, as far as they are on the
    /// paths that end in `tips`. `is_narrow` says that most of what is here is on none of these.
    ///
    /// The scores are the index's, by words and their number alone: phrases, and what must not be there, are for
    /// the caller to see. Contents that the index doesn't know yet are read.
    fn ranked(&self, ranking: Ranking<'_>, tips: &[CommitHash], is_narrow: bool) -> Result<Ranked>;

    /// The contents that came in after the one with this number, in the order of their numbers, at most so many. Numbers
    /// only grow, and are of this engine alone.
    fn contents_since(&self, number: i64, most: usize) -> Result<Vec<(i64, ContentHash)>>;

    /// Those of these contents that are on the paths which end in `tips`, in the order in which they are given: with
    /// their scores, and with the commits that bring them, as [`Self::ranked`] tells them.
    fn placed(&self, contents: &[(ContentHash, f32)], tips: &[CommitHash]) -> Result<Vec<Scored>>;
}

/// Keeping the search index.
pub trait SearchMut: Search {
    /// Takes contents into the search index that it doesn't know yet, oldest first, until those
    /// done have `enough_bytes`. Gives their bytes; 0: there were none.
    fn index(&self, enough_bytes: u64) -> Result<u64>;

    /// Forgets what the search index knows of these contents, so that nothing of them is left in
    /// it. For whoever erases their bodies: where a body is still here, it may be indexed again.
    /// Rewrites the index, so call it once for many.
    fn unindex(&self, contents: &[ContentHash]) -> Result<()>;

    /// Takes contents into the index of words that it doesn't know yet, as [`Self::index`] does.
    fn weigh(&self, enough_bytes: u64) -> Result<u64>;
}
