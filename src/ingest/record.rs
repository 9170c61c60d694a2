//! A stream on its way in while it comes.
//!
//! What came up to the end of a message goes the road of an import, so that what is stored is what
//! an import of the same bytes would store. A session that goes on in a stream of its own is one
//! with what is kept of it: the new bytes follow the kept ones. Deliberately absent: where bytes
//! come from, when to commit, and how a tree is drawn; whoever records decides when it has the time.

use std::borrow::Cow;

use super::import::{ImportRequest, take_in};
use super::inspect::SessionInput;
use super::report::ImportReport;
use super::session::refs_of;
use super::source::kept_blocks;
use crate::error::{Error, Result};
use crate::hash::fingerprint;
use crate::history::Repo;
use crate::interop::{EventStream, Format, Problem};
use crate::model::Millis;
use crate::tree::{Fold, NodeId, Rest, Tree};

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
    /// Up to where whole messages were said, and the last node then.
    complete: Mark,
    /// Up to where what was said last may be complete.
    still: Mark,
    /// What is committed.
    committed: Mark,
    before: Before,
    report: Option<ImportReport>,
    new_commits: u64,
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
    /// [`Error::InvalidInput`] if the format's records are no events.
    pub fn new(repo: &'a Repo, request: RecordRequest<'a>) -> Result<Self> {
        let stream = EventStream::of(request.format);
        let no_events = || Error::input("format", format!("{} is no stream", request.format));
        Ok(Self {
            repo,
            request,
            stream: stream.ok_or_else(no_events)?,
            fold: Fold::live(),
            bytes: Vec::new(),
            complete: Mark::default(),
            still: Mark::default(),
            committed: Mark::default(),
            before: Before::Unknown,
            report: None,
            new_commits: 0,
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
        Ok(())
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

    /// Whether all that came is committed.
    pub fn is_kept(&self) -> bool {
        self.report.is_some() && self.committed.bytes == self.bytes.len()
    }

    /// What was wrong with the lines so far.
    pub fn problems(&self) -> &[Problem] {
        self.stream.problems()
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
        let Some(whole) = self.whole(end) else {
            // All of it is here from before.
            return Ok(());
        };
        let file = SessionInput {
            redacted: None,
            file: None,
            input: Box::new(whole.as_ref()),
            problems: Vec::new(),
            format: self.request.format,
            stem: self.stem(),
            folder: String::new(),
        };
        let request = ImportRequest {
            format: Some(self.request.format),
            branch: self.request.branch,
            moves_head: self.request.moves_head,
            ..ImportRequest::at(now, self.request.what)
        };
        let report = take_in(self.repo, &file, &request, None, &mut |_| {})?;
        drop(file);
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

    /// The session's bytes up to `end` of the stream; none if no more than was kept before.
    fn whole(&self, end: usize) -> Option<Cow<'_, [u8]>> {
        let now = &self.bytes[..end];
        let Before::Kept(before) = &self.before else {
            return Some(now.into());
        };
        if before.starts_with(now) && before.len() > now.len() && end < self.bytes.len() {
            return None;
        }
        if before.starts_with(now) || now.starts_with(before) || self.stream.session().is_none() {
            return Some(now.into());
        }
        // A part of what was kept, once more: whole records of it.
        let again = memchr::memmem::find_iter(before, now).any(|at| {
            let (ahead, behind) = (&before[..at], &before[at + now.len()..]);
            let is_begun = ahead.is_empty() || ahead.ends_with(b"\n");
            is_begun && (now.ends_with(b"\n") || behind.is_empty() || behind.starts_with(b"\n"))
        });
        if again {
            return (end == self.bytes.len()).then_some(Cow::Borrowed(&before[..]));
        }
        let gap: &[u8] = match before.last() {
            Some(b'\n') => b"",
            _ => b"\n",
        };
        Some([before, gap, now].concat().into())
    }
}
