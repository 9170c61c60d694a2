//! A conversation at a commit, read a part at a time.
//!
//! What it holds grows with what was changed in the conversation, not with its length. A part is a
//! tree of its own; it begins where a user speaks, if one does so soon enough, so that parts after
//! each other show what the whole would. Deliberately absent: how a tree is drawn.

use std::ops::Range;

use super::calls::{LOOK, Start, with_calls, with_results};
use super::player::Player;
use super::sources::Sources;
use super::{Replay, Scope};
use crate::context::Entry;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{EntryId, Message, Millis, Part, Role};
use crate::query::Moved;
use crate::repo::{Listed, ListedEntry, Outline, Repo, load, prompts};
use crate::store::View;
use crate::tree::words::words;
use crate::tree::{Happening, events_of};

/// How long a part is. It ends where a user speaks once it is long enough, and anywhere when it is too
/// long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSize {
    /// So many messages are enough.
    pub messages: usize,
    /// So many bytes are enough.
    pub bytes: u64,
    /// So many messages more are too many, and so many times the bytes.
    pub more: usize,
}

impl Default for PartSize {
    /// 128 to 512 messages, 2 to 16 MiB.
    fn default() -> Self {
        Self {
            messages: 128,
            bytes: 2 << 20,
            more: 384,
        }
    }
}

/// How many messages are looked at at once for one that was there before.
const STEP: usize = 64;

/// How many times the bytes that are enough are too many.
const MORE_BYTES: u64 = 8;

/// A conversation at a commit, read a part at a time.
#[derive(Clone, Debug)]
pub struct Conversation {
    listed: Listed,
    first: usize,
    earlier: usize,
    is_open: bool,
}

impl Conversation {
    /// The conversation at `commit`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if it is not here, and the store's.
    pub fn open(repo: &Repo, commit: &CommitHash, scope: Scope) -> Result<Self> {
        let outline = repo.outline(commit)?;
        let listed = match scope {
            Scope::Window(_) => outline.visible(),
            Scope::Transcript => outline.transcript(),
            Scope::All => outline.all(),
        };
        Ok(match scope {
            Scope::Window(count) => {
                Self::window(&outline, listed.len().saturating_sub(count), listed)
            }
            _ => Self {
                listed,
                first: 0,
                earlier: 0,
                is_open: false,
            },
        })
    }

    /// The last `count` visible messages, and above them, where [`Conversation::first`] is not the
    /// first, what stands before them in the transcript.
    ///
    /// # Errors
    ///
    /// As [`Conversation::open`].
    pub fn scroll(repo: &Repo, commit: &CommitHash, count: usize) -> Result<Self> {
        let outline = repo.outline(commit)?;
        let (listed, first) = outline.window(count);
        Ok(Self::window(&outline, first, listed))
    }

    /// What a hide put in place of what it hid, and then what it hid.
    ///
    /// # Errors
    ///
    /// As [`Conversation::open`].
    pub fn replaced_by(repo: &Repo, commit: &CommitHash, hide: &CommitHash) -> Result<Self> {
        let listed = repo.outline(commit)?.replaced_by(hide);
        let (first, earlier) = (0, 0);
        Ok(Self {
            listed,
            first,
            earlier,
            is_open: false,
        })
    }

    fn window(outline: &Outline, first: usize, listed: Listed) -> Self {
        let shown = listed.len() - first;
        Self {
            earlier: outline.transcript().len() - shown,
            listed,
            first,
            is_open: false,
        }
    }

    /// The same while more may come: then a call at its end that has no result waits for it.
    pub fn going_on(self, is_open: bool) -> Self {
        Self { is_open, ..self }
    }

    /// What is to be shown of it, as one tree.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn replay(&self, repo: &Repo) -> Result<Replay> {
        let found = self.read(repo, self.first..self.len(), Start::Alone)?;
        Ok(Replay {
            earlier: self.earlier,
            ..found
        })
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The place of the first that is to be shown.
    pub fn first(&self) -> usize {
        self.first
    }

    /// How many messages of the transcript are not to be shown.
    pub fn earlier(&self) -> usize {
        self.earlier
    }

