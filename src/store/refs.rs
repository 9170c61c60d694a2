//! Names: refs, the log of their moves, what is remembered beside them, and the configuration.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Activity;
use super::codec::number;
use super::columns::Cell;
use super::remembered::{self, Memory, MemoryRow, Remembered, RememberedMut};
use super::tables::{CONFIG, FOLLOWERS, TAG_NOTES};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Author, Millis, RefName, RefValue};

/// What the operation is called that stands for those that were forgotten.
pub(super) const COLLECTED: &str = "gc";

/// A command's row in the operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRow {
    /// Its number, growing.
    pub id: u64,
    /// When.
    pub time: Millis,
    /// What it was, with message text replaced by `…`.
    pub what: String,
    /// Whether it reversed another one.
    pub reversal: Reversal,
    /// Who did it, where that was said.
    pub by: Option<Author>,
}

/// Whether an operation reverses another one, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reversal {
    /// It doesn't.
    #[default]
    None,
    /// It undid this operation.
    Undo(u64),
    /// It did this operation again.
    Redo(u64),
}

impl Reversal {
    /// The operation that is undone, and the one that is done again.
    pub(super) fn columns(self) -> (Option<i64>, Option<i64>) {
        match self {
            Self::None => (None, None),
            Self::Undo(id) => (Some(number(id)), None),
            Self::Redo(id) => (None, Some(number(id))),
        }
    }
}

/// A directory or a person with a `HEAD` of their own, with `ORIG_HEAD` and `PREV_HEAD`, in a repository that many
/// share. Whoever looks from there finds their own under these names, and those of others under theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    whose: Whose,
    /// As they are kept, and as they are seen from here: its own, then those of nobody.
    names: Vec<(RefName, RefName)>,
}

/// Whose a seat is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Whose {
    Directory(String),
    Person(String),
    /// The directory above those that have a HEAD of their own.
    Root,
}

impl Seat {
    /// That of a directory.
    pub fn of(directory: &str) -> Self {
        Self::new(Whose::Directory(directory.to_owned()), |name| {
            name.of_directory(directory)
        })
    }

    /// That of a person, by the name that their operations bear.
    pub fn of_person(name: &str) -> Self {
        Self::new(Whose::Person(name.to_owned()), |of| of.of_person(name))
    }

    /// That of the directory above those that have a HEAD of their own: all names there are as they are kept.
    pub fn of_root() -> Self {
        Self {
            whose: Whose::Root,
            names: Vec::new(),
        }
    }

    fn new(whose: Whose, own: impl Fn(&RefName) -> RefName) -> Self {
        let all = [RefName::head(), RefName::orig_head(), RefName::prev_head()];
        let own = all.iter().map(|name| (own(name), name.clone()));
        let others = all.iter().map(|name| (name.clone(), name.of_none()));
        let names = own.chain(others).collect();
        Self { whose, names }
    }

    /// The directory, if it is one's.
    pub fn directory(&self) -> Option<&str> {
        match &self.whose {
            Whose::Directory(directory) => Some(directory),
            Whose::Person(_) | Whose::Root => None,
        }
    }

    /// The person, if it is one's.
    pub fn person(&self) -> Option<&str> {
        match &self.whose {
            Whose::Directory(_) | Whose::Root => None,
            Whose::Person(name) => Some(name),
        }
    }

    /// The name under which a ref is kept that is called so from here.
    fn kept<'a>(&'a self, seen: &'a RefName) -> &'a RefName {
        let found = self.names.iter().find(|(_, name)| name == seen);
        found.map_or(seen, |(kept, _)| kept)
    }

    /// What a ref is called from here that is kept so.
    fn seen(&self, kept: RefName) -> RefName {
        let found = self.names.iter().find(|(name, _)| *name == kept);
        found.map_or(kept, |(_, seen)| seen.clone())
    }
}

/// The name under which a ref is kept that whoever looks from `seat` calls so.
pub(super) fn kept<'a>(seat: Option<&'a Seat>, seen: &'a RefName) -> &'a RefName {
    match seat {
        Some(seat) if seen.is_position() => seat.kept(seen),
        _ => seen,
    }
}

