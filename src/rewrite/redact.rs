//! Secrets taken out of the context.

use std::cell::RefCell;

use crate::context::Entry;
use crate::error::Result;
use crate::model::secret::{SecretCounts, Secrets};
use crate::model::{Draft, EntryId};
use crate::repo::call::Call;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::rewrite::{Needs, Surgery, SurgeryOptions};

impl Repo {
    /// Edits the visible messages that hold secrets, or of those that are named: `[redacted:KIND]` stands
    /// in their place. No secrets: nothing happens. The history keeps what it had; only
    /// [`Repo::erase`] takes it out of that.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::secret::Secrets;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let token = format!("glpat-{}", "q7Zk2mWx9RtB4vLc8YpN");
    /// let said = |token: &str| Message::text(Role::User, format!("use {token}"));
    /// let draft = Draft::append(said(&token));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    ///
    /// let (secrets, options) = (Secrets::new(), SurgeryOptions::default());
    /// let (done, counts) = repo.redact(Call::default(), None, &secrets, &options)?;
    /// assert_eq!((done.changed.len(), counts["gitlab-token"]), (1, 1));
    /// let context = repo.context(&done.commits[0].hash)?;
    /// assert_eq!(repo.messages(&context)?, [said("[redacted:gitlab-token]")]);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What [`Repo::operate`] returns.
    pub fn redact(
        &self,
        call: Call<'_>,
        named: Option<&[EntryId]>,
        secrets: &Secrets,
        options: &SurgeryOptions,
    ) -> Result<(Surgery, SecretCounts)> {
        let counts = RefCell::new(SecretCounts::new());
        let done = self.operate(call, Needs::messages(), options, |scene| {
            let is_meant = |entry: &&Entry| named.is_none_or(|named| named.contains(&entry.id));
            let meant: Vec<Entry> = scene
                .context
                .entries
                .iter()
                .filter(is_meant)
                .cloned()
                .collect();
            let messages = load::messages(&*self.store.read()?, &meant)?;
            // It may be made anew, where another process was first.
            let mut found = SecretCounts::new();
            let drafts = meant.iter().zip(&messages).filter_map(|(entry, message)| {
                let redacted = secrets.redact_message(message, &mut found)?;
                Some(Draft::edit(entry.id, redacted))
            });
            let drafts: Vec<Draft> = drafts.collect();
            counts.replace(found);
            Ok(drafts)
        })?;
        Ok((done, counts.into_inner()))
    }
}
