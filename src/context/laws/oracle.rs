//! What is visible, straight from the definition: a second reading of the operations, with sets and
//! searches, that shares nothing with the fold.

use std::collections::{BTreeMap, HashSet};

use crate::hash::{CommitHash, ContentHash};
use crate::model::{Commit, EntryId, HideKind, Operation, Priority};

type Path = [(CommitHash, Commit)];

/// A visible entry: name, content, hidden parts, priority, and the kind of hide that placed it.
pub(super) type Seen = (
    EntryId,
    ContentHash,
    Vec<(u32, Option<ContentHash>)>,
    Priority,
    Option<HideKind>,
);

/// The visible entries at the end of a path, in order.
pub(super) fn visible(path: &Path) -> Vec<Seen> {
    let order = order(path);
    order
        .iter()
        .filter(|entry| {
            let covered = hides(path).any(|(at, _)| {
                covers(path, at).contains(entry) && active_for(path, path[at].0, entry)
            });
            let placed = placing_hide(path, entry).is_none_or(|hide| active(path, hide));
            !covered && placed && priority(path, entry) != Priority::Skip
        })
        .map(|entry| {
            let kind = placing_hide(path, entry).map(|hide| {
                let found = path.iter().find(|(hash, _)| *hash == hide);
                match &found.expect("it placed the entry").1.operation {
                    Operation::Hide(hide) => hide.kind,
                    _ => unreachable!("only hides place entries"),
                }
            });
            (
                *entry,
                content(path, entry),
                mask(path, entry),
                priority(path, entry),
                kind,
            )
        })
        .collect()
}

/// The total order after a path.
pub(super) fn order(path: &Path) -> Vec<EntryId> {
    let mut order: Vec<EntryId> = Vec::new();
    for (hash, commit) in path {
        match &commit.operation {
            Operation::Append { .. } => order.push(EntryId {
                commit: *hash,
                index: None,
            }),
            Operation::Hide(hide) => {
                let several = hide.replacements.len() > 1;
                for (index, replacement) in hide.replacements.iter().enumerate() {
                    let index = several.then_some(index as u32);
                    let at = match replacement.before {
                        Some(before) => order.iter().position(|e| *e == before).expect("there"),
                        None => order.len(),
                    };
                    order.insert(
                        at,
                        EntryId {
                            commit: *hash,
                            index,
                        },
                    );
                }
            }
            _ => {}
        }
    }
    order
}

fn hides(path: &Path) -> impl Iterator<Item = (usize, &crate::model::Hide)> {
    path.iter()
        .enumerate()
        .filter_map(|(at, (_, commit))| match &commit.operation {
            Operation::Hide(hide) => Some((at, hide)),
            _ => None,
        })
}

/// What the hide at `at` covers whole: the intervals of the order as it was, less what it keeps.
fn covers(path: &Path, at: usize) -> HashSet<EntryId> {
    let before = order(&path[..at]);
    let Operation::Hide(hide) = &path[at].1.operation else {
        return HashSet::new();
    };
    let mut covered = HashSet::new();
    for interval in &hide.intervals {
        let place = |id: EntryId| before.iter().position(|e| *e == id).expect("there");
        covered.extend(&before[place(interval.first)..=place(interval.last)]);
    }
    for keep in &hide.keep {
        covered.remove(keep);
    }
    covered
}

fn restores(path: &Path, target: CommitHash) -> impl Iterator<Item = &Vec<EntryId>> {
    path.iter()
        .filter_map(move |(_, commit)| match &commit.operation {
            Operation::Restore {
                target: undone,
                entries,
            } if *undone == target => Some(entries),
            _ => None,
        })
}

/// Whether a hide or an edit has not been undone as a whole.
fn active(path: &Path, target: CommitHash) -> bool {
    !restores(path, target).any(Vec::is_empty)
}

/// Whether a hide is in force for one entry.
fn active_for(path: &Path, hide: CommitHash, entry: &EntryId) -> bool {
    !restores(path, hide).any(|named| named.is_empty() || named.contains(entry))
}

fn placing_hide(path: &Path, entry: &EntryId) -> Option<CommitHash> {
    let made = &path
        .iter()
        .find(|(hash, _)| *hash == entry.commit)
        .expect("there")
        .1;
    matches!(made.operation, Operation::Hide(_)).then_some(entry.commit)
}

/// The entry that a name means: an edit's name means what it edits.
fn meant(path: &Path, id: &EntryId) -> EntryId {
    let named = path.iter().find(|(hash, _)| *hash == id.commit);
    match named.map(|(_, commit)| &commit.operation) {
        Some(Operation::Edit { target, .. }) => meant(path, target),
        _ => *id,
    }
}

/// The commit whose content the entry has: its own, or its latest active edit.
fn version(path: &Path, entry: &EntryId) -> CommitHash {
    let edits = path
        .iter()
        .rev()
        .find(|(hash, commit)| match &commit.operation {
            Operation::Edit { target, .. } => meant(path, target) == *entry && active(path, *hash),
            _ => false,
        });
    edits.map_or(entry.commit, |(hash, _)| *hash)
}

fn content(path: &Path, entry: &EntryId) -> ContentHash {
    let version = version(path, entry);
    let made = &path
        .iter()
        .find(|(hash, _)| *hash == version)
        .expect("there")
        .1;
    match &made.operation {
        Operation::Append { content } | Operation::Edit { content, .. } => *content,
        Operation::Hide(hide) => hide.replacements[entry.index.unwrap_or(0) as usize].content,
        _ => unreachable!("nothing else has a content"),
    }
}

/// The parts hidden of the content that the entry has now.
fn mask(path: &Path, entry: &EntryId) -> Vec<(u32, Option<ContentHash>)> {
    let now = version(path, entry);
    let mut parts = BTreeMap::new();
    for (at, hide) in hides(path) {
        for part in hide.parts.iter().filter(|part| part.entry == *entry) {
            let made_on = version(&path[..at], entry);
            if made_on == now && active_for(path, path[at].0, entry) {
                parts.insert(part.part, part.stub);
            }
        }
    }
    parts.into_iter().collect()
}

fn priority(path: &Path, entry: &EntryId) -> Priority {
    path.iter()
        .rev()
        .find_map(|(_, commit)| match &commit.operation {
            Operation::Annotate {
                targets, priority, ..
            } => targets
                .iter()
                .any(|id| meant(path, id) == *entry)
                .then_some(*priority),
            _ => None,
        })
        .unwrap_or_default()
}
