//! What an import would find new: the sessions of a repository in memory beside those of the one that they would come to.

use super::report::{ImportedSession, Outcome};
use super::session::digest;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::repo::{Repo, load};
use crate::store::{ResumeRow, View};

/// How a session that was imported into `scratch` relates to what is in `repo`, and how many of its messages are not on the
/// path of the session there.
///
/// # Errors
///
/// The stores'.
pub fn forecast(repo: &Repo, scratch: &Repo, session: &ImportedSession) -> Result<(Outcome, u64)> {
    let view = repo.store.read()?;
    let known = load::tip(&*view, &session.name)?;
    let Some(tip) = session.tip else {
        return Ok((Outcome::New, session.messages));
    };
    if let Some(known) = &known
        && (*known == tip || view.is_ancestor(&tip, known).unwrap_or(false))
    {
        return Ok((Outcome::Unchanged, 0));
    }
    let mut there = said(&*scratch.store.read()?, &tip, None)?;
    let resumed = resumed(&*view, session, &there)?;
    // What resume wrote is here in another form: the session goes on from there.
    if let Some(resumed) = &resumed {
        there.drain(..resumed.messages as usize);
    }
    let Some(known) = known else {
        let new = resumed.map_or(session.messages, |_| there.len() as u64);
        return Ok((Outcome::New, new));
    };
    let here = said(&*view, &known, resumed.map(|resumed| resumed.commit))?;
    let same = here
        .iter()
        .zip(&there)
        .take_while(|(one, other)| one == other);
    let same = same.count();
    let new = (there.len() - same) as u64;
    Ok(match same {
        _ if new == 0 => (Outcome::Unchanged, 0),
        same if same == here.len() => (Outcome::Grown, new),
        _ => (Outcome::Rewritten, new),
    })
}

/// What is known of the session as one that `resume` wrote, where these messages begin with what it wrote.
fn resumed(
    view: &dyn View,
    session: &ImportedSession,
    messages: &[ContentHash],
) -> Result<Option<ResumeRow>> {
    let Some((tool, id)) = session.name.as_session() else {
        return Ok(None);
    };
    let resumed = view.resumed(tool, id)?;
    Ok(resumed.filter(|resumed| {
        let written = messages.get(..resumed.messages as usize);
        written.is_some_and(|written| digest(written) == resumed.digest)
    }))
}

/// What the commits of a path append, oldest first, behind a commit if one is given.
fn said(view: &dyn View, tip: &CommitHash, after: Option<CommitHash>) -> Result<Vec<ContentHash>> {
    let rows = view.ancestors(tip, after.as_ref(), usize::MAX)?;
    Ok(rows.iter().rev().filter_map(|row| row.appended()).collect())
}
