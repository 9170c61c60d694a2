//! A session file into refs and commits.
//!
//! Steps become commits as they arrive, in slices that nothing refers to yet; the last slice
//! moves the refs. So a crash leaves only what a second import finds and uses. Others may write in
//! between: the last slice compares what it builds on, and whoever was overtaken starts over from
//! what is there then. Deliberately absent:
//! which ref a session belongs to ([`Placement`]), and how its bytes are kept ([`SourceFile`]).

use std::path::Path as FilePath;
use std::sync::Arc;

use super::ahead::{Making, Ready, Taker, Told, read_ahead};
use super::bases::KeptBases;
use super::commit_records::CommitRecords;
use super::growth::{Growth, Onward};
use super::inspect::{Problems, SessionInput};
use super::place::Placement;
use super::report::{BranchOutcome, ImportReport, REDACTED};
use super::session::{Arrived, Session};
use super::slices::{Slices, Waiting};
use super::source::SourceFile;
use crate::error::{Error, Result};
use crate::formats::{Action, Format, Problem, Sink};
use crate::hash::ContentHash;
use crate::model::secret::Secrets;
use crate::model::tokens::Counter;
use crate::model::{Head, Millis, RefName, RefValue, Settings};
use crate::repo::{On, Repo, repository};
use crate::store::{FollowedFile, Store, Tx, View};
use crate::upkeep::erase::ERASED;
use crate::upkeep::purge::holds_erased;

/// How much work one slice holds: commits and parts. About 200 ms.
const SLICE_WORK: usize = 4_000;
/// Of how many sessions in a file the refs are moved beside others.
const MANY_SESSIONS: usize = if cfg!(test) { 2 } else { 32 };
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
    /// Whether it comes in while it is said. Replies that a provider counted and that have no time then came at the time of the
    /// operation.
    pub is_live: bool,
    /// The time of the operation.
    pub now: Millis,
    /// The command, for the operations.
    pub what: &'a str,
    /// Counts tokens on the way.
    pub counter: Option<Counter>,
    /// Looks for secrets in the messages that are new.
    pub secrets: Option<&'a Secrets>,
    /// Whether `[redacted:KIND]` comes in, in place of those that it looks for.
    pub redaction: Redaction,
    /// How much of a file that was here before is read again.
    pub reading: Reading,
    /// Who waits for it. Where nobody does any more it ends, and no ref has moved.
    pub waiting: Waiting<'a>,
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
    let sessions = repo.store.read()?.sessions()?;
    let mut absent = sessions.iter().flat_map(|(_, session)| &session.absent);
    Ok(absent.any(|it| it == REDACTED))
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
            is_live: false,
            now,
            what,
            counter: None,
            secrets: None,
            redaction: Redaction::Never,
            reading: Reading::Whole,
            waiting: Waiting::TO_THE_END,
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
        let bases = KeptBases::of(&*repo.store, file.format, &*file.input)?;
        let intake = Intake::of(repo, file, request, &mut done, &mut *progress)?;
        let mut intake = intake.holding(holds).alone(is_last);
        let upheaval = intake.upheaval;
        let read = |sink: &mut dyn Sink| file.read(Some(&bases), sink);
        let read = intake.read(file.input.size_bytes(), read);
        let read = read.and_then(|()| match strict {
            Some(path) => intake.problems.refuse(path),
            None => Ok(()),
        });
        match intake.end(read) {
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
    let mut done = Done::default();
    let size_bytes = growth.work_bytes(file);
    let intake = Intake::of(repo, file, request, &mut done, progress)?;
    let mut intake = intake.onward(&growth.onward, size_bytes);
    let mut tells_all = false;
    intake.read(size_bytes, |sink| {
        tells_all = growth.read(file, sink)?;
        Ok(())
    })?;
    let [session] = &mut intake.sessions[..] else {
        return Ok(None);
    };
    // Which title counts, and how much is lacking in all, depends on what was said before.
    let known = &growth.session;
    let end = Arc::make_mut(&mut session.found.end);
    let is_retitled = end.title.is_some() && known.title.is_some() && end.title != known.title;
    if !tells_all || is_retitled || end.absent != growth.absent {
        return Ok(None);
    }
    end.title = end.title.take().or_else(|| known.title.clone());
    end.cwd = known.cwd.clone().or(end.cwd.take());
    end.absent.clone_from(&known.absent);
    #[cfg(test)]
    GROWN.set(GROWN.get() + 1);
    intake.finish().map(Some)
}

