//! What is served: a repository, or what tools have left on this machine.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tract::Error;
use tract::hash::CommitHash;
use tract::ingest::tool_dirs::SessionFile;
use tract::ingest::{self, Conversation, Scope, called};
use tract::model::{EntryId, RefName, RefValue};
use tract::render::html::{PageFrame, Setting};
use tract::repo::{On, Repo};

use super::ledger::Ledger;
use super::places;
use super::query::{Asked, message_address, session_address};
use super::shelf::{self, Shelf};
use super::sweep::Sweep;
use crate::cli::door::Surroundings;
use crate::cli::{App, Failure, Result};

/// How many pages may follow a conversation at once: half of what answers at all.
const FOLLOWERS: usize = 32;

/// The place of a page that follows a conversation, as long as this is held.
pub struct Following(Site);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.0.followers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is served. All threads have the same.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    surroundings: Surroundings,
    has_repository: bool,
    writes: bool,
    is_over: AtomicBool,
    /// How many pages follow a conversation.
    followers: AtomicUsize,
    shelf: Shelf,
    sweep: Sweep,
    ledger: Ledger,
    /// From how many conversations on their rows are gathered once, and again when anything is another one.
    many: usize,
    places: Vec<(&'static str, &'static str)>,
}

/// A conversation that is to be shown.
pub struct Opened<'a> {
    /// Who has it open.
    pub app: &'a App,
    /// Where it is: the repository that is served, or one in memory that holds this session.
    pub repo: &'a Repo,
    /// Where it ends.
    pub tip: CommitHash,
    /// Its session or branch; none for a commit.
    pub name: Option<RefName>,
    /// What it is called in addresses.
    pub id: &'a str,
    /// Its file, where it was read from there and is in memory.
    pub file: Option<PathBuf>,
    /// Whether a page may change it.
    pub writes: bool,
}

impl Opened<'_> {
    /// Whether the repository that is served holds it, so that it can be changed.
    pub fn is_kept(&self) -> bool {
        self.file.is_none()
    }
}

impl Site {
    /// From how many conversations on their rows are gathered once, where nothing else is said.
    pub const MANY: usize = 2_000;

    /// What is served where the program was started: the repository that commands mean, or else the home's, or else what
    /// tools have left. From `many` conversations on their rows are gathered once.
    pub fn of(app: &App, writes: bool, many: usize) -> Result<Self> {
        let mut surroundings = Surroundings::of(app);
        let mut has_repository = true;
        let is_named = app.named_repo()?.is_some();
        match app.repo() {
            Ok(_) => {}
            Err(Failure::Tract(Error::NoRepository { .. })) if !is_named => {
                let home = app.env.home.as_deref().filter(|home| {
                    let visitor = app.visitor();
                    visitor.is_ok_and(|visitor| Repo::open_as(home, &visitor).is_ok())
                });
                match home {
                    Some(home) => surroundings.go_to(home.to_owned()),
                    None => has_repository = false,
                }
            }
            Err(failure) => return Err(failure),
        }
        Ok(Self(Arc::new(Inner {
            surroundings,
            has_repository,
            writes,
            is_over: AtomicBool::new(false),
            followers: AtomicUsize::new(0),
            shelf: Shelf::default(),
            sweep: Sweep::default(),
            ledger: Ledger::default(),
            many,
            places: places(has_repository),
        })))
    }

    /// Whether so many conversations are so many that their rows are gathered once.
    pub fn are_many(&self, conversations: usize) -> bool {
        conversations >= self.0.many
    }

    /// An application for one request: it says nothing.
    pub fn app(&self) -> App {
        self.0.surroundings.app()
    }

    /// The repository that is served; none where there is only what tools have left.
    pub fn repo(&self, app: &App) -> Result<Option<Rc<Repo>>> {
        match self.0.has_repository {
            true => app.repo().map(Some),
            false => Ok(None),
        }
    }

    /// Whether a browser may change the repository.
    pub fn writes(&self) -> bool {
        self.0.writes
    }

    /// Whether the server is about to end: what goes on for long ends then.
    pub fn is_over(&self) -> bool {
        self.0.is_over.load(Ordering::Relaxed)
    }

