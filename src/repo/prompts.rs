//! Which messages a user typed: what their text says of that, and what the records say that they came from.
//!
//! Bodies and records are read only of users' messages of which the row leaves it open. A clone without session files goes by
//! what the other repository told of its records.

use std::collections::{HashMap, HashSet};

use crate::context::Entry;
use crate::error::{Error, Result};
use crate::formats::Format;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{
    EntryId, HideKind, Operation, PURGED, RefName, Role, reads_as_queued, reads_as_typed,
};
use crate::repo::repository::Repo;
use crate::repo::{copies, kept, load};
use crate::store::{CommitRow, ContentRow, Tx, View};

/// How many commits are asked of at once.
const SOME: usize = 1 << 12;

/// What the format of a source says of its records, by the source's number.
type Injected = HashMap<u64, Option<Says>>;

/// Whether a record is its client's.
type Says = fn(record: &str) -> bool;

impl Repo {
    /// Which of these messages the user typed, each the content that a commit appends. What a client says in the
    /// user's name (reminders, notices, echoes of commands, bodies of skills, summaries) is none.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn typed(&self, said: &[(CommitHash, ContentHash)]) -> Result<Vec<bool>> {
        typed_contents(&*self.store.read()?, said)
    }

    /// Which of these entries a client says in the user's name, by what they said first.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn injected(&self, entries: &[EntryId]) -> Result<HashSet<EntryId>> {
        let view = &*self.store.read()?;
        let commits: Vec<CommitHash> = entries.iter().map(|entry| entry.commit).collect();
        let commits = view.commits(&commits)?;
        let brought = entries.iter().zip(&commits).filter_map(|(entry, row)| {
            let operation = &row.as_ref()?.commit.operation;
            let content = match operation {
                Operation::Hide(hide) => {
                    let nth = entry.index.unwrap_or_default() as usize;
                    hide.replacements.get(nth)?.content
                }
                operation => *operation.contents().first()?,
            };
            Some((*entry, operation, content))
        });
        let brought: Vec<(EntryId, &Operation, ContentHash)> = brought.collect();
        let contents: Vec<ContentHash> = brought.iter().map(|(.., content)| *content).collect();
        let rows = load::rows(view, &contents)?;
        let said = brought
            .iter()
            .map(|(entry, operation, content)| (entry.commit, *operation, &rows[content]));
        let injected = injected_rows(view, &said.collect::<Vec<_>>())?;
        let found = brought
            .iter()
            .zip(injected)
            .filter(|(_, injected)| *injected);
        Ok(found.map(|((entry, ..), _)| *entry).collect())
    }
}

/// The same by the names of the contents.
pub(crate) fn typed_contents(
    view: &dyn View,
    said: &[(CommitHash, ContentHash)],
) -> Result<Vec<bool>> {
    let contents: Vec<ContentHash> = said.iter().map(|(_, content)| *content).collect();
    let rows = load::rows(view, &contents)?;
    let said = said
        .iter()
        .map(|(commit, content)| (*commit, &rows[content]));
    typed(view, &said.collect::<Vec<_>>())
}