/// Takes in the end of what is kept up to somewhere: the one session that `tell` tells from there on.
pub(super) fn take_in_end(
    repo: &Repo,
    file: &SessionInput<'_>,
    onward: &Onward,
    request: &ImportRequest<'_>,
    tell: impl FnOnce(&mut dyn Sink) -> Result<()>,
) -> Result<ImportReport> {
    let (mut done, mut progress) = (Done::default(), |_| {});
    let size_bytes = file.input.size_bytes() - onward.source.size_bytes;
    let intake = Intake::of(repo, file, request, &mut done, &mut progress)?;
    let mut intake = intake.onward(onward, size_bytes);
    let upheaval = intake.upheaval;
    let read = intake.read(size_bytes, tell);
    let ended = intake.end(read);
    #[cfg(test)]
    GROWN.set(GROWN.get() + u64::from(ended.is_ok()));
    match ended {
        Err(_) if Upheaval::of(&*repo.store.read()?)? != upheaval => {
            Err(Error::overtaken(file.stem.clone()))
        }
        ended => ended,
    }
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
    /// How many commits they added, by the session's place in the file.
    commits: Vec<u64>,
}

/// Takes everything in.
struct Intake<'a> {
    store: &'a dyn Store,
    request: &'a ImportRequest<'a>,
    file: &'a SessionInput<'a>,
    /// Where it goes on, if it was here before and is not read whole.
    growth: Option<&'a Onward>,
    /// Whether nobody else may come in between, from the first slice to the end.
    holds: bool,
    /// The session that it is about, once that is told: others may write to all else. None where it is for nobody else to
    /// write meanwhile.
    on: Option<RefName>,
    is_alone: bool,
    /// What it must not have come to since it began.
    upheaval: Upheaval,
    slices: Slices<'a>,
    current: Option<Session<'a>>,
    #[expect(clippy::vec_box, reason = "each is let go of when its refs have moved")]
    sessions: Vec<Box<Arrived>>,
    records: CommitRecords,
    problems: Problems,
    done: &'a mut Done,
    progress: &'a mut dyn FnMut(Progress),
}

impl<'a> Intake<'a> {
    /// Of all of a file, in slices.
    fn of(
        repo: &'a Repo,
        file: &'a SessionInput<'a>,
        request: &'a ImportRequest<'a>,
        done: &'a mut Done,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Result<Self> {
        let store = &*repo.store;
        let slices = Slices::of(store, SLICE_WORK).for_whom(request.waiting);
        Ok(Self {
            store,
            request,
            file,
            growth: None,
            holds: false,
            on: None,
            is_alone: false,
            upheaval: Upheaval::of(&*store.read()?)?,
            slices,
            current: None,
            sessions: Vec::new(),
            records: CommitRecords::default(),
            problems: Problems::default(),
            done,
            progress,
        })
    }

    /// Of its end, of so many bytes: a little is one transaction.
    fn onward(self, onward: &'a Onward, size_bytes: u64) -> Self {
        let name = onward.source.session.clone();
        let mut onward = Self {
            growth: Some(onward),
            ..self.holding(size_bytes <= GROWN_BYTES)
        };
        onward.is_about(name);
        onward
    }

    fn holding(self, holds: bool) -> Self {
        let share = if holds { usize::MAX } else { SLICE_WORK };
        Self {
            holds,
            slices: Slices::of(self.store, share).for_whom(self.request.waiting),
            ..self
        }
    }

    /// From here on nobody else writes.
    fn alone(self, is_alone: bool) -> Self {
        Self { is_alone, ..self }
    }

    /// Which session it is about, where that is not known yet.
    fn is_about(&mut self, name: RefName) {
        if self.is_alone || self.on.is_some() {
            return;
        }
        self.on = Some(name);
        let slices = std::mem::replace(&mut self.slices, Slices::of(self.store, SLICE_WORK));
        self.slices = slices.on(self.on.clone());
    }

