//! A commit's context as a new session that its tool can go on with.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use super::export::session_format;
use super::file_along::FileAlong;
use super::outgoing::{
    Kept, outgoing, shape, without_citations, without_lost_thoughts, without_unpaired,
};
use super::session::digest;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::formats::shared::origin::with_original;
use crate::formats::shared::records::each_record;
use crate::formats::shared::redaction::Sieve;
use crate::formats::{
    Action, BranchStart, Document, Export, Format, Outgoing, Shape, Sink, Source, Step,
};
use crate::hash::{CommitHash, ContentHash};
use crate::model::secret::Leaving;
use crate::model::{HideKind, Millis, Operation, RefName, Span, Usage};
use crate::repo::kept::{KeptSource, format_of};
use crate::repo::path::{self, file_of, session_of};
use crate::repo::{Repo, load, prompts};
use crate::store::{CommitRow, ResumeRow, View};
use crate::sync::leaks::leaks;

/// How long the first record of a session may be, to be looked at.
const OPENING_BYTES: u64 = 1 << 20;

/// How many messages from the beginning are looked at for one that a person typed.
const PROMPT_SEARCH: usize = 32;

/// A session that a resume makes.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    /// Where it goes on: a format with a way to [`Format::resume`].
    pub format: &'static Format,
    /// Its id, new.
    pub id: String,
    /// The working directory that it will run in.
    pub cwd: String,
    /// Now.
    pub now: Millis,
    /// Random bytes that further ids are made from.
    pub seed: [u8; 32],
    /// The command, for the operations.
    pub what: String,
    /// The provider that the tool talks to by its settings, if it says so.
    pub provider: Option<String>,
    /// What is done about secrets in it.
    pub leaving: Leaving<'a>,
}

/// What a resume made.
#[derive(Clone, Debug, Default)]
pub struct Resumed {
    /// The session file's bytes.
    pub bytes: Vec<u8>,
    /// What was left out or put otherwise.
    pub remarks: Vec<String>,
    /// The files that the session names, for [`super::tool_dirs::ToolDirs::take_along`].
    pub files: Vec<FileAlong>,
}

/// Makes a new session file of the context at `commit`, and remembers it, so that an import of
/// its continuation goes on from that commit.
///
/// # Errors
///
/// [`Error::Leaks`] where it would hold secrets and they are refused; and the store's.
pub fn resume(repo: &Repo, commit: &CommitHash, session: &NewSession<'_>) -> Result<Resumed> {
    let resumed = resume_forecast(repo, commit, session)?;
    let mut read = Contents::default();
    (session.format.read)(Source {
        stem: &session.id,
        ..Source::of(&resumed.bytes.as_slice(), &mut read)
    })?;
    let row = ResumeRow {
        commit: *commit,
        messages: read.contents.len() as u64,
        digest: digest(&read.contents),
    };
    let tx = repo.store.write()?;
    tx.begin_operation(session.now, &session.what)?;
    tx.put_resumed(session.format.name, &session.id, &row)?;
    tx.commit()?;
    Ok(resumed)
}

