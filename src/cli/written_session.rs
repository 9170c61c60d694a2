//! A commit's context as a new session where its tool looks for sessions.
//!
//! Deliberately absent: how the tool goes on with it.

use std::fs::create_dir_all;
use std::io::Write;
use std::path::{Path, PathBuf};

use tract::Error;
use tract::formats::{Format, Resume};
use tract::hash::CommitHash;
use tract::ingest::{NewSession, Resumed, resume};
use tract::model::secret::Leaving;
use tract::repo::Repo;

use super::{App, Failure, Result, private};

/// A session that was written.
pub struct WrittenSession {
    /// Its file.
    pub place: PathBuf,
    /// Its id.
    pub id: String,
}

/// Writes one that will run in the directory `cwd`, and remembers whose context it has. `what` is the command, for the
/// operations.
pub fn write(
    repo: &Repo,
    commit: &CommitHash,
    (format, how): (&'static Format, &Resume),
    cwd: &Path,
    (what, leaving): (&str, Leaving<'_>),
    app: &App,
) -> Result<WrittenSession> {
    let now = app.now();
    let mut seed = [0u8; 32];
    getrandom::fill(&mut seed).map_err(|error| Failure::refused(error.to_string()))?;
    let dirs = app.tool_dirs()?;
    let session = NewSession {
        format,
        provider: dirs.provider(format),
        id: (how.new_id)(now, &seed),
        cwd: cwd.display().to_string(),
        now,
        seed,
        what: what.to_owned(),
        leaving,
    };
    let local_time = app.calendar().for_file_name(now);
    let place = dirs.new_session(format, cwd, &session.id, &local_time);
    let place = place.ok_or_else(|| {
        Failure::refused(format!(
            "HOME is not set, so {format}'s directory is not known"
        ))
    })?;
    let Resumed { bytes, files, .. } = resume(repo, commit, &session)?;
    write_new(&place, &bytes)?;
    dirs.take_along(format, &files)?;
    Ok(WrittenSession {
        place,
        id: session.id,
    })
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(directory) = path.parent() {
        create_dir_all(directory).map_err(Error::io(directory))?;
    }
    let mut file = private::create(path).map_err(Error::io(path))?;
    file.write_all(bytes).map_err(Error::io(path))?;
    Ok(file.sync_all().map_err(Error::io(path))?)
}
