//! The operations: listed, undone, and done again.
//!
//! An undo reverses all refs that an operation moved, at once, and is an operation itself; what
//! undoes and redoes stand in the log is all the state there is.

mod command;
mod gone;
mod others;
mod point;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use gone::{Gone, refuse_purged};
use others::{moved_by, refuse_others};
use point::UNDO_TO;

use crate::error::{Error, Result};
use crate::model::{Millis, RefName, RefValue};
use crate::repo::by_branch;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::repo::seat::Own;
use crate::store::{OperationRow, ReflogRow, Reversal, Tx, View};

pub use command::same_command;
pub(crate) use gone::ended_by;
pub(crate) use others::is_elsewhere;
pub use point::{UndoPoint, UndoTo, UndoneTo};

/// How far back an undo counts as recent, in operations.
const RECENT: usize = 64;

/// A move of a ref, and the operation that made it.
pub type ReflogEntry = (ReflogRow, OperationRow);

/// An operation with what it moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationEntry {
    /// The operation.
    pub operation: OperationRow,
    /// Its moves, in order; none of an operation that changed nothing.
    pub moves: Vec<ReflogRow>,
    /// Whether it is undone now.
    pub undone: bool,
    /// The other operations of the same command, newest first: an import is one for each file. Their moves are among
    /// its own.
    pub also: Vec<u64>,
}

impl OperationEntry {
    /// What it moved, one for each ref, from its first value to its last: branches, then HEAD, then
    /// where it was.
    pub fn moved(&self) -> Vec<ReflogRow> {
        let mut moved: Vec<ReflogRow> = Vec::new();
        let mut places: HashMap<&RefName, usize> = HashMap::with_capacity(self.moves.len());
        for row in &self.moves {
            match places.entry(&row.name) {
                Entry::Occupied(known) => moved[*known.get()].new.clone_from(&row.new),
                Entry::Vacant(new) => {
                    new.insert(moved.len());
                    moved.push(row.clone());
                }
            }
        }
        moved.sort_by_key(|row| (!row.name.is_branch(), row.name != RefName::head()));
        moved
    }
}

