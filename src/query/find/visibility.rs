//! Where a message stands in the contexts of some branches: its number there, or what hides it, and
//! what stands around it.

use std::collections::{HashMap, HashSet};

use crate::context::{Context, Entry, OrderEntry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{EntryId, HideKind, Operation, Priority, RefName, Role};
use crate::repo::outline::{Fates, Outline};
use crate::repo::path::SessionEnds;
use crate::repo::{load, path};
use crate::store::{SessionRow, Tips, View};

/// Where a path ends, and the ref that is there, if it is by one that it is looked at.
pub(crate) type Tip = (Option<RefName>, CommitHash);

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

/// The session that a branch came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its name; none where the branch came from none.
    pub name: Option<RefName>,
    /// Its title. Hostile until escaped.
    pub title: Option<String>,
    /// The directory in which it ran. Likewise.
    pub directory: Option<String>,
    /// The session that it went on from, or was forked from, and the title of that. Likewise.
    pub before: Option<(RefName, Option<String>)>,
}

impl Origin {
    /// Of the branch that ends in `tip`, at which the session `named` ends, if one does.
    fn of(view: &dyn View, tip: &CommitHash, named: Option<&RefName>) -> Result<Self> {
        let session = match named {
            Some(name) => Some((name.clone(), view.session(name)?.unwrap_or_default())),
            None => path::session_of(view, tip)?,
        };
        let Some((name, row)) = session else {
            return Ok(Self::default());
        };
        let directory = ran_in(&name, &row, |above| view.session(above))?;
        let before = path::predecessor(view, (&name, tip), &SessionEnds::default())?;
        Ok(Self {
            name: Some(name),
            title: row.title,
            directory,
            before: before.map(|(name, row)| (name, row.title)),
        })
    }
}

/// The directory that a session ran in, or that of the session that it is a further path of.
pub(crate) fn ran_in(
    name: &RefName,
    row: &SessionRow,
    known: impl Fn(&RefName) -> Result<Option<SessionRow>>,
) -> Result<Option<String>> {
    if row.cwd.is_some() {
        return Ok(row.cwd.clone());
    }
    let mut above = name.above();
    while let Some(name) = above {
        if let Some(cwd) = known(&name)?.and_then(|row| row.cwd) {
            return Ok(Some(cwd));
        }
        above = name.above();
    }
    Ok(None)
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
    tips: Vec<Tip>,
    /// The branch that HEAD is on, or HEAD where it is on none: what is on it is not left.
    head: Option<RefName>,
    paths: HashMap<usize, Path>,
    /// Of tips that were left, where what left them ends.
    left: HashMap<usize, Option<CommitHash>>,
}

struct Path {
    fates: Option<Fates>,
    session: Origin,
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
    pub(crate) fn new(tips: Vec<Tip>, head: Option<RefName>) -> Self {
        Self {
            tips,
            head,
            paths: HashMap::new(),
            left: HashMap::new(),
        }
    }

    /// Where a path ends.
    pub(super) fn end(&self, tip: usize) -> CommitHash {
        self.tips[tip].1
    }

    /// Whether HEAD is there.
    pub(super) fn is_head(&self, tip: usize) -> bool {
        let name = self.tips[tip].0.as_ref();
        name.is_some() && name == self.head.as_ref()
    }

    /// The other branches that have a commit, but for those that were left.
    pub(super) fn branches_beside(
        &mut self,
        view: &dyn View,
        tip: usize,
        commit: &CommitHash,
    ) -> Result<Vec<usize>> {
        let is_other = |(at, (name, end)): &(usize, &Tip)| {
            *at != tip && *end != self.tips[tip].1 && name.as_ref().is_some_and(RefName::is_branch)
        };
        let others = self.tips.iter().enumerate().filter(is_other);
        let others: Vec<(usize, CommitHash)> = others.map(|(at, (_, end))| (at, *end)).collect();
        let ends: Vec<CommitHash> = others.iter().map(|(_, end)| *end).collect();
        view.look_ahead(Tips::At(&ends))?;
        let mut found = Vec::new();
        for (at, end) in others {
            if view.is_ancestor(commit, &end)? && self.left_for(view, at)?.is_none() {
                found.push(at);
            }
        }
        Ok(found)
    }

