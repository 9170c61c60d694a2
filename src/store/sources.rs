//! What imports keep: the bytes of sources, the records behind commits, sessions and resumes.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::slice;

use serde::{Deserialize, Serialize};

use super::codec::number;
use super::columns::Cell;
use super::columns::damaged;
use super::compression::{ZSTD, press};
use super::remembered::{self, Memory, MemoryRow, Remembered, RememberedMut, odd};
use super::tables::{
    FOLLOWED, INJECTED, ORIGINS, RECORDINGS, SESSIONS, STARTERS, STATED_USAGE, UNREAD,
    USAGE_DETAILS,
};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, FingerprintMark, HashBytes, fingerprint};
use crate::model::{Millis, RefName, Settings, Span, StatedUsage, UsageDetail};
use crate::store::{Collections, SourceSize};

/// What messages say in the records of a block, which need not be kept twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockText {
    /// The engine's numbers of the messages, in order.
    pub(super) contents: Vec<i64>,
    /// Their bodies, one behind the other.
    pub(super) bytes: Vec<u8>,
    /// What is another one once anything was erased.
    pub(super) erased: Erased,
}

/// What is another one once anything was erased: the newest purge, and what collections have taken out.
pub(super) type Erased = Option<(Option<u64>, Collections)>;

/// A block of a source in fewer bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PressedBlock {
    /// How it is packed.
    pub(super) encoding: i64,
    /// The block as it is stored.
    pub(super) bytes: Vec<u8>,
    /// What was erased before it was packed beside messages; none: it stands alone.
    pub(super) erased: Erased,
}

impl PressedBlock {
    /// A block in a frame of its own.
    pub(super) fn alone(bytes: Vec<u8>) -> Self {
        Self {
            encoding: ZSTD,
            bytes,
            erased: None,
        }
    }
}

/// A kept source: the bytes of one imported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// Its number.
    pub id: u64,
    /// The session ref that it feeds.
    pub session: RefName,
    /// The format's name.
    pub format: String,
    /// How many bytes are kept.
    pub size_bytes: u64,
    /// The SHA-256 of those bytes.
    pub fingerprint: HashBytes,
}

impl SourceRow {
    /// What it is to whoever adds to it.
    pub fn state(&self) -> SourceState {
        SourceState {
            size_bytes: self.size_bytes,
            fingerprint: self.fingerprint,
        }
    }
}

/// Which sources are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcesOf<'a> {
    /// All.
    All,
    /// Any one, if there is one.
    Any,
    /// Those of a session's ref.
    Session(&'a RefName),
    /// The one of this number.
    Number(u64),
}

/// How much of a source is kept: what an append builds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// How many bytes.
    pub size_bytes: u64,
    /// Their SHA-256.
    pub fingerprint: HashBytes,
}

impl SourceState {
    /// That of an empty source.
    pub fn empty() -> Self {
        Self {
            size_bytes: 0,
            fingerprint: fingerprint(b""),
        }
    }
}

/// What is known of an imported session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// Its title.
    pub title: Option<String>,
    /// The working directory that it ran in.
    pub cwd: Option<String>,
    /// What the file lacks of what the model was sent, in words.
    pub absent: Vec<String>,
}

impl SessionRow {
    fn of(row: &MemoryRow) -> Result<Self> {
        let absent = serde_json::from_str(row.text(2)?);
        Ok(Self {
            title: row.maybe_text(0)?.map(str::to_owned),
            cwd: row.maybe_text(1)?.map(str::to_owned),
            absent: absent.map_err(|_| odd("session", &row.key))?,
        })
    }

    fn cells(&self) -> Result<Vec<Cell>> {
        let absent = serde_json::to_string(&self.absent).map_err(Error::store)?;
        Ok(vec![
            Cell::from(self.title.as_deref()),
            Cell::from(self.cwd.as_deref()),
            Cell::Text(absent),
        ])
    }
}

