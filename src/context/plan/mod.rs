//! Plans: an order in, a draft commit out. Pure: each says what would be hidden and nothing else.
//!
//! No plan splits a call from its result. What a plan wants grows to whole groups; where that would
//! take something protected (a pinned message, the task, the kept tail, a call still open), the
//! whole group stays instead.

mod clear;
mod compact;
mod drop;
#[cfg(test)]
mod laws;
mod prune;
mod restore;
mod skip;
mod truncate;

pub use clear::clear;
pub use compact::{Span, compact};
pub use drop::drop_messages;
pub use prune::{Prune, prune};
pub use restore::restore;
pub use skip::skip;
pub use truncate::{Fraction, Marker, Truncate, truncate};

use std::collections::BTreeSet;

use crate::context::pairs::{Links, Pairs};
use crate::context::{Order, OrderEntry};
#[cfg(test)]
use crate::hash::CommitHash;
use crate::model::{EntryId, Hide, HideKind, Interval, Message, Priority, Role, TokenCount};

/// What a plan must know of an entry beside its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Who speaks.
    pub role: Role,
    /// Its calls and results, those of hidden parts left out.
    pub links: Links,
    /// Its tokens.
    pub tokens: TokenCount,
}

/// A conversation as plans see it: every entry in order, hidden ones included.
#[derive(Clone, Debug)]
pub struct Conversation {
    entries: Vec<(OrderEntry, Facts)>,
    /// The visible entries: places in `entries`.
    visible: Vec<usize>,
    /// Over the visible entries.
    pairs: Pairs,
}

/// What a hide does with entries that are hidden already and stand between those it takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hidden {
    /// Covers them too: what is restored from an earlier hide stays under this one.
    Cover,
    /// Leaves them to the hides that cover them.
    Leave,
}

impl Conversation {
    /// The conversation of an order; `facts` tells of each entry.
    pub fn new(order: &Order, mut facts: impl FnMut(&OrderEntry) -> Facts) -> Self {
        let entries: Vec<_> = order
            .entries()
            .map(|entry| {
                let facts = facts(&entry);
                (entry, facts)
            })
            .collect();
        let visible: Vec<usize> = (0..entries.len())
            .filter(|at| entries[*at].0.visible)
            .collect();
        let pairs = Pairs::new(visible.iter().map(|at| &entries[*at].1.links));
        Self {
            entries,
            visible,
            pairs,
        }
    }

    /// How many entries are visible.
    pub fn visible_count(&self) -> usize {
        self.visible.len()
    }

    /// The visible entry at `place`, from 0.
    pub fn entry(&self, place: usize) -> &OrderEntry {
        &self.entries[self.visible[place]].0
    }

    /// What is known of the visible entry at `place`.
    pub fn facts(&self, place: usize) -> &Facts {
        &self.entries[self.visible[place]].1
    }

    /// The calls and results of the visible entries.
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The place of the task: the first user message after the leading system messages. In a
    /// context that begins with a summary, the summary.
    pub fn task(&self) -> Option<usize> {
        let start = (0..self.visible.len()).find(|at| !self.facts(*at).role.is_system())?;
        (start..self.visible.len()).find(|at| self.facts(*at).role == Role::User)
    }

    fn is_pinned(&self, place: usize) -> bool {
        self.entry(place).priority == Priority::Pinned
    }

    fn is_system(&self, place: usize) -> bool {
        self.facts(place).role.is_system()
    }

    /// Whether a truncation placed it.
    fn is_marker(&self, place: usize) -> bool {
        self.entry(place)
            .placed
            .is_some_and(|(_, kind)| kind == HideKind::Truncation)
    }

    /// What is taken of what is wanted: whole groups, none with a protected or open member.
    fn whole_groups(
        &self,
        wanted: impl IntoIterator<Item = usize>,
        is_protected: impl Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let mut taken = BTreeSet::new();
        for place in wanted {
            let group = self.pairs.group(place);
            let stays = |at: &usize| is_protected(*at) || self.pairs.is_open(*at);
            if !group.iter().any(stays) {
                taken.extend(group);
            }
        }
        taken
    }

    /// The intervals and survivors that cover exactly the visible entries `taken`.
    fn hide(&self, kind: HideKind, taken: &BTreeSet<usize>, hidden: Hidden) -> Hide {
        let taken: BTreeSet<usize> = taken.iter().map(|place| self.visible[*place]).collect();
        let mut intervals: Vec<(usize, usize)> = Vec::new();
        // Whether everything since the last interval may be covered with it.
        let mut joined = false;
        for (at, (entry, _)) in self.entries.iter().enumerate() {
            if taken.contains(&at) {
                match intervals.last_mut() {
                    Some(last) if joined => last.1 = at,
                    _ => intervals.push((at, at)),
                }
                joined = true;
            } else if entry.visible || hidden == Hidden::Leave {
                joined = false;
            }
        }
        let survives = |at: &usize| {
            let entry = &self.entries[*at].0;
            !taken.contains(at) && entry.priority == Priority::Pinned
        };
        let keep = intervals
            .iter()
            .flat_map(|(first, last)| *first..=*last)
            .filter(survives);
        let id = |at: usize| self.entries[at].0.id;
        Hide {
            kind,
            keep: keep.map(id).collect(),
            intervals: intervals
                .iter()
                .map(|(first, last)| Interval {
                    first: id(*first),
                    last: id(*last),
                })
                .collect(),
            parts: Vec::new(),
            replacements: Vec::new(),
        }
    }

    /// The first visible entry after all of `taken` that isn't taken; none: the end.
    fn after(&self, taken: &BTreeSet<usize>) -> Option<EntryId> {
        let next = taken.last()? + 1;
        (next < self.visible.len()).then(|| self.entry(next).id)
    }
}

/// Commits the draft of a plan, for tests and for callers that hold an order: its hash and commit.
#[cfg(test)]
pub(crate) fn commit_after(
    parent: Option<CommitHash>,
    draft: &crate::model::Draft,
) -> (CommitHash, crate::model::Commit) {
    let commit = crate::model::Commit {
        parent,
        operation: draft.operation.clone(),
        time: None,
        settings: draft.settings.clone(),
        note: draft.note.clone(),
    };
    (commit.hash(), commit)
}

/// A message of one text by the user, as summaries and markers are.
fn by_user(text: &str) -> Message {
    Message::text(Role::User, text)
}
