//! Search: which commits bring a content that may hold a text.

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::searched::Literals;

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
}
