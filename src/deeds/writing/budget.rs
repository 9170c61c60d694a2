//! A commit that is held to a budget, and what its actions do about it where no program can be run.

use crate::deeds::{At, usual_prune};
use crate::error::Result;
use crate::model::budget::{Budget, BudgetAction};
use crate::repo::Committed;
use crate::rewrite::{SurgeryOptions, Verdict, Within};

/// What became of a budget.
pub(super) struct Kept {
    /// The commits, and behind them what the budget made necessary.
    pub commits: Vec<Committed>,
    /// It, in a word.
    pub verdict: &'static str,
    /// Whether its actions did not keep it.
    pub is_over: bool,
}

/// Does what the actions of a budget ask for, one after the other, until one keeps it. One that names a command is passed
/// over. The commit stands whatever comes of it, so an error is a budget that was not kept.
pub(super) fn kept(
    at: &At<'_>,
    within: Within,
    mut budget: Budget,
    surgery: &SurgeryOptions,
) -> Kept {
    let acts = budget.action != BudgetAction::Warn;
    let Within {
        mut commits,
        mut verdict,
        ..
    } = within;
    let said = commits.clone();
    loop {
        let (word, otherwise) = match verdict {
            Verdict::Fits => ("fits", Vec::new()),
            Verdict::Truncated { .. } => ("truncated", Vec::new()),
            Verdict::Waits { .. } => ("waits", Vec::new()),
            Verdict::Over { .. } => ("over", Vec::new()),
            Verdict::Compact { otherwise, .. } => ("over", otherwise),
            Verdict::Prune { otherwise, .. } => {
                let pruned = prune(at, surgery, &mut commits);
                match pruned.and_then(|is_done| Ok(is_done && fits(at, budget.max)?)) {
                    Ok(true) => ("pruned", Vec::new()),
                    Ok(false) => ("over", otherwise),
                    Err(_) => ("over", Vec::new()),
                }
            }
        };
        let Some((next, others)) = otherwise.split_first() else {
            let is_over = acts && word == "over";
            return Kept {
                commits,
                verdict: word,
                is_over,
            };
        };
        budget = Budget {
            action: next.clone(),
            otherwise: others.to_vec(),
            ..budget
        };
        let call = at.call("truncate (budget.action)");
        match at.repo.keep_within(call, &said, &budget) {
            Ok(within) => {
                commits.extend(within.commits);
                verdict = within.verdict;
            }
            Err(_) => {
                return Kept {
                    commits,
                    verdict: "over",
                    is_over: true,
                };
            }
        }
    }
}

/// Empties old outputs of tools; whether there were any.
fn prune(at: &At<'_>, surgery: &SurgeryOptions, commits: &mut Vec<Committed>) -> Result<bool> {
    let call = at.call("prune (budget.action)");
    let done = at.repo.carry_out(call, &usual_prune(at.repo)?, surgery)?;
    let is_done = !done.commits.is_empty();
    commits.extend(done.commits);
    Ok(is_done)
}

fn fits(at: &At<'_>, max: u64) -> Result<bool> {
    let now = at.repo.status(&at.on, at.repo.config()?.encoding()?)?;
    Ok(now.provider.total(now.total).tokens <= max)
}
