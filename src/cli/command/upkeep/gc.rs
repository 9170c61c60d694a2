//! `tract gc`: takes out what nothing leads to any more, and makes what stays smaller.

use tract::deeds::{At, Collection};
use tract::render::{bytes, listed, plural};
use tract::repo::{FolderEntry, On};
use tract::upkeep::{Collected, GcStep, Unfinished};

use crate::cli::drawing::retention;
use crate::cli::{App, Result, progress};

pub use tract::deeds::GcParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let bar = progress::bar(app, "{spinner} {msg}");
    let done = args.carry_out(&At::new(&repo, On::Head, app), &mut |step| {
        bar.set_message(match step {
            GcStep::Collecting => "looking for what nothing needs".to_owned(),
            GcStep::Compressing(done, all) => format!("compressing {}%", done * 100 / all.max(1)),
            GcStep::Rewriting => "rewriting the files".to_owned(),
        });
        bar.tick();
    });
    bar.finish_and_clear();
    let Collection {
        let_go,
        collected: done,
    } = done?;
    let lets_go = let_go.as_ref().is_some_and(|gone| !gone.is_empty());
    if args.dry_run {
        if let Some(gone) = &let_go {
            retention::list(gone, &repo, app)?;
        }
        tell(&done, ["Would take out", "Would forget"], lets_go, app)?;
        tell_killed(&done.killed_backups, "Would delete", app);
        return Ok(());
    }
    retention::tell(let_go.as_deref().unwrap_or_default(), app);
    tell(&done, ["Took out", "Forgot"], lets_go, app)?;
    let (before, after) = done.size_bytes;
    if after < before {
        let line = format!("The files have {}, before {}", bytes(after), bytes(before));
        app.ui.status(line);
    }
    tell_killed(&done.killed_backups, "Deleted", app);
    for aside in repo.asides() {
        let (place, size) = (app.short_path(&aside.path), bytes(aside.size_bytes));
        app.ui.hint(format!(
            "{place} has {size} from before a restore; delete it when nothing is missing"
        ));
    }
    match &done.unfinished {
        None => {}
        Some(Unfinished::Busy) => app.ui.notice(
            "the files could not be rewritten, because another process reads or writes them: tract gc again",
        ),
        Some(Unfinished::Failed(why)) => {
            app.ui.notice(format!("the files could not be rewritten: {why}"));
        }
    }
    Ok(())
}

/// Says which copies go that killed backups have left.
fn tell_killed(copies: &[FolderEntry], does: &str, app: &mut App) {
    for copy in copies {
        let (place, size) = (app.short_path(&copy.path), bytes(copy.size_bytes));
        let line = format!("{does} {place}, {size} of a backup that was killed");
        app.ui.status(line);
    }
}

/// What went, or would, and how far back undo reaches then; `lets_go`: beside sessions that were let go.
fn tell(done: &Collected, [took, forgot]: [&str; 2], lets_go: bool, app: &mut App) -> Result<()> {
    if done.aside > 0 {
        let rows = plural(done.aside, "damaged row");
        app.ui.notice(format!(
            "{rows} set aside by a repair: what they may need is not deleted"
        ));
    }
    if done.is_nothing() {
        if lets_go {
            app.ui.hint(retention::LATER);
        } else {
            app.ui.status("Nothing to delete");
        }
        return Ok(());
    }
    let mut parts = Vec::new();
    let dropped = &done.dropped;
    if dropped.commits > 0 {
        parts.push(plural(dropped.commits, "commit"));
    }
    if dropped.contents > 0 {
        let size = bytes(dropped.size_bytes);
        parts.push(format!("{} ({size})", plural(dropped.contents, "message")));
    }
    if done.sources > 0 {
        let size = bytes(done.source_bytes);
        let files = plural(done.sources, "kept session file");
        parts.push(format!("{files} ({size})"));
    }
    if !parts.is_empty() {
        app.ui.status(format!("{took} {}", listed(&parts)));
    }
    if done.operations > 0 {
        let operations = plural(done.operations, "operation");
        let reach = match &done.oldest {
            None => "there is nothing left to undo".to_owned(),
            Some(oldest) => {
                let ago = app.calendar().ago(oldest.time);
                format!("undo reaches back to #{} ({ago})", oldest.id)
            }
        };
        app.ui.status(format!("{forgot} {operations}: {reach}"));
    }
    Ok(())
}
