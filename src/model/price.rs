//! What a provider asks for a reply, by its list.
//!
//! Deliberately absent: which replies there are, and what anybody really paid: a subscription, a discount, a tax.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use genai_prices::{Calculator, PriceCalculation, PriceRequest, Usage as Counted, UsageKey};

use super::model_name::{Spelling, spellings};
use super::{Millis, Usage, UsageDetail};
use crate::error::{Error, Result};
use crate::hash::{fingerprint, hex};

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

/// What a whole usage record cost, in US dollars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paid {
    /// The tokens of the request whose context the reply was given.
    pub own: f64,
    /// Each of the other requests behind the reply; none where its model has no price.
    pub iterations: Vec<Option<f64>>,
    /// What is counted beside tokens, and tokens of another kind beyond what they would cost as text.
    pub counts: f64,
    /// What the list has no price for, by its name: how many. Hostile until escaped.
    pub unpriced: BTreeMap<String, u64>,
}

impl Paid {
    /// All of it, as far as it has a price.
    pub fn total(&self) -> f64 {
        self.own + self.beside()
    }

    /// What of it was not for the tokens of the request whose context the reply was given.
    pub fn beside(&self) -> f64 {
        let iterations: f64 = self.iterations.iter().flatten().sum();
        iterations + self.counts
    }
}

/// What a price depends on beside the counts and the day.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// The model.
    pub model: &'a str,
    /// The provider's tier of service; none: the usual one.
    pub tier: Option<&'a str>,
    /// The speed; none: the usual one.
    pub speed: Option<&'a str>,
    /// Where the model was run; none: anywhere.
    pub region: Option<&'a str>,
}

impl<'a> From<&'a str> for Served<'a> {
    fn from(model: &'a str) -> Self {
        Self {
            model,
            tier: None,
            speed: None,
            region: None,
        }
    }
}

/// Whether a setting that says how a reply was served, as JSON, names what has the price that is meant without any.
pub fn is_usual(key: &str, value: &str) -> bool {
    match key {
        "service_tier" => is_usual_tier(value),
        "speed" => matches!(value.trim_matches('"'), "" | "standard" | "null"),
        "inference_geo" => {
            let usual = ["", "not_available", "global", "null"];
            usual.contains(&value.trim_matches('"'))
        }
        _ => false,
    }
}

/// A count that is part of another, which has the price.
const PARTS: [&str; 2] = ["accepted_prediction_tokens", "rejected_prediction_tokens"];

/// Tokens that may have a price of their own, and are part of the input or the output.
const KINDS: [(&str, UsageKey); 8] = [
    ("input_audio_tokens", UsageKey::INPUT_AUDIO_TOKENS),
    ("output_audio_tokens", UsageKey::OUTPUT_AUDIO_TOKENS),
    ("input_image_tokens", UsageKey::INPUT_IMAGE_TOKENS),
    ("output_image_tokens", UsageKey::OUTPUT_IMAGE_TOKENS),
    ("input_video_tokens", UsageKey::INPUT_VIDEO_TOKENS),
    ("output_video_tokens", UsageKey::OUTPUT_VIDEO_TOKENS),
    ("cached_audio_tokens", UsageKey::CACHE_AUDIO_READ_TOKENS),
    ("cached_image_tokens", UsageKey::CACHE_IMAGE_READ_TOKENS),
];

/// What is counted beside tokens, and may have a price.
const OTHERS: [(&str, UsageKey); 2] = [
    ("web_search_requests", UsageKey::WEB_SEARCHES),
    ("num_search_queries", UsageKey::WEB_SEARCHES),
];

/// Whether a tier of service, as JSON, is the one that has the price that is meant without any.
pub fn is_usual_tier(tier: &str) -> bool {
    let usual = ["auto", "default", "standard", "standard_only", "null"];
    usual.contains(&tier.trim_matches('"'))
}

/// Names that somebody gave to models, such as deployments on Azure, each with the model's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelNames(BTreeMap<String, String>);

