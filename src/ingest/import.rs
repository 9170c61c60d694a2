//! A session file into refs and commits.
//!
//! Steps become commits as they arrive, in slices that nothing refers to yet; the last slice
//! moves the refs. So a crash leaves only what a second import finds and uses. Deliberately absent:
//! which ref a session belongs to ([`Placement`]), and how its bytes are kept ([`SourceFile`]).

use std::path::Path as FilePath;

use super::inspect::{Problems, SessionInput};
use super::place::Placement;
use super::report::ImportReport;
use super::session::Session;
use super::slices::Slices;
use super::source::SourceFile;
use crate::error::{Error, Result};
use crate::history::Repo;
use crate::history::purge::holds_purged;
use crate::interop::{BranchStart, Format, Input, Problem, SessionEnd, SessionStart, Sink, Step};
use crate::model::tokens::Counter;
use crate::model::{Millis, RefName};
use crate::store::{Store, Tx};

/// How much work one slice holds: commits and parts. About 200 ms.
const SLICE_WORK: usize = 4_000;
/// How many commits' records one slice holds.
const SLICE_RECORDS: usize = 16_000;

/// What to import, and how.
pub struct ImportRequest<'a> {
    /// The format, if it isn't to be sniffed.
    pub format: Option<&'static Format>,
    /// The branch that follows the session, if it isn't to be chosen.
    pub branch: Option<&'a str>,
    /// The time of the operation.
    pub now: Millis,
    /// The command, for the operations.
    pub what: &'a str,
    /// Counts tokens on the way.
    pub counter: Option<&'a Counter>,
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
/// # Errors
///
/// [`Error::Io`], [`Error::EmptyFile`], [`Error::UnknownFormat`], and the store's. What is wrong
/// inside the file is in the report.
pub fn import(
    repo: &Repo,
    path: &FilePath,
    request: &ImportRequest<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport> {
    let file = SessionInput::open(path, request.format)?;
    let mut intake = Intake {
        store: &*repo.store,
        request,
        file: &file,
        slices: Slices::of(&*repo.store, SLICE_WORK),
        current: None,
        sessions: Vec::new(),
        problems: Problems::default(),
        progress,
    };
    file.read(&mut intake)?;
    intake.finish()
}

/// Takes everything in.
struct Intake<'a> {
    store: &'a dyn Store,
    request: &'a ImportRequest<'a>,
    file: &'a SessionInput,
    slices: Slices<'a>,
    current: Option<Session<'a>>,
    sessions: Vec<Session<'a>>,
    problems: Problems,
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
        self.slices.worked(std::mem::take(&mut session.work))
    }

    /// Keeps the source, moves the refs, and reports.
    fn finish(mut self) -> Result<ImportReport> {
        self.slices.end()?;
        let mut sessions = self.sessions;
        let SessionInput {
            input,
            format,
            stem,
        } = self.file;
        let file = SourceFile::of(input)?;
        let mut placed = Vec::with_capacity(sessions.len());
        // What was purged stays gone, and so would the file that held it.
        let mut purged = false;
        let view = self.store.read()?;
        for session in &sessions {
            placed.push(Placement::of(&*view, format, session, &file)?);
            for tip in session.paths.iter().filter_map(|path| path.tip) {
                purged = purged || holds_purged(&*view, &tip)?;
            }
        }
        drop(view);
        if !purged && !placed.iter().any(|place| place.is_older) {
            let name = match &placed[..] {
                [only] => only.name.clone(),
                _ => RefName::session(format.name, stem),
            };
            let source = file.keep(self.store, &name, format)?;
            let mut slices = Slices::of(self.store, SLICE_RECORDS);
            for (commit, spans) in sessions.iter().flat_map(|session| &session.records) {
                slices.tx()?.put_records(commit, source, spans)?;
                slices.worked(1)?;
            }
            slices.end()?;
        }
        let tx = self.store.write()?;
        let empty = tx.references("refs/")?.is_empty();
        tx.begin_operation(self.request.now, self.request.what)?;
        let mut reports = Vec::with_capacity(sessions.len());
        for (index, (mut session, place)) in sessions.drain(..).zip(placed).enumerate() {
            let chosen = match (self.request.branch, index) {
                (Some(name), 0) => Some(name.to_owned()),
                (Some(name), _) => Some(format!("{name}/{}", index + 1)),
                (None, 0) if empty => Some("main".to_owned()),
                (None, _) => None,
            };
            if purged {
                session.end.title = None;
            }
            reports.push(place.move_refs(&*tx, session, chosen.as_deref())?);
        }
        tx.commit()?;
        Ok(ImportReport {
            format,
            sessions: reports,
            problems: self.problems.first,
            problem_count: self.problems.count,
            notes: self.problems.notes,
        })
    }
}

impl Sink for Intake<'_> {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        let (tool, counter) = (self.file.format.name, self.request.counter);
        let session = Session::begin(self.slices.tx()?, tool, start, counter)?;
        self.current = Some(session);
        Ok(())
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.with_session(|session, tx| {
            session.settle(tx)?;
            session.branch(branch)
        })
    }

    fn step(&mut self, step: Step) -> Result<()> {
        self.with_session(|session, tx| session.step(tx, step))
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.with_session(|session, tx| {
            session.end = end;
            session.settle(tx)
        })?;
        self.sessions.extend(self.current.take());
        Ok(())
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
