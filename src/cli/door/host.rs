//! What the program hands to the interface: the clock, the tools' directories, other repositories. Each thread that
//! works has its own, and its own connection to the repository.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use jiff::tz::TimeZone;
use tract::Error;
use tract::deeds::{ApiError, At, Elsewhere, Host, WorkProgress};
use tract::ingest::tool_dirs::ToolDirs;
use tract::model::secret::{People, Secrets};
use tract::model::{Millis, RefName};
use tract::render::Calendar;
use tract::repo::{BackupNote, On, Repo};

use crate::cli::app::{Environment, IN_HOOK};
use crate::cli::machine::shell::shell;
use crate::cli::machine::summariser::TIMEOUT_SECONDS;
use crate::cli::machine::{exec, private};
use crate::cli::trace::{self, Measured};
use crate::cli::ui::{ColorChoice, Ui};
use crate::cli::{App, Failure, Globals, peer};

/// What all threads know: what was given to the program, and what was found around it.
#[derive(Clone)]
pub struct Surroundings {
    globals: Globals,
    env: Environment,
    /// The command that answers.
    command: String,
}

impl Surroundings {
    pub fn of(app: &App) -> Self {
        Self {
            globals: Globals {
                quiet: true,
                ..app.globals.clone()
            },
            env: app.env.clone(),
            command: app.command.clone(),
        }
    }

    /// From here on another repository is meant.
    pub fn go_to(&mut self, place: PathBuf) {
        (self.globals.repo, self.globals.ephemeral) = (Some(place), false);
    }

    /// From here on a repository in memory is meant.
    pub fn forget_repository(&mut self) {
        self.globals.ephemeral = true;
    }

    /// The session of the client that started this process, where it says which.
    pub fn client_session(&self) -> Option<&str> {
        self.env.client_session.as_deref()
    }

    /// The directory that such a client works on.
    pub fn project(&self) -> Option<PathBuf> {
        self.env.client_project.clone()
    }

    /// Whether it is the repository of the user's home, which holds sessions of many directories.
    pub fn is_home(&self, repo: &Repo) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let root = repo.directory().and_then(Path::parent).and_then(real);
        root.is_some() && root == self.env.home.as_deref().and_then(real)
    }

    /// Whether the repository is one in memory, which no second thread can see.
    pub fn is_ephemeral(&self) -> bool {
        self.globals.ephemeral
    }

    /// Whether there is no repository, so that one in memory takes its place.
    pub fn has_none(&self) -> bool {
        let app = self.app();
        match app.named_repo() {
            _ if self.is_ephemeral() => true,
            Ok(Some(place)) => !place.to_string_lossy().contains("://") && !place.exists(),
            _ => app.cwd().is_ok_and(|cwd| Repo::seek(&cwd).is_err()),
        }
    }

    /// An application that says nothing.
    pub fn app(&self) -> App {
        let ui = Ui::new(ColorChoice::Never, &self.env.surroundings, true);
        let mut app = App::new(ui, self.globals.clone(), self.env.clone());
        app.command = self.command.clone();
        app
    }
}

/// Who waits for long work.
pub struct Watch<'a> {
    /// Is told how far it has come, and says whether anybody still waits.
    pub goes_on: Box<dyn FnMut(WorkProgress) -> bool + 'a>,
    /// Says whether nobody waits any more, at once and without a word to anybody.
    pub is_cancelled: Box<dyn Fn() -> bool + 'a>,
}

impl Watch<'_> {
    /// Somebody waits to the end and is told nothing.
    pub fn none() -> Self {
        Self {
            goes_on: Box::new(|_| true),
            is_cancelled: Box::new(|| false),
        }
    }
}

/// Who answers: an application, and the repository that it has open.
pub struct Worker {
    app: RefCell<App>,
    repo: Option<Rc<Repo>>,
}

impl Worker {
    pub fn new(surroundings: &Surroundings) -> Self {
        Self {
            app: RefCell::new(surroundings.app()),
            repo: None,
        }
    }

    /// Says which program this works for, before the repository is opened.
    pub fn serves(&mut self, client: &str) {
        let own = &mut self.app.get_mut().env.worker.client;
        own.get_or_insert_with(|| client.to_owned());
    }

    /// The repository, opened once. One that was taken away is missed by the method that asks for it.
    fn repo(&mut self) -> Result<Rc<Repo>, ApiError> {
        if let Some(repo) = &self.repo {
            return Ok(Rc::clone(repo));
        }
        let repo = self.app.borrow().repo().map_err(fault)?;
        self.repo = Some(Rc::clone(&repo));
        Ok(repo)
    }

