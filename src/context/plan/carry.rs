//! An operation of another path as one for here: what it did there, done to what stands for it here.
//!
//! A copy of a message stands for it, and a shared message for itself. Deliberately absent: which commits
//! are copies of which, and the settings, note, author and time of the operation, which its commit has.

mod taking;

use std::collections::{HashMap, HashSet};

use taking::Taking;

use crate::context::plan::{PlanInput, restore, skip};
use crate::context::{MaskedPart, Order, OrderEntry};
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Hide, HideKind, Operation, PartHide, Priority, Replacement};

/// Which commits here stand for which commits of another path. What is on both paths stands for itself.
#[derive(Clone, Debug, Default)]
pub struct Counterparts {
    here: HashMap<CommitHash, CommitHash>,
    there: HashMap<CommitHash, CommitHash>,
}

impl Counterparts {
    /// Lets `here` stand for `there`; the last that is said of either holds.
    pub fn insert(&mut self, there: CommitHash, here: CommitHash) {
        self.here.insert(there, here);
        self.there.insert(here, there);
    }

    /// What stands for a commit of the other path, whether or not it is here.
    pub fn here(&self, there: &CommitHash) -> CommitHash {
        *self.here.get(there).unwrap_or(there)
    }

    /// What a commit here stands for, whether or not it is there.
    fn there(&self, here: &CommitHash) -> CommitHash {
        *self.there.get(here).unwrap_or(here)
    }

    /// The entry here that stands for one there.
    pub(crate) fn entry(&self, here: &Order, there: &EntryId) -> Option<EntryId> {
        named(&self.here, here, there)
    }

    /// The entry there for which one here stands.
    fn original(&self, there: &Order, here: &EntryId) -> Option<EntryId> {
        named(&self.there, there, here)
    }
}

fn named(
    commits: &HashMap<CommitHash, CommitHash>,
    order: &Order,
    id: &EntryId,
) -> Option<EntryId> {
    if order.has(id) {
        return Some(*id);
    }
    let commit = *commits.get(&id.commit)?;
    let index = id.index;
    Some(EntryId { commit, index }).filter(|id| order.has(id))
}

/// Two paths that changed one message differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clash {
    /// The message there.
    pub there: EntryId,
    /// What stands for it here.
    pub here: EntryId,
    /// What both did.
    pub kind: ClashKind,
}

/// What two paths did to one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClashKind {
    /// Each gave it another text.
    Edited,
    /// It is hidden there, and has another text here.
    HiddenThere,
    /// It has another text there, and is hidden here.
    HiddenHere,
    /// Each summed it up.
    SummedUp,
    /// Each gave it another priority.
    Priority,
}

impl ClashKind {
    /// It in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Edited => "edited on both sides",
            Self::HiddenThere => "hidden there, edited here",
            Self::HiddenHere => "edited there, hidden here",
            Self::SummedUp => "summed up on both sides",
            Self::Priority => "another priority on both sides",
        }
    }
}

/// Whose change of a message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// It stays as it is here.
    Ours,
    /// It becomes what it is there.
    Theirs,
}

/// What becomes of an operation of another path.
#[derive(Clone, Debug)]
pub enum Carryover {
    /// It can be done here.
    Fits(Fit),
    /// It is so here already.
    Already,
    /// It cannot be done here.
    Misfit(Refusal),
    /// What it changes was changed differently here, and nobody said whose change holds.
    Conflict(Vec<Clash>),
}

/// What an operation of another path is here.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// The commits to make, mostly one; their contents are stored.
    pub drafts: Vec<Draft>,
    /// What it changes there and is not here, by its name there.
    pub missing: Vec<EntryId>,
    /// What it takes there and what stays here, because it is pinned or waits for a result.
    pub spared: Vec<EntryId>,
}

/// The two paths, each as it is before the operation.
#[derive(Clone, Copy)]
pub struct Carry<'a> {
    /// The other path.
    pub there: &'a Order,
    /// This path.
    pub here: &'a Order,
    /// What plans need to know of it, each entry by itself. For a hide the parts of its visible messages; for
    /// a restore, a priority, or a hide or an edit of what is hidden here the calls and results of hidden ones.
    pub input: &'a PlanInput,
    /// What stands for what.
    pub counterparts: &'a Counterparts,
}

