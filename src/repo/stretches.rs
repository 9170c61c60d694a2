//! The order of a commit as stretches of one fate.
//!
//! Only what changes a conversation is read: hides, edits, restores, priorities, and the messages
//! that these name. All messages between two of those share one fate, so one entry stands for them in
//! the fold, whose order stays that of [`Order`]. Deliberately absent: bodies, and who asks.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use imbl::Vector;

use crate::context::{Context, Entry, Order, OrderEntry};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, fingerprint};
use crate::model::{
    Commit, Encoding, EntryId, HideKind, Millis, Operation, Priority, Settings, TokenCount,
};
use crate::repo::in_force;
use crate::store::{Appended, CommitRow, CountKey, Facts, View, Visit};

/// The entries at a commit, in order: all that stand, hidden ones included.
#[derive(Clone, Debug)]
pub struct Outline {
    /// A commit that is stored: all that was appended in a row leads to it.
    pub(crate) tip: CommitHash,
    /// How many commits lead to it, itself included.
    len: u64,
    /// The commits that were told one by one, oldest first; those that are not stored follow the tip.
    rows: Vec<CommitRow>,
    /// Every entry of the order, those too that do not stand any more.
    pub(crate) stretches: Vec<Stretch>,
    /// How many hides of each kind are active.
    hides: [u32; 5],
    /// The entries that edits edit.
    pub(crate) edits: HashMap<CommitHash, EntryId>,
}

/// Neighbouring entries with one fate.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) what: Stood,
    pub(crate) len: usize,
    /// What became of them; of entries in a row it names none.
    pub(crate) fate: OrderEntry,
    /// Whether they stand: what a hide put in place that was undone does not.
    pub(crate) stands: bool,
    /// Whether an active clear or compaction covers them.
    pub(crate) is_past: bool,
    /// Whether compactions hide them, and nothing else does.
    pub(crate) is_compacted: bool,
    /// What hides them.
    pub(crate) hidden: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) enum Stood {
    /// Appended one after the other, the first by the commit at this depth.
    From(u64),
    One(Box<Entry>),
}

impl Outline {
    /// That of a commit.
    pub(crate) fn of(view: &dyn View, tip: &CommitHash) -> Result<Self> {
        Self::from(view, tip, view.changes(tip)?)
    }

    /// How many hides of this kind are active.
    pub(crate) fn active_hides(&self, kind: HideKind) -> u32 {
        self.hides[Context::slot_of(kind)]
    }

    /// The same where at most so many commits on the way are no appends: it costs a look at each for
    /// each.
    pub(crate) fn of_few(view: &dyn View, tip: &CommitHash, most: usize) -> Result<Option<Self>> {
        let changes = view.changes(tip)?;
        if changes.len() > most {
            Ok(None)
        } else {
            Self::from(view, tip, changes).map(Some)
        }
    }

    /// `rows` are the commits on the path that are no appends.
    fn from(view: &dyn View, tip: &CommitHash, mut rows: Vec<CommitRow>) -> Result<Self> {
        let len = view.commit(tip)?.ok_or_else(|| unknown(tip))?.depth + 1;
        rows.extend(named(view, tip, &rows)?);
        rows.sort_by_key(|row| row.depth);
        Self::folded(*tip, len, rows)
    }

    /// The same after these commits, which need not be stored.
    ///
    /// # Errors
    ///
    /// Those of [`Order::apply`].
    pub(crate) fn then(&self, view: &dyn View, next: &[(CommitHash, Commit)]) -> Result<Self> {
        let mut rows = self.rows.clone();
        let last = rows.last().map_or(0, |row| row.depth + 1);
        let next = (last.max(self.len)..).zip(next);
        let next = next.map(|(depth, (hash, commit))| CommitRow {
            hash: *hash,
            commit: commit.clone(),
            depth,
        });
        let next: Vec<CommitRow> = next.collect();
        let known: HashSet<CommitHash> = rows.iter().map(|row| row.hash).collect();
        let named = named(view, &self.tip, &next)?.into_iter();
        rows.extend(named.filter(|row| !known.contains(&row.hash)));
        rows.extend(next);
        rows.sort_by_key(|row| row.depth);
        Self::folded(self.tip, self.len, rows)
    }

