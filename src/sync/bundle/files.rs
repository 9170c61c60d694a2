//! Kept session files, compared by themselves: the commits that came of them may have gone ahead without them.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::BLOCK_BYTES;
use crate::error::Result;
use crate::hash::{CommitHash, Fingerprint, hex};
use crate::model::{RefName, Span};
use crate::repo::ancestry;
use crate::store::{SourceRow, View};
use crate::upkeep::erase::ERASED;
use crate::upkeep::purge::{holds_purged, may_hold_purged};

/// How many commits' records are held at once.
const SOME: usize = 1 << 12;

/// A kept session file, as one repository tells another of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// The session that it feeds.
    pub session: RefName,
    /// How many bytes are kept.
    pub size_bytes: u64,
    /// Their SHA-256, in hex.
    pub fingerprint: String,
    /// How many of the commits that are asked for have records in it.
    pub commits: u64,
}

/// Whether a session file of another repository is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It is here, with all its records.
    Here,
    /// It is here, and not all of its records.
    Unrecorded,
    /// It is not.
    Missing,
    /// It is not to be here: it may hold what was erased.
    Refused,
}

/// The session files behind what leads to these commits, the oldest first. What is not here leads nowhere.
pub(crate) fn kept_files(view: &dyn View, tips: &[CommitHash]) -> Result<Vec<KeptFile>> {
    let mut files = Vec::new();
    for (id, commits) in behind(view, tips)? {
        if let Some(row) = view.source(id)? {
            files.push(KeptFile {
                session: row.session,
                size_bytes: row.size_bytes,
                fingerprint: hex(&row.fingerprint),
                commits,
            });
        }
    }
    Ok(files)
}

/// What becomes of files of another repository's, which are behind what leads to these commits there.
pub(crate) fn states(
    view: &dyn View,
    tips: &[CommitHash],
    files: &[KeptFile],
) -> Result<Vec<FileState>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let behind = behind(view, tips)?;
    let mut is_spoiled = None;
    let mut spoiled = || match is_spoiled {
        Some(known) => Ok(known),
        None => {
            let mut found = false;
            for tip in here(view, tips)? {
                found = found || holds_purged(view, &tip)?;
            }
            is_spoiled = Some(found);
            Ok::<bool, crate::Error>(found)
        }
    };
    let mut states = Vec::new();
    for file in files {
        let known = view.sources(&file.session)?;
        let held = begins_with(view, &known, file.size_bytes, &file.fingerprint)?;
        states.push(match held {
            Some(id) if behind.get(&id).copied().unwrap_or(0) >= file.commits => FileState::Here,
            Some(_) => FileState::Unrecorded,
            None => {
                let session = view.session(&file.session)?;
                let is_marked = session.is_some_and(|it| it.absent.iter().any(|it| it == ERASED));
                if is_marked || may_hold_purged(view, &file.session)? || spoiled()? {
                    FileState::Refused
                } else {
                    FileState::Missing
                }
            }
        });
    }
    Ok(states)
}

/// The one of a session's files that begins with these bytes: it may have grown since.
pub(crate) fn begins_with(
    view: &dyn View,
    known: &[SourceRow],
    size_bytes: u64,
    fingerprint: &str,
) -> Result<Option<u64>> {
    let whole = known
        .iter()
        .find(|row| row.size_bytes == size_bytes && hex(&row.fingerprint) == fingerprint);
    if let Some(row) = whole {
        return Ok(Some(row.id));
    }
    for row in known.iter().filter(|row| row.size_bytes > size_bytes) {
        let mut hash = Fingerprint::default();
        let mut offset = 0;
        while offset < size_bytes {
            let len = BLOCK_BYTES.min(size_bytes - offset);
            let bytes = view.source_bytes(row.id, Span { offset, len })?;
            hash.update(&bytes);
            offset += len;
        }
        if hex(&hash.value()) == fingerprint {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

/// The numbers of these files here, of those that are behind the commits.
pub(super) fn matching(
    view: &dyn View,
    commits: &[CommitHash],
    files: &[KeptFile],
) -> Result<Vec<u64>> {
    let mut ids = Vec::new();
    for id in view.sources_behind(commits)? {
        let Some(row) = view.source(id)? else {
            continue;
        };
        let is_wanted = files.iter().any(|file| {
            file.session == row.session
                && file.size_bytes == row.size_bytes
                && file.fingerprint == hex(&row.fingerprint)
        });
        if is_wanted {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// By the number of each file, how many of the commits that lead to these have records in it.
fn behind(view: &dyn View, tips: &[CommitHash]) -> Result<BTreeMap<u64, u64>> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    if view.has_sources()? {
        for some in ancestry::leading_to(view, &here(view, tips)?)?.chunks(SOME) {
            for (id, _) in view.records(some)?.into_iter().flatten() {
                *counts.entry(id).or_default() += 1;
            }
        }
    }
    Ok(counts.into_iter().collect())
}

/// Those of these commits that are here.
pub(crate) fn here(view: &dyn View, tips: &[CommitHash]) -> Result<Vec<CommitHash>> {
    let found = view.commits(tips)?.into_iter();
    let found = found.zip(tips).filter(|(row, _)| row.is_some());
    Ok(found.map(|(_, tip)| *tip).collect())
}
