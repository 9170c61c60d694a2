//! A session file as it is read, and what is said of it without a repository.

use std::path::Path;

use super::database;
use super::file::FileInput;
use super::plain;
use super::tool_dirs::{folder_of, stem};
use crate::error::{Error, Result};
use crate::formats::shared::foreign;
use crate::formats::shared::origin::{self, FirstRecords};
use crate::formats::shared::redaction::RedactedInput;
use crate::formats::{
    Action, Bases, BranchStart, Format, Input, Problem, SessionEnd, SessionStart, Sink, Source,
    Step, sniff,
};
use crate::model::secret::{SecretCounts, Secrets};
use crate::model::{HideKind, Message, Millis, Part, RefName, Role, preview};
use crate::store::{FileStamp, OriginRow};

/// How many problems are reported one by one.
const REPORTED_PROBLEMS: usize = 10;

/// A session file, or what stands for one, in a known format.
pub(super) struct SessionInput<'a> {
    pub(super) input: Box<dyn Input + 'a>,
    /// What is wrong with it before anybody reads it.
    pub(super) problems: Vec<Problem>,
    pub(super) format: &'static Format,
    /// The name of a session that holds none: its file's, or its directory's where the file is
    /// called like every other session's.
    pub(super) stem: String,
    /// The name of the folder that its file is in; empty if there is none.
    pub(super) folder: String,
    /// The secrets that are left out of it; none: they are not looked for.
    pub(super) redacted: Option<SecretCounts>,
    /// The file, by its absolute path, and what it was when it was opened; none: it is no file.
    pub(super) file: Option<(String, FileStamp)>,
}

impl SessionInput<'_> {
    /// What its session begins with.
    pub(super) fn began(&self) -> Result<OriginRow> {
        let told = FirstRecords::of(self.format, &self.front()?);
        Ok(OriginRow {
            source: None,
            began: told.began,
            copied_from: told.copied_from,
        })
    }

    /// The sessions that it says it is a copy of.
    pub(super) fn originals(&self) -> Result<Vec<RefName>> {
        Ok(origin::originals(self.format, &self.front()?))
    }

    fn front(&self) -> Result<String> {
        let front = self.input.front(origin::FRONT_BYTES);
        let front = front.map_err(Error::io(&self.stem))?;
        Ok(String::from_utf8_lossy(&front).into_owned())
    }
}

/// What comes of a source that looks like another format's than the one that was named.
#[derive(Default)]
struct Tried {
    messages: u64,
    problems: u64,
}

impl Tried {
    fn of(input: &FileInput, format: &Format) -> Result<Self> {
        let mut tried = Self::default();
        (format.read)(Source::of(input, &mut tried))?;
        Ok(tried)
    }

    /// Whether most of it can be read so.
    fn is_read(&self) -> bool {
        self.messages > self.problems
    }
}

impl Sink for Tried {
    fn step(&mut self, step: Step) -> Result<()> {
        // A record that is kept as it is was not understood.
        let is_opaque = |part: &Part| matches!(part, Part::Opaque { .. });
        let is_told = |message: &Message| !message.parts.iter().all(is_opaque);
        self.messages += u64::from(step.message().is_some_and(is_told));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems += u64::from(!problem.harmless);
        Ok(())
    }
}

impl<'a> SessionInput<'a> {
    /// Opens a file that is said to be in the `given` format.
    pub(super) fn open(path: &Path, given: Option<&'static Format>) -> Result<Self> {
        let input = FileInput::open(path)?;
        let format = match (given, sniff::sniff(&input)?) {
            (None, None) => return Err(unknown(path, &input)),
            (Some(given), Some(found))
                if found != given
                    && !(found.bare_messages && given.bare_messages)
                    && !Tried::of(&input, given)?.is_read() =>
            {
                let detail = format!("the content is {found}, not {given}");
                return Err(Error::input(path.display().to_string(), detail));
            }
            (Some(format), _) | (None, Some(format)) => format,
        };
        Ok(Self::of_known(path, input, format))
    }

    /// A file that is open, of which the format is known.
    pub(super) fn of_known(path: &Path, input: FileInput, format: &'static Format) -> Self {
        let own = &*stem(path);
        let folder = folder_of(path, format);
        // A file that a tool has put aside bears the same name with a number.
        let rest = format
            .common_stem
            .and_then(|common| own.strip_prefix(common))
            .filter(|_| !folder.is_empty());
        let is_number =
            |number: &str| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
        let stem = match rest {
            Some("") => folder.clone(),
            Some(rest) if rest.strip_prefix('_').is_some_and(is_number) => {
                format!("{folder}{rest}")
            }
            _ => own.to_owned(),
        };
        Self {
            file: plain::absolute(path).map(|path| (path, input.stamp)),
            problems: input.problems.clone(),
            input: Box::new(input),
            format,
            stem,
            folder,
            redacted: None,
        }
    }

    /// Bytes that are in no file.
    pub(super) fn of_bytes(input: impl Input + 'a, format: &'static Format, stem: String) -> Self {
        Self {
            input: Box::new(input),
            problems: Vec::new(),
            format,
            stem,
            folder: String::new(),
            redacted: None,
            file: None,
        }
    }

