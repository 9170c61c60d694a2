//! `tract clear`: a fresh start.

use crate::cli::app::App;
use crate::cli::failure::Failure;
use crate::cli::number::plural;
use crate::cli::outcome;

/// Start over from the system messages
///
/// Everything else leaves the context; pinned messages stay, and calls that wait for a result.
/// Nothing is lost: tract undo brings it all back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract clear              all but the system messages
  tract clear --all        those too
  tract clear --dry-run    what would go")]
pub struct Args {
    /// Not even the system messages stay
    #[arg(long)]
    all: bool,
    /// Change nothing; say what would go
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let what = if args.all { "clear --all" } else { "clear" };
    let options = outcome::options(app, &repo, what, args.dry_run)?;
    let done = repo.clear(&on, args.all, &options)?;
    if done.is_nothing() {
        app.ui.status("Nothing to clear");
        return Ok(());
    }
    if args.dry_run {
        let gentler = outcome::gentler(app, &repo, &on, &options)?;
        return outcome::foretell(app, "clear", &done, &gentler);
    }
    let hidden = plural(done.hidden.len() as u64, "message");
    outcome::tell(app, &on, &format!("Cleared {hidden}"), &done);
    Ok(())
}
