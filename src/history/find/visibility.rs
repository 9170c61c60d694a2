//! Where a message stands in the contexts of some branches: its number there, or what hides it, and
//! what stands around it.

use std::collections::{HashMap, HashSet};

use crate::context::{Context, Entry, OrderEntry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::history::outline::{Fates, Outline};
use crate::history::{load, path};
use crate::model::{EntryId, HideKind, Operation, Priority, Role};
use crate::store::{SessionRow, View};

/// Why a text is not in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenBy {
    /// A hide covers the message.
    Hide {
        /// The hide; the oldest, if there are several: before it the message was there.
        commit: CommitHash,
        /// Its kind.
        kind: HideKind,
    },
    /// A hide covers the parts of the message that it stands in.
    Part,
    /// The message has another text, by a later edit or since its edit was undone.
    Edit,
    /// The message is annotated `skip`.
    Skip,
    /// The hide that put the message in place was undone.
    Restore,
}

/// A message beside a found one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its place in the conversation.
    pub entry: EntryId,
    /// Its number among the visible ones, from 1; none if it is hidden.
    pub number: Option<usize>,
    /// Who speaks.
    pub role: Role,
    /// One line of it. Hostile until escaped.
    pub preview: String,
}

/// From how many commits on that are no appends a context is folded rather than outlined.
const MANY: usize = 2_000;

/// What is known of the contexts at some commits. Each is outlined when it is first asked for; its
/// context is folded, and the whole order, hidden messages included, only for those that need it.
pub(crate) struct Visibility {
    tips: Vec<CommitHash>,
    paths: HashMap<usize, Path>,
}

struct Path {
    fates: Option<Fates>,
    session: SessionRow,
    seen: Option<Seen>,
    order: Option<Whole>,
}

struct Seen {
    context: Context,
    /// The places in the context.
    visible: HashMap<EntryId, usize>,
}

struct Whole {
    entries: Vec<OrderEntry>,
    places: HashMap<EntryId, usize>,
}

impl Visibility {
    pub(crate) fn new(tips: Vec<CommitHash>) -> Self {
        let paths = HashMap::new();
        Self { tips, paths }
    }

    /// The number that the entry has at this tip, and why `content`, which it has or had, is not
    /// seen there; `parts` are those of the content that matter.
    pub(crate) fn of(
        &mut self,
        view: &dyn View,
        tip: usize,
        entry: EntryId,
        content: &ContentHash,
        parts: &HashSet<usize>,
    ) -> Result<(Option<usize>, Option<HiddenBy>)> {
        let depth = view.commit(&entry.commit)?.map(|row| row.depth);
        let fates = &self.path(view, tip)?.fates;
        if let (Some(fates), Some(depth)) = (fates, depth)
            && let Some(fate) = fates.get(&entry, depth)
        {
            let as_made = Entry::new(entry, *content, None);
            let now = fate.entry.unwrap_or(&as_made);
            return Ok(match fate.number {
                Some(_) => (fate.number, lost(now, content, parts)),
                None => (None, Some(hidden_by(view, fate.by, now.priority)?)),
            });
        }
        let seen = self.seen(view, tip)?;
        if let Some(at) = seen.visible.get(&entry) {
            let lost = lost(&seen.context.entries[*at], content, parts);
            return Ok((Some(at + 1), lost));
        }
        let order = self.order(view, tip)?;
        let hidden = order.places.get(&entry).map(|at| &order.entries[*at]);
        let hidden_by = match hidden {
            Some(entry) => hidden_by(view, &entry.hidden_by, entry.priority)?,
            None => HiddenBy::Restore,
        };
        Ok((None, Some(hidden_by)))
    }

