//! `tract annotate`: priorities of messages.

use tract::deeds::{At, Deed, Still};
use tract::model::Priority;
use tract::render::plural;

use crate::cli::drawing::outcome;
use crate::cli::{App, Result};

pub use tract::deeds::AnnotateParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let at = At::new(&repo, on.clone(), &Still);
    let (priority, named, what) = (args.priority()?, args.named(&at)?, args.line());
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let done = args.carry_out(&at, app.call(&on, &what), &named, options)?;
    let count = plural(done.entries.len() as u64, "message");
    let partners = outcome::partners(done.entries.iter().copied(), &named);
    if done.entries.is_empty() {
        app.ui.status(format!("Nothing to do: {priority} already"));
    } else if args.dry_run {
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

/// `tract pin` and `tract unpin`: annotate, whose priority is said by the command's name.
#[derive(Debug)]
pub struct Short<const PIN: bool>(Args);

impl<const PIN: bool> clap::Args for Short<PIN> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let (about, example) = match PIN {
            true => ("Pin messages: annotate --pin", PIN_EXAMPLE),
            false => (
                "Make messages normal again: annotate --normal",
                UNPIN_EXAMPLE,
            ),
        };
        let own = if PIN { "pin" } else { "normal" };
        let command = Args::augment_args(command)
            .mut_group("priority", |group| group.required(false))
            .mut_arg(own, |option| option.default_value("true"));
        ["pin", "skip", "normal"]
            .into_iter()
            .fold(command, |command, name| {
                command.mut_arg(name, |option| option.hide(true))
            })
            .about(about)
            .long_about(None::<&str>)
            .after_help(example)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

const PIN_EXAMPLE: &str = "\
Example:
  tract pin :4 --reason 'the house rules'";
const UNPIN_EXAMPLE: &str = "\
Example:
  tract unpin :4";

impl<const PIN: bool> clap::FromArgMatches for Short<PIN> {
    fn from_arg_matches(found: &clap::ArgMatches) -> Result<Self, clap::Error> {
        Args::from_arg_matches(found).map(Self)
    }

    fn update_from_arg_matches(&mut self, found: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(found)
    }
}

impl<const PIN: bool> Short<PIN> {
    /// Does it.
    pub fn run(&self, app: &mut App) -> Result<()> {
        run(&self.0, app)
    }
}
