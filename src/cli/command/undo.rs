//! `tract undo`: reverses the last command, whatever it was.

use crate::cli::{App, Failure, position};

/// Reverse the last command, whatever it was
///
/// All the refs that it moved go back at once; again, and it is the command before that. What
/// counts is the repository's last command, whoever gave it. With OP, a number that tract reflog
/// shows: that command alone, if nothing that it moved has moved since.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract undo       the last command
  tract undo       and the one before
  tract redo       that one again
  tract undo 12    operation 12 of tract reflog")]
pub struct Args {
    /// Which operation, instead of the newest that is not undone
    #[arg(value_name = "OP", value_parser = number)]
    operation: Option<u64>,
}

/// `12` or `#12`.
fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits
        .parse()
        .map_err(|_| "tract reflog numbers the operations".to_owned())
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let hint = "it takes back the last operation, whoever gave it; one by its number: tract undo N";
    position::refuse_on("undo", hint, app)?;
    let repo = app.repo()?;
    let done = repo.undo(args.operation, app.now())?;
    position::undone("Undid", &done, &repo, app)?;
    position::head(&repo, app)?;
    app.ui.hint("back: tract redo");
    Ok(())
}