/// The session file that [`resume`] would make; nothing is remembered.
///
/// # Errors
///
/// As [`resume`].
pub fn resume_forecast(
    repo: &Repo,
    commit: &CommitHash,
    session: &NewSession<'_>,
) -> Result<Resumed> {
    let view = repo.store.read()?;
    let context = load::context(&*view, commit)?;
    let path = view.ancestors(commit, None, usize::MAX)?;
    let mut messages = outgoing(&*view, &context, &path, session.format, Kept::Any)?;
    let thoughts = without_lost_thoughts(&*view, &context, &mut messages)?;
    let from = session_of(&*view, commit)?;
    let tool = from.as_ref().and_then(|(name, _)| name.as_session());
    let native = tool.is_some_and(|(tool, _)| tool == session.format.name);
    without_room_taken(&context, &path, &mut messages);
    // Another tool's base prompt and permissions are not this one's.
    let other = tool.and_then(|(tool, _)| Format::named(tool).ok());
    let is_others = !native && other.is_some_and(|other| other.home.is_some());
    let mut stays = Vec::with_capacity(messages.len());
    for (entry, message) in context.entries.iter().zip(&messages) {
        let whose = if message.message.role.is_system() {
            tool_of(&*view, &entry.id.commit)?.map_or(is_others, |tool| {
                tool != session.format && tool.home.is_some()
            })
        } else {
            false
        };
        stays.push(!whose);
    }
    let left_out = stays.iter().filter(|stays| !**stays).count();
    let mut stays = stays.into_iter();
    messages.retain(|_| stays.next().unwrap_or(true));
    let unpaired = without_unpaired(&mut messages);
    let state = match &from {
        Some((name, _)) if native => state(&*view, &path, session.format, name)?,
        _ => Vec::new(),
    };
    let own = from.as_ref().and_then(|(_, row)| row.cwd.as_deref());
    let elsewhere = own.is_some_and(|own| own != session.cwd && Path::new(own).is_dir());
    let original = from.as_ref().map(|(name, _)| name.clone());
    let title = match from.and_then(|(_, row)| row.title) {
        Some(title) => Some(title),
        None => first_prompt(&*view, &path)?,
    };
    let document = Document {
        session_id: session.id.clone(),
        cwd: session.cwd.clone(),
        now: Some(session.now),
        settings: load::settings(&*view, &context)?,
        title,
        native,
        opening: opening(&*view, &path, session.format)?,
        provider: session.provider.clone(),
        state: state.iter().map(|known| known.record.clone()).collect(),
        elsewhere,
        is_whole: is_whole(&*view, &path, &context, session.format)?,
        fresh: true,
        seed: session.seed,
        ..Document::default()
    };
    let mut bytes = Vec::new();
    let mut remarks = session.format.writer()?(Export::of(&messages, &document, &mut bytes))?;
    if let Some(name) = &original {
        bytes = with_original(bytes, name);
    }
    bytes = guarded(&*view, commit, bytes, session.leaving)?;
    remarks.extend(thoughts.into_iter().chain(unpaired));
    remarks.extend(without_citations(session.format, &messages));
    match left_out {
        0 => {}
        1 => remarks.push("1 system message of the other tool left out".to_owned()),
        count => remarks.push(format!(
            "{count} system messages of the other tool left out"
        )),
    }
    let files = files_along(&state, session);
    Ok(Resumed {
        bytes,
        remarks,
        files,
    })
}

/// The directory to which the session of a commit had moved by then, where its tool's records say so. Any text.
///
/// # Errors
///
/// The store's.
pub fn moved_to(repo: &Repo, commit: &CommitHash) -> Result<Option<String>> {
    let Some(format) = session_format(repo, commit)? else {
        return Ok(None);
    };
    let view = repo.store.read()?;
    let (Some(resume), Some(name)) = (format.resume(), file_of(&*view, commit)?) else {
        return Ok(None);
    };
    let path = view.ancestors(commit, None, usize::MAX)?;
    let state = state(&*view, &path, format, &name)?.into_iter();
    let records: Vec<String> = state.map(|known| known.record).collect();
    Ok((resume.moved_to)(&records))
}

/// The commit of git that was checked out when the session of a commit began, where its file says so. Any text: it may be
/// none of any repository.
///
/// # Errors
///
/// The store's.
pub fn checked_out(repo: &Repo, commit: &CommitHash) -> Result<Option<String>> {
    let Some(format) = session_format(repo, commit)? else {
        return Ok(None);
    };
    let Some(resume) = format.resume() else {
        return Ok(None);
    };
    let view = repo.store.read()?;
    let path = view.ancestors(commit, None, usize::MAX)?;
    let record = opening(&*view, &path, format)?;
    Ok(record.and_then(|record| (resume.checked_out)(&record)))
}

