//! What the client says that requests came to, by model: in the record `cost-state` of a session's file, and in the results
//! of its stream.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{StatedUsage, Usage};
use crate::wire::json::{Raw, decode};

/// The tokens of each model. None where it is no map.
pub(in crate::formats) fn by_model(models: Raw<'_>) -> Option<Vec<(String, Usage)>> {
    let models: BTreeMap<String, Value> = decode(models)?;
    let usage = |counts: &Value| {
        let count = |key: &str| counts[key].as_u64().unwrap_or(0);
        let (cached, written) = (
            count("cacheReadInputTokens"),
            count("cacheCreationInputTokens"),
        );
        let input = count("inputTokens")
            .saturating_add(cached)
            .saturating_add(written);
        let usage = Usage::new(input, count("outputTokens"))
            .cached(cached, written)
            .reasoned(count("thinkingTokens"));
        Usage {
            written_hour_tokens: count("cacheCreationEphemeral1hInputTokens"),
            ..usage
        }
    };
    let models = models.into_iter();
    Some(models.map(|(model, it)| (model, usage(&it))).collect())
}

/// The same as what all requests of a session came to so far.
pub(super) fn stated(models: Raw<'_>) -> Option<StatedUsage> {
    let mut stated = StatedUsage::default();
    for (model, usage) in by_model(models)? {
        stated.add(model, usage);
    }
    Some(stated)
}
