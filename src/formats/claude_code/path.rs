//! The tree of records, and which of them make up a path's messages.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::index::{Entry, Index, Kind, Name};
use crate::error::Result;
use crate::formats::{Problem, Severed, Sink};

/// What one step is made of; records by entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// All records of one reply.
    Reply(Vec<u32>),
    /// All results of a reply's calls.
    Results(Vec<u32>),
    /// A result without its call.
    Orphan(u32),
    /// A user's record, a prompt that came while the model worked, or what the client wrote beside.
    Input(u32),
    /// A prompt that the queue alone has: its record, and that of what became of it.
    Queued(u32, Option<u32>),
    /// A compaction: its boundary, its summary, and what is sent in front of that.
    Compaction(Option<u32>, u32, Vec<u32>),
    /// A microcompaction, or what else takes back some of what was sent.
    Prune(u32),
}

impl Item {
    /// The records behind it.
    pub(super) fn records(&self) -> Vec<u32> {
        match self {
            Self::Reply(records) | Self::Results(records) => records.clone(),
            Self::Orphan(record) | Self::Input(record) | Self::Prune(record) => vec![*record],
            Self::Queued(record, other) => [*record].into_iter().chain(*other).collect(),
            Self::Compaction(boundary, summary, front) => {
                let all = boundary.iter().chain(front).chain([summary]);
                all.copied().collect()
            }
        }
    }
}

/// How many records may stand between a request that failed and the word of it.
const SINCE_MAX: usize = 10_000;

/// Which tree of records a record belongs to: its root's number, from 1. A client may write a conversation into its
/// file once more, under a root of its own.
type Scope = u32;

/// Parents, and the ways to a reply's other records.
pub(super) struct Tree<'i> {
    index: &'i Index,
    /// Whether the file is a sub-agent's own.
    pub(super) agent_file: bool,
    parents: Vec<Option<u32>>,
    scopes: Vec<Scope>,
    by_message: HashMap<(Scope, Name, u32), Vec<u32>>,
    by_result: HashMap<(Scope, Name), Vec<u32>>,
    /// The prompts that the queue alone has, by the message that they came in behind.
    queued: HashMap<Option<u32>, Vec<Item>>,
    /// What is no message, by the message that it hangs on, straight or by others such.
    hanging: HashMap<u32, Vec<u32>>,
    /// Records that name one before them which is not in the file.
    severed: HashSet<u32>,
}

impl<'i> Tree<'i> {
    pub(super) fn new(index: &'i Index, sink: &mut dyn Sink) -> Result<Self> {
        let mut messages = index.entries.iter().filter(|entry| entry.is_message());
        let agent_file = messages.clone().next().is_some() && messages.all(|entry| entry.sidechain);
        let mut tree = Self {
            index,
            agent_file,
            parents: Vec::with_capacity(index.entries.len()),
            scopes: Vec::with_capacity(index.entries.len()),
            by_message: HashMap::new(),
            by_result: HashMap::new(),
            queued: HashMap::new(),
            hanging: HashMap::new(),
            severed: HashSet::new(),
        };
        tree.link(sink)?;
        tree.collect();
        Ok(tree)
    }

