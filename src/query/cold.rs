//! How long ago a provider's cache was used last, and what a change costs there.
//!
//! Deliberately absent: the clock, and prices: both are passed in.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Millis, Role, Usage};
use crate::query::provider::COMMITS;
use crate::repo::repository::Repo;
use crate::store::{CommitRow, View};

/// How many commits are looked at first.
const FEW: usize = 16;

/// How many replies a change has to pay for itself.
const REPLIES: u32 = 20;

/// The last use of a provider's cache on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheUse {
    /// The newest reply.
    pub reply: CommitHash,
    /// What was counted for it, if anything was.
    pub usage: Option<Usage>,
    /// How old it is; no less than nothing.
    pub age_ms: i64,
}

impl CacheUse {
    /// Whether the newest reply was counted with a cache at all.
    pub fn has_cache(&self) -> bool {
        self.usage.is_some_and(|usage| usage.kept_tokens() > 0)
    }

    /// How long the cache keeps what it has.
    pub fn life_ms(&self) -> i64 {
        self.usage.unwrap_or_default().cache_life_ms()
    }

    /// Whether the cache no longer has what it was given.
    pub fn is_cold(&self) -> bool {
        self.age_ms >= self.life_ms()
    }
}

/// The last use of the cache on the path to `tip`; none without a reply with a time among the newest commits.
pub(crate) fn cache_use(
    view: &dyn View,
    tip: &CommitHash,
    now: Millis,
) -> Result<Option<CacheUse>> {
    // The newest reply is nearly always among the last few commits.
    for count in [FEW, COMMITS] {
        let rows = view.ancestors(tip, None, count)?;
        let contents: Vec<_> = rows.iter().filter_map(CommitRow::appended).collect();
        let appends = rows.iter().filter(|row| row.appended().is_some());
        let said = appends.zip(view.content_rows(&contents)?);
        let mut replies = said.filter_map(|(row, said)| {
            let is_reply = said.is_some_and(|said| said.role == Role::Assistant);
            Some((row.hash, row.commit.time.filter(|_| is_reply)?))
        });
        if let Some((reply, time)) = replies.next() {
            return Ok(Some(CacheUse {
                reply,
                usage: view.usage(&[reply])?.pop().flatten(),
                age_ms: now.0.saturating_sub(time.0).max(0),
            }));
        }
    }
    Ok(None)
}

impl Repo {
    /// The last use of a provider's cache on the path to `tip`, seen from `now`.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn cache_use(&self, tip: &CommitHash, now: Millis) -> Result<Option<CacheUse>> {
        cache_use(&*self.store.read()?, tip, now)
    }
}

/// What a change of the context costs at a provider whose cache has the context before, in the provider's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedPrefix {
    /// The context before.
    pub before_tokens: u64,
    /// What of its beginning stays.
    pub kept_tokens: u64,
    /// The context after.
    pub after_tokens: u64,
    /// Whether the cache is cold anyway.
    pub is_cold: bool,
}

/// When a change has paid for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Payback {
    /// What the next request costs more than without the change; less than nothing: what it saves.
    pub next: f64,
    /// After how many replies the change has paid for itself; none where it has not after twenty.
    pub replies: Option<u32>,
    /// What it saves over the next twenty replies; less than nothing: what it costs.
    pub twenty: f64,
}

impl ChangedPrefix {
    /// What of the next request is written to the cache anew.
    pub fn written_tokens(&self) -> u64 {
        let kept = if self.is_cold { 0 } else { self.kept_tokens };
        self.after_tokens.saturating_sub(kept)
    }

    /// What it comes to: `price` says what a request costs of which so much is read and so much is written. What is
    /// said in between costs the same with the change and without it.
    pub fn payback(&self, price: impl Fn(u64, u64) -> Option<f64>) -> Option<Payback> {
        let (before, after) = (self.before_tokens, self.after_tokens);
        let without = if self.is_cold {
            price(0, before)?
        } else {
            price(before, 0)?
        };
        let written = self.written_tokens().min(after);
        let next = price(after - written, written)? - without;
        let each = price(before, 0)? - price(after, 0)?;
        let saved = |replies: u32| each * f64::from(replies - 1) - next;
        Some(Payback {
            next,
            replies: (1..=REPLIES).find(|replies| saved(*replies) >= 0.0),
            twenty: saved(REPLIES),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten times as much for what is written as for what is read.
    fn payback(changed: ChangedPrefix) -> Payback {
        let price = |read: u64, written: u64| Some((read + 10 * written) as f64);
        changed.payback(price).expect("a price")
    }

    #[test]
    fn a_change_costs_what_is_written_anew_and_saves_what_is_no_longer_read() {
        let changed = ChangedPrefix {
            before_tokens: 1_000,
            kept_tokens: 100,
            after_tokens: 500,
            is_cold: false,
        };
        let warm = payback(changed);
        // 100 read and 400 written in place of 1,000 read; then 500 less with each reply.
        assert_eq!((warm.next, warm.replies), (3_100.0, Some(8)));
        assert_eq!(warm.twenty, 19.0 * 500.0 - 3_100.0);
        let cold = payback(ChangedPrefix {
            is_cold: true,
            ..changed
        });
        assert_eq!((cold.next, cold.replies), (-5_000.0, Some(1)));
        let late = payback(ChangedPrefix {
            after_tokens: 990,
            ..changed
        });
        assert_eq!(late.replies, None);
        assert!(late.twenty < 0.0);
        assert_eq!(changed.payback(|_, _| None), None);
    }
}
