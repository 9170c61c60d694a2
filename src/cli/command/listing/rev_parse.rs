//! `tract rev-parse`: the full hash of what a revision names.

use std::io::Write;

use crate::cli::{App, Result};

/// Print the full hash of what a revision names
///
/// A revision is one of these: a hash or its first digits (at least 4); a branch, tag or session; HEAD
/// or @; ORIG_HEAD (before the last reset); PREV_HEAD (before the last checkout); REV~N and REV^ (N
/// commits back, one back); REF@{N} (where a ref was N moves ago); REF@{TIME} (where it was
/// then: HEAD@{1 hour ago}, main@{yesterday}); :N and REV:N (the Nth visible message; :-1 is the last); :/TEXT (the newest message that contains TEXT); REV#I (part I of a
/// message).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract rev-parse HEAD
  tract rev-parse main~3 :1 :/parser")]
pub struct Args {
    /// The revisions to look up
    #[arg(value_name = "REV", required = true, allow_hyphen_values = true)]
    revs: Vec<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let found = args.revs.iter().map(|rev| repo.resolve(&on, rev));
    for hash in found.collect::<Result<Vec<_>, _>>()? {
        writeln!(app.ui.out(), "{hash}")?;
    }
    Ok(())
}
