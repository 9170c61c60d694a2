//! Undo to a point: all operations back to there, in one step.
//!
//! Each is reversed by an operation of its own, so that the log says of each whether it is undone; their
//! words are the same, and by these one redo takes all of them back.

use super::{OperationEntry, Own, State, is_elsewhere, is_forgotten, is_unattended, reverse_as};
use crate::error::{Error, Result};
use crate::history::load;
use crate::history::repo::Repo;
use crate::model::Millis;
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
            Self::Before(time) => format!("{UNDO_TO} {}", time.0),
        }
    }
}

/// With what the words of an undo to a point begin.
pub(super) const UNDO_TO: &str = "undo to";

impl Repo {
    /// Reverses all operations that are not undone back to a point, newest first, all or none; what moved
    /// nothing here is passed over. One [`Repo::redo`] does them again. In a dry run nothing is reversed.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToUndo`]; [`Error::UnknownOperation`] and [`Error::NotUndoable`] for an operation to which there
    /// is no way back; [`Error::Purged`]; [`Error::OperationSuperseded`].
    ///
    /// ```
    /// use tract::history::{Call, CommitOptions, On, Repo, UndoPoint};
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// for text in ["one", "two", "three"] {
    ///     let draft = Draft::append(Message::text(Role::User, text));
    ///     repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// }
    /// let three = repo.head(&On::Head)?;
    /// let undone = repo.undo_to(UndoPoint::After(1), false, Millis(1))?;
    /// assert_eq!(undone.len(), 2);
    /// assert_eq!(repo.redo(Millis(2))?.len(), 2);
    /// assert_eq!(repo.head(&On::Head)?, three);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn undo_to(
        &self,
        point: UndoPoint,
        dry_run: bool,
        now: Millis,
    ) -> Result<Vec<OperationEntry>> {
        let tx = self.store.write()?;
        if let UndoPoint::After(id) = point {
            refuse_way_back(&*tx, id)?;
        }
        let undone = done_since(&*tx, point)?;
        if undone.is_empty() {
            return Err(Error::NothingToUndo);
        }
        let words = point.words();
        for one in &undone {
            let what = format!("{words}: {}", one.operation.what);
            reverse_as(&*tx, one, &what, now)?;
        }
        if !dry_run {
            tx.commit()?;
        }
        Ok(undone)
    }
}

/// Refuses an operation to right after which no undo leads.
fn refuse_way_back(view: &dyn View, id: u64) -> Result<()> {
    let mut state = State::default();
    for operation in load::operations(view, None) {
        let operation = operation?;
        let undone = state.see(&operation);
        if operation.id > id {
            continue;
        }
        if operation.id < id {
            break;
        }
        let refuse = |reason| Err(Error::NotUndoable { id, reason });
        return match operation.reversal {
            Reversal::None if undone => refuse("it is undone already"),
            Reversal::None => Ok(()),
            _ => refuse("it is an undo or a redo itself"),
        };
    }
    Err(Error::UnknownOperation { id })
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
        if undone || operation.reversal != Reversal::None || is_unattended(&operation) {
            continue;
        }
        let moves = view.moves(operation.id)?;
        if !moves.is_empty() {
            found.push(OperationEntry {
                operation,
                moves,
                undone: true,
            });
        }
    }
    Ok(found)
}
