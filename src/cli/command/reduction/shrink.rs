//! `tract shrink`: the context is made to fit, by what is cheapest.

use tract::Error;
use tract::deeds::{Deed, usual_prune};
use tract::render::{grouped, plural};
use tract::rewrite::{Plan, Reach, Surgery, Truncate};

use crate::cli::drawing::outcome;
use crate::cli::{App, Failure, Result, failure};

pub use tract::deeds::ShrinkParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let shrink = args.plan(&repo, &on, app.now())?;
    let what = args.line();
    let call = app.call(&on, &what);
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let truncate = Truncate::new(Reach::ToBudget(shrink.budget));
    let (done, others) = if args.dry_run {
        let others: [&dyn Plan; 2] = [&usual_prune(&repo)?, &truncate];
        repo.foretell(call, &options, &shrink, &others)?
    } else {
        (repo.carry_out(call, &shrink, &options), Vec::new())
    };
    let done = match done {
        Err(error @ Error::CannotFit { .. }) => {
            let failure = Failure::refused(failure::sentence(&error));
            return Err(failure.with_hint("tract compact puts a summary in place of what is old"));
        }
        done => done?,
    };
    if done.is_nothing() {
        let tokens = grouped(shrink.budget.tokens);
        let fits = format!("Nothing to shrink: the context fits {tokens} tokens already");
        app.ui.status(fits);
        return Ok(());
    }
    if args.dry_run {
        let gentler = outcome::gentler(["prune", "truncate"], others)?;
        outcome::foretell(app, "shrink", &done, &gentler)?;
        return outcome::foretell_facts(app, &repo, call, &shrink);
    }
    outcome::tell(app, &on, &did(&done), &done);
    Ok(())
}

/// `Pruned 12 tool outputs, hid 4 messages`.
fn did(done: &Surgery) -> String {
    let outputs = plural(done.parts() as u64, "tool output");
    match (done.parts(), done.hidden.len()) {
        (_, 0) => format!("Pruned {outputs}"),
        (0, _) => outcome::hid(done),
        (_, hidden) => {
            let messages = plural(hidden as u64, "message");
            format!("Pruned {outputs}, hid {messages}")
        }
    }
}
