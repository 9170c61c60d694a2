//! The first pass: every line is read once, and what remains of a record is a small entry.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use hashbrown::{HashTable, hash_table};
use serde_json::value::RawValue;

use super::attachments;
use super::parent_part::Behind;
use super::queue::{self, Queue};
use super::record::{
    Attachment, BlockHead, CompactMetadata, MessageHead, ProgressData, Record, Withdrawal, renders,
};
use super::session_usage;
use crate::error::Result;
use crate::formats::shared::records::{self, LineReader, each_line, each_line_from};
use crate::formats::{Input, Problem, SessionEnd, Sink, again};
use crate::model::{NO_REPLY, Span};
use crate::wire::json::{Raw, decode, is_true, string, word};

/// An interned string.
pub(super) type Name = u32;

/// What a record is to the importer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A user record.
    User,
    /// An assistant record.
    Assistant,
    /// An assistant record that the client wrote; no context.
    Synthetic,
    /// One that it does send.
    Placeholder,
    /// What the client attached to the message before.
    Attached,
    /// What a command of the client's said.
    Local,
    /// The summary that follows a compaction.
    Summary,
    /// `compact_boundary`.
    Boundary,
    /// `microcompact_boundary`.
    Micro,
    /// An attachment that takes back some of what was sent.
    Cut,
    /// The record of what results are sent as; no record of the tree.
    Replaced,
    /// A prompt as attachment.
    QueuedCommand,
    /// A sub-agent's record, mirrored as progress; whether it is an assistant's.
    Mirror(bool),
    /// What the queue alone has; whether the model was given it.
    Queued(bool),
    /// The other record of such.
    Taken,
    /// Any other record of the tree.
    #[default]
    Node,
}

/// One record.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) span: Span,
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) sidechain: bool,
    pub(super) uuid: Option<Name>,
    pub(super) parent: Option<Name>,
    pub(super) logical_parent: Option<Name>,
    pub(super) message: Option<Name>,
    pub(super) agent: Option<Name>,
    /// Compactions before it in the file.
    pub(super) epoch: u32,
    pub(super) calls: Vec<Name>,
    pub(super) results: Vec<Name>,
    /// The kind of attachment.
    pub(super) attached: Option<Name>,
    /// Whether what is sent of it stands beside it.
    pub(super) rendered: bool,
    /// Whether it tells of a request that failed.
    pub(super) failed: bool,
    /// Whether it copies the call that started the file's agent, for which the parent paid.
    pub(super) is_parents: bool,
}

impl Entry {
    /// Whether the client wrote it down beside the conversation, and sends it.
    pub(super) fn is_aside(&self) -> bool {
        matches!(self.kind, Kind::Placeholder | Kind::Attached | Kind::Local)
    }

    /// Whether it is no record of the tree.
    pub(super) fn is_loose(&self) -> bool {
        matches!(self.kind, Kind::Queued(_) | Kind::Taken | Kind::Replaced)
    }

    /// Whether it takes back some of what was sent.
    pub(super) fn prunes(&self) -> bool {
        matches!(self.kind, Kind::Micro | Kind::Cut)
    }

    /// Whether it can be behind a message.
    pub(super) fn is_message(&self) -> bool {
        matches!(
            self.kind,
            Kind::User | Kind::Assistant | Kind::Summary | Kind::QueuedCommand
        )
    }
}

/// Text to small number and back. A long session has a hundred thousand of them, so they stand in one text.
#[derive(Default)]
pub(super) struct Names {
    texts: String,
    /// Where each ends.
    ends: Vec<usize>,
    numbers: HashTable<Name>,
    hasher: RandomState,
}

impl Names {
    fn intern(&mut self, text: &str) -> Name {
        let Self {
            texts,
            ends,
            numbers,
            hasher,
        } = self;
        let hash = |text: &str| hasher.hash_one(text);
        let is_it = |name: &Name| text_of(texts, ends, *name) == text;
        let hash_of = |name: &Name| hash(text_of(texts, ends, *name));
        match numbers.entry(hash(text), is_it, hash_of) {
            hash_table::Entry::Occupied(known) => *known.get(),
            hash_table::Entry::Vacant(place) => {
                let name = ends.len() as Name;
                place.insert(name);
                texts.push_str(text);
                ends.push(texts.len());
                name
            }
        }
    }

