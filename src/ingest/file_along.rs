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
        1 => Some("1 file of a checkpoint is gone, and was not taken along".to_owned()),
        count => Some(format!(
            "{count} files of checkpoints are gone, and were not taken along"
        )),
    }
}

/// Links the files, below a tool's directory, to where a new session looks for them. Returns how many are nowhere.
pub(super) fn link(directory: &Path, files: &[FileAlong]) -> Result<usize> {
    let mut missing: HashSet<&str> = HashSet::new();
    for FileAlong { from, to } in files {
        let (from, at) = (directory.join(from), directory.join(to));
        if at.is_file() {
            continue;
        }
        if !from.is_file() {
            missing.insert(to);
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
    missing.retain(|to| !directory.join(to).is_file());
    Ok(missing.len())
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
