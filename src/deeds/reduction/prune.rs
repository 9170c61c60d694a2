//! Old, big tool outputs become one-line stubs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{
    Amount, ApiError, At, Changed, Deed, Method, Spelled, token_budget, usual_prune,
};
use crate::render::Share;
use crate::repo::Repo;
use crate::rewrite::{Limits, Prune};

/// Replace old, big tool outputs with one line each; the calls stay
///
/// Each line names the commit, so that show prints the whole output. The user's newest two turns
/// are left alone, and so are the newest 40,000 tokens of tool output before them. If less than 20,000
/// tokens would be saved, nothing is done. Outputs of the tools in the setting prune.keepTools stay, unless
/// `tool` names them. An earlier prune ends the search, unless `tool`, `larger_than`, `turns` or `protect` is
/// given.
///
/// See also: drop (messages you name), truncate (the oldest), compact (a summary), clear (everything).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract prune
  tract prune --tool read_file --larger-than 2k --protect 0 --min 0
  tract prune --turns 0            the newest turns as well
  tract prune --to-budget 80%      only as many as it takes, oldest first
  tract prune --dry-run            say what would change")
)]
pub struct PruneParams {
    /// Leave the user's newest N turns alone; by default 2
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub turns: Option<usize>,
    /// Before those, leave the newest N tokens of tool output alone; by default 40k
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub protect: Option<Spelled<Amount>>,
    /// Do nothing unless it saves N tokens; by default 20k, or 0 with `to_budget`
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub min: Option<Spelled<Amount>>,
    /// Only outputs of more than N tokens
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub larger_than: Option<Spelled<Amount>>,
    /// Only outputs of this tool (may be given several times)
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub tool: Vec<String>,
    /// Shorten only as many, oldest first, as it takes to fit N tokens, or P% of budget.max, by the
    /// provider's count
    #[cfg_attr(feature = "cli", arg(long, value_name = "N|P%"))]
    pub to_budget: Option<Spelled<Share>>,
    /// Measure the budget by tract's own count, not by the provider's
    #[cfg_attr(feature = "cli", arg(long, requires = "to_budget"))]
    pub by_our_count: bool,
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

impl PruneParams {
    /// What is to be done.
    ///
    /// # Errors
    ///
    /// Where the budget is a share of nothing.
    pub fn plan(&self, repo: &Repo) -> Result<Prune, ApiError> {
        let budget = self.to_budget;
        let budget = budget.map(|share| token_budget(repo, share.0, self.by_our_count));
        let budget = budget.transpose()?;
        let usual = Limits::default();
        let least = if budget.is_some() { 0 } else { usual.min };
        let amount = |given: Option<Spelled<Amount>>| given.map(|Spelled(Amount(tokens))| tokens);
        Ok(Prune {
            limits: Limits {
                turns: self.turns.unwrap_or(usual.turns),
                protect: amount(self.protect).unwrap_or(usual.protect),
                min: amount(self.min).unwrap_or(least),
                ..usual
            },
            // Whoever says what is pruned means all of it; else it was looked through before.
            whole: !self.tool.is_empty()
                || self.larger_than.is_some()
                || self.protect.is_some()
                || self.turns.is_some(),
            tools: self.tool.clone(),
            larger_than: amount(self.larger_than).unwrap_or(0),
            budget,
            ..usual_prune(repo)?
        })
    }
}

impl Method for PruneParams {
    const NAME: &'static str = "prune";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn check(&self) -> Result<(), ApiError> {
        match self.by_our_count && self.to_budget.is_none() {
            true => Err(ApiError::params("'by_our_count' is about 'to_budget'")),
            false => Ok(()),
        }
    }

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let plan = self.plan(at.repo)?;
        let options = at.surgery(self.dry_run, self.limit)?;
        let done = at.repo.carry_out(at.call(&self.line()), &plan, &options)?;
        if done.is_nothing() {
            at.repo.check_tools(&at.on, &plan.tools)?;
        }
        Ok(Changed::of(&done))
    }
}

impl Deed for PruneParams {}
