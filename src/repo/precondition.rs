//! A repository of which nothing is written unless it is as whoever writes has seen it: what was looked at, and then
//! decided on, is what is changed.

use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{RefName, RefValue};
use crate::repo::expect::Expect;
use crate::repo::repository::Repo;
use crate::repo::seat::Own;
use crate::repo::{load, undo};
use crate::store::View;

/// How a repository is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A branch is at this commit; none: it has no commit.
    At(RefName, Option<CommitHash>),
    /// This is the newest operation that somebody asked for here.
    Newest(u64),
}

impl Expected {
    fn hold(&self, view: &dyn View) -> Result<()> {
        match self {
            Self::At(name, expected) => {
                let found = view.reference(name)?;
                let tip = found.as_ref().and_then(RefValue::commit);
                expected.map_or(Expect::Nothing, Expect::At).hold(name, tip)
            }
            Self::Newest(expected) => {
                let found = newest_operation(view)?;
                if found == Some(*expected) {
                    return Ok(());
                }
                Err(Error::RefMoved {
                    name: "reflog".to_owned(),
                    expected: format!("#{expected}"),
                    found: found.map_or("none".to_owned(), |id| format!("#{id}")),
                })
            }
        }
    }
}

impl Repo {
    /// The same repository, of which nothing is written unless it is as expected. What is written through it after its
    /// first operation is free.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Expected, Repo};
    /// use tract::model::{Draft, Message, RefName, Role};
    ///
    /// let draft = || [Draft::append(Message::text(Role::User, "hello"))];
    /// let main = RefName::branch("main")?;
    /// let repo = Repo::ephemeral()?.expecting(Expected::At(main.clone(), None));
    /// let made = repo.commit(Call::default(), &draft(), &CommitOptions::default())?;
    /// let repo = repo.expecting(Expected::At(main, None));
    /// assert!(repo.commit(Call::default(), &draft(), &CommitOptions::default()).is_err());
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn expecting(self, expected: Expected) -> Self {
        self.guarded(Box::new(move |tx| expected.hold(tx)))
    }

    /// Refuses where it is not as expected now.
    ///
    /// # Errors
    ///
    /// [`Error::RefMoved`].
    pub fn holds(&self, expected: &Expected) -> Result<()> {
        expected.hold(&*self.store.read()?)
    }

    /// The newest operation that somebody asked for here, if there is one: not what a watch took in, and nothing that
    /// was done elsewhere.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn newest_operation(&self) -> Result<Option<u64>> {
        newest_operation(&*self.store.read()?)
    }
}

fn newest_operation(view: &dyn View) -> Result<Option<u64>> {
    let own = Own::of(view)?;
    for operation in load::operations(view, None) {
        let operation = operation?;
        let is_elsewhere = undo::is_elsewhere(own.as_ref(), view, &operation)?;
        if !is_elsewhere && !undo::is_unattended(&operation) {
            return Ok(Some(operation.id));
        }
    }
    Ok(None)
}