    /// Does something where the repository is, on a branch if one is named.
    pub fn with<T>(
        &mut self,
        branch: Option<&str>,
        watch: Watch<'_>,
        act: impl FnOnce(&mut At<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let repo = self.repo()?;
        let on = match branch {
            Some(name) => On::Branch(RefName::branch(name)?),
            None => self.app.borrow().on().map_err(fault)?,
        };
        let host = self.app.borrow();
        let mut at = At::new(&repo, on, &*host);
        (at.goes_on, at.is_cancelled) = (watch.goes_on, watch.is_cancelled);
        act(&mut at)
    }

    /// The same, in memory where there is no repository: what is taken in is known for as long as this runs.
    pub fn with_or_memory<T>(
        &mut self,
        watch: Watch<'_>,
        act: impl FnOnce(&mut At<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        if self.repo.is_none() {
            self.repo = Some(match self.app.borrow().repo() {
                Err(Failure::Tract(Error::NoRepository { .. })) => Rc::new(Repo::ephemeral()?),
                found => found.map_err(fault)?,
            });
        }
        self.with(None, watch, act)
    }

    /// Where the tools keep their sessions.
    pub fn tool_dirs(&self) -> Result<ToolDirs, ApiError> {
        Host::tool_dirs(&*self.app.borrow())
    }

    /// How far an agent's memory looks at most, where the user has set it.
    pub fn recall_where(&self) -> Result<Option<String>, ApiError> {
        self.app.borrow().recall_where().map_err(fault)
    }

    /// The folder of the model that finds messages by meaning, where the user has set one.
    pub fn recall_model(&self) -> Result<Option<PathBuf>, ApiError> {
        self.app.borrow().recall_model().map_err(fault)
    }

    /// A request begins.
    pub fn begin(&self) -> Measured {
        Measured::begin(&self.app.borrow())
    }

    /// A request was answered: the log is told.
    pub fn ended(&self, span: Measured, what: (&str, Option<&str>), fault: Option<&ApiError>) {
        trace::request(span, what, fault, &mut self.app.borrow_mut());
    }

    /// What times are read against.
    pub fn calendar(&self) -> Calendar {
        self.app.borrow().calendar()
    }

    /// Opens the repository that is meant, or makes it; gives its place and whether it is new.
    pub fn open(&mut self, create: bool) -> Result<(String, bool), ApiError> {
        let (repo, is_new) = if create {
            self.app.borrow().repo_or_init().map_err(fault)?
        } else {
            (self.repo()?, false)
        };
        let place = repo.place().map(|place| place.display().to_string());
        self.repo = Some(repo);
        Ok((place.unwrap_or_default(), is_new))
    }
}

/// A failure of the program as data.
pub fn fault(failure: Failure) -> ApiError {
    match failure {
        Failure::Tract(error) => error.into(),
        Failure::Deed(fault) => *fault,
        Failure::Said(exit, what, hint) => {
            let fault = ApiError::new("refused", exit, what);
            match hint {
                Some(hint) => fault.with_hint(hint),
                None => fault,
            }
        }
        other => ApiError::refused(other.what()),
    }
}

impl Host for App {
    fn meaning_model(&self) -> Result<Option<PathBuf>, ApiError> {
        self.recall_model().map_err(fault)
    }

    fn now(&self) -> Millis {
        self.now()
    }

    fn tool_dirs(&self) -> Result<ToolDirs, ApiError> {
        self.tool_dirs().map_err(fault)
    }

    fn secrets(&self) -> Result<Secrets, ApiError> {
        self.secrets().map_err(fault)
    }

    fn people(&self) -> Result<People, ApiError> {
        self.people().map_err(fault)
    }

    fn seed(&self) -> Result<[u8; 32], ApiError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| ApiError::refused(error.to_string()))?;
        Ok(seed)
    }

    fn zone(&self) -> TimeZone {
        self.env.zone.read()
    }

    fn directory(&self) -> Result<PathBuf, ApiError> {
        self.cwd().map_err(fault)
    }

    fn resumes_secrets(&self) -> Result<bool, ApiError> {
        self.resumes_secrets().map_err(fault)
    }

    fn elsewhere(&self, typed: &str) -> Result<Option<Elsewhere>, ApiError> {
        peer::elsewhere(typed, self).map_err(fault)
    }

    fn kept_address(&self, typed: &str) -> Result<String, ApiError> {
        peer::kept(typed, self).map_err(fault)
    }

    fn write_file(&self, path: &Path, force: bool, bytes: &[u8]) -> Result<(), ApiError> {
        let path = self.path(path).map_err(fault)?;
        private::write(&path, force, |out| {
            Ok(out.write_all(bytes).map_err(Error::io(&path))?)
        })
        .map_err(fault)
    }

    fn path(&self, named: &Path) -> Result<PathBuf, ApiError> {
        self.path(named).map_err(fault)
    }

    fn place_file(
        &self,
        path: &Path,
        force: bool,
        note: &mut dyn FnMut(&Path) -> Result<Option<BackupNote>, ApiError>,
        make: &mut dyn FnMut(&Path) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        private::place(
            path,
            force,
            |draft| Ok(note(draft)?),
            |draft| Ok(make(draft)?),
        )
        .map_err(fault)
    }

    fn asked(&self, command: &str, question: &str) -> Result<Option<String>, ApiError> {
        if self.env.is_in_hook {
            let what = "a hook's command commits itself, and would be asked about that without end";
            return Err(ApiError::refused(what).with_hint("`--no-verify` does not ask it"));
        }
        let timeout = Duration::from_secs(TIMEOUT_SECONDS.get());
        let mut program = shell(command);
        program.env(IN_HOOK, "1");
        let ended = exec::ended(program, question, timeout);
        let ended = ended.map_err(|failed| {
            let what = format!(
                "'{command}' did not say whether it allows this: {}",
                failed.reason
            );
            ApiError::refused(what).with_hint("`--no-verify` does not ask it")
        })?;
        Ok(match (ended.code, ended.stderr.trim()) {
            (Some(0), _) => None,
            (_, "") => Some(String::from_utf8_lossy(&ended.printed).into_owned()),
            (_, said) => Some(said.to_owned()),
        })
    }

    fn with_peer(
        &self,
        url: &str,
        repo: &Repo,
        work: &mut dyn FnMut(&mut dyn peer::Peer) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        // An application of its own, that says nothing.
        let (mut app, mut said) = (Surroundings::of(self).app(), Ok(()));
        peer::with(url, repo, &mut app, |there, _| {
            said = work(there);
            Ok(())
        })
        .map_err(fault)?;
        said
    }
}