/// Which of these messages the user typed, each with the commit that appends it.
pub(crate) fn typed(view: &dyn View, said: &[(CommitHash, &ContentRow)]) -> Result<Vec<bool>> {
    let rows: Vec<&ContentRow> = said.iter().map(|(_, row)| *row).collect();
    let mut typed = by_text(view, &rows)?;
    let found: Vec<usize> = (0..said.len()).filter(|at| typed[*at]).collect();
    let mut formats = Injected::new();
    let mut asked = Vec::new();
    let mut open: Vec<(usize, CommitHash)> = found.into_iter().map(|at| (at, said[at].0)).collect();
    while !open.is_empty() {
        let names: Vec<CommitHash> = open.iter().map(|(_, name)| *name).collect();
        let mut unrecorded = Vec::new();
        for (one, records) in open.into_iter().zip(view.records(&names)?) {
            if records.is_empty() {
                unrecorded.push(one);
            }
            for (source, spans) in records {
                if let Some(is_injected) = injected(view, source, &mut formats)? {
                    asked.push((one.0, source, spans, is_injected));
                    break;
                }
            }
        }
        let names: Vec<CommitHash> = unrecorded.iter().map(|(_, name)| *name).collect();
        let told = view.told_injected(&names)?;
        // What a command copied has no record, and its original may have one.
        open = Vec::new();
        for ((at, name), row) in unrecorded.into_iter().zip(view.commits(&names)?) {
            typed[at] = !told.contains(&name);
            let origin = row.and_then(|row| row.commit.origin);
            open.extend(origin.filter(|_| typed[at]).map(|origin| (at, origin)));
        }
    }
    let places = asked.iter().filter_map(|(_, source, spans, _)| {
        let first = spans.first()?;
        Some((*source, first.offset))
    });
    view.foresee_bytes(&places.collect::<Vec<_>>())?;
    for (at, source, spans, is_injected) in asked {
        typed[at] = match kept::texts(view, source, &spans) {
            Ok(texts) => !texts.iter().any(|text| is_injected(text)),
            // Where its records cannot be read, what it says has to do.
            Err(Error::Damaged { .. }) => true,
            Err(error) => return Err(error),
        };
    }
    Ok(typed)
}

/// Those of these commits whose message a client says in the user's name though its text does not tell: by its record, or by
/// what was told of that where the record is not here.
pub(crate) fn injected_by_record(
    view: &dyn View,
    commits: &[CommitRow],
) -> Result<Vec<CommitHash>> {
    let said = commits.iter().flat_map(|row| {
        let contents = row.commit.operation.contents().into_iter();
        contents.map(|content| (row.hash, content))
    });
    let said: Vec<(CommitHash, ContentHash)> = said.collect();
    let contents: Vec<ContentHash> = said.iter().map(|(_, content)| *content).collect();
    let rows = load::rows(view, &contents)?;
    let said = said
        .iter()
        .map(|(commit, content)| (*commit, &rows[content]));
    let users: Vec<(CommitHash, &ContentRow)> = said.filter(|(_, row)| is_users(row)).collect();
    let rows: Vec<&ContentRow> = users.iter().map(|(_, row)| *row).collect();
    let read = users.into_iter().zip(by_text(view, &rows)?);
    let read: Vec<(CommitHash, &ContentRow)> =
        read.filter(|(_, typed)| *typed).map(|(it, _)| it).collect();
    let told = read.iter().zip(typed(view, &read)?);
    let mut injected: Vec<CommitHash> = told
        .filter(|(_, typed)| !typed)
        .map(|((commit, _), _)| *commit)
        .collect();
    injected.dedup();
    Ok(injected)
}

/// Keeps what the records of a session alone tell of its messages, before they are erased: which its client wrote in the
/// user's name, and which requests replies answered.
pub(crate) fn keep_told(tx: &dyn Tx, session: &RefName) -> Result<()> {
    let own = load::tip(tx, session)?.map(|tip| (session.clone(), tip));
    let below = load::tips(tx, &format!("{session}/"))?;
    let mut seen = HashSet::new();
    for (_, tip) in own.into_iter().chain(below) {
        let mut rows = tx.ancestors(&tip, None, usize::MAX)?;
        rows.retain(|row| seen.insert(row.hash));
        for some in rows.chunks(SOME) {
            for commit in injected_by_record(tx, some)? {
                tx.put_injected(&commit)?;
            }
            let commits: Vec<CommitHash> = some.iter().map(|row| row.hash).collect();
            copies::keep_requests(tx, &commits)?;
        }
    }
    Ok(())
}

