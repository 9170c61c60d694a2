//! Where everything is kept: the traits [`Store`], [`View`] and [`Tx`], and what they promise.
//!
//! The verbs are the domain's, so that another engine can take SQLite's place; `contract.rs` holds
//! the promises as functions that run on every engine. Deliberately absent: what a command means
//! (that is [`crate::history`]), and SQL anywhere outside `sqlite/`.

pub mod sqlite;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod map;

use crate::context::Context;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashBytes, HashPrefix};
use crate::model::searched::Literals;
use crate::model::{
    Commit, Encoding, Message, Millis, RefName, RefValue, Role, Span, TokenCount, Usage,
};

/// An engine: hands out views and transactions.
pub trait Store {
    /// A consistent view for reading. Close it soon: it holds back the journal.
    fn read(&self) -> Result<Box<dyn View + '_>>;

    /// The one write transaction. Nothing of it is visible, or remains, unless it is committed;
    /// dropping it takes everything back.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Busy`] when another process holds the lock for longer than the wait.
    fn write(&self) -> Result<Box<dyn Tx + '_>>;

    /// Rewrites what is stored so that nothing that was erased is left of it, in any file.
    fn scrub(&self) -> Result<()>;
}

/// A commit with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRow {
    /// Its name.
    pub hash: CommitHash,
    /// The commit itself.
    pub commit: Commit,
    /// How many commits stand before it on its path: 0 for a root.
    pub depth: u64,
}

/// What a listing shows of a content without reading its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentRow {
    /// Its name.
    pub hash: ContentHash,
    /// Who speaks.
    pub role: Role,
    /// One line of at most 80 bytes, see [`crate::model::preview`].
    pub preview: String,
    /// The canonical body's size in bytes.
    pub size_bytes: u64,
    /// How many calls and results of tools it holds.
    pub calls: u32,
    /// Likewise, results.
    pub results: u32,
}

/// A key of the counts: a content, and which of its parts are hidden or replaced.
///
/// The mask is [`crate::context::Mask::key`]; the whole content has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CountKey {
    /// The content.
    pub content: ContentHash,
    /// The mask, if parts of it are hidden.
    pub mask: Option<HashBytes>,
}

/// A command's row in the operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRow {
    /// Its number, growing.
    pub id: u64,
    /// When.
    pub time: Millis,
    /// What it was, with message text replaced by `…`.
    pub what: String,
    /// Whether it reversed another one.
    pub reversal: Reversal,
}

/// Whether an operation reverses another one, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reversal {
    /// It doesn't.
    #[default]
    None,
    /// It undid this operation.
    Undo(u64),
    /// It did this operation again.
    Redo(u64),
}

/// A move of one ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflogRow {
    /// The operation that moved it.
    pub operation: u64,
    /// The ref.
    pub name: RefName,
    /// What it held before; none: it did not exist.
    pub old: Option<RefValue>,
    /// What it holds since; none: it was deleted.
    pub new: Option<RefValue>,
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

/// The note of an annotated tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagNote {
    /// The commit that was tagged: the note counts while the tag points there.
    pub commit: CommitHash,
    /// When.
    pub time: Millis,
    /// The note.
    pub text: String,
}

/// A commit of a session that was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptedRow {
    /// The commit on the session's own path.
    pub theirs: CommitHash,
    /// What it became.
    pub ours: CommitHash,
}

/// What is known of an imported session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Its title.
    pub title: Option<String>,
    /// The working directory that it ran in.
    pub cwd: Option<String>,
    /// What the file lacks of what the model was sent, in words.
    pub absent: Vec<String>,
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

/// A commit with a content that a search may find there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The first of the tips that were asked about whose path holds the commit, from 0.
    pub tip: usize,
    /// The commit: it appends the content, edits it in, or puts it in place.
    pub commit: CommitHash,
    /// The content.
    pub content: ContentHash,
    /// How many commits stand before it on its path.
    pub depth: u64,
}

