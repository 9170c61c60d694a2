//! Priorities, on a repository.

use crate::context::plan::skip;
use crate::error::Result;
use crate::model::{EntryId, Operation, Priority};
use crate::repo::call::{Call, On};
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;
use crate::rewrite::{Apart, Needs, Surgery, SurgeryOptions};

/// What became of an annotation.
#[derive(Clone, Debug, Default)]
pub struct Annotated {
    /// The entries that have the priority now, or would: a skip takes a call's whole group. None
    /// where they all had it already.
    pub entries: Vec<EntryId>,
    /// What it changed in the context.
    pub surgery: Surgery,
}

impl Repo {
    /// Sets the priority of messages. A skip takes a call's whole group out of the context. They
    /// all have it already, and no reason is given: nothing is committed.
    ///
    /// ```
    /// use tract::rewrite::{Reach, Truncate};
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Millis, Priority, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let texts = ["the task", "a rule", "one", "two"];
    /// let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let rule = repo.resolve_entry(&On::Head, ":2")?;
    /// let call = Call::at(Millis(0), "annotate :2 --pin");
    /// repo.annotate(call, &[rule], Priority::Pinned, None, &SurgeryOptions::default())?;
    ///
    /// // What is pinned outlives a truncation.
    /// let call = Call::at(Millis(0), "truncate --keep 1");
    /// let done = repo.carry_out(call, &Truncate::new(Reach::Keep(1)), &SurgeryOptions::default())?;
    /// assert_eq!(done.hidden.len(), 1);
    /// assert_eq!(done.hidden[0].preview, "one");
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`](crate::Error::Refused) for a skip that would take a pinned partner or a
    /// call still open; [`Error::NotOnPath`](crate::Error::NotOnPath); what [`Repo::operate`]
    /// returns.
    pub fn annotate(
        &self,
        call: Call<'_>,
        entries: &[EntryId],
        priority: Priority,
        reason: Option<&str>,
        options: &SurgeryOptions,
    ) -> Result<Annotated> {
        let mut annotated = Annotated::default();
        let takes_groups =
            priority == Priority::Skip || !self.is_long(call.on)? || self.skips(call.on)?;
        let needs = Needs {
            named: entries.to_vec(),
            apart: (!takes_groups).then(Apart::default),
            hidden_links: takes_groups,
            ..Needs::messages()
        };
        annotated.surgery = self.operate(call, needs, options, |scene| {
            let plan = skip::annotate(&scene.input, entries, priority, reason)?;
            annotated.entries = match plan.as_ref().map(|draft| &draft.operation) {
                Some(Operation::Annotate { targets, .. }) => targets.clone(),
                _ => Vec::new(),
            };
            Ok(plan.into_iter().collect())
        })?;
        Ok(annotated)
    }

    /// Whether any message is skipped there.
    fn skips(&self, on: &On) -> Result<bool> {
        let Some(tip) = self.head(on)?.commit() else {
            return Ok(false);
        };
        let outline = Outline::of(&*self.store.read()?, &tip)?;
        let mut stretches = outline.stretches.iter();
        Ok(stretches.any(|stretch| stretch.fate.priority == Priority::Skip))
    }
}