/// Which of these messages a client says in the user's name, each with the commit that brings it: what the user did
/// not type, and what stands in place of hidden messages.
pub(crate) fn injected_rows(
    view: &dyn View,
    said: &[(CommitHash, &Operation, &ContentRow)],
) -> Result<Vec<bool>> {
    let mut injected: Vec<bool> = said.iter().map(|(.., row)| is_users(row)).collect();
    let is_own = |at: &usize| {
        let operation = said[*at].1;
        injected[*at] && !matches!(operation, Operation::Hide(hide) if hide.kind.marks())
    };
    let own: Vec<usize> = (0..said.len()).filter(is_own).collect();
    let asked = own.iter().map(|at| (said[*at].0, said[*at].2));
    for (at, typed) in own.iter().zip(typed(view, &asked.collect::<Vec<_>>())?) {
        injected[*at] = !typed;
    }
    Ok(injected)
}

/// Which of these messages the user typed, by what they say alone: of that nothing ever changes.
pub(crate) fn by_text(view: &dyn View, rows: &[&ContentRow]) -> Result<Vec<bool>> {
    let mut typed: Vec<bool> = rows.iter().map(|row| by_row(row)).collect();
    // A client's block at the beginning may have the user's words behind it.
    let is_open = |at: &usize| {
        let row = rows[*at];
        !typed[*at] && is_users(row) && !row.attached
    };
    let open: Vec<usize> = (0..rows.len()).filter(is_open).collect();
    let contents: Vec<ContentHash> = open.iter().map(|at| rows[*at].hash).collect();
    for (at, message) in open.into_iter().zip(load::contents(view, &contents)?) {
        typed[at] = message.is_typed();
    }
    Ok(typed)
}

/// The entries of a context that a client says in the user's name, by their text, with the summaries and markers
/// that a user would say.
pub(crate) fn injected_entries(
    view: &dyn View,
    entries: &[&Entry],
    rows: &HashMap<ContentHash, ContentRow>,
) -> Result<HashSet<EntryId>> {
    let row = |entry: &Entry| &rows[&entry.content];
    let users = entries.iter().filter(|entry| is_users(row(entry)));
    let (placed, own): (Vec<&&Entry>, Vec<_>) =
        users.partition(|entry| entry.placed.is_some_and(HideKind::marks));
    let typed = by_text(
        view,
        &own.iter().map(|entry| row(entry)).collect::<Vec<_>>(),
    )?;
    let injected = own.into_iter().zip(typed).filter(|(_, typed)| !typed);
    let injected = injected.map(|(entry, _)| entry).chain(placed);
    Ok(injected.map(|entry| entry.id).collect())
}

/// Which of these entries a client said in the user's name by its record alone: their text does not tell.
pub(crate) fn injected_among(view: &dyn View, entries: &[&Entry]) -> Result<HashSet<EntryId>> {
    let contents: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
    let rows = load::rows(view, &contents)?;
    let own = entries
        .iter()
        .filter(|entry| entry.placed.is_none() && !entry.edited);
    let own: Vec<&&Entry> = own.filter(|entry| by_row(&rows[&entry.content])).collect();
    let said = own
        .iter()
        .map(|entry| (entry.id.commit, &rows[&entry.content]));
    let typed = typed(view, &said.collect::<Vec<_>>())?;
    let injected = own.iter().zip(typed).filter(|(_, typed)| !typed);
    Ok(injected.map(|(entry, _)| entry.id).collect())
}

/// Whether a row says that the user typed it.
fn by_row(row: &ContentRow) -> bool {
    let reads = if row.attached {
        reads_as_queued(&row.preview)
    } else {
        reads_as_typed(&row.preview)
    };
    is_users(row) && reads
}

/// Whether there is anything in it, and it was not erased.
fn says(row: &ContentRow) -> bool {
    !row.preview.is_empty() && row.preview != PURGED
}

/// Whether it is the user's by its role, answers no call, and says something.
pub(crate) fn is_users(row: &ContentRow) -> bool {
    row.role == Role::User && row.results == 0 && says(row)
}

/// What the format of a source says of its records, if it says anything.
fn injected(view: &dyn View, source: u64, known: &mut Injected) -> Result<Option<Says>> {
    if let Some(known) = known.get(&source) {
        return Ok(*known);
    }
    let format: Option<&Format> = kept::format_of(view, source)?;
    let found = format.and_then(|format| format.injected);
    known.insert(source, found);
    Ok(found)
}
