//! Which conversation asks, and what of it is here by now.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tract::api::{ApiError, At, Host};
use tract::history::Repo;
use tract::ingest::{self, BranchOutcome, ImportRequest, Reading, Redaction, called};
use tract::model::RefName;
use tract::model::tokens::Counter;

use crate::cli::door::{Surroundings, Worker};

/// The most characters of a client's name and version.
const CLIENT: usize = 100;

/// A server for one client.
pub struct Server {
    pub worker: Worker,
    surroundings: Surroundings,
    /// The client's session, as far as it says which.
    session: Option<String>,
    /// The file of that session.
    file: Option<PathBuf>,
}

/// The conversation that asks.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    /// Its newest message, as a revision; none: what HEAD is on.
    pub tip: Option<String>,
    /// The branch that follows it.
    pub branch: Option<RefName>,
    /// Its session.
    pub session: Option<RefName>,
    /// The directory that it is about.
    pub directory: Option<String>,
}

impl Server {
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            worker: Worker::new(&surroundings),
            session: surroundings.client_session().map(str::to_owned),
            surroundings,
            file: None,
        }
    }

    /// What a request says of who asks.
    pub fn heard(&mut self, meta: &Value) {
        let named = ["sessionId", "threadId", "conversationId"]
            .iter()
            .find_map(|key| meta.get(*key)?.as_str());
        if let Some(named) = named
            && self.session.as_deref() != Some(named)
        {
            self.session = Some(named.to_owned());
            self.file = None;
        }
    }

    /// Which client asks: what is done for it bears its name.
    pub fn serves(&mut self, client: &Value) {
        let text = |key| client.get(key).and_then(Value::as_str);
        let words: Vec<&str> = [text("name"), text("version")]
            .into_iter()
            .flatten()
            .collect();
        let plain = |c: &char| !c.is_control();
        let name: String = words.join(" ").chars().filter(plain).take(CLIENT).collect();
        if !name.is_empty() {
            self.worker.serves(&name);
        }
    }

    /// Takes in what the conversation has come to, and does something with it.
    pub fn with<T>(
        &mut self,
        act: impl FnOnce(&mut At<'_>, &Asking) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let file = self.file()?;
        let directory = self
            .surroundings
            .project()
            .or_else(|| std::env::current_dir().ok());
        let directory = directory.map(|directory| directory.display().to_string());
        self.worker.with_or_memory(|at| {
            let mut asking = Asking {
                directory,
                ..Asking::default()
            };
            if let Some(file) = file {
                asking.take_in(at, &file, "mcp", true)?;
            }
            act(at, &asking)
        })
    }

    /// The file of the client's session, where it says which and a tool here keeps it.
    fn file(&mut self) -> Result<Option<PathBuf>, ApiError> {
        if self.file.is_none()
            && let Some(id) = &self.session
        {
            let mut found = called(id, self.worker.tool_dirs()?.sessions());
            self.file = (!found.is_empty()).then(|| found.swap_remove(0).path);
        }
        Ok(self.file.clone())
    }
}

impl Asking {
    /// Takes in what is new in the session's file, by a command: beside what HEAD is on, or as an import by hand does.
    pub fn take_in(
        &mut self,
        at: &At<'_>,
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
    at: &At<'_>,
    file: &Path,
    command: &str,
    is_aside: bool,
) -> Result<ingest::ImportReport, ApiError> {
    let repo: &Repo = at.repo;
    let secrets = at.host.secrets()?;
    let what = format!("{command} {}", file.display());
    let request = ImportRequest {
        counter: Some(Counter::of(at.encoding()?)),
        secrets: Some(&secrets),
        redaction: Redaction::AsBefore,
        reading: Reading::New,
        // A directory in a home has its newest session without that.
        moves_head: !is_aside && repo.seat().is_none(),
        is_aside,
        ..ImportRequest::at(at.host.now(), &what)
    };
    Ok(ingest::import_family(repo, file, &request, &mut |_| {})?.own)
}