    fn text(&mut self, raw: Raw<'_>) -> Option<Name> {
        word(raw).map(|text| self.intern(&text))
    }

    pub(super) fn of(&self, name: Name) -> &str {
        text_of(&self.texts, &self.ends, name)
    }
}

fn text_of<'t>(texts: &'t str, ends: &[usize], name: Name) -> &'t str {
    let at = name as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &texts[start..ends[at]]
}

/// What a compaction keeps verbatim.
#[derive(Debug, Default)]
pub(super) struct Preserved {
    pub(super) anchor: Option<Name>,
    pub(super) uuids: Vec<Name>,
}

/// What the queue alone has, or another record that is none of the tree's.
pub(super) struct Queued {
    /// The record that has the text.
    pub(super) told: u32,
    /// The other record of it.
    pub(super) other: Option<u32>,
    /// The message behind which it came.
    pub(super) behind: Option<u32>,
}

/// All of a file but the text.
#[derive(Default)]
pub(super) struct Index {
    /// Whether it was read from the file's beginning.
    pub(super) is_whole: bool,
    /// The file's own bytes begin here; those before are another file's.
    pub(super) own_from: u64,
    /// The record that a fork's first one follows, in another file.
    joint: Option<Name>,
    pub(super) entries: Vec<Entry>,
    pub(super) names: Names,
    pub(super) by_uuid: HashMap<Name, u32>,
    /// The first record of each reply, by the provider's id of it.
    first: HashMap<Name, u32>,
    /// By boundary.
    pub(super) preserved: HashMap<u32, Preserved>,
    pub(super) session_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) custom_title: Option<String>,
    pub(super) ai_title: Option<String>,
    /// `summary` records: leaf and title.
    summaries: Vec<(Name, String)>,
    /// The last `last-prompt`'s leaf, and how many entries stood before it.
    pub(super) last_prompt: Option<(Name, usize)>,
    /// Whether a snapshot has a system prompt, and tools.
    pub(super) snapshot: [bool; 2],
    /// Attachments of kinds that are not known, by kind.
    pub(super) unknown: BTreeMap<String, u64>,
    /// What of it is known already.
    pub(super) end: SessionEnd,
    /// What stands in no record of the tree, in the order in which it came.
    pub(super) queued: Vec<Queued>,
    pub(super) queue: Queue,
    /// The last message that is no sub-agent's.
    last_message: Option<u32>,
    /// The last message of all.
    last_record: Option<u32>,
    epoch: u32,
    mirrored: HashSet<Name>,
}

/// The index while it is made.
struct Reader<'a> {
    index: Index,
    input: &'a dyn Input,
    sink: &'a mut dyn Sink,
    /// The record with which it ends; all that follows is passed over.
    last: Option<Name>,
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        if self.index.has(self.last) {
            return Ok(());
        }
        let (line, mut span) = (record.line, record.span());
        span.offset += self.index.own_from;
        let problem = match self.index.add(record.value, span, line) {
            Ok(None) => return Ok(()),
            Ok(Some(uuid)) => {
                let first = &self.index.entries[self.index.by_uuid[&uuid] as usize];
                let uuid = self.index.names.of(uuid);
                let reason = format!("uuid {uuid} again (first on line {})", first.line);
                Problem {
                    harmless: is_again(&again(self.input, first.span)?, record.value),
                    ..Problem::new(line, reason)
                }
            }
            Err(error) => Problem::new(line, format!("not a record: {error}")),
        };
        self.sink.problem(problem)
    }
}

/// Nobody is told what is wrong in another file: it was told when that one came in.
struct Unheard;

impl Sink for Unheard {}

impl Index {
    /// Reads all of `input`.
    pub(super) fn read(input: &dyn Input, sink: &mut dyn Sink) -> Result<Self> {
        Self::read_from(input, 0, sink)
    }

