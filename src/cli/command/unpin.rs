//! `tract unpin`: short for `annotate --normal`.

use tract::model::Priority;

use crate::cli::annotation::{self, Whom};
use crate::cli::{App, Result};

/// Make messages normal again: annotate --normal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract unpin :4")]
pub struct Args {
    #[command(flatten)]
    whom: Whom,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    annotation::set(&args.whom, Priority::Normal, app)
}