    /// From here on it is about to end.
    pub fn end(&self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }

    /// A place for one more page that follows a conversation; none where too many do, for each holds a thread.
    pub fn follow(&self) -> Option<Following> {
        let before = self.0.followers.fetch_add(1, Ordering::Relaxed);
        let place = Following(self.clone());
        (before < FOLLOWERS).then_some(place)
    }

    /// What is around the page that is asked for.
    pub fn frame<'a>(&'a self, asked: &'a Asked) -> PageFrame<'a> {
        PageFrame {
            setting: Setting::Served,
            root: &asked.root,
            places: &self.0.places,
            live: None,
            here: asked.segments.first().map(String::as_str),
        }
    }

    /// The sessions that tools have left on this machine, newest first.
    pub fn files(&self, app: &App) -> Result<Arc<Vec<SessionFile>>> {
        self.0.shelf.files(app)
    }

    /// The search over sessions that nobody imported.
    pub fn sweep(&self) -> &Sweep {
        &self.0.sweep
    }

    /// What lists say of conversations.
    pub fn ledger(&self) -> &Ledger {
        &self.0.ledger
    }

    /// The page of the conversation that an address names, or of all in the repository.
    pub fn page_about<T>(
        &self,
        asked: &Asked,
        page: fn(&Self, &Asked, &Repo, &App, Option<&Opened<'_>>) -> Result<T>,
    ) -> Result<T> {
        if let Some(id) = asked.value("id") {
            return self.open(id, |opened| {
                page(self, asked, opened.repo, opened.app, Some(opened))
            });
        }
        let app = self.app();
        match self.repo(&app)? {
            Some(repo) => page(self, asked, &repo, &app, None),
            None => Err(Failure::refused("there is no repository here")),
        }
    }

    /// The page of what a revision names, seen from the first page: a conversation, a message in its own, or else the
    /// context of a commit. The session of a file that nobody imported has a page, too.
    pub fn address_of(&self, rev: &str, on: &On) -> Result<String> {
        let app = &self.app();
        if let Some(repo) = self.repo(app)? {
            if let Some((Some(name), _)) = named_if_any(&repo, rev)? {
                return Ok(session_address(&name.label(), ""));
            }
            match repo.resolve(on, rev) {
                Ok(commit) => return commit_address(&repo, on, commit),
                Err(error) if self.file(rev, app).is_err() => return Err(error.into()),
                Err(_) => {}
            }
        }
        self.file(rev, app)?;
        Ok(session_address(rev, ""))
    }

    /// Does something with the conversation that is called so in addresses: `TOOL/ID` for a session, else a branch, or
    /// anything that names a commit. One that the repository doesn't hold is read into memory, and held there by whoever
    /// shows it: `act` is not to wait for anything.
    pub fn open<T>(&self, id: &str, act: impl FnOnce(&Opened<'_>) -> Result<T>) -> Result<T> {
        let app = &self.app();
        if let Some(repo) = self.repo(app)?
            && let Some((name, tip)) = named_if_any(&repo, id)?
        {
            if let Some(file) = self.grown(&repo, name.as_ref())? {
                if !self.writes() || shelf::take_in(&repo, &file, app).is_err() {
                    return self.read(id, &file, app, act);
                }
                return self.opened(app, &repo, named(&repo, id)?, id, None, act);
            }
            return self.opened(app, &repo, (name, tip), id, None, act);
        }
        let file = self.file(id, app)?;
        self.read(id, &file, app, act)
    }

    /// The same of one that is known to be read from a file.
    pub fn open_file<T>(
        &self,
        id: &str,
        file: &Path,
        act: impl FnOnce(&Opened<'_>) -> Result<T>,
    ) -> Result<T> {
        self.read(id, file, &self.app(), act)
    }

    /// The same as it stands in the repository, whatever has come since.
    pub fn open_kept<T>(&self, id: &str, act: impl FnOnce(&Opened<'_>) -> Result<T>) -> Result<T> {
        let app = &self.app();
        let Some(repo) = self.repo(app)? else {
            return Err(Failure::refused("there is no repository here"));
        };
        self.opened(app, &repo, named(&repo, id)?, id, None, act)
    }

    /// Does something with a conversation of this repository, which was read from `file` where it is in memory.
    fn opened<T>(
        &self,
        app: &App,
        repo: &Repo,
        (name, tip): (Option<RefName>, CommitHash),
        id: &str,
        file: Option<PathBuf>,
        act: impl FnOnce(&Opened<'_>) -> Result<T>,
    ) -> Result<T> {
        act(&Opened {
            app,
            repo,
            tip,
            name,
            id,
            file,
            writes: self.writes(),
        })
    }

    /// Does something with a session's file, which is read into memory.
    fn read<T>(
        &self,
        id: &str,
        file: &Path,
        app: &App,
        act: impl FnOnce(&Opened<'_>) -> Result<T>,
    ) -> Result<T> {
        self.0.shelf.with(file, app, |repo, name| {
            let found = named(repo, name.as_str())?;
            self.opened(app, repo, found, id, Some(file.to_owned()), act)
        })
    }

    /// The file of a session that has changed since it came in.
    fn grown(&self, repo: &Repo, name: Option<&RefName>) -> Result<Option<PathBuf>> {
        let Some(name) = name.filter(|name| name.as_session().is_some()) else {
            return Ok(None);
        };
        let found = ingest::file_of(repo, name)?;
        // What is gone stays as it came in.
        let is_new =
            |(file, known): &(PathBuf, _)| ingest::stamp(file).is_ok_and(|stamp| stamp != *known);
        Ok(found.filter(is_new).map(|(file, _)| file))
    }

    /// The file of a session that tools have left.
    fn file(&self, id: &str, app: &App) -> Result<PathBuf> {
        let mut found = called(id, self.files(app)?.to_vec());
        if found.is_empty() {
            // It may have been made since.
            found = called(id, self.0.shelf.files_now(app)?.to_vec());
        }
        match found.as_slice() {
            [one] => Ok(one.path.clone()),
            [] => Err(Failure::refused(format!("there is no conversation '{id}'"))),
            _ => Err(Failure::refused(format!(
                "'{id}' fits several sessions; their whole ids tell them apart"
            ))),
        }
    }
}

/// The page of a commit in its conversation: the branch that is meant, where it leads there, or else its session.
fn commit_address(repo: &Repo, on: &On, commit: CommitHash) -> Result<String> {
    let head = repo.head(on)?;
    let own = match head.commit() {
        Some(tip) if repo.is_on_path(&commit, &tip)? => head.branch().cloned().map(|it| (it, tip)),
        _ => None,
    };
    let (id, tip) = match own {
        Some((branch, tip)) => (branch.label(), tip),
        None => match repo.session_of(&commit)? {
            Some((name, _)) => {
                let (_, tip) = named(repo, name.as_str())?;
                (name.label(), tip)
            }
            None => (commit.to_string(), commit),
        },
    };
    let entry = EntryId::of(commit);
    let talk = Conversation::open(repo, &tip, Scope::All)?;
    Ok(match talk.place_of(repo, &entry, talk.len())? {
        Some(_) => message_address(&id, &entry),
        None => session_address(&id, &format!("?at={commit}")),
    })
}

/// What is called so, and where it ends.
pub fn named(repo: &Repo, id: &str) -> tract::Result<(Option<RefName>, CommitHash)> {
    match named_if_any(repo, id)? {
        Some(found) => Ok(found),
        None => Ok((None, repo.resolve(&On::Head, id)?)),
    }
}

/// The same; none where nothing is called so.
fn named_if_any(repo: &Repo, id: &str) -> tract::Result<Option<(Option<RefName>, CommitHash)>> {
    let names = [
        id.to_owned(),
        format!("{}{id}", RefName::SESSIONS),
        format!("{}{id}", RefName::HEADS),
    ];
    for name in names {
        if !name.starts_with("refs/") || name.parse::<RefName>().is_err() {
            continue;
        }
        let found = repo.references(&name)?;
        let own = found.into_iter().find(|(own, _)| own.as_str() == name);
        if let Some((own, RefValue::Commit(tip))) = own {
            return Ok(Some((Some(own), tip)));
        }
    }
    let found = repo.resolve_if_any(&On::Head, id)?;
    Ok(found.map(|tip| (None, tip)))
}