impl ModelNames {
    /// As a setting has them: `NAME=MODEL`, with commas between.
    ///
    /// ```
    /// use tract::model::price::ModelNames;
    ///
    /// let names = ModelNames::read("prod=gpt-5.2, azure/mini = gpt-5-mini")?;
    /// assert_eq!(names.to_string(), "azure/mini=gpt-5-mini,prod=gpt-5.2");
    /// assert!(ModelNames::read("prod").is_err());
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where one lacks either.
    pub fn read(text: &str) -> Result<Self> {
        let mut names = BTreeMap::new();
        for pair in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let sides = pair.split_once('=').map(|(a, b)| (a.trim(), b.trim()));
            let sides = sides.filter(|(name, model)| !name.is_empty() && !model.is_empty());
            let (name, model) = sides.ok_or_else(|| {
                Error::input("a model's name", format!("'{pair}' is not NAME=MODEL"))
            })?;
            names.insert(name.to_owned(), model.to_owned());
        }
        Ok(Self(names))
    }

    /// The model that a name stands for: the name itself where nobody gave it to another. Of a path the last part may have
    /// been given.
    fn model<'a>(&'a self, name: &'a str) -> &'a str {
        let last = name.rsplit('/').next();
        let given = self.0.get(name).or_else(|| self.0.get(last?));
        given.map_or(name, String::as_str)
    }
}

impl fmt::Display for ModelNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, model)) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{name}={model}")?;
        }
        Ok(())
    }
}

/// A list of prices.
pub struct Prices {
    list: List,
    /// What the list is known again by; empty where there is none.
    tag: String,
    names: ModelNames,
    /// The names of models that were looked up, as lists may have them: there are few, and replies by the thousand.
    spelled: Mutex<HashMap<String, Arc<[Spelling]>>>,
}

impl fmt::Debug for Prices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prices").finish_non_exhaustive()
    }
}

enum List {
    None,
    Listed,
    Read(Box<Calculator>),
}

impl Prices {
    /// The list that comes with the program; the first use takes some 10 ms.
    pub fn listed() -> Self {
        Self::of_list(List::Listed, LIST.to_owned())
    }

    /// No list: where nobody asks for prices.
    pub fn none() -> Self {
        Self::of_list(List::None, String::new())
    }

    /// A list as genai-prices publishes it: `prices.json`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where it is none.
    pub fn read(json: &[u8]) -> Result<Self> {
        let read = Calculator::from_json(json);
        let read = read.map_err(|error| Error::input("the list of prices", error.to_string()))?;
        let tag = hex(&fingerprint(json));
        Ok(Self::of_list(List::Read(Box::new(read)), tag))
    }

    fn of_list(list: List, tag: String) -> Self {
        Self {
            list,
            tag,
            names: ModelNames::default(),
            spelled: Mutex::default(),
        }
    }

    /// The same where these names stand for models.
    #[must_use]
    pub fn named(self, names: ModelNames) -> Self {
        Self { names, ..self }
    }

    /// What these prices are known again by: two of one tag have the same prices. None where there is no list.
    pub fn tag(&self) -> Option<String> {
        match (self.tag.is_empty(), self.names == ModelNames::default()) {
            (true, _) => None,
            (false, true) => Some(self.tag.clone()),
            (false, false) => Some(format!("{} {}", self.tag, self.names)),
        }
    }

