//! `tract redo`: takes an undo back.

use crate::cli::{App, Result, position};

pub use tract::deeds::RedoParams as Args;

pub fn run(_: &Args, app: &mut App) -> Result<()> {
    position::refuse_on("redo", "redo reverses the last undo, whoever ran it", app)?;
    let repo = app.repo()?;
    for done in repo.redo(app.now())? {
        position::undone("Did again", &done, &repo, app)?;
    }
    position::head(&repo, app)
}
