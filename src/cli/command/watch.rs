//! `tract watch`: follows the tools' folders.

use tract::ingest::Reading;

use crate::cli::watching::{self, Options};
use crate::cli::{App, Failure};

/// Take in what grows in the tools' folders, as long as it runs
///
/// Follows every session of every tool on this machine, sub-agents too, and takes in what is written
/// within a second, each session on its own ref and branch. HEAD stays where it is, and undo passes
/// over what came in so. The tools' files are only read, and what stays here outlives them.
///
/// A file that has grown is not read again: its first bytes, some in its middle and its end must be
/// as they were, and the last messages must come out of it as they are here. A file that was changed
/// elsewhere, and nowhere else, is found by the next reading of all of it: tract import FILE, or
/// --full. What reaches far back (a compaction, a rewind) is read whole by itself.
///
/// There is one for a repository; a second one says so and ends with 4. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract init ~ && cd && tract watch    from now on, everything that is said
  tract watch --once                   what is new, then end: for cron
  tract watch --once --full            every file read whole, once in a while
  tract status                         says whether it runs, and when something last came in")]
pub struct Args {
    /// Look at everything once, and end
    #[arg(long)]
    once: bool,
    /// Read every file whole, even what looks as it did
    #[arg(long)]
    full: bool,
    /// Say each time that something of a session comes in
    #[arg(short, long)]
    verbose: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let repo = app.repo()?;
    let options = Options {
        is_once: args.once,
        reading: match args.full {
            true => Reading::Whole,
            false => Reading::New,
        },
        is_verbose: args.verbose,
    };
    watching::watch(repo, &options, app)
}
