//! What a list of prices does not say of what replies cost: what their clients say, and what it does not have.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::price::Prices;
use crate::query::{BilledReply, ShortOutputs, StatedCost, Unlisted, unlisted};

/// What a client says that a session cost, and what it comes to by the list of prices.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatedSessionCost {
    /// The session's ref.
    pub session: String,
    /// By its client, in US dollars.
    pub dollars: f64,
    /// By the list, in US dollars: what has no price there is not in it.
    pub listed: f64,
}

impl From<&StatedCost> for StatedSessionCost {
    fn from(cost: &StatedCost) -> Self {
        Self {
            session: cost.session.to_string(),
            dollars: cost.dollars,
            listed: cost.listed,
        }
    }
}

/// What is missing in the recorded output of replies. The sums do not have it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ShortOutputFacts {
    /// How many replies were counted for less output than they say.
    pub replies: u64,
    /// What is missing by the count of tract's own tokenizer: an estimate.
    pub estimated_tokens: u64,
    /// Its list price in US dollars: an estimate.
    pub estimated_dollars: f64,
}

impl From<ShortOutputs> for ShortOutputFacts {
    fn from(short: ShortOutputs) -> Self {
        Self {
            replies: short.replies,
            estimated_tokens: short.tokens,
            estimated_dollars: short.dollars,
        }
    }
}

/// What a list of prices does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnlistedCount {
    /// A count of usage records, such as `web_fetch_requests`, which is in no sum; or how replies were served, such as
    /// `speed fast`: they have the standard price.
    pub name: String,
    /// How many; of a way to serve them, how many replies.
    pub count: u64,
}

impl UnlistedCount {
    /// Those of replies, and the tokens of other requests by model.
    pub(super) fn all(
        replies: &[BilledReply],
        others: &BTreeMap<String, u64>,
        prices: &Prices,
    ) -> Vec<Self> {
        let others = others.iter().map(|(model, tokens)| Self {
            name: format!("tokens of {model} (other requests)"),
            count: *tokens,
        });
        let all = unlisted(replies, prices).into_iter();
        let one = |(what, count)| {
            let name = match what {
                Unlisted::Way(what, word) => format!("{what} {word}"),
                Unlisted::Count(name) => name,
            };
            Self { name, count }
        };
        all.map(one).chain(others).collect()
    }
}
