//! `tract gc`: takes out what nothing leads to any more, and makes what stays smaller.

use tract::ingest;
use tract::model::retention::{Expire, Retention};
use tract::render::{bytes, listed, plural};
use tract::repo::FolderEntry;
use tract::upkeep::{Collected, GcStep, Unfinished};

use crate::cli::{App, Result, progress, retained};

/// Delete what no branch, tag, session or undo needs any more
///
/// Everything that a branch, tag or session holds stays, hidden messages too, with what they compile to
/// and export as. What undo and reflog can reach stays for 90 days, or as long as gc.reflogExpire says;
/// older commands are forgotten, and undo cannot reach them. Parts of kept session files that nothing
/// reads are deleted. Then the rest is compressed again and the files are rewritten. Other commands may
/// run meanwhile. tract never does this unasked.
///
/// With --keep, or gc.keep, it first lets go of imported sessions that are neither among the newest so many nor
/// of the last so many days. A session stays in any case if a branch of your own, a tag or a HEAD leads to it, if
/// commits of it were taken over, while its file is where it came from, for it would only come in again, or if
/// a purge erased anything in it, for its file would bring that back. What
/// is let go is listed; tract undo brings it back as long as the log leads to it, and then it is deleted:
/// in 90 days, or at once with --expire now.
///
/// To erase something so that nobody can read it again: tract purge, or tract clear --purge.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract gc
  tract gc --dry-run         what would go
  tract gc --expire now      also forget everything that could be undone
  tract gc --expire 30       forget only what is older than 30 days
  tract gc --keep 100,90d --dry-run    which sessions would go, with sizes
  tract gc --keep 100,90d    keep the newest 100 sessions, and those of the last 90 days
  tract tag keep-this claude-code/2f6c1f0e    this session stays")]
pub struct Args {
    /// Forget commands older than this: a number of days, now, or never
    #[arg(long, value_name = "AGE", value_parser = age)]
    expire: Option<Expire>,
    /// Which imported sessions are kept: so many, days such as 90d, both (100,90d), or all
    #[arg(long, value_name = "KEEP", value_parser = kept)]
    keep: Option<Kept>,
    /// Change nothing; say what would go
    #[arg(long)]
    dry_run: bool,
}

fn age(text: &str) -> Result<Expire, String> {
    let wrong = |_| "an age is a number of days, now, or never".to_owned();
    text.parse().map_err(wrong)
}

/// All sessions, or those of a rule.
#[derive(Clone, Copy, Debug)]
struct Kept(Option<Retention>);

fn kept(text: &str) -> Result<Kept, String> {
    let wrong = |_| {
        "it is a number of sessions, a number of days such as 90d, both (100,90d), or all"
            .to_owned()
    };
    Retention::read(text).map(Kept).map_err(wrong)
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let retention = match args.keep {
        Some(Kept(retention)) => retention,
        None => repo.config()?.retention()?,
    };
    let expire = match args.expire {
        Some(expire) => expire,
        None => repo.config()?.reflog_expire()?,
    };
    if args.dry_run {
        let (lets_go, would) = match retention {
            Some(retention) => (
                retained::forecast(&repo, retention, app)?,
                ingest::gc_forecast_of(&repo, retention, expire, app.now())?,
            ),
            None => (false, repo.gc_forecast(expire, app.now())?),
        };
        tell(&would, ["Would take out", "Would forget"], lets_go, app)?;
        tell_killed(&repo.killed_backups(), "Would delete", app);
        return Ok(());
    }
    let lets_go = match retention {
        Some(retention) => retained::let_go(&repo, retention, app)?,
        None => false,
    };
    let bar = progress::bar(app, "{spinner} {msg}");
    let done = repo.gc(expire, app.now(), &mut |step| {
        bar.set_message(match step {
            GcStep::Collecting => "looking for what nothing needs".to_owned(),
            GcStep::Compressing(done, all) => format!("compressing {}%", done * 100 / all.max(1)),
            GcStep::Rewriting => "rewriting the files".to_owned(),
        });
        bar.tick();
    });
    bar.finish_and_clear();
    let done = done?;
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
            app.ui.hint(retained::LATER);
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
