//! A ref that is moved while others write: it is moved from where it was seen, or not at all.

use super::columns::Parameter;
use super::session::Session;
use super::turn::{Turn, lock_name};
use crate::error::{Error, Result};
use crate::model::{Author, RefName, RefValue};
use crate::store::Refs;
use crate::store::lineage::Lineages;
use crate::store::refs::kept;

/// What moves the ref `$1` from `$2`, `$3` to `$4`, `$5`, and tells its name if it was there.
const MOVED: &str = "UPDATE refs SET target = $4, symbolic = $5 WHERE name = $1
     AND target IS NOT DISTINCT FROM $2 AND symbolic IS NOT DISTINCT FROM $3 RETURNING name";
/// The same of one that held nothing, and of one that is to hold nothing.
const MADE: &str = "INSERT INTO refs (name, target, symbolic) VALUES ($1, $4, $5) RETURNING name";
const GONE: &str = "DELETE FROM refs WHERE name = $1
     AND target IS NOT DISTINCT FROM $2 AND symbolic IS NOT DISTINCT FROM $3 RETURNING name";

impl Session<'_> {
    /// Moves a ref from where it was seen, and logs it under the operation that comes with that. One that is elsewhere by
    /// now has no name for the log, which takes no move without.
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
        if !name.is_position() && self.branch.borrow().as_ref() != Some(name) {
            // HEAD is elsewhere than it seemed in the beginning.
            self.ask_later(lock_name(name, self.store.schema)?)?;
        }
        let (old_target, old_symbolic) = self.held(old.as_ref())?;
        let (target, symbolic) = self.held(new)?;
        let moved = match (&old, new) {
            (None, _) => MADE,
            (Some(_), None) => GONE,
            (Some(_), Some(_)) => MOVED,
        };
        let values: [&dyn Parameter; 5] = [name, &old_target, &old_symbolic, &target, &symbolic];
        let logged = "INSERT INTO reflog
                 (id, operation, name, old_target, old_symbolic, new_target, new_symbolic)
             SELECT (numbers('reflog', 1))[1], operation, (SELECT name FROM moved), $2, $3, $4, $5 FROM made";
        let coming = self.coming.take();
        match coming {
            Some((time, what, by)) => {
                let Author {
                    name: who,
                    client,
                    run,
                } = by.clone().unwrap_or_default();
                let by = match by {
                    Some(_) => ", whose AS (
                         INSERT INTO authors (operation, name, client, run) SELECT operation, $8, $9, $10 FROM made)",
                    None => "",
                };
                let sql = format!(
                    "WITH made AS (
                         INSERT INTO operations (id, time, what) VALUES ((numbers('operations', 1))[1], $6, $7)
                         RETURNING id AS operation
                     ){by}, moved AS ({moved}) {logged}"
                );
                let who: [&dyn Parameter; 3] = [&who, &client, &run];
                let of: [&dyn Parameter; 2] = [&time.0, &what];
                let all = [
                    &values[..],
                    &of[..],
                    if by.is_empty() { &[] } else { &who[..] },
                ]
                .concat();
                self.execute(&sql, &all)?;
                self.came_with.replace(Some(name.clone()));
            }
            None => {
                let first = self.came_with.borrow().clone();
                let sql = format!(
                    "WITH made AS (
                         SELECT operation FROM reflog WHERE name = $6 ORDER BY id DESC LIMIT 1
                     ), moved AS ({moved}) {logged}"
                );
                let of: [&dyn Parameter; 1] = [&first];
                self.execute(&sql, &[&values[..], &of[..]].concat())?;
            }
        }
        self.store.ledger.moved(seen, new);
        Ok(())
    }
}
