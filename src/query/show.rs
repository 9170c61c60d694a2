//! One commit, whole.

use std::collections::{HashMap, HashSet};

use crate::context::Context;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, EntryId, HideKind, Message, Operation, PartHide, Priority, Span};
use crate::query::log::{LogOptions, LogRow};
use crate::repo::call::On;
use crate::repo::change::{Change, Placed, Touched, told};
use crate::repo::counts::Counts;
use crate::repo::repository::Repo;
use crate::repo::{load, path, pictures};
use crate::store::{CommitRow, View};

/// A commit with everything that belongs to it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The commit as a log lists it.
    pub row: LogRow,
    /// The message that it appends or gives to an entry.
    pub message: Option<Message>,
    /// What an edit replaced.
    pub replaced: Option<Message>,
    /// What a hide put in place, in order.
    pub replacements: Vec<Message>,
    /// The messages that went hidden, oldest first.
    pub hidden: Vec<Touched>,
    /// The messages that came back, oldest first.
    pub returned: Vec<Touched>,
    /// The messages inside a hide's span that stayed, oldest first.
    pub survivors: Vec<Touched>,
    /// The parts that a hide took out, in order.
    pub parts: Vec<ShownPart>,
    /// The messages that an annotation names, as far as they are in the context.
    pub targets: Vec<Touched>,
    /// What a restore was to bring back and another hide still covers: the message's own commit,
    /// and that hide.
    pub still_hidden: Vec<(EntryId, CommitHash, HideKind)>,
    /// The records of the source behind it: format, and each record's place.
    pub source: Option<(String, Vec<Span>)>,
}

/// A part that a hide took out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPart {
    /// The message's number before, from 1; none if it was hidden.
    pub number: Option<usize>,
    /// Which part it is, from 0.
    pub part: u32,
    /// One line of what stands in its place. Hostile until escaped.
    pub stub: Option<String>,
}

/// What became of an entry later on a path.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// The newest edit of it.
    pub edited: Option<CommitHash>,
    /// Its message now, where that is not the one it began with.
    pub current: Option<Message>,
    /// Each change of its priority, oldest first: commit, priority, reason.
    pub priorities: Vec<(CommitHash, Priority, Option<String>)>,
}

