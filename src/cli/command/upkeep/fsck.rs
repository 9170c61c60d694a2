//! `tract fsck`: checks everything that is kept.

use tract::Error;
use tract::deeds::{At, FsckOutcome, RequestCounts, RequestsCheck};
use tract::render::{Label, Line, plural};
use tract::repo::On;
use tract::upkeep::{Fsck, SetAside};

use crate::cli::drawing::listing;
use crate::cli::failure::{Exit, sentence};
use crate::cli::{App, Failure, Result, progress};

pub use tract::deeds::FsckParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo().map_err(|failure| match failure {
        Failure::Tract(error @ Error::Damaged { .. }) => {
            let hint =
                "nothing was changed; it cannot be opened: tract backup --restore FILE puts a backup back".to_owned();
            Failure::Said(Exit::Damaged, sentence(&error), Some(hint))
        }
        other => other,
    })?;
    let bar = progress::bar(app, "{spinner} checking {msg}");
    let done = args.carry_out(&At::new(&repo, On::Head, app), &mut |checked| {
        let messages = plural(checked.contents, "message");
        let commits = plural(checked.commits, "commit");
        bar.set_message(format!("{messages}, {commits}"));
        bar.tick();
        Ok(())
    });
    bar.finish_and_clear();
    let check = match done? {
        FsckOutcome::Requests(check) => return tell_requests(&check, app),
        FsckOutcome::Repository(check) => *check,
    };
    if let Some(before) = &check.before {
        tell(before, app)?;
        app.ui.status("Rebuilt what can be rebuilt from the rest");
        for SetAside { table, rows } in &check.set_aside {
            let rows = plural(*rows, "row");
            app.ui.status(format!("Set aside {rows} of {table}"));
        }
    }
    let found = check.found;
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

/// Which recorded requests are not what was sent, and how many are.
fn tell_requests(check: &RequestsCheck, app: &mut App) -> Result<()> {
    let lines = check.wrong.iter().map(|(session, why)| {
        let what = format!("{}: {why}", listing::shown_name(session, true));
        Label::Error.of("damaged") + "  " + Label::Text.quote(&what)
    });
    app.ui.print_all(lines)?;
    let RequestCounts { proved, unproved } = check.counts;
    app.ui
        .status(format!("{} proved", plural(proved, "request")));
    if unproved > 0 {
        let what = "without a hash of all that was sent";
        app.ui
            .notice(format!("{} {what}", plural(unproved, "request")));
    }
    match check.wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure::Quiet(Exit::Damaged)),
    }
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
