//! The fold: one operation after another over one total order of entries.
//!
//! [`Order`] is the literal fold and knows every entry. Deliberately absent: the shortcut over the
//! visible entries alone, [`Context::step`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::context::{Context, Entry, Mask, MaskedPart};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Commit, EntryId, Hide, HideKind, Operation, Priority};

/// The total order of entries with everything that decides what is visible.
///
/// Grows with history: for plans, transcripts, restores and `show`. A context is made without it
/// wherever [`Context::step`] is enough.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Every entry, in the order in which it was made.
    slots: Vec<Slot>,
    /// The order: indices of `slots`.
    sequence: Vec<usize>,
    by_id: HashMap<EntryId, usize>,
    /// The entry and version that an edit made.
    edits: HashMap<CommitHash, (usize, usize)>,
    hides: HashMap<CommitHash, Hiding>,
    /// Commits on the path that made no entry, edit or hide: restores and annotations.
    others: HashSet<CommitHash>,
    settings: BTreeMap<String, CommitHash>,
}

/// One entry.
#[derive(Clone, Debug)]
struct Slot {
    id: EntryId,
    /// Its contents, oldest first: its own, then one for each edit.
    versions: Vec<Version>,
    /// The active hides that cover it, oldest first.
    covers: Vec<CommitHash>,
    /// Part-level hides, oldest first: the hide, the version whose part it names, the part.
    parts: Vec<(CommitHash, usize, MaskedPart)>,
    priority: Priority,
    placed: Option<(CommitHash, HideKind)>,
}

#[derive(Clone, Debug)]
struct Version {
    content: ContentHash,
    active: bool,
}

/// A hide and what is left of it.
#[derive(Clone, Debug)]
struct Hiding {
    kind: HideKind,
    /// The entries that it covers, wholly or in part, those restored by name taken out.
    covered: BTreeSet<usize>,
    active: bool,
}

/// One entry of the whole order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderEntry {
    /// Its name.
    pub id: EntryId,
    /// Its content now.
    pub content: ContentHash,
    /// Its hidden parts.
    pub mask: Mask,
    /// Its priority.
    pub priority: Priority,
    /// The hide that placed it, and that hide's kind.
    pub placed: Option<(CommitHash, HideKind)>,
    /// Whether an edit gave it its content.
    pub edited: bool,
    /// Whether it is in the context.
    pub visible: bool,
    /// The active hides that cover it whole, oldest first.
    pub hidden_by: Vec<CommitHash>,
    /// The active hides of its parts, oldest first: the hide, and the part's index.
    pub parts_hidden_by: Vec<(CommitHash, u32)>,
}

impl From<&OrderEntry> for Entry {
    /// As a context holds it.
    fn from(entry: &OrderEntry) -> Self {
        Self {
            id: entry.id,
            content: entry.content,
            mask: entry.mask.clone(),
            priority: entry.priority,
            placed: entry.placed.map(|(_, kind)| kind),
            edited: entry.edited,
        }
    }
}

impl Slot {
    fn version(&self) -> usize {
        self.versions
            .iter()
            .rposition(|version| version.active)
            .unwrap_or(0)
    }

    /// The part-level hides of the content that it has now.
    fn hidden_parts(&self) -> impl Iterator<Item = (CommitHash, MaskedPart)> + '_ {
        let version = self.version();
        let current = move |(hide, made_on, part): &(CommitHash, usize, MaskedPart)| {
            (*made_on == version).then_some((*hide, *part))
        };
        self.parts.iter().filter_map(current)
    }

    fn mask(&self) -> Mask {
        Mask::new(self.hidden_parts().map(|(_, part)| part))
    }
}

impl Order {
    /// Folds the next commit in.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] if it names an entry or a commit that isn't on this path;
    /// [`Error::NotRestorable`] for a restore of what cannot be restored. Nothing changes then.
    pub fn apply(&mut self, hash: CommitHash, commit: &Commit) -> Result<()> {
        match &commit.operation {
            Operation::Append { content } => {
                let slot = self.add(EntryId::of(hash), *content, None);
                self.sequence.push(slot);
            }
            Operation::Edit { target, content } => {
                let slot = self.editable(target)?;
                let versions = &mut self.slots[slot].versions;
                versions.push(Version {
                    content: *content,
                    active: true,
                });
                self.edits.insert(hash, (slot, versions.len() - 1));
            }
            Operation::Hide(hide) => self.hide(hash, hide)?,
            Operation::Restore { target, entries } => {
                self.restore(target, entries)?;
                self.others.insert(hash);
            }
            Operation::Annotate {
                targets, priority, ..
            } => {
                for slot in self.all_editable(targets)? {
                    self.slots[slot].priority = *priority;
                }
                self.others.insert(hash);
            }
        }
        for key in commit.settings.keys() {
            self.settings.insert(key.clone(), hash);
        }
        Ok(())
    }