impl Carry<'_> {
    /// What the operation of the commit `hash` of the other path is here; `settle` says whose change of a
    /// message holds that both paths changed, if that is known.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] where it names what is not on the other path.
    pub fn operation(
        &self,
        hash: &CommitHash,
        operation: &Operation,
        settle: &dyn Fn(&Clash) -> Option<Whose>,
    ) -> Result<Carryover> {
        let mut settling = Settling::by(settle);
        let fit = match operation {
            Operation::Append { .. } => match self.counterpart(&EntryId::of(*hash))? {
                Some(_) => Ok(None),
                None => fits(operation.clone()),
            },
            Operation::Edit { target, .. } => self.edit(target, operation, &mut settling),
            Operation::Hide(hide) => self.hide(hash, hide, &mut settling),
            Operation::Restore { target, entries } => self.restore(target, entries, &mut settling),
            Operation::Annotate {
                targets,
                priority,
                reason,
            } => self.annotate(targets, *priority, reason.as_deref(), &mut settling),
        };
        Ok(match fit {
            _ if !settling.open.is_empty() => Carryover::Conflict(settling.open),
            Ok(Some(fit)) => Carryover::Fits(fit),
            Ok(None) => Carryover::Already,
            Err(Error::Refused(refusal)) => Carryover::Misfit(refusal),
            Err(other) => return Err(other),
        })
    }

    /// What stands for an entry there.
    fn counterpart(&self, id: &EntryId) -> Result<Option<OrderEntry>> {
        let here = self.counterparts.entry(self.here, id);
        here.map(|id| self.here.entry(&id)).transpose()
    }

    fn edit(
        &self,
        target: &EntryId,
        operation: &Operation,
        settling: &mut Settling<'_>,
    ) -> Result<Option<Fit>> {
        let there = self.there.entry(target)?;
        let Some(here) = self.counterpart(&there.id)? else {
            return Err(not_here([&there.id]));
        };
        let content = operation.contents()[0];
        if here.content == content {
            return Ok(None);
        }
        if here.content != there.content && settling.ours(&there, &here, ClashKind::Edited) {
            return Ok(None);
        }
        let mut fit = Fit::default();
        if self.is_hidden_here(&there, &here) {
            if settling.ours(&there, &here, ClashKind::HiddenHere) {
                return Ok(None);
            }
            if !here.hidden_by.is_empty() {
                fit.drafts = restore::restore(self.input, &[restore::Lost::Entry(here.id)])?;
            }
        }
        let target = here.id;
        let edit = Operation::Edit { target, content };
        fit.drafts.push(Draft::new(edit, Vec::new()));
        Ok(Some(fit))
    }

    fn annotate(
        &self,
        targets: &[EntryId],
        priority: Priority,
        reason: Option<&str>,
        settling: &mut Settling<'_>,
    ) -> Result<Option<Fit>> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        let mut is_here = false;
        for target in targets {
            let there = self.there.entry(target)?;
            let Some(here) = self.counterpart(&there.id)? else {
                missing.push(there.id);
                continue;
            };
            is_here = true;
            let changed = here.priority != priority && here.priority != there.priority;
            let stays = changed && settling.ours(&there, &here, ClashKind::Priority);
            if here.priority != priority && !stays {
                found.push(here.id);
            }
        }
        if !is_here {
            return Err(not_here(&missing));
        }
        if found.is_empty() {
            return Ok(None);
        }
        let draft = skip::annotate(self.input, &found, priority, reason)?;
        Ok(draft.map(|draft| Fit {
            drafts: vec![draft],
            missing,
            spared: Vec::new(),
        }))
    }

    fn restore(
        &self,
        target: &CommitHash,
        entries: &[EntryId],
        settling: &mut Settling<'_>,
    ) -> Result<Option<Fit>> {
        let ours = self.counterparts.here(target);
        if let Some((id, content)) = self.there.unedited(target) {
            let there = self.there.entry(&id)?;
            let Some(here) = self.counterpart(&id)? else {
                return Err(not_here([&id]));
            };
            if here.content == content {
                return Ok(None);
            }
            if self.here.unedited(&ours).is_none() {
                return Err(undoes(target));
            }
            if here.content != there.content && settling.ours(&there, &here, ClashKind::Edited) {
                return Ok(None);
            }
            let entries = Vec::new();
            let target = ours;
            return fits(Operation::Restore { target, entries });
        }
        let named: Vec<EntryId> = match entries {
            [] => self.there.covered_by(target),
            entries => {
                let named = entries.iter().map(|id| self.there.entry(id));
                named.map(|entry| Ok(entry?.id)).collect::<Result<_>>()?
            }
        };
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for id in named {
            match self.counterpart(&id)? {
                Some(here) => found.push(here),
                None => missing.push(id),
            }
        }
        let covered: HashSet<EntryId> = self.here.covered_by(&ours).into_iter().collect();
        if !self.here.is_active(&ours) {
            let is_back = |here: &OrderEntry| here.visible;
            let was_here = !found.is_empty() && found.iter().all(is_back);
            return if was_here || self.here.kind_of(&ours).is_some() {
                Ok(None)
            } else {
                Err(undoes(target))
            };
        }
        let drafts = if entries.is_empty() {
            restore::restore(self.input, &[restore::Lost::Whole(ours)])?
        } else {
            found.retain(|here| covered.contains(&here.id));
            let found: Vec<EntryId> = found.iter().map(|here| here.id).collect();
            restore::partly(self.input, &ours, &found)?
        };
        Ok((!drafts.is_empty()).then_some(Fit {
            drafts,
            missing,
            spared: Vec::new(),
        }))
    }

    fn hide(
        &self,
        hash: &CommitHash,
        hide: &Hide,
        settling: &mut Settling<'_>,
    ) -> Result<Option<Fit>> {
        if self.here.is_active(&self.counterparts.here(hash)) {
            return Ok(None);
        }
        let mut taking = Taking::new(self);
        let moves = self.moves();
        let relocates = hide.is_move();
        let sums_up = hide.kind == HideKind::Compaction || relocates;
        let (mut meant, mut missing, mut is_hidden) = (0, Vec::new(), true);
        for id in self.there.covered(hide)? {
            let there = self.there.entry(&id)?;
            let counts = there.visible || relocates;
            meant += usize::from(counts);
            let Some(here) = self.counterpart(&id)? else {
                missing.extend(counts.then_some(id));
                continue;
            };
            let at = taking.places[&here.id];
            is_hidden &= !(relocates || counts && here.visible);
            let clash = if counts && here.content != there.content {
                Some(ClashKind::HiddenThere)
            } else if there.visible && sums_up && self.is_summed_up(&here) {
                Some(ClashKind::SummedUp)
            } else {
                None
            };
            if clash.is_some_and(|kind| settling.ours(&there, &here, kind)) {
                taking.keep(at);
                continue;
            }
            if here.priority == Priority::Pinned && there.priority != Priority::Pinned {
                taking.keep(at);
            } else {
                is_hidden &= !counts || self.is_hidden_alike(hide.kind, &here, &moves);
            }
            taking.wanted.insert(at);
        }
        for part in &hide.parts {
            let there = self.there.entry(&part.entry)?;
            meant += 1;
            let Some(here) = self.counterpart(&there.id)? else {
                missing.push(there.id);
                continue;
            };
            if here.content != there.content && settling.ours(&there, &here, ClashKind::HiddenThere)
            {
                continue;
            }
            let at = taking.places[&here.id];
            // A stub for a part that is gone here would show it again, without its call.
            let gone = MaskedPart {
                stub: None,
                ..part.into()
            };
            if [part.into(), gone]
                .iter()
                .any(|hidden| here.mask.parts().contains(hidden))
            {
                continue;
            }
            if here.priority == Priority::Pinned && there.priority != Priority::Pinned {
                taking.keep(at);
                continue;
            }
            is_hidden = false;
            taking.parts.insert((at, part.part as usize), part.stub);
        }
        if !settling.open.is_empty() {
            return Ok(None);
        }
        if meant > 0 && missing.len() == meant {
            return Err(not_here(&missing));
        }
        if sums_up && !missing.is_empty() {
            let commits = shorts(&missing);
            return Err(Error::Refused(Refusal::SumsUpMore { commits }));
        }
        if meant > 0 && is_hidden {
            return Ok(None);
        }
        taking.settle();
        if meant > 0 && taking.chosen.is_empty() && taking.parts.is_empty() {
            return taking
                .refusal()
                .map_or(Ok(None), |why| Err(Error::Refused(why)));
        }
        let (intervals, keep) = self.input.intervals(&taking.chosen);
        let id = |at: usize| self.input.order[at].entry.id;
        let part = |(&(at, part), stub): (&(usize, usize), &Option<_>)| PartHide {
            entry: id(at),
            part: part as u32,
            stub: *stub,
        };
        let splits = self.input.splits(&taking.chosen);
        let place = |replacement: &Replacement| {
            let before = self.place(replacement.before.as_ref(), &taking.places)?;
            let apart = |at: usize| splits(at) || self.input.order[at].attached;
            let before = before.map(|at| (0..=at).rev().find(|at| !apart(*at)).unwrap_or(at));
            Ok(Replacement {
                before: before.map(id),
                ..*replacement
            })
        };
        let carried = Hide {
            kind: hide.kind,
            intervals,
            keep,
            parts: taking.parts.iter().map(part).collect(),
            replacements: hide.replacements.iter().map(place).collect::<Result<_>>()?,
        };
        Ok(Some(Fit {
            drafts: vec![Draft::new(Operation::Hide(carried), Vec::new())],
            missing,
            spared: taking.spared().into_iter().map(id).collect(),
        }))
    }

    /// The moves here: each shows in another place what it hides.
    fn moves(&self) -> HashSet<CommitHash> {
        let placed = self.input.order.iter().filter_map(|one| one.entry.placed);
        let moves = placed.filter(|(_, kind)| *kind == HideKind::Drop);
        moves.map(|(hide, _)| hide).collect()
    }

    /// Whether a hide of this kind hides an entry here already. A hide of another kind can be restored by itself, and a
    /// summary stands for no other summary.
    fn is_hidden_alike(
        &self,
        kind: HideKind,
        here: &OrderEntry,
        moves: &HashSet<CommitHash>,
    ) -> bool {
        let is_alike = |hide: &CommitHash| {
            kind != HideKind::Compaction
                && self.here.kind_of(hide) == Some(kind)
                && !moves.contains(hide)
        };
        here.hidden_by.iter().any(is_alike)
    }

    /// Whether this path alone has hidden an entry, or parts of it, that the other shows.
    fn is_hidden_here(&self, there: &OrderEntry, here: &OrderEntry) -> bool {
        let is_own = |hide: &CommitHash| !self.is_shared(hide);
        let mut parts = here.parts_hidden_by.iter().map(|(hide, _)| hide);
        let by_part = here.mask != there.mask && parts.any(is_own);
        there.visible && (by_part || here.hidden_by.iter().any(is_own))
    }

    /// Whether a summary of its own stands for an entry here.
    fn is_summed_up(&self, here: &OrderEntry) -> bool {
        let sums_up = |hide| self.here.kind_of(hide) == Some(HideKind::Compaction);
        let mut hides = here.hidden_by.iter();
        hides.any(|hide| !self.is_shared(hide) && sums_up(hide))
    }

    /// Whether a hide here, or that for which it stands, is on the other path.
    fn is_shared(&self, hide: &CommitHash) -> bool {
        self.there.kind_of(&self.counterparts.there(hide)).is_some()
    }

    /// Before which place something stands that stands before `before` there: before the next entry that is
    /// here as well; else behind the last one that is, and at the end only where nothing follows that.
    fn place(
        &self,
        before: Option<&EntryId>,
        places: &HashMap<EntryId, usize>,
    ) -> Result<Option<usize>> {
        let names: Vec<EntryId> = self.there.names().collect();
        let at = match before {
            Some(before) => {
                let before = self.there.entry(before)?.id;
                names.iter().position(|name| *name == before)
            }
            None => None,
        };
        let at = at.unwrap_or(names.len());
        let here = |name: &EntryId| {
            let id = self.counterparts.entry(self.here, name)?;
            places.get(&id).copied()
        };
        if let Some(next) = names[at..].iter().find_map(here) {
            return Ok(Some(next));
        }
        let last = names[..at].iter().rev().find_map(here);
        let behind = last.map(|last| last + 1);
        Ok(behind.filter(|at| *at < self.input.order.len()))
    }
}