    fn entry(&self, record: u32) -> &'i Entry {
        &self.index.entries[record as usize]
    }

    fn is_main(&self, record: u32) -> bool {
        let entry = self.entry(record);
        self.agent_file || !entry.sidechain
    }

    fn link(&mut self, sink: &mut dyn Sink) -> Result<()> {
        // The previous record of the main thread, and of each sub-agent.
        let mut previous: HashMap<Option<Name>, u32> = HashMap::new();
        for (at, entry) in self.index.entries.iter().enumerate() {
            let at = at as u32;
            if entry.is_loose() {
                self.parents.push(None);
                self.scopes.push(at + 1);
                continue;
            }
            let main = self.is_main(at);
            let key = (!main).then(|| entry.agent.unwrap_or(Name::MAX));
            let before = previous.get(&key).copied();
            let find = |name: Option<Name>| {
                name.and_then(|name| self.index.by_uuid.get(&name).copied())
                    .filter(|parent| *parent != at && self.is_main(*parent) == main)
            };
            let parent = match entry.parent {
                Some(name) => {
                    let found = find(Some(name)).map(|parent| self.past_compaction(at, parent));
                    if found.is_none() && before.is_some() {
                        let name = self.index.names.of(name);
                        let reason = format!(
                            "parent {name} is not in the file; the record before it is taken"
                        );
                        // All the records come in. Who reads the end alone can't tell, and reads the whole.
                        if self.index.is_own(entry) {
                            sink.problem(Problem {
                                harmless: self.index.is_whole,
                                ..Problem::new(entry.line, reason)
                            })?;
                        }
                        self.severed.insert(at);
                    }
                    found.or(before)
                }
                // What is kept may be newer than what was summarised.
                None if entry.kind == Kind::Boundary => {
                    let kept = self.index.preserved.get(&at);
                    let kept = kept.into_iter().flat_map(|kept| &kept.uuids);
                    let kept = kept.filter_map(|uuid| find(Some(*uuid))).max();
                    kept.max(find(entry.logical_parent)).or(before)
                }
                None if entry.kind == Kind::Summary => find(entry.logical_parent).or(before),
                None => None,
            };
            let parent = match (parent, before) {
                (Some(parent), Some(before)) if entry.failed && self.leads(parent, before) => {
                    Some(before)
                }
                _ => parent,
            };
            self.parents.push(parent);
            self.scopes.push(at + 1);
            previous.insert(key, at);
        }
        for at in 0..self.parents.len() {
            self.scopes[at] = match self.parents[at] {
                Some(parent) if (parent as usize) < at => self.scopes[parent as usize],
                Some(_) => self.walk(at as u32)[0] + 1,
                None => continue,
            };
        }
        Ok(())
    }

    /// Whether a way leads from `record` to `last`, another one.
    ///
    /// An error of the provider's is told late, once the request was made again, and hangs where
    /// that began. What was said since then is still sent: only a client that reads the file anew
    /// goes past it.
    fn leads(&self, record: u32, last: u32) -> bool {
        // What names a record that comes later hangs in the air yet.
        let parent = |at: &u32| self.parents.get(*at as usize).copied().flatten();
        let mut way = std::iter::successors(Some(last), parent).take(SINCE_MAX + 1);
        last > record && way.find(|at| *at <= record) == Some(record)
    }

    /// Where a record follows one that a compaction kept, the way to the root goes through the
    /// compaction's summary.
    fn past_compaction(&self, record: u32, parent: u32) -> u32 {
        let Some(name) = self.entry(parent).uuid else {
            return parent;
        };
        self.index
            .preserved
            .iter()
            .filter(|(boundary, _)| (parent + 1..record).contains(boundary))
            .filter(|(_, kept)| kept.uuids.contains(&name))
            .filter_map(|(_, kept)| self.index.by_uuid.get(&kept.anchor?).copied())
            .filter(|anchor| *anchor < record)
            .max()
            .unwrap_or(parent)
    }

    fn collect(&mut self) {
        let mut anchors: Vec<Option<u32>> = Vec::with_capacity(self.index.entries.len());
        for (at, entry) in self.index.entries.iter().enumerate() {
            let at = at as u32;
            let parent = self.parents[at as usize].filter(|parent| *parent < at);
            let anchor = parent.and_then(|parent| {
                if self.entry(parent).is_message() {
                    Some(parent)
                } else {
                    anchors[parent as usize]
                }
            });
            anchors.push(anchor);
            if let (Some(anchor), false) = (anchor, entry.is_message()) {
                self.hanging.entry(anchor).or_default().push(at);
            }
            if matches!(entry.kind, Kind::User | Kind::Assistant | Kind::Mirror(_)) {
                let scope = self.scope(at);
                if let Some(message) = entry.message {
                    let key = (scope, message, entry.epoch);
                    self.by_message.entry(key).or_default().push(at);
                }
                for call in &entry.results {
                    self.by_result.entry((scope, *call)).or_default().push(at);
                }
            }
        }
        for queued in &self.index.queued {
            let item = match self.entry(queued.told).kind {
                Kind::Replaced => Item::Prune(queued.told),
                _ => Item::Queued(queued.told, queued.other),
            };
            self.queued.entry(queued.behind).or_default().push(item);
        }
    }

    /// From the root to `leaf`.
    fn walk(&self, leaf: u32) -> Vec<u32> {
        let mut seen = HashSet::new();
        let mut path = Vec::new();
        let mut next = Some(leaf);
        while let Some(record) = next.filter(|record| seen.insert(*record)) {
            path.push(record);
            next = self.parents[record as usize];
        }
        path.reverse();
        path
    }

    /// Whether all of it can be told without what stands before its first record: each record follows one
    /// that is here, in one conversation; nothing is compacted; and no record leads elsewhere.
    pub(super) fn is_one_path(&self) -> bool {
        let entries = &self.index.entries;
        let mut nodes = entries.iter().enumerate();
        // A mirror or a compaction is more than a record of the path.
        let is_plain = |entry: &Entry| {
            let Entry { kind, .. } = entry;
            !matches!(
                kind,
                Kind::Mirror(_) | Kind::Boundary | Kind::Summary | Kind::Micro | Kind::Cut
            )
        };
        let Some((first, entry)) = nodes.next() else {
            return false;
        };
        let begins = is_plain(entry) && self.is_main(first as u32);
        let hangs_here = |(at, entry): (usize, &Entry)| {
            let parent = entry.parent.and_then(|name| self.index.by_uuid.get(&name));
            let is_here = parent.is_some_and(|parent| (*parent as usize) < at);
            is_plain(entry) && is_here && self.is_main(at as u32)
        };
        let leads_here = |(name, _): (Name, usize)| self.index.by_uuid.contains_key(&name);
        begins && nodes.all(hangs_here) && self.index.last_prompt.is_none_or(leads_here)
    }

    /// The items of the main path, and how far its tool gets, where that is not all.
    pub(super) fn main(&self) -> (Vec<Item>, Option<Severed>) {
        let leaf = (0..self.index.entries.len() as u32).rev().find(|record| {
            let entry = self.entry(*record);
            self.is_main(*record) && (entry.is_message() || entry.prunes())
        });
        let leaf = leaf.map(|leaf| self.asides_after(leaf));
        let path = leaf.map_or_else(Vec::new, |leaf| self.walk(leaf));
        let path = self.prompted(&path).unwrap_or(path);
        let severed = path
            .iter()
            .rposition(|record| self.severed.contains(record));
        let severed = severed.map(|at| Severed {
            reached: (path.len() - at) as u64,
            all: path.len() as u64,
        });
        (self.items(&path, true), severed)
    }

    /// The last of what the client wrote beside right after a leaf; the leaf if there is nothing.
    fn asides_after(&self, leaf: u32) -> u32 {
        // A result would follow its call, and leave what hangs there aside.
        if !self.entry(leaf).calls.is_empty() {
            return leaf;
        }
        let (mut last, mut end) = (leaf, leaf);
        for at in leaf + 1..self.index.entries.len() as u32 {
            if self.parents[at as usize] == Some(end) && !self.entry(at).is_message() {
                end = at;
                if self.entry(at).is_aside() {
                    last = at;
                }
            }
        }
        last
    }

    /// The path to the leaf that `last-prompt` names, where it stands at the end and names another
    /// leaf than the last record: a rewind that nothing followed yet.
    fn prompted(&self, path: &[u32]) -> Option<Vec<u32>> {
        let (name, place) = self.index.last_prompt?;
        let leaf = *self.index.by_uuid.get(&name)?;
        let last = *path.last()?;
        let is_leaf = !self.parents.contains(&Some(leaf));
        let other = self.is_main(leaf) && is_leaf && !path.contains(&leaf);
        (other && place > last as usize).then(|| self.walk(leaf))
    }

    /// What a path's messages are made of.
    fn items(&self, path: &[u32], main: bool) -> Vec<Item> {
        let on_path: HashSet<u32> = path.iter().copied().collect();
        let mut done = HashSet::new();
        let mut items = Vec::new();
        let mut boundary = None;
        for &record in path {
            if !done.insert(record) {
                continue;
            }
            let entry = self.entry(record);
            match entry.kind {
                // In the main chain it is a node like any other.
                Kind::Mirror(_) if main => {}
                Kind::Assistant | Kind::Mirror(true) => {
                    let scope = self.scope(record);
                    let reply = entry
                        .message
                        .and_then(|message| self.by_message.get(&(scope, message, entry.epoch)))
                        .cloned()
                        .unwrap_or_else(|| vec![record]);
                    done.extend(&reply);
                    let results = self.results(&reply, scope, &on_path, &mut done);
                    let beside = self.beside(&reply, &results, &on_path);
                    done.extend(&beside);
                    items.push(Item::Reply(reply));
                    if !results.is_empty() {
                        items.push(Item::Results(results));
                    }
                    items.extend(beside.into_iter().map(Item::Input));
                }
                Kind::User | Kind::Mirror(false) if !entry.results.is_empty() => {
                    items.push(Item::Orphan(record));
                }
                Kind::User
                | Kind::Mirror(false)
                | Kind::QueuedCommand
                | Kind::Placeholder
                | Kind::Attached
                | Kind::Local => items.push(Item::Input(record)),
                // Behind the message that they came in behind.
                Kind::Queued(_) | Kind::Taken | Kind::Replaced => {}
                Kind::Boundary => boundary = Some((record, items.len())),
                Kind::Summary => {
                    let (boundary, front) = boundary.take().unzip();
                    let front = front.map_or_else(Vec::new, |at| self.front(&mut items, at));
                    items.push(Item::Compaction(boundary, record, front));
                }
                Kind::Micro | Kind::Cut => items.push(Item::Prune(record)),
                Kind::Synthetic | Kind::Node => {}
            }
        }
        if main && !self.queued.is_empty() {
            items = self.with_queued(items);
        }
        items
    }

    /// These items with the prompts that the queue alone has, each behind what it came in behind, and never between a
    /// call and its result.
    fn with_queued(&self, items: Vec<Item>) -> Vec<Item> {
        let of = |record| self.queued.get(&record).into_iter().flatten().cloned();
        let mut with = Vec::with_capacity(items.len());
        let mut waiting: Vec<Item> = of(None).collect();
        for item in items {
            let goes_along = match item {
                Item::Results(_) => true,
                Item::Input(record) => self.entry(record).kind == Kind::Attached,
                _ => false,
            };
            if !goes_along {
                with.append(&mut waiting);
            }
            let records = item.records();
            with.push(item);
            waiting.extend(records.into_iter().flat_map(|record| of(Some(record))));
        }
        with.append(&mut waiting);
        with
    }

    /// Where a path repeats what an older tree of the file says: the older one's path up to there, and the record with
    /// which it ends. That is none of those from `below` on.
    pub(super) fn repeated(&self, items: &[Item], below: u32) -> Option<(Vec<Item>, u32)> {
        let original = |item: &Item| {
            let Item::Reply(records) = item else {
                return None;
            };
            let (record, first) = (records[0], self.index.first_of(records[0])?);
            let is_older = self.scopes[first as usize] != self.scopes[record as usize];
            (is_older && self.is_main(first) && first < below).then_some(first)
        };
        let last = items.iter().rev().find_map(original)?;
        Some((self.items(&self.walk(last), true), last))
    }

    fn scope(&self, record: u32) -> Scope {
        let entry = self.entry(record);
        match entry.kind {
            // Numbers from the top can't be a root's.
            Kind::Mirror(_) => Scope::MAX - entry.agent.unwrap_or_default(),
            _ => self.scopes[record as usize],
        }
    }

    /// The records of the results of a reply's calls, in the order of the calls.
    fn results(
        &self,
        reply: &[u32],
        scope: Scope,
        on_path: &HashSet<u32>,
        done: &mut HashSet<u32>,
    ) -> Vec<u32> {
        let mut results = Vec::new();
        for &record in reply {
            for call in &self.entry(record).calls {
                let Some(found) = self.by_result.get(&(scope, *call)) else {
                    continue;
                };
                // A quick result may stand before its call, and then names it.
                let follows =
                    |result: u32| result > record || self.parents[result as usize] == Some(record);
                let open = |result: &&u32| !done.contains(*result) && follows(**result);
                let result = found
                    .iter()
                    .filter(open)
                    .find(|result| on_path.contains(result))
                    .or_else(|| found.iter().find(open));
                if let Some(&result) = result {
                    done.insert(result);
                    results.push(result);
                }
            }
        }
        results
    }

    /// Takes what a client tells between a compaction's boundary and its summary, and sends in front of that,
    /// out of `items`, where the boundary came at a place.
    fn front(&self, items: &mut Vec<Item>, boundary: usize) -> Vec<u32> {
        let is_front = |item: &Item| match item {
            Item::Input(record) => self.entry(*record).rendered,
            _ => false,
        };
        let since = items[boundary..].iter().rposition(|item| !is_front(item));
        let at = since.map_or(boundary, |at| boundary + at + 1);
        items.drain(at..).flat_map(|item| item.records()).collect()
    }

    /// What a client has told beside the calls of a reply before their results, where it is sent: it hangs on
    /// the call, as the result does.
    fn beside(&self, reply: &[u32], results: &[u32], on_path: &HashSet<u32>) -> Vec<u32> {
        let Some(last) = results.iter().max() else {
            return Vec::new();
        };
        let hanging = reply.iter().filter_map(|record| self.hanging.get(record));
        let mut hanging: Vec<u32> = hanging.flatten().copied().collect();
        hanging.sort_unstable();
        let mut ways: HashSet<u32> = reply.iter().copied().collect();
        let mut found = Vec::new();
        for record in hanging.into_iter().filter(|record| record < last) {
            let entry = self.entry(record);
            let hangs = self.parents[record as usize].is_some_and(|at| ways.contains(&at));
            if !hangs || on_path.contains(&record) {
                continue;
            }
            ways.insert(record);
            if entry.kind == Kind::Attached && entry.rendered {
                found.push(record);
            }
        }
        found
    }

    /// Paths to the leaves that no path in `covered` reaches, in file order.
    pub(super) fn other_leaves(&self, covered: &[bool]) -> Vec<u32> {
        let count = self.index.entries.len();
        let open = |record: u32| {
            self.is_main(record) && self.entry(record).is_message() && !covered[record as usize]
        };
        let mut inner = vec![false; count];
        for record in (0..count as u32).filter(|record| open(*record)) {
            let mut next = self.parents[record as usize];
            while let Some(parent) = next.filter(|parent| !inner[*parent as usize]) {
                inner[parent as usize] = true;
                next = self.parents[parent as usize];
            }
        }
        (0..count as u32)
            .filter(|record| open(*record) && !inner[*record as usize])
            .collect()
    }

    /// The items on the way to a leaf of the main thread.
    pub(super) fn leaf(&self, leaf: u32) -> Vec<Item> {
        self.items(&self.walk(leaf), true)
    }

    /// Sub-agents: a name if there is one, and the items.
    pub(super) fn agents(&self) -> Vec<(Option<Name>, Vec<Item>)> {
        let mut last: BTreeMap<Scope, u32> = BTreeMap::new();
        let mut mirrored: Vec<(Name, Vec<u32>)> = Vec::new();
        for (at, entry) in self.index.entries.iter().enumerate() {
            let at = at as u32;
            if let (Kind::Mirror(_), Some(agent)) = (entry.kind, entry.agent) {
                match mirrored.iter_mut().find(|(name, _)| *name == agent) {
                    Some((_, path)) => path.push(at),
                    None => mirrored.push((agent, vec![at])),
                }
            } else if entry.is_message() && !self.is_main(at) {
                last.insert(self.scopes[at as usize], at);
            }
        }
        let inline = last
            .into_values()
            .map(|leaf| (self.entry(leaf).agent, self.items(&self.walk(leaf), false)));
        let mirrored = mirrored.into_iter();
        let mirrored = mirrored.map(|(agent, path)| (Some(agent), self.items(&path, false)));
        inline.chain(mirrored).collect()
    }
}
