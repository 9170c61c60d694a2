//! `tract prune`: old, big tool outputs become one-line stubs.

use tract::Error;
use tract::deeds::{Amount, Deed, Spelled, TruncateParams};
use tract::query::TokenBudget;
use tract::render::{Share, grouped, plural};
use tract::repo::{Call, Repo};
use tract::rewrite::{Limits, Plan, Prune, Reach, Surgery, SurgeryOptions, Truncate};

use crate::cli::drawing::outcome;
use crate::cli::{App, Result};

pub use tract::deeds::PruneParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let prune = args.plan(&repo)?;
    let (budget, limits) = (prune.budget, prune.limits);
    let share = args.to_budget.map(|share| share.0);
    let what = args.line();
    let call = app.call(&on, &what);
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let done = repo.carry_out(call, &prune, &options)?;
    if done.is_nothing() {
        repo.check_tools(&on, &args.tool)?;
        if let Some(budget) = budget.filter(|budget| outcome::left(&done, *budget) <= budget.tokens)
        {
            let tokens = grouped(budget.tokens);
            app.ui.status(format!(
                "Nothing to prune: the context fits {tokens} tokens already"
            ));
            return Ok(());
        }
        let least = match limits.min {
            0 => String::new(),
            min => format!(" that would save {} tokens", grouped(min)),
        };
        app.ui.status(format!("Nothing to prune{least}"));
        let less = with_less_left_alone(args, &prune, call, &options, &repo)?;
        let hint = match less {
            None => over(&done, budget.zip(share), call, &options, &repo)?,
            less => less,
        };
        hint.into_iter().for_each(|hint| app.ui.hint(hint));
        return Ok(());
    }
    if args.dry_run {
        outcome::foretell(app, "prune", &done, &[])?;
        return outcome::foretell_facts(app, &repo, call, &prune);
    }
    let did = format!("Pruned {}", plural(done.parts() as u64, "tool output"));
    outcome::tell(app, &on, &did, &done);
    let hint = over(&done, budget.zip(share), call, &options, &repo)?;
    hint.into_iter().for_each(|hint| app.ui.hint(hint));
    Ok(())
}

/// That the context is over the budget still, if it is, and the truncation that would mend it, if one would.
fn over(
    done: &Surgery,
    budget: Option<(TokenBudget, Share)>,
    call: Call<'_>,
    options: &SurgeryOptions,
    repo: &Repo,
) -> Result<Option<String>> {
    let budget = budget.map(|(budget, share)| (budget, share, outcome::left(done, budget)));
    let Some((budget, share, tokens)) = budget.filter(|(to, _, left)| *left > to.tokens) else {
        return Ok(None);
    };
    let truncate = Truncate::new(Reach::ToBudget(budget));
    let would = repo.compare(call, options, &[&truncate])?.remove(0);
    let next = match would {
        Ok(_) => {
            let truncate = TruncateParams {
                to_budget: Some(Spelled(share)),
                by_our_count: budget.as_counted,
                ..TruncateParams::default()
            };
            format!(": tract {}", truncate.line())
        }
        Err(Error::CannotFit { .. }) => "; no truncation reaches that either".to_owned(),
        Err(error) => return Err(error.into()),
    };
    let (tokens, budget) = (grouped(tokens), grouped(budget.tokens));
    Ok(Some(format!(
        "still {tokens} tokens, more than {budget}{next}"
    )))
}

/// The same command with less that is left alone, if that would prune something: without the newest
/// turns, without the newest outputs before them, or without either. One that fits goes first.
fn with_less_left_alone(
    args: &Args,
    prune: &Prune,
    call: Call<'_>,
    options: &SurgeryOptions,
    repo: &Repo,
) -> Result<Option<String>> {
    let (turns, protect, min) = (prune.limits.turns, prune.limits.protect, prune.limits.min);
    let limited = |turns: usize, protect: u64, min: u64| {
        let mut other = prune.clone();
        other.whole = true;
        other.limits = Limits {
            turns,
            protect,
            min,
            ..other.limits
        };
        other
    };
    let others = [
        limited(0, protect, min),
        limited(turns, 0, min),
        limited(0, 0, min),
    ];
    // Whether anything at all stands before the newest turns.
    let before = limited(turns, 0, 0);
    let plans: [&dyn Plan; 4] = [&others[0], &others[1], &others[2], &before];
    let would = repo.compare(call, options, &plans)?;
    let would = would.into_iter().collect::<Result<Vec<_>, _>>()?;
    let does = |at: &usize| !would[*at].is_nothing();
    let fits = |at: &usize| {
        let budget = prune.budget;
        does(at) && budget.is_none_or(|to| outcome::left(&would[*at], to) <= to.tokens)
    };
    let Some(found) = (0..3).find(fits).or_else(|| (0..3).find(does)) else {
        return Ok(None);
    };
    let newest = match turns {
        1 => "the newest turn".to_owned(),
        turns => format!("the newest {turns} turns"),
    };
    let outputs = format!("the newest {} tokens of tool output", grouped(protect));
    let why = match found {
        0 if would[3].is_nothing() => format!("all of it is in {newest}"),
        0 => format!("that is without {newest}"),
        1 => format!("that is without {outputs}"),
        _ => format!("that is without {newest} and {outputs}"),
    };
    let mut less = args.clone();
    if found != 1 {
        less.turns = Some(0);
    }
    if found != 0 {
        less.protect = Some(Spelled(Amount(0)));
    }
    Ok(Some(format!("{why}: tract {}", less.line())))
}
