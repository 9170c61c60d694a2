//! A file that has grown since it came in, gone on with: nothing is read again but a little of its end.
//!
//! That its beginning is still as it was is a guess: the file's first bytes, some in its middle and its last ones
//! must be those that are kept. What moves any byte moves the end; a file that was changed and is as before in all
//! of these places is found by the next import that reads it whole. That a reader may begin in the middle
//! is no guess: from there it must tell the last commits that are here word for word.
//! Deliberately absent: when this is asked for, and which records reach further back than the end; that a
//! format says ([`Continuer`](crate::formats::Continuer)).

use std::io;
use std::path::{Path, PathBuf};
use std::slice;

use super::bases::descent_of;
use super::database::{self, Listings};
use super::file::{FileInput, stamp};
use super::inspect::SessionInput;
use super::plain::{absolute, cut};
use super::report::REDACTED;
use crate::error::{Error, Result};
use crate::formats::{Action, Format, Input, Midway, SessionEnd, Sink, Step};
use crate::hash::{CommitHash, Fingerprint};
use crate::model::{Millis, RefName, Sealed, Settings, Span};
use crate::repo::kept::spans;
use crate::repo::{Repo, load};
use crate::store::{CommitRow, FileStamp, FollowedFile, SessionRow, SourceRow, Store, View};
use crate::upkeep::erase::ERASED;

/// How many commits before the end reading may begin, tried in this order.
const LOOK_BACK: [usize; 3] = [16, 48, 160];
/// How many commits must be told word for word, at least.
const TOLD_AGAIN: usize = 3;
/// How much of the beginning and of the middle must be as it was, and of the end.
const FRONT_BYTES: u64 = 4 << 10;
const END_BYTES: u64 = 64 << 10;

/// Where a session is gone on with whose source has grown.
pub(super) struct Onward {
    /// The source that it begins with.
    pub(super) source: SourceRow,
    /// The hash of its bytes.
    pub(super) hash: Fingerprint,
    /// Where the session's ref is.
    pub(super) tip: CommitHash,
    /// The commit before those that are told.
    pub(super) from: CommitHash,
    /// Whether that one is told once more, before them.
    pub(super) is_told: bool,
    /// The settings in force at the end.
    pub(super) settings: Settings,
}

/// How a file that has grown is gone on with.
pub(super) struct Growth {
    /// From where: reading begins at the first record of that commit.
    pub(super) onward: Onward,
    /// What is known of its session.
    pub(super) session: SessionRow,
    offset: u64,
    /// The commits after it, newest first.
    after: Vec<CommitRow>,
    id: String,
    /// What that part of the end which is here already lacks.
    pub(super) absent: Vec<String>,
}

/// Where reading may begin.
struct Place {
    /// Whether all that came before it was told before it.
    is_apart: bool,
    /// Whether no place further back is any better.
    is_last: bool,
}

/// How the file at a path looked when it came in, where that is known.
///
/// # Errors
///
/// The store's.
pub fn known_stamp(repo: &Repo, path: &Path) -> Result<Option<FileStamp>> {
    let known = followed(&*repo.store.read()?, path)?;
    Ok(known.map(|known| known.stamp))
}

/// The file that a session came in from, and how it looked then, where that is known. Of one that came in without its
/// secrets it is none: they stand in the file.
///
/// # Errors
///
/// The store's.
pub fn file_of(repo: &Repo, session: &RefName) -> Result<Option<(PathBuf, FileStamp)>> {
    let view = repo.store.read()?;
    let own = view.followed_files(Some(slice::from_ref(session)))?;
    let Some((path, _)) = own.into_iter().next() else {
        return Ok(None);
    };
    let row = view.session(session)?.unwrap_or_default();
    if row.absent.iter().any(|it| it == REDACTED) {
        return Ok(None);
    }
    let known = view.followed(&path)?;
    Ok(known.map(|known| (PathBuf::from(path), known.stamp)))
}

/// When a file last came in that can be gone on with.
///
/// # Errors
///
/// The store's.
pub fn last_taken_in(repo: &Repo) -> Result<Option<Millis>> {
    repo.store.read()?.last_followed()
}

/// What is known of the file at a path.
fn followed(view: &dyn View, path: &Path) -> Result<Option<FollowedFile>> {
    match absolute(path) {
        Some(path) => view.followed(&path),
        None => Ok(None),
    }
}

