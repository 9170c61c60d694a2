//! The opposite of one operation; what was done later stays.
//!
//! By the plans that the commands have for it: a drop, a restore, a priority. Deliberately absent: going
//! back to how all was before it, which is a reset.

use std::collections::BTreeMap;

use crate::context::plan::carry::{Clash, ClashKind, Whose};
use crate::context::plan::restore::{Lost, restore};
use crate::context::plan::{drop, skip};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Commit, Draft, EntryId, Hide, Interval, Operation, Priority};
use crate::repo::call::Call;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::rewrite::carry::{Carrier, fitting};
use crate::rewrite::{Needs, Scene, Surgery, SurgeryOptions};
use crate::store::View;

/// What became of a revert.
#[derive(Clone, Debug)]
pub struct Reverted {
    /// What it changed in the context.
    pub surgery: Surgery,
    /// The word of the operation that was reverted.
    pub what: &'static str,
    /// Whether it had no effect any more, and nothing was committed.
    pub already: bool,
}

impl Repo {
    /// Does the opposite of one commit of the path: a message that it appended is dropped with its tool
    /// partners, an edit or a hide undone, what it restored hidden or edited again, and the priority before
    /// it set again where that is still the one that it set.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let drafts = ["the task", "a digression", "go on"].map(|text| Draft::append(Message::text(Role::User, text)));
    /// let made = repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    /// let options = SurgeryOptions::default();
    /// let done = repo.revert(Call::default(), &made[1].hash, false, &options)?;
    /// assert_eq!(done.surgery.hidden[0].preview, "a digression");
    ///
    /// let back = repo.revert(Call::default(), &done.surgery.commits[0].hash, false, &options)?;
    /// assert_eq!(back.surgery.shown[0].preview, "a digression");
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] for a commit of another path; [`Error::Essential`], without `force`, for the task and
    /// the last user message; [`Error::Conflicts`] where what it restored was edited since; [`Error::Purged`];
    /// what the plans refuse, and what [`Repo::operate`] returns.
    pub fn revert(
        &self,
        call: Call<'_>,
        hash: &CommitHash,
        force: bool,
        options: &SurgeryOptions,
    ) -> Result<Reverted> {
        let commit = load::commit(&*self.store.read()?, hash)?.commit;
        let needs = Needs {
            named: commit.operation.entries(),
            ..Needs::hidden_too()
        };
        let needs = match &commit.operation {
            Operation::Append { .. } => Needs {
                together: true,
                named: vec![EntryId::of(*hash)],
                ..Needs::default()
            },
            _ => needs,
        };
        let mut already = false;
        let surgery = self.operate(call, needs, options, |scene| {
            let view = self.store.read()?;
            let drafts = opposite(&*view, scene, hash, &commit, force)?;
            let contents: Vec<_> = drafts
                .iter()
                .flat_map(|it| it.operation.contents())
                .collect();
            if view.purged(&contents)?.contains(&true) {
                return Err(Error::Purged);
            }
            already = drafts.is_empty();
            Ok(drafts)
        })?;
        Ok(Reverted {
            surgery,
            what: commit.operation.verb(),
            already,
        })
    }
}

/// The commits that do the opposite of one; none where it has no effect any more.
fn opposite(
    view: &dyn View,
    scene: &Scene,
    hash: &CommitHash,
    commit: &Commit,
    force: bool,
) -> Result<Vec<Draft>> {
    let on_path = match &scene.tip {
        Some(tip) => view.is_ancestor(hash, tip)?,
        None => false,
    };
    let Some(tip) = scene.tip.as_ref().filter(|_| on_path) else {
        let entry = hash.short();
        return Err(Error::NotOnPath { entry });
    };
    let input = &scene.input;
    match &commit.operation {
        Operation::Append { .. } => {
            let plan = drop::drop(input, &[EntryId::of(*hash)], &[], force)?;
            Ok(plan.into_iter().collect())
        }
        Operation::Edit { .. } | Operation::Hide(_) => {
            let now = load::order(view, tip)?;
            let stands = now.is_active(hash) || now.unedited(hash).is_some();
            if !stands {
                return Ok(Vec::new());
            }
            restore(input, &[Lost::Whole(*hash)])
        }
        Operation::Restore { target, entries } => again(view, tip, hash, target, entries),
        Operation::Annotate {
            targets, priority, ..
        } => {
            let Some(parent) = &commit.parent else {
                return Ok(Vec::new());
            };
            let before = load::order(view, parent)?;
            let mut by_priority: BTreeMap<&str, (Priority, Vec<EntryId>)> = BTreeMap::new();
            for target in targets {
                let was = before.entry(target)?;
                let at = input.place(target)?;
                if input.order[at].entry.priority == *priority && was.priority != *priority {
                    let known = by_priority.entry(was.priority.as_str());
                    let of = known.or_insert_with(|| (was.priority, Vec::new()));
                    of.1.push(was.id);
                }
            }
            let mut drafts = Vec::new();
            for (priority, entries) in by_priority.into_values() {
                drafts.extend(skip::annotate(input, &entries, priority, None)?);
            }
            Ok(drafts)
        }
    }
}

