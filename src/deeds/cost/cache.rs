//! How a provider's cache stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Counted, Method};
use crate::hash::CommitHash;
use crate::query::CacheUse;

/// How a provider's cache stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheState {
    /// Whether it no longer has what it was given.
    pub is_cold: bool,
    /// How old the newest reply is, in milliseconds.
    pub age_ms: i64,
    /// How long the cache keeps what it has, in milliseconds.
    pub life_ms: i64,
    /// The newest reply.
    pub reply: String,
    /// What was counted for it.
    pub counted: Counted,
}

/// The last use of the provider's cache on the path to a commit, where the newest reply was counted with one.
pub(in crate::deeds) fn cache_state(
    at: &At<'_>,
    tip: &CommitHash,
) -> Result<Option<CacheState>, ApiError> {
    let last = at.repo.cache_use(tip, at.host.now())?;
    let last = last.filter(CacheUse::has_cache);
    Ok(last.map(|last| CacheState {
        is_cold: last.is_cold(),
        age_ms: last.age_ms,
        life_ms: last.life_ms(),
        reply: last.reply.to_string(),
        counted: last.usage.unwrap_or_default().into(),
    }))
}

/// Where.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheParams {
    /// The commit; HEAD's unless given.
    pub rev: Option<String>,
}

/// How the cache stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheAnswer {
    /// Its state; none where no reply was counted with a cache.
    pub cache: Option<CacheState>,
}

impl Method for CacheParams {
    const NAME: &'static str = "cache";
    const ABOUT: &'static str = "Says whether the provider's prompt cache still has the context.";
    const CHANGES: bool = false;
    type Answer = CacheAnswer;

    fn act(self, at: &mut At<'_>) -> Result<CacheAnswer, ApiError> {
        let tip = at.resolve(self.rev.as_deref())?;
        let cache = cache_state(at, &tip)?;
        Ok(CacheAnswer { cache })
    }
}
