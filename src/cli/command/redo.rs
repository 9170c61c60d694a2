//! `tract redo`: takes an undo back.

use crate::cli::{App, Failure, position};

/// Do again what the last undo reversed
///
/// Again, and it is the one before that, forward to where the undoing began. After any other
/// command there is nothing to redo: its commits would be run over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract undo
  tract redo")]
pub struct Args {}

pub fn run(_: &Args, app: &mut App) -> Result<(), Failure> {
    position::refuse_on("redo", "it takes back the last undo, whoever gave it", app)?;
    let repo = app.repo()?;
    let done = repo.redo(app.now())?;
    position::undone("Did again", &done, &repo, app)?;
    position::head(&repo, app)
}