/// What a restore took back, done again: the whole hide or edit, or the hide of the messages that it named.
fn again(
    view: &dyn View,
    tip: &CommitHash,
    hash: &CommitHash,
    target: &CommitHash,
    entries: &[EntryId],
) -> Result<Vec<Draft>> {
    let undone = load::commit(view, target)?.commit;
    let (then, now) = (load::order(view, hash)?, load::order(view, tip)?);
    if let Operation::Hide(hide) = &undone.operation {
        let mut restored = match entries {
            [] => then.covered(hide)?,
            entries => entries.to_vec(),
        };
        if entries.is_empty() {
            restored.extend(hide.parts.iter().map(|part| part.entry));
        }
        let mut all_hidden = !restored.is_empty();
        for id in &restored {
            let (was, is) = (then.entry(id)?, now.entry(id)?);
            // A hide of another kind can be restored by itself.
            let is_alike = |of: &CommitHash| now.kind_of(of) == Some(hide.kind);
            let mut wholes = is.hidden_by.iter();
            let mut parts = is.parts_hidden_by.iter();
            all_hidden &= wholes.any(|of| is_alike(of) && !was.hidden_by.contains(of))
                || parts.any(|part| is_alike(&part.0) && !was.parts_hidden_by.contains(part));
        }
        if all_hidden {
            return Ok(Vec::new());
        }
    }
    let operation = match &undone.operation {
        Operation::Hide(hide) if !entries.is_empty() => {
            let covered = then.covered(hide)?;
            let entries = entries.iter().map(|id| then.entry(id));
            let entries: Vec<_> = entries.collect::<Result<_>>()?;
            let is_named = |id: &EntryId| entries.iter().any(|entry| entry.id == *id);
            let whole = covered.into_iter().filter(is_named);
            let interval = |id| Interval {
                first: id,
                last: id,
            };
            Operation::Hide(Hide {
                kind: hide.kind,
                intervals: whole.map(interval).collect(),
                keep: Vec::new(),
                parts: hide
                    .parts
                    .iter()
                    .filter(|part| is_named(&part.entry))
                    .cloned()
                    .collect(),
                replacements: Vec::new(),
            })
        }
        Operation::Hide(hide) => {
            // Right before what it put in place then, which is in the order still.
            let mut hide = hide.clone();
            let count = hide.replacements.len();
            for (at, replacement) in hide.replacements.iter_mut().enumerate() {
                replacement.before = Some(EntryId::replacement(*target, at, count));
            }
            Operation::Hide(hide)
        }
        other => other.clone(),
    };
    // What was edited since is hidden as it is now, and what was hidden since is edited and stays hidden.
    let hidden = [ClashKind::HiddenThere, ClashKind::HiddenHere];
    let settle = |clash: &Clash| hidden.contains(&clash.kind).then_some(Whose::Theirs);
    let mut carrier = Carrier::between(view, Some(hash), Some(tip))?;
    let carried = carrier.operation(hash, &operation, &settle)?;
    let fit = fitting(hash, &undone, carried)?;
    let mut drafts = fit.map_or_else(Vec::new, |fit| fit.drafts);
    drafts.retain(|draft| !matches!(draft.operation, Operation::Restore { .. }));
    Ok(drafts)
}
