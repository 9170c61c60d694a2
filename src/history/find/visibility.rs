//! Where a message stands in the contexts of some branches: its number there, or what hides it, and
//! what stands around it.

use std::collections::{HashMap, HashSet};

use crate::context::{Context, OrderEntry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::history::{load, path};
use crate::model::{EntryId, HideKind, Operation, Priority, Role};
use crate::store::View;

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

/// What is known of the contexts at some commits. Each is folded when it is first asked for, and the
/// whole order, hidden messages included, only for those that need it.
pub(crate) struct Visibility {
    tips: Vec<CommitHash>,
    paths: HashMap<usize, Path>,
}

struct Path {
    context: Context,
    /// The places in the context.
    visible: HashMap<EntryId, usize>,
    title: Option<String>,
    order: Option<Whole>,
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
        let path = self.path(view, tip)?;
        if let Some(at) = path.visible.get(&entry) {
            let entry = &path.context.entries[*at];
            let masked = entry.mask.parts();
            let hidden_by = if entry.content == *content {
                let hidden = |part: &usize| masked.iter().any(|m| m.part as usize == *part);
                parts.iter().all(hidden).then_some(HiddenBy::Part)
            } else if masked.iter().any(|part| part.stub == Some(*content)) {
                None
            } else {
                Some(HiddenBy::Edit)
            };
            return Ok((Some(at + 1), hidden_by));
        }
        let order = self.order(view, tip)?;
        let hidden = order.places.get(&entry).map(|at| &order.entries[*at]);
        let hidden_by = match hidden {
            Some(OrderEntry { hidden_by, .. }) if !hidden_by.is_empty() => {
                // Before the first of them it was seen; the others cover what was hidden already.
                let commit = hidden_by[0];
                match load::commit(view, &commit)?.commit.operation {
                    Operation::Hide(hide) => HiddenBy::Hide {
                        commit,
                        kind: hide.kind,
                    },
                    _ => HiddenBy::Restore,
                }
            }
            Some(hidden) if hidden.priority == Priority::Skip => HiddenBy::Skip,
            _ => HiddenBy::Restore,
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
        let visible = &self.path(view, tip)?.visible;
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

    /// The title of the session that leads to this tip.
    pub(crate) fn title(&mut self, view: &dyn View, tip: usize) -> Result<Option<String>> {
        Ok(self.path(view, tip)?.title.clone())
    }

    fn path(&mut self, view: &dyn View, tip: usize) -> Result<&mut Path> {
        if !self.paths.contains_key(&tip) {
            let commit = &self.tips[tip];
            let context = load::context(view, commit)?;
            let path = Path {
                visible: context.positions(),
                context,
                title: path::session_of(view, commit)?.and_then(|(_, session)| session.title),
                order: None,
            };
            self.paths.insert(tip, path);
        }
        Ok(self.paths.get_mut(&tip).expect("inserted above"))
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
