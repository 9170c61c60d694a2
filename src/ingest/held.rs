//! Which sessions of the tools are here, where they ran, and which of their files are gone since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::Result;
use crate::history::Repo;
use crate::model::RefName;
use crate::store::View;

/// A session that came in from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldSession {
    /// Its ref.
    pub name: RefName,
    /// The directory that it ran in, where its file says so.
    pub cwd: Option<String>,
    /// Whether every file that it came from has gone from where it was.
    pub is_gone: bool,
}

/// The sessions that came in from files, by name. Looks whether each file is there; one that cannot be looked
/// at counts as there.
///
/// # Errors
///
/// The store's.
pub fn held(repo: &Repo) -> Result<Vec<HeldSession>> {
    let view = repo.store.read()?;
    let sessions = gone(&*view, None)?;
    let known = view.sessions()?.into_iter();
    let mut known: BTreeMap<RefName, Option<String>> =
        known.map(|(name, row)| (name, row.cwd)).collect();
    let row = |(name, is_gone)| HeldSession {
        cwd: known.remove(&name).flatten(),
        name,
        is_gone,
    };
    Ok(sessions.into_iter().map(row).collect())
}

/// Those of these sessions whose files have come in and are all gone.
///
/// # Errors
///
/// The store's.
pub fn gone_sessions(repo: &Repo, of: &[RefName]) -> Result<BTreeSet<RefName>> {
    let sessions = gone(&*repo.store.read()?, Some(of))?.into_iter();
    let gone = sessions.filter_map(|(name, is_gone)| is_gone.then_some(name));
    Ok(gone.collect())
}

/// The sessions, all or these, whose files have come in, and whether these are gone.
fn gone(view: &dyn View, of: Option<&[RefName]>) -> Result<BTreeMap<RefName, bool>> {
    let mut sessions: BTreeMap<RefName, bool> = BTreeMap::new();
    for (path, session) in view.followed_files(of)? {
        let is_gone = matches!(Path::new(&path).try_exists(), Ok(false));
        *sessions.entry(session).or_insert(true) &= is_gone;
    }
    Ok(sessions)
}

/// The files that came in, by path, each with the session that it feeds.
///
/// # Errors
///
/// The store's.
pub fn followed_files(repo: &Repo) -> Result<Vec<(String, RefName)>> {
    repo.store.read()?.followed_files(None)
}