    /// Reads the lines of `input` from `offset` on.
    pub(super) fn read_from(input: &dyn Input, offset: u64, sink: &mut dyn Sink) -> Result<Self> {
        let mut reader = Reader {
            index: Self::default(),
            input,
            sink,
            last: None,
        };
        let lone_surrogates = each_line_from(input, offset, &mut reader)?;
        let mut index = reader.index;
        index.is_whole = offset == 0;
        index.end.lone_surrogates = lone_surrogates;
        index.end_queue();
        Ok(index)
    }

    /// Reads all of a fork's file, behind what it begins with.
    pub(super) fn read_behind(behind: &Behind<'_>, sink: &mut dyn Sink) -> Result<Self> {
        let mut index = Self::default();
        let last = index.names.intern(&behind.fork.parent_last_uuid);
        if let Some(parents) = behind.parents {
            let mut reader = Reader {
                index,
                input: parents,
                sink: &mut Unheard,
                last: Some(last),
            };
            each_line(parents, &mut reader)?;
            index = reader.index;
        }
        if index.has(Some(last)) {
            index.inherit(last);
        } else {
            let (length, session) = (behind.fork.context_length, &behind.fork.parent_session_id);
            let lacks =
                format!("its first {length} records, of session {session}, which is not here");
            index = Self::default();
            index.end.absent.push(lacks);
            index.end.begins_in = Some(session.clone());
        }
        index.own_from = behind.own_from();
        let mut reader = Reader {
            index,
            input: behind,
            sink,
            last: None,
        };
        let lone_surrogates = each_line(behind.own, &mut reader)?;
        let mut index = reader.index;
        index.is_whole = true;
        index.end.lone_surrogates = lone_surrogates;
        index.end_queue();
        Ok(index)
    }

    /// Whether a record of this id is there.
    fn has(&self, uuid: Option<Name>) -> bool {
        uuid.is_some_and(|uuid| self.by_uuid.contains_key(&uuid))
    }

    /// Keeps of another file what its records say of each other; what follows comes behind its record `last`.
    fn inherit(&mut self, last: Name) {
        let queue = std::mem::take(&mut self.queue);
        for found in queue
            .end(self.last_message)
            .into_iter()
            .filter(|it| it.is_given)
        {
            let told = self.add_queued(found.told, Kind::Queued(true));
            let other = found.other.map(|other| self.add_queued(other, Kind::Taken));
            let behind = found.behind;
            self.queued.push(Queued {
                told,
                other,
                behind,
            });
        }
        let has_request = self.end.other_records.contains_key("api-request-shape");
        let snapshot = self.snapshot.map(|known| known || has_request);
        *self = Self {
            joint: Some(last),
            snapshot,
            entries: std::mem::take(&mut self.entries),
            names: std::mem::take(&mut self.names),
            by_uuid: std::mem::take(&mut self.by_uuid),
            first: std::mem::take(&mut self.first),
            preserved: std::mem::take(&mut self.preserved),
            queued: std::mem::take(&mut self.queued),
            mirrored: std::mem::take(&mut self.mirrored),
            epoch: self.epoch,
            ..Self::default()
        };
    }

    /// Whether it goes on with a conversation of another file's.
    pub(super) fn goes_on(&self) -> bool {
        self.joint.is_some()
    }

    /// Whether a record is the file's own.
    pub(super) fn is_own(&self, entry: &Entry) -> bool {
        entry.span.offset >= self.own_from
    }

    /// The places of a file's own records, in its order.
    pub(super) fn own_spans(&self, records: &[u32]) -> Vec<Span> {
        let entries = records.iter().map(|at| &self.entries[*at as usize]);
        let own = entries.filter(|entry| self.is_own(entry));
        let mut spans: Vec<Span> = own
            .map(|entry| Span {
                offset: entry.span.offset - self.own_from,
                len: entry.span.len,
            })
            .collect();
        spans.sort();
        spans
    }

