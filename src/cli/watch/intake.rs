//! What a watch does with files: those that have changed since come in.
//!
//! A file that cannot be read is named once, skipped, and tried again; nothing of a tool's is ever written,
//! moved or locked. Deliberately absent: when to look.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use tract::Error;
use tract::ingest::database::{self, DatabaseState, Listings};
use tract::ingest::tool_dirs::{ToolDirs, ToolFolder};
use tract::ingest::{
    self, ImportReport, ImportRequest, ImportedSession, Outcome, Reading, Redaction, Trouble,
    Unread, kin,
};
use tract::model::secret::Secrets;
use tract::model::tokens::Counter;
use tract::render::{counted_secrets, plural};
use tract::repo::Repo;
use tract::store::FileStamp;

use super::databases::{Databases, Due};
use super::wake::Woken;
use crate::cli::drawing::{listing, unreadable};
use crate::cli::failure::Exit;
use crate::cli::{App, Failure, Result};

/// The files of the tools, and how each was when it was taken in.
pub struct Taking {
    repo: Rc<Repo>,
    dirs: ToolDirs,
    counter: Counter,
    secrets: Secrets,
    is_verbose: bool,
    /// As they were when they were looked at last.
    seen: HashMap<PathBuf, FileStamp>,
    databases: Databases,
    /// Those that were changing, or that others were at: tried again soon.
    again: HashSet<PathBuf>,
    /// Those that came in, or were here before.
    taken: HashSet<PathBuf>,
    /// Those that the repository says could not be read.
    unread: Unread,
    /// What was complained of.
    complained: HashMap<PathBuf, String>,
    /// Those with anything wrong in them, that was told of.
    damaged: HashSet<PathBuf>,
    /// What was told of.
    told: HashSet<String>,
}

/// What came in.
#[derive(Default)]
pub struct Tally {
    /// Files that were looked at.
    pub files: u64,
    /// Files with anything new.
    pub changed: u64,
    /// Commits that were not here before.
    pub commits: u64,
    /// Files that could not be read.
    pub failed: u64,
}

impl Taking {
    pub fn of(repo: Rc<Repo>, is_verbose: bool, app: &App) -> Result<Self> {
        Ok(Self {
            dirs: app.tool_dirs()?,
            counter: Counter::of(app.encoding(&repo)?),
            secrets: app.secrets()?,
            unread: Unread::of(&repo)?,
            repo,
            is_verbose,
            seen: HashMap::new(),
            databases: Databases::default(),
            again: HashSet::new(),
            taken: HashSet::new(),
            complained: HashMap::new(),
            damaged: HashSet::new(),
            told: HashSet::new(),
        })
    }

    /// The folders in which tools keep sessions, whether they are there or not.
    pub fn folders(&self) -> Vec<ToolFolder> {
        self.dirs.folders()
    }

    /// Takes in what has changed of all files that are there.
    pub fn take_all(
        &mut self,
        reading: Reading,
        is_over: &dyn Fn() -> bool,
        app: &mut App,
    ) -> Result<Tally> {
        let files = self.dirs.files();
        let files_there: HashSet<&Path> = files.iter().map(PathBuf::as_path).collect();
        // Of a session in a database the database is the file.
        let is_there = |path: &Path| {
            let above = path
                .parent()
                .is_some_and(|above| files_there.contains(above));
            files_there.contains(path) || above
        };
        self.seen.retain(|path, _| is_there(path));
        self.complained.retain(|path, _| is_there(path));
        self.databases.retain(is_there);
        // A purge may have forgotten them.
        self.unread = Unread::of(&self.repo)?;
        self.unread.forget_gone(&self.repo)?;
        self.take(&files, reading, is_over, app)
    }

    /// The files that are to be tried again soon.
    pub fn again(&mut self) -> Vec<PathBuf> {
        self.again.drain().collect()
    }

