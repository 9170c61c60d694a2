//! What took a text back that was found, and what was chosen instead.
//!
//! A rewind leaves a path of the session, or hides what it takes back; a drop, a skip and an edit take back what they
//! are about. What a compaction, a truncation, a clear or a prune hides was no mistake: it made room. Deliberately
//! absent: why somebody took something back.

use std::collections::HashSet;

use super::visibility::{HiddenBy, Visibility};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{EntryId, Hide, HideKind, Millis, Operation};
use crate::repo::{load, path};
use crate::store::{CommitRow, View};

/// That a text was taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// When; none where nothing says so.
    pub time: Option<Millis>,
    /// What stands in its place, if anything does.
    pub instead: Option<Chosen>,
}

/// What was chosen instead of what was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// What shows it: the commit that brought it, or what that put in place.
    pub shown_by: EntryId,
    /// One line of it. Hostile until escaped.
    pub preview: String,
}

/// How far behind what took something back the next message is looked for.
const BEHIND: u64 = 16;

/// Where a text that was found stands best, and what is known of it there.
pub(super) struct FoundPlace {
    pub(super) tip: usize,
    pub(super) number: Option<usize>,
    pub(super) hidden_by: Option<HiddenBy>,
    pub(super) taken_by: Option<TakenBy>,
}

impl Visibility {
    /// What became of a text that was found at this tip. One that was taken back there, and not by HEAD, may stand on
    /// another branch: then it is that one's.
    pub(super) fn standing(
        &mut self,
        view: &dyn View,
        (tip, commit): (usize, &CommitHash),
        (entry, content): (EntryId, &ContentHash),
        parts: &HashSet<usize>,
    ) -> Result<FoundPlace> {
        let (number, hidden_by) = self.of(view, tip, entry, content, parts)?;
        let taken_by = self.taken_by(view, tip, (entry, content), hidden_by)?;
        // A path that was left is looked at last: nothing else has what is on it.
        let may_stand = !matches!(taken_by, None | Some(TakenBy::Leaving(_)));
        if may_stand && !self.is_head(tip) {
            for other in self.branches_beside(view, tip, commit)? {
                let (number, hidden_by) = self.of(view, other, entry, content, parts)?;
                if hidden_by.is_none() {
                    return Ok(FoundPlace {
                        tip: other,
                        number,
                        hidden_by,
                        taken_by: None,
                    });
                }
            }
        }
        Ok(FoundPlace {
            tip,
            number,
            hidden_by,
            taken_by,
        })
    }

    /// What took back a text of an entry that is found at this tip, for `hidden_by` not in its context; none: nothing did.
    fn taken_by(
        &mut self,
        view: &dyn View,
        tip: usize,
        (entry, content): (EntryId, &ContentHash),
        hidden_by: Option<HiddenBy>,
    ) -> Result<Option<TakenBy>> {
        let by = match hidden_by {
            Some(HiddenBy::Hide {
                commit,
                kind: HideKind::Drop,
            }) => {
                let hide = hide(view, &commit)?.filter(|(hide, _)| !hide.is_move());
                hide.map(|(hide, row)| TakenBy::Hide(Box::new((hide, row))))
            }
            Some(HiddenBy::Edit) => Some(TakenBy::Edit),
            Some(HiddenBy::Skip | HiddenBy::Restore) => Some(TakenBy::Unsaid),
            Some(HiddenBy::Hide { .. } | HiddenBy::Part) => {
                match self.withdrawn(view, tip, entry, content)? {
                    Some(HiddenBy::Edit) => Some(TakenBy::Edit),
                    Some(_) => Some(TakenBy::Unsaid),
                    None => None,
                }
            }
            None => None,
        };
        match by {
            Some(by) => Ok(Some(by)),
            None => Ok(self.left_for(view, tip)?.map(TakenBy::Leaving)),
        }
    }

    /// When that was, and what was chosen instead.
    pub(super) fn taken_back(
        &mut self,
        view: &dyn View,
        tip: usize,
        entry: EntryId,
        by: &TakenBy,
    ) -> Result<TakenBack> {
        let end = self.end(tip);
        match by {
            TakenBy::Hide(of) => by_hide(view, &end, &of.0, &of.1),
            TakenBy::Edit => {
                let now = self.text_at(view, tip, entry)?;
                by_edit(view, &end, entry, now)
            }
            TakenBy::Leaving(other) => by_leaving(view, &end, other),
            TakenBy::Unsaid => Ok(TakenBack::default()),
        }
    }
}