    fn calculator(&self) -> Option<&Calculator> {
        match &self.list {
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
        Some(
            self.calculate(served.into(), &counted(usage), time)?
                .total_price,
        )
    }

    /// The same of a whole usage record.
    pub fn paid<'a>(
        &self,
        served: impl Into<Served<'a>>,
        usage: &Usage,
        detail: &UsageDetail,
        time: Option<Millis>,
    ) -> Option<Paid> {
        let served = served.into();
        let mut paid = Paid {
            own: self.of(served, usage, time)?,
            ..Paid::default()
        };
        for iteration in &detail.iterations {
            let model = iteration.model.as_deref().unwrap_or(served.model);
            let usage = iteration.usage();
            let price = self.of(Served { model, ..served }, &usage, time);
            if price.is_none() {
                let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
                let name = format!("tokens of {model} ({})", iteration.kind);
                let sum = paid.unpriced.entry(name).or_default();
                *sum = sum.saturating_add(tokens);
            }
            paid.iterations.push(price);
        }
        let key_of = |known: &[(&str, UsageKey)], name: &str| {
            let known = known.iter().find(|(known, _)| *known == name);
            known.map(|(_, key)| key.clone())
        };
        let mut kinds = counted(usage);
        let mut of_kinds = Vec::new();
        for (name, count) in &detail.counts {
            if let Some(key) = key_of(&KINDS, name) {
                kinds.insert(key, *count as f64);
                of_kinds.push((name, count));
            } else if let Some(key) = key_of(&OTHERS, name) {
                let mut alone = Counted::new();
                alone.insert(key, *count as f64);
                let price = self.calculate(served, &alone, time);
                match price.map_or(0.0, |price| price.total_price) {
                    price if price > 0.0 => paid.counts += price,
                    _ => drop(paid.unpriced.insert(name.clone(), *count)),
                }
            } else if !PARTS.contains(&name.as_str()) {
                paid.unpriced.insert(name.clone(), *count);
            }
        }
        if !of_kinds.is_empty() {
            match self.calculate(served, &kinds, time) {
                Some(price) => paid.counts += price.total_price - paid.own,
                // Numbers that contradict each other.
                None => {
                    let kinds = of_kinds.into_iter();
                    let kinds = kinds.map(|(name, count)| (name.clone(), *count));
                    paid.unpriced.extend(kinds);
                }
            }
        }
        Some(paid)
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
        let whole = self.calculate(served, &counted(usage), time)?;
        // Nobody's list asks a billion for a reply; below that, sums of fractions of it are whole numbers still.
        let units = |dollars: f64| (dollars.min(1e9) * UNITS).round() as u128;
        let total = units(whole.total_price);
        let output = units(whole.output_price).min(total);
        let alone = |part: Usage| {
            let price = self.calculate(served, &counted(&part), time);
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

    fn spelled(&self, model: &str) -> Arc<[Spelling]> {
        let mut known = self.spelled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(model) {
            return Arc::clone(known);
        }
        let found: Arc<[Spelling]> = spellings(model).into();
        known.insert(model.to_owned(), Arc::clone(&found));
        found
    }

    fn calculate(
        &self,
        served: Served<'_>,
        counted: &Counted,
        time: Option<Millis>,
    ) -> Option<PriceCalculation> {
        let calculator = self.calculator()?;
        let at = time.map(|time| Duration::from_millis(u64::try_from(time.0).unwrap_or(0)));
        let model = self.names.model(served.model);
        self.spelled(model).iter().find_map(|spelling| {
            let mut request = PriceRequest::new(&spelling.name, counted);
            if let Some(provider) = spelling.provider {
                request = request.with_provider_id(provider);
            }
            if let Some(at) = at {
                request = request.with_timestamp(UNIX_EPOCH + at);
            }
            // The list calls a batch a way of processing, and a speed a tier.
            for (key, word) in [
                ("service_tier", served.speed),
                ("speed", served.speed),
                ("service_tier", served.tier),
                ("processing", served.tier),
                ("inference_geo", served.region),
            ] {
                if let Some(word) = word {
                    request = request.with_price_context(key, word);
                }
            }
            calculator.calculate(&request).ok()
        })
    }
}

/// The tokens as the list counts them.
fn counted(usage: &Usage) -> Counted {
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
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Iteration;

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
    fn a_model_is_found_by_the_names_that_clouds_give_it() {
        let time = Millis::parse("2026-11-01T00:00:00Z");
        let usage = Usage::new(1_000_000, 0);
        let prices = Prices::listed();
        for (name, dollars) in [
            ("claude-opus-4-6", 5.0),
            ("claude-opus-4-6[1m]", 5.0),
            // Bedrock: in a region a tenth more.
            ("us.anthropic.claude-opus-4-6-v1:0", 5.5),
            ("us.anthropic.claude-opus-4-6-v1[1m]", 5.5),
            ("anthropic.claude-opus-4-6-v1", 5.5),
            ("ca.anthropic.claude-opus-4-6-v1:0", 5.5),
            ("global.anthropic.claude-opus-4-6-v1:0", 5.0),
            ("bedrock/us.anthropic.claude-opus-4-6-v1:0", 5.5),
            (
                "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-6-v1:0",
                5.5,
            ),
            (
                "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-6-v1:0",
                5.5,
            ),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3),
            ("us.anthropic.claude-opus-5-v1:0", 5.5),
            ("us.anthropic.claude-opus-5", 5.5),
            // Vertex.
            ("claude-opus-4-5@20251101", 5.0),
            ("claude-opus-4-6@default", 5.0),
            ("publishers/anthropic/models/claude-opus-4-6@20260205", 5.0),
            ("vertex_ai/claude-opus-4-6", 5.0),
            // Gateways.
            ("anthropic/claude-opus-4.6", 5.0),
            ("anthropic/claude-opus-4.6:beta", 5.0),
            ("openrouter/anthropic/claude-opus-4-6", 5.0),
            ("litellm/anthropic/claude-opus-4-6", 5.0),
            ("openai/gpt-5.2:online", 1.75),
            ("models/gemini-2.5-flash", 0.3),
        ] {
            let found = prices.of(name, &usage, time).expect(name);
            assert!((found - dollars).abs() < 1e-9, "{name}: {found}");
        }
        for (name, of) in [("deepseek/deepseek-r1:free", 0.0), ("z-ai/glm-4.6", 0.1)] {
            let found = prices.of(name, &usage, time);
            assert!(
                found.is_some_and(|found| found >= of && (of > 0.0 || found == 0.0)),
                "{name}: {found:?}"
            );
        }
        let own = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3";
        for name in [own, "prod", "azure/prod", "us.anthropic.claude-nobody-v1:0"] {
            assert_eq!(prices.of(name, &usage, time), None, "{name}");
        }
        let names = ModelNames::read("a1b2c3=us.anthropic.claude-opus-4-6-v1:0,prod=gpt-5.2");
        let prices = prices.named(names.expect("names"));
        let of = |name| prices.of(name, &usage, time);
        assert_eq!(
            [of(own), of("prod"), of("azure/prod")],
            [Some(5.5), Some(1.75), Some(1.75)]
        );
        assert_eq!(of("gpt-5.2"), Some(1.75));
    }

    #[test]
    fn a_tier_has_its_own_price_where_the_list_has_one() {
        let prices = Prices::listed();
        let time = Millis::parse("2026-11-01T00:00:00Z");
        let usage = Usage::new(100_000, 1_000);
        let of = |model: &str, tier| {
            let served = Served {
                tier,
                ..Served::from(model)
            };
            prices.of(served, &usage, time)
        };
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

    #[test]
    fn a_whole_record_is_priced_and_what_has_no_price_is_named() {
        let prices = Prices::listed();
        let time = Millis::parse("2026-11-01T00:00:00Z");
        let usage = Usage::new(100_000, 1_000);
        let mut detail = UsageDetail {
            iterations: vec![
                Iteration::new("message", None, Usage::new(50_000, 0)),
                Iteration::new(
                    "advisor_message",
                    Some("claude-opus-4-6".to_owned()),
                    Usage::new(100_000, 1_000),
                ),
                Iteration::new("compaction", Some("nobody's".to_owned()), Usage::new(5, 2)),
            ],
            ..UsageDetail::default()
        };
        detail.count("web_search_requests", 7);
        detail.count("web_fetch_requests", 3);
        detail.count("rejected_prediction_tokens", 9);
        let paid = prices.paid("claude-sonnet-4-5", &usage, &detail, time);
        let paid = paid.expect("known");
        let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-9;
        assert!(near(paid.own, 0.315), "{paid:?}");
        assert!(near(paid.iterations[0].expect("known"), 0.15), "{paid:?}");
        assert!(near(paid.iterations[1].expect("known"), 0.525), "{paid:?}");
        assert!(near(paid.counts, 0.07), "{paid:?}");
        assert!(near(paid.total(), 0.315 + 0.15 + 0.525 + 0.07), "{paid:?}");
        let unpriced: Vec<_> = paid
            .unpriced
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        assert_eq!(
            unpriced,
            [
                ("tokens of nobody's (compaction)", 7),
                ("web_fetch_requests", 3)
            ]
        );
        // Sound has a price of its own.
        let mut sound = UsageDetail::default();
        sound.count("input_audio_tokens", 50_000);
        let usage = Usage::new(100_000, 0);
        let of = |model: &str, detail: &UsageDetail| {
            prices.paid(model, &usage, detail, time).expect("known")
        };
        let paid = of("gemini-2.5-flash", &sound);
        assert!(paid.counts > 0.03 && paid.unpriced.is_empty(), "{paid:?}");
        // Numbers that contradict each other have no price, and the rest has.
        sound.count("input_audio_tokens", 150_000);
        let paid = of("gemini-2.5-flash", &sound);
        assert!(paid.counts == 0.0 && paid.own > 0.0, "{paid:?}");
        assert_eq!(paid.unpriced["input_audio_tokens"], 200_000);
        assert_eq!(prices.paid("no-such-model", &usage, &detail, time), None);
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
