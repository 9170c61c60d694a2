//! `tract serve`: answers for a repository, to a tract at the other end of the pipes.

use std::io;
use std::path::PathBuf;

use tract::Error;
use tract::repo::Repo;
use tract::sync;

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, Result, peer};

/// Answer for a repository, to a tract on another machine
///
/// push, pull, fetch and clone start this through ssh. It reads questions from standard input and
/// answers on standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  ssh build.example tract serve /srv/talk    what tract pull runs for ssh://build.example/srv/talk")]
pub struct Args {
    /// The directory with the repository
    dir: PathBuf,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let mut repo = Repo::open_as(&app.path(&args.dir)?, &app.visitor()?)?;
    app.sign_on(&mut repo)?;
    let now = peer::clock(app);
    match sync::serve(&repo, &now, io::stdin().lock(), io::stdout().lock()) {
        // Nobody is there to be told.
        Err(Error::BrokenPeer { .. }) => Err(Failure::Quiet(Exit::NotAllowed)),
        served => Ok(served?),
    }
}
