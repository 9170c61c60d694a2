//! `tract drop`: single messages or parts out.

use tract::render::plural;
use tract::repo::Named;
use tract::rewrite::SurgeryOptions;

use crate::cli::{App, Result, Typed, outcome};

/// Hide the messages, or parts of messages, that you name
///
/// With a message that calls tools, their results go too. With a result, only its own call goes; the
/// text beside that call, and calls made in parallel, stay with their results. If one of these is
/// pinned, nothing is done. A message whose parts are all dropped is hidden. Parts are counted from 0,
/// as tract show prints them.
///
/// See also: prune (tool outputs), truncate (the oldest), compact (a summary), clear (everything).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract drop :7 :9             the 7th and the 9th visible message
  tract drop a1b2c3d           the message that this commit brought
  tract drop :7#0              its first part
  tract drop :8                a tool's result, and the call that it answers
  tract drop :-1 --dry-run     say what would go")]
pub struct Args {
    /// Messages, or REV#PART for a part
    #[arg(value_name = "REV", required = true)]
    named: Vec<String>,
    /// Allow the last user message and the task to go too
    #[arg(long)]
    force: bool,
    /// Say what would go, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let named = args.named.iter().map(|text| repo.resolve_named(&on, text));
    let named: Vec<Named> = named.collect::<Result<_, _>>()?;
    let what = Typed::new("drop").revs(&args.named);
    let what = what.flag("--force", args.force).line();
    let call = app.call(&on, &what);
    // All that went is held against what was named.
    let options = SurgeryOptions {
        told: usize::MAX,
        ..outcome::options(app, &repo, args.dry_run)?
    };
    let done = repo.drop_named(call, &named, args.force, &options)?;
    if done.is_nothing() {
        app.ui.status("Nothing to drop: it is hidden already");
        return Ok(());
    }
    if args.dry_run {
        return outcome::foretell(app, "drop", &done, &[]);
    }
    let changed = plural(done.changed.len() as u64, "message");
    let did = match (done.hidden.len(), done.changed.len()) {
        (_, 0) => outcome::hid(&done),
        (0, _) => format!("Hid parts of {changed}"),
        _ => format!("{} and parts of {changed}", outcome::hid(&done)),
    };
    let entries = named.iter().map(|named| match named {
        Named::Entry(id) | Named::Part(id, _) => *id,
    });
    let entries: Vec<_> = entries.collect();
    let touched = done.hidden.told().iter().chain(done.changed.told());
    let partners = outcome::partners(touched.map(|one| one.id), &entries);
    outcome::tell(app, &on, &format!("{did}{partners}"), &done);
    Ok(())
}