/// Takes the count of the newest reply away where something was hidden since: a tool goes by that count, and would make
/// room at once.
fn without_room_taken(context: &Context, path: &[CommitRow], messages: &mut [Outgoing]) {
    // What a summary took was no reply's.
    for summary in messages.iter_mut().filter(|it| it.is_summary) {
        summary.usage = None;
    }
    let newest = messages.iter().rposition(|it| it.usage.is_some());
    let Some(newest) = newest else { return };
    let commit = context.entries[newest].id.commit;
    let mut since = path.iter().take_while(|row| is_append(row));
    let hides = path.iter().any(|row| !is_append(row));
    if hides && since.all(|row| row.hash != commit) {
        messages[newest].usage = Some(Usage::default());
    }
}

/// What may leave of a new session's file.
fn guarded(
    view: &dyn View,
    commit: &CommitHash,
    bytes: Vec<u8>,
    leaving: Leaving<'_>,
) -> Result<Vec<u8>> {
    let Some(secrets) = leaving.secrets() else {
        return Ok(bytes);
    };
    let mut out = Vec::with_capacity(bytes.len());
    let mut sieve = Sieve::redacting(secrets, &mut out);
    let sieved = sieve.write_all(&bytes).and_then(|()| sieve.end());
    let found = sieved.map_err(Error::io("output"))?;
    match leaving {
        Leaving::Refused(_) if !found.counts.is_empty() => {
            let commits = leaks(view, commit, secrets, &found.texts)?;
            Err(Error::Leaks {
                counts: found.counts,
                commits: commits.iter().map(CommitHash::short).collect(),
            })
        }
        _ => Ok(out),
    }
}

/// Whether a commit adds a message and hides nothing.
fn is_append(row: &CommitRow) -> bool {
    let operation = &row.commit.operation;
    matches!(
        operation,
        Operation::Append { .. } | Operation::Annotate { .. }
    )
}

/// The first record of the newest source of a format behind a path, where it is of one line.
fn opening(view: &dyn View, path: &[CommitRow], format: &Format) -> Result<Option<String>> {
    let hashes: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
    for (source, _) in view.records(&hashes)?.into_iter().flatten() {
        let Some(row) = view.source(source)? else {
            continue;
        };
        if row.format == format.name && shape(view, &row, format)? == Shape::Lines {
            let len = row.size_bytes.min(OPENING_BYTES);
            let front = view.source_bytes(source, Span { offset: 0, len })?;
            let text = String::from_utf8_lossy(&front).into_owned();
            return Ok(text.lines().next().map(str::to_owned));
        }
    }
    Ok(None)
}

/// A record that says how things stood in a tool.
struct StateRecord {
    /// The id of the session whose file it is in.
    session: String,
    record: String,
}

/// The records behind a path that say how things stood in the tool: of each file up to the first record of the
/// conversation that comes after the path's end there. The file that the path leaves last is the last one; of
/// several, that of the session `own`.
fn state(
    view: &dyn View,
    path: &[CommitRow],
    format: &Format,
    own: &RefName,
) -> Result<Vec<StateRecord>> {
    let Some(resume) = format.resume() else {
        return Ok(Vec::new());
    };
    let hashes: Vec<CommitHash> = path.iter().rev().map(|row| row.hash).collect();
    // Each with where the path ends in it, and its last commit there.
    let mut sources: Vec<(u64, u64, usize)> = Vec::new();
    for (at, records) in view.records(&hashes)?.into_iter().enumerate() {
        for (source, spans) in records {
            let end = spans.iter().map(|span| span.offset + span.len).max();
            let end = end.unwrap_or(0);
            match sources.iter_mut().find(|(known, ..)| *known == source) {
                Some(known) => *known = (source, end.max(known.1), at),
                None => sources.push((source, end, at)),
            }
        }
    }
    let mut rows = Vec::with_capacity(sources.len());
    for (id, end, last) in sources {
        let row = view.source(id)?;
        if let Some(row) = row.filter(|row| row.format == format.name) {
            rows.push((last, row.session == *own, end, row));
        }
    }
    rows.sort_by_key(|(last, is_own, ..)| (*last, *is_own));
    let mut found = Vec::new();
    for (_, _, end, row) in rows {
        let session = row.session.as_session().map_or("", |(_, id)| id).to_owned();
        let input = KeptSource::new(view, row.id, row.size_bytes);
        let mut is_over = false;
        each_record(&input, &mut |span, text| {
            is_over |= span.offset >= end && (resume.is_said)(text);
            if !is_over && (resume.state)(text) {
                found.push(StateRecord {
                    session: session.clone(),
                    record: text.to_owned(),
                });
            }
        })?;
    }
    Ok(found)
}

