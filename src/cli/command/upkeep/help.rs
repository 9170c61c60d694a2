//! `tract help`: the commands, or one of them.

use std::io::Write;

use clap::Command;

use crate::cli::help::{shown, shown_complete};
use crate::cli::{App, Failure, Result, meant};

/// List the commands, or explain one
///
/// Without COMMAND, it lists the most used commands; `tract --help` does the same. With COMMAND, it prints
/// the help of that command, as `tract COMMAND --help` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract help             the most used commands
  tract help --all       every command
  tract help truncate    one command, with examples")]
pub struct Args {
    /// List every command and the common options
    #[arg(short, long, conflicts_with = "command")]
    all: bool,
    /// The command to explain
    command: Vec<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let cols = app.env.surroundings.help_cols();
    let root = if args.all {
        shown_complete(cols)
    } else {
        shown(cols)
    };
    let mut found: &Command = &root;
    for name in &args.command {
        found = found
            .find_subcommand(name)
            .ok_or_else(|| Failure::usage(format!("no command '{name}'")).with_hint(meant(name)))?;
    }
    let words = args.command.iter().map(String::as_str);
    let words = ["tract"].into_iter().chain(words).chain(["--help"]);
    // What clap calls an error is the help.
    if let Err(help) = root.clone().try_get_matches_from(words) {
        let help = help.render();
        let text = if app.ui.is_colored() {
            help.ansi().to_string()
        } else {
            help.to_string()
        };
        app.ui.out().write_all(text.as_bytes())?;
    }
    Ok(())
}
