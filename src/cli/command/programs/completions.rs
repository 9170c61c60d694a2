//! `tract completions`: what makes a shell complete the program's words and names.

use std::path::PathBuf;

use clap_complete::env::{EnvCompleter, Fish, Zsh};

use crate::cli::completion::Quoted;
use crate::cli::{App, Result};

/// Make your shell complete commands, branches and revisions
///
/// Prints what the shell has to run when it starts. The shell then asks tract for each word, so names
/// in the repository are completed as well.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  echo 'source <(tract completions bash)' >> ~/.bashrc
  echo 'source <(tract completions zsh)' >> ~/.zshrc
  echo 'tract completions fish | source' >> ~/.config/fish/config.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Quoted,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("tract"));
    let program = program.to_string_lossy();
    Ok(shell.write_registration("COMPLETE", "tract", "tract", &program, app.ui.out())?)
}
