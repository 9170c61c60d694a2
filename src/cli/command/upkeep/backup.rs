//! `tract backup`: the whole repository in one file.

use tract::deeds::{At, BackupAnswer, BackupParams, WorkProgress};
use tract::render::plural;
use tract::repo::Repo;

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, progress};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract backup ~/backups/talk.db
  tract backup --force ~/backups/talk.db    over the one before
  tract backup --restore ~/backups/talk.db  back to what it holds")]
pub struct Args {
    #[command(flatten)]
    deed: BackupParams,
    // A method acts in a repository, and would have it open.
    /// Make the backup in FILE the repository: nothing else may have it open, and the file that is there is kept as
    /// .tract/tract.db.before-restore. With --force also over a repository that has commits which FILE lacks
    #[arg(long)]
    restore: bool,
}

/// What a backup's step is called.
fn step(WorkProgress { done, total }: WorkProgress) -> String {
    match total {
        Some(all) => format!("copying {}%", done * 100 / all.max(1)),
        None => format!("checking {}", plural(done, "message")),
    }
}

/// What was copied, in numbers.
fn counted(found: BackupAnswer) -> String {
    format!(
        "{}, {} and {}",
        plural(found.messages, "message"),
        plural(found.commits, "commit"),
        plural(found.session_files, "session file"),
    )
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    if args.restore {
        return restore(args, app);
    }
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let bar = progress::bar(app, "{spinner} {msg}");
    let found = deed.carry_out(&At::new(&repo, on, app), &mut |at| {
        bar.set_message(step(at));
        bar.tick();
    });
    bar.finish_and_clear();
    let (counted, place) = (counted(found?), app.short_path(&app.path(&deed.file)?));
    app.ui
        .status(format!("Wrote {counted} to {place}, checked"));
    Ok(())
}

fn restore(args: &Args, app: &mut App) -> Result<(), Failure> {
    if app.is_ephemeral() {
        let what = "a backup is put back into a directory, not into memory";
        return Err(Failure::usage(what));
    }
    let path = app.path(&args.deed.file)?;
    let named = app.named_repo()?;
    let directory = Repo::directory_at(named.as_deref(), &app.cwd()?)?;
    let visitor = app.visitor()?;
    let bar = progress::bar(app, "{spinner} {msg}");
    let restored = Repo::put_back(&directory, &path, args.deed.force, &visitor, &mut |at| {
        bar.set_message(step(at.into()));
        bar.tick();
    });
    bar.finish_and_clear();
    let restored = restored?;
    let place = app.short_path(&path);
    if restored.found.is_damaged() {
        let what = format!("{place} is damaged; the repository is as it was");
        let hint = "another backup; tract fsck says whether the repository needs one".to_owned();
        return Err(Failure::Said(Exit::Damaged, what, Some(hint)));
    }
    let counted = counted((&restored.found).into());
    app.ui
        .status(format!("Put back {counted} from {place}, checked"));
    if let Some(aside) = restored.aside {
        let aside = app.short_path(&aside);
        app.ui.hint(format!(
            "the repository before is {aside}; delete it when nothing is missing"
        ));
    }
    Ok(())
}
