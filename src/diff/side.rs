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
    /// The other visible entries.
    pub entries: Vec<Entry>,
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

impl Side {
    /// How many messages the context has.
    pub fn len(&self) -> usize {
        self.skipped + self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole context's tokens.
    pub fn total(&self) -> TokenCount {
        self.total_of(self.len())
    }

    /// The tokens of a context of its first messages; those that were skipped are among them.
    pub fn total_of(&self, first: usize) -> TokenCount {
        let mut total = self.skipped_total;
        total.extend(self.counts[..first - self.skipped].iter().copied());
        total.count()
    }

    /// The entry at this index, if there is one; it must not be one that was skipped.
    pub fn entry(&self, at: usize) -> Option<&Entry> {
        self.entries.get(at - self.skipped)
    }

    /// The message at this index, which must be there and not be one that was skipped.
    pub fn message(&self, at: usize) -> &Message {
        &self.messages[at - self.skipped]
    }

    /// For each message that was not skipped, the calls that its results answer, in their order.
    pub fn answered(&self) -> Vec<Vec<&Part>> {
        let all = self.callers.iter().chain(&self.messages);
        tools::answered(all).split_off(self.callers.len())
    }

    /// For each message that was not skipped, the tools that it calls, and those whose calls it answers.
    pub fn tools(&self) -> Vec<Vec<&str>> {
        let both = self.messages.iter().zip(self.answered());
        let names = both.map(|(message, answered)| {
            let calls = message.parts.iter().chain(answered);
            calls.filter_map(tools::name).collect()
        });
        names.collect()
    }

    pub(super) fn tokens(&self, at: usize) -> i64 {
        self.counts[at].tokens as i64
    }
}
