//! `tract fsck`: checks everything that is kept.

use tract::Error;
use tract::render::{Label, Line, plural};
use tract::store::SetAside;
use tract::upkeep::Fsck;

use crate::cli::failure::{Exit, sentence};
use crate::cli::{App, Failure, Result, progress, sent};

/// Check the repository for damage, and repair it if asked
///
/// Checks every page, row, message, commit and kept session file against its name, checksum or
/// fingerprint; each ref against its log; token counts, checkpoints, totals and the search index
/// against the messages; and reads the context of every branch, tag and session. Damage is listed, with
/// what still compiles; the exit code is then 3.
///
/// --repair rebuilds what can be rebuilt from the rest: indexes, listings, token counts, checkpoints,
/// the search index, refs from their logs, and places of commits. Rows that nothing confirms are set
/// aside, into the table quarantine of the database. Intact messages and commits are never touched. A
/// message or commit that was set aside comes back when it is imported again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract fsck
  tract fsck --repair
  tract fsck --requests")]
pub struct Args {
    /// Rebuild what can be rebuilt, and set damaged rows aside
    #[arg(long)]
    repair: bool,
    /// Only check each request that a client recorded against the client's own hash
    #[arg(long, conflicts_with = "repair")]
    requests: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo().map_err(|failure| match failure {
        Failure::Tract(error @ Error::Damaged { .. }) => {
            let hint =
                "nothing was changed; it cannot be opened: tract backup --restore FILE puts a backup back".to_owned();
            Failure::Said(Exit::Damaged, sentence(&error), Some(hint))
        }
        other => other,
    })?;
    if args.requests {
        return sent::prove(&repo, app);
    }
    let bar = progress::bar(app, "{spinner} checking {msg}");
    let check = || {
        let found = repo.fsck(true, &mut |checked| {
            let messages = plural(checked.contents, "message");
            let commits = plural(checked.commits, "commit");
            bar.set_message(format!("{messages}, {commits}"));
            bar.tick();
            Ok(())
        });
        bar.finish_and_clear();
        found
    };
    let mut found = check()?;
    if args.repair && found.is_repairable() {
        tell(&found, app)?;
        let aside = repo.repair(&found)?;
        app.ui.status("Rebuilt what can be rebuilt from the rest");
        for SetAside { table, rows } in aside {
            let rows = plural(rows, "row");
            app.ui.status(format!("Set aside {rows} of {table}"));
        }
        found = check()?;
    }
    tell(&found, app)?;
    if found.uncounted > 0 && !found.is_damaged() {
        let counts = plural(found.uncounted, "token count");
        let what = "of messages that no context shows like that any more: not counted again";
        app.ui.notice(format!("{counts} {what}"));
    }
    if found.checked.aside > 0 {
        let rows = plural(found.checked.aside, "damaged row");
        let what = "set aside by a repair, in the table quarantine";
        app.ui.notice(format!("{rows} {what}"));
    }
    if found.checked.unscrubbed {
        app.ui.notice(
            "the files still hold what a purge erased; the next command that writes takes it out",
        );
    }
    if !found.is_damaged() {
        // Where it cannot be written down, nothing is wrong with what was checked.
        let _ = repo.remember_check(app.now());
        return Ok(());
    }
    app.ui.hint(match (found.is_repairable(), args.repair) {
        (true, false) => {
            "tract fsck --repair rebuilds what can be rebuilt, and sets the rest aside"
        }
        _ if found.is_of_pages() => {
            "nothing was changed; what compiles can be saved: tract bundle FILE BRANCH"
        }
        _ => "what was imported comes back by importing it again; what compiles goes on as before",
    });
    Err(Failure::Quiet(Exit::Damaged))
}

/// What was found: each fault, then each ref that does not compile, then a summary.
fn tell(found: &Fsck, app: &mut App) -> Result<()> {
    let damaged = || Label::Error.of("damaged") + "  ";
    let faults = found.faults.iter();
    let faults = faults.map(|fault| damaged() + Label::Text.quote(&fault.to_string()));
    let mut lines: Vec<Line> = faults.collect();
    if let Some(error) = &found.log {
        lines.push(
            damaged() + Label::Text.quote(&format!("the log of operations: {}", reason(error))),
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
    let refs = plural(found.refs.len() as u64, "ref");
    let what = format!(
        "Checked {}, {}, {} and {refs}",
        plural(checked.contents, "message"),
        plural(checked.commits, "commit"),
        plural(checked.sources, "session file"),
    );
    let verdict = if found.is_damaged() {
        format!("; {sound} of {refs} compile")
    } else {
        ": no damage".to_owned()
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
