//! What clients say that all requests of their sessions came to, and what of that no reply shows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::bill::Bill;
use super::reply::BilledReply;
use crate::error::Result;
use crate::formats::Format;
use crate::model::price::Prices;
use crate::model::{Millis, RefName, StatedUsage, Usage};
use crate::repo::copies::as_kept;
use crate::repo::load;
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

/// Of which sessions the requests count that no reply shows.
#[derive(Clone, Copy)]
pub enum OthersOf<'a> {
    /// All.
    All,
    /// Those whose replies are all meant.
    Whole(&'a dyn Fn(&BilledReply) -> bool),
    /// The same where replies are meant by their time: those without any reply are left out, too.
    OfTime(&'a dyn Fn(&BilledReply) -> bool),
    /// None: what is meant may end anywhere in a session.
    None(&'a dyn Fn(&BilledReply) -> bool),
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

/// The replies that sessions have and others made, each by its place among all.
pub(super) type CopiedReplies = HashMap<RefName, BTreeSet<usize>>;

/// A sum of requests of a session that no reply shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OtherSum {
    /// The model. Hostile until escaped.
    pub(super) model: String,
    pub(super) usage: Usage,
    /// When the session's newest reply came: its prices count.
    pub(super) time: Option<Millis>,
    /// What it costs, in US dollars; none where its model has no price.
    pub(super) dollars: Option<f64>,
}

/// What the replies of a session come to.
#[derive(Clone, Default)]
struct SessionReplies {
    models: Vec<(String, Usage)>,
    dollars: f64,
    last: Option<Millis>,
}

impl SessionReplies {
    fn add(&mut self, reply: &BilledReply) {
        let model = reply.model.as_deref();
        let own = (model, reply.usage);
        let iterations = reply.detail.iterations.iter();
        let iterations = iterations.map(|it| (it.model.as_deref().or(model), it.usage()));
        for (model, usage) in std::iter::once(own).chain(iterations) {
            let model = model.unwrap_or_default();
            match self.models.iter_mut().find(|(known, _)| known == model) {
                Some((_, sum)) => *sum = sum.plus(usage),
                None => self.models.push((model.to_owned(), usage)),
            }
        }
        self.dollars += reply.dollars.unwrap_or(0.0);
        self.last = self.last.max(reply.time);
    }

    fn all(&self) -> Usage {
        let sums = self.models.iter().map(|(_, usage)| *usage);
        sums.fold(Usage::default(), Usage::plus)
    }

    fn of(&self, model: &str) -> Usage {
        let found = self.models.iter().find(|(known, _)| known == model);
        found.map_or_else(Usage::default, |(_, usage)| *usage)
    }
}

/// All that was billed: what replies show, and what none shows.
#[derive(Debug, Default)]
pub struct Billing {
    /// The replies, as [`crate::repo::Repo::billed`] gives them.
    pub replies: Vec<BilledReply>,
    /// What clients say that their sessions cost, where the list of prices says otherwise: a session's replies, those of
    /// its sub-agents, and what else its client counts.
    pub stated: Vec<StatedCost>,
    pub(super) others: Vec<(RefName, Vec<OtherSum>)>,
}

impl Billing {
    /// Of these replies, and of what clients say that all requests of these sessions came to. `copied` are replies that
    /// sessions have and others made, by their places; `known` has sums whose prices were looked up before.
    pub(super) fn of(
        replies: Vec<BilledReply>,
        sessions: Vec<(RefName, StatedUsage)>,
        copied: &CopiedReplies,
        known: &HashMap<&RefName, &[OtherSum]>,
        prices: &Prices,
    ) -> Self {
        let stated = sessions.iter();
        let stated = stated.map(|(name, _)| (name.as_str(), SessionReplies::default()));
        let mut stated: HashMap<&str, SessionReplies> = stated.collect();
        for reply in &replies {
            let session = reply.session.as_ref();
            let Some((session, root)) =
                session.and_then(|it| Some((it.as_str(), it.root_session()?)))
            else {
                continue;
            };
            // A sub-agent's are among its session's.
            let agent = (session != root).then_some(session);
            for of in std::iter::once(root).chain(agent) {
                if let Some(own) = stated.get_mut(of) {
                    own.add(reply);
                }
            }
        }
        let mut beyond: HashMap<&str, Vec<(String, Usage)>> = HashMap::new();
        // The client of a fork goes on with its parent's sums, or begins anew.
        let mut parents: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for (session, says) in &sessions {
            let own = &stated[session.as_str()];
            let mut known = own.clone();
            let places = copied.get(session).into_iter().flatten();
            let copies: Vec<&BilledReply> = places.map(|at| &replies[*at]).collect();
            // Of a fork whose parent is here, that one has what it took over.
            let says = match copies.is_empty() {
                true => &says.clone().with_copied(),
                false => says,
            };
            copies.iter().for_each(|reply| known.add(reply));
            let goes_on = !copies.is_empty() && says.covers(known.all());
            if goes_on {
                let made_by = copies.iter().filter_map(|reply| reply.session.as_ref());
                let made_by = made_by.filter_map(RefName::root_session);
                parents.insert(session.as_str(), made_by.collect());
            }
            let known = if goes_on { &known } else { own };
            let left = says.beyond(|model| known.of(model), known.all());
            beyond.insert(session.as_str(), left);
        }
        let left = |session: &str| {
            let mut left = beyond[session].clone();
            let parents = parents.get(session).into_iter().flatten();
            let theirs = parents.filter_map(|parent| beyond.get(parent)).flatten();
            let mut taken_over: BTreeMap<&str, Usage> = BTreeMap::new();
            for (model, usage) in theirs {
                let sum = taken_over.entry(model).or_default();
                *sum = sum.fuller(*usage);
            }
            for (model, usage) in &mut left {
                *usage = usage.minus(taken_over.get(&**model).copied().unwrap_or_default());
            }
            left.retain(|(_, usage)| usage.input_tokens.saturating_add(usage.output_tokens) > 0);
            left
        };
        let (mut others, mut costs) = (Vec::new(), Vec::new());
        for (session, says) in &sessions {
            let own = &stated[session.as_str()];
            let before = known.get(session).copied().unwrap_or_default();
            let sum = |(model, usage): (String, Usage)| {
                let is_it =
                    |it: &&OtherSum| (&it.model, it.usage, it.time) == (&model, usage, own.last);
                before
                    .iter()
                    .find(is_it)
                    .cloned()
                    .unwrap_or_else(|| OtherSum {
                        dollars: price_of_sum(prices, &model, &usage, own.last),
                        time: own.last,
                        model,
                        usage,
                    })
            };
            let sums: Vec<OtherSum> = left(session.as_str()).into_iter().map(sum).collect();
            if let Some(dollars) = says.dollars.as_ref().and_then(|it| it.parse().ok()) {
                let listed = own.dollars + sums.iter().filter_map(|it| it.dollars).sum::<f64>();
                let most = f64::max(dollars, listed);
                // What both round to the same is no difference.
                if (dollars - listed).abs() > f64::max(most / 100.0, 0.005) {
                    let session = session.clone();
                    costs.push(StatedCost {
                        session,
                        dollars,
                        listed,
                    });
                }
            }
            if !sums.is_empty() {
                others.push((session.clone(), sums));
            }
        }
        Self {
            replies,
            stated: costs,
            others,
        }
    }

    /// What requests come to that no reply shows: compactions, titles, recaps, as far as clients say what all requests of a
    /// session came to. It is told, too, whether such requests are left out of sessions of which some replies are meant:
    /// nobody says when they were made, or behind which reply.
    pub fn other_requests(&self, of: OthersOf<'_>) -> (OtherRequests, bool) {
        let is_meant = match of {
            OthersOf::All => return (self.sum_of(&|_| true), false),
            OthersOf::Whole(is_meant) | OthersOf::OfTime(is_meant) | OthersOf::None(is_meant) => {
                is_meant
            }
        };
        // Of each session, and each part of one: whether some of its replies are meant, and whether all are.
        let mut sessions: HashMap<String, (bool, bool)> = HashMap::new();
        for reply in &self.replies {
            let is_meant = is_meant(reply);
            let whole = reply.counts_with(false);
            let part = reply
                .counts_with(true)
                .filter(|it| Some(it) != whole.as_ref());
            for name in whole.into_iter().chain(part) {
                let (some, every) = sessions.entry(name).or_insert((false, true));
                *some |= is_meant;
                *every &= is_meant;
            }
        }
        let found = |name: &RefName| sessions.get(name.as_str()).copied();
        let may_be_whole = !matches!(of, OthersOf::None(_));
        let is_of_time = matches!(of, OthersOf::OfTime(_));
        let is_whole = |name: &RefName| may_be_whole && found(name) == Some((true, true));
        let is_part = |name: &RefName| {
            let has_some = found(name).map_or(is_of_time, |(some, _)| some);
            has_some && !is_whole(name)
        };
        let is_left_out = self.sum_of(&is_part) != OtherRequests::default();
        (self.sum_of(&is_whole), is_left_out)
    }

    fn sum_of(&self, is_meant: &dyn Fn(&RefName) -> bool) -> OtherRequests {
        let mut found = OtherRequests::default();
        let meant = self.others.iter().filter(|(session, _)| is_meant(session));
        for sum in meant.flat_map(|(_, sums)| sums) {
            let bill = &mut found.bill;
            bill.usage = bill.usage.plus(sum.usage);
            match sum.dollars {
                Some(dollars) => bill.dollars += dollars,
                None => {
                    bill.unpriced += 1;
                    let tokens = sum
                        .usage
                        .input_tokens
                        .saturating_add(sum.usage.output_tokens);
                    let unpriced = found.unpriced.entry(sum.model.clone()).or_default();
                    *unpriced = unpriced.saturating_add(tokens);
                }
            }
        }
        found
    }
}

/// What clients say that the sessions came to that are here: an import that was undone leaves that. Each request is said
/// of once, whichever form of a session says it.
pub(super) fn stated_here(view: &dyn View) -> Result<Vec<(RefName, StatedUsage)>> {
    let stated = view.stated_usage()?;
    if stated.is_empty() {
        return Ok(stated);
    }
    let tips = load::tips(view, RefName::SESSIONS)?;
    let here: HashSet<RefName> = tips.into_iter().map(|(name, _)| name).collect();
    let mut told = Vec::new();
    // Streams, by what their client keeps of the session.
    let mut streams: BTreeMap<RefName, Vec<(RefName, StatedUsage)>> = BTreeMap::new();
    for (session, says) in stated {
        if here.contains(&session) {
            match as_kept(&session) {
                Some(kept) => streams.entry(kept).or_default().push((session, says)),
                None => told.push((session, says)),
            }
        }
    }
    for (kept, streams) in streams {
        if told.iter().any(|(known, _)| *known == kept) {
            // That is of all processes.
            continue;
        }
        let is_kept = here.contains(&kept);
        let one = match (sums_up_session(&streams), is_kept) {
            (true, _) => streams.into_iter().max_by_key(|(_, says)| says.tokens()),
            (false, true) => streams
                .into_iter()
                .reduce(|(name, sum), (_, says)| (name, sum.with(&says))),
            (false, false) => {
                told.extend(streams);
                None
            }
        };
        told.extend(one.map(|(name, says)| (if is_kept { kept } else { name }, says)));
    }
    Ok(told)
}

/// Whether each of these streams says what all requests of their session came to.
fn sums_up_session(streams: &[(RefName, StatedUsage)]) -> bool {
    let tool = streams.first().and_then(|(name, _)| name.as_session());
    let format = tool.and_then(|(tool, _)| Format::named(tool).ok());
    let streamed = format.and_then(|format| format.streamed);
    streamed.is_some_and(|it| it.sums_up_session)
}

/// The same of a session, and of those that these replies are of.
pub(super) fn stated_of(
    view: &dyn View,
    session: Option<&RefName>,
    replies: &[BilledReply],
) -> Result<Vec<(RefName, StatedUsage)>> {
    let sessions = replies.iter().filter_map(|reply| reply.session.as_ref());
    let sessions = sessions.chain(session);
    let roots: HashSet<&str> = sessions.filter_map(RefName::root_session).collect();
    let mut stated = stated_here(view)?;
    let is_here = |session: &RefName| session.root_session().is_some_and(|it| roots.contains(it));
    stated.retain(|(session, _)| is_here(session));
    Ok(stated)
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
