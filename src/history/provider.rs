//! What the provider counts: for a reply, and beyond what there is to count here.

use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::repo::Repo;
use crate::model::tokens::context_total;
use crate::model::{Encoding, TokenCount, Usage};
use crate::store::View;

/// How many commits back the provider's own count is looked for.
const COMMITS: usize = 256;
/// How many visible messages back.
const MESSAGES: usize = 64;

/// What a context is to fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    /// The tokens that a request may have.
    pub tokens: u64,
    /// Leave out what the provider counts on top: its system prompt, its tools.
    pub as_counted: bool,
}

/// The newest reply in a context of which the provider said what it counted: its number, from 1,
/// that, and what `counts` say of the messages before it, for what was sent ends there.
pub(super) fn newest_count(
    view: &dyn View,
    context: &Context,
    counts: &[TokenCount],
) -> Result<Option<(usize, Usage, TokenCount)>> {
    let newest = context.entries.iter().rev().take(MESSAGES);
    let newest: Vec<CommitHash> = newest.map(|entry| entry.id.commit).collect();
    let mut places = (0..counts.len()).rev().zip(view.usage(&newest)?);
    Ok(places.find_map(|(at, usage)| {
        let sent = context_total(counts[..at].iter().copied());
        Some((at + 1, usage?, sent))
    }))
}

impl Repo {
    /// The tokens that the provider counted, for the newest reply on the path to `tip` that says
    /// so, beyond those of the context that the reply answered. 0 where none says so, and where
    /// the provider counted less.
    pub fn provider_overhead(&self, tip: &CommitHash, encoding: Encoding) -> Result<u64> {
        let view = self.store.read()?;
        let path = view.ancestors(tip, None, COMMITS)?;
        let hashes: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        let counted = path.into_iter().zip(view.usage(&hashes)?);
        drop(view);
        for (row, usage) in counted {
            let Some(usage) = usage else {
                continue;
            };
            // What the provider was sent ends before its reply.
            let sent = match row.commit.parent {
                Some(parent) => {
                    let counts = self.counts(&self.context(&parent)?, encoding)?;
                    context_total(counts).tokens
                }
                None => 0,
            };
            return Ok(usage.input_tokens.saturating_sub(sent));
        }
        Ok(0)
    }

    /// The part of a budget that the provider takes for itself, at `tip`.
    pub(super) fn reserved(
        &self,
        budget: TokenBudget,
        tip: Option<&CommitHash>,
        encoding: Encoding,
    ) -> Result<u64> {
        match tip {
            Some(tip) if !budget.as_counted => self.provider_overhead(tip, encoding),
            _ => Ok(0),
        }
    }
}
