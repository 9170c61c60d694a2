//! What an import would find new: the sessions of a repository in memory beside those of the one that they would come to.

use super::report::{ImportedSession, Outcome};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::RefValue;
use crate::repo::Repo;
use crate::store::View;

/// How a session that was imported into `scratch` relates to what is in `repo`, and how many of its messages are not on the
/// path of the session there.
///
/// # Errors
///
/// The stores'.
pub fn forecast(repo: &Repo, scratch: &Repo, session: &ImportedSession) -> Result<(Outcome, u64)> {
    let view = repo.store.read()?;
    let known = view.reference(&session.name)?;
    let (Some(RefValue::Commit(known)), Some(tip)) = (known, session.tip) else {
        return Ok((Outcome::New, session.messages));
    };
    if known == tip || view.is_ancestor(&tip, &known).unwrap_or(false) {
        return Ok((Outcome::Unchanged, 0));
    }
    let here = said(&*view, &known)?;
    let there = said(&*scratch.store.read()?, &tip)?;
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

/// What the commits of a path append, oldest first.
fn said(view: &dyn View, tip: &CommitHash) -> Result<Vec<ContentHash>> {
    let rows = view.ancestors(tip, None, usize::MAX)?;
    Ok(rows.iter().rev().filter_map(|row| row.appended()).collect())
}
