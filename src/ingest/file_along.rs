//! Files that a session names and that lie beside it in its tool's directory: those of its checkpoints.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// A file in the tool's directory that a session names; paths below that directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAlong {
    /// Where it lies for the session that it is from.
    pub from: String,
    /// Where it is looked for by the new session.
    pub to: String,
}

/// The remark about as many files that a session names and that are nowhere.
pub fn gone_files(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 file of a checkpoint is gone, and is not taken along".to_owned()),
        count => Some(format!(
            "{count} files of checkpoints are gone, and are not taken along"
        )),
    }
}

/// How many of the files, below a tool's directory if that is known, are nowhere.
pub(super) fn gone(directory: Option<&Path>, files: &[FileAlong]) -> usize {
    let is_there = |path: &str| directory.is_some_and(|it| it.join(path).is_file());
    let mut gone: HashSet<&str> = files.iter().map(|file| file.to.as_str()).collect();
    for FileAlong { from, to } in files {
        if is_there(from) || is_there(to) {
            gone.remove(to.as_str());
        }
    }
    gone.len()
}

/// Links the files, below a tool's directory, to where a new session looks for them, as far as they are there.
pub(super) fn link(directory: &Path, files: &[FileAlong]) -> Result<()> {
    for FileAlong { from, to } in files {
        let (from, at) = (directory.join(from), directory.join(to));
        if at.is_file() || !from.is_file() {
            continue;
        }
        if let Some(parent) = at.parent() {
            fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        // The tool goes by when a file was last changed, and links its files from session to session as well.
        if fs::hard_link(&from, &at).is_err() {
            copy_with_time(&from, &at).map_err(Error::io(&at))?;
        }
    }
    Ok(())
}

/// Copies a file with the time at which it was last changed.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options()
        .write(true)
        .open(to)?
        .set_modified(modified)
}
