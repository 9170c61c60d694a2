//! A stored conversation as the tree that was seen when it happened.
//!
//! What a message cannot hold (ids of responses, phases, how a call went) is taken from the records
//! that an import kept behind it, where these are events; each run of such messages is read in the
//! order of its file. A message without such records, or whose content an edit or a hide of parts
//! has changed, is replayed from the message alone. Deliberately absent: how a tree is drawn.

mod calls;
mod conversation;
mod player;
mod sources;

use std::path::Path;

pub use calls::Start;
pub use conversation::{Conversation, PartSize};
pub use player::Player;

use super::import::{ImportRequest, import};
use super::inspect::SessionInput;
use crate::error::{Error, Result};
use crate::formats::{EventStream, Format};
use crate::hash::CommitHash;
use crate::model::{EntryId, Millis, RefName};
use crate::repo::{Repo, load};
use crate::tree::{Fold, NodeId, Tree};

/// How much of a source or a file is read at once: 256 KiB.
const READ_BYTES: usize = 256 << 10;

/// Which messages a replay shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The last so many visible ones.
    Window(usize),
    /// Those that no active clear or compaction covers, truncated ones included.
    Transcript,
    /// All that there are.
    All,
}

/// A stored conversation as a tree.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The tree, settled. What is hidden says by what.
    pub tree: Tree,
    /// The messages in it, in order.
    pub entries: Vec<ReplayedEntry>,
    /// How many messages of the transcript a window leaves out.
    pub earlier: usize,
    /// Where the nodes of each record begin, and whose they are, by name.
    births: Vec<(NodeId, usize)>,
    /// Messages behind those in it that answer its calls.
    behind: Vec<ReplayedEntry>,
}

/// A message of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedEntry {
    /// Its name.
    pub id: EntryId,
    /// Its place in the conversation, from 0.
    pub at: usize,
    /// Its number among the visible messages, from 1; none if it is hidden.
    pub number: Option<usize>,
    /// What hides it.
    pub hidden: Option<&'static str>,
}

impl Replay {
    /// The message that a node came with, and its place in the conversation.
    pub fn entry_of(&self, node: NodeId) -> Option<(usize, &ReplayedEntry)> {
        let after = self.births.partition_point(|(first, _)| *first <= node);
        let (_, at) = self.births.get(after.checked_sub(1)?)?;
        let behind = || self.behind.get(at - self.entries.len());
        let entry = self.entries.get(*at).or_else(behind)?;
        Some((entry.at, entry))
    }
}

/// The conversation at a commit.
///
/// # Errors
///
/// [`Error::UnknownRevision`] if it is not here, and the store's.
pub fn replay(repo: &Repo, commit: &CommitHash, scope: Scope) -> Result<Replay> {
    Conversation::open(repo, commit, scope)?.replay(repo)
}

/// The tree of a session file or of a kept stream, without a repository.
///
/// # Errors
///
/// As [`import`], and [`Error::InvalidInput`] if the file holds several sessions.
pub fn tree_of_file(path: &Path, format: Option<&'static Format>) -> Result<Tree> {
    let file = SessionInput::open(path, format)?;
    if let Some(mut stream) = EventStream::of(file.format) {
        let mut fold = Fold::default();
        let mut buffer = vec![0; READ_BYTES];
        let mut at = 0;
        loop {
            let read = file
                .input
                .read_at(at, &mut buffer)
                .map_err(Error::io(path))?;
            let events = match read {
                0 => stream.finish(),
                read => stream.push(&buffer[..read]),
            };
            events.into_iter().for_each(|event| {
                fold.feed(event);
            });
            if read == 0 {
                return Ok(fold.settle());
            }
            at += read as u64;
        }
    }
    let repo = Repo::ephemeral()?;
    let request = ImportRequest {
        format,
        branch: Some("main"),
        ..ImportRequest::at(Millis(0), "import")
    };
    let report = import(&repo, path, &request, &mut |_| {})?;
    if report.sessions.len() > 1 {
        let detail = format!("it holds {} sessions", report.sessions.len());
        return Err(Error::input(path.display().to_string(), detail));
    }
    let tip = load::tip(&*repo.store.read()?, &RefName::branch("main")?)?;
    Ok(match tip {
        Some(tip) => replay(&repo, &tip, Scope::All)?.tree,
        None => Tree::default(),
    })
}
