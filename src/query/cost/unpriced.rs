//! What a list of prices does not have of what replies were billed for.

use std::collections::BTreeMap;

use super::reply::BilledReply;
use crate::model::price::{Prices, Served};

/// What a list of prices does not have of what replies were billed for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unlisted {
    /// How replies were served, such as a tier, and the word for it: these have the standard price. Hostile until escaped.
    Way(&'static str, String),
    /// What a usage record counts, by its name: this is in no sum. Hostile until escaped.
    Count(String),
}

/// What the list does not have of what these replies were billed for: of a way how many replies, else the count.
pub fn unlisted<'r>(
    replies: impl IntoIterator<Item = &'r BilledReply>,
    prices: &Prices,
) -> BTreeMap<Unlisted, u64> {
    let mut found: BTreeMap<Unlisted, u64> = BTreeMap::new();
    for reply in replies {
        for (what, word) in reply.at_standard_price(prices) {
            let way = Unlisted::Way(what, word.to_owned());
            *found.entry(way).or_default() += 1;
        }
        for (name, count) in reply.paid.iter().flat_map(|paid| &paid.unpriced) {
            let sum = found.entry(Unlisted::Count(name.clone())).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    found
}

impl BilledReply {
    /// How it was served that has no price in the list, so that it has the standard one: what that is, and the word for it.
    fn at_standard_price(&self, prices: &Prices) -> Vec<(&'static str, &str)> {
        let Some(served) = self.served() else {
            return Vec::new();
        };
        let ways = [
            ("tier", served.tier),
            ("speed", served.speed),
            ("region", served.region),
        ];
        if ways.iter().all(|(_, word)| word.is_none()) {
            return Vec::new();
        }
        let of = |served: Served<'_>| prices.of(served, &self.usage, self.time);
        let standard = of(Served::from(served.model));
        let alone = |what: &str| {
            of(Served {
                tier: served.tier.filter(|_| what == "tier"),
                speed: served.speed.filter(|_| what == "speed"),
                region: served.region.filter(|_| what == "region"),
                ..served
            })
        };
        let ways = ways
            .into_iter()
            .filter_map(|(what, word)| Some((what, word?)));
        ways.filter(|(what, _)| standard.is_some() && alone(what) == standard)
            .collect()
    }
}
