//! Session formats: bytes in, messages out, and back.
//!
//! A [`Format`] reads one source (a session file) and tells a [`Sink`] what it finds as it goes, so
//! that memory stays bounded; it writes messages as records of its own. Each is a value in a folder
//! of its own and an entry of the list in [`registry`].
//! Deliberately absent: the database, refs, hashes, and any choice of which commit to share; that
//! is [`crate::ingest`].
//!
//! The bytes of a source are kept whole by whoever owns the sink. An importer names the records
//! behind a message by [`Span`]s of that source.

#[macro_use]
pub mod shared;

mod agent_framework;
mod agno;
mod aider;
mod amp;
mod anthropic;
mod anthropic_stream;
mod atif;
mod bodies;
mod chatgpt;
mod claude_ai;
mod claude_code;
mod claude_stream;
mod cline_cli;
mod codex;
mod codex_exec;
mod continue_dev;
mod converse;
mod copilot_cli;
mod crush;
mod cursor;
mod cursor_cli;
mod droid;
mod event_log;
mod exported;
mod format;
mod gemini;
mod google_adk;
mod goose;
mod hermes;
mod inspect;
mod kimi;
mod kimi_cli;
mod kiro;
mod langgraph;
mod llm;
mod mistral_vibe;
mod open_webui;
mod openai;
mod openai_agents;
mod openai_stream;
mod opencode;
mod openhands;
mod openhands_run;
mod otel;
mod pi;
mod pydantic_ai;
mod qwen;
pub mod registry;
mod responses;
mod responses_stream;
mod roo;
pub mod sniff;
mod specstory;
mod swe_agent;
mod ui_message;
mod vscode_chat;
mod zed;

use std::collections::BTreeMap;
use std::io;
use std::io::Write;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::hash::fingerprint;
use crate::model::price::is_usual_tier;
use crate::model::{
    HideKind, Message, Millis, Settings, Span, StatedUsage, Usage, UsageDetail, UsageRecord,
};

pub use format::{
    Agents, Everywhere, FRONT_BYTES, Format, Home, JoinedFiles, LOOSE, LineOf, NewFile,
    RecordFiles, Resume, SessionFolder, Shape, SmallFiles, StreamedSession, WithParts,
};
pub use registry::FORMATS;
pub use shared::continuation::{Continuer, Midway};
pub use shared::descent::{Base, BaseEnd, Bases, Descent};
pub use shared::head::SourceHead;
#[cfg(test)]
pub(crate) use shared::stream::LOOKED_AT;
pub use shared::stream::{
    EventReader, EventStream, GrowingStream, StreamEnd, Telling, messages_of,
};

pub use shared::recorded::RecordedRequest;
pub use shared::records::json_error;

pub(crate) use crate::wire::anthropic::{cited, may_cite};
pub(crate) use crate::wire::attachments;

/// A source's bytes, read at any place.
pub trait Input {
    /// How many bytes there are. Fixed for the life of the input, even if the file grows.
    fn size_bytes(&self) -> u64;

    /// Fills the front of `buffer` with the bytes at `offset`; returns how many there were, 0 at
    /// the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// The first `limit_bytes` bytes, or all if there are fewer.
    fn front(&self, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let len = self.size_bytes().min(limit_bytes);
        self.bytes(Span { offset: 0, len })
    }

