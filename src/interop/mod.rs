//! Session formats: bytes in, messages out, and back.
//!
//! An [`Importer`] reads one source (a session file) and tells a [`Sink`] what it finds as it
//! goes, so that memory stays bounded; an [`Exporter`] writes messages as records of its format.
//! Deliberately absent: the database, refs, hashes, and any choice of which commit to share; that
//! is [`crate::ingest`].
//!
//! The bytes of a source are kept whole by whoever owns the sink. An importer names the records
//! behind a message by [`Span`]s of that source.

pub mod anthropic;
mod chat;
pub mod claude_code;
pub mod codex;
pub mod lines;
pub mod openai;
pub mod roo;
pub mod single;
pub mod sniff;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::io::Write;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::model::{HideKind, Message, Millis, Settings, Span, Usage};

/// The session formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Claude Code session JSONL.
    ClaudeCode,
    /// Codex CLI rollout JSONL.
    Codex,
    /// OpenAI chat completions: messages, request, response, fine-tuning rows.
    OpenAi,
    /// Anthropic Messages: messages, request, response, fine-tuning rows.
    Anthropic,
    /// Roo Code and Cline: a task's `api_conversation_history.json`.
    Roo,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::OpenAi,
        Self::Anthropic,
        Self::Roo,
    ];

    /// The name as it is typed and as it stands in session refs: `claude-code`, `codex`,
    /// `openai`, `anthropic`, `roo`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Roo => "roo",
        }
    }

    /// The importer of this format.
    pub fn importer(self) -> &'static dyn Importer {
        match self {
            Self::ClaudeCode => &claude_code::ClaudeCode,
            Self::Codex => &codex::Codex,
            Self::OpenAi => &openai::OpenAi,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Roo => &roo::Roo,
        }
    }

    /// The exporter of this format.
    pub fn exporter(self) -> &'static dyn Exporter {
        match self {
            Self::ClaudeCode => &claude_code::ClaudeCode,
            Self::Codex => &codex::Codex,
            Self::OpenAi => &openai::OpenAi,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Roo => &roo::Roo,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = Error;

    /// Roo Code's format also goes by `cline`: the two tools share it.
    fn from_str(text: &str) -> Result<Self> {
        if text == "cline" {
            return Ok(Self::Roo);
        }
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| {
                Error::input(
                    "format",
                    format!("unknown '{text}' (claude-code, codex, openai, anthropic, roo)"),
                )
            })
    }
}

/// A source's bytes, read at any place.
pub trait Input {
    /// How many bytes there are. Fixed for the life of the input, even if the file grows.
    fn size_bytes(&self) -> u64;

    /// Fills the front of `buffer` with the bytes at `offset`; returns how many there were, 0 at
    /// the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// The first `limit_bytes` bytes, or all if there are fewer.
    fn front(&self, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let want = self.size_bytes().min(limit_bytes);
        let want =
            usize::try_from(want).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut bytes = vec![0; want];
        let mut filled = 0;
        while filled < want {
            match self.read_at(filled as u64, &mut bytes[filled..])? {
                0 => break,
                got => filled += got,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

impl Input for &[u8] {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(self.len());
        let count = buffer.len().min(self.len() - start);
        buffer[..count].copy_from_slice(&self[start..start + count]);
        Ok(count)
    }
}

/// What an importer is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions<'a> {
    /// The file's name without directory and extension, for sessions that hold no id.
    pub stem: &'a str,
}

/// Reads one format.
pub trait Importer {
    /// Reads all of `input`, which the sniffer took for this format, into `sink`.
    ///
    /// Calls come in this order, for each session in the source: [`Sink::session`], then steps on
    /// the main path, then for each further branch [`Sink::branch`] and its steps, and
    /// [`Sink::end`]. Problems and progress may come at any time.
    ///
    /// The same bytes give the same calls. Of an append-only format, the steps of a prefix are a
    /// prefix of the steps, but for an unfinished last group.
    ///
    /// # Errors
    ///
    /// Only what the sink returns, and failure to read; what is wrong in the content is a
    /// [`Problem`].
    fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()>;
}

/// Receives what an importer finds.
pub trait Sink {
    /// A session begins; steps are numbered from 0 again.
    fn session(&mut self, session: SessionStart) -> Result<()>;

    /// From here on steps belong to a further branch.
    fn branch(&mut self, branch: BranchStart) -> Result<()>;

    /// The next step of the current path. Steps are numbered from 0 through all branches of the
    /// session, in the order of these calls.
    fn step(&mut self, step: Step) -> Result<()>;

    /// The session is complete.
    fn end(&mut self, end: SessionEnd) -> Result<()>;

    /// Something is wrong or odd in the source.
    fn problem(&mut self, problem: Problem) -> Result<()>;

    /// So many bytes and records have been read in all. Called now and then.
    fn progress(&mut self, bytes: u64, records: u64);
}

/// The identity of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionStart {
    /// Its id: the tool's own, or made from the file's stem.
    pub id: String,
    /// The id of the session whose history it begins with, where the file says so.
    pub forked_from: Option<String>,
}

/// Where a branch leaves the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchStart {
    /// Its name below the session's: `agent-ad10694`, `leaf-2`.
    pub name: String,
    /// The step that it goes on from; none: a root of its own.
    pub after: Option<StepId>,
    /// What it is about, where that is known.
    pub title: Option<String>,
}

