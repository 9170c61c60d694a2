//! A context made to fit, in one step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method, Spelled, token_budget, usual_prune};
use crate::error::Error;
use crate::model::{Message, Millis, Role};
use crate::render::Share;
use crate::repo::{On, Repo};
use crate::rewrite::{Limits, Marker, Prune, Shrink};

/// Make the context fit: tool outputs first, then old messages
///
/// Only as many old tool outputs as it takes become one line each, as prune does it. The newest two turns are left
/// alone. The newest 40,000 tokens of tool output before them go last. While the provider's prompt cache is warm, the
/// newest of the others go first. The beginning then stays as it is, and the next request costs less. With a cold cache
/// the oldest go first.
///
/// If all of them are not enough, the oldest messages go too, as truncate does it. The task, system messages and pinned
/// messages stay. All of it is one operation: undo brings everything back. See also: compact (a summary in place of what is old).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract shrink                 until it fits budget.max
  tract shrink --to 80%        until it fits 80% of budget.max
  tract shrink --to 60k        until it fits 60,000 tokens
  tract shrink --dry-run       say what would change, and what it costs")
)]
pub struct ShrinkParams {
    /// The tokens that are to be enough, or P% of budget.max, by the provider's count; by default budget.max
    #[cfg_attr(feature = "cli", arg(long, value_name = "N|P%"))]
    pub to: Option<Spelled<Share>>,
    /// Measure by tract's own count, not by the provider's
    #[cfg_attr(feature = "cli", arg(long))]
    pub by_our_count: bool,
    /// The text in place of hidden messages, instead of `[Sliding window truncation: N messages hidden …]`
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub marker: Option<String>,
    /// Say what would change, and change nothing
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// In a dry run, list at most N messages of each kind; 0: all
    #[cfg_attr(
        feature = "cli",
        arg(short = 'n', long, value_name = "N", requires = "dry_run")
    )]
    pub limit: Option<usize>,
}

impl ShrinkParams {
    /// What is to be done.
    ///
    /// # Errors
    ///
    /// Where nothing says how far; where the marker is empty; the store's.
    pub fn plan(&self, repo: &Repo, on: &On, now: Millis) -> Result<Shrink, ApiError> {
        let share = match (self.to, repo.config()?.budget_max()?) {
            (Some(Spelled(share)), _) => share,
            (None, Some(max)) => Share::Tokens(max),
            (None, None) => {
                let fault = ApiError::params("how much? 'to' says it");
                let hint = "with `tract config budget.max 128k`, `tract shrink` alone fits that";
                return Err(fault.with_hint(hint));
            }
        };
        let marker = match &self.marker {
            None => Marker::Default,
            Some(text) if text.trim().is_empty() => {
                return Err(ApiError::params("the marker is empty"));
            }
            Some(text) => Marker::Message(Message::text(Role::User, text)),
        };
        let last = match repo.head(on)?.commit() {
            Some(tip) => repo.cache_use(&tip, now)?,
            None => None,
        };
        Ok(Shrink {
            budget: token_budget(repo, share, self.by_our_count)?,
            prune: Prune {
                limits: Limits::default(),
                whole: true,
                ..usual_prune(repo)?
            },
            newest_first: last.is_some_and(|last| last.has_cache() && !last.is_cold()),
            marker,
        })
    }
}

impl Method for ShrinkParams {
    const NAME: &'static str = "shrink";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let plan = self.plan(at.repo, &at.on, at.host.now())?;
        let options = at.surgery(self.dry_run, self.limit)?;
        let done = at.repo.carry_out(at.call(&self.line()), &plan, &options);
        Ok(Changed::of(&done.map_err(refused_shrink)?))
    }
}

/// With what still makes it smaller.
fn refused_shrink(error: Error) -> ApiError {
    let cannot = matches!(error, Error::CannotFit { .. });
    let error = ApiError::from(error);
    match cannot {
        true => error.with_hint("`tract compact` puts a summary in place of what is old"),
        false => error,
    }
}

impl Deed for ShrinkParams {
    const SAID: &'static [&'static str] = &["marker"];
}
