//! `tract transcript`: short for `view --transcript`.

use crate::cli::conversation::{self, Form, Which};
use crate::cli::{App, Result};

/// Print the whole transcript: view --transcript
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract transcript | less")]
pub struct Args {
    /// The commit
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    conversation::show(&args.rev, Which::Transcript, Form::Plain, app)
}
