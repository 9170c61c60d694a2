//! `tract truncate`: the oldest messages go, a marker says how many.

use std::num::NonZeroUsize;

use tract::Error;
use tract::deeds::{token_budget, usual_prune};
use tract::model::{Message, Role};
use tract::query::ProviderSays;
use tract::render::{Share, grouped};
use tract::rewrite::{Fraction, Marker, Plan, Reach, Truncate};

use crate::cli::{App, Failure, Result, Typed, failure, outcome};

/// Hide the oldest messages; the task and pinned ones stay
///
/// These stay: the task (the first user message, or the summary with which the context begins), system
/// messages, pinned messages, and calls that wait for a result. A call and its results go together. A
/// message in their place tells the model how many are hidden.
///
/// Without an option, the context is made to fit budget.max. A budget hides whole exchanges, oldest
/// first. If those before the newest prompt are not enough, the oldest messages after it go too; that
/// prompt and the newest message stay.
///
/// Nothing is lost: tract undo brings everything back, tract restore single messages. See also: prune
/// (tool outputs), drop (messages you name), compact (a summary), clear (everything).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract truncate --keep 20              all but the newest 20
  tract truncate --fraction 0.5         the older half
  tract truncate --to-budget 80%        until it fits 80% of budget.max
  tract truncate --keep 20 --dry-run    say what would go")]
pub struct Args {
    /// Hide this share of the messages, from 0 to 1, rounded down to an even number
    #[arg(long, value_name = "F", group = "reach")]
    fraction: Option<Fraction>,
    /// Hide all but the newest N
    #[arg(long, value_name = "N", group = "reach")]
    keep: Option<NonZeroUsize>,
    /// Hide the oldest exchanges until N tokens, or P% of budget.max, are enough, by the provider's
    /// count
    #[arg(long, value_name = "N|P%", group = "reach")]
    to_budget: Option<Share>,
    /// Measure a budget by tract's own count, not by the provider's
    #[arg(long = "by-our-count", alias = "as-counted", conflicts_with_all = ["fraction", "keep"])]
    as_counted: bool,
    /// Allow the task to go too
    #[arg(long)]
    drop_first: bool,
    /// The text of the marker, instead of `[Sliding window truncation: N messages hidden …]`
    #[arg(long, value_name = "TEXT")]
    marker: Option<String>,
    /// The role of the marker; by default user
    #[arg(long, value_name = "ROLE")]
    marker_role: Option<String>,
    /// Leave no marker
    #[arg(long, conflicts_with_all = ["marker", "marker_role"])]
    no_marker: bool,
    /// Say what would go, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let max = app.budget_max(&repo)?.map(Share::Tokens);
    let share = args.to_budget.or(max);
    let reach = match (args.fraction, args.keep, share) {
        (Some(fraction), ..) => Reach::Fraction(fraction),
        (_, Some(keep), _) => Reach::Keep(keep.get()),
        (.., Some(share)) => Reach::ToBudget(token_budget(&repo, share, args.as_counted)?),
        _ => {
            let failure = Failure::usage("how much? --fraction F, --keep N or --to-budget N");
            let hint = "with `tract config budget.max 128k`, tract truncate alone fits that";
            return Err(failure.with_hint(hint));
        }
    };
    let truncate = Truncate {
        reach,
        drop_first: args.drop_first,
        marker: marker(args)?,
    };
    let what = what(args);
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
    let (done, mut gentler) = if args.dry_run {
        repo.foretell(call, &options, &truncate, &[&usual_prune(&repo)?])?
    } else {
        (repo.carry_out(call, &truncate, &options), Vec::new())
    };
    let done = match done {
        Err(error @ Error::CannotFit { .. }) => {
            let says = match (args.as_counted, repo.head(&on)?.commit()) {
                (false, Some(tip)) => repo.provider_says(&tip, options.encoding)?,
                _ => ProviderSays::Nothing,
            };
            let newest = Truncate::new(Reach::Keep(1));
            let plans: [&dyn Plan; 2] = [&newest, &usual_prune(&repo)?];
            let would = repo.compare(call, &options, &plans)?;
            let does = |at: usize| would[at].as_ref().ok().filter(|it| !it.is_nothing());
            let fits = does(0).is_some_and(|it| match reach {
                Reach::ToBudget(budget) => outcome::left(it, budget) <= budget.tokens,
                _ => false,
            });
            let hint = match (fits, does(1)) {
                (true, _) => "tract truncate --keep 1 does fit: it hides the newest prompt as well",
                (_, Some(_)) => "tract prune makes old tool outputs small",
                _ => "tract compact puts a summary in place of what is old",
            };
            return Err(cannot_fit(&error, &says, hint));
        }
        done => done?,
    };
    if done.is_nothing() {
        app.ui.status(match reach {
            Reach::ToBudget(budget) => {
                let tokens = grouped(budget.tokens);
                format!("Nothing to hide: the context fits {tokens} tokens already")
            }
            _ => "Nothing to hide".to_owned(),
        });
        return Ok(());
    }
    if let Some(prune) = gentler.pop() {
        outcome::foretell(app, "truncate", &done, &[("prune", prune.transpose()?)])?;
        return outcome::foretell_facts(app, &repo, call, &truncate);
    }
    outcome::tell(app, &on, &outcome::hid(&done), &done);
    Ok(())
}

/// Why a budget is out of reach, and what would still help.
fn cannot_fit(error: &Error, says: &ProviderSays, hint: &str) -> Failure {
    let mut what = failure::sentence(error);
    let mut hint = hint.to_owned();
    if let Some(count) = says.count() {
        what += &format!("; the provider {}", outcome::counted(count));
        hint += "; --by-our-count leaves out what the provider counts on top";
    }
    Failure::refused(what).with_hint(hint)
}

fn marker(args: &Args) -> Result<Marker> {
    let role = match &args.marker_role {
        Some(role) => role.parse()?,
        None => Role::User,
    };
    if role == Role::Tool {
        return Err(Failure::usage(
            "a marker answers no call: it cannot be a tool's",
        ));
    }
    Ok(match &args.marker {
        _ if args.no_marker => Marker::None,
        Some(text) if text.trim().is_empty() => {
            return Err(Failure::usage("the marker is empty").with_hint("--no-marker: none"));
        }
        Some(text) => Marker::Message(Message::text(role, text)),
        None if role == Role::User => Marker::Default,
        None => Marker::By(role),
    })
}

/// The command as the operations keep it: without the marker's text.
fn what(args: &Args) -> String {
    Typed::new("truncate")
        .option("--keep", args.keep)
        .option("--fraction", args.fraction)
        .option("--to-budget", args.to_budget)
        .flag("--by-our-count", args.as_counted)
        .flag("--drop-first", args.drop_first)
        .text("--marker", args.marker.is_some())
        .option("--marker-role", args.marker_role.as_ref())
        .flag("--no-marker", args.no_marker)
        .line()
}