/// What the file of a session began with that is not here: a purge erased it, or it stayed where the session was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginRow {
    /// The number that the kept file had; none: it was not kept.
    pub source: Option<u64>,
    /// The first time that it told.
    pub began: Option<Millis>,
    /// The session of which its first messages are copies.
    pub copied_from: Option<RefName>,
}

impl OriginRow {
    fn of(row: &MemoryRow) -> Result<Self> {
        Ok(Self {
            source: row.maybe(0, MemoryRow::unsigned)?,
            began: row.maybe(1, MemoryRow::number)?.map(Millis),
            copied_from: row.maybe(2, MemoryRow::reference)?,
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let or_null = |value: Option<i64>| value.map_or(Cell::Null, Cell::Number);
        vec![
            or_null(self.source.map(number)),
            or_null(self.began.map(|began| began.0)),
            Cell::from(self.copied_from.as_ref().map(RefName::as_str)),
        ]
    }
}

/// A session that `resume` wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeRow {
    /// The commit whose context was written.
    pub commit: CommitHash,
    /// How many messages were written.
    pub messages: u64,
    /// The SHA-256 over the content hashes of those messages as an import reads them.
    pub digest: HashBytes,
}

/// A session's file as it came in: what is needed to go on with it where it has grown. Derived: it may be
/// forgotten at any time, and what is damaged is as if it were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedFile {
    /// The file, by its absolute path.
    pub path: String,
    /// The source that its bytes are kept in.
    pub source: u64,
    /// What the file was to whoever looks at it without reading.
    pub stamp: FileStamp,
    /// Where the hash of its bytes stood.
    pub hashed: FingerprintMark,
    /// The settings in force at its end, as its reader told them.
    pub settings: Settings,
    /// When it came in.
    pub time: Millis,
}

impl FollowedFile {
    /// None of what an older or newer program wrote: it is as if it were forgotten.
    fn of(row: &MemoryRow) -> Result<Option<Self>> {
        let hashed = FingerprintMark::from_bytes(row.bytes(4)?);
        let settings = serde_json::from_str(row.text(5)?).ok();
        let (Some(hashed), Some(settings)) = (hashed, settings) else {
            return Ok(None);
        };
        Ok(Some(Self {
            path: row.key.clone(),
            source: row.unsigned(0)?,
            stamp: FileStamp {
                size_bytes: row.unsigned(1)?,
                modified_ns: row.number(2)?,
                file: row.number(3)?,
            },
            hashed,
            settings,
            time: Millis(row.number(6)?),
        }))
    }

    /// The same of a file that is to be read whole: no mark says how far it was read.
    fn cells_without_mark(&self) -> Result<Vec<Cell>> {
        let mut cells = self.cells()?;
        cells[4] = Cell::Bytes(Vec::new());
        Ok(cells)
    }

    fn cells(&self) -> Result<Vec<Cell>> {
        let settings = serde_json::to_string(&self.settings).map_err(Error::store)?;
        Ok(vec![
            Cell::Number(number(self.source)),
            Cell::Number(number(self.stamp.size_bytes)),
            Cell::Number(self.stamp.modified_ns),
            Cell::Number(self.stamp.file),
            Cell::Bytes(self.hashed.as_bytes().to_vec()),
            Cell::Text(settings),
            Cell::Number(self.time.0),
        ])
    }
}

/// What a file is to whoever looks at it without reading: the same stamp is no proof that nothing in it has
/// changed, another one proves that something has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// Its length.
    pub size_bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Which file of its file system it is; 0 where that is not known.
    pub file: i64,
}

/// A tool's file that could not be read when it was last looked at. Derived, as [`FollowedFile`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadFile {
    /// The file, by its absolute path.
    pub path: String,
    /// What is wrong. Hostile until escaped.
    pub why: String,
    /// Since when that is known.
    pub time: Millis,
}

