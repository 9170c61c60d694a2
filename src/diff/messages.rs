//! Two contexts compared: which messages both hold, and what happened to the others.

use std::collections::BTreeSet;

use crate::context::Entry;
use crate::diff::align::align;
use crate::diff::parts::{MessageDiff, neutral};
use crate::diff::{DiffOptions, Replaced, Side};
use crate::model::{Message, Settings};

/// What changed from one context to another.
#[derive(Clone, Debug, Default)]
pub struct ContextDiff {
    /// The first context.
    pub before: Side,
    /// The second.
    pub after: Side,
    /// The messages that differ, in the conversation's order.
    pub changes: Vec<Change>,
    /// The settings that differ and that no message's commit set.
    pub settings: Vec<SettingChange>,
}

/// A message that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its index in the first context, if it is there.
    pub before: Option<usize>,
    /// Its index in the second context, if it is there.
    pub after: Option<usize>,
    /// How many neighbours it is: one, but for those that nobody has read, of which the index is that of the first.
    pub count: usize,
    /// What happened to it.
    pub kind: Kind,
    /// The change in tokens.
    pub delta: i64,
    /// The request settings that its commit changed.
    pub settings: Vec<SettingChange>,
}

/// What happened to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is in the second history too, but not visible there.
    Hidden,
    /// It is not in the second history.
    Removed,
    /// It was in the first history already, but not visible there.
    Returned,
    /// It was not in the first history.
    Added,
    /// It has another content, or its commit changed settings.
    Modified(MessageDiff),
}

/// A request setting with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// Its key.
    pub key: String,
    /// Its JSON text in each context; none where it is not set.
    pub value: Replaced<Option<String>>,
}

impl Change {
    fn new(before: Option<usize>, after: Option<usize>, kind: Kind, delta: i64) -> Self {
        Self {
            before,
            after,
            count: 1,
            kind,
            delta,
            settings: Vec::new(),
        }
    }

    /// Whether its message was read.
    pub fn is_read(&self) -> bool {
        self.count == 1
    }
}

impl ContextDiff {
    /// Compares two contexts, but for what both skipped: as many entries, which are the same. Linear in the length of
    /// the rest where few messages differ.
    pub fn new(before: Side, after: Side, options: &DiffOptions) -> Self {
        let pairs = align(&before, &after, options);
        let mut changes = Vec::new();
        let (mut b, mut a) = (0, 0);
        let ends = (before.entries.len(), after.entries.len());
        for (pair_b, pair_a) in pairs.iter().copied().chain([ends]) {
            changes.extend((b..pair_b).flat_map(|at| {
                let kind = if before.known.contains(&before.entries[at].id) {
                    Kind::Hidden
                } else {
                    Kind::Removed
                };
                let own = Change::new(Some(at), None, kind, -before.tokens(at));
                let omitted = before.omitted_alone(at).map(|one| Change {
                    count: one.len,
                    ..Change::new(Some(at), None, Kind::Hidden, -(one.total.tokens as i64))
                });
                omitted.into_iter().chain([own])
            }));
            changes.extend((a..pair_a).flat_map(|at| {
                let kind = if after.known.contains(&after.entries[at].id) {
                    Kind::Returned
                } else {
                    Kind::Added
                };
                let own = Change::new(None, Some(at), kind, after.tokens(at));
                let omitted = after.omitted_alone(at).map(|one| Change {
                    count: one.len,
                    ..Change::new(None, Some(at), Kind::Returned, one.total.tokens as i64)
                });
                omitted.into_iter().chain([own])
            }));
            if (pair_b, pair_a) != ends
                && let Some(diff) = modified(&before, &after, (pair_b, pair_a), options)
            {
                let delta = after.tokens(pair_a) - before.tokens(pair_b);
                let kind = Kind::Modified(diff);
                changes.push(Change::new(Some(pair_b), Some(pair_a), kind, delta));
            }
            (b, a) = (pair_b + 1, pair_a + 1);
        }
        let mut diff = Self {
            before,
            after,
            changes,
            settings: Vec::new(),
        };
        for change in setting_changes(&diff.before.settings, &diff.after.settings) {
            diff.attribute(change, &pairs);
        }
        for change in &mut diff.changes {
            // What was left out stands before the entry at its slot.
            let len = if change.is_read() { 0 } else { change.count };
            change.before = change.before.map(|at| diff.before.index(at) - len);
            change.after = change.after.map(|at| diff.after.index(at) - len);
        }
        diff
    }

