//! Remotes: other repositories by name, and the refs that say where theirs were last seen.

use crate::error::{Error, Result};
use crate::model::{RefName, RefValue};
use crate::repo::by_branch;
use crate::repo::call::Call;
use crate::repo::repository::Repo;
use crate::repo::server;
use crate::store::{Tx, View};

const PREFIX: &str = "remote.";
const URL: &str = ".url";

/// Another repository by the name that it has here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remote {
    /// Its name here.
    pub name: String,
    /// Where it is.
    pub url: String,
}

/// Has the branches that went to one remote go to another, or to none.
fn send_elsewhere(tx: &dyn Tx, old: &str, new: Option<&str>) -> Result<()> {
    for (key, to) in tx.config()? {
        if by_branch::is_remote_key(&key) && to == old {
            tx.set_config(&key, new)?;
        }
    }
    Ok(())
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}{URL}")
}

/// Whether the settings name a remote so.
pub(super) fn is_named(view: &dyn View, remote: &str) -> Result<bool> {
    let key = key(remote);
    Ok(view.config()?.iter().any(|(of, _)| *of == key))
}

impl Repo {
    /// The remotes, by name.
    pub fn remotes(&self) -> Result<Vec<Remote>> {
        let config = self.store.read()?.config()?.into_iter();
        let remotes = config.filter_map(|(key, url)| {
            let name = key.strip_prefix(PREFIX)?.strip_suffix(URL)?.to_owned();
            Some(Remote { name, url })
        });
        Ok(remotes.collect())
    }

    /// Names another repository. A server's password is not kept.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRefName`] for a name that cannot stand in a ref's, [`Error::RefExists`] where it is taken.
    pub fn add_remote(&self, name: &str, url: &str) -> Result<()> {
        RefName::of_remote(name, &RefName::branch("main")?)?;
        let tx = self.store.write()?;
        if is_named(&*tx, name)? {
            return Err(Error::RefExists {
                name: name.to_owned(),
            });
        }
        tx.set_config(&key(name), Some(&server::kept(url)))?;
        tx.commit()
    }

    /// Says where a remote is now. Whether there was one.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn move_remote(&self, name: &str, url: &str) -> Result<bool> {
        let tx = self.store.write()?;
        if !is_named(&*tx, name)? {
            return Ok(false);
        }
        tx.set_config(&key(name), Some(&server::kept(url)))?;
        tx.commit()?;
        Ok(true)
    }

    /// Forgets a remote, and where its refs were: a fetch brings them back. Whether there was one.
    pub fn forget_remote(&self, call: Call<'_>, name: &str) -> Result<bool> {
        let tx = self.store.write()?;
        let is_there = is_named(&*tx, name)?;
        tx.set_config(&key(name), None)?;
        send_elsewhere(&*tx, name, None)?;
        tx.begin_moves(call.now, call.what)?;
        let seen = seen(&*tx, name)?;
        let is_there = is_there || !seen.is_empty();
        for (name, _) in seen {
            tx.set_reference(&name, None)?;
        }
        tx.commit()?;
        Ok(is_there)
    }

    /// Calls a remote otherwise, and where its refs were seen, and has its branches go there still. Whether there was one.
    ///
    /// # Errors
    ///
    /// As [`Repo::add_remote`].
    pub fn rename_remote(&self, call: Call<'_>, old: &str, new: &str) -> Result<bool> {
        RefName::of_remote(new, &RefName::branch("main")?)?;
        let tx = self.store.write()?;
        let config = tx.config()?;
        let held = |name: &str| config.iter().find(|(of, _)| *of == key(name));
        let Some((_, url)) = held(old) else {
            return Ok(false);
        };
        if held(new).is_some() || !seen(&*tx, new)?.is_empty() {
            return Err(Error::RefExists {
                name: new.to_owned(),
            });
        }
        tx.set_config(&key(new), Some(url))?;
        tx.set_config(&key(old), None)?;
        send_elsewhere(&*tx, old, Some(new))?;
        tx.begin_moves(call.now, call.what)?;
        let before = format!("{}{old}/", RefName::REMOTES);
        for (name, value) in seen(&*tx, old)? {
            let below = name.as_str().strip_prefix(&before).unwrap_or_default();
            let name_there = format!("{}{new}/{below}", RefName::REMOTES).parse()?;
            tx.set_reference(&name_there, Some(&value))?;
            tx.set_reference(&name, None)?;
        }
        tx.commit()?;
        Ok(true)
    }
}

/// Where a remote's refs were last seen.
pub(super) fn seen(view: &dyn View, remote: &str) -> Result<Vec<(RefName, RefValue)>> {
    view.references(&format!("{}{remote}/", RefName::REMOTES))
}