/// The replies on the path to where a ref leads, as they were billed last. Derived, as [`FollowedFile`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBill {
    /// The ref.
    pub name: String,
    /// Where it led.
    pub tip: CommitHash,
    /// The replies, in the form of whoever keeps them.
    pub replies: Vec<u8>,
}

/// A block of a source, unpacked.
pub(super) struct Block {
    pub(super) source: u64,
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
}

impl Block {
    fn holds(&self, source: u64, at: u64) -> bool {
        self.source == source && self.start <= at && at - self.start < self.bytes.len() as u64
    }
}

/// What the usage record of a reply says beyond tokens.
fn stated(row: &MemoryRow) -> Result<StatedUsage> {
    StatedUsage::from_text(row.text(0)?).ok_or_else(|| odd("the usage of", &row.key))
}

fn detailed(row: &MemoryRow) -> Result<(CommitHash, UsageDetail)> {
    let detail = UsageDetail::from_text(row.text(1)?);
    let detail = detail.ok_or_else(|| odd("the usage of", &row.key))?;
    Ok((row.commit(0)?, detail))
}

/// Bytes of a source; shorter at its end. `block_at` finds the last block that begins at or before a place, and the
/// one that was read last is kept in `last`: spans come in order.
pub(super) fn bytes_of<V: Sources>(
    view: &V,
    last: &RefCell<Option<Block>>,
    (id, span): (u64, Span),
    block_at: impl Fn(u64) -> Result<Option<Block>>,
) -> Result<Vec<u8>> {
    let mut found = Vec::new();
    let end = span.offset.saturating_add(span.len);
    let mut at = span.offset;
    while at < end {
        let mut last = last.borrow_mut();
        if !last.as_ref().is_some_and(|block| block.holds(id, at)) {
            *last = block_at(at)?.filter(|block| block.holds(id, at));
        }
        let Some(block) = last.as_ref() else {
            // Blocks have no gap, so there is none only behind the last.
            let source = view.source(id)?;
            if source.is_some_and(|source| at < source.size_bytes) {
                let detail = format!("the bytes of source {id} from {at} on are missing");
                return Err(damaged(detail));
            }
            break;
        };
        // Both ends lie within the block, so they fit what indexes memory.
        let from = (at - block.start) as usize;
        let to = (end - block.start).min(block.bytes.len() as u64) as usize;
        found.extend_from_slice(&block.bytes[from..to]);
        at = block.start + to as u64;
    }
    Ok(found)
}

/// The source of this number, which must be here.
///
/// # Errors
///
/// [`Error::Overtaken`] where it is gone.
pub(super) fn must_source<V: Sources + ?Sized>(view: &V, id: u64) -> Result<SourceRow> {
    let name = format!("source {id}");
    view.source(id)?.ok_or(Error::Overtaken { name })
}

/// The same, which must be as it was.
///
/// # Errors
///
/// [`Error::Overtaken`] where it is something else by now, or gone.
pub(super) fn source_as_it_was<V: Sources>(view: &V, id: u64, was: &SourceState) -> Result<()> {
    let row = must_source(view, id)?;
    if row.state() == *was {
        Ok(())
    } else {
        Err(overtaken(&row.session))
    }
}

/// Makes sure that this is the newest source of a session.
///
/// # Errors
///
/// [`Error::Overtaken`] where it is not.
pub(super) fn must_be_newest<V: Sources>(
    view: &V,
    session: &RefName,
    newest: Option<u64>,
) -> Result<()> {
    if view.sources(session)?.first().map(|row| row.id) == newest {
        Ok(())
    } else {
        Err(overtaken(session))
    }
}

fn overtaken(session: &RefName) -> Error {
    let name = session.short().to_owned();
    Error::Overtaken { name }
}

/// The records behind a commit: source and spans, newest source first.
pub type Records = Vec<(u64, Vec<Span>)>;

