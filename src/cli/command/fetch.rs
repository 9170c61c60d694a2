//! `tract fetch`: what another repository has, beside what is here.

use tract::sync::{FetchOptions, Follow};

use crate::cli::peer::fetched;
use crate::cli::{App, Result, typed::Typed};

/// Get commits from another repository; your branches stay
///
/// Its branches are called origin/main here, its sessions origin/sessions/TOOL/ID. Only what is missing
/// is sent, and every message and commit is checked against its name. What was erased here stays
/// erased; what was erased there is named, and erased here if tract config receive.purge is allow. After
/// an interruption, the same command continues where it stopped. tract undo takes a fetch back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract fetch                       from origin, or the only remote there is
  tract fetch laptop --sources      with the session files that are kept there
  tract fetch --all                 from every remote
  tract log origin/main             what has come")]
pub struct Args {
    #[command(flatten)]
    from: fetched::From,
    /// From all remotes
    #[arg(long, conflicts_with = "remote")]
    all: bool,
    /// Forget refs that no longer exist there
    #[arg(long)]
    prune: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let what = || Typed::new("fetch").flag("--prune", args.prune);
    let options = FetchOptions {
        prune: args.prune,
        follow: Follow::Tags,
        ..FetchOptions::default()
    };
    if !args.all {
        fetched::run(&args.from, what(), &options, app)?;
        return Ok(());
    }
    let mut failed = None;
    for remote in app.repo()?.remotes()? {
        app.ui.status(format!("From {}", remote.name));
        let from = fetched::From {
            remote: Some(remote.name.clone()),
            sources: args.from.sources,
        };
        // One that cannot be reached does not stop the others.
        if let Err(failure) = fetched::run(&from, what(), &options, app) {
            app.ui.warn(format!("nothing came from {}", remote.name));
            failed.get_or_insert(failure);
        }
    }
    failed.map_or(Ok(()), Err)
}
