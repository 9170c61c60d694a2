//! What caches missed of each request, and why.

use schemars::JsonSchema;
use serde::Serialize;

use super::CostParams;
use super::list::MESSAGES;
use crate::deeds::{ApiError, At, Counted};
use crate::ingest::{CachedReply, MissCause, Misses, misses};
use crate::model::price::Prices;

/// What misses come to that have a cause in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MissSum {
    /// The kind of the cause, as `cause.kind` of a miss.
    pub kind: &'static str,
    /// How many misses.
    pub misses: u64,
    /// What was missed.
    pub missed_tokens: u64,
    /// What that cost beyond reading it, in US dollars, where models have a price.
    pub missed_dollars: f64,
}

impl MissSum {
    /// What each cause comes to, the dearest first.
    pub fn all(found: &[CachedReply]) -> Vec<Self> {
        let mut sums: Vec<Self> = Vec::new();
        for row in found.iter().filter(|row| row.missed_tokens > 0) {
            let kind = row.cause.as_ref().map_or("unknown", MissCause::kind);
            let at = sums.iter().position(|sum| sum.kind == kind);
            let at = at.unwrap_or_else(|| {
                sums.push(Self {
                    kind,
                    ..Self::default()
                });
                sums.len() - 1
            });
            let sum = &mut sums[at];
            sum.misses += 1;
            sum.missed_tokens = sum.missed_tokens.saturating_add(row.missed_tokens);
            sum.missed_dollars += row.missed_dollars.unwrap_or_default();
        }
        sums.sort_by(|a, b| {
            let dearer = b.missed_dollars.total_cmp(&a.missed_dollars);
            dearer.then_with(|| b.missed_tokens.cmp(&a.missed_tokens))
        });
        sums
    }
}

/// What a cache had of a request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CacheMiss {
    /// The reply.
    pub commit: String,
    /// Its session's ref.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it was given, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// What was counted for it.
    pub counted: Counted,
    /// What of the input the request before had left in the cache, and was not read from there.
    pub missed_tokens: u64,
    /// What that cost beyond reading it, in US dollars; none where the model has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_dollars: Option<f64>,
    /// Why; none where nothing was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<CacheMissCause>,
}

/// Why a cache did not have what it was given before. What others wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CacheMissCause {
    /// The provider says it.
    Said {
        /// Its word for the reason.
        reason: String,
        /// How many tokens it did not have, as the provider counts them.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// The first difference to the request before, where both are recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        differs: Option<String>,
    },
    /// The request differs from the one before.
    Sent {
        /// The first difference.
        differs: String,
    },
    /// Another model answered.
    Model {
        /// The one before.
        before: String,
        /// This one.
        after: String,
    },
    /// The context was changed.
    Changed {
        /// By this commit, the first behind the reply before.
        commit: String,
        /// What it does.
        operation: &'static str,
    },
    /// The request before was too long ago.
    Age {
        /// How long, in milliseconds.
        age_ms: i64,
        /// How long the cache keeps what it has.
        life_ms: i64,
    },
    /// Both requests are recorded and nothing in them differs, in time: the provider had let go of it.
    Alike,
    /// Nothing tells.
    Unknown,
}

impl From<&MissCause> for CacheMissCause {
    fn from(cause: &MissCause) -> Self {
        match cause.clone() {
            MissCause::Said { said, differs } => Self::Said {
                reason: said.reason,
                tokens: said.tokens,
                differs,
            },
            MissCause::Sent(differs) => Self::Sent { differs },
            MissCause::Model([before, after]) => Self::Model { before, after },
            MissCause::Changed { commit, verb } => Self::Changed {
                commit: commit.to_string(),
                operation: verb,
            },
            MissCause::Age { age_ms, life_ms } => Self::Age { age_ms, life_ms },
            MissCause::Alike => Self::Alike,
            MissCause::Unknown => Self::Unknown,
        }
    }
}

impl From<&CachedReply> for CacheMiss {
    fn from(row: &CachedReply) -> Self {
        let reply = &row.reply;
        Self {
            commit: reply.commit.to_string(),
            session: reply.session.as_ref().map(ToString::to_string),
            time_ms: reply.time.map(|time| time.0),
            counted: reply.usage.into(),
            missed_tokens: row.missed_tokens,
            missed_dollars: row.missed_dollars,
            cause: row.cause.as_ref().map(Into::into),
        }
    }
}

impl CostParams {
    /// Those of these misses that are told: where there are more replies than that, the worst of them.
    pub fn worst<'m>(&self, found: &'m [CachedReply]) -> Vec<&'m CachedReply> {
        let most = match self.limit {
            Some(0) => usize::MAX,
            Some(limit) => limit,
            None => MESSAGES,
        };
        if found.len() <= most {
            return found.iter().collect();
        }
        let mut worst: Vec<&CachedReply> = found.iter().collect();
        worst.retain(|row| row.missed_tokens > 0);
        worst.sort_by(|a, b| {
            let dollars = |row: &CachedReply| row.missed_dollars.unwrap_or_default();
            let dearer = dollars(b).total_cmp(&dollars(a));
            dearer.then_with(|| b.missed_tokens.cmp(&a.missed_tokens))
        });
        worst.truncate(most);
        worst
    }

    /// What caches had of each request.
    ///
    /// # Errors
    ///
    /// Where `rev`, `since` or `until` are none; the store's.
    pub fn missed(&self, at: &At<'_>, prices: &Prices) -> Result<Misses, ApiError> {
        let mut found = misses(at.repo, self.tip(at)?.as_ref(), prices)?;
        let is_wanted = self.wanted(at)?;
        found.replies.retain(|row| is_wanted(&row.reply));
        Ok(found)
    }
}