    /// The place from which on all messages are new since a move.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn new_since(&self, repo: &Repo, moved: &Moved) -> Result<usize> {
        let mut from = self.len();
        while from > 0 {
            let first = from.saturating_sub(STEP);
            let rows = self.listed.read(repo, first..from)?;
            let old = rows
                .iter()
                .rposition(|row| !moved.has(&row.entry.id.commit));
            match old {
                Some(old) => return Ok(first + old + 1),
                None => from = first,
            }
        }
        Ok(0)
    }

    /// Where an entry stands, looked for from a place on, in both directions.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn place_of(&self, repo: &Repo, id: &EntryId, near: usize) -> Result<Option<usize>> {
        let (mut low, mut high) = (near.min(self.len()), near.min(self.len()));
        while low > 0 || high < self.len() {
            let (below, above) = (low.saturating_sub(STEP), (high + STEP).min(self.len()));
            for range in [below..low, high..above] {
                let rows = self.listed.read(repo, range.clone())?;
                if let Some(at) = rows.iter().position(|row| row.entry.id == *id) {
                    return Ok(Some(range.start + at));
                }
            }
            (low, high) = (below, above);
        }
        Ok(None)
    }

    /// The message at a place, with its name.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn message(&self, repo: &Repo, at: usize) -> Result<Option<(EntryId, Message)>> {
        let view = repo.store.read()?;
        let rows = self.listed.read_in(&*view, at..at + 1)?;
        let message = |row: &ListedEntry| Ok((row.entry.id, load::message(&*view, &row.entry)?));
        rows.first().map(message).transpose()
    }

    /// The places in a range whose messages contain `text`: in the same case where it has a capital
    /// letter, else in any.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn find(&self, repo: &Repo, range: Range<usize>, text: &str) -> Result<Vec<usize>> {
        let view = repo.store.read()?;
        let rows = self.listed.read_in(&*view, range.clone())?;
        let messages = load::messages(&*view, rows.iter().map(|row| &row.entry))?;
        let exact = text.chars().any(char::is_uppercase);
        let has = |message: &Message| {
            let said = message.parts.iter().map(words_of);
            let mut said = said.map(|said| if exact { said } else { said.to_lowercase() });
            said.any(|said| said.contains(text))
        };
        let found = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| has(message));
        Ok(found.map(|(at, _)| range.start + at).collect())
    }

    /// Which messages there are, without what they say.
    pub fn listed(&self) -> &Listed {
        &self.listed
    }

    /// The part that begins at a place.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn part_from(&self, repo: &Repo, from: usize, size: PartSize) -> Result<Range<usize>> {
        let view = repo.store.read()?;
        let most = size.messages.saturating_add(size.more);
        let rows = self
            .listed
            .read_in(&*view, from..from.saturating_add(most))?;
        let mut sizes = Sizes::of(&*view, &rows, size)?;
        for (at, row) in rows.iter().enumerate() {
            let (is_enough, must_end) = sizes.take(at);
            if at > 0 && (must_end || (is_enough && sizes.begins(&*view, at, row)?)) {
                return Ok(from..from + at);
            }
        }
        Ok(from..from + rows.len())
    }

    /// The part that ends before a place.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn part_to(&self, repo: &Repo, to: usize, size: PartSize) -> Result<Range<usize>> {
        let view = repo.store.read()?;
        let first = to.saturating_sub(size.messages.saturating_add(size.more));
        let rows = self.listed.read_in(&*view, first..to)?;
        let mut sizes = Sizes::of(&*view, &rows, size)?;
        let mut from = to;
        for (at, row) in rows.iter().enumerate().rev() {
            let (_, must_end) = sizes.take(at);
            if must_end && from < to {
                break;
            }
            from = first + at;
            if sizes.is_enough() && sizes.begins(&*view, at, row)? {
                break;
            }
        }
        Ok(from..to)
    }

    /// The messages in a range of places as a tree of their own: settled, as if nothing more came, but for the end
    /// of a conversation that goes on.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn read(&self, repo: &Repo, range: Range<usize>, start: Start) -> Result<Replay> {
        Ok(self.player(repo, range, start)?.finish())
    }

    /// The messages in a range of places, to be told as they happened.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn player(&self, repo: &Repo, range: Range<usize>, start: Start) -> Result<Player> {
        let view = repo.store.read()?;
        let mut rows = self.listed.read_in(&*view, range.clone())?;
        let entries: Vec<Entry> = rows.iter().map(|row| row.entry.clone()).collect();
        let mut events = Sources::of(&*view, &entries)?.events(&entries)?;
        let near = range.start.saturating_sub(LOOK)..range.start;
        let before = || self.listed.read_in(&*view, near);
        with_calls(&*view, before, start, &mut events)?;
        let behind = || {
            let near = range.end..range.end.saturating_add(LOOK);
            self.listed.read_in(&*view, near)
        };
        let results = with_results(&*view, behind, entries.len(), &mut events)?;
        let mut places: Vec<usize> = (range.start..range.start + rows.len()).collect();
        for (at, row) in results {
            places.push(range.start + entries.len() + at);
            rows.push(row);
        }
        if range.end < self.len() {
            // What stands behind it has ended what was being said.
            events.extend(
                events
                    .last()
                    .map(|(at, _)| (*at, Happening::BlockEnd.into())),
            );
        }
        let goes_on = self.is_open && range.end == self.len();
        Ok(Player::of(events, rows, &places, entries.len(), goes_on))
    }

    /// When the messages in a range of places were said, as far as that is known.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn times(&self, repo: &Repo, range: Range<usize>) -> Result<Vec<Option<Millis>>> {
        let view = repo.store.read()?;
        let rows = self.listed.read_in(&*view, range)?;
        let commits: Vec<CommitHash> = rows.iter().map(|row| row.entry.id.commit).collect();
        let found = view.commits(&commits)?.into_iter();
        Ok(found
            .map(|row| row.and_then(|row| row.commit.time))
            .collect())
    }
}

