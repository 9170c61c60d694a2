//! `tract redact`: secrets out of the context.

use tract::model::EntryId;
use tract::render::{counted_secrets, plural};
use tract::repo::Named;

use crate::cli::{App, Result, Typed, outcome};

/// Replace secrets in the context with [redacted:KIND]
///
/// Looks for keys, tokens and passwords of well-known forms in the visible messages, or in the messages
/// that you name. Each message with one is edited, as tract commit --edit does it. The history and the
/// kept session files still hold the secrets: only tract purge erases them. To allow a text that only
/// looks like a secret: tract config --global secrets.allow REGEX.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract redact                 all visible messages
  tract redact :7 a1b2c3d      only these messages
  tract redact --dry-run       say which would change")]
pub struct Args {
    /// Only these messages
    #[arg(value_name = "REV")]
    named: Vec<String>,
    /// All visible messages, as without REV
    #[arg(long, conflicts_with = "named")]
    all: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let named = args.named.iter().map(|text| repo.resolve_named(&on, text));
    let named = named.map(|named| {
        named.map(|named| match named {
            Named::Entry(entry) | Named::Part(entry, _) => entry,
        })
    });
    let named: Vec<EntryId> = named.collect::<Result<_, _>>()?;
    let named = (!args.all && !named.is_empty()).then_some(&named[..]);
    let what = Typed::new("redact").revs(&args.named);
    let what = what.flag("--all", args.all).line();
    let options = outcome::options(app, &repo, args.dry_run)?;
    let secrets = app.secrets()?;
    let (done, counts) = repo.redact(app.call(&on, &what), named, &secrets, &options)?;
    if done.is_nothing() {
        app.ui.status("Nothing to redact: no secrets are visible");
        return Ok(());
    }
    if args.dry_run {
        app.ui
            .print(format!("Would redact {}", counted_secrets(&counts)))?;
        return outcome::foretell(app, "redact", &done, &[]);
    }
    let messages = plural(done.changed.len() as u64, "message");
    let did = format!("Redacted {} in {messages}", counted_secrets(&counts));
    outcome::tell(app, &on, &did, &done);
    app.ui
        .hint("the history and kept session files still hold them: only tract purge erases");
    Ok(())
}
