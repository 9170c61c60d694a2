//! The operations: listed, undone, and done again.
//!
//! An undo reverses all refs that an operation moved, at once, and is an operation itself; what
//! undoes and redoes stand in the log is all the state there is.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::history::load;
use crate::history::repo::Repo;
use crate::history::seat::Own;
use crate::model::{Millis, RefName, RefValue};
use crate::store::{OperationRow, ReflogRow, Reversal, Tx, View};

/// How far back an undo counts as recent, in operations.
const RECENT: usize = 64;

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
const UNDO_TO: &str = "undo to";

/// An operation with what it moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationEntry {
    /// The operation.
    pub operation: OperationRow,
    /// Its moves, in order; none of an operation that changed nothing.
    pub moves: Vec<ReflogRow>,
    /// Whether it is undone now.
    pub undone: bool,
}

impl OperationEntry {
    /// What it moved, one for each ref, from its first value to its last: branches, then HEAD, then
    /// where it was.
    pub fn moved(&self) -> Vec<ReflogRow> {
        let mut moved: Vec<ReflogRow> = Vec::new();
        for row in &self.moves {
            match moved.iter_mut().find(|known| known.name == row.name) {
                Some(known) => known.new.clone_from(&row.new),
                None => moved.push(row.clone()),
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
    /// use tract::history::{Call, CommitOptions, On, Repo};
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
            });
        }
        Ok(entries)
    }

    /// The moves of one ref, newest first, each with its operation, at most `limit` (0: all).
    pub fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<(ReflogRow, OperationRow)>> {
        let view = self.store.read()?;
        let limit = if limit == 0 { usize::MAX } else { limit };
        let mut rows = Vec::new();
        for row in view.reflog(name, limit)? {
            let operation = operation(&*view, row.operation)?;
            rows.push((row, operation));
        }
        Ok(rows)
    }

    /// Reverses an operation, all its refs at once: the newest that is not undone, whoever made
    /// it, or the one named, if its refs have not moved since.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToUndo`]; [`Error::NothingMoved`] after a resume; [`Error::UnknownOperation`];
    /// [`Error::Purged`];
    /// [`Error::OperationSuperseded`] if a ref that it moved has moved since.
    ///
    /// ```
    /// use tract::history::{Call, CommitOptions, On, Repo};
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
        let (operation, moves) = match named {
            None => newest_done(&*tx)?.ok_or(Error::NothingToUndo)?,
            Some(id) => named_operation(&*tx, id)?,
        };
        let undone = OperationEntry {
            operation,
            moves,
            undone: true,
        };
        reverse(&*tx, &undone, now)?;
        tx.commit()?;
        Ok(undone)
    }

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

    /// Does again what the newest undo reversed: one operation, or all that an undo to a point did, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToRedo`], which says whether a newer operation is in the way.
    pub fn redo(&self, now: Millis) -> Result<Vec<OperationEntry>> {
        let tx = self.store.write()?;
        let mut redone: Vec<OperationEntry> = Vec::new();
        let mut words: Option<String> = None;
        loop {
            let (undo, id) = match newest_undone(&*tx) {
                Err(Error::NothingToRedo { .. }) if !redone.is_empty() => break,
                found => found?,
            };
            let said = undo.what.split_once(':').map(|(words, _)| words.to_owned());
            let to_a_point = said.filter(|words| words.starts_with(UNDO_TO));
            if !redone.is_empty() && (to_a_point.is_none() || to_a_point != words) {
                break;
            }
            words = to_a_point;
            let entry = OperationEntry {
                operation: operation(&*tx, id)?,
                moves: tx.moves(id)?,
                undone: false,
            };
            reverse(&*tx, &entry, now)?;
            redone.push(entry);
            if words.is_none() {
                break;
            }
        }
        tx.commit()?;
        Ok(redone)
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
fn done_since(view: &dyn View, point: UndoPoint) -> Result<Vec<OperationEntry>> {
    let (mut state, own) = (State::default(), Own::of(view)?);
    let mut found = Vec::new();
    for operation in load::operations(view, None) {
        let operation = operation?;
        if !point.takes(&operation) || is_forgotten(view, operation.id)? {
            break;
        }
        let is_elsewhere = own.as_ref().map(|own| own.is_elsewhere(view, operation.id));
        if is_elsewhere.transpose()? == Some(true) {
            continue;
        }
        let undone = state.see(&operation);
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
        if own
            .as_ref()
            .map_or(Ok(false), |own| own.is_elsewhere(view, operation.id))?
        {
            continue;
        }
        if is_forgotten(view, operation.id)? {
            break;
        }
        let undone = state.see(&operation);
        reversed |= operation.reversal != Reversal::None;
        if undone || operation.reversal != Reversal::None || is_unattended(&operation) {
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
                let before = Some(operation.id);
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

/// Whether nobody asked for an operation when it came: what a watch takes in beside one's own work is not
/// what an undo means.
fn is_unattended(operation: &OperationRow) -> bool {
    operation.what.split(' ').next() == Some("watch")
}

/// The newest undo that no redo has taken back, with the operation that it reversed, if nothing but undoes and
/// redoes came since.
fn newest_undone(view: &dyn View) -> Result<(OperationRow, u64)> {
    let (mut open, own) = (Open::default(), Own::of(view)?);
    for operation in load::operations(view, None) {
        let operation = operation?;
        if own
            .as_ref()
            .map_or(Ok(false), |own| own.is_elsewhere(view, operation.id))?
        {
            continue;
        }
        if let Some(id) = open.see(&operation) {
            return Ok((operation, id));
        }
        if is_forgotten(view, operation.id)? {
            break;
        }
        let is_plain = operation.reversal == Reversal::None && !is_unattended(&operation);
        if is_plain && !view.moves(operation.id)?.is_empty() {
            return Err(Error::NothingToRedo {
                since: undone_before(view, operation.id)?.then_some(operation.what),
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
            Reversal::Redo(_) => self.redone += 1,
            Reversal::Undo(id) if self.redone == 0 => return Some(id),
            Reversal::Undo(_) => self.redone -= 1,
            Reversal::None => {}
        }
        None
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
        let moves = view.moves(id)?;
        if moves.is_empty() {
            return refuse("it moved nothing");
        }
        return Ok((operation, moves));
    }
    Err(Error::UnknownOperation { id })
}

/// What was done before a purge is not undone, nor done again, where that would show what is gone.
fn refuse_purged(view: &dyn View, to: &OperationEntry) -> Result<()> {
    match view.last_purge()? {
        Some(purge) if to.operation.id <= purge => {}
        _ => return Ok(()),
    }
    if Gone::now(view).is_shown_by(to)? {
        return Err(Error::Purged);
    }
    Ok(())
}

/// The operations that could be undone, and could not once these contents are erased, newest first.
pub(crate) fn ended_by(
    view: &dyn View,
    contents: HashSet<ContentHash>,
) -> Result<Vec<OperationEntry>> {
    let unreached = view.by_reach(&view.named_commits()?)?.unreached;
    let mut then = Gone {
        contents,
        commits: unreached.into_iter().map(|row| row.hash).collect(),
        ..Gone::now(view)
    };
    let mut now = Gone::now(view);
    let mut ended = Vec::new();
    for one in done_since(view, UndoPoint::After(0))? {
        if then.is_shown_by(&one)? && !now.is_shown_by(&one)? {
            ended.push(one);
        }
    }
    Ok(ended)
}

/// What is erased, or would be.
struct Gone<'a> {
    view: &'a dyn View,
    /// Beside what is erased already.
    contents: HashSet<ContentHash>,
    commits: HashSet<CommitHash>,
    /// What is gone of what the context at each commit shows; none where the commit itself is gone.
    shown: HashMap<CommitHash, Option<HashSet<ContentHash>>>,
}

impl<'a> Gone<'a> {
    fn now(view: &'a dyn View) -> Self {
        Self {
            view,
            contents: HashSet::new(),
            commits: HashSet::new(),
            shown: HashMap::new(),
        }
    }

    /// Whether an undo, or a redo, shows anything that is gone and was not shown before.
    fn is_shown_by(&mut self, to: &OperationEntry) -> Result<bool> {
        for row in to.moved() {
            let (from, to) = if to.undone {
                (row.new, row.old)
            } else {
                (row.old, row.new)
            };
            let Some(RefValue::Commit(to)) = to else {
                continue;
            };
            let Some(after) = self.shown(&to)? else {
                return Ok(true);
            };
            let before = match from.and_then(|from| from.commit()) {
                Some(from) => self.shown(&from)?.unwrap_or_default(),
                None => HashSet::new(),
            };
            if !after.is_subset(&before) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn shown(&mut self, commit: &CommitHash) -> Result<Option<HashSet<ContentHash>>> {
        if let Some(shown) = self.shown.get(commit) {
            return Ok(shown.clone());
        }
        let is_here = !self.commits.contains(commit) && self.view.commit(commit)?.is_some();
        let shown = is_here
            .then(|| load::context(self.view, commit))
            .transpose()?;
        let shown = shown.map(|context| {
            let stubs = context.entries.iter().flat_map(|entry| entry.mask.parts());
            let stubs = stubs.filter_map(|part| part.stub);
            let all = context
                .entries
                .iter()
                .map(|entry| entry.content)
                .chain(stubs);
            let all: Vec<ContentHash> = all.collect();
            let erased = all.iter().zip(self.view.purged(&all)?);
            let gone =
                erased.filter(|(content, erased)| *erased || self.contents.contains(content));
            Ok::<_, Error>(gone.map(|(content, _)| *content).collect())
        });
        let shown: Option<HashSet<ContentHash>> = shown.transpose()?;
        self.shown.insert(*commit, shown.clone());
        Ok(shown)
    }
}

fn operation(view: &dyn View, id: u64) -> Result<OperationRow> {
    let found = view.operations(Some(id + 1), 1)?.pop();
    found
        .filter(|operation| operation.id == id)
        .ok_or(Error::UnknownOperation { id })
}

/// Takes the moves of an operation back, from the last, or does them again, as `to` says; each only
/// where its ref has not moved since.
fn reverse(tx: &dyn Tx, to: &OperationEntry, now: Millis) -> Result<()> {
    let OperationRow { id, what, .. } = &to.operation;
    let verb = if to.undone { "undo" } else { "redo" };
    reverse_as(tx, to, &format!("{verb} {id}: {what}"), now)
}

/// The same, by these words.
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
    for (name, expected, new) in moves {
        if tx.reference(name)? != *expected {
            return Err(Error::OperationSuperseded {
                id: *id,
                what: what.clone(),
                name: name.short().to_owned(),
            });
        }
        tx.set_reference(name, new.as_ref())?;
    }
    Ok(())
}