/// What whoever looks from `seat` calls a ref that is kept so.
pub(super) fn seen(seat: Option<&Seat>, kept: RefName) -> RefName {
    match seat {
        Some(seat) if kept.is_position() => seat.seen(kept),
        _ => kept,
    }
}

/// How an operation is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// At once.
    Now(Reversal),
    /// With the first move under it: without one it never was.
    WithFirstMove,
}

/// A move of one ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflogRow {
    /// The operation that moved it.
    pub operation: u64,
    /// The ref.
    pub name: RefName,
    /// What it held before; none: it did not exist.
    pub old: Option<RefValue>,
    /// What it holds since; none: it was deleted.
    pub new: Option<RefValue>,
}

/// Which moves are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovesOf<'a> {
    /// Those of an operation, in their order.
    Operation(u64),
    /// Those of a ref, the newest first, at most so many.
    Ref(&'a RefName, usize),
}

/// What collections have taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collections {
    /// How many have taken anything out.
    pub times: u64,
    /// The operation that stands for all before it, which are forgotten.
    pub forgotten: Option<u64>,
}

/// The note of an annotated tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagNote {
    /// The commit that was tagged: the note counts while the tag points there.
    pub commit: CommitHash,
    /// When.
    pub time: Millis,
    /// The note.
    pub text: String,
}

impl TagNote {
    fn of(row: &MemoryRow) -> Result<Self> {
        Ok(Self {
            commit: row.commit(0)?,
            time: Millis(row.number(1)?),
            text: row.text(2)?.to_owned(),
        })
    }
}

/// What is known of the repository's own keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upkeep {
    /// What collections have taken out.
    pub collections: Collections,
    /// How many damaged rows a repair has set aside, of any table.
    pub rows_aside: u64,
    /// When everything was checked last and found whole.
    pub last_check: Option<Millis>,
}

impl Upkeep {
    /// The oldest operation that is not forgotten, or stands for those that are.
    pub fn oldest(&self) -> u64 {
        self.collections.forgotten.unwrap_or(1)
    }
}

/// A commit of a session that was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptedRow {
    /// The commit on the session's own path.
    pub theirs: CommitHash,
    /// What it became.
    pub ours: CommitHash,
}