/// Reading what imports keep.
pub trait Sources: Remembered {
    /// Some sources, newest first.
    fn sources_of(&self, of: SourcesOf<'_>) -> Result<Vec<SourceRow>>;

    /// The sources of a session ref, newest first.
    fn sources(&self, session: &RefName) -> Result<Vec<SourceRow>> {
        self.sources_of(SourcesOf::Session(session))
    }

    /// All sources, oldest first.
    fn all_sources(&self) -> Result<Vec<SourceRow>> {
        let mut sources = self.sources_of(SourcesOf::All)?;
        sources.reverse();
        Ok(sources)
    }

    /// Whether there is any.
    fn has_sources(&self) -> Result<bool> {
        Ok(!self.sources_of(SourcesOf::Any)?.is_empty())
    }

    /// A source by its number.
    fn source(&self, id: u64) -> Result<Option<SourceRow>> {
        Ok(self.sources_of(SourcesOf::Number(id))?.pop())
    }

    /// How much room each of them takes, by number; or each of those alone that nothing reads any more: at every
    /// commit that has records in one, a newer one of the same session and format has them too, and it is neither
    /// the newest of a session that a ref or a move in the log names, nor what the file of such a session is now.
    fn sizes_of(&self, only_older: bool) -> Result<Vec<SourceSize>>;

    /// How much room each source takes, by number.
    fn source_sizes(&self) -> Result<Vec<SourceSize>> {
        self.sizes_of(false)
    }

    /// The sources that any of these commits has records in, each once, by number.
    fn sources_behind(&self, commits: &[CommitHash]) -> Result<Vec<u64>> {
        let records = self.records(commits)?;
        let sources: BTreeSet<u64> = records
            .iter()
            .flatten()
            .map(|(source, _)| *source)
            .collect();
        Ok(sources.into_iter().collect())
    }

    /// The sessions of which anything is known, by name, with that.
    fn sessions(&self) -> Result<Vec<(RefName, SessionRow)>> {
        let rows = remembered::all(self, &SESSIONS)?;
        let sessions = rows
            .iter()
            .map(|row| Ok((row.name()?, SessionRow::of(row)?)));
        sessions.collect()
    }

    /// The sessions that ran in a directory, by name.
    fn sessions_in(&self, directory: &str) -> Result<Vec<RefName>> {
        let sessions = self.sessions()?.into_iter();
        let here = sessions.filter(|(_, session)| session.cwd.as_deref() == Some(directory));
        Ok(here.map(|(name, _)| name).collect())
    }

    /// Bytes of a source; shorter at its end.
    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>>;

    /// Bytes of these sources are read next, from these places on: an engine for which each question is dear asks for them at
    /// once. It changes no answer.
    fn foresee_bytes(&self, places: &[(u64, u64)]) -> Result<()> {
        let _ = places;
        Ok(())
    }

    /// What these commits append, for an engine that packs a block beside it; nothing for any other.
    fn said(&self, commits: &[CommitHash]) -> Result<BlockText> {
        let _ = commits;
        Ok(BlockText::default())
    }

    /// The records behind these commits; where there are none, an empty list.
    fn records(&self, commits: &[CommitHash]) -> Result<Vec<Records>>;

    /// The records behind one commit.
    fn records_of(&self, commit: &CommitHash) -> Result<Records> {
        Ok(self.records(slice::from_ref(commit))?.remove(0))
    }

    /// The file of this path as it came in.
    fn followed(&self, path: &str) -> Result<Option<FollowedFile>> {
        match remembered::one(self, &FOLLOWED, path)? {
            Some(row) => FollowedFile::of(&row),
            None => Ok(None),
        }
    }

    /// The files that came in, by path, each with the session that it feeds: all, or those of these sessions.
    fn followed_files(&self, of: Option<&[RefName]>) -> Result<Vec<(String, RefName)>>;

    /// When a file last came in that can be gone on with.
    fn last_followed(&self) -> Result<Option<Millis>> {
        let rows = remembered::shown(self, &FOLLOWED)?;
        let files = rows.iter().map(FollowedFile::of);
        let files = files.collect::<Result<Vec<_>>>()?;
        Ok(files.iter().flatten().map(|file| file.time).max())
    }

    /// The files that could not be read, by path.
    fn unread_files(&self) -> Result<Vec<UnreadFile>> {
        let rows = remembered::shown(self, &UNREAD)?;
        let file = |row: &MemoryRow| {
            Ok(UnreadFile {
                path: row.key.clone(),
                why: row.text(0)?.to_owned(),
                time: Millis(row.number(1)?),
            })
        };
        rows.iter().map(file).collect()
    }

    /// What is known of a session.
    fn session(&self, name: &RefName) -> Result<Option<SessionRow>> {
        let row = remembered::one(self, &SESSIONS, name.as_str())?;
        row.as_ref().map(SessionRow::of).transpose()
    }

    /// What a session's file began with, where it is not here.
    fn origin(&self, name: &RefName) -> Result<Option<OriginRow>> {
        let row = remembered::one(self, &ORIGINS, name.as_str())?;
        row.as_ref().map(OriginRow::of).transpose()
    }

    /// The sessions of whose files that is known.
    fn with_origins(&self) -> Result<Vec<RefName>> {
        let rows = remembered::all(self, &ORIGINS)?;
        rows.iter().map(MemoryRow::name).collect()
    }

    /// The sessions that agents of others did, each with the one that started it, where its file is not here.
    fn starters(&self) -> Result<Vec<(RefName, RefName)>> {
        let rows = remembered::all(self, &STARTERS)?;
        let pair = |row: &MemoryRow| Ok((row.name()?, row.reference(0)?));
        rows.iter().map(pair).collect()
    }

    /// What the usage records of these replies say beyond [`Objects::usage`](super::Objects::usage), where they do.
    fn usage_details(&self, replies: &[CommitHash]) -> Result<HashMap<CommitHash, UsageDetail>> {
        // A name that is not there costs a look of its own, and few replies have one.
        match replies {
            [] => Ok(HashMap::new()),
            [one] => {
                let row = remembered::one(self, &USAGE_DETAILS, &one.to_string())?;
                row.iter().map(detailed).collect()
            }
            _ => {
                let wanted: HashSet<&CommitHash> = replies.iter().collect();
                let mut details = self.all_usage_details()?;
                details.retain(|reply, _| wanted.contains(reply));
                Ok(details)
            }
        }
    }

    /// The same of all replies.
    fn all_usage_details(&self) -> Result<HashMap<CommitHash, UsageDetail>> {
        let rows = remembered::shown(self, &USAGE_DETAILS)?;
        rows.iter().map(detailed).collect()
    }

    /// Whether it is known here of any message what a client's records say of it elsewhere.
    fn tells_injected(&self) -> Result<bool> {
        Ok(!remembered::all(self, &INJECTED)?.is_empty())
    }

    /// Those of these messages of which it is known here that a client wrote them in the user's name, as its records said
    /// elsewhere. Each is named by the commit that appends it.
    fn told_injected(&self, messages: &[CommitHash]) -> Result<HashSet<CommitHash>> {
        let rows = match messages {
            [] => Vec::new(),
            _ if !self.tells_injected()? => Vec::new(),
            [one] => Vec::from_iter(remembered::one(self, &INJECTED, &one.to_string())?),
            _ => remembered::all(self, &INJECTED)?,
        };
        let wanted: HashSet<&CommitHash> = messages.iter().collect();
        let rows = rows.iter().map(|row| row.commit(0));
        rows.filter(|row| row.as_ref().map_or(true, |it| wanted.contains(it)))
            .collect()
    }

    /// Whether replies are kept here as they were billed.
    fn keeps_bills(&self) -> Result<bool> {
        Ok(false)
    }

    /// Replies as they were billed last: those of these refs, or all. An engine may keep none, or of some refs none.
    fn kept_bills(&self, _names: Option<&[&str]>) -> Result<Vec<KeptBill>> {
        Ok(Vec::new())
    }

    /// What clients say that all requests of their sessions came to.
    fn stated_usage(&self) -> Result<Vec<(RefName, StatedUsage)>> {
        let rows = remembered::shown(self, &STATED_USAGE)?;
        rows.iter()
            .map(|row| Ok((row.name()?, stated(row)?)))
            .collect()
    }

    /// The same of one session.
    fn stated_usage_of(&self, name: &RefName) -> Result<Option<StatedUsage>> {
        let row = remembered::one(self, &STATED_USAGE, name.as_str())?;
        row.as_ref().map(stated).transpose()
    }

    /// Until when a session that is recorded is taken for one that goes on; none where nobody has recorded it.
    fn recorded_until(&self, name: &RefName) -> Result<Option<Millis>> {
        self.prove_intact(Memory(&RECORDINGS), Some(name.as_str()))?;
        let row = remembered::one(self, &RECORDINGS, name.as_str())?;
        row.map(|row| Ok(Millis(row.number(0)?))).transpose()
    }

    /// What `resume` remembered about the session `id` of `tool`.
    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>>;

    /// All that `resume` remembers, by tool and session.
    fn all_resumed(&self) -> Result<Vec<(String, String, ResumeRow)>>;
}

/// Writing what imports keep.
pub trait SourcesMut: Sources + RememberedMut {
    /// Opens an empty source of a session whose newest one is `newest`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Overtaken`] if it has another one by now, or none.
    fn put_source(&self, session: &RefName, format: &str, newest: Option<u64>) -> Result<u64>;