    /// The next slices, of so much work each.
    fn slices_of(&self, share: usize) -> Slices<'a> {
        let slices = Slices::of(self.store, share).for_whom(self.request.waiting);
        slices.on(self.on.clone())
    }

    /// What comes of it, once it is read; nothing is open any more where that failed.
    fn end(self, read: Result<()>) -> Result<ImportReport> {
        read?;
        self.finish()
    }

    /// Takes what is told of so many bytes.
    fn read(
        &mut self,
        size_bytes: u64,
        tell: impl FnOnce(&mut dyn Sink) -> Result<()>,
    ) -> Result<()> {
        let prepare = self.store.preparing(true)?;
        let making = Making {
            counter: self.request.counter,
            secrets: self.request.secrets,
            redacts: self.file.redacted.is_some(),
            prepare: &*prepare,
        };
        read_ahead(size_bytes, making, self, tell)
    }

    /// Runs `act` on the current session inside the current slice.
    fn with_session(
        &mut self,
        act: impl FnOnce(&mut Session<'_>, &dyn Tx) -> Result<()>,
    ) -> Result<()> {
        let session = self
            .current
            .as_mut()
            .ok_or_else(|| Error::malformed("session", "a step before its session"))?;
        act(session, self.slices.tx()?)?;
        for (commit, spans) in session.found.records.drain(..) {
            self.records.push(commit, spans)?;
        }
        self.slices.worked(std::mem::take(&mut session.work))?;
        if !self.slices.is_open() {
            session.let_others_in();
        }
        Ok(())
    }

    /// Places the sessions, keeps the source, moves the refs, and reports: all at once, unless that is much.
    fn finish(mut self) -> Result<ImportReport> {
        let commits = &mut self.done.commits;
        commits.resize(commits.len().max(self.sessions.len()), 0);
        for (session, before) in self.sessions.iter_mut().zip(commits) {
            session.found.new_commits += *before;
            *before = session.found.new_commits;
        }
        let input = &*self.file.input;
        let file = match self.growth {
            Some(growth) => SourceFile::grown(input, (growth.source.size_bytes, &growth.hash)),
            None => SourceFile::of(input),
        };
        let placed = self.place(&file)?;
        let source = self.keep(&file, &placed)?;
        self.move_refs(&file, placed, source)
    }

    /// Finds where each session belongs, and whether anything of them was purged.
    fn place(&mut self, file: &SourceFile<'_>) -> Result<Placed> {
        if !self.holds {
            self.slices.end()?;
        }
        if let Some(growth) = self.growth {
            let name = &growth.source.session;
            let places = self.sessions.iter();
            let places = places.map(|session| Placement::grown(name, growth.tip, session));
            return Ok(Placed {
                places: places.collect(),
                is_purged: false,
            });
        }
        let read;
        let view: &dyn View = if self.holds {
            self.slices.tx()?
        } else {
            read = self.store.read()?;
            &*read
        };
        let mut placed = Placed::default();
        let path = self.file.file.as_ref().map(|(path, _)| path.as_str());
        for session in &self.sessions {
            let place = Placement::of(view, self.file.format, session, file, path)?;
            for tip in session.found.paths.iter().filter_map(|path| path.tip) {
                placed.is_purged = placed.is_purged || holds_erased(view, &tip)?;
            }
            let known = view.session(&place.name)?.unwrap_or_default();
            placed.is_purged |= known.absent.iter().any(|it| it == ERASED);
            placed.places.push(place);
        }
        Ok(placed)
    }

    /// Keeps the source and the records behind commits; gives the source, if there is to be one.
    fn keep(&mut self, file: &SourceFile<'_>, placed: &Placed) -> Result<Option<u64>> {
        if !self.holds {
            self.slices = self.slices_of(SLICE_RECORDS);
        }
        let SessionInput { format, stem, .. } = self.file;
        // Of what stands in pieces in several records the file still says it.
        let in_pieces = self.sessions.iter().any(|session| session.found.in_pieces);
        let is_older = placed.places.iter().any(|place| place.is_older);
        // What was purged stays gone, and so would the file that held it.
        if placed.is_purged || in_pieces || is_older {
            return Ok(None);
        }
        let name = match &placed.places[..] {
            [only] => only.name.clone(),
            _ => RefName::session(format.name, stem),
        };
        self.records.settle()?;
        let kept = file.keep(&mut self.slices, &name, format, &self.records)?;
        if kept.is_new {
            self.done.source = Some(kept.source);
        }
        file.keep_records(&mut self.slices, &kept, &self.records)?;
        Ok(Some(kept.source))
    }

    /// Moves the refs, if all is still as it was when it was placed, and reports.
    fn move_refs(
        mut self,
        file: &SourceFile<'_>,
        placed: Placed,
        source: Option<u64>,
    ) -> Result<ImportReport> {
        let mut slices = std::mem::replace(&mut self.slices, Slices::of(self.store, SLICE_WORK));
        if self.sessions.len() > MANY_SESSIONS && !self.is_alone {
            // A lock for each of a million sessions is more than a server has: it has one for all.
            slices.end()?;
            slices = slices.on(None);
        }
        let tx = slices.last()?;
        self.check(&*tx, file, &placed, source)?;
        if let Some(begun) = self.done.source.filter(|_| placed.is_purged) {
            tx.purge_source(begun)?;
        }
        let head = HeadBefore::of(&*tx, self.request)?;
        // All refs are looked at only where that matters: there may be thousands of them, and as many files. Where HEAD
        // is on a branch that is there, there are some.
        let is_first = !self.request.is_aside && self.growth.is_none() && !head.has_branch;
        // Below a home, only what is named comes to where one is: `main` is nobody's directory.
        let is_here = head.moves || !repository::is_of_directory(&*tx);
        let begins = is_first && is_here && self.request.branch.is_none();
        let first = if begins && tx.references("refs/")?.is_empty() {
            Some(head.first_branch())
        } else {
            None
        };
        tx.begin_moves(self.request.now, self.request.what)?;
        if let Some(source) = source {
            self.remember(&*tx, file, source)?;
        }
        let mut reports = Vec::with_capacity(self.sessions.len());
        let places = self.sessions.drain(..).zip(placed.places);
        for (index, (mut session, mut place)) in places.enumerate() {
            let chosen = match (self.request.branch, index) {
                (Some(name), 0) => Some(name.to_owned()),
                (Some(name), _) => Some(format!("{name}/{}", index + 1)),
                (None, 0) => first.clone(),
                (None, _) => None,
            };
            if placed.is_purged {
                Arc::make_mut(&mut session.found.end).title = None;
                place.is_erased = true;
                if tx.origin(&place.name)?.is_none() && tx.sources(&place.name)?.is_empty() {
                    tx.put_origin(&place.name, &self.file.began()?)?;
                }
            }
            if self.file.redacted.is_some() {
                let end = Arc::make_mut(&mut session.found.end);
                end.absent.push(REDACTED.to_owned());
            }
            let report = place.move_refs(&*tx, *session, chosen.as_deref())?;
            // Nobody has chosen that name: another first import has made it at the same moment.
            if index == 0 && first.is_some() && matches!(report.branch, BranchOutcome::Stays(_)) {
                return Err(Error::overtaken(self.file.stem.clone()));
            }
            reports.push(report);
        }
        if let Some(branch) = reports.iter().find_map(|session| session.branch.name()) {
            head.move_to(&*tx, branch)?;
        }
        // Until here nothing of it is to be seen.
        self.request.waiting.go_on()?;
        tx.commit()?;
        Ok(ImportReport {
            format: self.file.format,
            sessions: reports,
            redacted: self.file.redacted.clone().unwrap_or_default(),
            problems: self.problems.first,
            problem_count: self.problems.count,
            notes: self.problems.notes,
        })
    }

    /// Refuses to go on if anything is elsewhere by now.
    fn check(
        &self,
        tx: &dyn Tx,
        file: &SourceFile<'_>,
        placed: &Placed,
        source: Option<u64>,
    ) -> Result<()> {
        for place in &placed.places {
            place.check(tx)?;
        }
        let is_kept = match source {
            Some(source) => file.is_kept(tx, source)?,
            None => true,
        };
        if is_kept && Upheaval::of(tx)? == self.upheaval {
            Ok(())
        } else {
            Err(Error::overtaken(self.file.stem.clone()))
        }
    }

    /// Writes down how the file was: to go on with the one session in it, and to know whether the file is there still.
    fn remember(&self, tx: &dyn Tx, file: &SourceFile<'_>, source: u64) -> Result<()> {
        let Some(from) = self
            .file
            .file
            .as_ref()
            .filter(|_| !self.sessions.is_empty())
        else {
            return Ok(());
        };
        let settings = match &self.sessions[..] {
            [session] => session.found.settings.clone(),
            _ => Settings::default(),
        };
        let remembered = file.remembered(from, source, settings, self.request.now)?;
        let known = tx.followed(&remembered.path)?;
        // When it was last looked at is no news.
        let time = remembered.time;
        let is_known = known.is_some_and(|known| FollowedFile { time, ..known } == remembered);
        if !is_known && file.is_end_of(tx, source)? {
            tx.put_followed(&remembered)
        } else {
            Ok(())
        }
    }
}

