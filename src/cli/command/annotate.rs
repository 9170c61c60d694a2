//! `tract annotate`: priorities of messages.

use tract::model::Priority;

use crate::cli::annotation::{self, Whom};
use crate::cli::{App, Result};

/// Pin messages, skip them, or make them normal again
///
/// Pinned messages stay through truncations, compactions and clears. Skipped messages are out of the
/// context until they are normal again; a call goes together with its results. `tract pin REV` and
/// `tract unpin REV` are short for --pin and --normal.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract annotate :1 :4 --pin --reason 'the house rules'
  tract annotate :7 --skip
  tract pin :4
  tract unpin :4")]
#[command(group(clap::ArgGroup::new("priority").required(true)))]
pub struct Args {
    /// Never hide these messages
    #[arg(long, group = "priority")]
    pin: bool,
    /// Leave these messages out of the context
    #[arg(long, group = "priority")]
    skip: bool,
    /// Neither pin nor skip them
    #[arg(long, group = "priority")]
    normal: bool,
    #[command(flatten)]
    whom: Whom,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let priority = match (args.pin, args.skip) {
        (true, _) => Priority::Pinned,
        (_, true) => Priority::Skip,
        _ => Priority::Normal,
    };
    annotation::set(&args.whom, priority, app)
}