    fn add(
        &mut self,
        id: EntryId,
        content: ContentHash,
        placed: Option<(CommitHash, HideKind)>,
    ) -> usize {
        let slot = self.slots.len();
        self.slots.push(Slot {
            id,
            versions: vec![Version {
                content,
                active: true,
            }],
            covers: Vec::new(),
            parts: Vec::new(),
            priority: Priority::Normal,
            placed,
        });
        self.by_id.insert(id, slot);
        slot
    }

    fn slot(&self, id: &EntryId) -> Result<usize> {
        self.by_id.get(id).copied().ok_or_else(|| Error::NotOnPath {
            entry: id.to_string(),
        })
    }

    /// The entry that `id` names, itself or by one of its edits.
    fn editable(&self, id: &EntryId) -> Result<usize> {
        match self.edits.get(&id.commit) {
            Some((slot, _)) if id.index.is_none() => Ok(*slot),
            _ => self.slot(id),
        }
    }

    fn all_editable(&self, ids: &[EntryId]) -> Result<Vec<usize>> {
        ids.iter().map(|id| self.editable(id)).collect()
    }

    /// The entries that a hide's intervals cover.
    fn span(&self, hide: &Hide) -> Result<BTreeSet<usize>> {
        let keep = hide.keep.iter().map(|id| self.slot(id));
        let keep = keep.collect::<Result<HashSet<usize>>>()?;
        let mut whole: BTreeSet<usize> = BTreeSet::new();
        for interval in &hide.intervals {
            let (first, last) = (self.slot(&interval.first)?, self.slot(&interval.last)?);
            let (from, to) = (self.place(first), self.place(last));
            if from > to {
                return Err(Error::NotOnPath {
                    entry: format!("{} before {}", interval.first, interval.last),
                });
            }
            let between = self.sequence[from..=to].iter();
            whole.extend(between.filter(|slot| !keep.contains(slot)));
        }
        Ok(whole)
    }

    fn hide(&mut self, hash: CommitHash, hide: &Hide) -> Result<()> {
        let whole = self.span(hide)?;
        let mut parts = Vec::with_capacity(hide.parts.len());
        for part in &hide.parts {
            parts.push((self.slot(&part.entry)?, part.into()));
        }
        let mut places = Vec::with_capacity(hide.replacements.len());
        for replacement in &hide.replacements {
            let before = replacement.before.as_ref();
            places.push(before.map(|id| self.slot(id)).transpose()?);
        }
        // Everything is known to be there; from here on nothing fails.
        for slot in &whole {
            self.slots[*slot].covers.push(hash);
        }
        let mut covered = whole;
        for (slot, part) in parts {
            let version = self.slots[slot].version();
            self.slots[slot].parts.push((hash, version, part));
            covered.insert(slot);
        }
        let count = hide.replacements.len();
        for (index, (replacement, before)) in hide.replacements.iter().zip(places).enumerate() {
            let id = EntryId::replacement(hash, index, count);
            let slot = self.add(id, replacement.content, Some((hash, hide.kind)));
            match before {
                Some(before) => {
                    let at = self.place(before);
                    self.sequence.insert(at, slot);
                }
                None => self.sequence.push(slot),
            }
        }
        let hiding = Hiding {
            kind: hide.kind,
            covered,
            active: true,
        };
        self.hides.insert(hash, hiding);
        Ok(())
    }

    /// Where a slot stands in the order. Entries named by commands are mostly recent ones.
    fn place(&self, slot: usize) -> usize {
        self.sequence
            .iter()
            .rposition(|other| *other == slot)
            .expect("every slot is in the sequence")
    }

    fn restore(&mut self, target: &CommitHash, entries: &[EntryId]) -> Result<()> {
        let refuse = |reason| {
            Err(Error::NotRestorable {
                commit: target.short(),
                reason,
            })
        };
        if let Some((slot, version)) = self.edits.get(target).copied() {
            let mut named = entries.iter().map(|id| self.editable(id).ok());
            if named.any(|named| named != Some(slot)) {
                return refuse("the edit is of another message");
            }
            let version = &mut self.slots[slot].versions[version];
            if !version.active {
                return refuse("it is undone already");
            }
            version.active = false;
            return Ok(());
        }
        let Some(hiding) = self.hides.get(target) else {
            if self.others.contains(target) {
                return refuse("only a hide or an edit can be undone");
            }
            if self.by_id.contains_key(&EntryId::of(*target)) {
                return refuse("it adds a message and hides nothing");
            }
            return Err(Error::NotOnPath {
                entry: target.to_string(),
            });
        };
        if !hiding.active {
            return refuse("it is undone already");
        }
        let slots = match entries {
            [] => hiding.covered.iter().copied().collect(),
            entries => self.all_editable(entries)?,
        };
        if slots.iter().any(|slot| !hiding.covered.contains(slot)) {
            return refuse("it does not hide that message, or no longer");
        }
        let hiding = self.hides.get_mut(target).expect("found above");
        hiding.active = !entries.is_empty();
        for slot in slots {
            hiding.covered.remove(&slot);
            let slot = &mut self.slots[slot];
            slot.covers.retain(|hide| hide != target);
            slot.parts.retain(|(hide, _, _)| hide != target);
        }
        Ok(())
    }

