//! One of the two contexts that are compared.

use std::collections::{BTreeMap, HashSet};

use crate::context::Entry;
use crate::hash::CommitHash;
use crate::model::tokens::context_total;
use crate::model::{EntryId, Message, Settings, TokenCount};

/// One of the two contexts that are compared.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The commit; none for the empty context before any.
    pub commit: Option<CommitHash>,
    /// The visible entries.
    pub entries: Vec<Entry>,
    /// Their messages, hidden parts left out or replaced.
    pub messages: Vec<Message>,
    /// Their tokens.
    pub counts: Vec<TokenCount>,
    /// The entries of this context that the other's history knows, whether visible there or not.
    pub known: HashSet<EntryId>,
    /// The request settings in force; JSON texts by key.
    pub settings: Settings,
    /// For each setting, the entry whose commit set it, if a message's commit did.
    pub set_by: BTreeMap<String, EntryId>,
}

impl Side {
    /// The whole context's tokens.
    pub fn total(&self) -> TokenCount {
        context_total(self.counts.iter().copied())
    }

    pub(super) fn tokens(&self, at: usize) -> i64 {
        self.counts[at].tokens as i64
    }
}