    /// Takes in what the queue alone has.
    fn end_queue(&mut self) {
        let reaches_back = self.queue.reaches_back;
        let queue = std::mem::take(&mut self.queue);
        self.queue.reaches_back = reaches_back;
        for found in queue.end(self.last_message) {
            let told = self.add_queued(found.told, Kind::Queued(found.is_given));
            let other = found.other.map(|other| self.add_queued(other, Kind::Taken));
            self.queued.push(Queued {
                told,
                other,
                behind: found.behind,
            });
        }
        self.end.other_records.retain(|_, count| *count > 0);
    }

    /// Takes in what results are sent as, from the message before on.
    fn add_replaced(&mut self, span: Span, line: u64) {
        self.queued.push(Queued {
            told: self.entries.len() as u32,
            other: None,
            behind: self.last_record,
        });
        self.entries.push(Entry {
            span,
            line,
            kind: Kind::Replaced,
            ..Entry::default()
        });
    }

    fn add_queued(&mut self, (span, line): queue::Place, kind: Kind) -> u32 {
        if let Some(others) = self.end.other_records.get_mut(QUEUE) {
            *others -= 1;
        }
        self.entries.push(Entry {
            span,
            line,
            kind,
            ..Entry::default()
        });
        self.entries.len() as u32 - 1
    }

    /// Takes a record in; returns its uuid if that is there already.
    fn add(
        &mut self,
        value: &RawValue,
        span: Span,
        line: u64,
    ) -> Result<Option<Name>, serde_json::Error> {
        // A list would pass for an object with its values in order.
        if !value.get().starts_with('{') {
            return Err(serde::de::Error::custom("it is no object"));
        }
        let record: Record<'_> = serde_json::from_str(value.get())?;
        let kind = word(record.kind);
        let kind = kind.as_deref().unwrap_or("(no type)");
        let known = self.session_id.take();
        self.session_id = known.or_else(|| string(record.session_id));
        self.end.cwd = self.end.cwd.take().or_else(|| string(record.cwd));
        if kind == REPLACED {
            self.add_replaced(span, line);
            return Ok(None);
        }
        let Some(uuid) = self.names.text(record.uuid) else {
            if kind == QUEUE {
                self.queue.take(&record, (span, line), self.last_message);
            }
            self.add_loose(kind, &record);
            return Ok(None);
        };
        if self.by_uuid.contains_key(&uuid) {
            self.end.other(format!("{kind} (repeated uuid)"));
            return Ok(Some(uuid));
        }
        let is_agents = is_true(record.is_sidechain);
        let parent = self.names.text(record.parent_uuid);
        let joint = self.joint.filter(|_| matches!(kind, "user" | "assistant"));
        let mut entry = Entry {
            span,
            line,
            // A fork's records are the path that it is on.
            sidechain: is_agents && self.joint.is_none(),
            uuid: Some(uuid),
            parent: parent.or(joint),
            is_parents: joint.is_some() && parent.is_none(),
            logical_parent: self.names.text(record.logical_parent_uuid),
            agent: self.names.text(record.agent_id),
            epoch: self.epoch,
            ..Entry::default()
        };
        match kind {
            "user" | "assistant" => {
                entry.kind = match kind {
                    "assistant" => Kind::Assistant,
                    _ if is_true(record.is_compact_summary) => Kind::Summary,
                    _ => Kind::User,
                };
                let synthetic = self.add_message(record.message, &mut entry)?;
                let is_error = is_true(record.is_api_error_message);
                if entry.kind == Kind::Assistant && (synthetic || is_error) {
                    entry.kind = if !is_error && says_nothing(record.message) {
                        Kind::Placeholder
                    } else {
                        Kind::Synthetic
                    };
                }
                if self.agent_id.is_none() && is_agents {
                    self.agent_id = string(record.agent_id);
                }
                let is_said = entry.kind == Kind::User && entry.results.is_empty();
                if is_said && !entry.sidechain && !self.queue.is_idle() {
                    let head: MessageHead<'_> = decode(record.message).unwrap_or_default();
                    self.queue.says(head.content);
                }
            }
            "system" => self.add_system(&record, &mut entry),
            "attachment" => {
                let attachment: Attachment<'_> = decode(record.attachment).unwrap_or_default();
                let name = word(attachment.kind);
                let name = name.as_deref().unwrap_or("(no type)");
                self.queue.attaches(attachment.prompt);
                for (known, raw) in self
                    .snapshot
                    .iter_mut()
                    .zip([attachment.system_prompt, attachment.tools])
                {
                    *known |= raw.is_some_and(|raw| raw.get() != "[]");
                }
                entry.attached = Some(self.names.intern(name));
                let is_users = is_true(attachment.human_turn);
                entry.attached = entry.attached.filter(|_| !is_users);
                entry.rendered = attachments::rendered(&record).is_some();
                let tells = if entry.rendered {
                    Some(true)
                } else {
                    attachments::tells(name)
                };
                match tells {
                    _ if Withdrawal::of(&attachment).is_some() => entry.kind = Kind::Cut,
                    Some(true) if attachment.prompt.is_some() => entry.kind = Kind::QueuedCommand,
                    Some(true) if name != "queued_command" => entry.kind = Kind::Attached,
                    Some(_) => self.end.other(format!("attachment/{name}")),
                    // Of what has no text beside it, a newer client sends none.
                    None if word(record.version).is_some_and(|it| renders(&it)) => {
                        self.end.other(format!("attachment/{name}"));
                    }
                    None => {
                        self.end.other(format!("attachment/{name}"));
                        *self.unknown.entry(name.to_owned()).or_default() += 1;
                    }
                }
            }
            "progress" => self.add_progress(&record, &mut entry),
            _ => self.end.other(kind),
        }
        let at = self.entries.len() as u32;
        if entry.is_message() {
            self.last_record = Some(at);
            if !entry.sidechain {
                self.last_message = Some(at);
            }
        }
        if let Some(message) = entry.message {
            self.first.entry(message).or_insert(at);
        }
        self.by_uuid.insert(uuid, at);
        self.entries.push(entry);
        Ok(None)
    }

