//! What a provider asks for a reply, by its list.
//!
//! Deliberately absent: which replies there are, and what anybody really paid: a subscription, a discount, a tax.

use std::time::{Duration, UNIX_EPOCH};

use genai_prices::{Calculator, PriceRequest, Usage as Counted, UsageKey};

use super::{Millis, Usage};
use crate::error::{Error, Result};

/// Where the list that comes with the program is from.
pub const LIST: &str = "genai-prices 0.2.1";

/// A list of prices.
pub struct Prices(Option<Box<Calculator>>);

impl Prices {
    /// The list that comes with the program; the first use takes some 10 ms.
    pub fn listed() -> Self {
        Self(None)
    }

    /// A list as genai-prices publishes it: `prices.json`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where it is none.
    pub fn read(json: &[u8]) -> Result<Self> {
        let read = Calculator::from_json(json);
        let read = read.map_err(|error| Error::input("the list of prices", error.to_string()))?;
        Ok(Self(Some(Box::new(read))))
    }

    fn calculator(&self) -> &Calculator {
        match &self.0 {
            Some(read) => read,
            None => Calculator::bundled(),
        }
    }

    /// What a reply of a model cost at a time, in US dollars; none where the list does not know the model.
    pub fn of(&self, model: &str, usage: &Usage, time: Option<Millis>) -> Option<f64> {
        let minutes = usage
            .written_tokens
            .saturating_sub(usage.written_hour_tokens);
        let mut counted = Counted::new();
        for (key, tokens) in [
            (UsageKey::INPUT_TOKENS, usage.input_tokens),
            (UsageKey::CACHE_READ_TOKENS, usage.cached_tokens),
            (UsageKey::CACHE_WRITE_TOKENS, usage.written_tokens),
            (UsageKey::CACHE_WRITE_5M_TOKENS, minutes),
            (UsageKey::CACHE_WRITE_1H_TOKENS, usage.written_hour_tokens),
            (UsageKey::OUTPUT_TOKENS, usage.output_tokens),
        ] {
            if tokens > 0 {
                counted.insert(key, tokens as f64);
            }
        }
        let at = time.map(|time| Duration::from_millis(u64::try_from(time.0).unwrap_or(0)));
        // A gateway puts the provider's name before the model's.
        let bare = model.rsplit_once('/').map(|(_, bare)| bare);
        [Some(model), bare].into_iter().flatten().find_map(|model| {
            let mut request = PriceRequest::new(model, &counted);
            if let Some(at) = at {
                request = request.with_timestamp(UNIX_EPOCH + at);
            }
            Some(self.calculator().calculate(&request).ok()?.total_price)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cache_had_a_part_in_has_a_price_of_its_own() {
        let prices = Prices::listed();
        let time = Millis::parse("2026-06-01T00:00:00Z");
        let of = |usage: Usage| prices.of("claude-sonnet-4-5", &usage, time).expect("known");
        let million = 1_000_000;
        let hour = Usage {
            written_hour_tokens: 100_000,
            ..Usage::new(100_000, 0).cached(0, 100_000)
        };
        for (usage, dollars) in [
            (Usage::new(100_000, 0), 0.3),
            (Usage::new(0, million).reasoned(million), 15.0),
            (Usage::new(100_000, 0).cached(100_000, 0), 0.03),
            (Usage::new(100_000, 0).cached(0, 100_000), 0.375),
            (hour, 0.6),
            (
                Usage::new(150_000, 10).cached(100_000, 40_000),
                0.03 + 0.15 + 0.03 + 0.00015,
            ),
        ] {
            assert!(
                (of(usage) - dollars).abs() < 1e-9,
                "{usage:?}: {}",
                of(usage)
            );
        }
        let named = prices.of("anthropic/claude-sonnet-4-5", &Usage::new(100_000, 0), time);
        assert_eq!(named, Some(of(Usage::new(100_000, 0))));
        assert_eq!(prices.of("no-such-model", &Usage::new(1, 1), time), None);
        assert!(Prices::read(b"{").is_err());
    }

    #[test]
    fn the_list_is_the_one_that_is_named() {
        let lock = include_str!("../../Cargo.lock");
        let (name, version) = LIST.split_once(' ').expect("a name and a version");
        let wanted = format!("name = \"{name}\"\nversion = \"{version}\"");
        assert!(lock.contains(&wanted), "{LIST}");
    }
}