/// A step of a session by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub usize);

/// An entry that a step made: an appended message, or one of a hide's replacements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepEntry {
    /// The step.
    pub step: StepId,
    /// Which replacement, from 0, when the step is a hide.
    pub replacement: Option<usize>,
}

/// One commit to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// When, by the source.
    pub time: Option<Millis>,
    /// Request settings that hold from here on (model and the like); JSON texts.
    pub settings: Settings,
    /// The records behind it, in file order.
    pub records: Vec<Span>,
    /// What the provider counted for this reply.
    pub usage: Option<Usage>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A message at the end.
    Append(Message),
    /// What the vendor's tool hid.
    Hide(HideStep),
}

/// A hide as the source tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HideStep {
    /// Compaction, prune (of parts) or drop (a rollback).
    pub kind: HideKind,
    /// What it covers: whole entries.
    pub cover: Cover,
    /// Covered entries that stay.
    pub keep: Vec<StepEntry>,
    /// Single parts: entry, index, and the message whose parts stand in its place.
    pub parts: Vec<(StepEntry, u32, Option<Message>)>,
    /// What stands in place of what was hidden: the entry that it stands before (none: the end),
    /// and the message.
    pub replacements: Vec<(Option<StepEntry>, Message)>,
    /// When it was made.
    pub moment: Moment,
}

/// When a [`HideStep`] was made, among the steps told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Where it is told.
    Here,
    /// Here or later: the source shows the place of what it put there and not the time. Without
    /// anything known of it, it is taken to have been made after so many further messages. Its
    /// replacements stand where it is told, whatever they name as their place.
    Since(usize),
}

/// The entries that a [`HideStep`] covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// None; only parts are hidden.
    Nothing,
    /// Everything on the path so far. A hide of this kind with nothing before it must be given as
    /// plain appends instead.
    Everything,
    /// From the first to the last, both included.
    Range(StepEntry, StepEntry),
}

/// What is known once a session has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEnd {
    /// Its title.
    pub title: Option<String>,
    /// The working directory that it ran in.
    pub cwd: Option<String>,
    /// Records by type, for those that are no messages; kept as source data.
    pub other_records: BTreeMap<String, u64>,
    /// Blocks that were kept opaque, by type.
    pub opaque_blocks: BTreeMap<String, u64>,
    /// What the model was sent that the file lacks, in words: `system prompt`,
    /// `tool definitions`, `13 attachments`.
    pub absent: Vec<String>,
    /// Lone surrogates that became U+FFFD.
    pub lone_surrogates: u64,
}

/// Something wrong in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1; 0 where the format has no lines.
    pub line: u64,
    /// The reason, in words.
    pub reason: String,
    /// Normal in a running session (a torn last line): a note, no damage.
    pub harmless: bool,
}

/// One message on its way out.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The message as it is in the context.
    pub message: Message,
    /// When, if known.
    pub time: Option<Millis>,
    /// The settings in force: `model` and the like.
    pub settings: Settings,
    /// What the provider counted.
    pub usage: Option<Usage>,
    /// The JSON records that the message came from, if it is unchanged and came from this format.
    pub records: Vec<String>,
    /// The JSON records of the message that it was before an edit or a part-level hide.
    pub replaces: Vec<String>,
    /// Whether it is a compaction's summary.
    pub is_summary: bool,
}

/// What an exporter is told about the file as a whole.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The session's id; records that are written anew bear it.
    pub session_id: String,
    /// The working directory.
    pub cwd: String,
    /// The time for records that have none of their own.
    pub now: Option<Millis>,
    /// The session's title.
    pub title: Option<String>,
    /// Settings in force at the end, for formats that hold them once (a request).
    pub settings: Settings,
    /// Whether every id is made anew (a resume) or known ids are kept (an export).
    pub fresh: bool,
    /// Seed of the ids that are made: the same seed gives the same ids.
    pub seed: [u8; 32],
    /// The raw tail that new records follow, when `messages` go at the end of an untouched file:
    /// its last records, at least one. Empty: a file of its own.
    pub after: Vec<String>,
}

/// Writes one format.
pub trait Exporter {
    /// Writes `messages` as a file of this format (or, with [`Document::after`], as its
    /// continuation). Untouched messages are written as their records were, JSON-equal; where a
    /// link of theirs points at a record that isn't written, that link alone is mended.
    ///
    /// Returns remarks for the user, in words: what the format could not hold.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] from `out`.
    fn export(
        &self,
        messages: &[Outgoing],
        document: &Document,
        out: &mut dyn Write,
    ) -> Result<Vec<String>>;
}