    /// Notes what pairs a message; says whether the client made it up.
    fn add_message(
        &mut self,
        raw: Option<&RawValue>,
        entry: &mut Entry,
    ) -> Result<bool, serde_json::Error> {
        let Some(raw) = raw.filter(|raw| raw.get().starts_with('{')) else {
            return Err(serde::de::Error::missing_field("message"));
        };
        let head: MessageHead<'_> = serde_json::from_str(raw.get())?;
        if matches!(entry.kind, Kind::Assistant | Kind::Mirror(true)) {
            entry.message = self.names.text(head.id);
        }
        match head.content.map(RawValue::get) {
            Some(text) if text.starts_with('[') => {
                let blocks: Vec<BlockHead<'_>> = serde_json::from_str(text)?;
                for block in blocks {
                    match word(block.kind).as_deref() {
                        Some("tool_use") => entry.calls.extend(self.names.text(block.id)),
                        Some("tool_result") => {
                            entry.results.extend(self.names.text(block.tool_use_id));
                        }
                        _ => {}
                    }
                }
            }
            Some(text) if !text.starts_with('"') => {
                return Err(serde::de::Error::custom("content is no text and no list"));
            }
            _ => {}
        }
        Ok(word(head.model).as_deref() == Some("<synthetic>"))
    }

    fn add_system(&mut self, record: &Record<'_>, entry: &mut Entry) {
        match word(record.subtype).as_deref() {
            Some("compact_boundary") => {
                entry.kind = Kind::Boundary;
                self.epoch += 1;
                entry.epoch = self.epoch;
                let metadata: CompactMetadata = decode(record.compact_metadata).unwrap_or_default();
                if let Some(kept) = metadata.preserved_messages {
                    let mut intern = |uuid: &String| self.names.intern(uuid);
                    let preserved = Preserved {
                        anchor: kept.anchor_uuid.as_ref().map(&mut intern),
                        uuids: kept.uuids.iter().map(intern).collect(),
                    };
                    self.preserved.insert(self.entries.len() as u32, preserved);
                }
            }
            Some("microcompact_boundary") => entry.kind = Kind::Micro,
            Some("local_command") if is_true(record.is_display_only) => {
                self.end.other("system/local_command");
            }
            Some("local_command") if string(record.content).is_some() => entry.kind = Kind::Local,
            Some(subtype) => {
                entry.failed = subtype == "api_error";
                self.end.other(format!("system/{subtype}"));
            }
            None => self.end.other("system"),
        }
    }

