//! `tract redo`: takes an undo back.

use crate::cli::drawing::position;
use crate::cli::{App, Result};

pub use tract::deeds::RedoParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    position::refuse_on("redo", "redo reverses the last undo, whoever ran it", app)?;
    let repo = app.repo()?;
    for done in args.carry_out(&repo, app.now())? {
        match args.dry_run {
            true => position::would("Would do again", &done, &repo, app)?,
            false => position::undone("Did again", &done, &repo, app)?,
        }
    }
    if args.dry_run {
        return Ok(());
    }
    position::head(&repo, app)
}
