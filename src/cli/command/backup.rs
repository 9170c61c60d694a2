//! `tract backup`: the whole repository in one file.

use std::path::{Path, PathBuf};

use tract::render::plural;
use tract::repo::Repo;
use tract::upkeep::{BackupStep, Fsck};

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, private, progress};

/// Copy the whole repository into one file
///
/// The copy shows one moment, even while others write. It needs no other file, and it is checked before
/// it gets its name. With --restore, it becomes the repository again: nothing else may have the repository
/// open, and the file that is there is kept as .tract/tract.db.before-restore.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract backup ~/backups/talk.db
  tract backup --force ~/backups/talk.db    over the one before
  tract backup --restore ~/backups/talk.db  back to what it holds")]
pub struct Args {
    /// The file to write, or with --restore to read
    file: PathBuf,
    /// Make the backup in FILE the repository
    #[arg(long)]
    restore: bool,
    /// Overwrite an existing file; with --restore, a repository that has commits which FILE lacks
    #[arg(long)]
    force: bool,
}

/// Refuses the place of a database that is in use: its journal would be read into the copy.
fn is_no_database(path: &Path) -> Result<(), Failure> {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    if !Path::new(&journal).exists() {
        return Ok(());
    }
    let what = format!("{} is a database in use", path.display());
    Err(Failure::refused(what)
        .with_hint("another name; tract backup --restore FILE makes a backup the repository"))
}

/// What a backup's step is called.
fn step(step: BackupStep) -> String {
    match step {
        BackupStep::Copying(done, all) => format!("copying {}%", done * 100 / all.max(1)),
        BackupStep::Checking(messages) => format!("checking {}", plural(messages, "message")),
    }
}

/// What was copied, in numbers.
fn counted(found: &Fsck) -> String {
    let checked = found.checked;
    format!(
        "{}, {} and {}",
        plural(checked.contents, "message"),
        plural(checked.commits, "commit"),
        plural(checked.sources, "session file"),
    )
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    if args.restore {
        return restore(args, app);
    }
    let repo = app.repo()?;
    let path = app.path(&args.file)?;
    is_no_database(&path)?;
    let bar = progress::bar(app, "{spinner} {msg}");
    repo.sweep_backups();
    let note = |draft: &Path| Ok(repo.note_backup(draft)?);
    let found = private::place(&path, args.force, note, |draft| {
        let found = repo.backup(draft, &mut |at| {
            bar.set_message(step(at));
            bar.tick();
        });
        bar.finish_and_clear();
        let found = found?;
        if found.is_damaged() {
            let what = "the repository is damaged; no backup was made".to_owned();
            let hint = "tract fsck says what is damaged and what to do".to_owned();
            Err(Failure::Said(Exit::Damaged, what, Some(hint)))
        } else {
            Ok(found)
        }
    });
    let found = found?;
    let place = app.short_path(&path);
    let counted = counted(&found);
    app.ui
        .status(format!("Wrote {counted} to {place}, checked"));
    Ok(())
}

fn restore(args: &Args, app: &mut App) -> Result<(), Failure> {
    if app.is_ephemeral() {
        let what = "a backup is put back into a directory, not into memory";
        return Err(Failure::usage(what));
    }
    let path = app.path(&args.file)?;
    let named = app.named_repo()?;
    let directory = Repo::directory_at(named.as_deref(), &app.cwd()?)?;
    let visitor = app.visitor()?;
    let bar = progress::bar(app, "{spinner} {msg}");
    let restored = Repo::put_back(&directory, &path, args.force, &visitor, &mut |at| {
        bar.set_message(step(at));
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
    let counted = counted(&restored.found);
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