    /// The same with these entries told one by one.
    pub(crate) fn apart(&self, view: &dyn View, entries: &[EntryId]) -> Result<Self> {
        let known: HashSet<CommitHash> = self.rows.iter().map(|row| row.hash).collect();
        let names = entries.iter().map(|id| id.commit);
        let names: BTreeSet<CommitHash> = names.filter(|name| !known.contains(name)).collect();
        let found = appends(view, &self.tip, names)?;
        if found.is_empty() {
            return Ok(self.clone());
        }
        let mut rows = self.rows.clone();
        rows.extend(found);
        rows.sort_by_key(|row| row.depth);
        Self::folded(self.tip, self.len, rows)
    }

    fn folded(tip: CommitHash, len: u64, rows: Vec<CommitRow>) -> Result<Self> {
        let kinds: HashMap<CommitHash, HideKind> = rows.iter().filter_map(kind).collect();
        let mut order = Order::default();
        let mut runs: HashMap<CommitHash, (u64, usize)> = HashMap::new();
        let mut next = 0;
        let ends = rows.iter().map(|row| (row.depth, Some(row)));
        let stored = rows.iter().filter(|row| row.depth >= len).count() as u64;
        for (depth, row) in ends.chain([(len + stored, None)]) {
            if depth > next {
                let (name, commit) = stand_in(next);
                order.apply(name, &commit)?;
                runs.insert(name, (next, (depth - next) as usize));
            }
            if let Some(row) = row {
                order.apply(row.hash, &row.commit)?;
            }
            next = depth + 1;
        }
        let stands =
            |entry: &OrderEntry| entry.placed.is_none_or(|(hide, _)| order.is_active(&hide));
        let stretches = order.entries().map(|entry| {
            let kind = |hide: &CommitHash| kinds.get(hide).copied();
            let is_past = |hide: &CommitHash| {
                matches!(kind(hide), Some(HideKind::Clear | HideKind::Compaction))
            };
            let is_compaction = |hide: &CommitHash| kind(hide) == Some(HideKind::Compaction);
            let is_hidden = !entry.hidden_by.is_empty() && entry.priority != Priority::Skip;
            let run = runs.get(&entry.id.commit).copied();
            Stretch {
                len: run.map_or(1, |(_, len)| len),
                stands: stands(&entry),
                is_past: entry.hidden_by.iter().any(is_past),
                is_compacted: is_hidden && entry.hidden_by.iter().all(is_compaction),
                hidden: match (entry.hidden_by.last(), entry.priority) {
                    (Some(hide), _) => kind(hide).map(HideKind::as_str),
                    (None, Priority::Skip) => Some("skip"),
                    (None, _) => None,
                },
                what: match run {
                    Some((first, _)) => Stood::From(first),
                    None => Stood::One(Box::new(Entry::from(&entry))),
                },
                fate: entry,
            }
        });
        let stretches = stretches.collect();
        Ok(Self {
            tip,
            len,
            hides: order.context().hides,
            edits: order.edits().collect(),
            rows,
            stretches,
        })
    }

