//! A session file into refs and commits.
//!
//! Steps become commits as they arrive, in slices that nothing refers to yet; the last slice
//! moves the refs. So a crash leaves only what a second import finds and uses.

use std::path::Path as FilePath;

use super::file::{BLOCK_BYTES, FileInput, blocks, fingerprint};
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, Fingerprint, HashBytes};
use crate::history::Repo;
use crate::history::purge::holds_purged;
use crate::interop::{
    Action, BranchStart, Format, ImportOptions, Input, Problem, SessionEnd, SessionStart, Sink,
    Step, sniff,
};
use crate::model::tokens::Counter;
use crate::model::{HideKind, Millis, RefName, RefValue, Span};
use crate::store::{SessionRow, SourceRow, Store, Tx, View};

/// How much work one slice holds: commits and parts. About 200 ms.
const SLICE_WORK: usize = 4_000;
/// How many blocks of a source one slice keeps.
const SLICE_BLOCKS: usize = 8;
/// How many problems are reported one by one.
const REPORTED_PROBLEMS: usize = 10;

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

/// What an import found and did.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// The format.
    pub format: &'static Format,
    /// The sessions in the file.
    pub sessions: Vec<ImportedSession>,
    /// The first problems, in order.
    pub problems: Vec<Problem>,
    /// How many problems there are in all, by reason, harmless ones aside.
    pub problem_count: u64,
    /// Harmless oddities: a torn last line.
    pub notes: Vec<Problem>,
}

/// One imported session.
#[derive(Clone, Debug)]
pub struct ImportedSession {
    /// Its ref.
    pub name: RefName,
    /// How it relates to what was here.
    pub outcome: Outcome,
    /// Messages on its main path, hidden ones included.
    pub messages: u64,
    /// Commits that were not here before, on all paths.
    pub new_commits: u64,
    /// The end of its main path.
    pub tip: Option<CommitHash>,
    /// The vendor's own hides on the main path: kind, commit, and the commit before.
    pub hides: Vec<(HideKind, CommitHash, Option<CommitHash>)>,
    /// The branch that follows it.
    pub branch: BranchOutcome,
    /// Its further paths: sub-agents and abandoned leaves.
    pub further: Vec<RefName>,
    /// What the importer said at its end: title, what was kept and is no message, what is absent.
    pub end: SessionEnd,
}

/// How a session relates to what was here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not seen before.
    New,
    /// Known; the file has grown.
    Grown,
    /// Known; nothing new.
    Unchanged,
    /// Known, but its history was rewritten: the session has a new ref.
    Rewritten,
}

/// What became of the branch that follows a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchOutcome {
    /// It is where the session is.
    Follows(RefName),
    /// It has commits of its own and stays.
    Stays(RefName),
    /// The session has no messages, so there is none.
    None,
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
    let input = FileInput::open(path)?;
    let format = known_format(&input, path, request.format)?;
    let stem = stem(path, format);
    let options = ImportOptions { stem: &stem };
    let total_bytes = input.size_bytes();
    let mut sink = Intake {
        store: &*repo.store,
        request,
        format,
        tx: None,
        work: 0,
        current: None,
        sessions: Vec::new(),
        problems: Problems::default(),
        progress: &mut |bytes, records| {
            progress(Progress {
                bytes,
                total_bytes,
                records,
            })
        },
    };
    (format.read)(&input, options, &mut sink)?;
    sink.finish(&input, &stem)
}

/// Reads one file without a repository; a strict import does so before it writes. It is read a
/// second time then: what comes in is written as it is read, so nobody may write before it is known
/// that nothing is wrong.
///
/// # Errors
///
/// [`Error::StrictImport`] if anything is wrong in it, and as [`import`].
pub fn check_strict(path: &FilePath, format: Option<&'static Format>) -> Result<()> {
    let input = FileInput::open(path)?;
    let format = known_format(&input, path, format)?;
    let mut found = Problems::default();
    (format.read)(&input, ImportOptions::default(), &mut found)?;
    let first = found.first.into_iter();
    match found.count {
        0 => Ok(()),
        problems => Err(Error::StrictImport {
            path: path.to_owned(),
            problems,
            first: first
                .map(|problem| (problem.line, problem.reason))
                .collect(),
        }),
    }
}

