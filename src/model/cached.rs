//! What of a request a provider's cache has, as far as its counts tell.
//!
//! Deliberately absent: why a cache does not have it, and prices.

use super::Usage;

/// How long a cache keeps what it was given, from its last use on.
const MINUTES_MS: i64 = 5 * 60 * 1_000;
/// The same where it was paid for an hour.
const HOUR_MS: i64 = 60 * 60 * 1_000;

impl Usage {
    /// What of its input the cache had when the reply came.
    pub const fn kept_tokens(&self) -> u64 {
        self.cached_tokens.saturating_add(self.written_tokens)
    }

    /// How long the cache keeps that.
    pub const fn cache_life_ms(&self) -> i64 {
        if self.written_hour_tokens > 0 {
            HOUR_MS
        } else {
            MINUTES_MS
        }
    }

    /// What of the input could have been read from the cache, after a request that was counted like `before`, and
    /// was not.
    pub fn missed_after(&self, before: &Self) -> u64 {
        let could = before.kept_tokens().min(self.input_tokens);
        could.saturating_sub(self.cached_tokens)
    }

    /// The same where so much more of the input had been read from the cache, in place of what was written to it,
    /// for an hour first, and then of the rest.
    #[must_use]
    pub fn if_read(self, missed_tokens: u64) -> Self {
        let written = missed_tokens.min(self.written_tokens);
        Self {
            cached_tokens: self.cached_tokens.saturating_add(missed_tokens),
            written_tokens: self.written_tokens - written,
            written_hour_tokens: self.written_hour_tokens.saturating_sub(written),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_and_was_not_read_is_missed() {
        let before = Usage::new(100, 1).cached(60, 30);
        let missed = |usage: Usage| usage.missed_after(&before);
        assert_eq!(missed(Usage::new(120, 1).cached(90, 30)), 0);
        assert_eq!(missed(Usage::new(120, 1).cached(40, 80)), 50);
        // A shorter request cannot miss more than it has.
        assert_eq!(missed(Usage::new(20, 1).cached(5, 15)), 15);
        assert_eq!(missed(Usage::new(20, 1).cached(u64::MAX, u64::MAX)), 0);
    }

    #[test]
    fn what_would_have_been_read_is_not_written() {
        let paid = Usage {
            written_hour_tokens: 30,
            ..Usage::new(120, 7).cached(10, 80)
        };
        let read = |missed| paid.if_read(missed).numbers();
        assert_eq!(read(0), paid.numbers());
        assert_eq!(read(20), [120, 7, 30, 60, 10, 0]);
        assert_eq!(read(100), [120, 7, 110, 0, 0, 0]);
        assert_eq!(
            (paid.cache_life_ms(), Usage::new(1, 1).cache_life_ms()),
            (HOUR_MS, MINUTES_MS)
        );
    }
}
