//! `tract backup`: the whole repository in one file.

use std::path::{Path, PathBuf};

use tract::history::BackupStep;
use tract::render::plural;

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, private, progress};

/// Copy the whole repository into one file
///
/// The copy shows one moment, even while others write. It needs no other file, and it is checked before
/// it gets its name. To restore it: put it in place of .tract/tract.db, and remove tract.db-wal and
/// tract.db-shm.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract backup ~/backups/talk.db
  tract backup --force ~/backups/talk.db    over the one before")]
pub struct Args {
    /// The file to write
    file: PathBuf,
    /// Overwrite an existing file
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
    Err(Failure::refused(what).with_hint(
        "another name; to restore, let nothing run and take its -wal and -shm away first",
    ))
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let repo = app.repo()?;
    let path = app.path(&args.file)?;
    is_no_database(&path)?;
    let bar = progress::bar(app, "{spinner} {msg}");
    let found = private::place(&path, args.force, |draft| {
        let found = repo.backup(draft, &mut |step| {
            bar.set_message(match step {
                BackupStep::Copying(done, all) => {
                    format!("copying {}%", done * 100 / all.max(1))
                }
                BackupStep::Checking(messages) => {
                    format!("checking {}", plural(messages, "message"))
                }
            });
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
    })?;
    let checked = found.checked;
    let place = app.short_path(&path);
    app.ui.status(format!(
        "Wrote {}, {} and {} to {place}, checked",
        plural(checked.contents, "message"),
        plural(checked.commits, "commit"),
        plural(checked.sources, "session file"),
    ));
    Ok(())
}
