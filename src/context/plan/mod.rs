//! Plans: the whole order in, a draft commit out.
//!
//! A plan never splits tool pairs: it grows to whole groups, and where growing would take what is
//! protected, it shrinks. Deliberately absent: reading bodies, counting tokens, and storing; the
//! caller gives the facts and appends the draft.

pub mod bisect;
pub mod carry;
pub mod clear;
pub mod compact;
pub mod drop;
#[cfg(test)]
mod laws;
pub mod pick;
pub mod prune;
pub mod restore;
pub(crate) mod shrink;
pub mod skip;
pub mod truncate;

use std::collections::{BTreeSet, HashMap};

use crate::context::OrderEntry;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::pairs::{Groups, Links, Pair, Pairs};
use crate::model::{
    Draft, EntryId, Hide, HideKind, Interval, Message, Operation, Part, PartHide, Priority,
    Replacement, Role, Sealed, TokenCount,
};

/// What plans are made from.
#[derive(Clone, Debug, Default)]
pub struct PlanInput {
    /// Every entry of the total order, hidden ones included.
    pub order: Vec<PlanEntry>,
    /// The entries that edits edit: such a commit names its entry too.
    pub edits: HashMap<CommitHash, EntryId>,
}

/// An entry with what plans need to know of its content; or many that stand together.
#[derive(Clone, Debug)]
pub struct PlanEntry {
    /// The entry, or the first of those that stand together.
    pub entry: OrderEntry,
    /// The others that stand together with it.
    pub run: Option<Together>,
    /// Who speaks.
    pub role: Role,
    /// Whether a client attached it to the message that it stands beside: it goes where that goes.
    pub attached: bool,
    /// Whether it is the user's by its role alone, and stands before the first message that a user typed.
    pub injected: bool,
    /// Its calls and results, those of hidden parts left out and those of stubs included.
    pub links: Links,
    /// Its tokens as the context holds it.
    pub tokens: TokenCount,
    /// The parts of its content, hidden ones included.
    pub parts: Vec<PlanPart>,
}

/// Neighbours that no plan tells apart, behind the first of them: one and the same became of all. None
/// is a system message or attached, and each call is answered among them, each result is for a call
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// The last of them.
    pub last: EntryId,
    /// How many they are, with the first.
    pub len: usize,
}

/// What plans need to know of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanPart {
    /// Whether it is a call or a result, and of which id.
    pub link: PartLink,
    /// Its tokens.
    pub tokens: u64,
}

/// How a part takes part in tool use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartLink {
    /// It doesn't.
    None,
    /// A call.
    Call {
        /// Its id.
        id: String,
        /// The tool's name.
        tool: String,
    },
    /// A result for this id.
    Result(String),
}

impl PartLink {
    /// That of a part.
    pub fn of(part: &Part) -> Self {
        match part {
            Part::ToolCall { id, name, .. } => Self::Call {
                id: id.clone(),
                tool: name.clone(),
            },
            Part::ToolResult { call, .. } => Self::Result(call.clone()),
            _ => Self::None,
        }
    }
}

/// A part that a plan hides.
pub(crate) struct GonePart {
    /// Its entry's place.
    at: usize,
    part: usize,
    /// What stands for it.
    stub: Option<Sealed<Message>>,
}

impl PlanEntry {
    fn visible(&self) -> bool {
        self.entry.visible
    }

    fn pinned(&self) -> bool {
        self.entry.priority == Priority::Pinned
    }

    /// Whether a part is hidden and nothing stands for it.
    fn lacks(&self, part: usize) -> bool {
        let mut masked = self.entry.mask.parts().iter();
        masked.any(|masked| masked.part as usize == part && masked.stub.is_none())
    }

    /// How many entries these are.
    pub fn len(&self) -> usize {
        self.run.map_or(1, |run| run.len)
    }

    /// Whether they are none, which they never are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The last of them.
    fn last(&self) -> EntryId {
        self.run.map_or(self.entry.id, |run| run.last)
    }

    /// The short hash by which an error names it.
    fn commit(&self) -> String {
        self.entry.id.commit.short()
    }

    /// Whether a user speaks, and not a client in a user's place.
    fn is_users(&self) -> bool {
        self.role == Role::User && !self.attached
    }

    fn placed_by(&self, kind: HideKind) -> bool {
        self.entry.placed.is_some_and(|(_, placed)| placed == kind)
    }
}

