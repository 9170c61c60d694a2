//! What a provider asks for a reply, by its list.
//!
//! Deliberately absent: which replies there are, and what anybody really paid: a subscription, a discount, a tax.

use std::time::{Duration, UNIX_EPOCH};

use genai_prices::{Calculator, PriceCalculation, PriceRequest, Usage as Counted, UsageKey};

use super::{Millis, Usage};
use crate::error::{Error, Result};

/// Where the list that comes with the program is from, and the day on which that was published, by the index of
/// crates.io: the list itself bears no date.
pub const LIST: &str = "genai-prices 0.2.1 of 2026-10-30";
/// How many of its units a dollar has in [`Price`].
pub const UNITS: f64 = 1e12;

/// What a reply cost, by what it was for, in millionths of a millionth of a US dollar: sums of it are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Input that was read from a cache.
    pub cached: u128,
    /// Input that was written to a cache.
    pub written: u128,
    /// Input that no cache had a part in.
    pub uncached: u128,
    /// The reply.
    pub output: u128,
}

impl Price {
    /// All of it.
    pub fn total(&self) -> u128 {
        self.cached + self.written + self.uncached + self.output
    }
}

/// What a price depends on beside the counts and the day.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// The model.
    pub model: &'a str,
    /// The provider's tier of service; none: the usual one.
    pub tier: Option<&'a str>,
}

impl<'a> From<&'a str> for Served<'a> {
    fn from(model: &'a str) -> Self {
        Self { model, tier: None }
    }
}

/// Whether a tier of service, as JSON, is the one that has the price that is meant without any.
pub fn is_usual_tier(tier: &str) -> bool {
    let usual = ["auto", "default", "standard", "standard_only", "null"];
    usual.contains(&tier.trim_matches('"'))
}

/// A list of prices.
pub struct Prices(List);

enum List {
    None,
    Listed,
    Read(Box<Calculator>),
}

impl Prices {
    /// The list that comes with the program; the first use takes some 10 ms.
    pub fn listed() -> Self {
        Self(List::Listed)
    }

    /// No list: where nobody asks for prices.
    pub fn none() -> Self {
        Self(List::None)
    }

    /// A list as genai-prices publishes it: `prices.json`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where it is none.
    pub fn read(json: &[u8]) -> Result<Self> {
        let read = Calculator::from_json(json);
        let read = read.map_err(|error| Error::input("the list of prices", error.to_string()))?;
        Ok(Self(List::Read(Box::new(read))))
    }

    fn calculator(&self) -> Option<&Calculator> {
        match &self.0 {
            List::None => None,
            List::Listed => Some(Calculator::bundled()),
            List::Read(read) => Some(read),
        }
    }

