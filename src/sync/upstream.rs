//! Which remote a branch goes to, and how far it and the other side's have gone on from each other.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{RefName, RefValue};
use crate::repo::ancestry::beyond;
use crate::repo::by_branch;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{SessionRow, View};

/// Where the branch of another repository that belongs to one's own was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// What it is called here.
    pub seen: RefName,
    /// How many commits only one's own has.
    pub ahead: u64,
    /// How many only the other has.
    pub behind: u64,
}

/// A ref of another repository, where it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRef {
    /// What it is called here.
    pub name: RefName,
    /// Where it was.
    pub commit: CommitHash,
    /// Of a session: its own name, and what is known of it.
    pub session: Option<(RefName, SessionRow)>,
}

impl Repo {
    /// The remote that a branch was pushed to with the wish that it be that from then on.
    pub fn remote_of(&self, branch: &RefName) -> Result<Option<String>> {
        by_branch::remote_of(&*self.store.read()?, branch)
    }

    /// From now on these branches go to that remote.
    pub fn set_remote_of(&self, branches: &[RefName], remote: &str) -> Result<()> {
        let tx = self.store.write()?;
        for branch in branches {
            tx.set_config(&by_branch::remote_key(branch), Some(remote))?;
        }
        tx.commit()
    }

    /// Where the other side's branch was last seen that belongs to this one: of the remote that is set, else of the only one
    /// that has it, or of `origin`.
    pub fn upstream(&self, branch: &RefName) -> Result<Option<Upstream>> {
        let view = self.store.read()?;
        let Some(tip) = load::tip(&*view, branch)? else {
            return Ok(None);
        };
        let seen = match by_branch::remote_of(&*view, branch)? {
            Some(remote) => RefName::of_remote(&remote, branch).ok(),
            None => {
                let mut all = elsewhere(&*view, branch)?;
                let origin = RefName::of_remote("origin", branch).ok();
                match all.len() {
                    1 => all.pop(),
                    _ => origin.filter(|name| all.contains(name)),
                }
            }
        };
        let Some(seen) = seen else { return Ok(None) };
        let Some(theirs) = load::tip(&*view, &seen)? else {
            return Ok(None);
        };
        Ok(Some(Upstream {
            ahead: beyond(&*view, &tip, &[theirs])?.len() as u64,
            behind: beyond(&*view, &theirs, &[tip])?.len() as u64,
            seen,
        }))
    }

    /// Where branches of this name were last seen, a remote each.
    pub fn seen_elsewhere(&self, branch: &RefName) -> Result<Vec<RefName>> {
        elsewhere(&*self.store.read()?, branch)
    }

    /// All that was seen of other repositories, by name.
    pub fn seen(&self) -> Result<Vec<SeenRef>> {
        let view = self.store.read()?;
        let mut rows = Vec::new();
        for (name, value) in view.references(RefName::REMOTES)? {
            let RefValue::Commit(commit) = value else {
                continue;
            };
            let session = match session_behind(&name) {
                Some(session) => {
                    let row = view.session(&session)?.unwrap_or_default();
                    Some((session, row))
                }
                None => None,
            };
            rows.push(SeenRef {
                name,
                commit,
                session,
            });
        }
        Ok(rows)
    }
}

/// The session whose place at a remote this is.
fn session_behind(name: &RefName) -> Option<RefName> {
    let below = name.as_str().strip_prefix(RefName::REMOTES)?;
    let (_, below) = below.split_once('/')?;
    let name: RefName = format!("refs/{below}").parse().ok()?;
    name.as_session().is_some().then_some(name)
}

fn elsewhere(view: &dyn View, branch: &RefName) -> Result<Vec<RefName>> {
    let below = branch.as_str().strip_prefix(RefName::HEADS);
    let seen = view.references(RefName::REMOTES)?.into_iter();
    let seen = seen.map(|(name, _)| name).filter(|name| {
        let place = name.as_str().strip_prefix(RefName::REMOTES);
        let place = place.and_then(|place| place.split_once('/'));
        place.map(|(_, below)| below) == below
    });
    Ok(seen.collect())
}
