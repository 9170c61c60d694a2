//! What every command works with: the repository, the terminal, the clock, and paths as they are
//! typed. The environment is read once, here.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use tract::Error;
use tract::compile::Provider;
use tract::hash::fingerprint;
use tract::ingest::tool_dirs::ToolDirs;
use tract::model::secret::Secrets;
use tract::model::tokens::Counter;
use tract::model::{Encoding, Millis, RefName};
use tract::render::{Calendar, Label, Line};
use tract::repo::{Call, CommitOptions, Expected, Identity, On, Repo, Visitor};
use tract::store::{Look, Seat, Servers};

use super::machine::identity;
use super::machine::local_zone::ZoneName;
use super::machine::pager::Pager;
use super::machine::user_config::{
    ALLOW, RECALL_MODEL, RECALL_WHERE, SAFE_DIRECTORY, SECRETS_ALLOW, SECRETS_RESUME, SOURCES,
    UserConfig,
};
use super::ui::{Surroundings, Ui};
use super::work::{Log, Work};
use super::{Failure, Globals, Result};

/// The commands that change a conversation and do not say which.
const CHANGING: [&str; 11] = [
    "annotate", "clear", "commit", "compact", "drop", "pick", "prune", "purge", "redact",
    "restore", "truncate",
];
/// The commands that read what they need and then say it, so that all of it may be as it was at one moment.
const AT_ONCE: [&str; 8] = [
    "branch", "commit", "compile", "diff", "find", "log", "show", "status",
];
/// The columns that a title may take within a line.
const TITLE: usize = 60;

/// Set for the commands of hook.commit and hook.merge.
pub const IN_HOOK: &str = "TRACT_IN_HOOK";

/// All of the environment that the program looks at.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Whether a hook's command runs this program: [`IN_HOOK`].
    pub is_in_hook: bool,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `TRACT_REPO`.
    repo: Option<PathBuf>,
    /// `TRACT_BRANCH`.
    branch: Option<String>,
    /// `TRACT_SAFE_DIRECTORY`: whose repository may be opened this time.
    safe_directory: Option<String>,
    /// The users whose repositories are our own; none where files have no owners.
    users: Option<Vec<u32>>,
    /// `PATH`: where programs are.
    pub programs: Option<OsString>,
    /// `XDG_CONFIG_HOME`, else `~/.config`: where programs have their settings.
    pub settings: Option<PathBuf>,
    /// Where what this machine alone needs is kept: `XDG_STATE_HOME`, else `~/.local/state`.
    pub state: Option<PathBuf>,
    /// `TRACT_LOG`: where it is told what was counted and hidden.
    pub log: Option<Log>,
    /// `TZ`: the time zone.
    pub zone: ZoneName,
    /// `TRACT_CLOCK`: a fixed time in milliseconds, for tests.
    pub clock: Option<Millis>,
    /// What the variables say by which PostgreSQL's programs reach a server, and where their files are.
    pub servers: Servers,
    /// Who is at work.
    pub worker: Identity,
    /// `TRACT_SSH_COMMAND`: what is run in place of ssh.
    pub ssh_command: Option<String>,
    /// What the variables say by which buckets are reached.
    #[cfg(feature = "s3")]
    pub aws: Aws,
    /// `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// `PWD`: the working directory by the path that one came by.
    pub came_to: Option<PathBuf>,
    /// `CLAUDE_CODE_SESSION_ID`: the session of the client that runs this.
    pub client_session: Option<String>,
    /// `CLAUDE_PROJECT_DIR`: the directory that such a client works on.
    pub client_project: Option<PathBuf>,
    /// The directories of tools that have a variable set, by format.
    tool_dirs: BTreeMap<&'static str, PathBuf>,
    /// What the terminal wants to know.
    pub surroundings: Surroundings,
    /// Which pager is wanted.
    pub pager: Paged,
}

/// What the variables say about pagers; an empty one says that there is to be none.
#[derive(Clone, Debug, Default)]
pub struct Paged {
    /// `TRACT_PAGER`.
    pub tract: Option<String>,
    /// `PAGER`.
    pub general: Option<String>,
    /// Those of [`Pager::variables`] that are set.
    pub set: Vec<&'static str>,
}

