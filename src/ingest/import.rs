//! A session file into refs and commits.
//!
//! Steps become commits as they arrive, in slices that nothing refers to yet; the last slice
//! moves the refs. So a crash leaves only what a second import finds and uses. Others may write in
//! between: the last slice compares what it builds on, and whoever was overtaken starts over from
//! what is there then. Deliberately absent:
//! which ref a session belongs to ([`Placement`]), and how its bytes are kept ([`SourceFile`]).

use std::collections::BTreeMap;
use std::path::Path as FilePath;

use super::ahead::{Making, Ready, Taker, Told, read_ahead};
use super::bases::KeptBases;
use super::growth::Growth;
use super::inspect::{Problems, SessionInput};
use super::place::Placement;
use super::report::{ImportReport, REDACTED};
use super::session::Session;
use super::slices::Slices;
use super::source::SourceFile;
use crate::error::{Error, Result};
use crate::history::erase::ERASED;
use crate::history::purge::holds_purged;
use crate::history::{On, Repo, repo};
use crate::interop::{Action, Format, Problem, Sink};
use crate::model::secret::Secrets;
use crate::model::tokens::Counter;
use crate::model::{Head, Millis, RefName, RefValue};
use crate::store::{FollowedFile, Store, Tx, View};

/// How much work one slice holds: commits and parts. About 200 ms.
const SLICE_WORK: usize = 4_000;
/// How many commits' records one slice holds.
const SLICE_RECORDS: usize = 16_000;
/// How often an import is tried where others are first.
const ATTEMPTS: usize = 8;
/// How long a file may be for its last attempt to keep others from writing: about a second's work.
const HELD_BYTES: u64 = 32 << 20;

/// How much may be new in a file to be taken in at once.
const GROWN_BYTES: u64 = 4 << 20;

/// What to import, and how.
pub struct ImportRequest<'a> {
    /// The format, if it isn't to be sniffed.
    pub format: Option<&'static Format>,
    /// The branch that follows the session, if it isn't to be chosen.
    pub branch: Option<&'a str>,
    /// Whether a HEAD without commits goes to the branch that this makes.
    pub moves_head: bool,
    /// Whether it comes in beside another session, to which it belongs: its branch is not the first.
    pub is_aside: bool,
    /// The time of the operation.
    pub now: Millis,
    /// The command, for the operations.
    pub what: &'a str,
    /// Counts tokens on the way.
    pub counter: Option<&'a Counter>,
    /// Looks for secrets in the messages that are new.
    pub secrets: Option<&'a Secrets>,
    /// Whether `[redacted:KIND]` comes in, in place of those that it looks for.
    pub redaction: Redaction,
    /// How much of a file that was here before is read again.
    pub reading: Reading,
}

/// How much of a file that was here before is read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// All of it.
    #[default]
    Whole,
    /// What has come since, and a little of what was there, where that is enough to go on.
    New,
}

/// Whether an import leaves secrets out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redaction {
    /// Not if the session is new or came in with them.
    #[default]
    AsBefore,
    /// Of whatever comes in.
    Always,
    /// Never: no session came in without them, [`redacts`] says.
    Never,
}

