//! `tract watch`: follows the tools' folders.

use tract::formats::registry;
use tract::ingest::Reading;

use crate::cli::watch::{self, Options};
use crate::cli::{App, Result};

const ABOUT: &str = "Import your tools' sessions as they grow, until it is stopped";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\n\
         Follows every session of every tool and directory on this machine, sub-agents too; tract import takes those of one directory. New messages come in \
         within a second. Each session has its own ref and branch; HEAD stays where it is, and undo \
         skips what watch brought in. The tools' files are only read, and what came in stays here \
         when a tool deletes them. Unproven, because no real session of them was available: {}.\n\n\
         A file that has grown is not read again from the start. Its first bytes, some in its middle \
         and its last messages must be as before. A change anywhere else is found when the whole \
         file is read: by tract import FILE, or with --full. A compaction or a rewind makes tract \
         read the whole file by itself.\n\n\
         One repository has one watch; a second one says so and exits with 4. Ctrl-C stops it.",
        registry::tools(|format| format.unproven && format.home.is_some()),
    )
}

#[derive(Debug, clap::Args)]
#[command(about = ABOUT, long_about = long_about(), after_help = "\
Example:
  tract init ~ && cd && tract watch    every session on this machine, from now on
  tract watch --once                   what is new, then stop: for cron
  tract watch --once --full            every file read from start to end, once in a while
  tract status                         whether it runs, and when messages last came in")]
pub struct Args {
    /// Look at everything once, then stop
    #[arg(long)]
    once: bool,
    /// Read every file from start to end, even one that looks unchanged
    #[arg(long)]
    full: bool,
    /// Report each time that messages of a session come in
    #[arg(short, long)]
    verbose: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let options = Options {
        is_once: args.once,
        reading: if args.full {
            Reading::Whole
        } else {
            Reading::New
        },
        is_verbose: args.verbose,
    };
    watch::watch(repo, &options, app)
}
