//! How many tokens a context may have, where the provider counts more than there is to count here.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::repo::Repo;
use crate::model::Encoding;
use crate::model::tokens::context_total;

/// How many commits back the provider's own count is looked for.
const USAGE_SEARCH: usize = 256;

/// What a context is to fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    /// The tokens that a request may have.
    pub tokens: u64,
    /// Leave out what the provider counts on top: its system prompt, its tools.
    pub as_counted: bool,
}

impl Repo {
    /// The tokens that the provider counted, for the newest reply on the path to `tip` that says
    /// so, beyond those of the context that the reply answered. 0 where none says so, and where
    /// the provider counted less.
    pub fn provider_overhead(&self, tip: &CommitHash, encoding: Encoding) -> Result<u64> {
        let view = self.store.read()?;
        let path = view.ancestors(tip, None, USAGE_SEARCH)?;
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
