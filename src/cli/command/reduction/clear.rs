//! `tract clear`: a fresh start.

use tract::deeds::{Deed, Method};
use tract::render::plural;
use tract::repo::{Call, Repo};
use tract::rewrite::Clear;

use crate::cli::drawing::{erasure, outcome};
use crate::cli::{App, Failure, Result};

pub use tract::deeds::ClearParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    args.check()?;
    let what = args.line();
    let call = app.call(&on, &what);
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let (done, gentler) = if args.dry_run {
        outcome::foresee(app, &repo, call, &Clear { all: args.all }, &options)?
    } else {
        (repo.clear(call, args.all, &options)?, Vec::new())
    };
    if done.is_nothing() && !args.purge {
        app.ui.status("Nothing to clear");
        return Ok(());
    }
    if args.dry_run {
        outcome::foretell(app, "clear", &done, &gentler)?;
        return outcome::foretell_facts(app, &repo, call, &Clear { all: args.all });
    }
    let hidden = plural(done.hidden.len() as u64, "message");
    let cleared = format!("Cleared {hidden}");
    if args.purge {
        app.ui.status(cleared);
        return purge(&repo, call, app);
    }
    outcome::tell(app, &on, &cleared, &done);
    Ok(())
}

/// Erases, and says what is gone and what is not.
fn purge(repo: &Repo, call: Call<'_>, app: &mut App) -> Result<()> {
    let purged = repo.purge(call).map_err(|error| {
        Failure::from(error).with_hint("nothing is erased yet: tract clear --purge --force")
    })?;
    erasure::tell(&purged, repo, app)
}
