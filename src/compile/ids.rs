//! Ids as a provider allows them. Every answer depends on earlier calls alone, so that
//! appending a message changes none.

use std::collections::{HashMap, HashSet};

use crate::wire::name::plain;

/// What call ids must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdRule {
    /// Anything, once in a message.
    UniqueInMessage,
    /// Letters, digits, `_` and `-`, once in the conversation.
    PlainAndUnique,
}

/// The ids given out so far.
#[derive(Debug, Default)]
pub(super) struct Ids {
    used: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Ids {
    /// Forgets what was given out.
    pub(super) fn reset(&mut self) {
        self.used.clear();
        self.next.clear();
    }

    /// The id for the next call, whose own is `id`.
    pub(super) fn assign(&mut self, id: &str, rule: IdRule) -> String {
        let base = match rule {
            IdRule::UniqueInMessage => id.to_owned(),
            IdRule::PlainAndUnique => plain(id, usize::MAX, "call"),
        };
        if self.used.insert(base.clone()) {
            return base;
        }
        let next = self.next.entry(base.clone()).or_insert(2);
        loop {
            let candidate = format!("{base}_{next}");
            *next += 1;
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}