/// What an import of a file would find, for listings.
#[derive(Clone, Debug, Default)]
pub struct Inspected {
    /// The id of the last session in it.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// Messages on the main path.
    pub messages: u64,
    /// Compactions on the main path.
    pub compactions: u64,
    /// Whether a further path has begun.
    branched: bool,
}

/// Reads one file without a repository.
///
/// # Errors
///
/// As [`import`].
pub fn inspect(path: &FilePath) -> Result<Inspected> {
    let input = FileInput::open(path)?;
    let format = known_format(&input, path, None)?;
    let stem = stem(path, format);
    let mut found = Inspected::default();
    (format.read)(&input, ImportOptions { stem: &stem }, &mut found)?;
    Ok(found)
}

/// The name of a session that holds none: its file's, or its directory's where the file is called
/// like every other session's.
fn stem(path: &FilePath, format: &Format) -> String {
    let own = path.file_stem().unwrap_or_default();
    let absolute = std::path::absolute(path).unwrap_or_default();
    let directory = absolute.parent().and_then(FilePath::file_name);
    let is_common = format.common_stem.is_some_and(|common| own == common);
    let stem = directory.filter(|_| is_common).unwrap_or(own);
    stem.to_string_lossy().into()
}

/// The format of a file that is said to be in the `given` one.
fn known_format(
    input: &dyn Input,
    path: &FilePath,
    given: Option<&'static Format>,
) -> Result<&'static Format> {
    let found = sniff::sniff(input)?;
    match (given, found) {
        (None, found) => found.ok_or_else(|| Error::UnknownFormat {
            path: path.to_owned(),
        }),
        (Some(given), Some(found))
            if found != given && !(found.bare_messages && given.bare_messages) =>
        {
            let detail = format!("the content is {found}, not {given}");
            Err(Error::input(path.display().to_string(), detail))
        }
        (Some(given), _) => Ok(given),
    }
}

