//! A stream on its way in while it comes.
//!
//! What came up to the end of a message goes the road of an import, so that what is stored is what
//! an import of the same bytes would store. What was read of them stays, so that only what has come
//! is read, and told from where it may change anything ([`GrowingStream`]); where its end does not tell
//! all, the whole goes the same road once more. A session that goes on in a stream of its own is one
//! with what is kept of it: the new bytes follow the kept ones. Deliberately absent: where bytes
//! come from, when to commit, and how a tree is drawn; whoever records decides when it has the time.

use std::cell::OnceCell;
use std::io;

use super::file::blocks;
use super::growth::Onward;
use super::import::{ImportRequest, take_in, take_in_end};
use super::inspect::SessionInput;
use super::report::{ImportReport, ImportedSession};
use super::session::refs_of;
use super::source::{has_lines, kept_blocks};
use crate::error::{Error, Result};
use crate::formats::{EventStream, Format, GrowingStream, Input};
use crate::hash::{CommitHash, Fingerprint, fingerprint};
use crate::model::tokens::Counter;
use crate::model::{Millis, RefName, Settings};
use crate::repo::Repo;
use crate::store::SourceRow;
use crate::tree::{Fold, NodeId, Rest, Tree};

/// For how long a session is taken for one that goes on, since its recorder was heard of last: a minute.
const OPEN_MS: i64 = 60_000;
/// How long before that ends it is put off.
const OPEN_MS_LEFT: i64 = 40_000;

/// The longest line that is waited for: 64 MiB.
const LINE_BYTES_MAX: usize = 64 << 20;

/// What to record, and how.
#[derive(Clone, Copy, Debug)]
pub struct RecordRequest<'a> {
    /// The format, one of events.
    pub format: &'static Format,
    /// What a session is called that tells no id; else by its first record.
    pub stem: Option<&'a str>,
    /// The branch that follows the session, if it isn't to be chosen.
    pub branch: Option<&'a str>,
    /// Whether a HEAD without commits goes to the branch that this makes.
    pub moves_head: bool,
    /// The command, for the operations.
    pub what: &'a str,
}

/// What a stream is called that tells no id and has no file's name: by its first line.
pub fn stream_name(bytes: &[u8]) -> String {
    let lines = bytes.split(|byte| *byte == b'\n');
    let first = lines.map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    let name = fingerprint(first.unwrap_or_default());
    let digits: String = name[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("stream-{digits}")
}

/// Whether there is something to commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// No.
    No,
    /// What was said last is complete as far as can be told: commit it if nothing comes for a while.
    Idle,
    /// A message is complete.
    Now,
}

/// Takes a stream in while it comes.
pub struct Recorder<'a> {
    repo: &'a Repo,
    request: RecordRequest<'a>,
    stream: EventStream,
    fold: Fold,
    /// All that came.
    bytes: Vec<u8>,
    /// The end of the last line.
    line: Mark,
    /// Up to where whole messages were said, and the last node then.
    complete: Mark,
    /// Up to where what was said last may be complete.
    still: Mark,
    /// What is committed.
    committed: Mark,
    before: Before,
    /// With how many of the last bytes that are kept from before the stream begins, once it says more than what is kept.
    repeated: OnceCell<usize>,
    /// What was read of all that is kept of the session; none where it is to be read anew.
    trail: Option<Trail>,
    report: Option<ImportReport>,
    new_commits: u64,
    /// Until when the session is taken for one that goes on, as it is written down.
    open_until: Option<Millis>,
    counter: Counter,
}

/// A place in the stream: so many bytes, and the last node that they gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    bytes: usize,
    node: NodeId,
}

/// What is kept of the session from before.
enum Before {
    /// Nobody has looked: its id was not told yet, or nothing is to be committed.
    Unknown,
    Nothing,
    Kept(Vec<u8>),
}