    /// Appends bytes as one block to a source that is `from`, and sets the fingerprint of the whole.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Overtaken`] if it is something else by now, or gone.
    fn append_source(
        &self,
        id: u64,
        from: &SourceState,
        bytes: &[u8],
        fingerprint: &HashBytes,
    ) -> Result<()> {
        let pressed = press(bytes).map(PressedBlock::alone);
        self.append_pressed(id, from, (bytes, pressed), fingerprint)
    }

    /// The same where the bytes come with what [`Store::press`](super::Store::press) has made of them.
    fn append_pressed(
        &self,
        id: u64,
        from: &SourceState,
        block: (&[u8], Option<PressedBlock>),
        fingerprint: &HashBytes,
    ) -> Result<()>;

    /// Says which records of a source are behind a commit; a repeat replaces.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Overtaken`] if the source is gone.
    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()>;

    /// Keeps what is known of a session; a repeat replaces.
    fn put_session(&self, name: &RefName, session: &SessionRow) -> Result<()> {
        self.remember(Memory(&SESSIONS), name.as_str(), Some(session.cells()?))
    }

    /// Keeps what the usage record of a reply says beyond its tokens, if anything; a repeat replaces.
    fn put_usage_detail(&self, reply: &CommitHash, detail: &UsageDetail) -> Result<()> {
        if detail.is_empty() {
            return Ok(());
        }
        self.forget_bills_with(reply)?;
        let cells = vec![Cell::Commit(*reply), Cell::from(&*detail.to_text())];
        self.remember(Memory(&USAGE_DETAILS), &reply.to_string(), Some(cells))
    }

