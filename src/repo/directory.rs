//! The directory `.tract`: what stands there, and how one is made.
//!
//! Whatever bears the name and is no repository ends the search for one: what was meant for it must
//! not land in another one further up. Deliberately absent: what is in the database.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::sqlite::Sqlite;

/// The name of a repository's directory.
pub const DIRECTORY: &str = ".tract";
const DATABASE: &str = "tract.db";
const IGNORE: &str = ".gitignore";

/// What stands where a `.tract` may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing.
    Nothing,
    /// A directory without a database: what an init that was stopped leaves behind.
    Unfinished,
    /// A directory with a database.
    Whole,
}

/// Where the database of a `.tract` is.
pub(crate) fn database(directory: &Path) -> PathBuf {
    directory.join(DATABASE)
}

/// Looks at a `.tract` without opening its database.
///
/// # Errors
///
/// [`Error::NoDirectory`] and [`Error::NoEntry`] for what bears the name and can be no repository.
pub(crate) fn look(directory: &Path) -> Result<Standing> {
    if !is_there(directory, directory.parent().unwrap_or(directory))? {
        return Ok(Standing::Nothing);
    }
    if !target(directory)?.is_dir() {
        return Err(Error::NoDirectory {
            path: directory.to_owned(),
            reason: "it is a file, not a directory",
        });
    }
    let database = database(directory);
    if !is_there(&database, directory)? {
        return Ok(Standing::Unfinished);
    }
    // A pipe would be waited for without end.
    if !target(&database)?.is_file() {
        return Err(Error::NoDirectory {
            path: database,
            reason: "it is no regular file",
        });
    }
    Ok(Standing::Whole)
}

/// Whether there is anything at `path`, a link that leads nowhere included.
fn is_there(path: &Path, inside: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(false),
            ErrorKind::PermissionDenied => Err(Error::NoEntry {
                path: inside.to_owned(),
            }),
            _ => Err(Error::io(path)(error)),
        },
    }
}

/// What a path that is there leads to.
fn target(path: &Path) -> Result<fs::Metadata> {
    fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::NoDirectory {
            path: path.to_owned(),
            reason: "it is a link that leads nowhere",
        },
        ErrorKind::PermissionDenied => Error::NoEntry {
            path: path.to_owned(),
        },
        _ => Error::io(path)(error),
    })
}

/// Refuses a `.tract` of which only a journal is left: it belongs to a database that is gone, and a
/// new one would take it for its own.
pub(crate) fn refuse_leftovers(directory: &Path) -> Result<()> {
    let database = database(directory);
    for suffix in ["-wal", "-journal"] {
        let journal = directory.join(format!("{DATABASE}{suffix}"));
        if fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0) && !database.exists() {
            let (gone, left) = (database.display(), journal.display());
            return Err(Error::damaged(format!(
                "{gone} is gone, and {left} is still there"
            )));
        }
    }
    Ok(())
}

/// Makes a `.tract` with an empty database, or completes one that has none. Where that fails,
/// nothing stays of what it made.
pub(crate) fn make(directory: &Path) -> Result<Sqlite> {
    let mut made = Made::default();
    refuse_leftovers(directory)?;
    let store = made.fill(directory);
    if store.is_err() {
        made.take_away(directory);
    }
    store
}

/// What making a repository has made so far.
#[derive(Default)]
struct Made {
    /// The outermost first.
    directories: Vec<PathBuf>,
    ignore: Option<PathBuf>,
}

impl Made {
    fn fill(&mut self, directory: &Path) -> Result<Sqlite> {
        self.directories(directory)?;
        restrict(directory)?;
        self.ignore(&directory.join(IGNORE))?;
        Sqlite::create(&database(directory))
    }

    fn directories(&mut self, directory: &Path) -> Result<()> {
        let missing = directory
            .ancestors()
            .take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let missing: Vec<&Path> = missing.collect();
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => self.directories.push(path.to_owned()),
                // Someone else makes it, too.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io(path)(error)),
            }
        }
        Ok(())
    }

    /// Keeps git away; one that somebody has written stays as it is.
    fn ignore(&mut self, path: &Path) -> Result<()> {
        let open = OpenOptions::new().write(true).create_new(true).open(path);
        let mut file = match open {
            Ok(file) => {
                self.ignore = Some(path.to_owned());
                file
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if fs::metadata(path).is_ok_and(|file| file.len() > 0) {
                    return Ok(());
                }
                let open = OpenOptions::new().write(true).open(path);
                open.map_err(Error::io(path))?
            }
            Err(error) => return Err(Error::io(path)(error)),
        };
        file.write_all(b"*\n").map_err(Error::io(path))
    }

    /// Takes away what was made, unless someone else has made a repository of it meanwhile.
    fn take_away(&self, directory: &Path) {
        if database(directory).exists() {
            return;
        }
        if let Some(ignore) = &self.ignore {
            let _ = fs::remove_file(ignore);
        }
        for path in self.directories.iter().rev() {
            // One that somebody has put something in stays.
            let _ = fs::remove_dir(path);
        }
    }
}

#[cfg(unix)]
fn restrict(directory: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let owner_only = fs::Permissions::from_mode(0o700);
    fs::set_permissions(directory, owner_only).map_err(Error::io(directory))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> Result<()> {
    Ok(())
}