impl<'a> Recorder<'a> {
    /// Of a stream that has not begun.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] if the format's records are no events, and the store's.
    pub fn new(repo: &'a Repo, request: RecordRequest<'a>) -> Result<Self> {
        let stream = EventStream::of(request.format);
        let no_events = || Error::input("format", format!("{} is no stream", request.format));
        Ok(Self {
            counter: Counter::of(repo.config()?.encoding()?),
            repo,
            request,
            stream: stream.ok_or_else(no_events)?,
            fold: Fold::live(),
            bytes: Vec::new(),
            line: Mark::default(),
            complete: Mark::default(),
            still: Mark::default(),
            committed: Mark::default(),
            before: Before::Unknown,
            repeated: OnceCell::new(),
            trail: None,
            report: None,
            new_commits: 0,
            open_until: None,
        })
    }

    /// Takes what came. Whether the tree has changed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] if a line has no end; what came before it is kept.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool> {
        let mut changed = false;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.stream.pending_bytes() + piece.len() > LINE_BYTES_MAX {
                let line = self.bytes.iter().rposition(|byte| *byte == b'\n');
                self.bytes.truncate(line.map_or(0, |end| end + 1));
                let why = format!("a line of more than {} MiB", LINE_BYTES_MAX >> 20);
                return Err(Error::input("standard input", why));
            }
            let said = |fold: &Fold| {
                let (response, message) = fold.tree().last_said()?;
                Some((response, message.map(str::to_owned)))
            };
            let before = said(&self.fold);
            self.bytes.extend_from_slice(piece);
            for event in self.stream.push(piece) {
                let touch = self.fold.feed(event);
                changed |= touch.anew || !touch.nodes.is_empty();
            }
            if piece.ends_with(b"\n") {
                let here = Mark {
                    bytes: self.bytes.len(),
                    node: self.fold.last(),
                };
                // Once another message has begun, the one before it is complete.
                if before.is_some() && before != said(&self.fold) {
                    self.complete = self.line;
                }
                self.line = here;
                match self.fold.tree().rest() {
                    Rest::Complete => (self.complete, self.still) = (here, here),
                    Rest::Still => self.still = here,
                    Rest::Open => {}
                }
            }
        }
        Ok(changed)
    }

    /// The tree so far: of what came, not of what was kept from before.
    pub fn tree(&self) -> &Tree {
        self.fold.tree()
    }

    /// Whether there is something to commit.
    pub fn due(&self) -> Due {
        let is_new = |mark: Mark| mark.bytes > 0 && mark.node > self.committed.node;
        match (is_new(self.complete), is_new(self.still)) {
            (true, _) => Due::Now,
            (_, true) => Due::Idle,
            _ => Due::No,
        }
    }

    /// Commits what is due.
    ///
    /// # Errors
    ///
    /// As [`import`](super::import); what came is still there, for another try.
    pub fn commit(&mut self, now: Millis) -> Result<()> {
        let mark = match self.due() {
            Due::No => return Ok(()),
            Due::Now => self.complete,
            Due::Idle => self.still,
        };
        self.keep(mark.bytes, now)?;
        self.committed = mark;
        self.stay_open(now);
        Ok(())
    }

    /// Says from time to time that the session goes on, for readers that cannot see that its recorder lives.
    pub fn stay_open(&mut self, now: Millis) {
        let is_soon = |until: Millis| until.0 - now.0 < OPEN_MS_LEFT;
        if self.open_until.is_none_or(is_soon) {
            self.open_until(Millis(now.0.saturating_add(OPEN_MS)));
        }
    }

    /// Writes down until when the session goes on. Where that cannot be, readers go by what they know.
    fn open_until(&mut self, until: Millis) {
        let sessions = self.report.iter().flat_map(|report| &report.sessions);
        let names: Vec<RefName> = sessions.map(|session| session.name.clone()).collect();
        if names.is_empty() {
            return;
        }
        let written = self.repo.store.write_if_free().and_then(|tx| {
            for name in &names {
                tx.put_recorded_until(name, until)?;
            }
            tx.commit()
        });
        if written.is_ok() {
            self.open_until = Some(until);
        }
    }

    /// Commits all that came: nothing more will. What was being said is interrupted. The report is
    /// none where no message came.
    ///
    /// # Errors
    ///
    /// As [`Recorder::commit`].
    pub fn finish(&mut self, now: Millis) -> Result<Option<&ImportReport>> {
        if self.committed.bytes < self.bytes.len() || self.report.is_none() {
            self.keep(self.bytes.len(), now)?;
            self.committed = Mark {
                bytes: self.bytes.len(),
                node: self.fold.last(),
            };
        }
        self.open_until(now);
        Ok(self.report.as_ref())
    }

    /// The tree, settled, once nothing more comes.
    pub fn settled(&mut self) -> Tree {
        for event in self.stream.finish() {
            self.fold.feed(event);
        }
        std::mem::take(&mut self.fold).settle()
    }

    /// All that came.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many commits were not here before.
    pub fn new_commits(&self) -> u64 {
        self.new_commits
    }

    /// What the last commit found.
    pub fn report(&self) -> Option<&ImportReport> {
        self.report.as_ref()
    }

    fn keep(&mut self, end: usize, now: Millis) -> Result<()> {
        self.look_back()?;
        let trail = self.trail.take();
        let is_joined = trail.as_ref().is_some_and(|trail| trail.before > 0);
        let Some(whole) = self.whole(end, is_joined) else {
            // All of it is here from before.
            return Ok(());
        };
        let trail = trail.filter(|trail| trail.is_of(&whole));
        let trail = trail.or_else(|| Trail::of(self.request.format, &whole));
        let mut trail = trail.filter(|_| whole.ends_a_line());
        #[cfg(test)]
        if READS_ALL.get() {
            trail = None;
        }
        let file = SessionInput::of_bytes(whole, self.request.format, self.stem());
        let request = ImportRequest {
            format: Some(self.request.format),
            branch: self.request.branch,
            moves_head: self.request.moves_head,
            is_live: true,
            counter: Some(self.counter),
            ..ImportRequest::at(now, self.request.what)
        };
        let last = self.report.as_ref();
        let trailed = trail.as_mut();
        let trailed = trailed.map(|trail| trail.go_on(self.repo, &file, &request, last));
        let report = match trailed.transpose()?.flatten() {
            Some(report) => report,
            None => {
                let report = take_in(self.repo, &file, &request, None, &mut |_| {})?;
                if let Some(trail) = &mut trail {
                    trail.begin(self.repo, &file, &report)?;
                }
                report
            }
        };
        drop(file);
        self.trail = trail;
        let sessions = report.sessions.iter();
        self.new_commits += sessions.map(|session| session.new_commits).sum::<u64>();
        // A stream without a message stores nothing.
        let kept = report.sessions.iter().any(|session| session.tip.is_some());
        self.report = kept.then_some(report);
        Ok(())
    }

    /// What a session is called that tells no id.
    fn stem(&self) -> String {
        let own = self.request.stem.map(str::to_owned);
        own.unwrap_or_else(|| stream_name(&self.bytes))
    }

    /// Looks for what is kept of the session, once.
    fn look_back(&mut self) -> Result<()> {
        if !matches!(self.before, Before::Unknown) {
            return Ok(());
        }
        let view = self.repo.store.read()?;
        let id = self
            .stream
            .session()
            .map_or_else(|| self.stem(), str::to_owned);
        let (known, _) = refs_of(&*view, self.request.format.name, &id)?;
        self.before = Before::Nothing;
        for (name, _) in known.iter().rev() {
            if let Some(source) = view.sources(name)?.first() {
                let mut bytes = Vec::new();
                kept_blocks(&*view, source.id, source.size_bytes, |block| {
                    bytes.extend_from_slice(block);
                    Ok(())
                })?;
                self.before = Before::Kept(bytes);
                break;
            }
        }
        Ok(())
    }

    /// The session's bytes up to `end` of the stream; none if no more than was kept before. They were joined to
    /// what was kept already, or not.
    fn whole(&self, end: usize, is_joined: bool) -> Option<Joined<'_>> {
        let now = &self.bytes[..end];
        let own = Some(Joined::of(b"", now));
        let Before::Kept(before) = &self.before else {
            return own;
        };
        // What did not begin with it does not begin with it later.
        if is_joined {
            return Some(self.joined(before, now));
        }
        if before.starts_with(now) && before.len() > now.len() && end < self.bytes.len() {
            return None;
        }
        if before.starts_with(now) || now.starts_with(before) || self.stream.session().is_none() {
            return own;
        }
        // A part of what was kept, once more: whole records of it, perhaps behind lines that are none.
        let said = from_first_record(now);
        if has_lines(before, said) {
            // Of that, the broken lines alone are new.
            let broken = &now[..now.len() - said.len()];
            let all = match broken {
                [] => Joined::of(b"", before),
                broken => Joined::of(before, broken),
            };
            return (end == self.bytes.len()).then_some(all);
        }
        Some(self.joined(before, now))
    }

    /// What was kept, and what the stream says after its last lines, which it may begin with.
    fn joined<'s>(&self, before: &'s [u8], now: &'s [u8]) -> Joined<'s> {
        let said = from_first_record(now);
        let (broken, repeated) = (&now[..now.len() - said.len()], &self.repeated);
        let repeated = *repeated.get_or_init(|| repeated_of(before, said));
        let [before, gap, _, _] = Joined::of(before, b"").0;
        Joined([before, gap, broken, &said[repeated.min(said.len())..]])
    }
}