    /// Where the session or branch ends that has left this path, if one has.
    pub(super) fn left_for(&mut self, view: &dyn View, tip: usize) -> Result<Option<CommitHash>> {
        if let Some(known) = self.left.get(&tip) {
            return Ok(*known);
        }
        let name = self.tips[tip].0.as_ref();
        let name = name.filter(|name| Some(*name) != self.head.as_ref());
        let end = match name.and_then(RefName::left_by) {
            Some(above) => load::tip(view, &above)?,
            None => None,
        };
        self.left.insert(tip, end);
        Ok(end)
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

    /// The skip or the edit that takes a text out of the context of this tip, whatever else hides it there.
    pub(super) fn withdrawn(
        &mut self,
        view: &dyn View,
        tip: usize,
        entry: EntryId,
        content: &ContentHash,
    ) -> Result<Option<HiddenBy>> {
        let depth = view.commit(&entry.commit)?.map(|row| row.depth);
        let by = |now: &Entry| match lost(now, content, &HashSet::from([usize::MAX])) {
            Some(HiddenBy::Edit) => Some(HiddenBy::Edit),
            _ => (now.priority == Priority::Skip).then_some(HiddenBy::Skip),
        };
        let fates = &self.path(view, tip)?.fates;
        if let (Some(fates), Some(depth)) = (fates, depth)
            && let Some(fate) = fates.get(&entry, depth)
        {
            return Ok(fate.entry.and_then(by));
        }
        let order = self.order(view, tip)?;
        let now = order.places.get(&entry).map(|at| &order.entries[*at]);
        Ok(now.and_then(|now| by(&Entry::from(now))))
    }

    /// The text that an entry has at this tip, whatever hides it there; none where it is not there.
    pub(super) fn text_at(
        &mut self,
        view: &dyn View,
        tip: usize,
        entry: EntryId,
    ) -> Result<Option<ContentHash>> {
        let order = self.order(view, tip)?;
        let now = order.places.get(&entry).map(|at| &order.entries[*at]);
        Ok(now.map(|now| now.content))
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
            let row = load::told_row(view, &entry.content)?;
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
    pub(crate) fn session(&mut self, view: &dyn View, tip: usize) -> Result<&Origin> {
        Ok(&self.path(view, tip)?.session)
    }

    /// The session that ends there: others that went on from it have all of it, too.
    fn session_at(&self, tip: usize) -> Option<&RefName> {
        let of_session =
            |(name, _): &&Tip| name.as_ref().is_some_and(|it| it.as_session().is_some());
        let here = self
            .tips
            .iter()
            .filter(|(_, commit)| *commit == self.tips[tip].1);
        let own = [&self.tips[tip]].into_iter();
        own.chain(here).find(of_session)?.0.as_ref()
    }

    fn path(&mut self, view: &dyn View, tip: usize) -> Result<&mut Path> {
        if !self.paths.contains_key(&tip) {
            let commit = &self.tips[tip].1;
            let path = Path {
                fates: Outline::of_few(view, commit, MANY)?.map(Fates::of),
                session: Origin::of(view, commit, self.session_at(tip))?,
                seen: None,
                order: None,
            };
            self.paths.insert(tip, path);
        }
        Ok(self.paths.get_mut(&tip).expect("inserted above"))
    }

    fn seen(&mut self, view: &dyn View, tip: usize) -> Result<&Seen> {
        if self.path(view, tip)?.seen.is_none() {
            let context = load::context(view, &self.tips[tip].1)?;
            let visible = context.positions();
            self.path(view, tip)?.seen = Some(Seen { context, visible });
        }
        Ok(self.path(view, tip)?.seen.as_ref().expect("filled above"))
    }

    fn order(&mut self, view: &dyn View, tip: usize) -> Result<&Whole> {
        if self.path(view, tip)?.order.is_none() {
            let order = load::order(view, &self.tips[tip].1)?;
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
