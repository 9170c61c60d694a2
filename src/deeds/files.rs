//! Files that are written for their owner alone.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::ApiError;
use crate::error::{Error, Result};

/// Writes a file that is not there yet.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(Error::io(path))?;
    file.write_all(bytes).map_err(Error::io(path))?;
    file.sync_all().map_err(Error::io(path))
}

/// Another name for a file that is not whole yet.
fn draft_of(path: &Path) -> PathBuf {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".new-{}", std::process::id()));
    draft.into()
}

/// Refuses a file that is there, unless it may be written over.
fn must_be_free(path: &Path, force: bool) -> Result<(), ApiError> {
    if path.is_dir() {
        let what = format!("{} is a directory", path.display());
        return Err(ApiError::params(what).with_hint("name a file in it"));
    }
    if force || fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let what = format!("{} exists already", path.display());
    Err(ApiError::refused(what).with_hint("'force' writes over it"))
}

/// Writes a file, over one that is there only with `force`: what was there stays if it fails.
pub(super) fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<(), ApiError> {
    must_be_free(path, force)?;
    if !force {
        return Ok(write_new(path, bytes)?);
    }
    let draft = draft_of(path);
    write_new(&draft, bytes)?;
    Ok(fs::rename(&draft, path).map_err(Error::io(path))?)
}

/// Lets `make` fill a file under another name, which gets its own when it is whole. `note` hears that name before.
pub(super) fn place<N>(
    path: &Path,
    force: bool,
    note: &mut dyn FnMut(&Path) -> Result<N, ApiError>,
    make: &mut dyn FnMut(&Path) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    must_be_free(path, force)?;
    let draft = draft_of(path);
    let _note = note(&draft)?;
    write_new(&draft, b"")?;
    let named = || match force {
        true => fs::rename(&draft, path),
        // Nobody's file is written over that has come meanwhile; some file systems have no links.
        false => match fs::hard_link(&draft, path) {
            Ok(()) => fs::remove_file(&draft),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            Err(_) => fs::rename(&draft, path),
        },
    };
    make(&draft)
        .and_then(|()| Ok(named().map_err(Error::io(path))?))
        .inspect_err(|_| {
            // What is not whole is nobody's.
            let _ = fs::remove_file(&draft);
        })
}