/// With how many of the last bytes of `before` these begin: whole lines.
fn repeated_of(before: &[u8], said: &[u8]) -> usize {
    let kept = before.strip_suffix(b"\n").unwrap_or(before);
    let end = memchr::memchr(b'\n', said).unwrap_or_default();
    if end == 0 {
        return 0;
    }
    let mut starts = memchr::memmem::find_iter(kept, &said[..end]);
    let tail = starts.find_map(|at| {
        let is_line = at == 0 || kept[at - 1] == b'\n';
        let tail = &kept[at..];
        let is_whole = said.get(tail.len()) == Some(&b'\n');
        (is_line && is_whole && said.starts_with(tail)).then_some(tail)
    });
    tail.map_or(0, |tail| tail.len() + 1)
}

/// A stream from its first line that is an object; all of it where none is, as in a stream of named events.
fn from_first_record(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while !rest.trim_ascii_start().starts_with(b"{") {
        match memchr::memchr(b'\n', rest) {
            Some(end) => rest = &rest[end + 1..],
            None => return bytes,
        }
    }
    rest
}

/// What was kept of a session before, and what came of it since, on lines of its own: those in front that are no records, and
/// the others.
#[derive(Clone, Copy)]
struct Joined<'a>([&'a [u8]; 4]);

impl<'a> Joined<'a> {
    fn of(before: &'a [u8], now: &'a [u8]) -> Self {
        let gap: &[u8] = match before.last() {
            None | Some(b'\n') => b"",
            _ => b"\n",
        };
        Self([before, gap, b"", now])
    }

