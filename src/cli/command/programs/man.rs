//! `tract man`: the help as manual pages.

use std::path::{Path, PathBuf};

use tract::Error;
use tract::render::plural;

use crate::cli::{App, Result, root};

/// Write the manual pages
///
/// Writes one page for the program and one for each command, with the same text as --help.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract man ~/.local/share/man/man1      then: man tract-log")]
pub struct Args {
    /// The directory; it is made if it is missing
    dir: PathBuf,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let dir = app.path(&args.dir)?;
    let write = |dir: &Path| {
        std::fs::create_dir_all(dir)?;
        clap_mangen::generate_to(root(), dir)
    };
    write(&dir).map_err(Error::io(&dir))?;
    let pages = plural(pages(&root()), "page");
    app.ui
        .status(format!("Wrote {pages} to {}", args.dir.display()));
    Ok(())
}

/// How many pages a command has: its own, and those of the commands below it.
fn pages(command: &clap::Command) -> u64 {
    let below = command.get_subcommands();
    let below = below.filter(|command| !command.is_hide_set());
    1 + below.map(pages).sum::<u64>()
}
