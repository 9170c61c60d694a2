//! What is new in a session, appended after a branch's own commits.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::history::adopted;
use crate::history::chain::Chain;
use crate::history::{Repo, load, path};
use crate::model::{Draft, EntryId, Hide, Interval, Millis, Operation, RefName, RefValue};
use crate::store::{AdoptedRow, View};

/// Appends to `branch` the commits of `session` that it does not have yet, as new commits after
/// its own; returns how many. The vendor's hides come along and name the new commits.
///
/// # Errors
///
/// [`Error::UnknownRevision`] if the session isn't here; [`Error::NotOnPath`] if a hide of the
/// session covers what the branch does not have.
pub fn adopt(
    repo: &Repo,
    session: &RefName,
    branch: &RefName,
    now: Millis,
    what: &str,
) -> Result<u64> {
    let tx = repo.store.write()?;
    let Some(theirs) = load::tip(&*tx, session)? else {
        return Err(Error::UnknownRevision {
            text: session.short().to_owned(),
            nearest: None,
        });
    };
    let ours = load::tip(&*tx, branch)?;
    if ours.is_none() {
        branch.refuse_hash()?;
    }
    let base = base(&*tx, session, &theirs, ours.as_ref())?;
    let rows = tx.ancestors(&theirs, base.as_ref(), usize::MAX)?;
    let mut chain = Chain::at(ours);
    let mut renamed: HashMap<CommitHash, CommitHash> = HashMap::new();
    let hashes: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let told = tx.usage(&hashes)?.into_iter().zip(tx.records(&hashes)?);
    for (row, (usage, records)) in rows.iter().zip(told).rev() {
        let draft = Draft {
            operation: rename(&row.commit.operation, &renamed),
            messages: Vec::new(),
            settings: row.commit.settings.clone(),
            note: row.commit.note.clone(),
        };
        let hash = chain.push(&*tx, &draft, row.commit.time)?.0.hash();
        renamed.insert(row.hash, hash);
        if let Some(usage) = usage {
            tx.put_usage(&hash, usage)?;
        }
        for (source, spans) in records {
            tx.put_records(&hash, source, &spans)?;
        }
    }
    tx.begin_operation(now, what)?;
    if let Some(tip) = chain.tip().filter(|_| !rows.is_empty()) {
        tx.set_reference(branch, Some(&RefValue::Commit(tip)))?;
        let adopted = AdoptedRow { theirs, ours: tip };
        tx.put_adopted(session, adopted)?;
    }
    tx.commit()?;
    Ok(rows.len() as u64)
}

/// The newest commit of the session that the branch has: taken over earlier, or shared.
fn base(
    view: &dyn View,
    session: &RefName,
    theirs: &CommitHash,
    ours: Option<&CommitHash>,
) -> Result<Option<CommitHash>> {
    let Some(ours) = ours else { return Ok(None) };
    if let Some(adopted) = adopted::newest(view, session, ours)?
        && view.is_ancestor(&adopted, theirs)?
    {
        return Ok(Some(adopted));
    }
    path::last_shared(view, theirs, ours)
}

/// The operation with entries and commits under the names that they have on the branch.
fn rename(operation: &Operation, renamed: &HashMap<CommitHash, CommitHash>) -> Operation {
    let commit = |hash: &CommitHash| *renamed.get(hash).unwrap_or(hash);
    let entry = |id: &EntryId| EntryId {
        commit: commit(&id.commit),
        index: id.index,
    };
    match operation {
        Operation::Append { .. } => operation.clone(),
        Operation::Edit { target, content } => Operation::Edit {
            target: entry(target),
            content: *content,
        },
        Operation::Hide(hide) => {
            let mut hide: Hide = hide.clone();
            for interval in &mut hide.intervals {
                *interval = Interval {
                    first: entry(&interval.first),
                    last: entry(&interval.last),
                };
            }
            hide.keep.iter_mut().for_each(|id| *id = entry(id));
            for part in &mut hide.parts {
                part.entry = entry(&part.entry);
            }
            for replacement in &mut hide.replacements {
                replacement.before = replacement.before.as_ref().map(entry);
            }
            Operation::Hide(hide)
        }
        Operation::Restore { target, entries } => Operation::Restore {
            target: commit(target),
            entries: entries.iter().map(entry).collect(),
        },
        Operation::Annotate {
            targets,
            priority,
            reason,
        } => Operation::Annotate {
            targets: targets.iter().map(entry).collect(),
            priority: *priority,
            reason: reason.clone(),
        },
    }
}
