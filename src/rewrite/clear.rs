//! A fresh start, on a repository.

use crate::context::plan::clear;
use crate::error::Result;
use crate::model::{Draft, Encoding};
use crate::repo::call::Call;
use crate::repo::repository::Repo;
use crate::rewrite::{Apart, Needs, Plan, Scene, Surgery, SurgeryOptions};

/// A fresh start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clear {
    /// The system messages go too.
    pub all: bool,
}

impl Plan for Clear {
    fn needs(&self) -> Needs {
        Needs {
            apart: Some(Apart {
                all: true,
                ..Apart::default()
            }),
            ..Needs::hidden_too()
        }
    }

    fn drafts(&self, _: &Repo, scene: &Scene, _: Encoding) -> Result<Vec<Draft>> {
        Ok(clear::clear(&scene.input, self.all).into_iter().collect())
    }
}

impl Repo {
    /// Hides everything but the system messages; with `all` those too. Pinned messages and calls
    /// still open stay. Nothing to hide: nothing is committed.
    ///
    /// # Errors
    ///
    /// Whatever [`Repo::operate`] returns.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let said = [(Role::System, "Be brief."), (Role::User, "one"), (Role::Assistant, "two")];
    /// let drafts = said.map(|(role, text)| Draft::append(Message::text(role, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let done = repo.clear(Call::at(Millis(0), "clear"), false, &SurgeryOptions::default())?;
    /// assert_eq!((done.hidden.len(), done.after.messages), (2, 1));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn clear(&self, call: Call<'_>, all: bool, options: &SurgeryOptions) -> Result<Surgery> {
        self.carry_out(call, &Clear { all }, options)
    }
}