    /// Keeps that a client wrote a message in the user's name, for whoever has no record of it.
    fn put_injected(&self, message: &CommitHash) -> Result<()> {
        let cells = vec![Cell::Commit(*message)];
        self.remember(Memory(&INJECTED), &message.to_string(), Some(cells))
    }

    /// Keeps what a client says that all requests of a session came to; a repeat replaces.
    fn put_stated_usage(&self, name: &RefName, stated: &StatedUsage) -> Result<()> {
        let cells = vec![Cell::from(&*stated.to_text())];
        self.remember(Memory(&STATED_USAGE), name.as_str(), Some(cells))
    }

    /// Keeps replies as they were billed, for as long as nothing is counted anew of what was here. An engine may keep none.
    fn keep_bills(&self, _bills: &[KeptBill]) -> Result<()> {
        Ok(())
    }

    /// Forgets replies as they were billed where this one may be among them.
    fn forget_bills_with(&self, _reply: &CommitHash) -> Result<()> {
        Ok(())
    }

    /// Keeps what a session's file began with; a repeat replaces.
    fn put_origin(&self, name: &RefName, origin: &OriginRow) -> Result<()> {
        self.remember(Memory(&ORIGINS), name.as_str(), Some(origin.cells()))
    }

    /// Keeps which session started another one; a repeat replaces.
    fn put_starter(&self, agent: &RefName, starter: &RefName) -> Result<()> {
        let cells = vec![Cell::from(starter.as_str())];
        self.remember(Memory(&STARTERS), agent.as_str(), Some(cells))
    }

