//! What a repository's folder holds beside the database, and copies of the repository that backups have left elsewhere.
//!
//! A backup is made under another name beside its target. While it is made, a note in the folder says where, and its maker
//! holds a lock on the note. The system lets go of the lock however the maker ends, so a note without one tells of a copy
//! that nobody will finish. Deliberately absent: copies that a restore has kept ([`crate::upkeep::asides`]).

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hash::{fingerprint, hex};
use crate::repo::directory;
use crate::repo::repository::Repo;

/// What the name of a note begins with.
const NOTE: &str = "backup-";
/// What the name of a copy holds that is not whole yet. A note that names any other file is nobody's.
const DRAFT: &str = ".new-";
/// The longest path that a note holds, in bytes.
const PATH_BYTES: u64 = 64 << 10;
/// What the folder's own files are called, beside the database's.
const OWN: [&str; 2] = [".gitignore", "watch.lock"];

/// A file or a directory, with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Where it is.
    pub path: PathBuf,
    /// The size of all its files in bytes.
    pub size_bytes: u64,
}

impl FolderEntry {
    fn of(path: PathBuf) -> Self {
        Self {
            size_bytes: size_of(&path),
            path,
        }
    }
}

/// Held while a backup is made; dropped, it takes its note away.
#[derive(Debug)]
pub struct BackupNote {
    path: PathBuf,
    _lock: File,
}

impl Drop for BackupNote {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Repo {
    /// Notes that a backup is made in the file at `draft`. None where the repository has no folder, and where the path is
    /// no text: then nothing is noted.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where the folder cannot be written.
    pub fn note_backup(&self, draft: &Path) -> Result<Option<BackupNote>> {
        let (Some(folder), Ok(draft)) = (self.directory(), std::path::absolute(draft)) else {
            return Ok(None);
        };
        let Some(place) = draft.to_str() else {
            return Ok(None);
        };
        let name = &hex(&fingerprint(place.as_bytes()))[..16];
        let path = folder.join(format!("{NOTE}{name}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let noted = options.open(&path).and_then(|mut file| {
            // Some file systems have no locks: then the note is taken for that of a killed maker at the worst.
            let _ = file.lock();
            file.write_all(place.as_bytes())?;
            Ok(file)
        });
        match noted {
            Ok(lock) => Ok(Some(BackupNote { path, _lock: lock })),
            // A backup is worth making where the folder cannot be written.
            Err(error) if is_read_only(&error) => Ok(None),
            Err(error) => Err(Error::io(path)(error)),
        }
    }

    /// The copies that backups have left that were killed.
    pub fn killed_backups(&self) -> Vec<FolderEntry> {
        let copies = self.orphans().into_iter().map(|(_, copy)| copy);
        copies
            .filter(|copy| copy.is_file() && !copy.is_symlink())
            .map(FolderEntry::of)
            .collect()
    }

    /// Takes away the copies that backups have left that were killed; gives those that there were.
    pub fn sweep_backups(&self) -> Vec<FolderEntry> {
        let mut gone = Vec::new();
        for (note, copy) in self.orphans() {
            let entry = FolderEntry::of(copy.clone());
            let is_one = copy.is_file() && !copy.is_symlink();
            if is_one && fs::remove_file(&copy).is_err() {
                continue;
            }
            for end in ["-journal", "-wal", "-shm"] {
                let mut journal = copy.clone().into_os_string();
                journal.push(end);
                let _ = fs::remove_file(journal);
            }
            let _ = fs::remove_file(note);
            gone.extend(is_one.then_some(entry));
        }
        gone
    }

    /// The notes that nobody holds, each with the copy that it names.
    fn orphans(&self) -> Vec<(PathBuf, PathBuf)> {
        let notes = self.entries(|name| name.starts_with(NOTE)).into_iter();
        notes
            .filter_map(|note| Some((note.clone(), named_by(&note)?)))
            .collect()
    }

    /// What the folder holds beside the database, its journals and copies, by name: what runs and hooks have left.
    pub fn folder_entries(&self) -> Vec<FolderEntry> {
        let Some(database) = self.directory().map(directory::database) else {
            return Vec::new();
        };
        let database = database.file_name().unwrap_or_default().to_string_lossy();
        let is_other = |name: &str| {
            !name.starts_with(&*database) && !name.starts_with(NOTE) && !OWN.contains(&name)
        };
        let others = self.entries(is_other).into_iter();
        others.map(FolderEntry::of).collect()
    }

    /// The entries of the folder with such a name, in order.
    fn entries(&self, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let Some(folder) = self.directory() else {
            return Vec::new();
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let found = entries.filter(|entry| is_one(&entry.file_name().to_string_lossy()));
        let mut found: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
        found.sort_unstable();
        found
    }
}

/// The copy that a note names, if nobody makes it any more.
fn named_by(note: &Path) -> Option<PathBuf> {
    let mut file = File::open(note).ok()?;
    file.try_lock().ok()?;
    let mut place = String::new();
    (&mut file)
        .take(PATH_BYTES)
        .read_to_string(&mut place)
        .ok()?;
    let copy = PathBuf::from(place);
    let name = copy.file_name()?.to_string_lossy();
    // Whoever wrote into the folder is not to have any file deleted.
    let is_draft = name.rsplit_once(DRAFT).is_some_and(|(_, rest)| {
        let is_mark = |c: char| c.is_ascii_hexdigit() || c == '-';
        !rest.is_empty() && rest.chars().all(is_mark)
    });
    (is_draft && copy.is_absolute()).then_some(copy)
}

fn is_read_only(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// The size of a file, or of all files of a directory; links are not followed.
fn size_of(path: &Path) -> u64 {
    let Ok(facts) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !facts.is_dir() {
        return facts.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size_of(&entry.path())).sum()
}
