//! What makes a context smaller. Nothing is lost: each is a commit, and `restore` and `undo` bring all back.

use schemars::JsonSchema;
use serde::Deserialize;

use super::at::usual_prune;
use super::facts::Changed;
use super::{ApiError, At, Method, Scalar};
use crate::repo::Named;
use crate::rewrite::Truncate as TruncatePlan;
use crate::rewrite::{Compact as Plan, Extent, Limits, Prune as PrunePlan, Reach, Summary};

/// How far: one of `keep`, `fraction`, `to_budget`; the budget itself unless given.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TruncateParams {
    /// Keep so many of the newest messages.
    pub keep: Option<usize>,
    /// Hide this share of the messages, such as `0.5`.
    pub fraction: Option<Scalar>,
    /// Hide as few as it takes to fit: `100k`, or `80%` of `budget.max`.
    pub to_budget: Option<String>,
    /// Let the task, the first prompt, go too.
    pub drop_first: bool,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
}

impl Method for TruncateParams {
    const NAME: &'static str = "truncate";
    const ABOUT: &'static str = "Hides the oldest messages; the task and what is pinned stay.";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn call(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let reach = match (self.keep, &self.fraction, &self.to_budget) {
            (Some(keep), None, None) => Reach::Keep(keep),
            (None, Some(fraction), None) => Reach::Fraction(fraction.0.parse()?),
            (None, None, Some(budget)) => Reach::ToBudget(at.budget(budget)?),
            (None, None, None) => Reach::ToBudget(at.budget("100%")?),
            _ => return Err(ApiError::params("one of 'keep', 'fraction', 'to_budget'")),
        };
        let plan = TruncatePlan {
            drop_first: self.drop_first,
            ..TruncatePlan::new(reach)
        };
        let options = at.surgery(self.dry_run)?;
        let done = at.repo.carry_out(at.call("truncate"), &plan, &options)?;
        Ok(Changed::of(&done))
    }
}

/// Which outputs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PruneParams {
    /// Leave the user's newest so many turns alone.
    pub turns: Option<usize>,
    /// Before those, leave the newest so many tokens of tool output alone.
    pub protect: Option<u64>,
    /// Do nothing unless it saves so many tokens.
    pub min: Option<u64>,
    /// Only outputs of these tools.
    pub tools: Vec<String>,
    /// Only outputs of more than so many tokens.
    pub larger_than: u64,
    /// Only as many, oldest first, as it takes to fit: `100k`, or `80%` of `budget.max`.
    pub to_budget: Option<String>,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
}

impl Method for PruneParams {
    const NAME: &'static str = "prune";
    const ABOUT: &'static str = "Puts one line in place of each old, big tool output.";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn call(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let budget = self.to_budget.as_deref().map(|text| at.budget(text));
        let budget = budget.transpose()?;
        let usual = Limits::default();
        let least = if budget.is_some() { 0 } else { usual.min };
        let plan = PrunePlan {
            limits: Limits {
                turns: self.turns.unwrap_or(usual.turns),
                protect: self.protect.unwrap_or(usual.protect),
                min: self.min.unwrap_or(least),
                ..usual
            },
            whole: !self.tools.is_empty()
                || self.larger_than > 0
                || self.protect.is_some()
                || self.turns.is_some(),
            tools: self.tools,
            larger_than: self.larger_than,
            budget,
            ..usual_prune(at.repo)?
        };
        let options = at.surgery(self.dry_run)?;
        let done = at.repo.carry_out(at.call("prune"), &plan, &options)?;
        if done.is_nothing() {
            at.repo.check_tools(&at.on, &plan.tools)?;
        }
        Ok(Changed::of(&done))
    }
}

/// Which.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropParams {
    /// The messages, or `REV#N` for a part.
    pub revs: Vec<String>,
    /// Let the last user message and the task go too.
    #[serde(default)]
    pub force: bool,
    /// Say what would change, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
}

impl Method for DropParams {
    const NAME: &'static str = "drop";
    const ABOUT: &'static str =
        "Hides messages and parts that are named, tool calls with their results.";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn call(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        if self.revs.is_empty() {
            return Err(ApiError::params("'revs' names no message"));
        }
        let named = self
            .revs
            .iter()
            .map(|rev| at.repo.resolve_named(&at.on, rev));
        let named: Vec<Named> = named.collect::<Result<_, _>>()?;
        let force = if self.force { " --force" } else { "" };
        let what = format!("drop {}{force}", self.revs.join(" "));
        let options = at.surgery(self.dry_run)?;
        let done = at
            .repo
            .drop_named(at.call(&what), &named, self.force, &options)?;
        Ok(Changed::of(&done))
    }
}

/// Which messages, and the summary.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompactParams {
    /// The summary.
    pub summary: String,
    /// Leave out the newest so many messages.
    #[serde(default)]
    pub keep: Option<usize>,
    /// The first message that it replaces, in place of `keep`.
    #[serde(default)]
    pub first: Option<String>,
    /// The last message that it replaces.
    #[serde(default)]
    pub last: Option<String>,
    /// Say what would change, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
}

impl Method for CompactParams {
    const NAME: &'static str = "compact";
    const ABOUT: &'static str =
        "Puts a summary in place of a span of messages; what is pinned stays.";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn call(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let extent = match (self.keep, &self.first, &self.last) {
            (Some(keep), None, None) => Extent::KeepLast(keep),
            (None, None, None) => Extent::All,
            (None, first, last) => Extent::Range(
                at.repo
                    .resolve_entry(&at.on, first.as_deref().unwrap_or(":1"))?,
                at.repo
                    .resolve_entry(&at.on, last.as_deref().unwrap_or(":-1"))?,
            ),
            _ => return Err(ApiError::params("'keep', or 'first' and 'last'")),
        };
        let summary = self.summary.trim();
        let options = at.surgery(self.dry_run)?;
        let call = at.call("compact …");
        let surgery = if self.dry_run {
            let plan = Plan {
                extent,
                summary: Some(summary),
            };
            at.repo.carry_out(call, &plan, &options)?
        } else {
            let summary = Summary::Text(summary);
            at.repo.compact(call, &extent, summary, &options)?.surgery
        };
        Ok(Changed::of(&surgery))
    }
}

/// How much.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClearParams {
    /// The system messages too.
    pub all: bool,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
}

impl Method for ClearParams {
    const NAME: &'static str = "clear";
    const ABOUT: &'static str = "Hides everything but the system messages and what is pinned.";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn call(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let options = at.surgery(self.dry_run)?;
        let done = at.repo.clear(at.call("clear"), self.all, &options)?;
        Ok(Changed::of(&done))
    }
}
