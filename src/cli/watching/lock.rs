//! One `tract watch` for a repository: a file in its directory that one of them holds.
//!
//! The system lets go of it however the program ends. Deliberately absent: what imports by hand do; they need
//! no lock, for the store compares.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use tract::Error;

use crate::cli::Failure;
use crate::cli::failure::Exit;

const NAME: &str = "watch.lock";
/// How often it is tried, for who looks whether anybody watches holds it a moment.
const TRIES: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(40);

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
    pub fn take(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(Error::io(&path))?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => {
                    // For people who look; nobody reads it to decide anything.
                    let number = std::process::id().to_string();
                    let written = file
                        .set_len(0)
                        .and_then(|()| file.write_all(number.as_bytes()));
                    written.map_err(Error::io(&path))?;
                    return Ok(Self { _file: file });
                }
                Err(TryLockError::WouldBlock) => sleep(BETWEEN),
                Err(TryLockError::Error(error)) => return Err(Error::io(&path)(error).into()),
            }
        }
        let mut number = String::new();
        let _ = file.read_to_string(&mut number);
        let number: String = number.chars().filter(char::is_ascii_digit).collect();
        let who = match number.is_empty() {
            true => String::new(),
            false => format!(" (process {number})"),
        };
        let what = format!("another tract watch{who} takes in what grows already");
        let failure = Failure::Said(Exit::Lost, what, None);
        Err(failure.with_hint("let it; or end it first, and try again"))
    }
}

/// Whether somebody watches; none where nobody ever has.
pub fn is_held(directory: &Path) -> Option<bool> {
    let file = File::open(directory.join(NAME)).ok()?;
    Some(matches!(
        file.try_lock_shared(),
        Err(TryLockError::WouldBlock)
    ))
}
