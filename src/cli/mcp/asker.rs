//! Which conversation asks, and what of it is here by now.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tract::deeds::{ApiError, At, import_watched};
use tract::ingest::{self, BranchOutcome, ImportRequest, Reading, Redaction, called};
use tract::model::RefName;
use tract::model::tokens::Counter;

use crate::cli::door::{Surroundings, Watch, Worker, lock};

/// What remembers for one client, by one thread.
pub struct Memory {
    pub worker: Worker,
    surroundings: Surroundings,
    intake: Arc<Intake>,
    /// The session that was asked for last, and its file.
    file: Option<(String, PathBuf)>,
}

/// Who asks for something, and waits for it.
pub struct Caller<'a> {
    /// The client's session, as far as it says which.
    pub session: Option<&'a str>,
    /// The client's name: what is done for it bears that.
    pub client: Option<&'a str>,
    /// Who is told how far it has come.
    pub watch: Watch<'a>,
}

/// Lets one thread after the other take in what is new: the second finds nothing left to do.
#[derive(Default)]
pub struct Intake {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// How often whoever waits for its turn asks whether anybody waits for it.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The conversation that asks.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    /// Its newest message, as a revision: where the client does not say which conversation it is in, that of the
    /// directory's HEAD; none: nothing was said here.
    pub tip: Option<String>,
    /// Whether the client says which conversation it is in.
    pub is_known: bool,
    /// Whether all that the repository holds is of this project: it is not a home's.
    pub is_all_here: bool,
    /// The branch that follows it.
    pub branch: Option<RefName>,
    /// Its session.
    pub session: Option<RefName>,
    /// The directory that it is about.
    pub directory: Option<String>,
}

impl Memory {
    pub fn new(surroundings: Surroundings, intake: Arc<Intake>) -> Self {
        Self {
            worker: Worker::new(&surroundings),
            surroundings,
            intake,
            file: None,
        }
    }

    /// Takes in what the conversation has come to, and does something with it.
    pub fn with<T>(
        &mut self,
        caller: Caller<'_>,
        act: impl FnOnce(&mut At<'_>, &Asking) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        if let Some(client) = caller.client {
            self.worker.serves(client);
        }
        let file = self.file(caller.session)?;
        let directory = self
            .surroundings
            .project()
            .or_else(|| std::env::current_dir().ok());
        let directory = directory.map(|directory| directory.display().to_string());
        let (intake, surroundings) = (&*self.intake, &self.surroundings);
        self.worker.with_or_memory(caller.watch, |at| {
            let mut asking = Asking {
                directory,
                ..Asking::default()
            };
            if let Some(file) = file {
                let _turn = intake.turn(&*at.is_cancelled)?;
                asking.take_in(at, &file, "mcp", true)?;
            }
            asking.is_known = asking.tip.is_some();
            asking.is_all_here = at.repo.seat().is_none() && !surroundings.is_home(at.repo);
            // The HEAD of the home itself is that of no directory below it.
            let is_own = asking.is_all_here || at.repo.seat().is_some();
            if !asking.is_known && is_own {
                asking.tip = at.repo.head(&at.on)?.commit().map(|tip| tip.to_string());
            }
            if (at.is_cancelled)() {
                return Err(tract::Error::Cancelled.into());
            }
            act(at, &asking)
        })
    }

    /// The file of the client's session, where it says which and a tool here keeps it.
    fn file(&mut self, session: Option<&str>) -> Result<Option<PathBuf>, ApiError> {
        let Some(id) = session else {
            return Ok(None);
        };
        if self.file.as_ref().is_none_or(|(known, _)| known != id) {
            let mut found = called(id, self.worker.tool_dirs()?.sessions());
            let found = (!found.is_empty()).then(|| found.swap_remove(0).path);
            self.file = found.map(|path| (id.to_owned(), path));
        }
        Ok(self.file.as_ref().map(|(_, path)| path.clone()))
    }
}

impl Intake {
    /// Waits until nobody else takes in.
    fn turn(&self, is_cancelled: &dyn Fn() -> bool) -> Result<Turn<'_>, ApiError> {
        let mut is_taken = lock(&self.is_taken);
        while *is_taken {
            if is_cancelled() {
                return Err(tract::Error::Cancelled.into());
            }
            let waited = self.freed.wait_timeout(is_taken, LOOK_EVERY);
            is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_taken = true;
        Ok(Turn(self))
    }
}

/// Nobody else takes in until this is dropped.
struct Turn<'a>(&'a Intake);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.is_taken) = false;
        self.0.freed.notify_one();
    }
}

impl Asking {
    /// Takes in what is new in the session's file, by a command: beside what HEAD is on, or as an import by hand does.
    pub fn take_in(
        &mut self,
        at: &mut At<'_>,
        file: &Path,
        command: &str,
        is_aside: bool,
    ) -> Result<(), ApiError> {
        // What a sub-agent does is its own.
        let report = import(at, file, command, is_aside)?;
        if let Some(session) = report.sessions.first() {
            self.tip = session.tip.map(|tip| tip.to_string());
            self.session = Some(session.name.clone());
            self.branch = match &session.branch {
                BranchOutcome::Follows(name) | BranchOutcome::Stays(name) => Some(name.clone()),
                BranchOutcome::None => None,
            };
        }
        Ok(())
    }
}

fn import(
    at: &mut At<'_>,
    file: &Path,
    command: &str,
    is_aside: bool,
) -> Result<ingest::ImportReport, ApiError> {
    let secrets = at.host.secrets()?;
    let what = format!("{command} {}", file.display());
    let request = ImportRequest {
        counter: Some(Counter::of(at.encoding()?)),
        secrets: Some(&secrets),
        redaction: Redaction::AsBefore,
        reading: Reading::New,
        // A directory in a home has its newest session without that.
        moves_head: !is_aside && at.repo.seat().is_none(),
        is_aside,
        ..ImportRequest::at(at.host.now(), &what)
    };
    Ok(import_watched(at, file, &request)?.own)
}
