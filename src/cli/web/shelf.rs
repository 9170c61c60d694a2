//! Sessions that tools have left and no repository holds: which there are, and those of them that were read into memory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tract::ingest::tool_dirs::SessionFile;
use tract::ingest::{self, ImportRequest, Reading};
use tract::model::RefName;
use tract::model::tokens::Counter;
use tract::repo::Repo;

use crate::cli::{App, Failure, Result};

/// How many sessions are held at once.
const HELD: usize = 8;
/// For how long the list of files holds.
const LISTED: Duration = Duration::from_secs(2);

/// What tools have left.
#[derive(Default)]
pub struct Shelf {
    held: Mutex<Vec<Arc<Held>>>,
    files: Mutex<Option<(Instant, Arc<Vec<SessionFile>>)>>,
}

/// A session that is read into memory.
struct Held {
    file: PathBuf,
    read: Mutex<Option<Read>>,
}

/// What was read of a file, and what the file was like then.
struct Read {
    repo: Repo,
    name: RefName,
    stamp: Option<String>,
}

impl Shelf {
    /// The sessions that tools have left on this machine, newest first.
    pub fn files(&self, app: &App) -> Result<Arc<Vec<SessionFile>>> {
        let files = locked(&self.files).clone();
        match files {
            Some((since, files)) if since.elapsed() < LISTED => Ok(files),
            _ => self.files_now(app),
        }
    }

    /// The same, looked for now.
    pub fn files_now(&self, app: &App) -> Result<Arc<Vec<SessionFile>>> {
        let found = Arc::new(app.tool_dirs()?.sessions());
        *locked(&self.files) = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }

    /// Does something with a session's file as a repository, which is in memory. While it does, nobody else has that one.
    pub fn with<T>(
        &self,
        file: &Path,
        app: &App,
        act: impl FnOnce(&Repo, &RefName) -> Result<T>,
    ) -> Result<T> {
        let held = self.held(file);
        let mut read = locked(&held.read);
        let stamp = stamp(file);
        let is_fresh = read.as_ref().is_some_and(|read| read.stamp == stamp);
        if !is_fresh {
            // What has grown is gone on with; what fails in between is read anew.
            let repo = match read.take() {
                Some(read) => read.repo,
                None => Repo::ephemeral()?,
            };
            let name = take_in(&repo, file, app)?;
            *read = Some(Read { repo, name, stamp });
        }
        let missing = || Failure::refused("the session cannot be read");
        let read = read.as_ref().ok_or_else(missing)?;
        act(&read.repo, &read.name)
    }

    /// The place of a session; the one that was asked for longest ago gives way.
    fn held(&self, file: &Path) -> Arc<Held> {
        let mut all = locked(&self.held);
        let found = all.iter().position(|held| held.file == file);
        let held = match found {
            Some(at) => all.remove(at),
            None => Arc::new(Held {
                file: file.to_owned(),
                read: Mutex::default(),
            }),
        };
        all.push(Arc::clone(&held));
        let over = all.len().saturating_sub(HELD);
        all.drain(..over);
        held
    }
}

/// What is held is sound even if somebody who held it came to grief: it is only put there whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What changes when a file does.
fn stamp(file: &Path) -> Option<String> {
    ingest::stamp(file).ok().map(|stamp| format!("{stamp:?}"))
}

/// Takes a session in with all that it needs; gives its name.
pub fn take_in(repo: &Repo, file: &Path, app: &App) -> Result<RefName> {
    let request = ImportRequest {
        counter: Some(Counter::of(app.encoding(repo)?)),
        reading: Reading::New,
        moves_head: true,
        ..ImportRequest::at(app.now(), "web")
    };
    let report = ingest::import_family(repo, file, &request, &mut |_| {})?.own;
    let name = report.sessions.first().map(|session| session.name.clone());
    name.ok_or_else(|| Failure::refused("the file holds no messages"))
}