    /// Takes in what has changed of what a watch was woken for.
    pub fn take_woken(
        &mut self,
        woken: Woken,
        reading: Reading,
        is_over: &dyn Fn() -> bool,
        app: &mut App,
    ) -> Result<()> {
        let files = match woken {
            Woken::All => return self.take_all(reading, is_over, app).map(drop),
            Woken::Files(files) => files.into_iter().collect(),
            Woken::Quiet => self.again(),
        };
        if files.is_empty() {
            Ok(())
        } else {
            self.take(&files, reading, is_over, app).map(drop)
        }
    }

    /// Takes in what has changed of these files.
    pub fn take(
        &mut self,
        files: &[PathBuf],
        reading: Reading,
        is_over: &dyn Fn() -> bool,
        app: &mut App,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut changed = Vec::new();
        let mut stamps = HashMap::new();
        for file in files {
            for (file, stamp) in self.found_at(file, reading, &mut tally, app)? {
                if self.seen.get(&file) == Some(&stamp) && reading == Reading::New {
                    continue;
                }
                let known = match reading {
                    Reading::New => ingest::known_stamp(&self.repo, &file).unwrap_or_default(),
                    _ => None,
                };
                if known == Some(stamp) {
                    self.was_read(&file)?;
                    self.seen.insert(file.clone(), stamp);
                    self.taken.insert(file);
                    continue;
                }
                stamps.insert(file.clone(), stamp);
                changed.push(file);
            }
        }
        // What is here needs no other file before it.
        let (known, new): (Vec<PathBuf>, Vec<PathBuf>) = changed
            .into_iter()
            .partition(|file| self.taken.contains(file));
        let new = kin::in_order(&self.repo, &new, &mut Listings::default())?;
        let redaction = if !(known.is_empty() && new.is_empty()) && ingest::redacts(&self.repo)? {
            Redaction::AsBefore
        } else {
            Redaction::Never
        };
        for file in known.iter().chain(&new) {
            if is_over() {
                break;
            }
            // Looked at before it is read: what is written meanwhile is new.
            let stamp = stamps.get(file).copied();
            let Some(stamp) = stamp.or_else(|| ingest::stamp(file).ok()) else {
                continue;
            };
            self.take_one((file, stamp), (reading, redaction), &mut tally, app)?;
        }
        Ok(tally)
    }

    /// A file, or the sessions of a database, each as it is to whoever looks at it without reading; nothing of what
    /// is gone, or of a database that is as it was.
    fn found_at(
        &mut self,
        file: &Path,
        reading: Reading,
        tally: &mut Tally,
        app: &mut App,
    ) -> Result<Vec<(PathBuf, FileStamp)>> {
        tally.files += 1;
        let stamp = match ingest::stamp(file) {
            Ok(stamp) => stamp,
            Err(error) => {
                self.pass_over(file, FileStamp::default(), error, tally, app)?;
                return Ok(Vec::new());
            }
        };
        let Some(state) = DatabaseState::of(file) else {
            return Ok(vec![(file.to_owned(), stamp)]);
        };
        match self.databases.due(file, state) {
            Due::Never if reading == Reading::New => return Ok(Vec::new()),
            Due::Later => {
                self.again.insert(file.to_owned());
                return Ok(Vec::new());
            }
            Due::Now | Due::Never => {}
        }
        let begun = Instant::now();
        let found = database::sessions(file);
        if self.databases.looked(file, state, begun) {
            self.again.insert(file.to_owned());
        }
        let found = match found {
            Ok(found) => found.unwrap_or_default(),
            Err(error) => {
                self.databases.forget(file);
                self.pass_over(file, stamp, error, tally, app)?;
                return Ok(Vec::new());
            }
        };
        self.was_read(file)?;
        tally.files += found.len() as u64;
        let found = found.into_iter();
        Ok(found
            .map(|(path, session)| (path, database::stamp(&session)))
            .collect())
    }

    fn take_one(
        &mut self,
        (file, stamp): (&Path, FileStamp),
        (reading, redaction): (Reading, Redaction),
        tally: &mut Tally,
        app: &mut App,
    ) -> Result<()> {
        let what = format!("watch {}", file.display());
        let request = ImportRequest {
            is_aside: true,
            counter: Some(self.counter),
            secrets: Some(&self.secrets),
            redaction,
            reading,
            ..ImportRequest::at(app.now(), &what)
        };
        match ingest::import(&self.repo, file, &request, &mut |_| {}) {
            Ok(report) => {
                self.seen.insert(file.to_owned(), stamp);
                self.taken.insert(file.to_owned());
                self.was_read(file)?;
                self.tell(file, &report, tally, app);
                Ok(())
            }
            Err(error) => self.pass_over(file, stamp, error, tally, app),
        }
    }

