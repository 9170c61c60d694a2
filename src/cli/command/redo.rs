//! `tract redo`: takes an undo back.

use crate::cli::{App, Result, position};

/// Reverse the last undo
///
/// A second redo reverses the undo before it, and so on to where the undoing began. After any other
/// command there is nothing to redo, because its commits would be lost. What undo --to or --since
/// reversed comes back all at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract undo
  tract redo")]
pub struct Args {}

pub fn run(_: &Args, app: &mut App) -> Result<()> {
    position::refuse_on("redo", "redo reverses the last undo, whoever ran it", app)?;
    let repo = app.repo()?;
    for done in repo.redo(app.now())? {
        position::undone("Did again", &done, &repo, app)?;
    }
    position::head(&repo, app)
}
