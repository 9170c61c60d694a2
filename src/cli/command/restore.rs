//! `tract restore`: what was hidden or edited, as it was; everything later stays.

use tract::render::plural;
use tract::rewrite::Lost;
use tract::rewrite::Surgery;

use crate::cli::{App, Result, Typed, outcome};

/// Un-hide messages; everything later stays
///
/// If REV is a hide or an edit, all of it is reversed. If REV is a hidden message, that message alone
/// comes back in its place, with its tool calls and results; the hide keeps the rest. If REV is a
/// visible message, its hidden parts come back; REV#PART brings back what the same hide took of it.
/// With --at-end the message stays hidden and a copy is appended. With --before it is moved there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract restore a1b2c3d           undo this truncation, compaction, drop, prune or edit
  tract restore a1b2c3d^:5        the message that was the 5th before it
  tract restore :2                what the marker or summary at :2 stands for
  tract restore 9f8e7d6 5d4c3b2   these two messages
  tract restore a1b2c3d --at-end  copies of what it hid at the end: the prompt cache keeps the rest
  tract restore :2 --before :40   what :2 stands for, right before :40
  tract restore :9 --dry-run      say what would come back")]
pub struct Args {
    /// Hides, edits, messages, or REV#PART
    #[arg(value_name = "REV", required = true)]
    lost: Vec<String>,
    /// Leave it hidden and append a copy; what stands before does not change
    #[arg(long)]
    at_end: bool,
    /// Move it to right before this visible message; what stands further up does not change
    #[arg(long, value_name = "REV", conflicts_with = "at_end")]
    before: Option<String>,
    /// Say what would come back, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let lost = args.lost.iter().map(|text| repo.resolve_lost(&on, text));
    let lost: Vec<Lost> = lost.collect::<Result<_, _>>()?;
    let what = Typed::new("restore").revs(&args.lost);
    let what = what.flag("--at-end", args.at_end);
    let what = what.rev("--before", args.before.as_ref()).line();
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
    let mut still_hidden = Vec::new();
    let (done, did) = if args.at_end {
        let picked = repo.lost_messages(&on, &lost)?;
        let done = repo.pick(call, &picked, &options)?;
        let did = format!("Copied {} to the end", messages(done.shown.len()));
        (done, did)
    } else if let Some(before) = &args.before {
        let place = repo.resolve_entry(&on, before)?;
        let done = repo.restore_before(call, &lost, place, &options)?;
        let at = done.shown.told().first().map_or(0, |first| first.number);
        let did = format!("Moved {} to :{at}", messages(done.shown.len()));
        (done, did)
    } else {
        let done = repo.restore(call, &lost, &options)?;
        still_hidden = done.still_hidden;
        let did = restored(&done.surgery);
        (done.surgery, did)
    };
    if args.dry_run {
        outcome::foretell(app, "restore", &done, &[])?;
    } else {
        outcome::tell(app, &on, &did, &done);
        app.ui.status(format!("Cache: {}", outcome::kept(&done)));
    }
    for still in still_hidden {
        let hidden = messages(still.messages);
        let stay = if still.messages == 1 { "stays" } else { "stay" };
        let (kind, by) = (still.kind.verb(), still.by.short());
        app.ui
            .status(format!("{hidden} {stay} hidden by {kind} {by}"));
    }
    Ok(())
}

fn messages(count: usize) -> String {
    plural(count as u64, "message")
}

/// What came back, and what has changed back.
fn restored(surgery: &Surgery) -> String {
    let back = messages(surgery.shown.len());
    let changed = messages(surgery.changed.len());
    match (surgery.shown.len(), surgery.changed.len()) {
        (0, 0) => "Brought nothing back into the context".to_owned(),
        (_, 0) => format!("Brought back {back}"),
        (0, _) => format!("Changed {changed} back"),
        _ => format!("Brought back {back} and changed {changed} back"),
    }
}
