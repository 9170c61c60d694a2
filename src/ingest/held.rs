//! Which sessions of the tools are here, where they ran, and which of their files are gone since.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::retention::{Expire, Retention};
use crate::model::{Millis, RefName};
use crate::repo::starters::Starters;
use crate::repo::{Repo, load};
use crate::store::View;
use crate::upkeep::erase::ERASED;
use crate::upkeep::{Collected, LetGo, Stays};

/// How many commits from its end on say which file a session came from.
const COMMITS: usize = 16;

/// A session that came in from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldSession {
    /// Its ref.
    pub name: RefName,
    /// The directory that it ran in, where its file says so.
    pub cwd: Option<String>,
    /// Whether every file that it came from has gone from where it was.
    pub is_gone: bool,
    /// Whether an agent of another session did it.
    pub is_agents: bool,
}

/// The sessions that came in from files, by name. Looks whether each file is there; one that cannot be looked
/// at counts as there.
///
/// # Errors
///
/// The store's.
pub fn held(repo: &Repo) -> Result<Vec<HeldSession>> {
    let view = repo.store.read()?;
    let mut sessions = gone(&*view, None)?;
    // An import that was undone leaves its file known, and no session.
    let here = view.references(RefName::SESSIONS)?.into_iter();
    let here: HashSet<RefName> = here.map(|(name, _)| name).collect();
    sessions.retain(|name, _| here.contains(name));
    let known = view.sessions()?.into_iter();
    let mut known: BTreeMap<RefName, Option<String>> =
        known.map(|(name, row)| (name, row.cwd)).collect();
    let starters = Starters::of(&*view)?;
    let row = |(name, is_gone): (RefName, bool)| HeldSession {
        cwd: known.remove(&name).flatten(),
        is_agents: name.above_agent().is_some() || starters.first(&name).is_some(),
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

/// Lets go of the sessions that neither a rule nor any ref keeps, as [`Repo::let_go`] does, but for those whose files
/// are still there: they would only come in again.
///
/// # Errors
///
/// The store's.
pub fn let_go(repo: &Repo, retention: Retention, now: Millis) -> Result<Vec<LetGo>> {
    repo.let_go(retention, &*with_files(repo)?, now)
}

/// What [`let_go`] would let go. Nothing changes.
///
/// # Errors
///
/// The store's.
pub fn let_go_forecast(repo: &Repo, retention: Retention, now: Millis) -> Result<Vec<LetGo>> {
    repo.let_go_forecast(retention, &*with_files(repo)?, now)
}

/// What [`let_go`] and then [`Repo::gc`] would take out. Nothing changes.
///
/// # Errors
///
/// As [`Repo::gc`].
pub fn gc_forecast_of(
    repo: &Repo,
    retention: Retention,
    expire: Expire,
    now: Millis,
) -> Result<Collected> {
    repo.gc_forecast_of(retention, &*with_files(repo)?, expire, now)
}

/// The sessions whose files are there. Most are looked for now, while others may write. A session without a file by now
/// is looked at again in the transaction that lets it go: its file may have come, or come back, meanwhile.
pub(super) fn with_files(repo: &Repo) -> Result<Box<Stays<'static>>> {
    let now = gone(&*repo.store.read()?, None)?.into_iter();
    let there: HashSet<RefName> = now
        .filter_map(|(name, is_gone)| (!is_gone).then_some(name))
        .collect();
    Ok(Box::new(move |view, of| {
        let (stays, others): (Vec<RefName>, Vec<RefName>) =
            of.iter().cloned().partition(|name| there.contains(name));
        let mut stays: HashSet<RefName> = stays.into_iter().collect();
        let known = gone(view, Some(&others))?;
        for name in others {
            let is_gone = match known.get(&name) {
                Some(is_gone) => *is_gone,
                None => !is_in_a_file(view, &name)?,
            };
            // Only here it is known what was erased in it: its file, wherever it was moved to, would bring that back.
            if !is_gone || is_erased(view, &name)? {
                stays.insert(name);
            }
        }
        Ok(stays)
    }))
}

/// Whether anything of a session was erased, and with it where its file is.
fn is_erased(view: &dyn View, session: &RefName) -> Result<bool> {
    let row = view.session(session)?.unwrap_or_default();
    Ok(row.absent.iter().any(|it| it == ERASED))
}

/// Whether a file is there that a session came in from beside others.
fn is_in_a_file(view: &dyn View, session: &RefName) -> Result<bool> {
    let Some(tip) = load::tip(view, session)? else {
        return Ok(false);
    };
    let end = view.ancestors(&tip, None, COMMITS)?;
    let end: Vec<CommitHash> = end.iter().map(|row| row.hash).collect();
    let mut names: Vec<RefName> = Vec::new();
    for source in view.sources_behind(&end)? {
        names.extend(view.source(source)?.map(|source| source.session));
    }
    let known = gone(view, Some(&names))?;
    Ok(known.values().any(|is_gone| !is_gone))
}

/// The files that came in, by path, each with the session that it feeds.
///
/// # Errors
///
/// The store's.
pub fn followed_files(repo: &Repo) -> Result<Vec<(String, RefName)>> {
    repo.store.read()?.followed_files(None)
}
