//! One of the two contexts that are compared.

use std::collections::{BTreeMap, HashSet};

use crate::context::Entry;
use crate::diff::tools;
use crate::hash::CommitHash;
use crate::model::{EntryId, Message, Part, Settings, TokenCount, Total};

/// One of the two contexts that are compared.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The commit; none for the empty context before any.
    pub commit: Option<CommitHash>,
    /// How many entries stand before the others: both contexts begin with them, and nobody has read them.
    pub skipped: usize,
    /// What those come to.
    pub skipped_total: Total,
    /// Those of their messages whose calls the others answer, in order.
    pub callers: Vec<Message>,
    /// The other visible entries, as far as they were read.
    pub entries: Vec<Entry>,
    /// What was left out among those, in order.
    pub omitted: Vec<Omitted>,
    /// Their messages, hidden parts left out or replaced.
    pub messages: Vec<Message>,
    /// Their tokens.
    pub counts: Vec<TokenCount>,
    /// The entries of this context that the other's history knows, whether visible there or not.
    pub known: HashSet<EntryId>,
    /// The request settings in force, if any is another one than in the other context; JSON texts by key.
    pub settings: Settings,
    /// For each setting, the entry whose commit set it, if a message's commit did.
    pub set_by: BTreeMap<String, EntryId>,
}

/// Neighbouring entries of a context that nobody has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// How many entries were read before them.
    pub slot: usize,
    /// How many they are.
    pub len: usize,
    /// What they come to.
    pub total: Total,
    /// Whether the other context has them as well, as they are.
    pub is_in_both: bool,
}

impl Side {
    /// How many messages the context has.
    pub fn len(&self) -> usize {
        self.index(self.entries.len())
    }

    /// The index of the entry that was read as the one at `slot`.
    pub(super) fn index(&self, slot: usize) -> usize {
        let before = self.omitted.iter().take_while(|one| one.slot <= slot);
        self.skipped + slot + before.map(|one| one.len).sum::<usize>()
    }

    /// Where among the entries that were read the one at this index stands, if it is one of those; the end's place at the end.
    pub(crate) fn slot(&self, at: usize) -> Option<usize> {
        let mut at = at.checked_sub(self.skipped)?;
        for omitted in &self.omitted {
            if at < omitted.slot {
                break;
            }
            at = at.checked_sub(omitted.len)?;
            if at < omitted.slot {
                return None;
            }
        }
        Some(at)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole context's tokens.
    pub fn total(&self) -> TokenCount {
        self.total_of(self.len())
    }

    /// The tokens of a context of its first messages; those that were skipped are among them, and of what was left out all or
    /// none.
    pub fn total_of(&self, first: usize) -> TokenCount {
        let mut total = self.skipped_total;
        let counts = self.counts.iter().enumerate();
        let counts = counts.filter(|(slot, _)| self.index(*slot) < first);
        total.extend(counts.map(|(_, count)| *count));
        let omitted = self.omitted.iter();
        let omitted = omitted.filter(|one| self.index(one.slot) <= first);
        omitted
            .fold(total, |total, one| total.with(one.total))
            .count()
    }

    /// The entry at this index, if there is one that was read.
    pub fn entry(&self, at: usize) -> Option<&Entry> {
        self.entries.get(self.slot(at)?)
    }

    /// The message at this index, which must be there and have been read.
    pub fn message(&self, at: usize) -> &Message {
        &self.messages[self.slot(at).expect("it was read")]
    }

    /// For each message that was read, the calls that its results answer, in their order.
    pub fn answered(&self) -> Vec<Vec<&Part>> {
        let all = self.callers.iter().chain(&self.messages);
        tools::answered(all).split_off(self.callers.len())
    }

    /// For each message that was read, the tools that it calls, and those whose calls it answers.
    pub fn tools(&self) -> Vec<Vec<&str>> {
        let both = self.messages.iter().zip(self.answered());
        let names = both.map(|(message, answered)| {
            let calls = message.parts.iter().chain(answered);
            calls.filter_map(tools::name).collect()
        });
        names.collect()
    }

    /// What was left out before the entry that was read as the one at `slot`, where the other context has none of it.
    pub(super) fn omitted_alone(&self, slot: usize) -> Option<&Omitted> {
        let mut omitted = self.omitted.iter();
        omitted.find(|one| one.slot == slot && !one.is_in_both)
    }

    pub(super) fn tokens(&self, at: usize) -> i64 {
        self.counts[at].tokens as i64
    }
}
