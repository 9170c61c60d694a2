//! A session that an earlier version has brought in: what that version read otherwise, or not at all,
//! stays as it was there, so that nothing comes in twice; what the file has beyond that is read as it
//! is now.
//!
//! Which version it was is written nowhere. It is seen: of what an earlier version did not read, the
//! session's own path holds nothing, and goes on with what comes next in the file.

use std::borrow::Cow;
use std::collections::HashMap;

use super::own::refs_of;
use super::{Session, Sharing, Step, same_append};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::load;
use crate::interop::{Action, StepId, Was};
use crate::model::{Commit, Hide, Message, Operation, Part, Sealed};
use crate::store::{CommitRow, Tx, View};

/// The commits that a session's own refs led to before this import, by what they come after.
pub(super) struct Known(HashMap<Option<CommitHash>, Vec<Commit>>);

impl Known {
    fn of(view: &dyn View, tool: &str, id: &str) -> Result<Self> {
        let mut after: HashMap<_, Vec<Commit>> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        for (name, tip) in refs_of(view, tool, id)?.0 {
            let below = load::tips(view, &format!("{name}/"))?;
            for tip in std::iter::once(tip).chain(below.into_iter().map(|(_, tip)| tip)) {
                for row in view.ancestors(&tip, None, usize::MAX)? {
                    if !seen.insert(row.hash) {
                        break;
                    }
                    after.entry(row.commit.parent).or_default().push(row.commit);
                }
            }
        }
        Ok(Self(after))
    }

    /// These commits alone.
    pub(super) fn of_rows(rows: &[CommitRow]) -> Self {
        let mut after: HashMap<_, Vec<Commit>> = HashMap::new();
        for row in rows {
            let next = after.entry(row.commit.parent).or_default();
            next.push(row.commit.clone());
        }
        Self(after)
    }
}

/// A step that an earlier version left out of its place, until it is known whether one did so here.
pub(super) struct Waiting {
    id: StepId,
    step: Step,
}

