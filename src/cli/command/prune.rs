//! `tract prune`: old, big tool outputs become one-line stubs.

use tract::Error;
use tract::deeds::token_budget;
use tract::query::TokenBudget;
use tract::render::{Share, grouped, plural, read_tokens};
use tract::repo::{Call, Repo};
use tract::rewrite::{Limits, Plan, Prune, Reach, Truncate};
use tract::rewrite::{Surgery, SurgeryOptions};

use crate::cli::{App, Result, Typed, outcome};

/// Replace old, big tool outputs with one line each; the calls stay
///
/// Each line names the commit, so that tract show prints the whole output. The user's newest two turns
/// are left alone, and so are the newest 40,000 tokens of tool output before them. If less than 20,000
/// tokens would be saved, nothing is done. Outputs of the tools in the setting prune.keepTools stay, unless
/// --tool names them. An earlier prune ends the search, unless --tool, --larger-than, --turns or --protect is
/// given.
///
/// See also: drop (messages you name), truncate (the oldest), compact (a summary), clear (everything).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract prune
  tract prune --tool read_file --larger-than 2k --protect 0 --min 0
  tract prune --turns 0            the newest turns as well
  tract prune --to-budget 80%      only as many as it takes, oldest first
  tract prune --dry-run            say what would change")]
pub struct Args {
    /// Leave the user's newest N turns alone
    #[arg(long, value_name = "N", default_value_t = Limits::default().turns)]
    turns: usize,
    /// Before those, leave the newest N tokens of tool output alone; by default 40k
    #[arg(long, value_name = "N", value_parser = read_tokens)]
    protect: Option<u64>,
    /// Do nothing unless it saves N tokens; by default 20k, or 0 with --to-budget
    #[arg(long, value_name = "N", value_parser = read_tokens)]
    min: Option<u64>,
    /// Only outputs of this tool (may be given several times)
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Only outputs of more than N tokens
    #[arg(long, value_name = "N", value_parser = read_tokens)]
    larger_than: Option<u64>,
    /// Shorten only as many, oldest first, as it takes to fit N tokens, or P% of budget.max, by the
    /// provider's count
    #[arg(long, value_name = "N|P%")]
    to_budget: Option<Share>,
    /// Measure the budget by tract's own count, not by the provider's
    #[arg(long = "by-our-count", alias = "as-counted", requires = "to_budget")]
    as_counted: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let budget = |share| token_budget(&repo, share, args.as_counted);
    let budget = args.to_budget.map(budget).transpose()?;
    let usual = Limits::default();
    let least = if budget.is_some() { 0 } else { usual.min };
    let limits = Limits {
        turns: args.turns,
        protect: args.protect.unwrap_or(usual.protect),
        min: args.min.unwrap_or(least),
        ..usual
    };
    // Whoever says what is pruned means all of it; else it was looked through before.
    let whole = !args.tool.is_empty()
        || args.larger_than.is_some()
        || args.protect.is_some()
        || args.turns != usual.turns;
    let prune = Prune {
        limits,
        keep: repo.config()?.kept_tools(),
        whole,
        tools: args.tool.clone(),
        larger_than: args.larger_than.unwrap_or(0),
        budget,
    };
    let what = what(args, args.turns, args.protect);
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
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
            None => over(&done, budget.zip(args.to_budget), call, &options, &repo)?,
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
    let hint = over(&done, budget.zip(args.to_budget), call, &options, &repo)?;
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
            let line = Typed::new("truncate").option("--to-budget", Some(share));
            let line = line.flag("--by-our-count", budget.as_counted).line();
            format!(": tract {line}")
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
    let (turns, protect, min) = (args.turns, prune.limits.protect, prune.limits.min);
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
    let line = match found {
        0 => what(args, 0, args.protect),
        1 => what(args, turns, Some(0)),
        _ => what(args, 0, Some(0)),
    };
    Ok(Some(format!("{why}: tract {line}")))
}

/// The command with so many turns and so much left alone, as the operations keep it.
fn what(args: &Args, turns: usize, protect: Option<u64>) -> String {
    let turns = Some(turns).filter(|turns| *turns != Limits::default().turns);
    let line = Typed::new("prune")
        .option("--turns", turns)
        .option("--protect", protect)
        .option("--min", args.min)
        .option("--larger-than", args.larger_than);
    let tools = args.tool.iter();
    tools
        .fold(line, |line, name| line.option("--tool", Some(name)))
        .option("--to-budget", args.to_budget)
        .flag("--by-our-count", args.as_counted)
        .line()
}
