//! Reach: what paths lead to, and what they do not.

use super::CommitRow;
use crate::error::Result;
use crate::hash::CommitHash;

/// Commits by whether a path leads to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByReach {
    /// Those on a path, in no order.
    pub reached: Vec<CommitRow>,
    /// The others, in no order.
    pub unreached: Vec<CommitRow>,
}

/// What was taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// How many commits.
    pub commits: u64,
    /// How many contents.
    pub contents: u64,
    /// Their canonical forms, in bytes.
    pub size_bytes: u64,
}

/// Reading by reach.
pub trait Reachability {
    /// The commits on the paths to any of these tips, each once, and those on none of them. Reads
    /// all that there is: for what concerns all of it.
    fn by_reach(&self, tips: &[CommitHash]) -> Result<ByReach>;

    /// The commits that something names beside other commits: a ref, a move of one in the log, a tag's
    /// note, a session that was taken over or resumed.
    fn named_commits(&self) -> Result<Vec<CommitHash>>;
}

/// Taking out what nothing leads to.
pub trait ReachabilityMut: Reachability {
    /// Forgets what is remembered of commits that nothing else leads to: notes that no tag can have any
    /// more, and what of a session was taken over where no path holds it.
    fn forget_unreached(&self) -> Result<()>;

    /// Takes out, without a trace, the commits that nothing leads to: no ref, no move of one in the
    /// log, no tag's note, no session that was taken over or resumed. Contents that no commit names
    /// then go with them. Such is what an import leaves that was killed or failed.
    fn drop_unreached(&self) -> Result<Dropped>;
}