impl Session<'_> {
    /// Commits a step as it is, or as it was read before where that is here.
    pub(super) fn settle_form(&mut self, tx: &dyn Tx, id: StepId, mut step: Step) -> Result<()> {
        let Some(was) = step.was.take() else {
            if !self.waiting.is_empty() {
                let here = self.is_known(tx, &step)?;
                self.end_waiting(tx, here)?;
            }
            return self.commit(tx, id, step);
        };
        // What was left behind is known, on that way; it waits for what comes after it here.
        if was != Was::LeftBehind && self.is_known(tx, &step)? {
            self.end_waiting(tx, true)?;
            return self.commit(tx, id, step);
        }
        match was {
            Was::Message(message) => {
                let (now, before) = match step.action {
                    Action::Append(now) => (Some(now), message),
                    action => {
                        step.action = action;
                        return self.commit(tx, id, step);
                    }
                };
                step.action = Action::Append(before);
                if self.is_known(tx, &step)? {
                    self.end_waiting(tx, true)?;
                    if let (Some(now), Action::Append(before)) = (&now, &step.action) {
                        self.note_parts(id, now, before);
                    }
                    return self.commit(tx, id, step);
                }
                if let Some(now) = now {
                    step.action = Action::Append(now);
                }
                self.end_waiting(tx, false)?;
                self.commit(tx, id, step)
            }
            Was::Nothing | Was::LeftBehind if self.may_go_on(tx)? => {
                self.waiting.push(Waiting { id, step });
                Ok(())
            }
            Was::Nothing | Was::LeftBehind => self.commit(tx, id, step),
        }
    }

    /// Commits what earlier versions read and this one doesn't, if they have brought it in.
    pub(super) fn take_former(&mut self, tx: &dyn Tx, step: Step) -> Result<()> {
        if !self.is_known(tx, &step)? {
            return Ok(());
        }
        self.end_waiting(tx, true)?;
        let id = self.number();
        self.commit(tx, id, step)?;
        // It has no number of its own.
        self.made.pop();
        Ok(())
    }

    /// Decides on the steps that wait: they were never read here, or they are new.
    pub(super) fn end_waiting(&mut self, tx: &dyn Tx, never_read: bool) -> Result<()> {
        for Waiting { id, step } in std::mem::take(&mut self.waiting) {
            match never_read {
                true => self.skip(id),
                false => self.commit(tx, id, step)?,
            }
        }
        Ok(())
    }

    /// Whether what is here already goes on after the path so far.
    fn may_go_on(&mut self, tx: &dyn Tx) -> Result<bool> {
        let tip = self.chain.tip();
        Ok(self.sharing == Sharing::Yes || self.known(tx)?.0.contains_key(&tip))
    }

    /// Whether what is here already goes on with this step.
    fn is_known(&mut self, tx: &dyn Tx, step: &Step) -> Result<bool> {
        let tip = self.chain.tip();
        let (step, _) = self.told(tx, self.beside, Cow::Borrowed(step))?;
        if self.sharing == Sharing::Yes && same_append(tx, tip.as_ref(), &step)?.is_some() {
            return Ok(true);
        }
        let Some(next) = self.known(tx)?.0.get(&tip) else {
            return Ok(false);
        };
        Ok(next
            .iter()
            .any(|commit| match (&commit.operation, &step.action) {
                (Operation::Append { content }, Action::Append(message)) => {
                    *content == message.hash() && commit.settings == step.settings
                }
                (Operation::Hide(made), Action::Hide(told)) => made.kind == told.kind,
                _ => false,
            }))
    }

    /// A hide as an earlier version made it here, where it hides and says the same: its summary may
    /// stand elsewhere, or it may name what it keeps one by one, where that is all that follows.
    pub(super) fn as_it_was(&mut self, tx: &dyn Tx, hide: &mut Hide) -> Result<()> {
        let (tip, all) = (self.chain.tip(), self.ends);
        let contents = |hide: &Hide| {
            let contents = hide.replacements.iter().map(|one| one.content);
            contents.collect::<Vec<_>>()
        };
        let next = self.known(tx)?.0.get(&tip).into_iter().flatten();
        let mut made = next.filter_map(|commit| match &commit.operation {
            Operation::Hide(made) => Some(made),
            _ => None,
        });
        let follows = hide.replacements.first().and_then(|one| one.before);
        let same = |made: &&Hide| {
            let says = made.kind == hide.kind && contents(made) == contents(hide);
            let hides = made.intervals == hide.intervals && made.keep == hide.keep;
            let names = hide.keep.is_empty()
                && made.intervals.iter().eq(&all)
                && follows.is_some()
                && made.keep.first() == follows.as_ref();
            says && made.parts == hide.parts && (hides || names)
        };
        if let Some(made) = made.find(same) {
            *hide = made.clone();
        }
        Ok(())
    }

    fn known(&mut self, tx: &dyn Tx) -> Result<&Known> {
        if self.known.is_none() {
            self.known = Some(Known::of(tx, self.tool, &self.start.id)?);
        }
        Ok(self.known.as_ref().expect("it was read"))
    }

    /// Where the results of a message stand in the form that is here: a later hide names them by
    /// their place.
    fn note_parts(&mut self, StepId(id): StepId, now: &Message, before: &Message) {
        let answers = |part: &Part| match part {
            Part::ToolResult { call, .. } => Some(call.clone()),
            _ => None,
        };
        let place = |part: &Part| {
            let call = answers(part)?;
            let mut all = before.parts.iter();
            all.position(|other| answers(other).as_ref() == Some(&call))
        };
        let places = now.parts.iter().enumerate();
        let places = places.map(|(at, part)| place(part).unwrap_or(at) as u32);
        self.moved_parts.insert(id, places.collect());
    }

    /// Where a part of what a step appended stands.
    pub(super) fn part_of(&self, StepId(id): StepId, part: u32) -> u32 {
        let places = self.moved_parts.get(&id);
        let place = places.and_then(|places| places.get(part as usize));
        place.copied().unwrap_or(part)
    }
}

/// Whether the steps lead from a root through what is here: each as it is, or as it was before.
pub(super) fn is_here(
    tx: &dyn Tx,
    tip: Option<&CommitHash>,
    step: &Step,
) -> Result<Option<Option<CommitHash>>> {
    if let Some(row) = same_append(tx, tip, step)? {
        return Ok(Some(Some(row.hash)));
    }
    match &step.was {
        None | Some(Was::LeftBehind) => Ok(None),
        Some(Was::Nothing) => Ok(Some(tip.copied())),
        Some(Was::Message(before)) => {
            let before = Step {
                action: Action::Append(Sealed::clone(before)),
                was: None,
                ..step.clone()
            };
            let row = same_append(tx, tip, &before)?;
            Ok(row.map(|row| Some(row.hash)))
        }
    }
}