impl Paged {
    fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok();
        let is_set = |name: &&str| std::env::var_os(name).is_some();
        Self {
            tract: text("TRACT_PAGER"),
            general: text("PAGER"),
            set: Pager::variables().filter(is_set).collect(),
        }
    }
}

impl Environment {
    /// Reads the environment of this process.
    pub fn read() -> Self {
        let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let text = |name: &str| given(name).and_then(|value| value.into_string().ok());
        let path = |name: &str| given(name).map(PathBuf::from);
        let base = |name: &str, below_home: &str| {
            let named = path(name).filter(|path| path.is_absolute());
            named.or_else(|| Some(path("HOME")?.join(below_home)))
        };
        Self {
            is_in_hook: given(IN_HOOK).is_some(),
            home: path("HOME"),
            repo: path("TRACT_REPO"),
            branch: text("TRACT_BRANCH"),
            safe_directory: text("TRACT_SAFE_DIRECTORY"),
            users: users(text("SUDO_UID")),
            programs: given("PATH"),
            settings: base("XDG_CONFIG_HOME", ".config"),
            state: base("XDG_STATE_HOME", ".local/state").map(|base| base.join("tract")),
            log: text("TRACT_LOG").map(Log::at),
            zone: ZoneName::given(std::env::var_os("TZ")),
            clock: text("TRACT_CLOCK").and_then(|t| t.parse().ok()).map(Millis),
            servers: Servers::new(std::env::vars_os(), path("HOME")),
            worker: identity::read(|name| std::env::var(name).ok()),
            ssh_command: text("TRACT_SSH_COMMAND"),
            #[cfg(feature = "s3")]
            aws: Aws::read(),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            came_to: path("PWD"),
            client_session: text("CLAUDE_CODE_SESSION_ID"),
            client_project: path("CLAUDE_PROJECT_DIR"),
            tool_dirs: ToolDirs::named(path),
            surroundings: Surroundings {
                no_color: given("NO_COLOR").is_some(),
                force_color: text("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
                columns: text("COLUMNS").and_then(|columns| columns.parse().ok()),
                dumb: text("TERM").is_some_and(|term| term == "dumb"),
            },
            pager: Paged::read(),
        }
    }

    /// The user that this runs as; none where files have no owners.
    pub fn user(&self) -> Option<u32> {
        self.users.as_ref()?.first().copied()
    }
}

/// The variables whose names begin with `AWS_`. Some are secret, so that they are not shown.
#[cfg(feature = "s3")]
#[derive(Clone, Default)]
pub struct Aws(Vec<(String, String)>);

#[cfg(feature = "s3")]
impl Aws {
    fn read() -> Self {
        let given =
            |(name, value): &(String, String)| name.starts_with("AWS_") && !value.is_empty();
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let all = std::env::vars_os().filter_map(text);
        Self(all.filter(given).collect())
    }