/// Paths that are looked at one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Tips<'a> {
    /// Those to these commits.
    To(&'a [CommitHash]),
    /// The ends of those to these commits.
    At(&'a [CommitHash]),
    /// Those to the branches that [`Refs::active_branches`] gives, to list them.
    Active(Option<&'a Activity>, usize),
}

/// Reading names.
pub trait Refs: Remembered {
    /// From where it is looked at, if that has a HEAD of its own.
    fn seat(&self) -> Option<&Seat>;

    /// Who is at work, if that is known: operations bear it.
    fn worker(&self) -> Option<&Author>;

    /// What a ref holds.
    fn reference(&self, name: &RefName) -> Result<Option<RefValue>>;

    /// All refs whose full name begins with `prefix`, by name.
    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>>;

    /// At most so many branches, those that were worked on last, the newest first, each with its tip: of all, or of those
    /// that come behind one.
    fn active_branches(
        &self,
        behind: Option<&Activity>,
        most: usize,
    ) -> Result<Vec<(Activity, CommitHash)>>;

    /// The paths to these are looked at next, one after the other: an engine for which each question is dear asks for what
    /// is most likely wanted of all of them at once. It changes no answer.
    fn look_ahead(&self, tips: Tips<'_>) -> Result<()> {
        let _ = tips;
        Ok(())
    }

    /// The refs below `refs/` that point at one of these commits, by name. Other refs' commits are not read: for a few.
    fn names_of(&self, commits: &[CommitHash]) -> Result<Vec<(RefName, CommitHash)>>;

    /// The operations before `before` (none: all), newest first, at most `limit`.
    fn operations(&self, before: Option<u64>, limit: usize) -> Result<Vec<OperationRow>>;

    /// Some moves.
    fn moved(&self, of: MovesOf<'_>) -> Result<Vec<ReflogRow>>;

    /// The refs that an operation moved, in the order of the moves.
    fn moves(&self, operation: u64) -> Result<Vec<ReflogRow>> {
        self.moved(MovesOf::Operation(operation))
    }

    /// The moves of one ref, newest first, at most `limit`.
    fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
        self.moved(MovesOf::Ref(name, limit))
    }

    /// The HEAD of the directory in which an operation was asked for, as it is called from here; none where that was not
    /// written down. Only a file says it: on a server an operation is a person's.
    fn asked_at(&self, operation: u64) -> Result<Option<RefName>> {
        let _ = operation;
        Ok(None)
    }

    /// The newest operation that was a purge.
    fn last_purge(&self) -> Result<Option<u64>>;

    /// What is known of the repository's own keeping.
    fn upkeep(&self) -> Result<Upkeep>;

    /// What collections have taken out.
    fn collections(&self) -> Result<Collections> {
        Ok(self.upkeep()?.collections)
    }

    /// The notes that these tags were given last.
    fn tag_notes(&self, tags: &[RefName]) -> Result<Vec<Option<TagNote>>> {
        let names: Vec<&str> = tags.iter().map(RefName::as_str).collect();
        let rows = self.remembered(Memory(&TAG_NOTES), Some(&names))?;
        let notes = rows.iter().map(|row| Ok((&*row.key, TagNote::of(row)?)));
        let notes = notes.collect::<Result<HashMap<&str, TagNote>>>()?;
        Ok(names.iter().map(|name| notes.get(name).cloned()).collect())
    }

    /// Every note that a tag was given last, of deleted tags too, by the tag's name.
    fn all_tag_notes(&self) -> Result<Vec<(RefName, TagNote)>> {
        let rows = remembered::all(self, &TAG_NOTES)?;
        let note = |row: &MemoryRow| Ok((row.name()?, TagNote::of(row)?));
        rows.iter().map(note).collect()
    }

    /// The branch that follows a session.
    fn follower(&self, session: &RefName) -> Result<Option<RefName>> {
        let row = remembered::one(self, &FOLLOWERS, session.as_str())?;
        row.map(|row| row.reference(0)).transpose()
    }

    /// All branches that follow a session, by the session.
    fn followers(&self) -> Result<Vec<(RefName, RefName)>> {
        let rows = remembered::all(self, &FOLLOWERS)?;
        let pair = |row: &MemoryRow| Ok((row.name()?, row.reference(0)?));
        rows.iter().map(pair).collect()
    }

    /// What was taken over of a session, oldest first.
    fn adopted(&self, session: &RefName) -> Result<Vec<AdoptedRow>>;

    /// The names of all refs whose rows are as they were written, whatever became of others.
    fn sound_references(&self) -> Result<Vec<RefName>>;

    /// The repository's configuration: keys and values, by key.
    fn config(&self) -> Result<Vec<(String, String)>> {
        configured(remembered::all(self, &CONFIG)?)
    }

    /// What is remembered of the merge that is under way on a branch.
    fn merging(&self, branch: &RefName) -> Result<Option<String>> {
        let row = remembered::one(self, &CONFIG, &format!("{MERGING}{branch}"))?;
        row.map(|row| Ok(row.text(0)?.to_owned())).transpose()
    }
}

/// What is configured, by its rows.
pub(super) fn configured(rows: Vec<MemoryRow>) -> Result<Vec<(String, String)>> {
    let pair = |row: MemoryRow| Ok((row.key.clone(), row.text(0)?.to_owned()));
    let rows = rows.into_iter().filter(|row| !row.key.starts_with(MERGING));
    rows.map(pair).collect()
}

/// What of an operation's words a purge leaves, where they begin so: an undo goes by it.
pub(crate) const KEPT_WORDS: [&str; 8] = [
    "import --onto",
    "import",
    "record",
    "resume",
    "watch",
    "hook",
    "guard",
    "mcp",
];

/// What a purge makes of the words in the column `what`: an expression in which `purged` is the text in their place, and
/// `cast` stands behind each literal.
pub(super) fn words_after_purge(purged: &str, cast: &str) -> String {
    let kept = KEPT_WORDS.map(|words| {
        let (len, words) = (words.len() + 1, format!("'{words} '{cast}"));
        format!("WHEN substr(what || ' '{cast}, 1, {len}) = {words} THEN {words} || {purged}")
    });
    format!("CASE {} ELSE {purged} END", kept.join(" "))
}

/// What the row of a merge begins with, before the name of its branch. It stands beside what is configured.
const MERGING: &str = "merging.";

/// Writing names.
pub trait RefsMut: Refs + RememberedMut {
    /// Opens an operation by somebody: refs that move until the next one are logged under it. Gives its number;
    /// none of one that is still to come.
    fn open_operation(
        &self,
        time: Millis,
        what: &str,
        by: Option<&Author>,
        how: Opening,
    ) -> Result<Option<u64>>;

    /// Opens an operation that is no undo and no redo.
    fn begin_operation(&self, time: Millis, what: &str) -> Result<u64> {
        self.begin_reversal(time, what, Reversal::None)
    }

    /// The same by somebody else than who is at work.
    fn begin_operation_by(&self, time: Millis, what: &str, by: Option<&Author>) -> Result<u64> {
        let id = self.open_operation(time, what, by, Opening::Now(Reversal::None))?;
        id.ok_or_else(|| Error::store("an operation without a number"))
    }

    /// Opens an operation that may be an undo or a redo.
    fn begin_reversal(&self, time: Millis, what: &str, reversal: Reversal) -> Result<u64> {
        let id = self.open_operation(time, what, self.worker(), Opening::Now(reversal))?;
        id.ok_or_else(|| Error::store("an operation without a number"))
    }

    /// Opens an operation that comes with the first move under it: where no ref moves, nothing was done.
    fn begin_moves(&self, time: Millis, what: &str) -> Result<()> {
        self.begin_moves_by(time, what, self.worker())
    }

    /// The same by somebody else than who is at work.
    fn begin_moves_by(&self, time: Millis, what: &str, by: Option<&Author>) -> Result<()> {
        let coming = self.open_operation(time, what, by, Opening::WithFirstMove);
        coming.map(drop)
    }

    /// Holds the refs that were read here, before any is moved: nobody else moves them until the end, so what follows from
    /// them comes in the log where it belongs. Where nobody else writes, there is nothing to do.
    ///
    /// # Errors
    ///
    /// [`Error::Overtaken`] where one is elsewhere by now.
    fn hold_read(&self) -> Result<()> {
        Ok(())
    }

    /// Points a ref somewhere, or deletes it, and logs the move. An unchanged ref logs nothing.
    /// An operation must be open.
    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()>;

    /// Marks `purge`, an operation, as one, and takes the words of those before it, but for those that say what
    /// kind of command it was where an undo asks for that. Why files could not be read is forgotten with them.
    fn purge_operations(&self, purge: u64) -> Result<()>;

    /// Forgets the operations before `last`, and what they and it have moved, but for where each ref was
    /// then: `last` stands for all of them, by the name `gc`, as if it had put each ref there. No later
    /// operation may be an undo or a redo of one that goes.
    fn forget_operations(&self, last: u64) -> Result<()>;

    /// Counts one more collection that took something out.
    fn count_collection(&self) -> Result<()>;

    /// Keeps a tag's note, or forgets it.
    fn set_tag_note(&self, tag: &RefName, note: Option<&TagNote>) -> Result<()> {
        let cells = note.map(|note| {
            vec![
                Cell::Commit(note.commit),
                Cell::Number(note.time.0),
                Cell::from(&*note.text),
            ]
        });
        self.remember(Memory(&TAG_NOTES), tag.as_str(), cells)
    }

    /// Says which branch follows a session.
    fn set_follower(&self, session: &RefName, branch: &RefName) -> Result<()> {
        let cells = vec![Cell::from(branch.as_str())];
        self.remember(Memory(&FOLLOWERS), session.as_str(), Some(cells))
    }

    /// Remembers a commit of a session that was taken over.
    fn put_adopted(&self, session: &RefName, adopted: AdoptedRow) -> Result<()>;

    /// Remembers a merge that is under way on a branch, or that none is.
    fn set_merging(&self, branch: &RefName, what: Option<&str>) -> Result<()> {
        let cells = what.map(|what| vec![Cell::from(what)]);
        self.remember(Memory(&CONFIG), &format!("{MERGING}{branch}"), cells)
    }

    /// Sets or removes a value of the configuration.
    fn set_config(&self, key: &str, value: Option<&str>) -> Result<()> {
        let cells = value.map(|value| vec![Cell::from(value)]);
        self.remember(Memory(&CONFIG), key, cells)
    }
}
