//! What clients say that all requests of their sessions came to, and what of that no reply shows.

use std::collections::{HashMap, HashSet};

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
            let others = others.filter_map(|(model, usage)| prices.of(&*model, &usage, None));
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
    /// session came to. `replies` are all that [`Repo::billed`] tells, or, where that is said, all of some sessions.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn other_requests(
        &self,
        replies: &[BilledReply],
        of_these_sessions: bool,
        prices: &Prices,
    ) -> Result<Bill> {
        let mut stated = stated_here(&*self.store.read()?)?;
        if of_these_sessions {
            let sessions = replies.iter().filter_map(|reply| reply.session.as_ref());
            let sessions: HashSet<&RefName> = sessions.collect();
            stated.retain(|(session, _)| sessions.contains(session));
        }
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
        let mut bill = Bill::default();
        for (session, stated) in &stated {
            let of = |model: &str| known.get(&(session.as_str(), model.to_owned())).copied();
            for (model, usage) in stated.beyond(|model| of(model).unwrap_or_default()) {
                let time = times.get(session.as_str()).copied();
                bill.usage = bill.usage.plus(usage);
                match prices.of(&*model, &usage, time) {
                    Some(dollars) => bill.dollars += dollars,
                    None => bill.unpriced += 1,
                }
            }
        }
        Ok(bill)
    }
}