/// What a search finds a part by.
fn words_of(part: &Part) -> String {
    match part {
        Part::ToolCall {
            name, arguments, ..
        } => format!("{name} {arguments}"),
        Part::ToolResult { content, .. } => words(content),
        Part::Thinking { text, .. } => text.clone(),
        part => words(std::slice::from_ref(part)),
    }
}

/// How much of a part is read while its border is looked for.
struct Sizes {
    size: PartSize,
    rows: Vec<(Role, u32, u64)>,
    messages: usize,
    bytes: u64,
}

impl Sizes {
    fn of(view: &dyn View, rows: &[ListedEntry], size: PartSize) -> Result<Self> {
        let contents: Vec<_> = rows.iter().map(|row| row.entry.content).collect();
        let known = load::rows(view, &contents)?;
        let row = |content| {
            let row = &known[content];
            (row.role, row.results, row.size_bytes)
        };
        Ok(Self {
            size,
            rows: contents.iter().map(row).collect(),
            messages: 0,
            bytes: 0,
        })
    }

    fn is_enough(&self) -> bool {
        self.messages >= self.size.messages || self.bytes >= self.size.bytes
    }

    /// Adds a message; whether all before it were enough, and whether it is too much.
    fn take(&mut self, at: usize) -> (bool, bool) {
        let is_enough = self.is_enough();
        self.messages += 1;
        self.bytes += self.rows[at].2;
        let most = self.size.messages.saturating_add(self.size.more);
        let bytes = self.size.bytes.saturating_mul(MORE_BYTES);
        (is_enough, self.messages > most || self.bytes > bytes)
    }

    /// Whether a turn begins with a message: a user speaks, and neither answers nor cancels a call.
    fn begins(&self, view: &dyn View, at: usize, row: &ListedEntry) -> Result<bool> {
        let (role, results, _) = self.rows[at];
        if role != Role::User || results > 0 || row.entry.placed.is_some() {
            return Ok(false);
        }
        let message = load::message(view, &row.entry)?;
        let first = events_of(&message, None).into_iter().next();
        let speaks = first.is_some_and(|event| matches!(event.what, Happening::User { .. }));
        Ok(speaks && prompts::injected_among(view, &[&row.entry])?.is_empty())
    }
}
