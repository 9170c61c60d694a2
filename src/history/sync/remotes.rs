//! Remotes: other repositories by name, and the refs that say where theirs were last seen.

use crate::error::{Error, Result};
use crate::history::call::Call;
use crate::history::repo::Repo;
use crate::model::{RefName, RefValue};
use crate::store::View;

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

fn key(name: &str) -> String {
    format!("{PREFIX}{name}{URL}")
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

    /// Names another repository, or says where one is now.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRefName`] for a name that cannot stand in a ref's, [`Error::RefExists`] where it is taken
    /// and not `over`.
    pub fn set_remote(&self, name: &str, url: &str, over: bool) -> Result<()> {
        RefName::of_remote(name, &RefName::branch("main")?)?;
        let tx = self.store.write()?;
        let is_there = tx.config()?.iter().any(|(of, _)| *of == key(name));
        if is_there && !over {
            return Err(Error::RefExists {
                name: name.to_owned(),
            });
        }
        tx.set_config(&key(name), Some(url))?;
        tx.commit()
    }

    /// Forgets a remote, and where its refs were: that an undo brings back. Whether there was one.
    pub fn forget_remote(&self, call: Call<'_>, name: &str) -> Result<bool> {
        let tx = self.store.write()?;
        let is_there = tx.config()?.iter().any(|(of, _)| *of == key(name));
        tx.set_config(&key(name), None)?;
        tx.begin_moves(call.now, call.what)?;
        for (name, _) in seen(&*tx, name)? {
            tx.set_reference(&name, None)?;
        }
        tx.commit()?;
        Ok(is_there)
    }
}

/// Where a remote's refs were last seen.
pub(super) fn seen(view: &dyn View, remote: &str) -> Result<Vec<(RefName, RefValue)>> {
    view.references(&format!("{}{remote}/", RefName::REMOTES))
}