    /// The same without its secrets.
    pub(super) fn redacted(self, secrets: &Secrets) -> Result<Self> {
        let input = RedactedInput::of(self.input, secrets)?;
        Ok(Self {
            redacted: Some(input.counts().clone()),
            input: Box::new(input),
            ..self
        })
    }

    /// The id of the first session in it, read no further than that.
    pub(super) fn first_session(&self) -> Result<Option<String>> {
        let mut found = FirstSession(None);
        match self.read(None, &mut found) {
            Err(_) if found.0.is_some() => Ok(found.0),
            read => read.map(|()| found.0),
        }
    }

    /// Reads all of it, with what it begins with in other files.
    pub(super) fn read(&self, bases: Option<&dyn Bases>, sink: &mut dyn Sink) -> Result<()> {
        for problem in &self.problems {
            sink.problem(problem.clone())?;
        }
        (self.format.read)(self.source(&*self.input, bases, sink))
    }

    /// Its text, or what stands for that, as its reader takes it.
    pub(super) fn source<'s>(
        &'s self,
        input: &'s dyn Input,
        bases: Option<&'s dyn Bases>,
        sink: &'s mut dyn Sink,
    ) -> Source<'s> {
        Source {
            input,
            stem: &self.stem,
            folder: &self.folder,
            bases,
            sink,
        }
    }
}

/// Why a file whose format nobody knows is none: it is another tool's, it is broken, or neither.
pub fn unknown(path: &Path, input: &dyn Input) -> Error {
    let path = path.to_owned();
    // Which of its sessions is meant nobody has said; or why there are none to be seen.
    match database::sessions(&path) {
        Ok(Some(found)) => {
            let what = path.display().to_string();
            let detail = format!(
                "a database of {} sessions; one is named by its id behind it",
                found.len()
            );
            return Error::input(what, detail);
        }
        Ok(None) => {}
        Err(error) => return error,
    }
    let found = || match foreign::called(input)? {
        None => Ok((None, sniff::broken(input)?)),
        known => Ok((known, None)),
    };
    match found() {
        Ok((_, Some(reason))) => Error::BrokenFile { path, reason },
        Ok((known, None)) => Error::UnknownFormat { path, known },
        Err(error) => error,
    }
}

/// The id of the first session, at which reading ends.
struct FirstSession(Option<String>);

impl Sink for FirstSession {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        self.0 = Some(start.id);
        Err(Error::EmptyMessage)
    }
}

/// Reads one file without a repository; a strict import does so before it writes. It is read a
/// second time then: what comes in is written as it is read, so nobody may write before it is known
/// that nothing is wrong.
///
/// # Errors
///
/// [`Error::StrictImport`] if anything is wrong in it, and as [`import`](super::import).
pub fn check_strict(path: &Path, format: Option<&'static Format>) -> Result<()> {
    let mut found = Problems::default();
    SessionInput::open(path, format)?.read(None, &mut found)?;
    found.refuse(path)
}

/// What an import of a file would find, for listings.
#[derive(Clone, Debug, Default)]
pub struct Inspected {
    /// The id of the last session in it.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The beginning of the first thing that the user said.
    pub prompt: Option<String>,
    /// All of that.
    pub asked: Option<String>,
    /// Messages on the main path.
    pub messages: u64,
    /// Compactions on the main path.
    pub compactions: u64,
    /// The directory that it ran in.
    pub cwd: Option<String>,
    /// The time of the newest message that has one.
    pub last: Option<Millis>,
    /// Whether the user typed that.
    typed: bool,
    /// Whether a further path has begun.
    branched: bool,
}

/// Reads one file without a repository.
///
/// # Errors
///
/// As [`import`](super::import).
pub fn inspect(path: &Path) -> Result<Inspected> {
    let mut found = Inspected::default();
    SessionInput::open(path, None)?.read(None, &mut found)?;
    Ok(found)
}

/// Problems, the first of them kept.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) first: Vec<Problem>,
    /// How many there are in all, harmless ones aside.
    pub(super) count: u64,
    /// The first of the harmless ones.
    pub(super) notes: Vec<Problem>,
}

impl Problems {
    /// Refuses a file with anything wrong in it.
    pub(super) fn refuse(&self, path: &Path) -> Result<()> {
        let first = self.first.iter();
        match self.count {
            0 => Ok(()),
            problems => Err(Error::StrictImport {
                path: path.to_owned(),
                problems,
                first: first
                    .map(|problem| (problem.line, problem.reason.clone()))
                    .collect(),
            }),
        }
    }
}

impl Sink for Problems {
    fn problem(&mut self, problem: Problem) -> Result<()> {
        let list = if problem.harmless {
            &mut self.notes
        } else {
            &mut self.first
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
            Action::Append(message) => {
                self.messages += 1;
                self.last = self.last.max(step.time);
                let is_own = message.role == Role::User && !message.is_attached();
                let is_typed = is_own && message.is_typed();
                let is_prompt = is_own && message.results().next().is_none();
                // What a tool puts before it is better than nothing.
                if is_typed && !self.typed || is_prompt && self.prompt.is_none() {
                    (self.prompt, self.typed) = (Some(preview(&message)), is_typed);
                    self.asked = Some(message.typed_texts().join(" "));
                }
            }
            Action::Hide(hide) => {
                self.compactions += u64::from(hide.kind == HideKind::Compaction);
            }
        }
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.title = end.title;
        self.cwd = end.cwd;
        Ok(())
    }
}