/// Whether any session came in without its secrets.
///
/// # Errors
///
/// The store's.
pub fn redacts(repo: &Repo) -> Result<bool> {
    let view = repo.store.read()?;
    for name in view.sessions()? {
        let session = view.session(&name)?.unwrap_or_default();
        if session.absent.iter().any(|it| it == REDACTED) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<'a> ImportRequest<'a> {
    /// An import at a time, by a command: of whatever format, onto a branch that is chosen, with nothing
    /// counted on the way.
    pub const fn at(now: Millis, what: &'a str) -> Self {
        Self {
            format: None,
            branch: None,
            moves_head: false,
            is_aside: false,
            now,
            what,
            counter: None,
            secrets: None,
            redaction: Redaction::Never,
            reading: Reading::Whole,
        }
    }
}

/// How far an import has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes in all.
    pub total_bytes: u64,
    /// Records read.
    pub records: u64,
}

/// Imports one file.
///
/// Where another process changes what the import builds on, it starts over from what is there by
/// then: the session's ref, its source, a purge in between.
///
/// # Errors
///
/// [`Error::Io`], [`Error::EmptyFile`], [`Error::UnknownFormat`], [`Error::Overtaken`] if others were
/// first time and again, and the store's. What is wrong inside the file is in the report.
pub fn import(
    repo: &Repo,
    path: &FilePath,
    request: &ImportRequest<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport> {
    start(repo, path, request, false, progress)
}

/// Imports one file, unless anything is wrong in it: then no ref moves. [`check_strict`] says so
/// before anything is written, but the file may have grown since.
///
/// # Errors
///
/// [`Error::StrictImport`], and as [`import`].
///
/// [`check_strict`]: super::check_strict
pub fn import_strict(
    repo: &Repo,
    path: &FilePath,
    request: &ImportRequest<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport> {
    start(repo, path, request, true, progress)
}

fn start(
    repo: &Repo,
    path: &FilePath,
    request: &ImportRequest<'_>,
    is_strict: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport> {
    let goes_on = request.reading == Reading::New
        && request.format.is_none()
        && !is_strict
        && (request.secrets.is_none() || request.redaction != Redaction::Always);
    if goes_on && let Some((growth, file)) = Growth::of(&*repo.store, path)? {
        match grow(repo, &file, &growth, request, progress) {
            // Whoever was first, or whatever reaches further back: all of it is read.
            Ok(None) | Err(Error::Overtaken { .. }) => {}
            Ok(Some(report)) => return Ok(report),
            Err(error) => return Err(error),
        }
    }
    let mut file = SessionInput::open(path, request.format)?;
    if let Some(secrets) = request.secrets {
        let redacts = match request.redaction {
            Redaction::Always => true,
            Redaction::Never => false,
            Redaction::AsBefore => came_redacted(repo, &file)?,
        };
        if redacts {
            file = file.redacted(secrets)?;
        }
    }
    take_in(repo, &file, request, is_strict.then_some(path), progress)
}

/// Whether the file's session came in without its secrets before.
fn came_redacted(repo: &Repo, file: &SessionInput<'_>) -> Result<bool> {
    let Some(id) = file.first_session()? else {
        return Ok(false);
    };
    let name = RefName::session(file.format.name, &id);
    let session = repo.store.read()?.session(&name)?.unwrap_or_default();
    Ok(session.absent.iter().any(|it| it == REDACTED))
}

/// Takes in what is open; where a path is given, nothing if anything is wrong in it.
pub(super) fn take_in(
    repo: &Repo,
    file: &SessionInput<'_>,
    request: &ImportRequest<'_>,
    strict: Option<&FilePath>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport> {
    let mut done = Done::default();
    for attempt in 1.. {
        // Who loses all the time is let through in the end, if that doesn't hold others up for long.
        let is_last = attempt == ATTEMPTS;
        let holds = is_last && file.input.size_bytes() <= HELD_BYTES;
        let share = if holds { usize::MAX } else { SLICE_WORK };
        let bases = KeptBases::of(&*repo.store, file.format, &*file.input)?;
        let mut intake = Intake {
            store: &*repo.store,
            request,
            file,
            growth: None,
            holds,
            upheaval: Upheaval::of(&*repo.store.read()?)?,
            slices: Slices::of(&*repo.store, share),
            current: None,
            sessions: Vec::new(),
            problems: Problems::default(),
            done: &mut done,
            progress: &mut *progress,
        };
        let upheaval = intake.upheaval;
        let prepare = repo.store.preparing()?;
        let making = Making {
            counter: request.counter,
            secrets: request.secrets,
            redacts: file.redacted.is_some(),
            prepare: &*prepare,
        };
        let read = |sink: &mut dyn Sink| file.read(Some(&bases), sink);
        let read = read_ahead(file.input.size_bytes(), making, &mut intake, read);
        let read = read.and_then(|()| match strict {
            Some(path) => intake.problems.refuse(path),
            None => Ok(()),
        });
        let ended = match read {
            Ok(()) => intake.finish(),
            Err(error) => {
                drop(intake);
                Err(error)
            }
        };
        match ended {
            Err(Error::Overtaken { .. }) if !is_last => {}
            Err(_) if !is_last && Upheaval::of(&*repo.store.read()?)? != upheaval => {}
            ended => return ended,
        }
    }
    unreachable!("the last attempt ends it")
}

/// Takes in what is new in a file; none, and nothing is changed, where its end alone does not tell it.
fn grow(
    repo: &Repo,
    file: &SessionInput<'_>,
    growth: &Growth,
    request: &ImportRequest<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<ImportReport>> {
    let (mut done, store) = (Done::default(), &*repo.store);
    // A little is one transaction.
    let holds = growth.work_bytes(file) <= GROWN_BYTES;
    let share = if holds { usize::MAX } else { SLICE_WORK };
    let mut intake = Intake {
        store,
        request,
        file,
        growth: Some(growth),
        holds,
        upheaval: Upheaval::of(&*store.read()?)?,
        slices: Slices::of(store, share),
        current: None,
        sessions: Vec::new(),
        problems: Problems::default(),
        done: &mut done,
        progress,
    };
    let prepare = store.preparing()?;
    let making = Making {
        counter: request.counter,
        secrets: request.secrets,
        redacts: false,
        prepare: &*prepare,
    };
    let mut tells_all = false;
    read_ahead(growth.work_bytes(file), making, &mut intake, |sink| {
        tells_all = growth.read(file, sink)?;
        Ok(())
    })?;
    let [session] = &mut intake.sessions[..] else {
        return Ok(None);
    };
    // Which title counts, and how much is lacking in all, depends on what was said before.
    let known = &growth.session;
    let is_titled = session.end.title.is_some() && known.title.is_some();
    let is_retitled = is_titled && session.end.title != known.title;
    if !tells_all || is_retitled || session.end.absent != growth.absent {
        return Ok(None);
    }
    session.end.title = session.end.title.take().or_else(|| known.title.clone());
    session.end.cwd = known.cwd.clone().or(session.end.cwd.take());
    session.end.absent.clone_from(&known.absent);
    #[cfg(test)]
    GROWN.set(GROWN.get() + 1);
    intake.finish().map(Some)
}

#[cfg(test)]
thread_local! {
    /// How many files were gone on with.
    pub(super) static GROWN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// What takes out things that no ref leads to, and so what an import has kept until now.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Upheaval {
    last_purge: Option<u64>,
    collections: u64,
}

impl Upheaval {
    fn of(view: &dyn View) -> Result<Self> {
        Ok(Self {
            last_purge: view.last_purge()?,
            collections: view.collections()?.times,
        })
    }
}

/// What attempts that were overtaken have done already.
#[derive(Default)]
struct Done {
    /// The source that they began.
    source: Option<u64>,
    /// How many commits they added, by session.
    commits: BTreeMap<String, u64>,
}

/// Takes everything in.
struct Intake<'a> {
    store: &'a dyn Store,
    request: &'a ImportRequest<'a>,
    file: &'a SessionInput<'a>,
    /// Where it goes on, if it was here before and is not read whole.
    growth: Option<&'a Growth>,
    /// Whether nobody else may write from the first slice to the end.
    holds: bool,
    /// What it must not have come to since it began.
    upheaval: Upheaval,
    slices: Slices<'a>,
    current: Option<Session<'a>>,
    sessions: Vec<Session<'a>>,
    problems: Problems,
    done: &'a mut Done,
    progress: &'a mut dyn FnMut(Progress),
}

impl Intake<'_> {
    /// Runs `act` on the current session inside the current slice.
    fn with_session(
        &mut self,
        act: impl FnOnce(&mut Session<'_>, &dyn Tx) -> Result<()>,
    ) -> Result<()> {
        let session = self.current.as_mut().ok_or_else(|| Error::Malformed {
            what: "session",
            detail: "a step before its session".into(),
        })?;
        act(session, self.slices.tx()?)?;
        self.slices.worked(std::mem::take(&mut session.work))?;
        if !self.slices.is_open() {
            session.let_others_in();
        }
        Ok(())
    }

    /// Where each session belongs, and whether anything of them was purged.
    fn place(&mut self, file: &SourceFile<'_>) -> Result<(Vec<Placement>, bool)> {
        if let Some(growth) = self.growth {
            if !self.holds {
                self.slices.end()?;
            }
            let placed = self
                .sessions
                .iter()
                .map(|session| Placement::grown(growth.name(), growth.tip, session));
            return Ok((placed.collect(), false));
        }
        let read;
        let view: &dyn View = match self.holds {
            true => self.slices.tx()?,
            false => {
                self.slices.end()?;
                read = self.store.read()?;
                &*read
            }
        };
        let mut placed = Vec::with_capacity(self.sessions.len());
        let mut purged = false;
        let path = self.file.file.as_ref().map(|(path, _)| path.as_str());
        for session in &self.sessions {
            placed.push(Placement::of(view, self.file.format, session, file, path)?);
            for tip in session.paths.iter().filter_map(|path| path.tip) {
                purged = purged || holds_purged(view, &tip)?;
            }
            let known = placed.last().map(|place| view.session(&place.name));
            let known = known.transpose()?.flatten().unwrap_or_default();
            purged = purged || known.absent.iter().any(|it| it == ERASED);
        }
        Ok((placed, purged))
    }

    /// Keeps the source, moves the refs, and reports: all at once, unless that is much.
    fn finish(mut self) -> Result<ImportReport> {
        for session in &mut self.sessions {
            let before = self
                .done
                .commits
                .entry(session.start.id.clone())
                .or_default();
            session.new_commits += *before;
            *before = session.new_commits;
        }
        let SessionInput {
            input,
            format,
            stem,
            ..
        } = self.file;
        let file = match self.growth {
            Some(growth) => SourceFile::grown(&**input, (growth.source.size_bytes, &growth.hash))?,
            None => SourceFile::of(&**input)?,
        };
        let (placed, purged) = self.place(&file)?;
        let mut slices = match self.holds {
            true => self.slices,
            false => Slices::of(self.store, SLICE_RECORDS),
        };
        let mut source = None;
        // Of what stands in pieces in several records the file still says it.
        let in_pieces = self.sessions.iter().any(|session| session.in_pieces);
        // What was purged stays gone, and so would the file that held it.
        if !purged && !in_pieces && !placed.iter().any(|place| place.is_older) {
            let name = match &placed[..] {
                [only] => only.name.clone(),
                _ => RefName::session(format.name, stem),
            };
            let kept = file.keep(&mut slices, &name, format)?;
            if kept.is_new {
                self.done.source = Some(kept.source);
            }
            for session in &self.sessions {
                file.keep_records(&mut slices, &kept, &session.records)?;
            }
            source = Some(kept.source);
        }
        let tx = slices.last()?;
        for place in &placed {
            place.check(&*tx)?;
        }
        let is_kept = match source {
            Some(source) => file.is_kept(&*tx, source)?,
            None => true,
        };
        if !is_kept || Upheaval::of(&*tx)? != self.upheaval {
            return Err(Error::Overtaken { name: stem.clone() });
        }
        if let Some(begun) = self.done.source.filter(|_| purged) {
            tx.purge_source(begun)?;
        }
        // All refs are looked at only where that matters: there may be thousands of them, and as many files.
        let begins = !self.request.is_aside && self.request.branch.is_none();
        let empty = begins && tx.references("refs/")?.is_empty();
        // Where HEAD is and nothing is yet.
        let unborn = match repo::head(&*tx, &On::Head)? {
            Head::Attached { branch, tip: None } => Some(branch),
            _ => None,
        };
        let branches = match unborn.is_some() && self.request.moves_head {
            true => tx.references(RefName::HEADS)?,
            false => Vec::new(),
        };
        tx.begin_moves(self.request.now, self.request.what)?;
        let mut reports = Vec::with_capacity(self.sessions.len());
        if let (Some(source), Some(from), [session]) = (source, &self.file.file, &self.sessions[..])
            && self.file.redacted.is_none()
        {
            let settings = session.settings.clone();
            let remembered = file.remembered(from, source, settings, self.request.now);
            let known = tx.followed(&remembered.path)?;
            // When it was last looked at is no news.
            let time = remembered.time;
            let is_known = known.is_some_and(|known| FollowedFile { time, ..known } == remembered);
            if !is_known && file.is_end_of(&*tx, source)? {
                tx.put_followed(&remembered)?;
            }
        }
        for (index, (mut session, place)) in self.sessions.drain(..).zip(placed).enumerate() {
            let chosen = match (self.request.branch, index) {
                (Some(name), 0) => Some(name.to_owned()),
                (Some(name), _) => Some(format!("{name}/{}", index + 1)),
                (None, 0) if empty => Some(match &unborn {
                    Some(branch) if self.request.moves_head => branch.short().to_owned(),
                    _ => "main".to_owned(),
                }),
                (None, _) => None,
            };
            if purged {
                session.end.title = None;
            }
            if self.file.redacted.is_some() {
                session.end.absent.push(REDACTED.to_owned());
            }
            reports.push(place.move_refs(&*tx, session, chosen.as_deref())?);
        }
        let first = reports.iter().find_map(|session| session.branch.name());
        let is_made = |branch: &RefName| branches.iter().all(|(other, _)| other != branch);
        if let (Some(branch), Some(unborn)) = (first, &unborn)
            && self.request.moves_head
            && is_made(branch)
            && branch != unborn
        {
            let head = RefValue::Symbolic(branch.clone());
            tx.set_reference(&RefName::head(), Some(&head))?;
        }
        tx.commit()?;
        Ok(ImportReport {
            format,
            sessions: reports,
            redacted: self.file.redacted.clone().unwrap_or_default(),
            problems: self.problems.first,
            problem_count: self.problems.count,
            notes: self.problems.notes,
        })
    }
}

impl Taker for Intake<'_> {
    fn foresee(&mut self, next: &[Told<Ready>]) -> Result<()> {
        let messages = next.iter().filter_map(|told| match told {
            Told::Step(step) => match &step.action {
                Action::Append(ready) => Some(ready.message.hash()),
                Action::Hide(_) => None,
            },
            _ => None,
        });
        match messages.clone().next() {
            Some(_) => self
                .slices
                .tx()?
                .foresee(&mut || messages.clone().collect()),
            None => Ok(()),
        }
    }

    fn take(&mut self, told: Told<Ready>) -> Result<()> {
        match told {
            Told::Session(start) => {
                let (tool, counter) = (self.file.format.name, self.request.counter);
                let mut session = Session::begin(self.slices.tx()?, tool, start, counter)?;
                session.looked_for = self.request.secrets;
                if let Some(growth) = self.growth {
                    session.go_on(growth.from, &growth.after, &growth.settings);
                }
                self.current = Some(session);
                Ok(())
            }
            Told::Branch(branch) => self.with_session(|session, tx| {
                session.settle(tx)?;
                session.branch(branch)
            }),
            Told::Step(step) => self.with_session(|session, tx| session.step(tx, step)),
            Told::Former(step) => self.with_session(|session, tx| session.former(tx, step)),
            Told::End(end) => {
                self.with_session(|session, tx| {
                    session.end = end;
                    session.settle(tx)?;
                    session.close();
                    Ok(())
                })?;
                self.sessions.extend(self.current.take());
                Ok(())
            }
        }
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.problem(problem)
    }

    fn progress(&mut self, bytes: u64, records: u64) {
        (self.progress)(Progress {
            bytes,
            total_bytes: self.file.input.size_bytes(),
            records,
        });
    }
}