impl PlanInput {
    /// The places of the visible entries.
    fn visible(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.order.len()).filter(|at| self.order[*at].visible())
    }

    /// How many entries the order has.
    pub fn entries(&self) -> usize {
        self.order.iter().map(PlanEntry::len).sum()
    }

    /// How many entries stand at these places.
    fn count<'a>(&self, places: impl IntoIterator<Item = &'a usize>) -> usize {
        places.into_iter().map(|at| self.order[*at].len()).sum()
    }

    /// The pairs of the context; places are those of the order.
    pub fn pairs(&self) -> Pairs {
        self.pairs_of(|entry| {
            if entry.visible() {
                entry.links.clone()
            } else {
                Links::default()
            }
        })
    }

    /// The pairs of the whole order, hidden entries included.
    fn pairs_of_all(&self) -> Pairs {
        self.pairs_of(|entry| entry.links.clone())
    }

    /// The pairs of the whole order as it was before any part was hidden.
    fn pairs_of_contents(&self) -> Pairs {
        let links = |entry: &PlanEntry| {
            if entry.entry.mask.is_empty() {
                return entry.links.clone();
            }
            let mut links = Links::default();
            for part in &entry.parts {
                match &part.link {
                    PartLink::Call { id, .. } => links.calls.push(id.clone()),
                    PartLink::Result(id) => links.results.push(id.clone()),
                    PartLink::None => {}
                }
            }
            links
        };
        self.pairs_of(links)
    }

    /// Where the call of a pair of contents is, and which part it is; none where no part is hidden there.
    fn call_of(&self, pair: &Pair) -> (usize, Option<usize>) {
        self.end_of(pair.call, |link| matches!(link, PartLink::Call { .. }))
    }

    /// The same of its result.
    fn result_of(&self, pair: &Pair) -> (usize, Option<usize>) {
        self.end_of(pair.result, |link| matches!(link, PartLink::Result(_)))
    }

    fn end_of(
        &self,
        (at, nth): (usize, usize),
        is_end: impl Fn(&PartLink) -> bool,
    ) -> (usize, Option<usize>) {
        let entry = &self.order[at];
        if entry.entry.mask.is_empty() {
            return (at, None);
        }
        let parts = entry.parts.iter().enumerate();
        let mut ends = parts.filter(|(_, part)| is_end(&part.link));
        (at, ends.nth(nth).map(|(part, _)| part))
    }

    /// What stands and falls together by any of these pairings.
    fn groups(&self, pairings: &[&Pairs]) -> Groups {
        let joined = pairings.iter().flat_map(|pairs| pairs.pairs());
        let joined = joined.map(|pair| (pair.call.0, pair.result.0));
        Groups::new(self.order.len(), joined)
    }

    fn pairs_of(&self, links: impl Fn(&PlanEntry) -> Links) -> Pairs {
        Pairs::new(&self.order.iter().map(links).collect::<Vec<_>>())
    }

    /// The place of the task: the first message that the user typed after the leading system messages, or the
    /// summary with which the context begins. A truncation's marker is none.
    pub fn task(&self) -> Option<usize> {
        let mut rest = self.visible().filter(|at| {
            let entry = &self.order[*at];
            let is_system = entry.role.is_system() || entry.attached;
            !is_system && !entry.placed_by(HideKind::Truncation)
        });
        let first = rest.next()?;
        let is_task = |at: &usize| self.order[*at].role == Role::User && !self.order[*at].injected;
        if self.order[first].placed_by(HideKind::Compaction) || is_task(&first) {
            return Some(first);
        }
        rest.find(is_task)
    }

    /// The first place at which visible entries stand together.
    fn first_run(&self) -> Option<usize> {
        self.visible().find(|at| self.order[*at].run.is_some())
    }

    /// Whether the task is told by itself, and nothing that may be the task stands together with others; `is_typed` says whether
    /// a message that a user typed is told by itself.
    pub(crate) fn tells_task(&self, is_typed: bool) -> bool {
        self.first_run().is_none_or(|run| {
            let task = self.task().filter(|task| *task < run);
            task.is_some_and(|at| is_typed || self.order[at].placed_by(HideKind::Compaction))
        })
    }

    /// Whether all that belongs to these entries is told by itself, and the newest message of a user's.
    pub(crate) fn tells_around(&self, named: &[EntryId]) -> bool {
        let Some(last) = self.visible().rfind(|at| self.order[*at].run.is_some()) else {
            return true;
        };
        let pairs = self.pairs();
        let runs = self
            .visible()
            .filter(|at| self.order[*at].run.is_some())
            .collect::<Vec<_>>();
        // Ids may repeat: what stands together between a call and a result may hold the nearer one.
        let is_sure = |pair: &&Pair| {
            let before = |at: usize| runs.partition_point(|run| *run < at);
            before(pair.call.0) == before(pair.result.0)
        };
        let is_whole = |at: &usize| {
            let (mut calls, mut results) = (0, 0);
            for pair in pairs.pairs().iter().filter(is_sure) {
                calls += usize::from(pair.call.0 == *at);
                results += usize::from(pair.result.0 == *at);
            }
            let links = &self.order[*at].links;
            (calls, results) == (links.calls.len(), links.results.len())
        };
        let named = named.iter().filter_map(|id| self.place(id).ok());
        let mut groups = named.filter(|at| self.order[*at].visible());
        let is_users = |at: usize| self.order[at].is_users();
        // What is attached at a border may have more of its kind beyond it, and so may what goes there.
        let visible = self.visible().collect::<Vec<_>>();
        let neighbours = visible.windows(2);
        let at_borders = neighbours.filter(|two| self.order[two[1]].run.is_some());
        let at_borders: BTreeSet<usize> = at_borders.map(|two| two[0]).collect();
        let is_cut = at_borders.iter().any(|at| self.order[*at].attached);
        let is_told = |at: &usize| is_whole(at) && !at_borders.contains(at);
        !is_cut
            && self.visible().any(|at| at > last && is_users(at))
            && groups.all(|at| pairs.group_of(at).iter().all(is_told))
    }

    /// The place of an entry, by its own name or that of an edit of it.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] if it isn't in the order.
    pub fn place(&self, id: &EntryId) -> Result<usize> {
        let edited = id.index.is_none().then(|| self.edits.get(&id.commit));
        let meant = edited.flatten().unwrap_or(id);
        let found = self.order.iter().position(|entry| entry.entry.id == *meant);
        found.ok_or_else(|| Error::NotOnPath {
            entry: id.to_string(),
        })
    }

    /// The places of many entries, in one look at all.
    ///
    /// # Errors
    ///
    /// As [`PlanInput::place`].
    pub fn places<'a>(&self, ids: impl IntoIterator<Item = &'a EntryId>) -> Result<Vec<usize>> {
        let all = self.order.iter().enumerate();
        let all: HashMap<EntryId, usize> = all.map(|(at, entry)| (entry.entry.id, at)).collect();
        let place = |id| all.get(id).copied().map_or_else(|| self.place(id), Ok);
        ids.into_iter().map(place).collect()
    }

    /// Which part is the `nth` call, or else result, that the context shows of the entry at `at`;
    /// that is how [`PlanInput::pairs`] names it.
    pub fn part_of(&self, (at, nth): (usize, usize), call: bool) -> Option<usize> {
        let entry = &self.order[at];
        let parts = entry.parts.iter().enumerate();
        let mut linked = parts.filter(|(part, facts)| {
            let kind = match facts.link {
                PartLink::Call { .. } => call,
                PartLink::Result(_) => !call,
                PartLink::None => false,
            };
            kind && !entry.lacks(*part)
        });
        linked.nth(nth).map(|(part, _)| part)
    }

    /// Which of `wanted` can go: whole groups, without those that hold anything protected.
    /// Pinned entries and calls still open are protected whatever `protects` says. Where `hidden`
    /// is set, hidden entries are taken like visible ones, and pins on them count.
    fn settle(
        &self,
        wanted: &BTreeSet<usize>,
        hidden: bool,
        protects: impl Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let pairs = self.pairs();
        let groups = if hidden {
            self.groups(&[&pairs, &self.pairs_of_all()])
        } else {
            self.groups(&[&pairs])
        };
        let stays = |at: usize| self.order[at].pinned() || pairs.is_open(at) || protects(at);
        let mut chosen = BTreeSet::new();
        for at in wanted {
            let group = groups.of(*at);
            if !chosen.contains(at) && !group.iter().any(|member| stays(*member)) {
                chosen.extend(group.iter().copied());
            }
        }
        chosen.extend(self.attached_to(&chosen));
        chosen.retain(|at| hidden || self.order[*at].visible());
        chosen
    }

    /// What is attached to any of these and not pinned: it goes with them. An attachment belongs to
    /// the message before it, at the very beginning to the one after it.
    fn attached_to(&self, hosts: &BTreeSet<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let mut host = self.order.iter().position(|entry| !entry.attached);
        for (at, entry) in self.order.iter().enumerate() {
            if !entry.attached {
                host = Some(at);
            } else if host.is_some_and(|host| hosts.contains(&host)) && !entry.pinned() {
                found.push(at);
            }
        }
        found
    }

    /// A hide of exactly these entries. A run of the order is one interval; what stays in the
    /// midst of it is named as a survivor where that is shorter.
    fn intervals(&self, chosen: &BTreeSet<usize>) -> (Vec<Interval>, Vec<EntryId>) {
        let id = |at: usize| self.order[at].entry.id;
        let (mut intervals, mut keep): (Vec<Interval>, Vec<EntryId>) = Default::default();
        let mut last: Option<usize> = None;
        for at in chosen.iter().copied() {
            match (last, intervals.last_mut()) {
                (Some(last), Some(interval)) if self.entries_between(last, at) <= 1 => {
                    keep.extend((last + 1..at).map(id));
                    interval.last = self.order[at].last();
                }
                _ => intervals.push(Interval {
                    first: id(at),
                    last: self.order[at].last(),
                }),
            }
            last = Some(at);
        }
        (intervals, keep)
    }

    /// How many entries stand between two places; two where they are more.
    fn entries_between(&self, one: usize, other: usize) -> usize {
        match other - one {
            1 => 0,
            2 => self.order[one + 1].len().min(2),
            _ => 2,
        }
    }

    /// The draft of a hide of entries and of single parts, each with what stands in its place.
    fn hide(
        &self,
        kind: HideKind,
        chosen: &BTreeSet<usize>,
        parts: Vec<GonePart>,
        replacement: Option<(Option<EntryId>, Message)>,
    ) -> Draft {
        let (intervals, keep) = self.intervals(chosen);
        let part = |gone: &GonePart| PartHide {
            entry: self.order[gone.at].entry.id,
            part: gone.part as u32,
            stub: gone.stub.as_ref().map(Sealed::hash),
        };
        let hidden = parts.iter().map(part).collect();
        let mut messages: Vec<_> = parts.into_iter().filter_map(|gone| gone.stub).collect();
        let mut replacements = Vec::new();
        if let Some((before, message)) = replacement {
            let message = Sealed::new(message);
            let content = message.hash();
            replacements.push(Replacement { before, content });
            messages.push(message);
        }
        let hide = Hide {
            kind,
            intervals,
            keep,
            parts: hidden,
            replacements,
        };
        Draft::new(Operation::Hide(hide), messages)
    }

    /// Whether a place has a pair that stays around it.
    fn splits(&self, chosen: &BTreeSet<usize>) -> impl Fn(usize) -> bool {
        let pairs = self.pairs();
        move |at| {
            let stays = |pair: &&Pair| !chosen.contains(&pair.call.0);
            let mut kept = pairs.pairs().iter().filter(stays);
            kept.any(|pair| pair.call.0 < at && at <= pair.result.0)
        }
    }

    /// The nearest place up to `at` before which something can be put: a visible entry that stays, such
    /// that no pair that stays, and no message with what is attached to it, has it in its midst.
    fn slot_before(&self, at: usize, chosen: &BTreeSet<usize>) -> usize {
        let splits = self.splits(chosen);
        self.visible()
            .rev()
            .filter(|slot| *slot <= at && !chosen.contains(slot))
            .find(|slot| !splits(*slot) && !self.order[*slot].attached)
            .unwrap_or(at)
    }

    /// Before which entry a replacement stands that comes after place `after`: the first visible
    /// one that stays, such that no pair that stays has it in its midst. None: at the end.
    fn slot_after(&self, after: usize, chosen: &BTreeSet<usize>) -> Option<EntryId> {
        let splits = self.splits(chosen);
        self.visible()
            .filter(|at| *at > after && !chosen.contains(at))
            .find(|at| !splits(*at))
            .map(|at| self.order[at].entry.id)
    }
}