/// Takes everything in.
struct Intake<'a> {
    store: &'a dyn Store,
    request: &'a ImportRequest<'a>,
    format: &'static Format,
    tx: Option<Box<dyn Tx + 'a>>,
    work: usize,
    current: Option<Session>,
    sessions: Vec<Session>,
    problems: Problems,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl<'a> Intake<'a> {
    /// Runs `act` on the current session inside the current slice.
    fn with_session<T>(
        &mut self,
        act: impl FnOnce(&mut Session, &dyn Tx, Option<&Counter>) -> Result<T>,
    ) -> Result<T> {
        if self.tx.is_none() {
            self.tx = Some(self.store.write()?);
        }
        let tx = self.tx.as_deref().expect("opened above");
        let session = self.current.as_mut().ok_or_else(|| Error::Malformed {
            what: "session",
            detail: "a step before its session".into(),
        })?;
        act(session, tx, self.request.counter)
    }

    /// Ends the slice if it has done its share.
    fn slice(&mut self, work: usize) -> Result<()> {
        self.work += work;
        if self.work >= SLICE_WORK {
            self.work = 0;
            if let Some(tx) = self.tx.take() {
                tx.commit()?;
            }
        }
        Ok(())
    }

    /// Keeps the source, moves the refs, and reports.
    fn finish(mut self, input: &dyn Input, stem: &str) -> Result<ImportReport> {
        if let Some(tx) = self.tx.take() {
            tx.commit()?;
        }
        let sessions = std::mem::take(&mut self.sessions);
        let single = sessions.len() == 1;
        let whole = fingerprint(input, input.size_bytes())?;
        let mut placed = Vec::with_capacity(sessions.len());
        for session in &sessions {
            placed.push(self.place(session, input, &whole)?);
        }
        let source_name = match placed.first() {
            Some(first) if single => first.name.clone(),
            _ => RefName::session(self.format.name, stem),
        };
        let older = placed.iter().any(|place| place.is_older);
        // What was purged stays gone, and so would the file that held it.
        let view = self.store.read()?;
        let mut purged = false;
        for session in &sessions {
            for tip in session.paths.iter().filter_map(|path| path.tip) {
                purged = purged || holds_purged(&*view, &tip)?;
            }
        }
        drop(view);
        let source = match older || purged {
            true => None,
            false => Some(self.keep_source(&source_name, input, &whole)?),
        };
        let mut work = 0;
        let mut tx = self.store.write()?;
        for session in &sessions {
            let Some(source) = source else { break };
            for (commit, spans) in &session.records {
                tx.put_records(commit, source, spans)?;
                work += 1;
                if work % (SLICE_WORK * 4) == 0 {
                    tx.commit()?;
                    tx = self.store.write()?;
                }
            }
        }
        let empty = tx.references("refs/")?.is_empty();
        tx.begin_operation(self.request.now, self.request.what)?;
        let mut reports = Vec::with_capacity(sessions.len());
        for (index, (session, place)) in sessions.into_iter().zip(placed).enumerate() {
            let chosen = match (self.request.branch, index) {
                (Some(name), 0) => Some(name.to_owned()),
                (Some(name), _) => Some(format!("{name}/{}", index + 1)),
                (None, 0) if empty => Some("main".to_owned()),
                (None, _) => None,
            };
            let mut session = session;
            if purged {
                session.end.title = None;
            }
            let report = move_refs(&*tx, session, place, chosen.as_deref())?;
            reports.push(report);
        }
        tx.commit()?;
        Ok(ImportReport {
            format: self.format,
            sessions: reports,
            problems: self.problems.first,
            problem_count: self.problems.count,
            notes: self.problems.notes,
        })
    }

    /// Finds the ref of a session: its own, or a new one beside it if its history was rewritten.
    fn place(&self, session: &Session, input: &dyn Input, whole: &HashBytes) -> Result<Placement> {
        let view = self.store.read()?;
        let tip = session.paths[0].tip;
        let base = RefName::session(self.format.name, &session.start.id);
        let mut candidates = Vec::new();
        let mut free = base.clone();
        for number in 2.. {
            match view.reference(&free)? {
                Some(RefValue::Commit(old)) => candidates.push((free, old)),
                _ => break,
            }
            free = RefName::session(self.format.name, &format!("{}-{number}", session.start.id));
        }
        let at = |name: &RefName, old: &CommitHash, outcome, is_older| Placement {
            name: name.clone(),
            old: Some(*old),
            outcome,
            is_older,
        };
        for (name, old) in &candidates {
            if Some(*old) == tip {
                return Ok(at(name, old, Outcome::Unchanged, false));
            }
            let mut sources = view.sources(name)?.into_iter();
            if sources.any(|source| source.fingerprint == *whole) {
                return Ok(at(name, old, Outcome::Grown, false));
            }
        }
        for (name, old) in &candidates {
            let sources = view.sources(name)?;
            let mut grown = match tip {
                Some(tip) => view.is_ancestor(old, &tip)? || same_messages(&*view, old, &tip)?,
                None => false,
            };
            for source in &sources {
                grown = grown || is_prefix(source, input)?;
            }
            if grown {
                return Ok(at(name, old, Outcome::Grown, false));
            }
            for source in &sources {
                if begins_with(&*view, source, input.size_bytes(), whole)? {
                    return Ok(at(name, old, Outcome::Unchanged, true));
                }
            }
        }
        Ok(Placement {
            name: free,
            old: None,
            outcome: match candidates[..] {
                [] => Outcome::New,
                _ => Outcome::Rewritten,
            },
            is_older: false,
        })
    }

    /// Keeps the file's bytes; of a file that has grown, only what is new.
    fn keep_source(&self, name: &RefName, input: &dyn Input, whole: &HashBytes) -> Result<u64> {
        let known = self.store.read()?.sources(name)?;
        if let Some(same) = known.iter().find(|source| source.fingerprint == *whole) {
            return Ok(same.id);
        }
        let mut from = 0;
        let mut id = None;
        for source in &known {
            if is_prefix(source, input)? {
                (from, id) = (source.size_bytes, Some(source.id));
                break;
            }
        }
        let mut hash = Fingerprint::default();
        blocks(input, 0, from, |block| {
            hash.update(block);
            Ok(())
        })?;
        let id = match id {
            Some(id) => id,
            None => {
                let tx = self.store.write()?;
                let id = tx.put_source(name, self.format.name)?;
                tx.commit()?;
                id
            }
        };
        let mut slice = Vec::new();
        let keep = |slice: &mut Vec<(Vec<u8>, HashBytes)>| {
            let tx = self.store.write()?;
            for (block, value) in slice.drain(..) {
                tx.append_source(id, &block, &value)?;
            }
            tx.commit()
        };
        blocks(input, from, input.size_bytes(), |block| {
            hash.update(block);
            slice.push((block.to_vec(), hash.value()));
            if slice.len() >= SLICE_BLOCKS {
                keep(&mut slice)
            } else {
                Ok(())
            }
        })?;
        keep(&mut slice)?;
        Ok(id)
    }
}

