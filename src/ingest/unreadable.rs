//! The files of tools that could not be read when they were last looked at, since when, and why: whoever looks
//! says it once, and this keeps it for whoever asks later.
//!
//! Deliberately absent: which files ought to be sessions; that is for who looks at them to say.

use std::collections::BTreeMap;
use std::path::Path;

use super::database;
use super::plain::absolute;
use super::record_files;
use crate::error::{Error, Result};
use crate::model::Millis;
use crate::repo::Repo;
use crate::store::{Tx, UnreadFile};

/// How much of a reason is kept.
const WHY_CHARS: usize = 1_000;

/// What of this stands in a repository, as it was seen last: nothing is written that stands there already.
#[derive(Debug)]
pub struct Unread(BTreeMap<String, String>);

impl Unread {
    /// As it is now. Where that is damaged, nothing is known: what comes in does not depend on it.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn of(repo: &Repo) -> Result<Self> {
        let files = match repo.store.read()?.unread_files() {
            Err(Error::Damaged { .. }) => Vec::new(),
            files => files?,
        };
        let files = files.into_iter();
        Ok(Self(files.map(|file| (file.path, file.why)).collect()))
    }

    /// A file could not be read. Where that cannot be written either, it is for the next time.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`].
    pub fn failed(&mut self, repo: &Repo, file: &Path, why: &str, now: Millis) -> Result<()> {
        let Some(path) = absolute(file) else {
            return Ok(());
        };
        let why: String = why.chars().take(WHY_CHARS).collect();
        if self.0.get(&path) == Some(&why) {
            return Ok(());
        }
        let row = UnreadFile {
            path: path.clone(),
            why: why.clone(),
            time: now,
        };
        if is_written(repo, &|tx| tx.put_unread(&row))? {
            self.0.insert(path, why);
        }
        Ok(())
    }

    /// A file was read, and with a session in a database the database.
    ///
    /// # Errors
    ///
    /// As [`Unread::failed`].
    pub fn was_read(&mut self, repo: &Repo, file: &Path) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let database = database::place(file).map(|(database, _)| database);
        for path in database.into_iter().chain([file]).filter_map(absolute) {
            self.forget(repo, &path)?;
        }
        Ok(())
    }

    /// Forgets those that are not there any more.
    ///
    /// # Errors
    ///
    /// As [`Unread::failed`].
    pub fn forget_gone(&mut self, repo: &Repo) -> Result<()> {
        let gone: Vec<String> = self
            .0
            .keys()
            .filter(|path| is_gone(path))
            .cloned()
            .collect();
        gone.iter().try_for_each(|path| self.forget(repo, path))
    }

    fn forget(&mut self, repo: &Repo, path: &str) -> Result<()> {
        if self.0.contains_key(path) && is_written(repo, &|tx| tx.forget_unread(path))? {
            self.0.remove(path);
        }
        Ok(())
    }
}

/// The files that could not be read and are still there, by path.
///
/// # Errors
///
/// The store's.
pub fn unread(repo: &Repo) -> Result<Vec<UnreadFile>> {
    let mut files = repo.store.read()?.unread_files()?;
    files.retain(|file| !is_gone(&file.path));
    Ok(files)
}

/// Whether a file is known to be nowhere, or a folder that could not be read can be; one that cannot be looked at
/// is there. A folder that is one source is as a file.
fn is_gone(path: &str) -> bool {
    let path = Path::new(path);
    let is_open = path.is_dir() && record_files::stamp(path).is_none();
    is_open || matches!(path.try_exists(), Ok(false))
}

/// Whether this could be written.
fn is_written(repo: &Repo, write: &dyn Fn(&dyn Tx) -> Result<()>) -> Result<bool> {
    let done = repo.store.write().and_then(|tx| {
        write(&*tx)?;
        tx.commit()
    });
    match done {
        Ok(()) => Ok(true),
        Err(error @ Error::Damaged { .. }) => Err(error),
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_since_is_forgotten_and_so_is_what_is_gone() {
        let repo = Repo::ephemeral().expect("a repository");
        let folder = tempfile::tempdir().expect("a directory");
        let [one, two] = ["one.jsonl", "two.jsonl"].map(|name| folder.path().join(name));
        for file in [&one, &two] {
            std::fs::write(file, "").expect("written");
        }
        let mut seen = Unread::of(&repo).expect("read");
        let mut failed = |file: &Path, why: &str, time| {
            let done = seen.failed(&repo, file, why, Millis(time));
            done.expect("kept");
        };
        failed(&one, "denied", 1);
        // It is known since then.
        failed(&one, "denied", 2);
        failed(&two, &"é".repeat(3_000), 3);
        let told = || {
            let files = unread(&repo).expect("read").into_iter();
            files
                .map(|file| (file.why.chars().count(), file.time.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(), [(6, 1), (WHY_CHARS, 3)]);
        // Another one who looks.
        let mut other = Unread::of(&repo).expect("read");
        other.was_read(&repo, &one).expect("forgotten");
        assert_eq!(told(), [(WHY_CHARS, 3)]);
        std::fs::remove_file(&two).expect("removed");
        assert_eq!(told(), []);
        other.forget_gone(&repo).expect("forgotten");
        std::fs::write(&two, "").expect("written");
        assert_eq!(told(), []);
    }
}
