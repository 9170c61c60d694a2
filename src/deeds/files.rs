//! Files that are written for their owner alone.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

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

/// Writes a file, over one that is there only with `force`: what was there stays if it fails.
pub(super) fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<(), ApiError> {
    if force {
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".new-{}", std::process::id()));
        write_new(draft.as_ref(), bytes)?;
        return Ok(fs::rename(&draft, path).map_err(Error::io(path))?);
    }
    if fs::symlink_metadata(path).is_ok() {
        let what = format!("{} exists already", path.display());
        return Err(ApiError::refused(what).with_hint("'force' writes over it"));
    }
    Ok(write_new(path, bytes)?)
}
