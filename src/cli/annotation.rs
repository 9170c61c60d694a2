//! A priority given to messages, by `tract annotate` and its short forms.

use tract::model::{EntryId, Priority};
use tract::render::plural;

use super::{App, Result, Typed, outcome};

// Which messages, and why. No doc comment: it would be the help of the commands.
#[derive(Debug, clap::Args)]
pub struct Whom {
    /// Messages
    #[arg(value_name = "REV", required = true)]
    named: Vec<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Gives messages a priority.
pub fn set(whom: &Whom, priority: Priority, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let named = whom.named.iter().map(|text| repo.resolve_entry(&on, text));
    let named: Vec<EntryId> = named.collect::<Result<_, _>>()?;
    let option = match priority {
        Priority::Pinned => "--pin",
        Priority::Skip => "--skip",
        Priority::Normal => "--normal",
    };
    let what = Typed::new("annotate").revs(&whom.named).word(option);
    let what = what.text("--reason", whom.reason.is_some()).line();
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, whom.dry_run)?;
    let reason = whom.reason.as_deref();
    let done = repo.annotate(call, &named, priority, reason, &options)?;
    let count = plural(done.entries.len() as u64, "message");
    let partners = outcome::partners(done.entries.iter().copied(), &named);
    if done.entries.is_empty() {
        app.ui.status(format!("Nothing to do: {priority} already"));
    } else if whom.dry_run {
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
