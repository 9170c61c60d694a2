//! Sessions that are not imported, read into a repository in memory: nothing on disk changes.
//!
//! From then on the command works on that repository. Deliberately absent: how a conversation is shown.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use tract::Error;
use tract::formats::{EventStream, sniff};
use tract::ingest::database::{self, Listings};
use tract::ingest::family::Queue;
use tract::ingest::{self, FileInput, ImportRequest};
use tract::model::RefName;
use tract::model::tokens::Counter;
use tract::render::{plural, shell_word};
use tract::repo::{On, Repo};

use super::failure::known_formats;
use super::{App, Failure, Result, progress, tool_sessions};

/// Where something that was named stands.
pub enum Found {
    /// In the repository: it is a revision.
    Here(Rc<Repo>),
    /// In a file, or in a place within a database.
    File(PathBuf),
}

/// What is meant: a revision; else a file; else a session of a tool by its id, as `tract import` lists it.
pub fn find(what: &str, app: &App) -> Result<Found> {
    let unknown = match app.repo() {
        Ok(repo) => match repo.resolve(&app.on()?, what) {
            Ok(_) => return Ok(Found::Here(repo)),
            Err(error) => Failure::from(error),
        },
        Err(Failure::Tract(error @ Error::NoRepository { .. })) => Failure::from(error),
        Err(failure) => return Err(failure),
    };
    // Where there is none, HEAD is nothing else.
    if what == "HEAD" {
        return Err(unknown);
    }
    let path = app.path(Path::new(what))?;
    if path.is_dir() {
        return Err(directory(what, &path, app));
    }
    if path.exists() || database::place(&path).is_some_and(|(file, _)| file.exists()) {
        return Ok(Found::File(path));
    }
    let is_search = what.contains(":/");
    if !is_search && let Some(session) = tool_sessions::named(Path::new(what), app)? {
        return Ok(Found::File(session.path));
    }
    let is_path = what.contains('/') || what.ends_with(".json") || what.ends_with(".jsonl");
    Err(match unknown {
        // One that is spelt like a commit was meant as one.
        Failure::Tract(Error::UnknownRevision { nearest: None, .. }) if is_path && !is_search => {
            missing(what, "no such file, and no such commit")
        }
        Failure::Tract(Error::NoRepository { .. }) if is_path => missing(what, "no such file"),
        Failure::Tract(Error::NoRepository { .. }) => {
            missing(what, "no such file, and no session of a known tool")
        }
        unknown => unknown,
    })
}

fn missing(what: &str, why: &str) -> Failure {
    let hint = match why {
        "no such file, and no such commit" => {
            "tract import lists this directory's sessions, tract log the commits"
        }
        _ => "tract import lists this directory's sessions, tract import --all --list those of all",
    };
    Failure::refused(format!("{what}: {why}")).with_hint(hint)
}

fn directory(what: &str, path: &Path, app: &App) -> Failure {
    let place = shell_word(&app.short_path(path));
    let hint = format!("tract import {place} takes the sessions in it");
    Failure::refused(format!("{what} is a directory")).with_hint(hint)
}

/// Whether a file holds a stream of events, whose states say more than its messages.
pub fn is_stream(path: &Path) -> bool {
    let sniffed = || sniff::sniff(&FileInput::open(path).ok()?).ok()?;
    sniffed().is_some_and(|format| EventStream::of(format).is_some())
}

/// What came of a file.
pub struct InMemory {
    pub repo: Rc<Repo>,
    /// The sessions in it, the first that was told first; none without a message.
    pub sessions: Vec<RefName>,
}

impl InMemory {
    /// The one session that there is.
    pub fn only(&self, what: &str) -> Result<&RefName> {
        match self.sessions.as_slice() {
            [one] => Ok(one),
            [] => {
                let failure = Failure::refused(format!("{what} holds no messages"));
                Err(failure.with_hint("tract import -v says what else is in it"))
            }
            several => {
                let count = plural(several.len() as u64, "session");
                let failure = Failure::refused(format!("{what} holds {count}"));
                Err(failure.with_hint(format!("tract view -i {} chooses one", shell_word(what))))
            }
        }
    }
}

/// Reads a file, with those that it begins with and those of its sub-agents. From here on its repository is the
/// command's.
pub fn read(path: &Path, app: &mut App) -> Result<InMemory> {
    let repo = Rc::new(Repo::ephemeral()?);
    let files = database::unfolded(vec![path.to_owned()]);
    let mut queue = Queue::of(&repo, &files, &repo.head(&On::Head)?, Listings::default())?;
    let what = format!("view {}", path.display());
    let mut sessions = Vec::new();
    while let Some(coming) = queue.take_next() {
        let request = ImportRequest {
            branch: coming.branch.as_deref().filter(|_| !coming.is_kin),
            counter: Some(Counter::of(app.encoding(&repo)?)),
            moves_head: !coming.is_aside,
            is_aside: coming.is_aside,
            ..ImportRequest::at(app.now(), &what)
        };
        let bar = progress::bar(app, "[{bar:30}] {bytes} of {total_bytes}");
        let report = ingest::import(&repo, &coming.file, &request, &mut |progress| {
            bar.set_length(progress.total_bytes);
            bar.set_position(progress.bytes);
        });
        bar.finish_and_clear();
        let report = match report {
            Ok(report) => report,
            // What belongs to it and cannot be read is missed where it would stand.
            Err(_) if coming.is_kin => continue,
            Err(error @ Error::UnknownFormat { .. }) => {
                return Err(Failure::from(error).with_hint(known_formats()));
            }
            Err(error) => return Err(error.into()),
        };
        queue.agents_of(&repo, &coming.file, &report)?;
        if !coming.is_kin {
            let told = report
                .sessions
                .iter()
                .filter(|session| session.tip.is_some());
            sessions.extend(told.map(|session| session.name.clone()));
        }
    }
    app.work_on(Rc::clone(&repo));
    Ok(InMemory { repo, sessions })
}
