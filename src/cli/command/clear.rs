//! `tract clear`: a fresh start.

use tract::render::plural;
use tract::repo::{Call, Repo};
use tract::rewrite::Clear;

use crate::cli::{App, Failure, Result, Typed, erased, outcome};

/// Hide everything but the system messages, to start over
///
/// Pinned messages stay, and so do calls that wait for a result. Nothing is lost: tract undo brings
/// everything back.
///
/// With --purge, what came before is erased for good, kept session files included. It reads [purged]
/// from then on. No undo brings it back. Importing the session again does not bring it back either,
/// unless that import was undone before; a message that is written again is a new message. What other
/// branches, tags and sessions with commits of their own need stays, and is reported. Notes and reasons
/// are erased, too: each is hashed with its commit, so that one and all behind it get other names, and undo
/// reaches back no further. Request settings (model, tools) stay.
///
/// See also: prune (tool outputs), drop (messages you name), truncate (the oldest), compact (a
/// summary).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract clear                   all but the system messages
  tract clear --all             those too
  tract clear --dry-run         what would go
  tract clear --purge --force   also erase everything else for good")]
pub struct Args {
    /// Hide the system messages too
    #[arg(long)]
    all: bool,
    /// Change nothing; say what would go
    #[arg(long, conflicts_with = "purge")]
    dry_run: bool,
    /// Erase what came before, for good
    #[arg(long)]
    purge: bool,
    /// Confirm that it is erased for good
    #[arg(long, requires = "purge")]
    force: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    if args.purge && !args.force {
        let failure = Failure::usage("a purge erases for good: no command brings it back");
        return Err(failure.with_hint("tract clear --purge --force"));
    }
    let what = Typed::new("clear").flag("--all", args.all);
    let what = what.flag("--purge", args.purge).line();
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
    let (done, gentler) = if args.dry_run {
        outcome::foresee(app, &repo, call, &Clear { all: args.all })?
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
    erased::tell(&purged, repo, app)
}