    /// With how many visible entries both contexts begin, where their paths have so many commits in common.
    pub(crate) fn visible_in_common(&self, other: &Self, shared: u64) -> usize {
        let depths = [self.depths(), other.depths()];
        let pieces = |outline: &'_ Self| -> Vec<(usize, Stood)> {
            let visible = outline.stretches.iter().filter(|one| one.fate.visible);
            visible.map(|one| (one.len, one.what.clone())).collect()
        };
        let [mut one, mut two] = [self, other].map(|outline| pieces(outline).into_iter());
        let (mut left, mut right) = (one.next(), two.next());
        let mut count = 0;
        while let (Some((len, what)), Some((others, other))) = (&mut left, &mut right) {
            let same = match (&mut *what, &mut *other) {
                (Stood::From(first), Stood::From(there)) if first == there => {
                    let room = shared.saturating_sub(*first) as usize;
                    let same = room.min(*len).min(*others);
                    *first += same as u64;
                    *there += same as u64;
                    same
                }
                (Stood::One(entry), Stood::One(there)) => usize::from(is_alike(entry, there)),
                (Stood::One(entry), Stood::From(first)) => {
                    let same = is_at(&depths[0], entry, *first, shared);
                    *first += u64::from(same);
                    same.into()
                }
                (Stood::From(first), Stood::One(entry)) => {
                    let same = is_at(&depths[1], entry, *first, shared);
                    *first += u64::from(same);
                    same.into()
                }
                (Stood::From(_), Stood::From(_)) => 0,
            };
            if same == 0 {
                break;
            }
            count += same;
            *len -= same;
            *others -= same;
            if *len == 0 {
                left = one.next();
            }
            if right.as_ref().is_some_and(|(others, _)| *others == 0) {
                right = two.next();
            }
        }
        count
    }

    /// The visible entries that were told one by one.
    pub(crate) fn visible_ones(&self) -> Vec<&Entry> {
        let visible = self.stretches.iter().filter(|one| one.fate.visible);
        let ones = visible.filter_map(|stretch| match &stretch.what {
            Stood::One(entry) => Some(&**entry),
            Stood::From(_) => None,
        });
        ones.collect()
    }

    /// How many visible entries stand before an entry; none if it isn't visible here.
    pub(crate) fn visible_before(&self, view: &dyn View, id: &EntryId) -> Result<Option<usize>> {
        let depth = view.commit(&id.commit)?.map(|row| row.depth);
        let is_here = view.is_ancestor(&id.commit, &self.tip)?;
        let mut before = 0;
        for stretch in self.stretches.iter().filter(|one| one.fate.visible) {
            match (&stretch.what, depth) {
                (Stood::One(entry), _) if entry.id == *id => return Ok(Some(before)),
                (Stood::From(first), Some(depth))
                    if is_here
                        && id.index.is_none()
                        && (*first..first + stretch.len as u64).contains(&depth) =>
                {
                    return Ok(Some(before + (depth - first) as usize));
                }
                _ => {}
            }
            before += stretch.len;
        }
        Ok(None)
    }

    /// Whether all commits behind the one at this depth are appends.
    pub(crate) fn only_appends_since(&self, depth: u64) -> bool {
        let mut since = self.rows.iter().rev().take_while(|row| row.depth > depth);
        since.all(|row| row.appended().is_some())
    }

    /// The depths of the appends that were told one by one.
    pub(crate) fn depths(&self) -> HashMap<CommitHash, u64> {
        let appends = self.rows.iter().filter(|row| row.appended().is_some());
        appends.map(|row| (row.hash, row.depth)).collect()
    }

    /// How many entries the order has.
    pub(crate) fn entries(&self) -> u64 {
        self.stretches.iter().map(|s| s.len as u64).sum()
    }

    /// The context, where its visible entries are read already.
    pub(crate) fn context_of(&self, view: &dyn View, entries: Vector<Entry>) -> Result<Context> {
        let mut settings = in_force::at(view, &self.tip, self.entries())?;
        for row in self.rows.iter().filter(|row| row.depth >= self.len) {
            let keys = row.commit.settings.keys().cloned();
            settings.extend(keys.map(|key| (key, row.hash)));
        }
        Ok(Context {
            entries,
            settings,
            total_entries: self.entries(),
            hides: self.hides,
        })
    }

    /// The tokens of the visible entries, as far as they are known.
    pub(crate) fn counts(
        &self,
        view: &dyn View,
        encoding: Encoding,
    ) -> Result<Vec<Option<TokenCount>>> {
        let mut counts = Vec::new();
        let (mut ones, mut keys) = (Vec::new(), Vec::new());
        let facts = Facts {
            links: false,
            counts: Some(encoding),
        };
        for stretch in self.stretches.iter().filter(|stretch| stretch.fate.visible) {
            match &stretch.what {
                Stood::One(entry) => {
                    ones.push(counts.len());
                    keys.push(CountKey {
                        content: entry.content,
                        mask: entry.mask.key(),
                    });
                    counts.push(None);
                }
                Stood::From(first) => {
                    let depths = *first..first + stretch.len as u64;
                    each_appended(view, &self.tip, depths, facts, &mut |one| {
                        counts.push(one.count);
                        Ok(())
                    })?;
                }
            }
        }
        for (at, count) in ones.into_iter().zip(view.counts(&keys, encoding)?) {
            counts[at] = count;
        }
        Ok(counts)
    }

    /// The context: costs what is visible.
    pub(crate) fn context(&self, view: &dyn View) -> Result<Context> {
        let mut entries = Vector::new();
        for stretch in self.stretches.iter().filter(|stretch| stretch.fate.visible) {
            match &stretch.what {
                Stood::One(entry) => entries.push_back((**entry).clone()),
                Stood::From(first) => {
                    let depths = *first..first + stretch.len as u64;
                    each_appended(view, &self.tip, depths, Facts::default(), &mut |one| {
                        entries.push_back(Entry::new(EntryId::of(one.commit), one.content, None));
                        Ok(())
                    })?;
                }
            }
        }
        self.context_of(view, entries)
    }
}

