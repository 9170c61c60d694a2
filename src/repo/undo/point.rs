//! Undo to a point: all operations back to there, in one step.
//!
//! Each is reversed by an operation of its own, so that the log says of each whether it is undone; their
//! words are the same, and by these one redo takes all of them back.

use super::{OperationEntry, Own, State, is_capture, is_elsewhere, is_forgotten, reverse_as};
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
    /// The operations, newest first.
    pub operations: Vec<OperationEntry>,
    /// How many stay, for they only took something in.
    pub captures: u64,
}

/// With what the words of an undo to a point begin.
pub(super) const UNDO_TO: &str = "undo to";

impl Repo {
    /// Reverses all operations that are not undone back to a point, newest first, all or none; what moved
    /// nothing here is passed over, and so is what only took something in, unless that is asked for. One [`Repo::redo`]
    /// does them again. In a dry run nothing is reversed.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToUndo`]; [`Error::UnknownOperation`] and [`Error::NotUndoable`] for an operation to which there
    /// is no way back; [`Error::Purged`]; [`Error::OperationSuperseded`].
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
            refuse_way_back(&*tx, id)?;
        }
        let mut operations = done_since(&*tx, undo.point)?;
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
        if !undo.dry_run {
            tx.commit()?;
        }
        Ok(UndoneTo {
            operations,
            captures,
        })
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
        if undone || operation.reversal != Reversal::None {
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