    /// Their names and what they say.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(feature = "s3")]
impl std::fmt::Debug for Aws {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        to.debug_set().entries(names).finish()
    }
}

/// Who runs and, where that is root on somebody's behalf, who asked for it.
///
/// # Source
///
/// git-config(1), `safe.directory`.
#[cfg(unix)]
fn users(sudo_uid: Option<String>) -> Option<Vec<u32>> {
    let who = rustix::process::geteuid();
    let asked = sudo_uid.filter(|_| who.is_root());
    let asked = asked.and_then(|uid| uid.parse().ok());
    Some([who.as_raw()].into_iter().chain(asked).collect())
}

#[cfg(not(unix))]
fn users(_: Option<String>) -> Option<Vec<u32>> {
    None
}

/// The time by the system's clock.
pub fn system_time() -> Millis {
    Millis(Timestamp::now().as_millisecond())
}

/// What a command is handed.
pub struct App {
    /// Where it writes.
    pub ui: Ui,
    /// The command's name.
    pub command: String,
    /// What was given before or after the command's name.
    pub globals: Globals,
    /// What was found around the program.
    pub env: Environment,
    /// The operations that were committed through each repository that it opened, see [`App::made`].
    operations: RefCell<Vec<Arc<AtomicU64>>>,
    /// The repository in memory, once there is one: it is the same for every command that is run.
    memory: OnceCell<Rc<Repo>>,
    /// Whether a repository was opened in which the directory has a HEAD of its own.
    is_seated: Cell<bool>,
    /// How a repository must be for anything to be written.
    expected: Option<Expected>,
    /// What was done, where a log asks for it.
    pub work: RefCell<Work>,
}

impl App {
    /// Before a command is run.
    pub fn new(mut ui: Ui, globals: Globals, env: Environment) -> Self {
        ui.name_branch(globals.on.clone().or_else(|| env.branch.clone()));
        Self {
            ui,
            command: String::new(),
            globals,
            env,
            operations: RefCell::default(),
            memory: OnceCell::new(),
            is_seated: Cell::new(false),
            expected: None,
            work: RefCell::default(),
        }
    }

    /// From here on nothing is written but where the repository is as expected.
    pub fn expect(&mut self, expected: Expected) {
        self.expected = Some(expected);
    }

    /// What this command has changed, for one that failed afterwards: the disk or whoever reads may
    /// fail when the change is there to stay. None: nothing.
    pub fn made(&self) -> Option<String> {
        let is_made = |operations: &Arc<AtomicU64>| operations.load(Ordering::Relaxed) > 0;
        if !self.operations.borrow().iter().any(is_made) {
            return None;
        }
        let on = self.on().ok()?;
        // What was made is told as made, even if nobody can read it now.
        let at = match self.repo().and_then(|repo| Ok(repo.head(&on)?.commit())) {
            Ok(Some(commit)) => format!("is now {}", commit.short()),
            Ok(None) => "has no commits now".to_owned(),
            Err(_) => "cannot be read now".to_owned(),
        };
        Some(format!("{on} {at}"))
    }

    /// Remembers what is committed through a repository.
    fn note(&self, repo: &Repo) {
        if self.env.log.is_some() {
            self.work.borrow_mut().note(repo);
        }
        let mut operations = self.operations.borrow_mut();
        // Those that are closed and did nothing have nothing to tell any more.
        operations.retain(|one| Arc::strong_count(one) > 1 || one.load(Ordering::Relaxed) > 0);
        // Nor does it matter how many there are that did something.
        let did = |one: &Arc<AtomicU64>| one.load(Ordering::Relaxed) > 0;
        if !operations.iter().any(did) {
            operations.push(repo.operations_committed());
        }
    }

    /// The time. Asked for each time, so that a long command's later commits are later.
    pub fn now(&self) -> Millis {
        self.env.clock.unwrap_or_else(system_time)
    }

    /// What times are read against: ages on a terminal, exact in a pipe.
    pub fn calendar(&self) -> Calendar {
        Calendar {
            now: self.now(),
            zone: self.env.zone.read(),
            ages: self.ui.is_terminal(),
        }
    }

    /// The working directory.
    pub fn cwd(&self) -> Result<PathBuf> {
        std::env::current_dir().map_err(|error| Error::io(".")(error).into())
    }

    /// A path as it was typed: a leading `~` or `~/` is the home directory.
    pub fn path(&self, typed: &Path) -> Result<PathBuf> {
        let Some(text) = typed.to_str().filter(|text| text.starts_with('~')) else {
            return Ok(typed.to_owned());
        };
        let (user, rest) = text[1..].split_once('/').unwrap_or((&text[1..], ""));
        match (user, &self.env.home) {
            ("", Some(home)) if rest.is_empty() => Ok(home.clone()),
            ("", Some(home)) => Ok(home.join(rest)),
            ("", None) => {
                let what = format!("'{text}': HOME is not set, so there is no ~");
                Err(Failure::usage(what))
            }
            (user, _) => {
                let failure =
                    Failure::usage(format!("'{text}': the home of '{user}' is not known"));
                let hint =
                    format!("only ~ and ~/… are understood; ./{text} is a file of that name");
                Err(failure.with_hint(hint))
            }
        }
    }