/// Whether both are one entry that says the same.
fn is_alike(one: &Entry, other: &Entry) -> bool {
    let priority = Priority::Normal;
    let [one, other] = [one, other].map(|entry| Entry {
        priority,
        ..entry.clone()
    });
    one == other
}

/// Whether an entry is what the commit at a depth of a path appends, as it was appended, where another path has so many commits
/// in common with that one.
fn is_at(depths: &HashMap<CommitHash, u64>, entry: &Entry, depth: u64, shared: u64) -> bool {
    depth < shared && entry.is_as_appended() && depths.get(&entry.id.commit) == Some(&depth)
}

pub(crate) fn kind(row: &CommitRow) -> Option<(CommitHash, HideKind)> {
    match &row.commit.operation {
        Operation::Hide(hide) => Some((row.hash, hide.kind)),
        _ => None,
    }
}

/// The appends on the path that these changes name.
fn named(view: &dyn View, tip: &CommitHash, changes: &[CommitRow]) -> Result<Vec<CommitRow>> {
    let mut names = BTreeSet::new();
    for operation in changes.iter().map(|row| &row.commit.operation) {
        names.extend(operation.entries().iter().map(|id| id.commit));
        // One that names an append is refused for that.
        if let Operation::Restore { target, .. } = operation {
            names.insert(*target);
        }
    }
    appends(view, tip, names)
}

/// Those of these commits that are appends on the path.
fn appends(
    view: &dyn View,
    tip: &CommitHash,
    names: BTreeSet<CommitHash>,
) -> Result<Vec<CommitRow>> {
    let names: Vec<CommitHash> = names.into_iter().collect();
    let on_path = view.are_ancestors(&names, tip)?;
    let rows = view.commits(&names)?.into_iter().zip(on_path);
    let appends = |row: &CommitRow| row.appended().is_some();
    let rows = rows.filter_map(|(row, on_path)| row.filter(|row| on_path && appends(row)));
    Ok(rows.collect())
}

/// What stands in the fold for the appends from a depth on.
fn stand_in(depth: u64) -> (CommitHash, Commit) {
    let name = fingerprint(format!("the appends from depth {depth} on").as_bytes());
    let content = ContentHash::from_bytes(name);
    let commit = Commit {
        parent: None,
        operation: Operation::Append { content },
        time: None::<Millis>,
        settings: Settings::new(),
        note: None,
        author: None,
        merged: None,
        origin: None,
    };
    (CommitHash::from_bytes(name), commit)
}

/// The entries that the commits at these depths append.
pub(crate) fn appended(
    view: &dyn View,
    tip: &CommitHash,
    depths: Range<u64>,
) -> Result<Vec<Entry>> {
    let mut entries = Vec::with_capacity((depths.end - depths.start) as usize);
    each_appended(view, tip, depths, Facts::default(), &mut |one| {
        entries.push(Entry::new(EntryId::of(one.commit), one.content, None));
        Ok(())
    })?;
    Ok(entries)
}

/// Tells what the commits at these depths append; each of them does.
pub(crate) fn each_appended(
    view: &dyn View,
    tip: &CommitHash,
    depths: Range<u64>,
    facts: Facts,
    visit: Visit<'_, Appended>,
) -> Result<()> {
    let damaged = || Error::damaged(format!("the path to {tip:.10} is not what its index tells"));
    let mut next = depths.start;
    view.appended(tip, depths.clone(), facts, &mut |one| {
        if one.depth != next {
            return Err(damaged());
        }
        next += 1;
        visit(one)
    })?;
    if next == depths.end {
        Ok(())
    } else {
        Err(damaged())
    }
}

/// What is wrong with a commit that isn't here.
pub(crate) fn unknown(hash: &CommitHash) -> Error {
    Error::no_commit(hash.to_string())
}