    /// Whatever was wrong with a file is so no more.
    fn was_read(&mut self, file: &Path) -> Result<()> {
        self.complained.remove(file);
        Ok(self.unread.was_read(&self.repo, file)?)
    }

    /// Has a file looked at again soon; of a session in a database, the database.
    fn try_again(&mut self, file: &Path) {
        let database = database::place(file).map(|(database, _)| database);
        self.databases.forget(database.unwrap_or(file));
        self.again.insert(database.unwrap_or(file).to_owned());
    }

    /// What becomes of a file that did not come in.
    fn pass_over(
        &mut self,
        file: &Path,
        stamp: FileStamp,
        error: Error,
        tally: &mut Tally,
        app: &mut App,
    ) -> Result<()> {
        let trouble = Trouble::of(&error);
        match trouble {
            // It is looked at again when it has changed.
            Trouble::NoSession | Trouble::Broken => {
                self.seen.insert(file.to_owned(), stamp);
                if trouble.is_the_files() {
                    let why = unreadable::why(&error.into());
                    self.unread.failed(&self.repo, file, &why, app.now())?;
                }
                return Ok(());
            }
            Trouble::Gone => return Ok(()),
            Trouble::Cut | Trouble::TooLate => {
                self.try_again(file);
                return Ok(());
            }
            Trouble::Damaged | Trouble::ServerLost => return Err(error.into()),
            Trouble::File => {}
        }
        tally.failed += 1;
        let why = unreadable::why(&error.into());
        self.unread.failed(&self.repo, file, &why, app.now())?;
        if self.complained.get(file) != Some(&why) {
            let line = unreadable::named(file, &why, app);
            app.ui.warn(format!("{line}; it is tried again"));
        }
        self.complained.insert(file.to_owned(), why);
        Ok(())
    }

    /// Says what came in: of each session once, with `-v` each time.
    fn tell(&mut self, file: &Path, report: &ImportReport, tally: &mut Tally, app: &mut App) {
        let commits: u64 = report.sessions.iter().map(|it| it.new_commits).sum();
        tally.commits += commits;
        // What an undo took away has no new commit when it comes back.
        let is_news = |it: &&ImportedSession| {
            it.new_commits > 0 || it.tip.is_some() && it.outcome != Outcome::Unchanged
        };
        tally.changed += u64::from(report.sessions.iter().any(|it| is_news(&it)));
        if report.problem_count > 0 && self.damaged.insert(file.to_owned()) {
            let place = app.short_path(file);
            let problems = plural(report.problem_count, "problem");
            app.ui
                .warn(format!("{place}: {problems}; tract import names them"));
        }
        for session in report.sessions.iter().filter(is_news) {
            let name = listing::shown_name(&session.name, true);
            if !session.secrets.is_empty() {
                app.ui
                    .warn(format!("{name}: {}", counted_secrets(&session.secrets)));
            }
            let is_first = self.told.insert(name.clone());
            if is_first || self.is_verbose {
                let what = match session.new_commits {
                    0 => "here again".to_owned(),
                    count => plural(count, "new commit"),
                };
                app.ui.status(format!("{name}: {what}"));
            }
        }
    }
}

impl Tally {
    /// How a pass over everything ends.
    pub fn end(&self, app: &mut App) -> Result<()> {
        let looked = format!("Looked at {}", plural(self.files, "file"));
        app.ui.status(match self.changed {
            0 => format!("{looked}: nothing new"),
            changed if self.commits == 0 => format!("{looked}: {changed} here again"),
            changed => {
                let commits = plural(self.commits, "new commit");
                format!("{looked}: {commits} in {changed}")
            }
        });
        match self.failed {
            0 => Ok(()),
            _ => Err(Failure::Quiet(Exit::NotAllowed)),
        }
    }
}