    /// Where the tools keep their sessions, and programs of this directory's projects theirs.
    pub fn tool_dirs(&self) -> Result<ToolDirs> {
        let named = self.env.tool_dirs.iter();
        let named = named.map(|(format, dir)| Ok((*format, self.path(dir)?)));
        let mut named: BTreeMap<&str, PathBuf> = named.collect::<Result<_>>()?;
        let config = self.user_config()?;
        let set = config.iter();
        for (format, dirs) in set.filter_map(|(key, it)| Some((key.strip_prefix(SOURCES)?, it))) {
            named.entry(format).or_insert_with(|| PathBuf::from(dirs));
        }
        let dirs = ToolDirs::of(self.env.home.as_deref(), &named);
        Ok(match self.cwd() {
            Ok(cwd) => dirs.with_projects(&cwd),
            Err(_) => dirs,
        })
    }

    /// Whether a variable names the directory of the tool with this format.
    pub fn names_tool_dir(&self, format: &str) -> bool {
        self.env.tool_dirs.contains_key(format)
    }

    /// The repository's place, where `--repo` or `TRACT_REPO` names one.
    pub fn named_repo(&self) -> Result<Option<PathBuf>> {
        let named = self.globals.repo.as_ref().or(self.env.repo.as_ref());
        named.map(|path| self.path(path)).transpose()
    }

    /// What was typed for a repository's place, if there is no repository in it; a server's address as people are told of
    /// it.
    pub fn named_in_vain<'a>(&'a self, error: &'a Error) -> Option<&'a Path> {
        let named = self.globals.repo.as_ref().or(self.env.repo.as_ref())?;
        let Error::NoRepository { start } = error else {
            return None;
        };
        if start.to_str().is_some_and(|start| start.contains("://")) {
            return Some(start);
        }
        self.path(named)
            .is_ok_and(|place| place == *start)
            .then_some(named)
    }

    /// Whether the repository is one in memory.
    pub fn is_ephemeral(&self) -> bool {
        self.globals.ephemeral
    }

    /// The repository: in memory, the one that was named, or the one here or above.
    pub fn repo(&self) -> Result<Rc<Repo>> {
        if self.globals.ephemeral {
            if let Some(repo) = self.memory.get() {
                return Ok(Rc::clone(repo));
            }
            let mut repo = Repo::ephemeral()?;
            self.sign_on(&mut repo)?;
            let repo = Rc::new(repo);
            self.note(&repo);
            return Ok(Rc::clone(self.memory.get_or_init(|| repo)));
        }
        let mut visitor = self.visitor()?;
        let identity = self.identity()?;
        let is_held = AT_ONCE.contains(&self.command.as_str());
        if is_held {
            visitor.look = Some(self.look(&identity)?);
        }
        let mut repo = match self.named_repo()? {
            Some(place) => Repo::open_as(&place, &visitor)?,
            None => Repo::find_as(&self.cwd()?, &visitor)?,
        };
        self.sit(&mut repo)?;
        repo.sign_on(&identity);
        self.read_times(&mut repo);
        self.note(&repo);
        let repo = Rc::new(match &self.expected {
            Some(expected) => repo.expecting(expected.clone()),
            None => repo,
        });
        if is_held {
            self.ui.held().hold(&repo);
        }
        Ok(repo)
    }

    /// Whence this command looks at a repository of many people.
    fn look(&self, identity: &Identity) -> Result<Look> {
        let branch = match self.on()? {
            On::Branch(branch) => Some(branch),
            On::Head => None,
        };
        // Whose a look is does not hang on what the repository says: on a server that is many people's.
        let (name, _) = identity.name(|| None);
        Ok(Look {
            seat: name.as_deref().map(Seat::of_person),
            branch,
        })
    }

    /// From here on the repository is this one in memory.
    pub fn work_on(&mut self, repo: Rc<Repo>) {
        self.globals.ephemeral = true;
        (self.globals.on, self.env.branch) = (None, None);
        self.is_seated.set(false);
        self.memory = OnceCell::from(repo);
    }

