//! `tract pin`: short for `annotate --pin`.

use tract::model::Priority;

use crate::cli::annotation::{self, Whom};
use crate::cli::{App, Result};

/// Pin messages: annotate --pin
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract pin :4 --reason 'the house rules'")]
pub struct Args {
    #[command(flatten)]
    whom: Whom,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    annotation::set(&args.whom, Priority::Pinned, app)
}