    /// Whether the contexts are equal, ids aside unless they count.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.settings.is_empty()
    }

    /// The change in tokens of the whole context.
    pub fn delta(&self) -> i64 {
        self.after.total().tokens as i64 - self.before.total().tokens as i64
    }

    /// How many messages at the beginning are the same in both contexts but for the ids of calls.
    pub fn same_but_for_ids(&self) -> usize {
        let options = DiffOptions::default();
        let pairs = self.before.messages.iter().zip(&self.after.messages);
        let same =
            pairs.take_while(|(a, b)| a == b || neutral(a, &options) == neutral(b, &options));
        self.before.skipped + same.count()
    }

    /// The message of a change, which was read, as it is in the second context, or else as it was in the first.
    pub fn message(&self, change: &Change) -> &Message {
        let (side, at) = self.place(change);
        side.message(at)
    }

    /// The entry of a change, which was read, as it is in the second context, or else as it was in the first.
    pub fn entry(&self, change: &Change) -> &Entry {
        self.entry_if_read(change).expect("it was read")
    }

    /// The same; none where it stands among neighbours that nobody reads.
    pub fn entry_if_read(&self, change: &Change) -> Option<&Entry> {
        let (side, at) = self.place(change);
        side.entry(at)
    }

    fn place(&self, change: &Change) -> (&Side, usize) {
        match (change.before, change.after) {
            (_, Some(at)) => (&self.after, at),
            (Some(at), None) => (&self.before, at),
            (None, None) => unreachable!("a change is in one of the contexts"),
        }
    }

    /// Files a setting's change under the message whose commit made it.
    fn attribute(&mut self, change: SettingChange, pairs: &[(usize, usize)]) {
        let place = |side: &Side| {
            let id = side.set_by.get(&change.key)?;
            side.entries.iter().position(|entry| entry.id == *id)
        };
        let by_after = place(&self.after);
        let pair = match by_after {
            Some(after) => pairs.iter().find(|(_, a)| *a == after),
            // Unset: then the message that had set it is what changed.
            None => place(&self.before).and_then(|at| pairs.iter().find(|(b, _)| *b == at)),
        };
        let found = self.changes.iter().position(|known| match pair {
            Some((b, a)) => (known.before, known.after) == (Some(*b), Some(*a)),
            None => by_after.is_some() && known.after == by_after,
        });
        match (found, pair) {
            (Some(at), _) => self.changes[at].settings.push(change),
            (None, None) => self.settings.push(change),
            (None, Some((b, a))) => {
                let earlier = |known: &Change| {
                    known.before.is_some_and(|at| at < *b) || known.after.is_some_and(|at| at < *a)
                };
                let at = self.changes.partition_point(earlier);
                let kind = Kind::Modified(MessageDiff::default());
                let mut only_settings = Change::new(Some(*b), Some(*a), kind, 0);
                only_settings.settings.push(change);
                self.changes.insert(at, only_settings);
            }
        }
    }
}

fn modified(
    before: &Side,
    after: &Side,
    (b, a): (usize, usize),
    options: &DiffOptions,
) -> Option<MessageDiff> {
    let (old, new) = (&before.entries[b], &after.entries[a]);
    if old.content == new.content && old.mask == new.mask {
        return None;
    }
    MessageDiff::new(&before.messages[b], &after.messages[a], options)
}

fn setting_changes(before: &Settings, after: &Settings) -> Vec<SettingChange> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    keys.into_iter()
        .filter_map(|key| {
            let (old, new) = (before.get(key).cloned(), after.get(key).cloned());
            let value = Replaced::unless_equal(&old, &new)?;
            let key = key.clone();
            Some(SettingChange { key, value })
        })
        .collect()
}
