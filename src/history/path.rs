//! What lies on the path to a commit: what two of them share, which entry a commit is about, and
//! which session it came from.

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::history::load;
use crate::model::{EntryId, Operation, RefName};
use crate::store::{SessionRow, View};

/// How many own commits may stand after an imported one before it no longer counts.
const SESSION_SEARCH: usize = 1_000;

/// How many commits the paths to `theirs` and `ours` have in common, from the root.
pub(crate) fn shared_commits(
    view: &dyn View,
    theirs: &CommitHash,
    ours: &CommitHash,
) -> Result<u64> {
    let Some(row) = view.commit(theirs)? else {
        return Ok(0);
    };
    // By halving: once the paths have parted they never meet again.
    let (mut shared, mut apart) = (0, row.depth + 1);
    while shared < apart {
        let middle = shared + (apart - shared) / 2;
        let on_ours = match view.ancestor_at(theirs, middle)? {
            Some(commit) => view.is_ancestor(&commit, ours)?,
            None => false,
        };
        if on_ours {
            shared = middle + 1;
        } else {
            apart = middle;
        }
    }
    Ok(shared)
}

/// The entry that `id` names: itself, or, where it names an edit, what that edited.
pub(crate) fn entry_of(view: &dyn View, mut id: EntryId) -> Result<EntryId> {
    while let Operation::Edit { target, .. } = load::commit(view, &id.commit)?.commit.operation {
        id = target;
    }
    Ok(id)
}

/// The content that an entry had when it was made.
pub(crate) fn made(view: &dyn View, entry: &EntryId) -> Result<Option<ContentHash>> {
    let operation = load::commit(view, &entry.commit)?.commit.operation;
    Ok(match operation {
        Operation::Append { content } => Some(content),
        Operation::Hide(hide) => {
            let at = entry.index.unwrap_or(0) as usize;
            hide.replacements.get(at).map(|made| made.content)
        }
        _ => None,
    })
}

/// The session that the newest imported commit on the path to `commit` came from.
pub(crate) fn session_of(
    view: &dyn View,
    commit: &CommitHash,
) -> Result<Option<(RefName, SessionRow)>> {
    // Imported commits come first on most paths, own ones last: look from the end.
    for row in view.ancestors(commit, None, SESSION_SEARCH)? {
        for (source, _) in view.records(&row.hash)? {
            let Some(source) = view.source(source)? else {
                continue;
            };
            // A file of many conversations has no session of its own name.
            let session = view.session(&source.session)?.unwrap_or_default();
            return Ok(Some((source.session, session)));
        }
    }
    Ok(None)
}
