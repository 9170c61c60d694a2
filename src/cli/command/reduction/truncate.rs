//! `tract truncate`: the oldest messages go, a marker says how many.

use tract::Error;
use tract::deeds::{Deed, usual_prune};
use tract::query::ProviderSays;
use tract::render::grouped;
use tract::rewrite::{Plan, Reach, Truncate};

use crate::cli::drawing::outcome;
use crate::cli::{App, Failure, Result, failure};

pub use tract::deeds::TruncateParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let truncate = args.plan(&repo)?;
    let reach = truncate.reach;
    let what = args.line();
    let call = app.call(&on, &what);
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let (done, mut gentler) = if args.dry_run {
        repo.foretell(call, &options, &truncate, &[&usual_prune(&repo)?])?
    } else {
        (repo.carry_out(call, &truncate, &options), Vec::new())
    };
    let done = match done {
        Err(error @ Error::CannotFit { .. }) => {
            let says = match (args.by_our_count, repo.head(&on)?.commit()) {
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
        what += &format!("; the provider's count is {}", outcome::counted(count));
        hint += "; --by-our-count leaves out what the provider counts on top";
    }
    Failure::refused(what).with_hint(hint)
}
