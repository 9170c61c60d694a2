//! Notes and reasons erased for good. Each is hashed with its commit, so that commit and all behind it are made again, under
//! other names.
//!
//! What names the old commits follows: refs, notes of tags, what was taken over of sessions, what `resume` wrote, records of
//! session files, providers' counts. The log does not: it ends here, for its moves lead to the old commits. Deliberately
//! absent: settings, which a request needs, and copies elsewhere.

use std::collections::HashMap;

use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{Commit, Operation, PURGED, RefValue, Sealed};
use crate::repo::ancestry;
use crate::repo::call::Call;
use crate::repo::load;
use crate::store::{AdoptedRow, CommitRow, ResumeRow, TagNote, Tx};

/// How many commits are asked about at once.
const SOME: usize = 512;

/// What was made again.
#[derive(Debug, Default)]
pub(crate) struct Unnoted {
    /// How many notes and reasons were erased.
    pub(crate) notes: u64,
    /// The commits that have other names now, by their names before.
    pub(crate) renamed: HashMap<CommitHash, CommitHash>,
}

/// The note and the reason of a commit.
pub(crate) fn noted(commit: &Commit) -> impl Iterator<Item = &str> {
    let reason = match &commit.operation {
        Operation::Annotate { reason, .. } => reason.as_deref(),
        _ => None,
    };
    commit.note.as_deref().into_iter().chain(reason)
}

/// Makes the commits again whose notes are to go, and all behind them. The old ones are gone then, and the log with them.
///
/// # Errors
///
/// [`Error::Refused`] where something else still leads to one: the caller drops the transaction.
pub(crate) fn erase_notes(
    tx: &dyn Tx,
    call: Call<'_>,
    goes: &dyn Fn(&CommitRow) -> bool,
) -> Result<Unnoted> {
    let rows = ancestry::parents_first(tx.by_reach(&[])?.unreached);
    let named: Vec<CommitHash> = rows
        .iter()
        .filter(|row| goes(row))
        .map(|row| row.hash)
        .collect();
    let mut done = Unnoted {
        notes: named.len() as u64,
        ..Unnoted::default()
    };
    let Some(first) = named.first().copied() else {
        return Ok(done);
    };
    for row in &rows {
        let commit = again(row, goes(row), &done.renamed);
        if commit != row.commit {
            let commit = Sealed::new(commit);
            tx.put_commit(&commit)?;
            done.renamed.insert(row.hash, commit.hash());
        }
    }
    let renamed = &done.renamed;
    let old: Vec<CommitHash> = renamed.keys().copied().collect();
    for some in old.chunks(SOME) {
        for (old, usage) in some.iter().zip(tx.usage_records(some)?) {
            if let Some(usage) = usage {
                tx.put_usage_record(&renamed[old], &usage)?;
            }
        }
        for old in tx.told_injected(some)? {
            tx.put_injected(&renamed[&old])?;
        }
        for (old, records) in some.iter().zip(tx.records(some)?) {
            for (source, spans) in records {
                tx.put_records(&renamed[old], source, &spans)?;
            }
        }
    }
    follow(tx, call, renamed)?;
    tx.forget_unreached()?;
    tx.drop_unreached()?;
    tx.count_collection()?;
    if tx.commits(&old)?.iter().any(Option::is_some) {
        let commit = first.short();
        return Err(Error::Refused(Refusal::Noted { commit }));
    }
    Ok(done)
}

/// A commit by the names that those before it have now, with `[purged]` in place of its note and its reason if they go.
fn again(row: &CommitRow, goes: bool, renamed: &HashMap<CommitHash, CommitHash>) -> Commit {
    let name = |was: &CommitHash| *renamed.get(was).unwrap_or(was);
    let mut commit = row.commit.clone();
    if goes {
        let reason = match &mut commit.operation {
            Operation::Annotate { reason, .. } => reason.as_mut(),
            _ => None,
        };
        for text in commit.note.as_mut().into_iter().chain(reason) {
            PURGED.clone_into(text);
        }
    }
    let named = [&mut commit.parent, &mut commit.merged, &mut commit.origin];
    for named in named.into_iter().flatten() {
        *named = name(named);
    }
    for entry in commit.operation.entries_mut() {
        entry.commit = name(&entry.commit);
    }
    if let Operation::Restore { target, .. } = &mut commit.operation {
        *target = name(target);
    }
    commit
}

/// Has all that names an old commit name the new one, and ends the log.
fn follow(tx: &dyn Tx, call: Call<'_>, renamed: &HashMap<CommitHash, CommitHash>) -> Result<()> {
    let operation = tx.begin_operation(call.now, call.what)?;
    let refs = tx.references("")?;
    for (name, value) in &refs {
        if let RefValue::Commit(was) = value
            && let Some(is) = renamed.get(was)
        {
            tx.set_reference(name, Some(&RefValue::Commit(*is)))?;
        }
        // What a merge under way remembers names commits.
        if tx.merging(name)?.is_some() {
            let commit = load::tip(tx, name)?.filter(|tip| renamed.contains_key(tip));
            if let Some(commit) = commit {
                let commit = commit.short();
                return Err(Error::Refused(Refusal::Noted { commit }));
            }
        }
    }
    for (tag, note) in tx.all_tag_notes()? {
        if let Some(commit) = renamed.get(&note.commit).copied() {
            tx.set_tag_note(&tag, Some(&TagNote { commit, ..note }))?;
        }
    }
    for (session, _) in tx.sessions()? {
        for row in tx.adopted(&session)? {
            let name = |was: &CommitHash| *renamed.get(was).unwrap_or(was);
            let now = AdoptedRow {
                theirs: name(&row.theirs),
                ours: name(&row.ours),
            };
            if (now.theirs, now.ours) != (row.theirs, row.ours) {
                tx.put_adopted(&session, now)?;
            }
        }
    }
    for (tool, session, row) in tx.all_resumed()? {
        if let Some(commit) = renamed.get(&row.commit).copied() {
            tx.put_resumed(&tool, &session, &ResumeRow { commit, ..row })?;
        }
    }
    tx.forget_operations(operation)
}