/// Reading.
pub trait View {
    /// The commit, if it is here.
    fn commit(&self, hash: &CommitHash) -> Result<Option<CommitRow>>;

    /// Lists the commits whose hash starts with `prefix`, in hash order, at most `limit`.
    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>>;

    /// The commits from `tip` back towards the root, newest first, at most `limit`; it stops
    /// before `until`, if that is on the path. A range scan of a lineage, never a walk by parent.
    fn ancestors(
        &self,
        tip: &CommitHash,
        until: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<CommitRow>>;

    /// Whether `ancestor` is on the path that ends in `tip`, `tip` itself included. A few hops
    /// between lineages.
    fn is_ancestor(&self, ancestor: &CommitHash, tip: &CommitHash) -> Result<bool>;

    /// The commit at `depth` on the path that ends in `tip`.
    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>>;

    /// The children of `parent` (none: the roots) that append `content`, oldest first.
    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<CommitHash>>;

    /// The message, whole; none if it is not here.
    fn content(&self, hash: &ContentHash) -> Result<Option<Message>>;

    /// Whether a content was erased for good: what stands in its place has another hash.
    fn is_purged(&self, hash: &ContentHash) -> Result<bool> {
        let stored = self.content(hash)?;
        Ok(stored.is_some_and(|message| message.hash() != *hash))
    }

    /// What listings show of these contents, in the order asked; those not here are left out.
    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<ContentRow>>;

    /// The counts known in `encoding`, in the order asked.
    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>>;

    /// The newest checkpoint on the path that ends in `tip`: the commit and its context.
    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>>;

    /// How many commits lead from the newest checkpoint on the path to `tip`; without one, from
    /// the root, which counts too.
    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        let depth = |hash: &CommitHash| Ok(self.commit(hash)?.map_or(0, |row| row.depth));
        match self.checkpoint(tip)? {
            Some((base, _)) => Ok(depth(tip)? - depth(&base)?),
            None => Ok(depth(tip)? + 1),
        }
    }

    /// What a ref holds.
    fn reference(&self, name: &RefName) -> Result<Option<RefValue>>;

    /// All refs whose full name begins with `prefix`, by name.
    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>>;

    /// The operations before `before` (none: all), newest first, at most `limit`.
    fn operations(&self, before: Option<u64>, limit: usize) -> Result<Vec<OperationRow>>;

    /// The refs that an operation moved, in the order of the moves.
    fn moves(&self, operation: u64) -> Result<Vec<ReflogRow>>;

    /// The moves of one ref, newest first, at most `limit`.
    fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>>;

    /// The notes that these tags were given last, in the order asked.
    fn tag_notes(&self, tags: &[RefName]) -> Result<Vec<Option<TagNote>>>;

    /// The branch that follows a session.
    fn follower(&self, session: &RefName) -> Result<Option<RefName>>;

    /// What was taken over of a session, oldest first.
    fn adopted(&self, session: &RefName) -> Result<Vec<AdoptedRow>>;

    /// The newest operation that was a purge.
    fn last_purge(&self) -> Result<Option<u64>>;

    /// The repository's configuration: keys and values, by key.
    fn config(&self) -> Result<Vec<(String, String)>>;

    /// The sources of a session ref, newest first.
    fn sources(&self, session: &RefName) -> Result<Vec<SourceRow>>;

    /// A source by its number.
    fn source(&self, id: u64) -> Result<Option<SourceRow>>;

    /// Bytes of a source; shorter at its end.
    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>>;

    /// The records behind a commit: source and spans, newest source first.
    fn records(&self, commit: &CommitHash) -> Result<Vec<(u64, Vec<Span>)>>;

    /// What the provider counted at a commit.
    fn usage(&self, commit: &CommitHash) -> Result<Option<Usage>>;

    /// What is known of a session.
    fn session(&self, name: &RefName) -> Result<Option<SessionRow>>;

    /// What `resume` remembered about the session `id` of `tool`.
    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>>;

