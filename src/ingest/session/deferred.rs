//! Hides that the source tells no time of: they are deferred until what is here, or a guess, places
//! them.

use std::borrow::Cow;

use super::{HideStep, Mode, Session, Step, same_append};
use crate::error::Result;
use crate::formats::{Action, Moment, StepId};
use crate::model::EntryId;
use crate::store::Tx;

/// A hide whose time has not come.
pub(super) struct Deferred {
    id: StepId,
    step: Step,
    /// How many more messages it waits for, if nothing is known of it.
    messages: usize,
}

impl Session<'_> {
    /// Commits a step, or defers it until its time.
    pub(super) fn take(&mut self, tx: &dyn Tx, step: Step) -> Result<()> {
        if let Action::Hide(HideStep {
            moment: Moment::Since(messages),
            ..
        }) = step.action
        {
            let id = self.number();
            self.deferred.push_back(Deferred { id, step, messages });
            return Ok(());
        }
        let message = matches!(step.action, Action::Append(_)).then_some(&step);
        self.let_go(tx, message)?;
        let id = self.number();
        for deferred in &mut self.deferred {
            deferred.messages = deferred.messages.saturating_sub(1);
        }
        self.commit(tx, id, step)
    }

    fn next_id(&self) -> StepId {
        StepId(self.made.len())
    }

    fn number(&mut self) -> StepId {
        let id = self.next_id();
        self.made.push(None);
        id
    }

    /// Commits the deferred hides whose time has come before the message `next`; all if there is
    /// none.
    ///
    /// What is here already decides: a hide that was made here stays where it is, and one that is
    /// new comes after the messages that are here.
    pub(super) fn let_go(&mut self, tx: &dyn Tx, next: Option<&Step>) -> Result<()> {
        while let Some(first) = self.deferred.front() {
            let due = match next {
                Some(next) => first.messages == 0 && !self.is_here(tx, self.next_id(), next)?,
                None => true,
            };
            let chosen = match self.deferred_here(tx)? {
                Some(known) => known,
                None if due => 0,
                None => break,
            };
            if let Some(Deferred { id, step, .. }) = self.deferred.remove(chosen) {
                self.commit(tx, id, step)?;
            }
        }
        Ok(())
    }

    /// The first of the deferred hides that was made at this place before.
    fn deferred_here(&self, tx: &dyn Tx) -> Result<Option<usize>> {
        for (index, deferred) in self.deferred.iter().enumerate() {
            if self.is_here(tx, deferred.id, &deferred.step)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Whether the commit that a step would make now was made before.
    fn is_here(&self, tx: &dyn Tx, id: StepId, step: &Step) -> Result<bool> {
        let tip = self.at.chain.tip();
        let after = (tip.as_ref(), self.at.beside);
        let (step, _) = self.told(tx, after, Cow::Borrowed(step))?;
        if matches!(self.mode, Mode::Copy) && same_append(tx, tip.as_ref(), &step)?.is_some() {
            return Ok(true);
        }
        // A hide that names what still waits itself cannot have been made yet.
        let Ok(draft) = self.draft(id, &step) else {
            return Ok(false);
        };
        let hash = self.at.chain.commit_of(&draft, step.time).hash();
        Ok(tx.commit(&hash)?.is_some())
    }

    /// The first entry that a later step has put into the order already.
    pub(super) fn first_after(&self, StepId(id): StepId) -> Option<EntryId> {
        let later = self.made.iter().skip(id + 1).flatten();
        later.filter_map(|made| made.entry).next()
    }
}
