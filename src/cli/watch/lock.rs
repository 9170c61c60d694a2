//! One `tract watch` for a repository: a file in its directory that one of them holds. Of a repository on a
//! server each machine has one, for each has sessions of its own, and the file is where the machine keeps such.
//!
//! The system lets go of it however the program ends. Deliberately absent: what imports by hand do; they need
//! no lock, for the store compares.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tract::Error;
use tract::repo::Repo;

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, Result};

const NAME: &str = "watch.lock";
/// How often it is tried, for who looks whether anybody watches holds it a moment.
const TRIES: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(40);

/// Where the lock of a repository is; none for one that is gone with this program, and where this machine
/// keeps nothing.
pub fn path(repo: &Repo, app: &App) -> Option<PathBuf> {
    app.beside(repo, NAME)
}

/// Makes the folder of a file that is kept beside a repository, where it is missing.
pub fn make_folder_of(path: &Path) -> Result<()> {
    let Some(above) = path.parent() else {
        return Ok(());
    };
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    Ok(folders.create(above).map_err(Error::io(above))?)
}

/// Held as long as this one watches.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it.
    ///
    /// # Errors
    ///
    /// Where another one watches.
    pub fn take(path: &Path) -> Result<Self> {
        make_folder_of(path)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(Error::io(path))?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => {
                    // For people who look; nobody reads it to decide anything.
                    let number = std::process::id().to_string();
                    let written = file
                        .set_len(0)
                        .and_then(|()| file.write_all(number.as_bytes()));
                    written.map_err(Error::io(path))?;
                    return Ok(Self { _file: file });
                }
                Err(TryLockError::WouldBlock) => sleep(BETWEEN),
                Err(TryLockError::Error(error)) => return Err(Error::io(path)(error).into()),
            }
        }
        let mut number = String::new();
        let _ = file.read_to_string(&mut number);
        let number: String = number.chars().filter(char::is_ascii_digit).collect();
        let who = if number.is_empty() {
            String::new()
        } else {
            format!(" (process {number})")
        };
        let what = format!("another tract watch{who} is running here already");
        let failure = Failure::Said(Exit::Lost, what, None);
        Err(failure.with_hint("leave it running, or stop it and try again"))
    }
}

/// Whether somebody watches; none where nobody ever has.
pub fn is_held(path: &Path) -> Option<bool> {
    let file = File::open(path).ok()?;
    Some(matches!(
        file.try_lock_shared(),
        Err(TryLockError::WouldBlock)
    ))
}