/// Where the sessions of a file belong.
#[derive(Default)]
struct Placed {
    places: Vec<Placement>,
    /// Whether anything of them was purged.
    is_purged: bool,
}

/// Where HEAD was before anything moved, if nothing is there yet.
struct HeadBefore {
    unborn: Option<RefName>,
    /// Whether it is on a branch that is there.
    has_branch: bool,
    /// Whether it goes to the branch that is made.
    moves: bool,
    /// The branches that there were, where that matters.
    branches: Vec<RefName>,
}

impl HeadBefore {
    fn of(tx: &dyn Tx, request: &ImportRequest<'_>) -> Result<Self> {
        let (unborn, has_branch) = match repository::head(tx, &On::Head)? {
            Head::Attached { branch, tip: None } => (Some(branch), false),
            Head::Attached { .. } => (None, true),
            _ => (None, false),
        };
        let moves = unborn.is_some() && request.moves_head;
        let branches = if moves {
            tx.references(RefName::HEADS)?
        } else {
            Vec::new()
        };
        Ok(Self {
            unborn,
            has_branch,
            moves,
            branches: branches.into_iter().map(|(name, _)| name).collect(),
        })
    }

    /// What the first branch of all is called.
    fn first_branch(&self) -> String {
        match &self.unborn {
            Some(branch) if self.moves => branch.short().to_owned(),
            _ => "main".to_owned(),
        }
    }