/// The ref of a session, and how it got there.
struct Placement {
    name: RefName,
    old: Option<CommitHash>,
    outcome: Outcome,
    /// The file is an earlier state of what is here: no ref moves back to it.
    is_older: bool,
}

impl Sink for Intake<'_> {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        // Inside the open slice, if there is one: a second connection would wait for it.
        let resumed = match &self.tx {
            Some(tx) => tx.resumed(self.format.name, &start.id)?,
            None => self.store.read()?.resumed(self.format.name, &start.id)?,
        };
        self.current = Some(Session::new(start, resumed));
        Ok(())
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        let work = self.with_session(|session, tx, counter| {
            let work = session.settle(tx, counter)?;
            session.branch(branch)?;
            Ok(work)
        })?;
        self.slice(work)
    }

    fn step(&mut self, step: Step) -> Result<()> {
        let work = self.with_session(|session, tx, counter| session.step(tx, step, counter))?;
        self.slice(work)
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        let work = self.with_session(|session, tx, counter| {
            session.end = end;
            session.settle(tx, counter)
        })?;
        self.sessions.extend(self.current.take());
        self.slice(work)
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.problem(problem)
    }

    fn progress(&mut self, bytes: u64, records: u64) {
        (self.progress)(bytes, records);
    }
}

/// Whether the file begins with the bytes of a kept source.
fn is_prefix(source: &SourceRow, input: &dyn Input) -> Result<bool> {
    Ok(source.size_bytes > 0
        && source.size_bytes <= input.size_bytes()
        && fingerprint(input, source.size_bytes)? == source.fingerprint)
}

/// Whether a kept source begins with a file of this size and fingerprint.
fn begins_with(
    view: &dyn View,
    source: &SourceRow,
    size_bytes: u64,
    whole: &HashBytes,
) -> Result<bool> {
    if source.size_bytes < size_bytes {
        return Ok(false);
    }
    let mut hash = Fingerprint::default();
    let mut offset = 0;
    while offset < size_bytes {
        let len = (size_bytes - offset).min(BLOCK_BYTES as u64);
        let bytes = view.source_bytes(source.id, Span { offset, len })?;
        if bytes.is_empty() {
            return Ok(false);
        }
        hash.update(&bytes);
        offset += bytes.len() as u64;
    }
    Ok(hash.value() == *whole)
}

/// Whether the path to `old` says, message by message, what the path to `new` begins with. Times
/// and settings aside: a request that has grown bears its settings on its new last message.
fn same_messages(view: &dyn View, old: &CommitHash, new: &CommitHash) -> Result<bool> {
    let old = view.ancestors(old, None, usize::MAX)?;
    let new = view.ancestors(new, None, usize::MAX)?;
    let same = |(old, new): (&crate::store::CommitRow, &crate::store::CommitRow)| {
        old.commit.operation == new.commit.operation
    };
    Ok(old.len() <= new.len() && old.iter().rev().zip(new.iter().rev()).all(same))
}

/// Points the session ref, its further paths and the branches that follow them.
fn move_refs(
    tx: &dyn Tx,
    session: Session,
    place: Placement,
    chosen: Option<&str>,
) -> Result<ImportedSession> {
    let tip = if place.is_older {
        place.old
    } else {
        session.paths[0].tip
    };
    let row = SessionRow {
        title: session.end.title.clone(),
        cwd: session.end.cwd.clone(),
        absent: session.end.absent.clone(),
    };
    let mut branch = BranchOutcome::None;
    let mut further = Vec::new();
    if !place.is_older {
        tx.put_session(&place.name, &row)?;
    }
    if let Some(tip) = tip {
        tx.set_reference(&place.name, Some(&RefValue::Commit(tip)))?;
        branch = follow(tx, &place.name, place.old, tip, chosen)?;
    }
    let follower = match &branch {
        BranchOutcome::Follows(name) | BranchOutcome::Stays(name) => Some(name.clone()),
        BranchOutcome::None => None,
    };
    let paths = if place.is_older {
        &[]
    } else {
        &session.paths[1..]
    };
    for path in paths {
        let (Some(name), Some(tip)) = (&path.name, path.tip) else {
            continue;
        };
        let value = RefValue::Commit(tip);
        let Ok(theirs) = format!("{}/{name}", place.name).parse::<RefName>() else {
            continue;
        };
        let old = tx.reference(&theirs)?;
        tx.set_reference(&theirs, Some(&value))?;
        let row = SessionRow {
            title: path.title.clone(),
            ..SessionRow::default()
        };
        tx.put_session(&theirs, &row)?;
        let ours = follower
            .as_ref()
            .and_then(|branch| format!("{branch}/{name}").parse().ok());
        if let Some(ours) = ours {
            // A branch that has moved on its own stays where it is.
            let current = tx.reference(&ours)?;
            if current.is_none() || current == old {
                tx.set_reference(&ours, Some(&value))?;
            }
            further.push(ours);
        } else {
            further.push(theirs);
        }
    }
    Ok(ImportedSession {
        name: place.name,
        outcome: place.outcome,
        messages: session.messages,
        new_commits: session.new_commits,
        tip,
        hides: session.hides,
        branch,
        further,
        end: session.end,
    })
}