/// How the file at a path looks now; of a session in a database, what the listing of that says of it.
///
/// # Errors
///
/// [`crate::Error::Io`] if it cannot be looked at.
pub fn current_stamp(path: &Path, listings: &mut Listings) -> Result<FileStamp> {
    match listings.session(path) {
        Some(session) => Ok(database::stamp(session)),
        None => stamp(path),
    }
}

/// Whether the file at a path looks otherwise than when it came in; none where that is not known, or what came in of it
/// was taken back. A session in a database is such a file.
///
/// # Errors
///
/// The store's.
pub fn has_changed(repo: &Repo, path: &Path, listings: &mut Listings) -> Result<Option<bool>> {
    let view = repo.store.read()?;
    let Some(known) = followed(&*view, path)? else {
        return Ok(None);
    };
    let source = view.source(known.source)?;
    let is_here = match source {
        Some(source) => view.reference(&source.session)?.is_some(),
        None => false,
    };
    Ok(is_here.then(|| current_stamp(path, listings).ok() != Some(known.stamp)))
}

impl Growth {
    /// How to go on with the file at `path`, and the file; none where it must be read whole.
    pub(super) fn of(
        store: &dyn Store,
        path: &Path,
    ) -> Result<Option<(Self, SessionInput<'static>)>> {
        let view = store.read()?;
        let Some(known) = followed(&*view, path)? else {
            return Ok(None);
        };
        let Some(source) = view.source(known.source)? else {
            return Ok(None);
        };
        let Ok(format) = Format::named(&source.format) else {
            return Ok(None);
        };
        if format.go_on.is_none() {
            return Ok(None);
        }
        let input = FileInput::open(path)?;
        let may_be = input.is_plain
            && known.stamp.size_bytes == source.size_bytes
            && input.size_bytes() >= source.size_bytes
            // What a session purged has no file, and what is like it stays as it is.
            && view.last_purge()?.is_none();
        if !may_be || !is_as_it_was(&*view, &input, &source)? {
            return Ok(None);
        }
        let Some(mut growth) = Self::at_the_end(&*view, format, source, known)? else {
            return Ok(None);
        };
        let file = SessionInput::of_known(path, input, format);
        for back in LOOK_BACK {
            let Some(place) = growth.go_back(&*view, back)? else {
                break;
            };
            if place.is_apart
                && let Some(absent) = growth.told_again(&file)?
            {
                growth.absent = absent;
                return Ok(Some((growth, file)));
            }
            if place.is_last {
                break;
            }
        }
        Ok(None)
    }

    /// At the end of a source, before going back from there; none where the session is not to be gone on with so.
    fn at_the_end(
        view: &dyn View,
        format: &'static Format,
        source: SourceRow,
        known: FollowedFile,
    ) -> Result<Option<Self>> {
        let Some(hash) = hash_of(view, &source, &known)? else {
            return Ok(None);
        };
        let name = source.session.clone();
        let session = view.session(&name)?.unwrap_or_default();
        let is_newest = view.sources(&name)?.first().map(|row| row.id) == Some(source.id);
        let is_whole = |it: &String| it != ERASED && it != REDACTED;
        let id = name.as_session().map(|(_, id)| id.to_owned());
        let (Some(tip), Some(id), true) = (
            load::tip(view, &name)?,
            id,
            is_newest && session.absent.iter().all(is_whole),
        ) else {
            return Ok(None);
        };
        // Which of several files counts is not for the end of one to say.
        if descent_of(view, format, &source)?.goes_on(&id) {
            return Ok(None);
        }
        Ok(Some(Self {
            session,
            offset: source.size_bytes,
            after: Vec::new(),
            id,
            absent: Vec::new(),
            onward: Onward {
                source,
                hash,
                tip,
                from: tip,
                is_told: true,
                settings: known.settings,
            },
        }))
    }

    /// Has reading begin so many commits before the end, or fewer where no more can be told again; none where
    /// those are too few.
    fn go_back(&mut self, view: &dyn View, back: usize) -> Result<Option<Place>> {
        let rows = view.ancestors(&self.onward.tip, None, back + 2)?;
        let hashes: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
        let spans = spans(view, &hashes, self.onward.source.id)?.into_iter();
        let spans: Vec<Vec<Span>> = spans.map(Option::unwrap_or_default).collect();
        let is_told = |at: &usize| rows[*at].appended().is_some() && !spans[*at].is_empty();
        let usable = (0..rows.len()).take_while(is_told).count();
        // What a commit after the first one sets is not in force before it.
        let steady = rows.iter().take_while(|row| row.commit.settings.is_empty());
        let most = usable.saturating_sub(1).min(steady.count());
        let back = back.min(most);
        let begins = spans.get(back).into_iter().flatten();
        let begins = begins.map(|span| span.offset).min();
        let Some(offset) = begins.filter(|_| back >= TOLD_AGAIN) else {
            return Ok(None);
        };
        let before = spans.get(back + 1).into_iter().flatten();
        let is_apart = before.map(|span| span.offset + span.len).max() <= Some(offset);
        self.onward.from = rows[back].hash;
        self.offset = offset;
        self.after = rows[..back].to_vec();
        Ok(Some(Place {
            is_apart,
            is_last: back == most,
        }))
    }