impl Repo {
    /// The operations, newest first, at most `limit` (0: all).
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Millis, RefName, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// repo.undo(None, Millis(0))?;
    ///
    /// let operations = repo.operations(0)?;
    /// assert_eq!(operations.len(), 2);
    /// assert!(operations[1].undone);
    ///
    /// let moves = repo.reflog(&RefName::branch("main")?, 0)?;
    /// assert_eq!((&moves[0].0.old, &moves[0].0.new), (&moves[1].0.new, &None));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn operations(&self, limit: usize) -> Result<Vec<OperationEntry>> {
        let view = self.store.read()?;
        let mut state = State::default();
        let mut entries = Vec::new();
        let limit = if limit == 0 { usize::MAX } else { limit };
        for operation in view.operations(None, limit)? {
            let undone = state.see(&operation);
            let moves = view.moves(operation.id)?;
            entries.push(OperationEntry {
                operation,
                moves,
                undone,
                also: Vec::new(),
            });
        }
        Ok(entries)
    }

    /// The moves of one ref, newest first, each with its operation, at most `limit` (0: all).
    pub fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogEntry>> {
        let view = self.store.read()?;
        let limit = if limit == 0 { usize::MAX } else { limit };
        let mut rows = Vec::new();
        for row in view.reflog(name, limit)? {
            let operation = operation(&*view, row.operation)?;
            rows.push((row, operation));
        }
        Ok(rows)
    }

    /// Reverses an operation, all its refs at once: the newest that is not undone, or the one named, if its refs have
    /// not moved since. Where each has a HEAD of their own, it is the newest of one's own. With the newest go the others
    /// of the same command; one that is named goes alone.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToUndo`]; [`Error::NothingMoved`] after a resume; [`Error::UnknownOperation`];
    /// [`Error::NotYours`] for one of somebody else's on a server; [`Error::Purged`];
    /// [`Error::OperationSuperseded`] if a ref that it moved has moved since.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "one"));
    /// let call = Call::at(Millis(0), "commit");
    /// repo.commit(call, &[draft], &CommitOptions::default())?;
    /// let undone = repo.undo(None, Millis(0))?;
    /// assert_eq!(undone.operation.what, "commit");
    /// assert_eq!(repo.head(&On::Head)?.commit(), None);
    /// repo.redo(Millis(1))?;
    /// assert!(repo.head(&On::Head)?.commit().is_some());
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn undo(&self, named: Option<u64>, now: Millis) -> Result<OperationEntry> {
        let tx = self.store.write()?;
        let undone = undo(&*tx, named, now)?;
        tx.commit()?;
        Ok(undone)
    }

    /// The operation that [`Repo::undo`] would reverse, or with `anybodys` [`Repo::undo_of_anybody`], and whether a
    /// redo would be refused then, for a purge came between. Nothing is changed.
    ///
    /// # Errors
    ///
    /// As [`Repo::undo`].
    pub fn undo_forecast(
        &self,
        named: Option<u64>,
        anybodys: bool,
        now: Millis,
    ) -> Result<(OperationEntry, bool)> {
        let tx = self.store.write()?;
        let undone = match named {
            Some(id) if anybodys => undo_found(&*tx, named_operation(&*tx, id)?, now)?,
            _ => undo(&*tx, named, now)?,
        };
        Ok((undone, is_final(&*tx, now)))
    }

    /// The same of an operation that may be somebody else's.
    ///
    /// # Errors
    ///
    /// As [`Repo::undo`].
    pub fn undo_of_anybody(&self, id: u64, now: Millis) -> Result<OperationEntry> {
        let tx = self.store.write()?;
        let undone = undo_found(&*tx, named_operation(&*tx, id)?, now)?;
        tx.commit()?;
        Ok(undone)
    }

    /// The operation that an undo without a number would reverse, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Repo::undo`].
    pub fn undoable(&self) -> Result<Option<OperationEntry>> {
        let view = self.store.read()?;
        let Some(found) = newest_done(&*view)? else {
            return Ok(None);
        };
        let others = command::others(&*view, &found.0)?;
        Ok(Some(command::as_one(found, others)))
    }

    /// Whether a redo would find something to do again.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn has_redo(&self) -> Result<bool> {
        match newest_undone(&*self.store.read()?) {
            Ok(_) => Ok(true),
            Err(Error::NothingToRedo { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The operations that a redo would do again, oldest first; nothing is changed.
    ///
    /// # Errors
    ///
    /// As [`Repo::redo`].
    pub fn redoable(&self) -> Result<Vec<OperationEntry>> {
        let tx = self.store.write()?;
        redo(&*tx, Millis(0))
    }

    /// Whether a redo is refused for a purge that came between.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn is_final(&self) -> Result<bool> {
        Ok(is_final(&*self.store.write()?, Millis(0)))
    }

    /// Does again what the newest undo reversed: one operation, or all that an undo to a point did, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToRedo`], which says whether a newer operation is in the way.
    pub fn redo(&self, now: Millis) -> Result<Vec<OperationEntry>> {
        let tx = self.store.write()?;
        let redone = redo(&*tx, now)?;
        tx.commit()?;
        Ok(redone)
    }
}

/// Reverses an operation: the newest that is not undone with the others of its command, or the one named alone.
fn undo(tx: &dyn Tx, named: Option<u64>, now: Millis) -> Result<OperationEntry> {
    let found = match named {
        None => newest_done(tx)?.ok_or(Error::NothingToUndo)?,
        Some(id) => named_operation(tx, id)?,
    };
    refuse_others(tx, &found.0)?;
    let others = match named {
        None => command::others(tx, &found.0)?,
        Some(_) => Vec::new(),
    };
    if others.is_empty() {
        return undo_found(tx, found, now);
    }
    command::reverse_all(tx, found, others, now)
}

fn undo_found(
    tx: &dyn Tx,
    (operation, moves): (OperationRow, Vec<ReflogRow>),
    now: Millis,
) -> Result<OperationEntry> {
    let undone = OperationEntry {
        operation,
        moves,
        undone: true,
        also: Vec::new(),
    };
    reverse(tx, &undone, now)?;
    Ok(undone)
}

/// Does again what the newest undo reversed, and takes back what it did again.
fn redo(tx: &dyn Tx, now: Millis) -> Result<Vec<OperationEntry>> {
    let mut redone: Vec<OperationEntry> = Vec::new();
    let mut words: Option<String> = None;
    loop {
        let (undo, id) = match newest_undone(tx) {
            Err(Error::NothingToRedo { .. }) if !redone.is_empty() => break,
            found => found?,
        };
        let said = undo
            .what
            .split_once(": ")
            .map(|(words, _)| words.to_owned());
        let is_of_many = |words: &String| words.starts_with(UNDO_TO) || command::is_of_many(words);
        let to_a_point = said.filter(is_of_many);
        if !redone.is_empty() && (to_a_point.is_none() || to_a_point != words) {
            break;
        }
        words = to_a_point;
        let entry = OperationEntry {
            operation: operation(tx, id)?,
            moves: tx.moves(id)?,
            undone: matches!(undo.reversal, Reversal::Redo(_)),
            also: Vec::new(),
        };
        let what = format!("{REDO} {id}: {}", entry.operation.what);
        reverse_as(tx, &entry, &what, now)?;
        redone.push(entry);
        if words.is_none() {
            break;
        }
    }
    match words.filter(|words| command::is_of_many(words)) {
        Some(_) => Ok(command::again(redone).into_iter().collect()),
        None => Ok(redone),
    }
}

/// Whether a redo is refused for a purge that came between. It leaves traces in a transaction that is to be let go.
fn is_final(tx: &dyn Tx, now: Millis) -> bool {
    matches!(redo(tx, now), Err(Error::Purged))
}

/// What is known of operations while they are read from the newest back.
#[derive(Default)]
struct State {
    /// Whether the newest reversal of each was an undo.
    undone: HashMap<u64, bool>,
}

impl State {
    /// Whether the operation is undone now.
    fn see(&mut self, operation: &OperationRow) -> bool {
        let (id, undo) = match operation.reversal {
            Reversal::None => return self.undone.get(&operation.id) == Some(&true),
            Reversal::Undo(id) => (id, true),
            Reversal::Redo(id) => (id, false),
        };
        self.undone.entry(id).or_insert(undo);
        false
    }

    /// Whether an undo of the operation was followed by a redo.
    fn is_redone(&self, id: u64) -> bool {
        self.undone.get(&id) == Some(&false)
    }
}

/// Whether an operation stands for others that are forgotten: it took no step of its own.
fn is_forgotten(view: &dyn View, id: u64) -> Result<bool> {
    let forgotten = view.collections()?.forgotten;
    Ok(forgotten.is_some_and(|forgotten| id <= forgotten))
}

/// The newest operation that moved something and is not undone.
fn newest_done(view: &dyn View) -> Result<Option<(OperationRow, Vec<ReflogRow>)>> {
    let (mut state, own) = (State::default(), Own::of(view)?);
    let (mut elsewhere, mut is_purge): (Option<String>, bool) = (None, false);
    let purge = view.last_purge()?;
    // Who has taken something back since was told, and went past it.
    let mut reversed = false;
    for operation in load::operations(view, None) {
        let operation = operation?;
        // What was taken back elsewhere is taken back.
        let undone = state.see(&operation);
        if is_elsewhere(own.as_ref(), view, &operation)? {
            continue;
        }
        if is_forgotten(view, operation.id)? {
            break;
        }
        reversed |= operation.reversal != Reversal::None;
        let is_meant = !is_unattended(&operation) && !is_of_remotes(&operation);
        if undone || operation.reversal != Reversal::None || !is_meant {
            continue;
        }
        let moves = view.moves(operation.id)?;
        if moves.is_empty() {
            if elsewhere.is_none() && !reversed {
                if Some(operation.id) == purge {
                    is_purge = true;
                    elsewhere = Some(operation.what);
                } else if writes_elsewhere(&operation) {
                    elsewhere = Some(operation.what);
                }
            }
            continue;
        }
        return match elsewhere {
            None => Ok(Some((operation, moves))),
            Some(_) if is_purge => {
                let id = operation.id;
                let undone = true;
                let one = OperationEntry {
                    operation,
                    moves,
                    undone,
                    also: Vec::new(),
                };
                let before = (!Gone::now(view).is_shown_by(&one)?).then_some(id);
                Err(Error::PurgedLast { before })
            }
            Some(what) => {
                let before = Some(operation.id);
                Err(Error::NothingMoved { what, before })
            }
        };
    }
    match elsewhere {
        Some(_) if is_purge => Err(Error::PurgedLast { before: None }),
        Some(what) => Err(Error::NothingMoved { what, before: None }),
        None => Ok(None),
    }
}

/// Whether an operation that moves nothing has written something outside: what it did cannot be
/// taken back, and what came before it is not what was meant.
fn writes_elsewhere(operation: &OperationRow) -> bool {
    operation.what.split(' ').next() == Some("resume")
}

/// Whether nobody typed an operation: what a watch, a hook or an agent's door takes in beside one's own work is not what
/// an undo means.
pub(crate) fn is_unattended(operation: &OperationRow) -> bool {
    let command = operation.what.split(' ').next();
    command.is_some_and(|command| UNATTENDED.contains(&command))
}

/// With what the words of such operations begin.
const UNATTENDED: [&str; 4] = ["watch", "hook", "guard", "mcp"];

/// Whether an operation gave a remote another name, or forgot one: that is a setting, which an undo leaves as it is, so it
/// leaves the refs of that name, too.
fn is_of_remotes(operation: &OperationRow) -> bool {
    operation.what.split(' ').next() == Some("remote")
}

/// Whether an operation only took in what somebody else had said: an import, a recording, or what nobody typed. What
/// puts an import's messages on a branch of one's own is more than that.
pub(crate) fn is_capture(operation: &OperationRow) -> bool {
    let mut words = operation.what.split(' ');
    let takes_in = match words.next() {
        Some("import") => words.next() != Some("--onto"),
        command => command == Some("record"),
    };
    takes_in || is_unattended(operation)
}

/// The newest undo that no redo has taken back, with the operation that it reversed, if nothing but undoes and
/// redoes came since.
fn newest_undone(view: &dyn View) -> Result<(OperationRow, u64)> {
    let (mut open, own) = (Open::default(), Own::of(view)?);
    let mut state = State::default();
    for operation in load::operations(view, None) {
        let operation = operation?;
        if is_elsewhere(own.as_ref(), view, &operation)? {
            continue;
        }
        state.see(&operation);
        if let Some(id) = open.see(&operation) {
            return Ok((operation, id));
        }
        if is_forgotten(view, operation.id)? {
            break;
        }
        let is_plain = operation.reversal == Reversal::None && !is_unattended(&operation);
        if is_plain && !view.moves(operation.id)?.is_empty() {
            // Of a command that was itself done again, nothing is in the way: all is redone.
            let is_in_the_way =
                !state.is_redone(operation.id) && undone_before(view, operation.id)?;
            return Err(Error::NothingToRedo {
                since: is_in_the_way.then_some(operation.what),
            });
        }
    }
    Err(Error::NothingToRedo { since: None })
}

/// Whether a recent undo before operation `id` could have been redone, had that not come.
fn undone_before(view: &dyn View, id: u64) -> Result<bool> {
    let mut open = Open::default();
    let recent = view.operations(Some(id), RECENT)?;
    Ok(recent.iter().any(|operation| open.see(operation).is_some()))
}

/// The undoes that no redo has taken back, while operations are read from the newest back: each
/// redo takes back the newest undo before it that no other redo has taken.
#[derive(Default)]
struct Open {
    redone: u64,
}

impl Open {
    /// What the operation undid, if that may be done again.
    fn see(&mut self, operation: &OperationRow) -> Option<u64> {
        match operation.reversal {
            Reversal::None => {}
            _ if is_redo(operation) => self.redone += 1,
            Reversal::Undo(id) | Reversal::Redo(id) if self.redone == 0 => return Some(id),
            Reversal::Undo(_) | Reversal::Redo(_) => self.redone -= 1,
        }
        None
    }
}

/// With what the words of a redo begin.
const REDO: &str = "redo";

/// Whether a redo reversed this: an undo to a point does again what was undone since, and a redo reverses that.
fn is_redo(operation: &OperationRow) -> bool {
    match operation.what.split(' ').next() {
        Some("undo") => false,
        Some(REDO) => true,
        // A purge has erased the words.
        _ => matches!(operation.reversal, Reversal::Redo(_)),
    }
}

/// An operation that is to be undone by its number.
fn named_operation(view: &dyn View, id: u64) -> Result<(OperationRow, Vec<ReflogRow>)> {
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
        if undone {
            return refuse("it is undone already");
        }
        if operation.reversal != Reversal::None {
            return refuse("it is an undo or a redo itself");
        }
        if is_forgotten(view, id)? {
            return refuse("it stands for all before it");
        }
        if is_of_remotes(&operation) {
            return refuse(
                "names and addresses of remotes are settings; tract remote changes them",
            );
        }
        let moves = view.moves(id)?;
        if moves.is_empty() {
            return refuse("it moved nothing");
        }
        return Ok((operation, moves));
    }
    Err(Error::UnknownOperation { id })
}