    /// How many bytes of contents the search index doesn't know yet.
    fn unindexed_bytes(&self) -> Result<u64>;

    /// The commits on the paths that end in `tips` with a content whose [searched](crate::model::searched)
    /// text may hold `literals`: tip by tip, newest first, each commit once for each content.
    ///
    /// None that does hold them is missing, indexed or not; whether one does is for the caller to
    /// see. Reads no body.
    fn search(&self, literals: &Literals, tips: &[CommitHash]) -> Result<Vec<Hit>>;
}

/// Reading and writing, all or nothing.
pub trait Tx: View {
    /// Keeps a message; a message that is here already is left alone.
    fn put_content(&self, message: &Message) -> Result<ContentHash>;

    /// Keeps a commit and says whether it is new. Its parent and contents must be here.
    fn put_commit(&self, commit: &Commit) -> Result<(CommitHash, bool)>;

    /// Keeps a count.
    fn put_count(&self, key: CountKey, encoding: Encoding, count: TokenCount) -> Result<()>;

    /// Keeps a checkpoint: `context` is the fold up to `commit`.
    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()>;

    /// Opens an operation; refs that move until the next one are logged under it.
    fn begin_operation(&self, time: Millis, what: &str) -> Result<u64> {
        self.begin_reversal(time, what, Reversal::None)
    }

    /// Opens an operation that may be an undo or a redo.
    fn begin_reversal(&self, time: Millis, what: &str, reversal: Reversal) -> Result<u64>;

    /// Points a ref somewhere, or deletes it, and logs the move. An unchanged ref logs nothing.
    /// An operation must be open.
    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()>;

    /// Keeps a tag's note, or forgets it.
    fn set_tag_note(&self, tag: &RefName, note: Option<&TagNote>) -> Result<()>;

    /// Says which branch follows a session.
    fn set_follower(&self, session: &RefName, branch: &RefName) -> Result<()>;

    /// Remembers a commit of a session that was taken over.
    fn put_adopted(&self, session: &RefName, adopted: AdoptedRow) -> Result<()>;

    /// Sets or removes a value of the configuration.
    fn set_config(&self, key: &str, value: Option<&str>) -> Result<()>;

    /// Opens an empty source.
    fn put_source(&self, session: &RefName, format: &str) -> Result<u64>;

    /// Appends bytes to a source as one block and sets the fingerprint of the whole.
    fn append_source(&self, id: u64, bytes: &[u8], fingerprint: &HashBytes) -> Result<()>;

    /// Says which records of a source are behind a commit; a repeat replaces.
    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()>;

    /// Keeps what the provider counted at a commit.
    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()>;

    /// Keeps what is known of a session; a repeat replaces.
    fn put_session(&self, name: &RefName, session: &SessionRow) -> Result<()>;

    /// Remembers a session that `resume` wrote.
    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()>;

    /// Takes contents into the search index that it doesn't know yet, oldest first, until those
    /// done have `enough_bytes`. Gives their bytes; 0: there were none.
    fn index(&self, enough_bytes: u64) -> Result<u64>;

    /// Forgets what the search index knows of these contents, so that nothing of them is left in
    /// it. For whoever erases their bodies: where a body is still here, it may be indexed again.
    /// Rewrites the index, so call it once for many.
    fn unindex(&self, contents: &[ContentHash]) -> Result<()>;

    /// Erases a content for good: `[purged]` stands in its place from now on, and putting the
    /// content again changes nothing. Its counts go too. Gives the bytes that it had.
    fn purge_content(&self, hash: &ContentHash) -> Result<u64>;

    /// Erases a source, its bytes and what they were behind.
    fn purge_source(&self, id: u64) -> Result<()>;

    /// Marks `purge`, an operation, as one, and takes the words of those before it.
    fn purge_operations(&self, purge: u64) -> Result<()>;

    /// Makes it all visible and durable.
    fn commit(self: Box<Self>) -> Result<()>;
}