    /// Remembers a session that `resume` wrote.
    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()>;

    /// Keeps what is needed to go on with a file; a repeat replaces.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Overtaken`] if its source is gone.
    fn put_followed(&self, file: &FollowedFile) -> Result<()> {
        must_source(self, file.source)?;
        self.remember(Memory(&FOLLOWED), &file.path, Some(file.cells()?))
    }

    /// Forgets how the files of a session looked as they came in, so that whoever asks next reads them whole. That they
    /// are its files stays known.
    fn forget_looks(&self, session: &RefName) -> Result<()> {
        for (path, _) in self.followed_files(Some(slice::from_ref(session)))? {
            if let Some(file) = self.followed(&path)? {
                let cells = file.cells_without_mark()?;
                self.remember(Memory(&FOLLOWED), &path, Some(cells))?;
            }
        }
        Ok(())
    }

    /// Remembers that a file could not be read; a repeat replaces. A purge
    /// ([`RefsMut::purge_operations`](super::RefsMut::purge_operations)) forgets all of them.
    fn put_unread(&self, file: &UnreadFile) -> Result<()> {
        let cells = vec![Cell::from(&*file.why), Cell::Number(file.time.0)];
        self.remember(Memory(&UNREAD), &file.path, Some(cells))
    }

    /// Forgets that the file of this path could not be read.
    fn forget_unread(&self, path: &str) -> Result<()> {
        self.remember(Memory(&UNREAD), path, None)
    }

    /// Says until when a session that is recorded is taken for one that goes on; a repeat replaces.
    fn put_recorded_until(&self, name: &RefName, until: Millis) -> Result<()> {
        let cells = vec![Cell::Number(until.0)];
        self.remember(Memory(&RECORDINGS), name.as_str(), Some(cells))
    }

    /// Forgets what is known of a session.
    fn forget_session(&self, name: &RefName) -> Result<()> {
        self.remember(Memory(&ORIGINS), name.as_str(), None)?;
        self.remember(Memory(&STARTERS), name.as_str(), None)?;
        self.remember(Memory(&STATED_USAGE), name.as_str(), None)?;
        self.remember(Memory(&SESSIONS), name.as_str(), None)
    }

    /// Takes out the sources that nothing reads any more. Gives how many, and what was kept of them in bytes.
    fn drop_older_sources(&self) -> Result<(u64, u64)> {
        let older = self.sizes_of(true)?;
        older
            .iter()
            .try_for_each(|source| self.purge_source(source.id))?;
        let kept_bytes = older.iter().map(|source| source.kept_bytes).sum();
        Ok((older.len() as u64, kept_bytes))
    }

    /// Erases a source, its bytes and what they were behind.
    fn purge_source(&self, id: u64) -> Result<()>;
}