/// One commit as it is.
fn fits(operation: Operation) -> Result<Option<Fit>> {
    Ok(Some(Fit {
        drafts: vec![Draft::new(operation, Vec::new())],
        ..Fit::default()
    }))
}

fn shorts<'a>(entries: impl IntoIterator<Item = &'a EntryId>) -> Vec<String> {
    let shorts = entries.into_iter().map(|id| id.commit.short());
    shorts.collect()
}

fn not_here<'a>(entries: impl IntoIterator<Item = &'a EntryId>) -> Error {
    let commits = shorts(entries);
    Error::Refused(Refusal::NotHere { commits })
}

fn undoes(target: &CommitHash) -> Error {
    let commit = target.short();
    Error::Refused(Refusal::UndoesElsewhere { commit })
}

/// What is said of clashes, and those of which nothing is said.
struct Settling<'a> {
    by: &'a dyn Fn(&Clash) -> Option<Whose>,
    open: Vec<Clash>,
}

impl<'a> Settling<'a> {
    fn by(by: &'a dyn Fn(&Clash) -> Option<Whose>) -> Self {
        let open = Vec::new();
        Self { by, open }
    }

    /// Whether a message stays as it is here; what nobody has settled is kept in mind.
    fn ours(&mut self, there: &OrderEntry, here: &OrderEntry, kind: ClashKind) -> bool {
        let (there, here) = (there.id, here.id);
        let clash = Clash { there, here, kind };
        match (self.by)(&clash) {
            Some(whose) => whose == Whose::Ours,
            None => {
                self.open.push(clash);
                true
            }
        }
    }
}
