//! What the other side has erased: told to whoever pulls, and erased here where that is allowed.

use std::collections::BTreeSet;

use super::erased::named_on;
use super::here::Here;
use super::{Peer, PeerRef};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::repo::ancestry;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::View;

/// How many of the commits that say it are named.
const NAMED: usize = 4;

/// What became here of messages that were erased on the other side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasedHere {
    /// They have been erased here now.
    pub erased: u64,
    /// They are here still.
    pub kept: u64,
    /// Commits that say some of these, a few.
    pub commits: Vec<CommitHash>,
}

/// Asks what the other side has erased on the paths to these refs, all of which are here.
pub(super) fn ask(
    here: &mut Here<'_>,
    peer: &mut dyn Peer,
    refs: &[PeerRef],
) -> Result<ErasedHere> {
    let mut told = ErasedHere::default();
    let there: BTreeSet<ContentHash> = peer.erasures(refs)?.into_iter().collect();
    let there: Vec<ContentHash> = there.into_iter().collect();
    let kept = kept(here.repo, &there, refs)?;
    if kept.is_empty() {
        return Ok(told);
    }
    // What is asked for here is what a push tells: the same setting decides.
    let done = here.erased(&kept)?;
    (told.erased, told.kept) = (done.erased, done.kept);
    if told.kept > 0 {
        told.commits = saying(&*here.repo.store.read()?, &kept, refs)?;
    }
    Ok(told)
}

/// What of this is here, is not erased, and stands on one of these paths: nothing else is the other side's to speak of.
fn kept(repo: &Repo, there: &[ContentHash], refs: &[PeerRef]) -> Result<Vec<ContentHash>> {
    let view = repo.store.read()?;
    let known = view.content_rows(there)?;
    let purged = view.purged(there)?;
    let kept = there.iter().zip(known).zip(purged);
    let kept = kept.filter(|((_, row), purged)| row.is_some() && !purged);
    let mut kept: Vec<ContentHash> = kept.map(|((content, _), _)| *content).collect();
    if !kept.is_empty() {
        let tips: Vec<CommitHash> = refs.iter().map(|row| row.commit).collect();
        let named: BTreeSet<ContentHash> = named_on(&*view, &tips)?.into_iter().collect();
        kept.retain(|content| named.contains(content));
    }
    Ok(kept)
}

/// A few of the commits on these paths that say any of it.
fn saying(view: &dyn View, contents: &[ContentHash], refs: &[PeerRef]) -> Result<Vec<CommitHash>> {
    let tips: Vec<CommitHash> = refs.iter().map(|row| row.commit).collect();
    let mut found = Vec::new();
    for commit in ancestry::leading_to(view, &tips)? {
        let named = load::commit(view, &commit)?.commit.operation.contents();
        if named.iter().any(|content| contents.contains(content)) {
            found.push(commit);
        }
        if found.len() == NAMED {
            break;
        }
    }
    Ok(found)
}
