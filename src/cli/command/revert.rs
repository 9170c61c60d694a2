//! `tract revert`: the opposite of one commit; what came later stays.

use crate::cli::position::must_be_whole;
use crate::cli::{App, Result, Typed, outcome};

/// Do the opposite of one commit; what came later stays
///
/// A message is dropped, with its tool calls and results. An edit, a truncation, a compaction, a clear, a
/// drop or a prune is undone, as tract restore does. What a restore brought back is hidden again, or
/// edited again. A pin gives way to the priority before it. The commit itself stays in the history, and a
/// revert can be reverted. To take the last command back instead: tract undo.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract revert a1b2c3d            a compaction: the messages are back, later ones stay
  tract revert :7                 the 7th message goes
  tract revert HEAD               the last commit
  tract revert :7 --dry-run       say what would change")]
pub struct Args {
    /// The commit
    #[arg(value_name = "REV")]
    rev: String,
    /// Even if it is the task or the last user message
    #[arg(long)]
    force: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    must_be_whole(&repo, &on, &args.rev)?;
    let commit = repo.resolve(&on, &args.rev)?;
    let what = Typed::new("revert").revs([&args.rev]);
    let what = what.flag("--force", args.force).line();
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
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
