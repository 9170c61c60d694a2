//! Single messages and parts out, on a repository.

use crate::context::plan::drop;
use crate::error::Result;
use crate::repo::call::Call;
use crate::repo::repository::Repo;
use crate::repo::revision::Named;
use crate::rewrite::needs::FIRST;
use crate::rewrite::{Apart, Needs, Surgery, SurgeryOptions};

impl Repo {
    /// Hides the named messages and parts, all or none. A call takes its results along, a result its
    /// own call and no more; a message whose parts are all dropped is hidden. All hidden already: nothing is committed.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let texts = ["the task", "a digression", "go on"];
    /// let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let named = repo.resolve_named(&On::Head, ":2")?;
    /// let call = Call::at(Millis(0), "drop :2");
    /// let done = repo.drop_named(call, &[named], false, &SurgeryOptions::default())?;
    ///
    /// assert_eq!(done.hidden[0].preview, "a digression");
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Essential`](crate::Error::Essential), without `force`, for the task and the last
    /// user message; [`Error::Refused`](crate::Error::Refused) for a pinned message or partner and
    /// for a call still open; [`Error::NotOnPath`](crate::Error::NotOnPath); what
    /// [`Repo::operate`] returns.
    pub fn drop_named(
        &self,
        call: Call<'_>,
        named: &[Named],
        force: bool,
        options: &SurgeryOptions,
    ) -> Result<Surgery> {
        let (mut entries, mut parts) = (Vec::new(), Vec::new());
        for named in named {
            match named {
                Named::Entry(id) => entries.push(*id),
                Named::Part(id, part) => parts.push((*id, *part)),
            }
        }
        let needs = Needs {
            plain_parts: !parts.is_empty(),
            together: true,
            named: entries
                .iter()
                .chain(parts.iter().map(|(id, _)| id))
                .copied()
                .collect(),
            apart: Some(Apart {
                first: FIRST,
                last: FIRST,
                around: true,
                ..Apart::default()
            }),
            ..Needs::default()
        };
        self.operate(call, needs, options, |scene| {
            let plan = drop::drop(&scene.input, &entries, &parts, force)?;
            Ok(plan.into_iter().collect())
        })
    }
}
