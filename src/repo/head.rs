//! Where HEAD is, and what it is on until it has been moved.
//!
//! In a repository of many directories that is the branch of the directory's newest session; where there is none, one
//! that is named like the directory and has no commit. In one of many people it is main, or, where there is no main,
//! what the HEAD is on that is nobody's.

use std::cmp::Reverse;
use std::path::Path;

use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{self, Head, Millis, RefName, RefValue};
use crate::repo::call::On;
use crate::repo::load;
use crate::store::{Seat, View};

const DEFAULT_BRANCH: &str = "refs/heads/main";

/// Where HEAD is until it has been moved.
pub(crate) fn default_branch() -> RefName {
    DEFAULT_BRANCH.parse().expect("a branch's name")
}

/// Where `on` stands, inside a transaction.
pub(crate) fn head(view: &dyn View, on: &On) -> Result<Head> {
    let branch = match on {
        On::Branch(branch) => branch.clone(),
        On::Head => match view.reference(&RefName::head())? {
            Some(RefValue::Commit(commit)) => return Ok(Head::Detached(commit)),
            Some(RefValue::Symbolic(branch)) => branch,
            None => return unmoved(view),
        },
    };
    attached(view, branch)
}

/// Among how many branches, those that were worked on last, the one is looked for that was meant.
const NEAR: usize = 1000;

/// The error for a branch without commits.
pub(crate) fn without_commits(view: &dyn View, branch: &RefName) -> Result<Error> {
    let is_made = is_made(view, branch)?;
    let (mut nearest, mut remote) = (None, None);
    if !is_made {
        remote = seen_elsewhere(view, branch)?;
        let known = view.active_branches(None, NEAR)?;
        let known = known.iter().map(|(one, _)| one.name.short());
        nearest = model::nearest(branch.short(), known).map(str::to_owned);
    }
    Ok(Error::EmptyBranch {
        branch: branch.short().to_owned(),
        is_made,
        nearest,
        remote,
    })
}

/// A remote's branch of the same name.
fn seen_elsewhere(view: &dyn View, branch: &RefName) -> Result<Option<String>> {
    for (key, _) in view.config()? {
        let remote = key.strip_prefix("remote.");
        let remote = remote.and_then(|key| key.strip_suffix(".url"));
        if let Some(Ok(seen)) = remote.map(|remote| RefName::of_remote(remote, branch))
            && view.reference(&seen)?.is_some()
        {
            return Ok(Some(seen.short().to_owned()));
        }
    }
    Ok(None)
}

/// Whether a branch without commits was made: somebody's HEAD is on it, or it had some.
fn is_made(view: &dyn View, branch: &RefName) -> Result<bool> {
    if head(view, &On::Head)?.branch() == Some(branch) || !view.reflog(branch, 1)?.is_empty() {
        return Ok(true);
    }
    let on_it = |(name, value): &(RefName, RefValue)| {
        name.is_head() && matches!(value, RefValue::Symbolic(on) if on == branch)
    };
    for elsewhere in RefName::ELSEWHERE {
        if view.references(elsewhere)?.iter().any(on_it) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where a HEAD stands that was never moved.
fn unmoved(view: &dyn View) -> Result<Head> {
    let head = attached(view, first_branch(view)?)?;
    let is_persons = view.seat().is_some_and(|seat| seat.person().is_some());
    if head.commit().is_some() || !is_persons {
        return Ok(head);
    }
    // Somebody who was not here before sees what there is, though there is no main.
    match view.reference(&RefName::head().of_none())? {
        Some(RefValue::Symbolic(branch)) => attached(view, branch),
        _ => Ok(head),
    }
}

fn attached(view: &dyn View, branch: RefName) -> Result<Head> {
    let tip = match view.reference(&branch)? {
        Some(RefValue::Commit(commit)) => Some(commit),
        Some(RefValue::Symbolic(other)) => {
            return Err(Error::damaged(format!("{branch} points at {other}")));
        }
        None => None,
    };
    Ok(Head::Attached { branch, tip })
}

/// Whether whoever looks does so from a directory that has a HEAD of its own.
pub(crate) fn is_of_directory(view: &dyn View) -> bool {
    view.seat().is_some_and(|seat| seat.directory().is_some())
}

/// The commits off every branch at which somebody's HEAD is.
pub(crate) fn detached(view: &dyn View) -> Result<Vec<CommitHash>> {
    let all = view.references("")?.into_iter();
    let heads = all.filter(|(name, _)| name.is_head());
    Ok(heads.filter_map(|(_, value)| value.commit()).collect())
}

/// The short name of the branch that HEAD was last attached to, of those that are still there.
pub(crate) fn last_branch(view: &dyn View) -> Result<String> {
    for row in view.reflog(&RefName::head(), 1_000)? {
        if let Some(RefValue::Symbolic(branch)) = row.old
            && view.reference(&branch)?.is_some()
        {
            return Ok(branch.short().to_owned());
        }
    }
    Ok(first_branch(view)?.short().to_owned())
}

/// The branch that HEAD is on where it was never moved.
pub(crate) fn first_branch(view: &dyn View) -> Result<RefName> {
    let Some(directory) = view.seat().and_then(Seat::directory) else {
        return Ok(default_branch());
    };
    let mut newest: Option<(Option<Millis>, Reverse<RefName>)> = None;
    for session in view.sessions_in(directory)? {
        let Some(branch) = view.follower(&session)? else {
            continue;
        };
        if let Some(tip) = load::tip(view, &branch)? {
            let time = load::commit(view, &tip)?.commit.time;
            newest = newest.max(Some((time, Reverse(branch))));
        }
    }
    match newest {
        Some((_, Reverse(branch))) => Ok(branch),
        None => unborn(view, directory),
    }
}

/// The name of a branch that is to be of a directory.
fn unborn(view: &dyn View, directory: &str) -> Result<RefName> {
    let name = Path::new(directory).file_name();
    let name = name.and_then(|name| RefName::branch(name.to_str()?).ok());
    let name = name.unwrap_or_else(default_branch);
    let names = std::iter::once(name.clone()).chain((2..).map(|number| name.numbered(number)));
    for name in names {
        if name.refuse_hash().is_ok() && view.reference(&name)?.is_none() {
            return Ok(name);
        }
    }
    unreachable!("there is always another number")
}
