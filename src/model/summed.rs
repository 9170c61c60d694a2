//! What a context comes to: what a status says of it without a look at its messages.

use std::collections::BTreeMap;

use crate::hash::{CommitHash, ContentHash};
use crate::model::background::KnownWork;
use crate::model::{EntryId, PathSums, Role, TokenCount, Total};

/// A context summed up. What is appended can be added; nothing can be taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summed {
    /// The visible messages and their tokens.
    pub total: Total,
    /// How many messages are hidden.
    pub hidden: u64,
    /// How many hides of each kind are active, in the order of
    /// [`HideKind::ALL`](crate::model::HideKind::ALL).
    pub hides: [u32; 5],
    /// How many of the drops are moves: a message that they put in place is visible.
    pub moves: u32,
    /// The tokens of the visible messages of each role, in the order of [`Role::ALL`].
    pub by_role: [u64; 5],
    /// Those of the user's that a client says, or a hide put in place.
    pub injected: u64,
    /// The message with the most tokens, the first of several.
    pub largest: Option<LargestEntry>,
    /// How long a request is of the messages with which it begins, where somebody has measured that.
    pub written: Option<Written>,
    /// Which appends of the path stand out, where somebody has looked.
    pub standouts: Option<Standouts>,
    /// What the appends of the path come to in blocks, where somebody has summed that up.
    pub sums: Option<PathSums>,
    /// For each request setting that is in force the commit that set it last, where somebody has looked.
    pub settings: Option<BTreeMap<String, CommitHash>>,
    /// What works in the background on the path, where somebody has looked.
    pub background: Option<KnownWork>,
}

/// The appends of a path that a plan may have to tell from their neighbours: what speaks for the system, what is attached,
/// and calls and results that have no other near them. Whatever was hidden since, they are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standouts {
    /// How many commits of the path, from its root on, were looked at.
    pub covered: u64,
    /// The depths of those that stand out, in order.
    pub depths: Vec<u64>,
}

/// How long a request in OpenAI's form is up to and with its first messages, behind which no call is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// How many messages.
    pub messages: u64,
    /// How many bytes.
    pub size_bytes: u64,
}

/// The largest message of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargestEntry {
    /// Its entry.
    pub entry: EntryId,
    /// Its content there.
    pub content: ContentHash,
    /// Its number among the visible messages, from 1.
    pub number: u64,
    /// Its tokens.
    pub tokens: TokenCount,
}

impl Summed {
    /// One more message, at the end.
    pub fn add(&mut self, entry: EntryId, content: ContentHash, role: Role, tokens: TokenCount) {
        self.total.add(tokens);
        let at = Role::ALL.iter().position(|other| *other == role);
        self.by_role[at.expect("ALL has every role")] += tokens.tokens;
        let most = self.largest.map(|largest| largest.tokens.tokens);
        if most.is_none_or(|most| tokens.tokens > most) {
            self.largest = Some(LargestEntry {
                entry,
                content,
                number: self.total.messages,
                tokens,
            });
        }
    }
}