/// Whether nothing is hidden but what the tool itself has compacted: what it has noted since then still holds.
fn is_whole(
    view: &dyn View,
    path: &[CommitRow],
    context: &Context,
    format: &Format,
) -> Result<bool> {
    if context.hidden_entries() == 0 {
        return Ok(true);
    }
    for row in path {
        match &row.commit.operation {
            Operation::Append { .. } | Operation::Annotate { .. } => {}
            Operation::Hide(hide) if hide.kind == HideKind::Compaction => {
                let tool = tool_of(view, &row.hash)?;
                return Ok(tool.is_some_and(|tool| tool == format));
            }
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// The files that records of state name, each once.
fn files_along(state: &[StateRecord], new: &NewSession<'_>) -> Vec<FileAlong> {
    let mut files: Vec<FileAlong> = Vec::new();
    let mut known = HashSet::new();
    let Some(resume) = new.format.resume() else {
        return files;
    };
    for StateRecord { session, record } in state {
        let from = (resume.files)(record, session).into_iter();
        let pairs = from.zip((resume.files)(record, &new.id));
        let new = pairs.map(|(from, to)| FileAlong { from, to });
        files.extend(new.filter(|file| known.insert((file.from.clone(), file.to.clone()))));
    }
    files
}

/// What a conversation begins with: the first line that a person typed, whatever hides it by now;
/// none where all that is erased.
fn first_prompt(view: &dyn View, path: &[CommitRow]) -> Result<Option<String>> {
    let appends = path
        .iter()
        .rev()
        .filter_map(|row| Some((row.hash, row.appended()?)));
    let first: Vec<(CommitHash, ContentHash)> = appends.take(PROMPT_SEARCH).collect();
    let contents: Vec<ContentHash> = first.iter().map(|(_, content)| *content).collect();
    let rows = view.content_rows(&contents)?;
    let first = first.iter().zip(&rows);
    let said: Vec<_> = first
        .filter_map(|((commit, _), row)| Some((*commit, row.as_ref()?)))
        .collect();
    let typed = prompts::typed(view, &said)?;
    let mut typed = said.iter().zip(typed).filter(|(_, typed)| *typed);
    Ok(typed.next().map(|((_, row), _)| row.preview.clone()))
}

/// Collects the contents on the main path of a session.
#[derive(Default)]
struct Contents {
    contents: Vec<ContentHash>,
    branched: bool,
}

impl Sink for Contents {
    fn branch(&mut self, _: BranchStart) -> Result<()> {
        self.branched = true;
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<()> {
        if let (false, Action::Append(message)) = (self.branched, &step.action) {
            self.contents.push(message.hash());
        }
        Ok(())
    }
}

/// The format of the session that a commit came from, or the one that it is a copy of; none where no record is behind it.
fn tool_of(view: &dyn View, commit: &CommitHash) -> Result<Option<&'static Format>> {
    let origin = path::recorded(view, &load::commit(view, commit)?)?;
    match view.records_of(&origin)?.into_iter().next() {
        Some((source, _)) => format_of(view, source),
        None => Ok(None),
    }
}
