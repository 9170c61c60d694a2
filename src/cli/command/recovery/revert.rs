//! `tract revert`: the opposite of one commit; what came later stays.

use tract::deeds::{At, Deed, Still};

use crate::cli::drawing::outcome;
use crate::cli::{App, Result};

pub use tract::deeds::RevertParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let commit = At::new(&repo, on.clone(), &Still).commit(&args.rev)?;
    let what = args.line();
    let call = app.call(&on, &what);
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let done = repo.revert(call, &commit, args.force, &options)?;
    let (what, name) = (done.what, commit.short());
    if done.already {
        app.ui.status(format!(
            "Nothing to revert: {what} {name} has no effect any more"
        ));
        return Ok(());
    }
    if args.dry_run {
        return outcome::foretell(app, "revert", &done.surgery, &[]);
    }
    outcome::tell(app, &on, &format!("Reverted {what} {name}"), &done.surgery);
    app.ui
        .status(format!("Cache: {}", outcome::kept(&done.surgery)));
    Ok(())
}