    /// Up to `around` entries on each side of one, in the conversation's order, hidden ones
    /// included.
    pub(crate) fn neighbours(
        &mut self,
        view: &dyn View,
        tip: usize,
        entry: &EntryId,
        around: usize,
    ) -> Result<(Vec<Neighbour>, Vec<Neighbour>)> {
        let order = self.order(view, tip)?;
        let Some(at) = order.places.get(entry).copied() else {
            return Ok(Default::default());
        };
        let entries = &order.entries;
        let before = entries[at.saturating_sub(around)..at].to_vec();
        let after = entries[at + 1..].iter().take(around).cloned().collect();
        let visible = &self.seen(view, tip)?.visible;
        let neighbour = |entry: OrderEntry| {
            let row = view.content_row(&entry.content)?;
            Ok(row.map(|row| Neighbour {
                entry: entry.id,
                number: visible.get(&entry.id).map(|at| at + 1),
                role: row.role,
                preview: row.preview,
            }))
        };
        let all = |entries: Vec<OrderEntry>| -> Result<Vec<Neighbour>> {
            entries
                .into_iter()
                .filter_map(|entry| neighbour(entry).transpose())
                .collect()
        };
        Ok((all(before)?, all(after)?))
    }

    /// What is known of the session that leads to this tip.
    pub(crate) fn session(&mut self, view: &dyn View, tip: usize) -> Result<&SessionRow> {
        Ok(&self.path(view, tip)?.session)
    }

    fn path(&mut self, view: &dyn View, tip: usize) -> Result<&mut Path> {
        if !self.paths.contains_key(&tip) {
            let commit = &self.tips[tip];
            let path = Path {
                fates: Outline::of_few(view, commit, MANY)?.map(Fates::of),
                session: path::session_of(view, commit)?
                    .map_or_else(SessionRow::default, |(_, row)| row),
                seen: None,
                order: None,
            };
            self.paths.insert(tip, path);
        }
        Ok(self.paths.get_mut(&tip).expect("inserted above"))
    }

    fn seen(&mut self, view: &dyn View, tip: usize) -> Result<&Seen> {
        if self.path(view, tip)?.seen.is_none() {
            let context = load::context(view, &self.tips[tip])?;
            let visible = context.positions();
            self.path(view, tip)?.seen = Some(Seen { context, visible });
        }
        Ok(self.path(view, tip)?.seen.as_ref().expect("filled above"))
    }

    fn order(&mut self, view: &dyn View, tip: usize) -> Result<&Whole> {
        if self.path(view, tip)?.order.is_none() {
            let order = load::order(view, &self.tips[tip])?;
            let entries: Vec<OrderEntry> = order.entries().collect();
            let places = entries.iter().enumerate();
            let places = places.map(|(at, entry)| (entry.id, at)).collect();
            self.path(view, tip)?.order = Some(Whole { entries, places });
        }
        Ok(self.path(view, tip)?.order.as_ref().expect("filled above"))
    }
}

/// Why `content` is not seen where its entry is visible and has come to this, if it is not; `parts` are
/// those of the content that matter.
fn lost(entry: &Entry, content: &ContentHash, parts: &HashSet<usize>) -> Option<HiddenBy> {
    let masked = entry.mask.parts();
    if entry.content == *content {
        let hidden = |part: &usize| masked.iter().any(|m| m.part as usize == *part);
        return parts.iter().all(hidden).then_some(HiddenBy::Part);
    }
    let is_stub = masked.iter().any(|part| part.stub == Some(*content));
    (!is_stub).then_some(HiddenBy::Edit)
}

/// Why an entry is not visible that these hides cover, oldest first.
fn hidden_by(view: &dyn View, hides: &[CommitHash], priority: Priority) -> Result<HiddenBy> {
    // Before the first of them it was seen; the others cover what was hidden already.
    let Some(commit) = hides.first().copied() else {
        return Ok(match priority {
            Priority::Skip => HiddenBy::Skip,
            _ => HiddenBy::Restore,
        });
    };
    Ok(match load::commit(view, &commit)?.commit.operation {
        Operation::Hide(hide) => HiddenBy::Hide {
            commit,
            kind: hide.kind,
        },
        _ => HiddenBy::Restore,
    })
}
