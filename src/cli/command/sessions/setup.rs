//! `tract setup`: has other programs use tract.

use crate::cli::setup::{self, Part, Setup};
use crate::cli::{App, Result};

/// Set up your coding agents to use tract, or take that back
///
/// Finds Claude Code, Codex, Gemini CLI and OpenCode, shows what it would write where, and writes it after a
/// yes. It sets hooks that bring sessions in and guard compactions, and the server that gives an agent its
/// memory. Claude Code also gets the setting that keeps each request in the session's file. Everything below
/// your home gets one repository, and `tract watch` runs from login on.
///
/// Comments, order and all other settings stay. An entry that is there already is not written again. A file that is
/// broken, read-only, of another user, or a link that leads nowhere is named and left as it is. A copy of each file
/// is kept: `--undo` gives it back to the byte, or takes out only what is tract's where you changed the file since.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract setup                      show what it would write, and ask
  tract setup --yes                write it, for scripts
  tract setup --only codex         only for Codex; can be given several times
  tract setup --check              say what of it works; exit code 1 if something does not
  tract setup --undo               take all of it back")]
pub struct Args {
    /// Write without asking
    #[arg(long, conflicts_with_all = ["check", "undo"])]
    yes: bool,
    /// Say what of it works
    #[arg(long, conflicts_with = "undo")]
    check: bool,
    /// Take back what was set up
    #[arg(long)]
    undo: bool,
    /// Only this part; can be given several times
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let setup = Setup::of(&args.only, app)?;
    match (args.check, args.undo) {
        (true, _) => setup::check(setup, app),
        (_, true) => setup::undo(setup, app),
        _ => setup::set_up(setup, args.yes, app),
    }
}
