//! `tract fetch`: what another repository has, beside what is here.

use tract::history::sync::{FetchOptions, Follow};

use crate::cli::peer::fetched;
use crate::cli::{App, Failure, typed::Typed};

/// Bring what another repository has, and move nothing of your own
///
/// Its branches are here as origin/main, its sessions as origin/sessions/TOOL/ID. Only what is missing
/// comes; every message and every commit is held against its name. What was erased here stays erased. What broke off
/// goes on where it stopped. tract undo takes it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract fetch                       from origin, or the only remote there is
  tract fetch laptop --sources      with the session files that are kept there
  tract log origin/main             what has come")]
pub struct Args {
    #[command(flatten)]
    from: fetched::From,
    /// Forget where refs were that are there no more
    #[arg(long)]
    prune: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let what = Typed::new("fetch").flag("--prune", args.prune);
    let options = FetchOptions {
        prune: args.prune,
        follow: Follow::Tags,
        ..FetchOptions::default()
    };
    fetched::run(&args.from, what, &options, app)?;
    Ok(())
}