    fn is_visible(&self, slot: &Slot) -> bool {
        let placed = slot.placed.is_none_or(|(hide, _)| self.hides[&hide].active);
        placed && slot.covers.is_empty() && slot.priority != Priority::Skip
    }

    /// Every entry, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = OrderEntry> + '_ {
        self.sequence.iter().map(|slot| self.told(*slot))
    }

    fn told(&self, slot: usize) -> OrderEntry {
        let slot = &self.slots[slot];
        let (version, parts) = (slot.version(), slot.hidden_parts());
        OrderEntry {
            id: slot.id,
            content: slot.versions[version].content,
            mask: slot.mask(),
            priority: slot.priority,
            placed: slot.placed,
            edited: version > 0,
            visible: self.is_visible(slot),
            hidden_by: slot.covers.clone(),
            parts_hidden_by: parts.map(|(hide, part)| (hide, part.part)).collect(),
        }
    }

    /// The names of all entries, in order.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = EntryId> + '_ {
        self.sequence.iter().map(|slot| self.slots[*slot].id)
    }

    /// Whether there is an entry of this name.
    pub fn has(&self, id: &EntryId) -> bool {
        self.by_id.contains_key(id)
    }

    /// The entry of this name, or the one that an edit of this name edits.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] if there is none.
    pub fn entry(&self, id: &EntryId) -> Result<OrderEntry> {
        Ok(self.told(self.editable(id)?))
    }

    /// The entries that the intervals of a hide would cover here, hidden ones among them, in order.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] if it names an entry that isn't here.
    pub fn covered(&self, hide: &Hide) -> Result<Vec<EntryId>> {
        let span = self.span(hide)?;
        let covered = self.sequence.iter().filter(|slot| span.contains(slot));
        Ok(covered.map(|slot| self.slots[*slot].id).collect())
    }

    /// The entries that a hide still covers, wholly or in part; none where it is not active.
    pub fn covered_by(&self, hide: &CommitHash) -> Vec<EntryId> {
        let active = self.hides.get(hide).filter(|hiding| hiding.active);
        let covered = active.into_iter().flat_map(|hiding| &hiding.covered);
        covered.map(|slot| self.slots[*slot].id).collect()
    }

    /// The kind of a hide on this path, active or not; none where that is no hide.
    pub fn kind_of(&self, hide: &CommitHash) -> Option<HideKind> {
        self.hides.get(hide).map(|hiding| hiding.kind)
    }

    /// The entry that an edit edits, and what it says without that edit; none where that is no edit, or
    /// not active.
    pub fn unedited(&self, edit: &CommitHash) -> Option<(EntryId, ContentHash)> {
        let (slot, version) = self.edits.get(edit).copied()?;
        let slot = &self.slots[slot];
        slot.versions[version].active.then_some(())?;
        let others = slot.versions.iter().enumerate().rev();
        let mut others = others.filter(|(at, other)| *at != version && other.active);
        Some((slot.id, others.next()?.1.content))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.sequence.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.sequence.is_empty()
    }

    /// Every edit on this path, with the entry that it edits.
    pub fn edits(&self) -> impl Iterator<Item = (CommitHash, EntryId)> + '_ {
        let edits = self.edits.iter();
        edits.map(|(edit, (slot, _))| (*edit, self.slots[*slot].id))
    }

    /// Whether `hide` is an active hide on this path.
    pub fn is_active(&self, hide: &CommitHash) -> bool {
        self.hides.get(hide).is_some_and(|hiding| hiding.active)
    }

    /// Every entry that no active clear or compaction covers, in order: what truncations, drops and
    /// skips took out is among them.
    #[cfg(test)]
    pub(crate) fn transcript(&self) -> impl DoubleEndedIterator<Item = OrderEntry> + '_ {
        let baseline = |hide: &CommitHash| {
            matches!(
                self.kind_of(hide),
                Some(HideKind::Clear | HideKind::Compaction)
            )
        };
        self.entries().filter(move |entry| {
            let placed = entry.placed.is_none_or(|(hide, _)| self.is_active(&hide));
            placed && !entry.hidden_by.iter().any(baseline)
        })
    }

    /// The visible part.
    pub fn context(&self) -> Context {
        let mut context = Context {
            settings: self.settings.clone(),
            total_entries: self.sequence.len() as u64,
            ..Context::default()
        };
        for slot in self.sequence.iter().map(|slot| &self.slots[*slot]) {
            if self.is_visible(slot) {
                let version = slot.version();
                context.entries.push_back(Entry {
                    id: slot.id,
                    content: slot.versions[version].content,
                    mask: slot.mask(),
                    priority: slot.priority,
                    placed: slot.placed.map(|(_, kind)| kind),
                    edited: version > 0,
                });
            }
        }
        for hiding in self.hides.values().filter(|hiding| hiding.active) {
            context.hides[Context::slot_of(hiding.kind)] += 1;
        }
        context
    }
}