    /// Moves HEAD to a branch that was made, if nothing is where it is.
    fn move_to(&self, tx: &dyn Tx, branch: &RefName) -> Result<()> {
        if !self.moves || self.branches.contains(branch) || self.unborn.as_ref() == Some(branch) {
            return Ok(());
        }
        // A directory's HEAD is at its newest session of itself.
        if repository::is_of_directory(tx) && repository::head(tx, &On::Head)?.commit().is_some() {
            return Ok(());
        }
        let head = RefValue::Symbolic(branch.clone());
        tx.set_reference(&RefName::head(), Some(&head))
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
        let mut messages = || messages.clone().collect::<Vec<ContentHash>>();
        if messages().is_empty() {
            return Ok(());
        }
        let begins = next.iter().find_map(|told| match told {
            Told::Session(start) => Some(RefName::session(self.file.format.name, &start.id)),
            _ => None,
        });
        if let Some(name) = begins {
            self.is_about(name);
        }
        self.slices.about(&mut messages)?.foresee(&mut messages)
    }

    fn take(&mut self, told: Told<Ready>) -> Result<()> {
        self.request.waiting.go_on()?;
        match told {
            Told::Session(start) => {
                let (tool, request) = (self.file.format.name, self.request);
                let (counter, secrets) = (request.counter, request.secrets);
                self.is_about(RefName::session(tool, &start.id));
                let file = self.file;
                let originals = || file.originals();
                let tx = self.slices.tx()?;
                let mut session = Session::begin(tx, tool, start, &originals, counter, secrets)?;
                session.recorded = request.is_live.then_some(request.now);
                if let Some(growth) = self.growth {
                    session.go_on(growth.from, growth.is_told, &growth.settings);
                }
                self.current = Some(session);
                Ok(())
            }
            Told::Branch(branch) => self.with_session(|session, tx| {
                session.settle(tx)?;
                session.branch(branch)
            }),
            Told::Step(step) => self.with_session(|session, tx| session.step(tx, step)),
            Told::End(end) => {
                self.with_session(|session, tx| {
                    session.found.end = Arc::new(end);
                    session.settle(tx)
                })?;
                let before = self.sessions.last().map(|before| &**before);
                let arrived = self.current.take().map(|it| Arrived::of(it, before));
                self.sessions.extend(arrived.map(Box::new));
                if let [.., before, last] = &mut self.sessions[..] {
                    // Only a file of one session is gone on with by them; they may hold the tools.
                    before.found.settings = Settings::default();
                    last.found.settings = Settings::default();
                }
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
