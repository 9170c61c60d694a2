//! `tract annotate`, `pin`, `unpin`: priorities of messages.

use tract::model::{EntryId, Priority};
use tract::render::number::plural;

use crate::cli::app::App;
use crate::cli::failure::Failure;
use crate::cli::outcome;
use crate::cli::position::all_typed;

/// Pin messages, leave them out, or make them normal again
///
/// Pinned messages stay through truncations, compactions and clears. Skipped ones are out of the
/// context until they are normal again; a call goes with all its results. `tract pin REV` and
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
    /// Messages
    #[arg(value_name = "REV", required = true)]
    named: Vec<String>,
    /// Never hide them
    #[arg(long, group = "priority")]
    pin: bool,
    /// Leave them out of the context
    #[arg(long, group = "priority")]
    skip: bool,
    /// Neither
    #[arg(long, group = "priority")]
    normal: bool,
    #[command(flatten)]
    how: How,
}

/// Pin messages: annotate --pin
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract pin :4 --reason 'the house rules'")]
pub struct Pin {
    /// Messages
    #[arg(value_name = "REV", required = true)]
    named: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// Make messages normal again: annotate --normal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract unpin :4")]
pub struct Unpin {
    /// Messages
    #[arg(value_name = "REV", required = true)]
    named: Vec<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct How {
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl From<Pin> for Args {
    fn from(Pin { named, how }: Pin) -> Self {
        let (pin, skip, normal) = (true, false, false);
        Self {
            named,
            pin,
            skip,
            normal,
            how,
        }
    }
}

impl From<Unpin> for Args {
    fn from(Unpin { named, how }: Unpin) -> Self {
        let (pin, skip, normal) = (false, false, true);
        Self {
            named,
            pin,
            skip,
            normal,
            how,
        }
    }
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let named = args.named.iter().map(|text| repo.resolve_entry(&on, text));
    let named: Vec<EntryId> = named.collect::<Result<_, _>>()?;
    let (priority, option) = match (args.pin, args.skip) {
        (true, _) => (Priority::Pinned, "--pin"),
        (_, true) => (Priority::Skip, "--skip"),
        _ => (Priority::Normal, "--normal"),
    };
    let reason = match args.how.reason {
        Some(_) => " --reason …",
        None => "",
    };
    let what = format!("annotate {} {option}{reason}", all_typed(&args.named));
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.how.dry_run)?;
    let reason = args.how.reason.as_deref();
    let done = repo.annotate(call, &named, priority, reason, &options)?;
    let count = plural(done.entries.len() as u64, "message");
    let partners = done.entries.iter().any(|id| !named.contains(id));
    let partners = if partners {
        ", tool partners included"
    } else {
        ""
    };
    if done.entries.is_empty() {
        app.ui.status(format!("Nothing to do: {priority} already"));
    } else if args.how.dry_run {
        app.ui
            .status(format!("Would make {count} {priority}{partners}"));
        if !done.surgery.is_nothing() {
            outcome::foretell(app, "annotate", &done.surgery, &[])?;
        }
    } else {
        let did = match priority {
            Priority::Pinned => format!("Pinned {count}"),
            Priority::Skip => format!("Left out {count}"),
            Priority::Normal => format!("Made {count} normal"),
        };
        outcome::tell(app, &on, &format!("{did}{partners}"), &done.surgery);
    }
    Ok(())
}