    /// Reads what may be new, from a little before it; gives whether that tells all.
    pub(super) fn read(&self, file: &SessionInput<'_>, sink: &mut dyn Sink) -> Result<bool> {
        self.go_on(&*file.input, file, sink)
    }

    fn go_on(
        &self,
        input: &dyn Input,
        file: &SessionInput<'_>,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let Some(go_on) = file.format.go_on else {
            return Ok(false);
        };
        let midway = Midway {
            offset: self.offset,
            id: &self.id,
            settings: &self.onward.settings,
        };
        go_on(file.source(input, None, sink), midway)
    }

    /// What a reader that begins there says is absent, if it tells the commits after it, up to what is kept, as
    /// they are here.
    fn told_again(&self, file: &SessionInput<'_>) -> Result<Option<Vec<String>>> {
        let kept = UpTo {
            input: &*file.input,
            size_bytes: self.onward.source.size_bytes,
        };
        let mut told = ToldAgain {
            expected: &self.after,
            steps: 0,
            is_same: true,
            absent: Vec::new(),
        };
        let is_plain = self.go_on(&kept, file, &mut told)?;
        let is_told = is_plain && told.is_same && told.steps == self.after.len() + 1;
        Ok(is_told.then_some(told.absent))
    }

    /// How many bytes are looked at.
    pub(super) fn work_bytes(&self, file: &SessionInput<'_>) -> u64 {
        file.input.size_bytes().saturating_sub(self.offset)
    }
}

/// The hash of a source's bytes, to be gone on with; none where the mark is not one of them.
fn hash_of(
    view: &dyn View,
    source: &SourceRow,
    known: &FollowedFile,
) -> Result<Option<Fingerprint>> {
    let offset = known.hashed.size_bytes();
    let Some(len) = source.size_bytes.checked_sub(offset) else {
        return Ok(None);
    };
    let mut hash = Fingerprint::from_mark(&known.hashed);
    // A mark stands at the last whole block.
    if len < END_BYTES {
        hash.update(&view.source_bytes(source.id, Span { offset, len })?);
    }
    Ok((hash.value() == source.fingerprint).then_some(hash))
}

/// Whether a file begins with what is kept of it, as far as a few places tell.
fn is_as_it_was(view: &dyn View, input: &dyn Input, source: &SourceRow) -> Result<bool> {
    let size = source.size_bytes;
    let end = size.saturating_sub(END_BYTES);
    // Another place in the middle each time.
    let middle = size / 7 % 1009 * (end / 1009);
    let places = [
        (0, FRONT_BYTES.min(size)),
        (middle, FRONT_BYTES.min(size - middle)),
        (end, size - end),
    ];
    for (offset, len) in places {
        let span = Span { offset, len };
        let here = input.bytes(span).map_err(Error::io("source"))?;
        if here != view.source_bytes(source.id, span)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The first bytes of an input.
struct UpTo<'a> {
    input: &'a dyn Input,
    size_bytes: u64,
}

impl Input for UpTo<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.input
            .read_at(offset, cut(buffer, self.size_bytes, offset))
    }
}

/// Holds what is told against the commits that are here.
struct ToldAgain<'a> {
    /// Newest first; the step before them is told first.
    expected: &'a [CommitRow],
    steps: usize,
    is_same: bool,
    absent: Vec<String>,
}

impl Sink for ToldAgain<'_> {
    fn step(&mut self, step: Step) -> Result<()> {
        if let Some(at) = self.steps.checked_sub(1) {
            let row = self.expected.len().checked_sub(at + 1);
            let row = row.map(|row| &self.expected[row]);
            let content = match step.action {
                Action::Append(message) => Some(Sealed::new(message).hash()),
                Action::Hide(_) => None,
            };
            self.is_same &= row.is_some_and(|row| {
                row.appended() == content
                    && row.commit.time == step.time
                    && row.commit.settings == step.settings
            });
        }
        self.steps += 1;
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.absent = end.absent;
        Ok(())
    }
}
