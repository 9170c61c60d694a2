//! `tract prune`: old, big tool outputs become one-line stubs.

use tract::history::surgery::{Limits, Plan, Prune};
use tract::history::{Call, Repo, SurgeryOptions};
use tract::render::{Share, grouped, plural, read_tokens};

use crate::cli::{App, Failure, Typed, outcome};

/// Put a line in the place of old, big tool outputs
///
/// The calls stay, and each line names the commit whose tract show has the whole output. The newest
/// turns of the user are left alone, and before them the newest 40,000 tokens of tool output.
/// Nothing is done where that would save less than 20,000 tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract prune
  tract prune --tool read_file --larger-than 2k --protect 0 --min 0
  tract prune --turns 0            in the newest turns as well
  tract prune --to-budget 80%      only as many as it takes, the oldest first
  tract prune --dry-run            say what would change")]
pub struct Args {
    /// Leave the user's newest N turns alone
    #[arg(long, value_name = "N", default_value_t = Limits::default().turns)]
    turns: usize,
    /// Before those, leave the newest N tokens of tool output alone; 40k unless told otherwise
    #[arg(long, value_name = "N", value_parser = read_tokens)]
    protect: Option<u64>,
    /// Do nothing unless it saves N tokens; 20k unless told otherwise, 0 with --to-budget
    #[arg(long, value_name = "N", value_parser = read_tokens)]
    min: Option<u64>,
    /// Only outputs of this tool (may be given several times)
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Only outputs of more than N tokens
    #[arg(long, value_name = "N", value_parser = read_tokens)]
    larger_than: Option<u64>,
    /// Only as many, the oldest first, as make the context fit so many tokens, or P% of
    /// budget.max, with what the provider counts on top
    #[arg(long, value_name = "N|P%")]
    to_budget: Option<Share>,
    /// Hold tract's own count against the budget, not what the provider counts on top
    #[arg(long = "by-our-count", alias = "as-counted", requires = "to_budget")]
    as_counted: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let budget = |share| outcome::budget(app, &repo, share, args.as_counted);
    let budget = args.to_budget.map(budget).transpose()?;
    let usual = Limits::default();
    let least = if budget.is_some() { 0 } else { usual.min };
    let limits = Limits {
        turns: args.turns,
        protect: args.protect.unwrap_or(usual.protect),
        min: args.min.unwrap_or(least),
        ..usual
    };
    let prune = Prune {
        limits,
        tools: args.tool.clone(),
        larger_than: args.larger_than.unwrap_or(0),
        budget,
    };
    let what = what(args, args.turns);
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
    let done = repo.prune(call, &prune, &options)?;
    if done.is_nothing() {
        let least = match limits.min {
            0 => String::new(),
            min => format!(" that would save {} tokens", grouped(min)),
        };
        app.ui.status(format!("Nothing to prune{least}"));
        if let Some(hint) = without_turns(args, &prune, call, &options, &repo)? {
            app.ui.hint(hint);
        }
        return Ok(());
    }
    if args.dry_run {
        return outcome::foretell(app, "prune", &done, &[]);
    }
    let did = format!("Pruned {}", plural(done.parts() as u64, "tool output"));
    outcome::tell(app, &on, &did, &done);
    if let (Some(budget), Some(share)) = (budget, args.to_budget) {
        let ours = done.after.tokens;
        let tokens = match budget.as_counted {
            true => ours.tokens,
            false => done.provider.total(ours).tokens,
        };
        if tokens > budget.tokens {
            let (tokens, budget) = (grouped(tokens), grouped(budget.tokens));
            app.ui.hint(format!(
                "still {tokens} tokens, more than {budget}: tract truncate --to-budget {share}"
            ));
        }
    }
    Ok(())
}

/// The same command without newest turns that are left alone, if that would prune something.
fn without_turns(
    args: &Args,
    prune: &Prune,
    call: Call<'_>,
    options: &SurgeryOptions,
    repo: &Repo,
) -> Result<Option<String>, Failure> {
    if args.turns == 0 {
        return Ok(None);
    }
    let (mut everywhere, mut before) = (prune.clone(), prune.clone());
    everywhere.limits.turns = 0;
    (before.limits.protect, before.limits.min) = (0, 0);
    let plans: [&dyn Plan; 2] = [&everywhere, &before];
    let mut would = repo.compare(call, options.encoding, &plans)?.into_iter();
    let mut next = || would.next().expect("one for each plan");
    let (everywhere, before) = (next()?, next()?);
    if everywhere.is_nothing() {
        return Ok(None);
    }
    let turns = match args.turns {
        1 => "the newest turn".to_owned(),
        turns => format!("the newest {turns} turns"),
    };
    let why = match before.is_nothing() {
        true => format!("all of it is in {turns}"),
        false => format!("that is without {turns}"),
    };
    Ok(Some(format!("{why}: tract {}", what(args, 0))))
}

/// The command with so many turns, as the operations keep it.
fn what(args: &Args, turns: usize) -> String {
    let turns = Some(turns).filter(|turns| *turns != Limits::default().turns);
    let line = Typed::new("prune")
        .option("--turns", turns)
        .option("--protect", args.protect)
        .option("--min", args.min)
        .option("--larger-than", args.larger_than);
    let tools = args.tool.iter();
    tools
        .fold(line, |line, name| line.option("--tool", Some(name)))
        .option("--to-budget", args.to_budget)
        .flag("--by-our-count", args.as_counted)
        .line()
}