/// Moves the branch that follows a session, or makes it.
fn follow(
    tx: &dyn Tx,
    session: &RefName,
    old: Option<CommitHash>,
    tip: CommitHash,
    chosen: Option<&str>,
) -> Result<BranchOutcome> {
    let name = match (chosen, tx.follower(session)?) {
        (Some(name), _) => RefName::branch(name)?,
        (None, Some(name)) => name,
        (None, None) => free_branch(tx, session, &tip)?,
    };
    let value = RefValue::Commit(tip);
    match tx.reference(&name)? {
        Some(RefValue::Commit(current)) if current == tip => {}
        Some(RefValue::Commit(current)) if Some(current) == old => {
            tx.set_reference(&name, Some(&value))?;
        }
        Some(_) => return Ok(BranchOutcome::Stays(name)),
        // A branch that its owner has deleted stays deleted; a new session gets one.
        None => tx.set_reference(&name, Some(&value))?,
    }
    tx.set_follower(session, &name)?;
    Ok(BranchOutcome::Follows(name))
}

/// A branch name after the session's that is free, or is at `tip` already.
fn free_branch(view: &dyn View, session: &RefName, tip: &CommitHash) -> Result<RefName> {
    let below = session
        .as_str()
        .strip_prefix(RefName::SESSIONS)
        .unwrap_or("session/session");
    let (tool, id) = below.split_once('/').unwrap_or(("session", below));
    let (first, rest) = id
        .split_once('/')
        .map_or((id, ""), |(first, rest)| (first, rest));
    // Nobody types a UUID.
    let uuid = uuid::Uuid::try_parse(first.get(..36).unwrap_or(first)).is_ok();
    let first = if uuid {
        format!("{tool}-{}", &first[..8])
    } else {
        first.to_owned()
    };
    let stem = if rest.is_empty() {
        first
    } else {
        format!("{first}/{rest}")
    };
    for number in 1.. {
        let name = if number == 1 {
            stem.clone()
        } else {
            format!("{stem}-{number}")
        };
        let name = RefName::branch(&name)?;
        match view.reference(&name)? {
            None => return Ok(name),
            Some(RefValue::Commit(current)) if current == *tip => return Ok(name),
            Some(_) => {}
        }
    }
    unreachable!("numbers do not run out")
}

/// Problems, the first of them kept.
#[derive(Default)]
struct Problems {
    first: Vec<Problem>,
    count: u64,
    /// The first of the harmless ones.
    notes: Vec<Problem>,
}

impl Sink for Problems {
    fn problem(&mut self, problem: Problem) -> Result<()> {
        let list = match problem.harmless {
            true => &mut self.notes,
            false => &mut self.first,
        };
        self.count += u64::from(!problem.harmless);
        if list.len() < REPORTED_PROBLEMS {
            list.push(problem);
        }
        Ok(())
    }
}

impl Sink for Inspected {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        self.id = start.id;
        Ok(())
    }

    fn branch(&mut self, _: BranchStart) -> Result<()> {
        self.branched = true;
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<()> {
        match step.action {
            _ if self.branched => {}
            Action::Append(_) => self.messages += 1,
            Action::Hide(hide) => {
                self.compactions += u64::from(hide.kind == HideKind::Compaction);
            }
        }
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.title = end.title;
        Ok(())
    }
}
