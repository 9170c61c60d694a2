//! A ref that is moved while others write: it is moved from where it was seen, or not at all.

use std::collections::HashMap;

use super::columns::{get, keys};
use super::session::Session;
use super::turn::{Turn, lock_name};
use crate::error::{Error, Result};
use crate::model::{RefName, RefValue};
use crate::store::lineage::Lineages;
use crate::store::refs::kept;
use crate::store::{Refs, rows};

impl Session<'_> {
    /// Takes the lock of a name, where others write and this transaction does not have it from the beginning: HEAD is
    /// elsewhere than it seemed then, or several refs are moved.
    pub(super) fn lock_beside(&self, name: &RefName) -> Result<()> {
        if self.turn == Turn::Alone || self.branch.borrow().as_ref() == Some(name) {
            return Ok(());
        }
        self.ask_later(lock_name(name, self.store.schema)?)
    }

    /// Takes note of a ref that was read, where others may move it.
    pub(super) fn has_read(&self, name: &RefName, held: Option<&RefValue>) {
        if self.turn == Turn::OnBranch && !name.is_position() {
            let mut read = self.read_refs.borrow_mut();
            read.entry(name.clone()).or_insert_with(|| held.cloned());
        }
    }

    /// Takes the locks of what was read, and looks whether it is as it was.
    pub(super) fn hold_read_refs(&self) -> Result<()> {
        let read = self.read_refs.take();
        if read.is_empty() {
            return Ok(());
        }
        for name in read.keys() {
            self.lock_beside(name)?;
        }
        let names: Vec<RefName> = read.keys().cloned().collect();
        let sql = "SELECT target, hash, symbolic, name
             FROM refs LEFT JOIN commits ON commits.id = target WHERE name = ANY ($1)";
        let here = self.all(sql, &[&keys(&names)], |row| {
            Ok((get(row, 3)?, rows::value(row, 0)?))
        })?;
        let here: HashMap<RefName, Option<RefValue>> = here.into_iter().collect();
        let is_as_it_was = |(name, was): (&RefName, &Option<RefValue>)| {
            here.get(name).and_then(Option::as_ref) == was.as_ref()
        };
        if read.iter().all(is_as_it_was) {
            Ok(())
        } else {
            Err(Error::overtaken("the repository"))
        }
    }

    /// Moves a ref from where it was seen, and logs it under the operation that comes with that. Where it is elsewhere by
    /// now, all of the transaction is overtaken.
    pub(super) fn move_beside(&self, seen: &RefName, new: Option<&RefValue>) -> Result<()> {
        let is_first = self.coming.borrow().is_some();
        if self.turn == Turn::Aside || !(is_first || self.came_with.borrow().is_some()) {
            return Err(Error::store("no operation is open to log the move under"));
        }
        let old = self.reference(seen)?;
        if old.as_ref() == new {
            return Ok(());
        }
        let name = kept(self.seat(), seen);
        self.ahead.forget_reference(name);
        if !name.is_position() {
            self.lock_beside(name)?;
        }
        let (old_target, old_symbolic) = self.held(old.as_ref())?;
        let (target, symbolic) = self.held(new)?;
        // Its operation comes with the first move, so that nothing comes between its number and the end.
        let coming = self.coming.take();
        if coming.is_some() {
            self.came_with.replace(Some(name.clone()));
        }
        let came_with = self.came_with.borrow().clone();
        let (time, what, by) = match coming {
            Some((time, what, by)) => (Some(time.0), Some(what), by),
            None => (None, None, None),
        };
        let is_by = by.is_some();
        let by = by.unwrap_or_default();
        self.execute(
            "SELECT move_ref($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            &[
                name,
                &old_target,
                &old_symbolic,
                &target,
                &symbolic,
                &time,
                &what,
                &is_by,
                &by.name,
                &by.client,
                &by.run,
                &came_with,
            ],
        )?;
        self.store.ledger.moved(seen, new);
        Ok(())
    }
}