    /// How much was kept before.
    fn before(&self) -> usize {
        let [before, gap, ..] = self.0;
        before.len() + gap.len()
    }

    fn ends_a_line(&self) -> bool {
        self.0[3].ends_with(b"\n")
    }
}

impl Input for Joined<'_> {
    fn size_bytes(&self) -> u64 {
        self.0.iter().map(|piece| piece.len() as u64).sum()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut from = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut got = 0;
        for piece in self.0 {
            let rest = &piece[from.min(piece.len())..];
            from = from.saturating_sub(piece.len());
            let count = rest.len().min(buffer.len() - got);
            buffer[got..got + count].copy_from_slice(&rest[..count]);
            got += count;
        }
        #[cfg(test)]
        TAKEN_BYTES.set(TAKEN_BYTES.get() + got as u64);
        Ok(got)
    }
}

#[cfg(test)]
thread_local! {
    /// How many bytes were taken out of streams.
    pub(super) static TAKEN_BYTES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// Whether all of a stream is read at each commit.
    pub(super) static READS_ALL: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// What was read of a stream, and which commits it has become.
struct Trail {
    stream: GrowingStream,
    /// How much was kept of the session before.
    before: usize,
    /// The hash of what was read.
    hash: Fingerprint,
    hashed_bytes: u64,
    /// None where its commits are not its messages one by one.
    commits: Option<Committed>,
}

/// The commits of a stream's messages.
struct Committed {
    /// What is kept of its bytes.
    source: SourceRow,
    id: String,
    tip: CommitHash,
    all: Vec<CommitHash>,
}

impl Trail {
    fn of(format: &Format, whole: &Joined<'_>) -> Option<Self> {
        Some(Self {
            stream: GrowingStream::of(format)?,
            before: whole.before(),
            hash: Fingerprint::default(),
            hashed_bytes: 0,
            commits: None,
        })
    }

    /// Whether this is what it has read, and more.
    fn is_of(&self, whole: &Joined<'_>) -> bool {
        self.before == whole.before() && self.stream.size_bytes() <= whole.size_bytes()
    }

    /// Commits what may be new at the end of the stream; none, and nothing is changed, where that does not
    /// tell it.
    fn go_on(
        &mut self,
        repo: &Repo,
        file: &SessionInput<'_>,
        request: &ImportRequest<'_>,
        last: Option<&ImportReport>,
    ) -> Result<Option<ImportReport>> {
        self.stream.read(&*file.input)?;
        let start = self.stream.session(&file.stem);
        let commits = self.commits.take();
        let commits = commits.filter(|commits| self.stream.is_plain() && commits.id == start.id);
        let last = last.and_then(|report| report.sessions.first());
        let (Some(mut commits), Some(last)) = (commits, last) else {
            return Ok(None);
        };
        // What is erased stays so, and only who looks at all of a session knows.
        if repo.store.read()?.last_purge()?.is_some() {
            return Ok(None);
        }
        let Some(mut end) = self.stream.end() else {
            return Ok(None);
        };
        let onward = Onward {
            source: commits.source,
            hash: self.hash.clone(),
            tip: commits.tip,
            from: commits.all[end.before - 1],
            is_told: false,
            settings: Settings::new(),
        };
        let steps = std::mem::take(&mut end.steps);
        let count = steps.len();
        let known = self.stream.known().clone();
        let told = take_in_end(repo, file, &onward, request, |sink| {
            sink.session(start)?;
            for step in steps {
                sink.step(step)?;
            }
            sink.end(known)
        });
        let mut report = match told {
            Err(Error::Overtaken { .. }) => return Ok(None),
            told => told?,
        };
        self.hash(&*file.input)?;
        commits.all.truncate(end.before);
        let [session] = &mut report.sessions[..] else {
            return Ok(Some(report));
        };
        session.is_of_end = false;
        session.hides.clone_from(&last.hides);
        session.messages = (end.before + count - last.hides.len()) as u64;
        self.stream.tell(end);
        self.note(repo, session, commits.all, commits.id)?;
        Ok(Some(report))
    }

    /// Writes down what all of the stream has become.
    fn begin(&mut self, repo: &Repo, file: &SessionInput<'_>, report: &ImportReport) -> Result<()> {
        if self.stream.size_bytes() < file.input.size_bytes() {
            self.stream.read(&*file.input)?;
        }
        self.hash(&*file.input)?;
        let ([session], true) = (&report.sessions[..], self.stream.is_plain()) else {
            return Ok(());
        };
        let id = self.stream.session(&file.stem).id;
        self.stream.tell_all();
        self.note(repo, session, Vec::new(), id)
    }

    /// Takes the hash on to the end.
    fn hash(&mut self, input: &dyn Input) -> Result<()> {
        let size_bytes = input.size_bytes();
        blocks(input, self.hashed_bytes, size_bytes, |block| {
            self.hash.update(block);
            Ok(())
        })?;
        self.hashed_bytes = size_bytes;
        Ok(())
    }

    /// Writes down which commits the messages are, of which the first are known; nothing where they are not one
    /// for one what its ref leads to, or where that is not what is kept.
    fn note(
        &mut self,
        repo: &Repo,
        session: &ImportedSession,
        mut all: Vec<CommitHash>,
        id: String,
    ) -> Result<()> {
        let view = repo.store.read()?;
        let source = view.sources(&session.name)?.into_iter().next();
        let is_kept = |source: &SourceRow| {
            source.size_bytes == self.hashed_bytes && source.fingerprint == self.hash.value()
        };
        let (Some(tip), Some(source)) = (session.tip, source.filter(is_kept)) else {
            return Ok(());
        };
        let messages = self.stream.messages();
        let rows = view.ancestors(&tip, None, messages - all.len())?;
        let follows = rows.last().map_or(Some(tip), |row| row.commit.parent);
        if follows == all.last().copied() {
            all.extend(rows.iter().rev().map(|row| row.hash));
        }
        if all.len() == messages && all.last() == Some(&tip) {
            self.commits = Some(Committed {
                source,
                id,
                tip,
                all,
            });
        }
        Ok(())
    }
}