fn operation(view: &dyn View, id: u64) -> Result<OperationRow> {
    let found = view.operations(Some(id + 1), 1)?.pop();
    found
        .filter(|operation| operation.id == id)
        .ok_or(Error::UnknownOperation { id })
}

/// Takes the moves of an operation back.
fn reverse(tx: &dyn Tx, to: &OperationEntry, now: Millis) -> Result<()> {
    let OperationRow { id, what, .. } = &to.operation;
    reverse_as(tx, to, &format!("undo {id}: {what}"), now)
}

/// Takes the moves of an operation back, from the last, or does them again, as `to` says, by these words; each only
/// where its ref has not moved since.
fn reverse_as(tx: &dyn Tx, to: &OperationEntry, words: &str, now: Millis) -> Result<()> {
    let OperationRow { id, what, .. } = &to.operation;
    refuse_purged(tx, to)?;
    let reversal = if to.undone {
        Reversal::Undo(*id)
    } else {
        Reversal::Redo(*id)
    };
    tx.begin_reversal(now, words, reversal)?;
    let moves = to.moves.iter().map(|row| (&row.name, &row.old, &row.new));
    let moves: Vec<_> = if to.undone {
        moves
            .rev()
            .map(|(name, old, new)| (name, new, old))
            .collect()
    } else {
        moves.collect()
    };
    let mut standing = Standing::of(tx, moves.len())?;
    for (name, expected, new) in moves {
        if standing.of_ref(tx, name)? != *expected {
            return Err(Error::OperationSuperseded {
                id: *id,
                what: what.clone(),
                name: name.short().to_owned(),
                by: moved_by(tx, name, *id)?,
                before: tx.operations(Some(*id), 1)?.pop().map(|it| it.id),
            });
        }
        tx.set_reference(name, new.as_ref())?;
        standing.moved(name, new.as_ref());
        if to.undone && expected.is_some() && name.as_session().is_some() {
            // Its file has more than it says now.
            tx.forget_looks(name)?;
        }
    }
    match by_branch::renamed(&to.moves, to.undone) {
        Some((old, new)) => by_branch::take_along(tx, old, new),
        None => Ok(()),
    }
}

