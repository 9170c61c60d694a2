//! Undo to a point: all operations back to there, in one step.
//!
//! Each is reversed by an operation of its own, so that the log says of each whether it is undone; their
//! words are the same, and by these one redo takes all of them back.

use std::collections::HashSet;

use super::{
    OperationEntry, Own, State, is_capture, is_elsewhere, is_forgotten, is_of_remotes, reverse_as,
};
use crate::error::{Error, Result};
use crate::model::Millis;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{OperationRow, Reversal, View};

/// How far back an undo goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoPoint {
    /// To right after this operation, which stays.
    After(u64),
    /// To before the first operation at this time or later.
    Before(Millis),
}

impl UndoPoint {
    /// Whether an operation goes.
    fn takes(self, operation: &OperationRow) -> bool {
        match self {
            Self::After(id) => operation.id > id,
            Self::Before(time) => operation.time >= time,
        }
    }

    /// How the log calls an undo to here: all that it reverses has the same words.
    fn words(self) -> String {
        match self {
            Self::After(id) => format!("{UNDO_TO} #{id}"),
            Self::Before(time) => format!("{UNDO_TO} {}", time.to_iso()),
        }
    }
}

/// An undo to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoTo {
    /// How far back.
    pub point: UndoPoint,
    /// What was taken in goes as well: imports, recordings, what a hook or a watch brought.
    pub captured: bool,
    /// Nothing is reversed.
    pub dry_run: bool,
}

impl UndoTo {
    /// Back to a point, what was taken in stays.
    pub const fn point(point: UndoPoint) -> Self {
        Self {
            point,
            captured: false,
            dry_run: false,
        }
    }
}

/// What an undo to a point reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneTo {
    /// The operations: those that were reversed, newest first, then those that were done again, oldest first.
    pub operations: Vec<OperationEntry>,
    /// How many stay, for they only took something in.
    pub captures: u64,
    /// In a dry run, whether a redo would be refused then, for a purge came between.
    pub is_final: bool,
}

/// With what the words of an undo to a point begin.
pub(super) const UNDO_TO: &str = "undo to";

impl Repo {
    /// Goes back to a point, all or nothing: reverses the operations since that are not undone, newest first, and does
    /// again the earlier ones that were undone since. What moved nothing here is passed over, and so is what only took
    /// something in, unless that is asked for. One [`Repo::redo`] takes all of it back. In a dry run nothing is changed.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToUndo`]; [`Error::UnknownOperation`]; [`Error::Purged`]; [`Error::OperationSuperseded`].
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo, UndoPoint, UndoTo};
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// for text in ["one", "two", "three"] {
    ///     let draft = Draft::append(Message::text(Role::User, text));
    ///     repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// }
    /// let three = repo.head(&On::Head)?;
    /// let undone = repo.undo_to(UndoTo::point(UndoPoint::After(1)), Millis(1))?;
    /// assert_eq!((undone.operations.len(), undone.captures), (2, 0));
    /// assert_eq!(repo.redo(Millis(2))?.len(), 2);
    /// assert_eq!(repo.head(&On::Head)?, three);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn undo_to(&self, undo: UndoTo, now: Millis) -> Result<UndoneTo> {
        let tx = self.store.write()?;
        if let UndoPoint::After(id) = undo.point {
            super::operation(&*tx, id)?;
        }
        let mut operations = done_since(&*tx, undo.point)?;
        operations.extend(undone_since(&*tx, undo.point)?);
        let all = operations.len();
        operations.retain(|one| undo.captured || !is_capture(&one.operation));
        if operations.is_empty() {
            return Err(Error::NothingToUndo);
        }
        let captures = (all - operations.len()) as u64;
        let words = undo.point.words();
        for one in &operations {
            let what = format!("{words}: {}", one.operation.what);
            reverse_as(&*tx, one, &what, now)?;
        }
        let is_final = undo.dry_run && super::is_final(&*tx, now);
        if !undo.dry_run {
            tx.commit()?;
        }
        Ok(UndoneTo {
            operations,
            captures,
            is_final,
        })
    }
}

/// The operations back to a point that moved something and are not undone, newest first.
pub(super) fn done_since(view: &dyn View, point: UndoPoint) -> Result<Vec<OperationEntry>> {
    let (mut state, own) = (State::default(), Own::of(view)?);
    let mut found = Vec::new();
    for operation in load::operations(view, None) {
        let operation = operation?;
        if !point.takes(&operation) || is_forgotten(view, operation.id)? {
            break;
        }
        let undone = state.see(&operation);
        if is_elsewhere(own.as_ref(), view, &operation)? {
            continue;
        }
        if undone || operation.reversal != Reversal::None || is_of_remotes(&operation) {
            continue;
        }
        let moves = view.moves(operation.id)?;
        if !moves.is_empty() {
            found.push(OperationEntry {
                operation,
                moves,
                undone: true,
                also: Vec::new(),
            });
        }
    }
    Ok(found)
}

/// The operations from before a point that were reversed since, and are not now what they were then: those that are to be
/// undone once more, newest first, then those that are to be done again, oldest first.
fn undone_since(view: &dyn View, point: UndoPoint) -> Result<Vec<OperationEntry>> {
    let (mut now, mut then, own) = (State::default(), State::default(), Own::of(view)?);
    let (mut undo, mut again) = (Vec::new(), Vec::new());
    let mut reversed: HashSet<u64> = HashSet::new();
    let mut is_since = true;
    for operation in load::operations(view, None) {
        let operation = operation?;
        is_since &= point.takes(&operation);
        if is_forgotten(view, operation.id)? || (!is_since && reversed.is_empty()) {
            break;
        }
        let is_undone = now.see(&operation);
        let was_undone = !is_since && then.see(&operation);
        match operation.reversal {
            Reversal::Undo(id) | Reversal::Redo(id) => {
                if is_since && !is_elsewhere(own.as_ref(), view, &operation)? {
                    reversed.insert(id);
                }
                continue;
            }
            Reversal::None => {}
        }
        if reversed.remove(&operation.id) && !is_since && is_undone != was_undone {
            let moves = view.moves(operation.id)?;
            let entry = OperationEntry {
                operation,
                moves,
                undone: was_undone,
                also: Vec::new(),
            };
            if was_undone {
                undo.push(entry)
            } else {
                again.push(entry)
            }
        }
    }
    again.reverse();
    undo.append(&mut again);
    Ok(undo)
}