    /// What a reply of a model cost at a time, in US dollars; none where the list does not know the model.
    pub fn of<'a>(
        &self,
        served: impl Into<Served<'a>>,
        usage: &Usage,
        time: Option<Millis>,
    ) -> Option<f64> {
        Some(self.calculate(served.into(), usage, time)?.total_price)
    }

    /// The same by what it was for. What a part of the input cost depends on how long all of it is, so that what
    /// the whole cost is shared by what each part would cost alone.
    pub fn apart<'a>(
        &self,
        served: impl Into<Served<'a>>,
        usage: &Usage,
        time: Option<Millis>,
    ) -> Option<Price> {
        let served = served.into();
        let whole = self.calculate(served, usage, time)?;
        // Nobody's list asks a billion for a reply; below that, sums of fractions of it are whole numbers still.
        let units = |dollars: f64| (dollars.min(1e9) * UNITS).round() as u128;
        let total = units(whole.total_price);
        let output = units(whole.output_price).min(total);
        let alone = |part: Usage| {
            let price = self.calculate(served, &part, time);
            price.map_or(0.0, |price| price.input_price)
        };
        let cached = Usage::new(usage.cached_tokens, 0).cached(usage.cached_tokens, 0);
        let written = Usage {
            written_hour_tokens: usage.written_hour_tokens,
            ..Usage::new(usage.written_tokens, 0).cached(0, usage.written_tokens)
        };
        let uncached = Usage::new(usage.uncached_tokens(), 0);
        let parts = [cached, written, uncached].map(alone);
        let all: f64 = parts.iter().sum();
        let input = total - output;
        let share = |part: f64| {
            let share = part / all;
            // Of nothing at all there is no share.
            let share = if share.is_finite() { share } else { 0.0 };
            ((input as f64 * share).round() as u128).min(input)
        };
        let cached = share(parts[0]);
        let written = share(parts[1]).min(input - cached);
        Some(Price {
            cached,
            written,
            uncached: input - cached - written,
            output,
        })
    }

    fn calculate(
        &self,
        Served { model, tier }: Served<'_>,
        usage: &Usage,
        time: Option<Millis>,
    ) -> Option<PriceCalculation> {
        let calculator = self.calculator()?;
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
            // The list calls a batch a way of processing.
            for key in ["service_tier", "processing"] {
                if let Some(tier) = tier {
                    request = request.with_price_context(key, tier);
                }
            }
            calculator.calculate(&request).ok()
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
    fn a_price_is_told_apart_and_comes_to_the_whole() {
        let prices = Prices::listed();
        let time = Millis::parse("2026-06-01T00:00:00Z");
        for usage in [
            Usage::new(150_000, 10).cached(100_000, 40_000),
            Usage::new(900_000, 7_000).cached(600_000, 299_999),
            Usage::new(0, 5),
            Usage::default(),
        ] {
            let model = "claude-sonnet-4-5";
            let price = prices.apart(model, &usage, time).expect("known");
            let whole = prices.of(model, &usage, time).expect("known");
            assert_eq!(price.total(), (whole * UNITS).round() as u128, "{usage:?}");
        }
        let usage = Usage::new(150_000, 10).cached(100_000, 40_000);
        let price = prices.apart("claude-sonnet-4-5", &usage, time);
        let [cached, written, uncached, output] = [0.03, 0.15, 0.03, 0.00015].map(|dollars| {
            let units: f64 = dollars * UNITS;
            units.round() as u128
        });
        let apart = Price {
            cached,
            written,
            uncached,
            output,
        };
        assert_eq!(price, Some(apart));
        assert_eq!(prices.apart("no-such-model", &usage, time), None);
    }

    #[test]
    fn a_tier_has_its_own_price_where_the_list_has_one() {
        let prices = Prices::listed();
        let time = Millis::parse("2026-11-01T00:00:00Z");
        let usage = Usage::new(100_000, 1_000);
        let of = |model, tier| prices.of(Served { model, tier }, &usage, time);
        let dollars = [
            None,
            Some("flex"),
            Some("batch"),
            Some("priority"),
            Some("none"),
        ];
        let dollars = dollars.map(|tier| of("gpt-5.2", tier).expect("known"));
        let wanted = [0.189, 0.0945, 0.0945, 0.378, 0.189];
        for (found, wanted) in dollars.into_iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9, "{dollars:?}");
        }
        assert!(
            is_usual_tier("\"default\"") && is_usual_tier("null") && !is_usual_tier("\"flex\"")
        );
    }

    /// A newer version has another sum, and its day is to be looked up: `pubtime` in the index.
    #[test]
    fn the_list_is_the_one_that_is_named() {
        let lock = include_str!("../../Cargo.lock");
        let (named, _) = LIST.split_once(" of ").expect("a list and its day");
        let (name, version) = named.split_once(' ').expect("a name and a version");
        let source = "registry+https://github.com/rust-lang/crates.io-index";
        let sum = "08cff5caf0c1f43b75e956f2ad40e40a6261c497847f6f268d811d34cba723e5";
        let wanted = format!(
            "name = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\nchecksum = \"{sum}\""
        );
        assert!(lock.contains(&wanted), "{LIST}");
    }
}