/// From how many moves on all refs are asked for at once, and not one after the other.
const MANY_MOVES: usize = 10_000;

/// Where refs stand while an operation is reversed.
struct Standing(Option<HashMap<RefName, RefValue>>);

impl Standing {
    fn of(tx: &dyn Tx, moves: usize) -> Result<Self> {
        let is_many = moves >= MANY_MOVES;
        let all = is_many.then(|| tx.references("refs/")).transpose()?;
        Ok(Self(all.map(|all| all.into_iter().collect())))
    }

    fn of_ref(&self, tx: &dyn Tx, name: &RefName) -> Result<Option<RefValue>> {
        match &self.0 {
            Some(all) if !name.is_position() => Ok(all.get(name).cloned()),
            _ => tx.reference(name),
        }
    }

    fn moved(&mut self, name: &RefName, to: Option<&RefValue>) {
        let Some(all) = &mut self.0 else { return };
        match to {
            Some(to) => all.insert(name.clone(), to.clone()),
            None => all.remove(name),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::model::{Draft, Message, Role};
    use crate::repo::{Call, CommitOptions, On};

    /// An operation that made so many branches.
    fn with_branches(count: usize) -> (Repo, Vec<RefName>) {
        let repo = Repo::ephemeral().expect("a repository");
        let draft = Draft::append(Message::text(Role::User, "hello"));
        let call = Call::at(Millis(0), "commit");
        let done = repo.commit(call, &[draft], &CommitOptions::default());
        done.expect("it commits");
        let tip = repo.head(&On::Head).expect("HEAD").commit();
        let tip = RefValue::Commit(tip.expect("a commit"));
        let name = |at| RefName::branch(&format!("topic-{at}")).expect("a name");
        let names: Vec<RefName> = (0..count).map(name).collect();
        let tx = repo.store.write().expect("a transaction");
        tx.begin_moves(Millis(0), "unbundle").expect("open");
        for name in &names {
            tx.set_reference(name, Some(&tip)).expect("moved");
        }
        tx.commit().expect("made");
        (repo, names)
    }

    #[test]
    fn a_purge_leaves_the_words_that_an_undo_goes_by() {
        for words in UNATTENDED.iter().chain(&["import", "record", "resume"]) {
            assert!(crate::store::KEPT_WORDS.contains(words), "{words}");
        }
    }

    #[test]
    fn thousands_of_refs_are_taken_back_in_the_time_of_as_many() {
        let (repo, names) = with_branches(30_000);
        let since = Instant::now();
        let undone = repo.undo(None, Millis(1)).expect("it is taken back");
        assert_eq!(undone.moved().len(), names.len());
        // Each looked for among all the others, they took a minute.
        let took = since.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?}");
        assert_eq!(repo.references("refs/heads/topic-").expect("refs"), []);
        let redone = repo.redo(Millis(2)).expect("it is done again");
        assert_eq!(redone[0].moved().len(), names.len());
    }

    #[test]
    fn of_many_refs_one_that_has_moved_since_stops_all() {
        let (repo, names) = with_branches(MANY_MOVES + 1);
        let id = repo.operations(1).expect("listed")[0].operation.id;
        let gone = repo.delete_reference(Call::at(Millis(1), "branch -d"), &names[7]);
        gone.expect("it goes");
        match repo.undo(Some(id), Millis(2)) {
            Err(Error::OperationSuperseded { name, .. }) => assert_eq!(name, "topic-7"),
            other => panic!("{other:?}"),
        }
        let left = repo.references("refs/heads/topic-").expect("refs");
        assert_eq!(left.len(), names.len() - 1);
    }
}