impl Repo {
    /// Everything about one commit. Counts what has no count yet.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if it is not here.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Encoding, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// let one = repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let shown = repo.show(&one[0].hash, Encoding::default())?;
    /// assert_eq!(shown.message, Some(Message::text(Role::User, "hello")));
    /// assert_eq!(shown.row.running.tokens, 8);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn show(&self, hash: &CommitHash, encoding: Encoding) -> Result<Shown> {
        let options = LogOptions {
            limit: 1,
            encoding,
            ..LogOptions::default()
        };
        let row = self.log(hash, &options)?.pop();
        let row = row.ok_or_else(|| load::unknown(hash))?;
        // An append changes nothing of what stood before it: the contexts need not be read.
        let view = self.store.read()?;
        let (before, after) = match (&row.commit.operation, &row.commit.parent) {
            (Operation::Append { .. }, _) => <(Context, Context)>::default(),
            (_, None) => (Context::default(), load::context(&*view, hash)?),
            (_, Some(parent)) => {
                let before = load::context(&*view, parent)?;
                let after = load::next(&*view, before.clone(), *hash, &row.commit)?;
                (before, after)
            }
        };
        let change = Change::between(&before, &after);
        let encoding = match &row.commit.operation {
            Operation::Append { .. } => encoding,
            _ => pictures::at(&*view, hash, encoding)?,
        };
        // What it names that stays where it is.
        let named = match &row.commit.operation {
            Operation::Hide(hide) => hide.keep.clone(),
            Operation::Annotate { targets, .. } => path::entries_of(&*view, targets)?,
            _ => Vec::new(),
        };
        let entries = after.entries.iter().cloned().enumerate();
        let named: Vec<Placed> = entries
            .filter(|(_, entry)| named.contains(&entry.id))
            .collect();
        drop(view);
        let touched = change.lost.iter().chain(&change.gained).chain(&named);
        let counts = Counts::of(&*self.store, touched.map(|(_, entry)| entry), encoding)?;
        let view = self.store.read()?;
        let was = before.positions();
        let told = |entries: Vec<&Placed>| told(&*view, entries, &counts, &HashMap::new());
        let mut shown = Shown {
            message: None,
            replaced: None,
            replacements: Vec::new(),
            hidden: told(change.hidden())?,
            returned: Vec::new(),
            survivors: Vec::new(),
            parts: Vec::new(),
            targets: Vec::new(),
            still_hidden: Vec::new(),
            source: match view.records_of(hash)?.into_iter().next() {
                Some((id, spans)) => view.source(id)?.map(|source| (source.format, spans)),
                None => None,
            },
            row,
        };
        match &shown.row.commit.operation {
            Operation::Append { content } => {
                shown.message = Some(load::content(&*view, content)?);
            }
            Operation::Edit { target, content } => {
                shown.message = Some(load::content(&*view, content)?);
                let target = path::entry_of(&*view, *target)?;
                shown.replaced = match (was.get(&target), shown.row.commit.parent) {
                    (Some(at), _) => Some(load::message(&*view, &before.entries[*at])?),
                    (None, Some(parent)) => hidden_message(&*view, &parent, &target)?,
                    (None, None) => None,
                };
            }
            Operation::Hide(hide) => {
                let replacements = hide.replacements.iter().map(|one| one.content);
                let replacements: Vec<ContentHash> = replacements.collect();
                shown.replacements = load::contents(&*view, &replacements)?;
                shown.survivors = told(named.iter().collect())?;
                for part in &hide.parts {
                    shown.parts.push(shown_part(&*view, part, &was)?);
                }
            }
            Operation::Restore { target, entries } => {
                shown.returned = told(change.shown())?;
                shown.still_hidden = still_hidden(&*view, hash, target, entries)?;
            }
            Operation::Annotate { .. } => {
                shown.targets = told(named.iter().collect())?;
                shown.returned = told(change.shown())?;
            }
        }
        Ok(shown)
    }

    /// What became of the entry that `commit` appended, on the path that ends in `tip`. Reads the
    /// commits on it that append nothing.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if a commit is not here.
    pub fn life(&self, commit: &CommitHash, tip: &CommitHash) -> Result<Life> {
        let view = self.store.read()?;
        let mut life = Life::default();
        let id = EntryId::of(*commit);
        // It, and every edit of it or of one of those.
        let mut names = vec![id];
        if !view.is_ancestor(commit, tip)? {
            return Ok(life);
        }
        let begun = load::commit(&*view, commit)?;
        let changes = view.changes(tip)?.into_iter();
        let since: Vec<CommitRow> = changes.filter(|row| row.depth > begun.depth).collect();
        if since.is_empty() {
            return Ok(life);
        }
        for row in &since {
            match &row.commit.operation {
                Operation::Edit { target, .. } if names.contains(target) => {
                    life.edited = Some(row.hash);
                    names.push(row.hash.into());
                }
                Operation::Annotate {
                    targets,
                    priority,
                    reason,
                } if targets.iter().any(|target| names.contains(target)) => {
                    life.priorities.push((row.hash, *priority, reason.clone()));
                }
                _ => {}
            }
        }
        let context = load::context(&*view, tip)?;
        if let Some(entry) = context.position(&id).and_then(|at| context.entries.get(at))
            && (entry.edited || !entry.mask.is_empty())
        {
            life.current = Some(load::message(&*view, entry)?);
        }
        Ok(life)
    }

    /// The messages of these contents, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) if one is not here, and the store's.
    pub fn contents(&self, contents: &[ContentHash]) -> Result<Vec<Message>> {
        load::contents(&*self.store.read()?, contents)
    }

    /// The message that an entry holds where `on` stands, hidden or not; none, if it is not there.
    pub fn message_of(&self, on: &On, id: &EntryId) -> Result<Option<Message>> {
        let Some(tip) = self.head(on)?.commit() else {
            return Ok(None);
        };
        let view = self.store.read()?;
        let context = load::context(&*view, &tip)?;
        match context.entries.iter().find(|entry| entry.id == *id) {
            Some(entry) => load::message(&*view, entry).map(Some),
            None => hidden_message(&*view, &tip, id),
        }
    }
}

/// What an entry that is hidden at `tip` holds there.
fn hidden_message(view: &dyn View, tip: &CommitHash, id: &EntryId) -> Result<Option<Message>> {
    let order = load::order(view, tip)?;
    let found = order.entries().find(|entry| entry.id == *id);
    found
        .map(|entry| load::content(view, &entry.content))
        .transpose()
}

fn shown_part(
    view: &dyn View,
    part: &PartHide,
    was: &HashMap<EntryId, usize>,
) -> Result<ShownPart> {
    let stub = match part.stub {
        Some(stub) => view.content_row(&stub)?.map(|row| row.preview),
        None => None,
    };
    Ok(ShownPart {
        number: was.get(&part.entry).map(|at| at + 1),
        part: part.part,
        stub,
    })
}

/// Which of the entries that a restore named, or that its hide covered, another hide covers.
fn still_hidden(
    view: &dyn View,
    restore: &CommitHash,
    target: &CommitHash,
    named: &[EntryId],
) -> Result<Vec<(EntryId, CommitHash, HideKind)>> {
    let named = path::entries_of(view, named)?;
    let order = load::order(view, restore)?;
    let before = load::order(view, target)?;
    let covered = before.entries();
    let covered = covered.filter(|entry| entry.hidden_by.contains(target));
    let covered: HashSet<EntryId> = covered.map(|entry| entry.id).collect();
    let mut still = Vec::new();
    for entry in order.entries() {
        let meant = if named.is_empty() {
            covered.contains(&entry.id)
        } else {
            named.contains(&entry.id)
        };
        if let Some(hide) = entry.hidden_by.last().filter(|_| meant)
            && let Operation::Hide(by) = &load::commit(view, hide)?.commit.operation
        {
            still.push((entry.id, *hide, by.kind));
        }
    }
    Ok(still)
}
