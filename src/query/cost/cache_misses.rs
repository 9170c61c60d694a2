//! What of the input of replies a cache had been given before, and did not have.

use std::collections::HashMap;

use super::reply::BilledReply;
use crate::hash::CommitHash;
use crate::model::Usage;

/// What of the input of each reply the one before had left in the cache, and was not read from there. Replies that have
/// no counts miss nothing.
pub fn missed(replies: &[BilledReply]) -> Vec<u64> {
    let counted = || replies.iter().filter(|reply| reply.usage.is_count());
    let usages: HashMap<CommitHash, &Usage> = counted()
        .map(|reply| (reply.commit, &reply.usage))
        .collect();
    let missed = replies.iter().map(|reply| {
        let before = usages.get(reply.before.as_ref()?)?;
        usages.contains_key(&reply.commit).then_some(())?;
        Some(reply.usage.missed_after(before))
    });
    missed.map(Option::unwrap_or_default).collect()
}
