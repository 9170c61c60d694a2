//! Which sessions of the tools are here, where they ran, and which of their files are gone since.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Result;
use crate::history::Repo;
use crate::model::RefName;

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
    let mut sessions: BTreeMap<RefName, bool> = BTreeMap::new();
    for (path, session) in view.followed_files()? {
        let is_gone = matches!(Path::new(&path).try_exists(), Ok(false));
        *sessions.entry(session).or_insert(true) &= is_gone;
    }
    let row = |(name, is_gone): (RefName, bool)| {
        let cwd = view.session(&name)?.and_then(|row| row.cwd);
        Ok(HeldSession { name, cwd, is_gone })
    };
    sessions.into_iter().map(row).collect()
}

/// The files that came in, by path, each with the session that it feeds.
///
/// # Errors
///
/// The store's.
pub fn followed_files(repo: &Repo) -> Result<Vec<(String, RefName)>> {
    repo.store.read()?.followed_files()
}
