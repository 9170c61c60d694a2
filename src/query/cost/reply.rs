//! A reply that a provider counted, with what its price depends on.
//!
//! Deliberately absent: which replies there are.

use crate::hash::{CommitHash, ContentHash};
use crate::model::price::{Paid, Prices, Served};
use crate::model::{Millis, RefName, Usage, UsageDetail};

/// A reply that a provider counted.
#[derive(Clone, Debug, PartialEq)]
pub struct BilledReply {
    /// The commit that appends it.
    pub commit: CommitHash,
    /// The session that made it; of several that have it the original.
    pub session: Option<RefName>,
    /// The session that somebody began, where an agent of its started that one.
    pub started_by: Option<RefName>,
    /// The working directory of that session. Hostile until escaped.
    pub directory: Option<String>,
    /// When it came; of a stream that gives no times, when it was recorded.
    pub time: Option<Millis>,
    /// The model that made it. Hostile until escaped.
    pub model: Option<String>,
    /// The tier of service where it is not the usual one. Hostile until escaped.
    pub tier: Option<String>,
    /// The speed where it is not the usual one. Hostile until escaped.
    pub speed: Option<String>,
    /// Where the model was run, where that has a price of its own. Hostile until escaped.
    pub region: Option<String>,
    /// What was counted for the request whose context it was given.
    pub usage: Usage,
    /// What its usage record says beyond that.
    pub detail: UsageDetail,
    /// What it cost, in US dollars; none where its model has no price. By the standard price where its tier, its speed or
    /// its region has none.
    pub dollars: Option<f64>,
    /// The same by what it was for.
    pub paid: Option<Paid>,
    /// What is missing in its output, where less was counted than it says.
    pub short: Option<ShortOutputs>,
    /// The one that was counted before it on its path.
    pub before: Option<CommitHash>,
    /// What it says.
    pub(super) content: Option<ContentHash>,
    /// The commit that it stands behind.
    pub(super) behind: Option<CommitHash>,
}

impl BilledReply {
    /// Looks its price up.
    pub fn price(&mut self, prices: &Prices) {
        let time = self.time.or(self.detail.recorded);
        let paid = self
            .served()
            .and_then(|served| prices.paid(served, &self.usage, &self.detail, time));
        self.dollars = paid.as_ref().map(Paid::total);
        self.paid = paid;
    }

    /// With the time of recording where its stream gives none. Not before copies are looked for: those are known by the times
    /// that their clients gave.
    pub(crate) fn timed(mut self) -> Self {
        self.time = self.time.or(self.detail.recorded);
        self
    }

    /// Takes over what is told of a copy of it where that is more: it may have more of the answer, and the form of another
    /// client has no place for some of it.
    pub(super) fn take_fuller(&mut self, copy: Self) {
        if copy.told() > self.told() {
            (self.model, self.tier) = (copy.model, copy.tier);
            (self.speed, self.region) = (copy.speed, copy.region);
            let recorded = self.detail.recorded;
            (self.usage, self.detail) = (copy.usage, copy.detail);
            self.detail.recorded = recorded;
            (self.dollars, self.paid) = (copy.dollars, copy.paid);
        }
    }

    /// How much is told of it: of two copies the greater one tells more.
    fn told(&self) -> ([bool; 2], u64, [u64; 6], bool) {
        let usage = &self.usage;
        let has_detail = self.detail.tells_counts();
        (
            // A form that has no place for a model may name one that nobody knows.
            [self.dollars.is_some(), self.model.is_some()],
            usage.output_tokens,
            usage.numbers(),
            has_detail,
        )
    }

    /// All that was counted for it, be it in several requests.
    pub fn counted(&self) -> Usage {
        self.usage.plus(self.detail.iterated())
    }

    /// The session that it counts with, by its ref: a sub-agent's with who started it, unless agents stand alone.
    pub fn counts_with(&self, are_agents_alone: bool) -> Option<String> {
        let session = self.session.as_ref()?;
        if let (Some(starter), false) = (&self.started_by, are_agents_alone) {
            return Some(starter.to_string());
        }
        let root = session.root_session()?;
        let parts = session.as_str()[root.len()..].split('/').skip(1);
        let is_alone = |part: &&str| are_agents_alone && part.starts_with(RefName::AGENT);
        let parts = parts.take_while(is_alone);
        Some(parts.fold(root.to_owned(), |name, part| name + "/" + part))
    }

    /// What its price depends on beside its counts and its day; none where its model is not known.
    pub fn served(&self) -> Option<Served<'_>> {
        Some(Served {
            model: self.model.as_deref()?,
            tier: self.tier.as_deref(),
            speed: self.speed.as_deref(),
            region: self.region.as_deref(),
        })
    }
}

/// What is missing in the counted output of replies, by our own count of what they say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShortOutputs {
    /// How many replies.
    pub replies: u64,
    /// The output that is missing, in tokens: an estimate.
    pub tokens: u64,
    /// Its list price, in US dollars, as far as the model has one: an estimate.
    pub dollars: f64,
}

impl ShortOutputs {
    /// What is missing in these, where anything is.
    pub fn of<'r>(replies: impl IntoIterator<Item = &'r BilledReply>) -> Option<Self> {
        let mut sum = Self::default();
        let short = replies.into_iter().filter_map(|reply| reply.short.as_ref());
        short.for_each(|short| sum.plus(short));
        (sum.replies > 0).then_some(sum)
    }

    /// Adds what is missing in others.
    pub fn plus(&mut self, more: &Self) {
        self.replies += more.replies;
        self.tokens += more.tokens;
        self.dollars += more.dollars;
    }
}
