//! Bringing back what was hidden, on a repository.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::plan::restore;
pub use crate::context::plan::restore::Lost;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, HideKind, Operation, Priority};
use crate::repo::call::{Call, On};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::repo::revision::Named;
use crate::repo::stretches::Outline;
use crate::rewrite::{Apart, Needs, Scene, Surgery, SurgeryOptions};

/// What became of a restore.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// What it changed in the context.
    pub surgery: Surgery,
    /// Which other hides still cover messages that it was to bring back. A message that two of
    /// them cover counts for both.
    pub still_hidden: Vec<StillHidden>,
}

/// A hide for which a restore does not bring back all that it uncovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StillHidden {
    /// The hide.
    pub by: CommitHash,
    /// Its kind.
    pub kind: HideKind,
    /// How many messages.
    pub messages: usize,
}

impl Repo {
    /// What `text` names as lost: a hide or an edit, for which a marker or a summary in the
    /// context may stand; a message; or with `#N` one of its parts.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve_named`].
    pub fn resolve_lost(&self, on: &On, text: &str) -> Result<Lost> {
        match self.resolve(on, text) {
            Ok(commit) => {
                let row = load::commit(&*self.store.read()?, &commit)?;
                Ok(match row.commit.operation {
                    Operation::Append { .. } => Lost::Entry(EntryId::of(commit)),
                    _ => Lost::Whole(commit),
                })
            }
            Err(unknown @ Error::UnknownRevision { .. }) => match self.resolve_named(on, text) {
                Ok(Named::Part(entry, part)) => Ok(Lost::Part(entry, part)),
                Ok(Named::Entry(entry)) => Ok(Lost::Entry(entry)),
                Err(_) => Err(unknown),
            },
            Err(other) => Err(other),
        }
    }

    /// Undoes hides and edits: wholly, or for single messages with their tool partners, for which
    /// the hide then stands no longer. Later commits stay.
    ///
    /// ```
    /// use tract::rewrite::{Reach, Truncate};
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let texts = ["the task", "one", "two", "three"];
    /// let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    /// let call = Call::at(Millis(0), "truncate --keep 1");
    /// repo.carry_out(call, &Truncate::new(Reach::Keep(1)), &SurgeryOptions::default())?;
    ///
    /// // The third message of the context before the truncation.
    /// let lost = repo.resolve_lost(&On::Head, "HEAD^:3")?;
    /// let call = Call::at(Millis(0), "restore HEAD^:3");
    /// let done = repo.restore(call, &[lost], &SurgeryOptions::default())?;
    ///
    /// assert_eq!(done.surgery.shown[0].preview, "two");
    /// assert!(done.still_hidden.is_empty());
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotRestorable`] for what is neither a hide nor an edit, or is undone already;
    /// [`Error::Refused`] for what no hide covers; [`Error::NotOnPath`]; what [`Repo::operate`]
    /// returns.
    pub fn restore(
        &self,
        call: Call<'_>,
        lost: &[Lost],
        options: &SurgeryOptions,
    ) -> Result<Restored> {
        let mut covered = BTreeMap::new();
        let named = lost.iter().filter_map(|lost| match lost {
            Lost::Whole(_) => None,
            Lost::Entry(id) | Lost::Part(id, _) => Some(*id),
        });
        let is_long = self.is_long(call.on)?;
        let is_all = is_long && self.leaves_nothing_hidden(call.on, lost)?;
        let needs = Needs {
            named: named.collect(),
            apart: is_long.then(|| Apart {
                back: true,
                all: !is_all,
                ..Apart::default()
            }),
            hidden_links: !is_all,
            ..Needs::messages()
        };
        let surgery = self.operate(call, needs, options, |scene| {
            let drafts = restore::restore(&scene.input, lost)?;
            covered = still_covered(scene, &drafts);
            Ok(drafts)
        })?;
        let view = self.store.read()?;
        let mut still_hidden = Vec::new();
        for (by, messages) in covered {
            if let Operation::Hide(hide) = load::commit(&*view, &by)?.commit.operation {
                let kind = hide.kind;
                still_hidden.push(StillHidden { by, kind, messages });
            }
        }
        Ok(Restored {
            surgery,
            still_hidden,
        })
    }
}

impl Repo {
    /// Whether nothing is hidden any more once all this is undone: then no partner of what comes back is, whatever it calls.
    fn leaves_nothing_hidden(&self, on: &On, lost: &[Lost]) -> Result<bool> {
        let whole = lost.iter().map(|lost| match lost {
            Lost::Whole(hide) => Some(*hide),
            Lost::Entry(_) | Lost::Part(..) => None,
        });
        let whole: Option<BTreeSet<CommitHash>> = whole.collect();
        let (Some(whole), Some(tip)) = (whole, self.head(on)?.commit()) else {
            return Ok(false);
        };
        let outline = Outline::of(&*self.store.read()?, &tip)?;
        Ok(outline.stretches.iter().all(|stretch| {
            let fate = &stretch.fate;
            let parts = fate.parts_hidden_by.iter().map(|(hide, _)| hide);
            let mut hides = fate.hidden_by.iter().chain(parts);
            fate.priority != Priority::Skip && hides.all(|hide| whole.contains(hide))
        }))
    }
}

/// Which other hides cover the entries for which these restores undo a hide, and how many.
fn still_covered(scene: &Scene, restores: &[Draft]) -> BTreeMap<CommitHash, usize> {
    let mut undone: BTreeMap<CommitHash, BTreeSet<EntryId>> = BTreeMap::new();
    for draft in restores {
        if let Operation::Restore { target, entries } = &draft.operation {
            undone.insert(*target, entries.iter().copied().collect());
        }
    }
    let mut left = BTreeMap::new();
    for (entry, len) in scene.input.order.iter().map(|one| (&one.entry, one.len())) {
        let gone = |hide: &CommitHash| {
            let only = undone.get(hide);
            only.is_some_and(|only| only.is_empty() || only.contains(&entry.id))
        };
        if entry.hidden_by.iter().any(gone) {
            for hide in entry.hidden_by.iter().filter(|hide| !gone(hide)) {
                *left.entry(*hide).or_default() += len;
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::plan::compact::{Extent, compact};
    use crate::model::{Message, Role};
    use crate::repo::CommitOptions;

    #[test]
    fn what_a_later_hide_covers_stays_hidden_and_is_told() {
        let repo = Repo::ephemeral().expect("a repository");
        let on = On::Head;
        let texts = ["the task", "one", "two", "three"];
        let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
        let (call, options) = (Call::default(), SurgeryOptions::default());
        repo.commit(call, &drafts, &CommitOptions::default())
            .expect("appended");
        let named = repo.resolve_named(&on, ":2").expect("it is there");
        let dropped = repo
            .drop_named(call, &[named], false, &options)
            .expect("dropped");
        let compacted = repo
            .operate(call, Needs::default(), &options, |scene| {
                let plan = compact(&scene.input, &Extent::All, "in short")?;
                Ok(plan.into_iter().collect())
            })
            .expect("compacted");
        let (drop, compaction) = (dropped.commits[0].hash, compacted.commits[0].hash);

        let done = repo
            .restore(call, &[Lost::Whole(drop)], &options)
            .expect("restored");
        assert!(done.surgery.is_nothing());
        let still = StillHidden {
            by: compaction,
            kind: HideKind::Compaction,
            messages: 1,
        };
        assert_eq!(done.still_hidden, [still]);

        let done = repo
            .restore(call, &[Lost::Whole(compaction)], &options)
            .expect("restored");
        assert_eq!(done.surgery.after.messages, 4);
        assert!(done.still_hidden.is_empty());
    }
}