    /// A mirrored sub-agent's record, or any other sign of progress.
    fn add_progress(&mut self, record: &Record<'_>, entry: &mut Entry) {
        let data: ProgressData<'_> = decode(record.data).unwrap_or_default();
        if word(data.kind).as_deref() == Some("agent_progress")
            && let Some(agent) = self.names.text(data.agent_id)
            && let Some(inner) = decode::<Record<'_>>(data.message)
            && let Some(role @ ("user" | "assistant")) = word(inner.kind).as_deref()
            && inner.message.is_some()
        {
            let uuid = self.names.text(inner.uuid);
            let repeated = uuid.is_some_and(|uuid| !self.mirrored.insert(uuid));
            entry.kind = Kind::Mirror(role == "assistant");
            if !repeated && self.add_message(inner.message, entry).is_ok() {
                entry.agent = Some(agent);
                return;
            }
            entry.kind = Kind::Node;
        }
        self.end.other("progress");
    }

    /// A record that is no node of the tree.
    fn add_loose(&mut self, kind: &str, record: &Record<'_>) {
        match kind {
            "cost-state" => {
                self.end.stated =
                    session_usage::stated(record.model_usage).or(self.end.stated.take())
            }
            "custom-title" => self.custom_title = string(record.custom_title),
            "ai-title" => self.ai_title = string(record.ai_title),
            "summary" => {
                if let (Some(leaf), Some(title)) =
                    (self.names.text(record.leaf_uuid), string(record.summary))
                {
                    self.summaries.push((leaf, title));
                }
            }
            "last-prompt" => {
                if let Some(leaf) = self.names.text(record.leaf_uuid) {
                    self.last_prompt = Some((leaf, self.entries.len()));
                }
            }
            _ => {}
        }
        self.end.other(kind);
    }

    /// The first record of the reply that a record is of.
    pub(super) fn first_of(&self, record: u32) -> Option<u32> {
        let message = self.entries[record as usize].message?;
        self.first.get(&message).copied()
    }

    /// The title, by the record that decides.
    pub(super) fn title(&self) -> Option<String> {
        let mut summaries = self.summaries.iter().rev();
        let mut of_summary = || summaries.find(|(leaf, _)| self.by_uuid.contains_key(leaf));
        let title = self.custom_title.as_ref().or(self.ai_title.as_ref());
        let title = title.or_else(|| of_summary().map(|(_, title)| title));
        title.cloned()
    }
}

/// The records of what results are sent as.
pub(super) const REPLACED: &str = "content-replacement";

/// The records of what goes into the queue, and comes out.
pub(super) const QUEUE: &str = "queue-operation";

/// Whether a record says what another with its uuid said: a client that compacts writes what it keeps once more, with
/// other marks.
fn is_again(one: &str, other: &RawValue) -> bool {
    let said = |record: &Record<'_>| {
        let said = [
            record.kind,
            record.message,
            record.attachment,
            record.data,
            record.content,
        ];
        said.map(|raw| raw.map(|raw| raw.get().to_owned()))
    };
    let records = serde_json::from_str(one)
        .ok()
        .zip(serde_json::from_str(other.get()).ok());
    records.is_some_and(|(one, other)| said(&one) == said(&other))
}

/// Whether a reply of the client's own is the one that it sends: it stands after commands of the
/// client's, which no model answers.
fn says_nothing(message: Raw<'_>) -> bool {
    let head: MessageHead<'_> = decode(message).unwrap_or_default();
    let blocks: Vec<BlockHead<'_>> = decode(head.content).unwrap_or_default();
    matches!(&blocks[..], [block] if word(block.text).as_deref() == Some(NO_REPLY))
}
