//! What clients say that all requests of their sessions came to, and what of that no reply shows.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::bill::Bill;
use super::reply::BilledReply;
use crate::error::Result;
use crate::model::price::Prices;
use crate::model::{Millis, RefName, StatedUsage, Usage};
use crate::repo::{Repo, load};
use crate::store::View;

/// What a client says that a session cost, and what it comes to by a list of prices.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedCost {
    /// The session.
    pub session: RefName,
    /// By its client, in US dollars.
    pub dollars: f64,
    /// By the list, in US dollars: what has no price there is not in it.
    pub listed: f64,
}

/// Requests that no reply shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherRequests {
    /// What they come to. Nobody says how many there were: of those without a price it counts models.
    pub bill: Bill,
    /// The tokens of those that have no price, by model. Hostile until escaped.
    pub unpriced: BTreeMap<String, u64>,
}

/// How much input a request has at most that is short: lists ask more for each token of a long one, from 128,000 on.
const SHORT: u64 = 100_000;

/// What requests cost of which only the sum is known: that of short ones, for a sum is no long request.
fn price_of_sum(prices: &Prices, model: &str, sum: &Usage, time: Option<Millis>) -> Option<f64> {
    let others = sum.input_tokens.div_ceil(SHORT).saturating_sub(1);
    let part = Usage::of_numbers(sum.numbers().map(|number| number / (others + 1)));
    let numbers = part.numbers().map(|number| number.saturating_mul(others));
    let mut last = sum.minus(Usage::of_numbers(numbers));
    // What division left of a part may be more than what it left of the whole.
    last.written_tokens = last.written_tokens.max(last.written_hour_tokens);
    last.input_tokens = last
        .input_tokens
        .max(last.cached_tokens.saturating_add(last.written_tokens));
    last.output_tokens = last.output_tokens.max(last.reasoning_tokens);
    let [part, last] = [part, last].map(|usage| prices.of(model, &usage, time));
    Some(part? * others as f64 + last?)
}

/// What clients say that the sessions came to that are here: an import that was undone leaves that.
fn stated_here(view: &dyn View) -> Result<Vec<(RefName, StatedUsage)>> {
    let tips = load::tips(view, RefName::SESSIONS)?;
    let here: HashSet<RefName> = tips.into_iter().map(|(name, _)| name).collect();
    let stated = view.stated_usage()?.into_iter();
    Ok(stated
        .filter(|(session, _)| here.contains(session))
        .collect())
}

impl Repo {
    /// What clients say that their sessions cost, where the list of prices says otherwise: a session's replies, those of
    /// its sub-agents, and what else its client counts.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn stated_costs(
        &self,
        replies: &[BilledReply],
        prices: &Prices,
    ) -> Result<Vec<StatedCost>> {
        let mut found = Vec::new();
        for (session, stated) in stated_here(&*self.store.read()?)? {
            let Some(dollars) = stated.dollars.as_ref().and_then(|it| it.parse().ok()) else {
                continue;
            };
            let below = format!("{session}/");
            let own: Vec<&BilledReply> = replies
                .iter()
                .filter(|reply| {
                    let of = reply.session.as_ref();
                    of.is_some_and(|of| *of == session || of.as_str().starts_with(&below))
                })
                .collect();
            let known = |model: &str| {
                let of = own.iter().filter(|it| it.model.as_deref() == Some(model));
                of.fold(Usage::default(), |sum, it| sum.plus(it.counted()))
            };
            let others = stated.beyond(known).into_iter();
            let others =
                others.filter_map(|(model, usage)| price_of_sum(prices, &model, &usage, None));
            let listed = Bill::of(own.iter().copied()).dollars + others.sum::<f64>();
            let most = f64::max(dollars, listed);
            // What both round to the same is no difference.
            if (dollars - listed).abs() > f64::max(most / 100.0, 0.005) {
                found.push(StatedCost {
                    session,
                    dollars,
                    listed,
                });
            }
        }
        Ok(found)
    }

    /// What requests come to that no reply shows: compactions, titles, recaps, as far as clients say what all requests of a
    /// session came to. `replies` are all of the sessions that are meant.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn other_requests(
        &self,
        replies: &[BilledReply],
        is_meant: &dyn Fn(&RefName) -> bool,
        prices: &Prices,
    ) -> Result<OtherRequests> {
        let mut stated = stated_here(&*self.store.read()?)?;
        stated.retain(|(session, _)| is_meant(session));
        let mut known: HashMap<(&str, String), Usage> = HashMap::new();
        let mut times: HashMap<&str, Millis> = HashMap::new();
        for reply in replies {
            let Some(session) = reply.session.as_ref().map(RefName::as_str) else {
                continue;
            };
            // A sub-agent's are among its session's.
            let root = session
                .match_indices('/')
                .nth(3)
                .map_or(session, |(at, _)| &session[..at]);
            let mut add = |model: Option<&str>, usage: Usage| {
                let model = model.unwrap_or_default();
                let agent = (session != root).then_some(session);
                for of in std::iter::once(root).chain(agent) {
                    let sum = known.entry((of, model.to_owned())).or_default();
                    *sum = sum.plus(usage);
                }
            };
            add(reply.model.as_deref(), reply.usage);
            for iteration in &reply.detail.iterations {
                let model = iteration.model.as_deref().or(reply.model.as_deref());
                add(model, iteration.usage());
            }
            if let Some(time) = reply.time {
                let last = times.entry(root).or_insert(time);
                *last = time.max(*last);
            }
        }
        let mut found = OtherRequests::default();
        for (session, stated) in &stated {
            let of = |model: &str| known.get(&(session.as_str(), model.to_owned())).copied();
            for (model, usage) in stated.beyond(|model| of(model).unwrap_or_default()) {
                let time = times.get(session.as_str()).copied();
                let bill = &mut found.bill;
                bill.usage = bill.usage.plus(usage);
                match price_of_sum(prices, &model, &usage, time) {
                    Some(dollars) => bill.dollars += dollars,
                    None => {
                        bill.unpriced += 1;
                        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
                        let sum = found.unpriced.entry(model).or_default();
                        *sum = sum.saturating_add(tokens);
                    }
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_short_requests_has_not_the_price_of_a_long_one() {
        let (prices, time) = (Prices::listed(), Millis::parse("2026-06-01T00:00:00Z"));
        let model = "claude-sonnet-4-5";
        let one = Usage::new(90_000, 7).cached(80_000, 3_000);
        let of = |usage: &Usage| prices.of(model, usage, time).expect("known");
        let sum = (0..8).fold(Usage::default(), |sum, _| sum.plus(one));
        let found = price_of_sum(&prices, model, &sum, time).expect("known");
        assert!((found - 8.0 * of(&one)).abs() < 1e-9, "{found}");
        assert!(of(&sum) > 1.5 * found);
        let odd = Usage::new(870_341, 35).cached(760_746, 109_595);
        assert!(price_of_sum(&prices, model, &odd, time).is_some());
        assert_eq!(price_of_sum(&prices, model, &one, time), Some(of(&one)));
        assert_eq!(price_of_sum(&prices, "no-such-model", &one, time), None);
    }
}
