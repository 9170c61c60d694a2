//! `tract undo`: reverses the last command, whatever it was.

use crate::cli::{App, Result, position};

/// Reverse the last command, whatever it was
///
/// All refs that the command moved go back at once. A second undo reverses the command before it. The
/// last command is the last one in this repository, whoever ran it. OP is a number from tract reflog:
/// only that command is reversed, and only if nothing that it moved has moved since.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract undo       the last command
  tract undo       and the one before
  tract redo       that one again
  tract undo 12    operation 12 of tract reflog")]
pub struct Args {
    /// The operation to reverse, instead of the newest one
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

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let hint = "undo reverses the last operation, whoever ran it; by number: tract undo N";
    position::refuse_on("undo", hint, app)?;
    let repo = app.repo()?;
    let done = repo.undo(args.operation, app.now())?;
    position::undone("Undid", &done, &repo, app)?;
    position::head(&repo, app)?;
    app.ui.hint("back: tract redo");
    Ok(())
}
