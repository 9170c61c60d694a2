//! `tract fsck`: checks everything that is kept.

use tract::Error;
use tract::history::Fsck;
use tract::render::{Label, Line, plural};

use crate::cli::failure::{Exit, sentence};
use crate::cli::{App, Failure, progress};

/// Check everything that is kept
///
/// Every page, row, message, commit and kept session file is held against its name, its checksum or
/// its fingerprint, and the context of every branch, tag and session is read. Damage is listed, with
/// what still compiles, and ends with exit code 3.
///
/// --repair makes again what can be made from the rest: indexes, token counts, listings, checkpoints
/// and the search index. It changes no message, commit or branch: what of those is damaged stays so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract fsck
  tract fsck --repair")]
pub struct Args {
    /// Make again what can be made from the rest
    #[arg(long)]
    repair: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let repo = app.repo()?;
    let bar = progress::bar(app, "{spinner} checking {msg}");
    let check = || {
        let found = repo.fsck(&mut |checked| {
            let commits = plural(checked.commits, "commit");
            bar.set_message(format!(
                "{}, {commits}",
                plural(checked.contents, "message")
            ));
            bar.tick();
        });
        bar.finish_and_clear();
        found
    };
    let mut found = check()?;
    if args.repair && found.is_repairable() {
        tell(&found, app)?;
        repo.rebuild()?;
        app.ui.status("Made again what can be made from the rest");
        found = check()?;
    }
    tell(&found, app)?;
    if found.checked.unscrubbed {
        app.ui.notice(
            "the files still hold what a purge erased; the next command that writes takes it out",
        );
    }
    if !found.is_damaged() {
        return Ok(());
    }
    if found.is_repairable() {
        app.ui
            .hint("tract fsck --repair makes again what can be made from the rest");
    } else {
        app.ui
            .hint("what compiles can be saved: tract export BRANCH -o FILE");
    }
    Err(Failure::Quiet(Exit::Damaged))
}

/// What was found: each fault, then each ref that does not compile, then a summary.
fn tell(found: &Fsck, app: &mut App) -> Result<(), Failure> {
    let damaged = || Label::Error.of("damaged") + "  ";
    let faults = found.faults.iter();
    let faults = faults.map(|fault| damaged() + Label::Text.quote(&fault.to_string()));
    let mut lines: Vec<Line> = faults.collect();
    if let Some(error) = &found.log {
        lines.push(
            damaged() + Label::Text.quote(&format!("the refs or their log: {}", reason(error))),
        );
    }
    for (name, lost) in &found.refs {
        if let Some(error) = lost {
            let what = format!("{} does not compile: {}", name.short(), reason(error));
            lines.push(Label::Error.of("lost") + "     " + Label::Text.quote(&what));
        }
    }
    app.ui.print_all(lines)?;
    let checked = found.checked;
    let sound = found.refs.iter().filter(|(_, lost)| lost.is_none()).count();
    let what = format!(
        "Checked {}, {}, {} and {}",
        plural(checked.contents, "message"),
        plural(checked.commits, "commit"),
        plural(checked.sources, "session file"),
        plural(found.refs.len() as u64, "ref"),
    );
    let verdict = match found.is_damaged() {
        false => ": no damage".to_owned(),
        true => format!(
            "; {sound} of {} compile",
            plural(found.refs.len() as u64, "ref")
        ),
    };
    app.ui.status(what + &verdict);
    Ok(())
}

/// What is wrong, where it is said already that it is damage.
fn reason(error: &Error) -> String {
    match error {
        Error::Damaged { detail } => detail.clone(),
        other => sentence(other),
    }
}