/// What takes a text back.
pub(super) enum TakenBy {
    /// A hide, which this commit is.
    Hide(Box<(Hide, CommitRow)>),
    Edit,
    /// The session went on elsewhere, and ends there.
    Leaving(CommitHash),
    /// A skip, or a restore: nothing is said of when, or of what is there instead.
    Unsaid,
}

/// A hide, and the commit that it is.
fn hide(view: &dyn View, commit: &CommitHash) -> Result<Option<(Hide, CommitRow)>> {
    let row = load::commit(view, commit)?;
    Ok(match row.commit.operation.clone() {
        Operation::Hide(hide) => Some((hide, row)),
        _ => None,
    })
}

/// By a hide: what it put in place; where it took all up to the end of then, what was said next. A hide without a time
/// is as old as that.
fn by_hide(view: &dyn View, end: &CommitHash, hide: &Hide, row: &CommitRow) -> Result<TakenBack> {
    let (said, time) = match takes_the_end(view, end, hide, row)? {
        true => next(view, end, row.depth + 1)?,
        false => (None, None),
    };
    let instead = match hide.replacements.first() {
        Some(first) => {
            let entry = EntryId::replacement(row.hash, 0, hide.replacements.len());
            chosen(view, entry, &first.content)?
        }
        None => said,
    };
    let time = row.commit.time.or(time);
    Ok(TakenBack { time, instead })
}

/// Whether nothing was said between what a hide covers and the hide.
fn takes_the_end(view: &dyn View, end: &CommitHash, hide: &Hide, row: &CommitRow) -> Result<bool> {
    let Some(last) = hide.intervals.last() else {
        return Ok(false);
    };
    let last = view.commit(&last.last.commit)?.map(|row| row.depth);
    let Some(last) = last.filter(|last| row.depth.saturating_sub(*last) <= BEHIND) else {
        return Ok(false);
    };
    for depth in last + 1..row.depth {
        let between = at_depth(view, end, depth)?;
        if between.is_some_and(|row| row.appended().is_some()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// By an edit, or since one was undone: the text that the entry has now, by the commit that gave it.
fn by_edit(
    view: &dyn View,
    end: &CommitHash,
    entry: EntryId,
    now: Option<ContentHash>,
) -> Result<TakenBack> {
    let Some(now) = now else {
        return Ok(TakenBack::default());
    };
    let (mut shown_by, mut time) = (entry, None);
    let mut edits = HashSet::new();
    for row in view.changes(end)? {
        match &row.commit.operation {
            Operation::Edit {
                target, content, ..
            } if path::entry_of(view, *target)? == entry => {
                edits.insert(row.hash);
                if *content == now {
                    shown_by = EntryId::of(row.hash);
                }
            }
            Operation::Restore { target, .. } if edits.contains(target) => {}
            _ => continue,
        }
        time = row.commit.time;
    }
    let instead = chosen(view, shown_by, &now)?;
    Ok(TakenBack { time, instead })
}

/// By going on elsewhere: what was said first there.
fn by_leaving(view: &dyn View, left: &CommitHash, end: &CommitHash) -> Result<TakenBack> {
    let shared = view.shared(left, end)?;
    let (instead, time) = next(view, end, shared)?;
    Ok(TakenBack { time, instead })
}

/// The first message from a depth on, and its time.
fn next(view: &dyn View, end: &CommitHash, depth: u64) -> Result<(Option<Chosen>, Option<Millis>)> {
    for depth in depth..depth + BEHIND {
        let Some(row) = at_depth(view, end, depth)? else {
            break;
        };
        if let Some(content) = row.appended() {
            let chosen = chosen(view, EntryId::of(row.hash), &content)?;
            return Ok((chosen, row.commit.time));
        }
    }
    Ok((None, None))
}

fn at_depth(view: &dyn View, end: &CommitHash, depth: u64) -> Result<Option<CommitRow>> {
    match view.ancestor_at(end, depth)? {
        Some(commit) => view.commit(&commit),
        None => Ok(None),
    }
}

fn chosen(view: &dyn View, shown_by: EntryId, content: &ContentHash) -> Result<Option<Chosen>> {
    let row = load::told_row(view, content)?;
    Ok(row.map(|row| Chosen {
        shown_by,
        preview: row.preview,
    }))
}
