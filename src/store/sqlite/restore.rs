//! A database put in place of the one that is there, while nobody has that open.
//!
//! At each moment the old file or the new one has the name. SQLite folds the old one's journal in and takes it
//! away, which it only does for who is alone with the file; what keeps others out is held until the new file is
//! there. Who waited meanwhile finds that his file has moved.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Sqlite, backup, draft, engine, journal, sweep};
use crate::error::{Error, Result};
use crate::store::Store;

/// How long it is waited for those who are there already: they may be about to end.
const WAIT: Duration = Duration::from_secs(2);
/// What the name of the file that was there is followed by.
const ASIDE: &str = ".before-restore";

/// A database that is whole, under a name beside the one that it is to get; dropped, it goes.
pub struct Successor {
    draft: PathBuf,
    path: PathBuf,
}

impl Successor {
    /// Copies a database to beside `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where it cannot be written, and those of [`Store::backup`].
    pub fn of(source: &Sqlite, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<Self> {
        let successor = Self {
            draft: draft(path)?,
            path: path.to_owned(),
        };
        source.backup(&successor.draft, progress)?;
        Ok(successor)
    }

    /// Where it lies until then.
    pub fn draft(&self) -> &Path {
        &self.draft
    }

    /// Gives it its name. The file that was there is kept beside it, under the name that is returned; unless
    /// forced to, none is replaced that has commits which this one lacks.
    ///
    /// # Errors
    ///
    /// [`Error::WouldLose`] where it is not forced; [`Error::Busy`] where somebody has the database open;
    /// [`Error::Io`]. The old file has its name then.
    pub fn settle(self, force: bool) -> Result<Option<PathBuf>> {
        self.give_to_owner();
        let synced = File::open(&self.draft).and_then(|file| file.sync_all());
        synced.map_err(Error::io(&self.draft))?;
        let aside = match fs::symlink_metadata(&self.path) {
            Ok(_) => Some(free_name(&self.path)),
            Err(_) => None,
        };
        let alone = match &aside {
            None => None,
            Some(_) => match self.alone(force) {
                Ok(store) => Some(store),
                Err(error) if is_unreadable(&error) && force => None,
                Err(error) if is_unreadable(&error) => {
                    return Err(Error::WouldLose { commits: None });
                }
                Err(error) => return Err(error),
            },
        };
        if alone.is_none() {
            self.move_journals(aside.as_deref())?;
        }
        if let Some(aside) = &aside {
            keep(&self.path, aside)?;
        }
        fs::rename(&self.draft, &self.path).map_err(Error::io(&self.path))?;
        if let Some(folder) = self
            .path
            .parent()
            .and_then(|folder| File::open(folder).ok())
        {
            // Not every file system can.
            let _ = folder.sync_all();
        }
        drop(alone);
        sweep(&self.path, &self.draft);
        Ok(aside)
    }

    /// Gives it to whoever the old one or its folder belongs to: root may act on somebody's behalf.
    fn give_to_owner(&self) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, chown};
            let folder = self.path.parent().unwrap_or(&self.path);
            if let Ok(facts) = fs::metadata(&self.path).or_else(|_| fs::metadata(folder)) {
                // Nobody but root may, and for others there is nothing to do.
                let _ = chown(&self.draft, Some(facts.uid()), Some(facts.gid()));
            }
        }
    }

    /// The old database, held so that nobody else reads or writes it, and without a journal.
    fn alone(&self, force: bool) -> Result<Sqlite> {
        let old = Sqlite::open(&self.path)?.with_busy_timeout(WAIT);
        if old.connection.is_readonly("main").map_err(engine)? {
            return Err(Error::ReadOnly);
        }
        old.set("journal_mode", &"DELETE")?;
        let attach = "ATTACH ?1 AS backup";
        let draft = self
            .draft
            .to_str()
            .ok_or_else(|| Error::input("the repository's place", "its name is no text"))?;
        old.connection.execute(attach, [draft]).map_err(engine)?;
        let held = old.connection.execute_batch("BEGIN EXCLUSIVE");
        held.map_err(engine)?;
        let lacking = "SELECT count(*) FROM main.commits
             WHERE hash NOT IN (SELECT hash FROM backup.commits)";
        let lacking: i64 = old
            .connection
            .query_row(lacking, [], |row| row.get(0))
            .map_err(engine)?;
        if lacking > 0 && !force {
            let back = "ROLLBACK; DETACH backup";
            old.connection.execute_batch(back).map_err(engine)?;
            old.set("journal_mode", &"WAL")?;
            return Err(Error::WouldLose {
                commits: Some(lacking.unsigned_abs()),
            });
        }
        Ok(old)
    }

    /// Puts the journals of a file that SQLite cannot read to where that file will be: beside the new one they
    /// would be taken for its own.
    fn move_journals(&self, aside: Option<&Path>) -> Result<()> {
        let aside = aside.map_or_else(|| free_name(&self.path), Path::to_owned);
        for end in ["-wal", "-journal", "-shm"] {
            let old = journal(&self.path, end);
            match fs::rename(&old, journal(&aside, end)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io(old)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        backup::take_away(&self.draft);
    }
}

/// The files that restores have kept of what was at `path` before, by name.
pub fn kept_aside(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let begin = format!("{}{ASIDE}", name.to_string_lossy());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |name: &str| {
        let number = name.strip_prefix(&begin);
        number.is_some_and(|number| {
            let digits = number.strip_prefix('-').unwrap_or("1");
            (number.is_empty() || number.starts_with('-')) && digits.parse::<u32>().is_ok()
        })
    };
    let found = entries.filter(|entry| is_one(&entry.file_name().to_string_lossy()));
    let mut found: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    found.sort_unstable();
    found
}

fn is_unreadable(error: &Error) -> bool {
    matches!(
        error,
        Error::Damaged { .. }
            | Error::ForeignDatabase { .. }
            | Error::ForeignJournal { .. }
            | Error::OlderDatabase { .. }
            | Error::NewerDatabase { .. }
    )
}

/// A name beside the database under which nothing is yet.
fn free_name(path: &Path) -> PathBuf {
    let named = |number: u32| {
        let number = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        journal(path, &format!("{ASIDE}{number}"))
    };
    let is_free = |name: &PathBuf| {
        ["", "-wal"]
            .iter()
            .all(|end| fs::symlink_metadata(journal(name, end)).is_err())
    };
    (1..).map(named).find(is_free).unwrap_or_else(|| named(0))
}

/// Gives a file a second name.
fn keep(path: &Path, aside: &Path) -> Result<()> {
    fs::hard_link(path, aside)
        // Some file systems have no links.
        .or_else(|_| fs::copy(path, aside).map(drop))
        .map_err(Error::io(aside))
}