    /// In the repository of a home directory each directory below has a HEAD of its own, unless something else is set
    /// there.
    fn sit(&self, repo: &mut Repo) -> Result<()> {
        let real = |path: &Path| path.canonicalize().ok();
        let root = repo.directory().and_then(Path::parent).and_then(real);
        let (Some(root), Ok(cwd)) = (root, self.cwd()) else {
            return Ok(());
        };
        if !cwd.starts_with(&root) {
            return Ok(());
        }
        let is_home = self.env.home.as_deref().and_then(real).as_ref() == Some(&root);
        let set = match repo.config().and_then(|config| config.head_of_directory()) {
            // Above all of these it is no matter of a HEAD: what is damaged is said by whoever needs it.
            Err(_) if cwd == root => None,
            set => set?,
        };
        if set.unwrap_or(is_home) {
            repo.sit(&root, &cwd)?;
            self.is_seated.set(cwd != root);
        }
        Ok(())
    }

    /// In a repository of many directories, says which conversation this command has changed. What was changed stays so,
    /// even if that cannot be read now.
    pub fn tell_changed(&mut self) {
        if self.is_seated.get() && CHANGING.contains(&self.command.as_str()) {
            let line = self.changed().ok().flatten();
            line.into_iter().for_each(|line| self.ui.status(line));
        }
    }

    fn changed(&self) -> Result<Option<Line>> {
        if self.made().is_none() {
            return Ok(None);
        }
        let (repo, on) = (self.repo()?, self.on()?);
        let head = repo.head(&on)?;
        let (Some(branch), Some(tip)) = (head.branch(), head.commit()) else {
            return Ok(None);
        };
        let title = repo
            .session_of(&tip)?
            .and_then(|(_, session)| session.title);
        let line = Line::from("On ") + Label::Branch.of(branch.short());
        Ok(Some(match title {
            Some(title) => line + ": " + Line::from(title).cut(TITLE),
            None => line,
        }))
    }

    /// Who opens repositories, and which of others' they call safe: by their own configuration, or
    /// for this one run. What lies in a repository has no say in it.
    pub fn visitor(&self) -> Result<Visitor> {
        let config = self.user_config()?;
        let mut safe = Vec::new();
        let this_time = self.env.safe_directory.as_deref();
        for place in config.values(SAFE_DIRECTORY).chain(this_time) {
            // Any text is a place, if perhaps none that there is.
            let place = self.path(Path::new(place))?;
            safe.extend(place.to_str().map(str::parse).into_iter().flatten());
        }
        let users = self.env.users.clone();
        let servers = self.env.servers.clone();
        Ok(Visitor {
            users,
            safe,
            servers,
            look: None,
        })
    }

    /// What the user set for all repositories.
    pub fn user_config(&self) -> Result<UserConfig> {
        let settings = self.env.settings.as_ref();
        UserConfig::load(settings.map(|settings| settings.join("tract/config")))
    }

    /// What finds secrets: all that is known but for what the user allows.
    pub fn secrets(&self) -> Result<Secrets> {
        let config = self.user_config()?;
        let allowed: Vec<&str> = config.values(SECRETS_ALLOW).collect();
        Ok(Secrets::allowing(&allowed)?)
    }

    /// Whether the user lets secrets go on in a session of a tool on this machine.
    pub fn resumes_secrets(&self) -> Result<bool> {
        let config = self.user_config()?;
        Ok(config.values(SECRETS_RESUME).any(|value| value == ALLOW))
    }

    /// How far an agent's memory looks at most, where the user has set it.
    pub fn recall_where(&self) -> Result<Option<String>> {
        let config = self.user_config()?;
        Ok(config.values(RECALL_WHERE).last().map(str::to_owned))
    }

    /// The folder of the model that finds messages by meaning, where the user has set one.
    pub fn recall_model(&self) -> Result<Option<PathBuf>> {
        let config = self.user_config()?;
        let model = config.values(RECALL_MODEL).last();
        let model = model.filter(|model| !model.is_empty());
        model.map(|model| self.path(Path::new(model))).transpose()
    }

