//! Where a branch has left a session, and whether that was the session's end then.
//!
//! What a session holds that a branch does not have is either new, for it came in after the branch
//! had left, or was left aside: the branch was started or set back to somewhere within. Which it is,
//! the log of both refs tells. Deliberately absent: what was taken over since, see
//! [`crate::repo::adoption`].

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::{Repo, load, path};
use crate::store::{ReflogRow, View};

/// How many moves of a branch are looked at for the one by which it left.
const MOVES: usize = 2_000;

/// How a branch lies to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parting {
    /// The last commit of the session that the branch has or has left aside; what is new stands after
    /// it. None: all of it.
    pub(crate) after: Option<CommitHash>,
    /// Whether anything was left aside.
    pub(crate) is_fork: bool,
}

impl Parting {
    /// How `branch`, which ends in `ours`, lies to `session`, which ends in `theirs`.
    pub(crate) fn of(
        view: &dyn View,
        (session, theirs): (&RefName, &CommitHash),
        (branch, ours): (&RefName, &CommitHash),
    ) -> Result<Self> {
        let shared = path::last_shared(view, theirs, ours)?;
        let at = |after| Self {
            after,
            is_fork: false,
        };
        let Some(last) = shared else {
            return Ok(at(None));
        };
        if last == *theirs {
            return Ok(at(shared));
        }
        let stood = match left(view, branch, &last, theirs, ours)? {
            Some(operation) => value_at(view, session, operation)?,
            None => None,
        };
        // Its end as it was then may be made anew since; what counts is how far it is still there.
        let Some(stood) = stood else {
            return Ok(at(shared));
        };
        let reach = path::last_shared(view, theirs, &stood)?;
        let is_fork = reach != shared && reach.is_some();
        Ok(Self {
            after: if is_fork { reach } else { shared },
            is_fork,
        })
    }
}

impl Repo {
    /// Whether a branch left a session somewhere within: what comes in there is not what it waits for.
    pub fn is_fork(&self, branch: &RefName, session: &RefName) -> Result<bool> {
        let view = self.store.read()?;
        let tips = (load::tip(&*view, session)?, load::tip(&*view, branch)?);
        let (Some(theirs), Some(ours)) = tips else {
            return Ok(false);
        };
        let parting = Parting::of(&*view, (session, &theirs), (branch, &ours))?;
        Ok(parting.is_fork)
    }

    /// Whether a branch follows another session than this one.
    pub fn follows_another(&self, branch: &RefName, session: &RefName) -> Result<bool> {
        let followers = self.store.read()?.followers()?;
        let mut followed = followers.iter().filter(|(_, follower)| follower == branch);
        Ok(followed.any(|(other, _)| other != session))
    }
}

/// The operation by which `branch` came to share the session's path up to `last` and no further.
fn left(
    view: &dyn View,
    branch: &RefName,
    last: &CommitHash,
    theirs: &CommitHash,
    ours: &CommitHash,
) -> Result<Option<u64>> {
    let moves = view.reflog(branch, MOVES)?;
    let before = |row: &ReflogRow| row.old.as_ref()?.commit();
    let olds: Vec<Option<CommitHash>> = moves.iter().map(before).collect();
    let known: Vec<CommitHash> = olds.iter().flatten().copied().collect();
    // Nearly all of them lie on the branch's own path: asked for at once.
    let mut on_ours = view.are_ancestors(&known, ours)?.into_iter();
    let mut up_to_last = view.are_ancestors(&known, last)?.into_iter();
    for (row, old) in moves.iter().zip(olds) {
        let Some(old) = old else {
            return Ok(Some(row.operation));
        };
        let (on_ours, up_to_last) = (on_ours.next(), up_to_last.next());
        let shares_the_same = match (on_ours, up_to_last) {
            (_, Some(true)) => old == *last,
            (Some(true), _) => true,
            _ => path::last_shared(view, theirs, &old)?.as_ref() == Some(last),
        };
        if !shares_the_same {
            return Ok(Some(row.operation));
        }
    }
    Ok(None)
}

/// Where a ref stood once `operation` was done.
fn value_at(view: &dyn View, name: &RefName, operation: u64) -> Result<Option<CommitHash>> {
    let moves = view.reflog(name, MOVES)?;
    let row = moves.into_iter().find(|row| row.operation <= operation);
    Ok(row.and_then(|row| row.new?.commit()))
}