    /// The bytes at `span`, or as many of them as there are.
    fn bytes(&self, span: Span) -> io::Result<Vec<u8>> {
        let want =
            usize::try_from(span.len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut bytes = vec![0; want];
        let mut filled = 0;
        while filled < want {
            match self.read_at(span.offset + filled as u64, &mut bytes[filled..])? {
                0 => break,
                got => filled += got,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// The text of a record that was read before, mended.
fn again(input: &dyn Input, span: Span) -> Result<String> {
    let bytes = input.bytes(span).map_err(Error::io("source"))?;
    Ok(shared::lines::mend(&bytes).text.into_owned())
}

impl Input for &dyn Input {
    fn size_bytes(&self) -> u64 {
        (**self).size_bytes()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
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

/// What an importer reads, with what is known of its place, and who is told of what it finds.
pub struct Source<'a> {
    /// Its bytes.
    pub input: &'a dyn Input,
    /// The file's name without directory and extension, for sessions that hold no id.
    pub stem: &'a str,
    /// The name of the folder that the file is in, for sessions that say who started them by lying there.
    pub folder: &'a str,
    /// Where what a session begins with is, if it stands in another file.
    pub bases: Option<&'a dyn Bases>,
    /// Who is told.
    pub sink: &'a mut dyn Sink,
}

impl<'a> Source<'a> {
    /// Bytes that lie nowhere.
    pub fn of(input: &'a dyn Input, sink: &'a mut dyn Sink) -> Self {
        Self {
            input,
            stem: "",
            folder: "",
            bases: None,
            sink,
        }
    }

    /// Whether it begins like this.
    fn begins(&self, like: fn(front: &[u8]) -> bool) -> Result<bool> {
        let front = self.input.front(FRONT_BYTES).map_err(Error::io("source"))?;
        Ok(like(&front))
    }
}

/// Reads all of a source, which the sniffer took for this format.
///
/// Calls come in this order, for each session in the source: [`Sink::session`], then steps on the
/// main path, then for each further branch [`Sink::branch`] and its steps, and [`Sink::end`].
/// Problems and progress may come at any time.
///
/// The same bytes give the same calls. Of an append-only format, the steps of a prefix are a
/// prefix of the steps, but for an unfinished last group.
///
/// # Errors
///
/// Only what the sink returns, and failure to read; what is wrong in the content is a [`Problem`].
pub type Importer = fn(Source<'_>) -> Result<()>;

/// Receives what an importer finds. What a sink has no use for it leaves as it is here: nothing is
/// done.
#[allow(unused_variables)]
pub trait Sink {
    /// A session begins; steps are numbered from 0 again.
    fn session(&mut self, session: SessionStart) -> Result<()> {
        Ok(())
    }

    /// From here on steps belong to a further branch.
    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        Ok(())
    }

    /// The next step of the current path. Steps are numbered from 0 through all branches of the
    /// session, in the order of these calls.
    fn step(&mut self, step: Step) -> Result<()> {
        Ok(())
    }

    /// The session is complete.
    fn end(&mut self, end: SessionEnd) -> Result<()> {
        Ok(())
    }

    /// Something is wrong or odd in the source.
    fn problem(&mut self, problem: Problem) -> Result<()> {
        Ok(())
    }

    /// So many bytes and records have been read in all. Called now and then.
    fn progress(&mut self, bytes: u64, records: u64) {}
}

/// The identity of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionStart {
    /// Its id: the tool's own, or made from the file's stem.
    pub id: String,
    /// The id of the session whose history it begins with, where the file says so.
    pub forked_from: Option<String>,
    /// What the file says of others.
    pub descent: Descent,
}

impl SessionStart {
    /// A session that is nobody's fork.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
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

impl StepId {
    /// The entry that it made, where it is no hide.
    pub fn entry(self) -> StepEntry {
        StepEntry {
            step: self,
            replacement: None,
        }
    }

    /// The entry of one of its replacements, where it is a hide.
    pub fn replacement(self, number: usize) -> StepEntry {
        StepEntry {
            step: self,
            replacement: Some(number),
        }
    }
}

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
pub struct Step<M = Message> {
    /// What it does.
    pub action: Action<M>,
    /// When, by the source.
    pub time: Option<Millis>,
    /// Request settings that hold from here on (model and the like); JSON texts.
    pub settings: Settings,
    /// The records behind it, in file order.
    pub records: Vec<Span>,
    /// What the provider counted for this reply.
    pub usage: Option<Usage>,
    /// What its usage record says beyond that.
    pub detail: UsageDetail,
    /// The name of the request that it answers, as [`Format::request_of`] reads it.
    pub request: Option<String>,
}

impl<M> Step<M> {
    /// The same step with its messages, in order, in another form.
    pub fn with<N>(self, mut form: impl FnMut(M) -> N) -> Step<N> {
        Step {
            action: match self.action {
                Action::Append(message) => Action::Append(form(message)),
                Action::Hide(hide) => Action::Hide(hide.with(&mut form)),
            },
            time: self.time,
            settings: self.settings,
            records: self.records,
            usage: self.usage,
            detail: self.detail,
            request: self.request,
        }
    }
}

impl BranchStart {
    /// A root of its own.
    pub fn root(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            after: None,
            title: None,
        }
    }
}

impl Step {
    /// A step with one record behind it, and nothing known of it beside.
    pub fn new(action: Action, record: Span) -> Self {
        Self {
            action,
            time: None,
            settings: Settings::new(),
            records: vec![record],
            usage: None,
            detail: UsageDetail::default(),
            request: None,
        }
    }

    /// A message at the end, by one record.
    pub fn append(message: Message, record: Span) -> Self {
        Self::new(Action::Append(message), record)
    }

    /// The same at a time, where that is known.
    fn at(self, time: Option<Millis>) -> Self {
        Self { time, ..self }
    }

    /// The same with settings that hold from it on.
    fn setting(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// The same where a model holds from it on, by its name as JSON, if one is named.
    fn by_model(mut self, model: Option<String>) -> Self {
        let model = model.map(|model| ("model".to_owned(), model));
        self.settings.extend(model);
        self
    }

    /// The same in this tier of service, as JSON; the usual one is not worth a word.
    fn in_tier(mut self, tier: Option<String>) -> Self {
        let tier = tier.filter(|tier| !is_usual_tier(tier));
        let tier = tier.map(|tier| ("service_tier".to_owned(), tier));
        self.settings.extend(tier);
        self
    }

    /// The same by these records.
    fn by(self, records: Vec<Span>) -> Self {
        Self { records, ..self }
    }

    /// The same with what the provider counted for it.
    fn counted(self, usage: Option<Usage>) -> Self {
        Self { usage, ..self }
    }

    /// The same with the usage record of it, read whole.
    fn recorded(self, record: Option<UsageRecord>) -> Self {
        let (usage, detail) = record.map(|it| (it.usage, it.detail)).unzip();
        Self {
            usage,
            detail: detail.unwrap_or_default(),
            ..self
        }
    }

    /// The same as the answer to a request of this name.
    fn answering(self, request: Option<String>) -> Self {
        Self { request, ..self }
    }

    /// The message, if it is one at the end.
    pub fn message(&self) -> Option<&Message> {
        match &self.action {
            Action::Append(message) => Some(message),
            Action::Hide(_) => None,
        }
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<M = Message> {
    /// A message at the end.
    Append(M),
    /// What the vendor's tool hid.
    Hide(HideStep<M>),
}

/// A hide as the source tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HideStep<M = Message> {
    /// Compaction, prune (of parts) or drop (a rollback).
    pub kind: HideKind,
    /// What it covers: whole entries.
    pub cover: Cover,
    /// Covered entries that stay.
    pub keep: Vec<StepEntry>,
    /// Single parts: entry, index, and the message whose parts stand in its place.
    pub parts: Vec<(StepEntry, u32, Option<M>)>,
    /// What stands in place of what was hidden: the entry that it stands before (none: the end),
    /// and the message.
    pub replacements: Vec<(Option<StepEntry>, M)>,
    /// When it was made.
    pub moment: Moment,
}

impl<M> HideStep<M> {
    /// What hides these entries, here, and puts nothing in their place.
    pub fn of(kind: HideKind, cover: Cover) -> Self {
        Self {
            kind,
            cover,
            keep: Vec::new(),
            parts: Vec::new(),
            replacements: Vec::new(),
            moment: Moment::Here,
        }
    }

    /// What puts a summary in place of what it hides, here.
    fn summary(cover: Cover, message: M) -> Self {
        Self::of(HideKind::Compaction, cover).putting(vec![(None, message)])
    }

    /// The same where these entries stay.
    fn keeping(self, keep: Vec<StepEntry>) -> Self {
        Self { keep, ..self }
    }

    /// The same with messages in place of what it hides.
    fn putting(self, replacements: Vec<(Option<StepEntry>, M)>) -> Self {
        Self {
            replacements,
            ..self
        }
    }

    /// The same, made at another moment.
    fn made(self, moment: Moment) -> Self {
        Self { moment, ..self }
    }

    /// A message in place of another, here.
    fn replacing(old: StepEntry, message: M) -> Self {
        Self::of(HideKind::Drop, Cover::Range(old, old)).putting(vec![(Some(old), message)])
    }

    /// A prune of these parts, here.
    fn prune(parts: Vec<(StepEntry, u32, Option<M>)>) -> Self {
        Self {
            parts,
            ..Self::of(HideKind::Prune, Cover::Nothing)
        }
    }

    /// The same with its messages, those of parts first, in another form.
    fn with<N>(self, mut form: impl FnMut(M) -> N) -> HideStep<N> {
        let parts = self.parts.into_iter();
        let parts = parts.map(|(entry, part, stub)| (entry, part, stub.map(&mut form)));
        let parts = parts.collect();
        let replacements = self.replacements.into_iter();
        HideStep {
            kind: self.kind,
            cover: self.cover,
            keep: self.keep,
            parts,
            replacements: replacements.map(|(before, m)| (before, form(m))).collect(),
            moment: self.moment,
        }
    }

    /// Its messages, those of parts first.
    pub fn messages(&self) -> impl Iterator<Item = &M> {
        let stubs = self.parts.iter().filter_map(|(_, _, stub)| stub.as_ref());
        stubs.chain(self.replacements.iter().map(|(_, message)| message))
    }
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
    /// The session that it begins with and that is not here, or not as far.
    pub begins_in: Option<String>,
    /// The sessions that its agent started, by their ids.
    pub started: Vec<String>,
    /// What the client says that all of its requests came to.
    pub stated: Option<StatedUsage>,
    /// How much of its main path the records' own links reach from its end, where that is not all.
    pub severed: Option<Severed>,
}

/// A path that the links of a session's records do not reach the beginning of: a record names one before it that
/// is not in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Severed {
    /// The records that they reach from the end.
    pub reached: u64,
    /// The records of the path.
    pub all: u64,
}

impl SessionEnd {
    /// Counts a record that is no message.
    pub fn other(&mut self, kind: impl Into<String>) {
        *self.other_records.entry(kind.into()).or_default() += 1;
    }

    /// The end of a session whose file lacks this of what the model was sent.
    pub fn lacking(what: &[&str]) -> Self {
        Self {
            absent: what.iter().map(|what| (*what).to_owned()).collect(),
            ..Self::default()
        }
    }
}

/// Something wrong in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1; 0 where the format has no lines.
    pub line: u64,
    /// The reason, in words.
    pub reason: String,
    /// Normal in a running session (a torn last line), or nothing is lost by it: a note, no damage.
    pub harmless: bool,
}

impl Problem {
    /// Damage.
    pub fn new(line: u64, reason: impl Into<String>) -> Self {
        Self {
            line,
            reason: reason.into(),
            harmless: false,
        }
    }
}

/// One message on its way out.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The message as it is in the context.
    pub message: Message,
    /// When, if known.
    pub time: Option<Millis>,
    /// The settings in force when it came: `model` and the like.
    pub settings: Arc<Settings>,
    /// What the provider counted.
    pub usage: Option<Usage>,
    /// What it cost at list prices, in US dollars, where the format tells costs and a price is known.
    pub dollars: Option<f64>,
    /// The JSON records that the message came from, if it is unchanged and came from this format.
    pub records: Vec<String>,
    /// The JSON records of the message that it was before an edit or a part-level hide.
    pub replaces: Vec<String>,
    /// What its texts refer to, where it came from another format of a provider that wants that back: each such text,
    /// and the references as JSON.
    pub cited: Vec<(String, String)>,
    /// Whether it is a compaction's summary.
    pub is_summary: bool,
}

impl Outgoing {
    /// The model in force, by its name.
    pub(crate) fn model(&self) -> Option<String> {
        serde_json::from_str(self.settings.get("model")?).ok()
    }
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
    /// Whether the history came from a session of this format's own tool.
    pub native: bool,
    /// The first record of the session that it came from.
    pub opening: Option<String>,
    /// The records that say how things stood in the tool, of a session of its own, in their order.
    pub state: Vec<String>,
    /// Whether the session goes on in another directory than its own, which is there.
    pub elsewhere: bool,
    /// Whether all that was ever said is among the messages, but what the session's own tool has compacted.
    pub is_whole: bool,
    /// The provider that the tool talks to by its settings.
    pub provider: Option<String>,
    /// Seed of the ids that are made: the same seed gives the same ids.
    pub seed: [u8; 32],
    /// The source that the messages came from, for documents that hold more than messages: what
    /// stands beside them there is kept.
    pub source: Option<String>,
    /// The raw tail that new records follow, when `messages` go at the end of an untouched file:
    /// its last records, at least one. Empty: a file of its own.
    pub after: Vec<String>,
    /// The source's records that are no messages and stay: by the message, from 0, that they stand
    /// before, or by how many messages there are.
    pub asides: BTreeMap<usize, Vec<String>>,
}

impl Document {
    /// The records that are no messages before message `at`.
    pub fn asides(&self, at: usize) -> &[String] {
        self.asides.get(&at).map_or(&[], Vec::as_slice)
    }

    /// The `number`th id that is made for it.
    pub fn new_id(&self, number: u64) -> String {
        let seed = [&self.seed[..], &number.to_be_bytes()].concat();
        let mut id = [0; 16];
        id.copy_from_slice(&fingerprint(&seed)[..16]);
        let id = uuid::Builder::from_random_bytes(id).into_uuid();
        id.to_string()
    }
}

/// Messages on their way into a file.
pub struct Export<'a> {
    /// Those of the context, in order.
    pub messages: &'a [Outgoing],
    /// What is known of the file as a whole.
    pub document: &'a Document,
    /// Where its text goes.
    pub out: &'a mut dyn Write,
}

impl<'a> Export<'a> {
    /// Of these messages as this document.
    pub fn of(messages: &'a [Outgoing], document: &'a Document, out: &'a mut dyn Write) -> Self {
        Self {
            messages,
            document,
            out,
        }
    }
}

/// Writes messages as a file of this format (or, with [`Document::after`], as its continuation).
/// Untouched messages are written as their records were, JSON-equal; where a link of theirs points
/// at a record that isn't written, that link alone is mended.
///
/// Returns remarks for the user, in words: what the format could not hold.
///
/// # Errors
///
/// [`crate::Error::Io`] from the output.
pub type Exporter = fn(Export<'_>) -> Result<Vec<String>>;