    /// Where this machine keeps something beside a repository; none for one that is gone with this program, and where
    /// it keeps nothing.
    pub fn beside(&self, repo: &Repo, name: &str) -> Option<PathBuf> {
        if let Some(directory) = repo.directory() {
            return Some(directory.join(name));
        }
        let address = repo.place()?.to_str()?;
        let hash = fingerprint(address.as_bytes());
        let of: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.env.state.as_ref()?.join(format!("{of}.{name}")))
    }

    /// The repository, made where it is missing. The flag says whether it is new.
    pub fn repo_or_init(&self) -> Result<(Rc<Repo>, bool)> {
        let place = match self.named_repo()? {
            Some(place) => place,
            None => self.cwd()?,
        };
        match self.repo() {
            Err(Failure::Tract(Error::NoRepository { .. })) => {}
            // Someone else may be making it.
            Err(Failure::Tract(Error::Unfinished { path })) if path.parent() == Some(&place) => {}
            found => return Ok((found?, false)),
        }
        let (mut repo, is_new) = Repo::init_as(&place, &self.visitor()?)?;
        self.sign_on(&mut repo)?;
        self.note(&repo);
        Ok((Rc::new(repo), is_new))
    }

    /// Says that a repository was made.
    pub fn tell_made(&mut self, repo: &Repo) {
        let place = repo.place().map(|place| self.short_path(place));
        let place = place.unwrap_or_default();
        self.ui.status(format!("Made a repository in {place}"));
    }

    /// From here on only the working directory says which repository and branch are meant.
    pub fn forget_surroundings(&mut self) {
        (self.globals.repo, self.globals.on, self.globals.ephemeral) = (None, None, false);
        (self.env.repo, self.env.branch) = (None, None);
        self.ui.name_branch(None);
    }

    /// The line of history to act on: HEAD, unless `--on` or `TRACT_BRANCH` names a branch.
    pub fn on(&self) -> Result<On> {
        match self.globals.on.as_ref().or(self.env.branch.as_ref()) {
            Some(name) => Ok(On::Branch(RefName::branch(name)?)),
            None => Ok(On::Head),
        }
    }

    /// A command that acts on `on` now; in `what`, what was said is replaced by `…`.
    pub fn call<'a>(&self, on: &'a On, what: &'a str) -> Call<'a> {
        Call::at(self.now(), what).on(on)
    }

    /// Whether `--on` or `TRACT_BRANCH` names a branch.
    pub fn names_a_branch(&self) -> bool {
        self.globals.on.is_some() || self.env.branch.is_some()
    }

    /// The tokens that a context should not exceed, if that is set.
    pub fn budget_max(&self, repo: &Repo) -> Result<Option<u64>> {
        Ok(repo.config()?.budget_max()?)
    }

    /// What tokens are counted in.
    pub fn encoding(&self, repo: &Repo) -> Result<Encoding> {
        Ok(repo.config()?.encoding()?)
    }

    /// How a message is committed that is said here: counted at once.
    pub fn committing(&self, repo: &Repo) -> Result<CommitOptions<'static>> {
        Ok(CommitOptions {
            counter: Some(Counter::of(self.encoding(repo)?)),
            ..CommitOptions::default()
        })
    }

    /// The form of a request: as asked, else as configured, else the usual one.
    pub fn provider(&self, repo: &Repo, asked: Option<Provider>) -> Result<Provider> {
        match asked {
            Some(provider) => Ok(provider),
            None => Ok(repo.config()?.format()?),
        }
    }

    /// A path as people read it: from the working directory, or from home, where it is below.
    pub fn short_path(&self, path: &Path) -> String {
        if let Ok(cwd) = self.cwd()
            && let Ok(below) = path.strip_prefix(&cwd)
        {
            return below.display().to_string();
        }
        let home = self.env.home.as_ref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) if !below.as_os_str().is_empty() => format!("~/{}", below.display()),
            _ => path.display().to_string(),
        }
    }
}
