//! The operations of one command: an import is one for each file, `run` is one for each run, and an undo takes all of
//! them back.
//!
//! Those of an import have the command's time, and their words begin with the same: `import logs: logs/one.jsonl`. Those
//! of runs have the same words, and stand together.

use super::{OperationEntry, Own, State, is_elsewhere, reverse_as};
use crate::error::Result;
use crate::model::Millis;
use crate::repo::load;
use crate::store::{OperationRow, ReflogRow, Reversal, Tx, View};

/// An operation with its moves.
type Done = (OperationRow, Vec<ReflogRow>);

/// What the words of an operation begin with that came with others: `import logs`.
pub fn same_command(what: &str) -> &str {
    what.split_once(": ").map_or(what, |(command, _)| command)
}

/// Whether these are the words of an undo of several operations, without what each was.
pub(super) fn is_of_many(words: &str) -> bool {
    let numbers = words.strip_prefix("undo ");
    numbers.is_some_and(|numbers| numbers.contains(".."))
}

/// The earlier operations of the command that did this one, those that are not undone, newest first.
pub(super) fn others(view: &dyn View, last: &OperationRow) -> Result<Vec<Done>> {
    let command = same_command(&last.what);
    let is_run = command.starts_with("run ");
    if !is_run && !command.starts_with("import ") {
        return Ok(Vec::new());
    }
    let (mut state, own) = (State::default(), Own::of(view)?);
    let mut found = Vec::new();
    for operation in load::operations(view, None) {
        let operation = operation?;
        let undone = state.see(&operation);
        if operation.id >= last.id {
            continue;
        }
        if operation.time < last.time && !is_run {
            break;
        }
        if undone
            || operation.reversal != Reversal::None
            || is_elsewhere(own.as_ref(), view, &operation)?
        {
            continue;
        }
        let is_of_it = match is_run {
            true => operation.what == last.what,
            false => same_command(&operation.what) == command && operation.time == last.time,
        };
        match is_of_it {
            false if is_run => break,
            false => continue,
            true => {}
        }
        let moves = view.moves(operation.id)?;
        if !moves.is_empty() {
            found.push((operation, moves));
        }
    }
    Ok(found)
}

/// The newest operation of a command, with all that the command moved.
pub(super) fn as_one((operation, moves): Done, others: Vec<Done>) -> OperationEntry {
    let also = others.iter().map(|(other, _)| other.id).collect();
    let earlier = others.into_iter().rev().flat_map(|(_, moves)| moves);
    OperationEntry {
        operation,
        moves: earlier.chain(moves).collect(),
        undone: true,
        also,
    }
}

/// The operations of a command that were done again, oldest first, as one.
pub(super) fn again(mut redone: Vec<OperationEntry>) -> Option<OperationEntry> {
    let last = redone.pop()?;
    let others = redone.into_iter().rev();
    let others = others.map(|one| (one.operation, one.moves)).collect();
    let one = as_one((last.operation, last.moves), others);
    Some(OperationEntry {
        undone: false,
        ..one
    })
}

/// Takes the operations of a command back, newest first.
pub(super) fn reverse_all(
    tx: &dyn Tx,
    last: Done,
    others: Vec<Done>,
    now: Millis,
) -> Result<OperationEntry> {
    let first = others.last().map_or(last.0.id, |(first, _)| first.id);
    let words = format!("undo {first}..{}", last.0.id);
    for done in std::iter::once(&last).chain(&others) {
        let one = as_one(done.clone(), Vec::new());
        reverse_as(tx, &one, &format!("{words}: {}", one.operation.what), now)?;
    }
    Ok(as_one(last, others))
}
