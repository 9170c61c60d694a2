//! Objects: contents and commits, and what is derived from them or was counted.

use std::collections::BTreeMap;
use std::ops::Range;
use std::slice;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashBytes, HashPrefix};
use crate::model::pairs::Links;
use crate::model::{
    Commit, Encoding, Message, Operation, PURGED, Role, Sealed, Summed, TokenCount, ToolUses,
    Total, Usage, is_tombstone,
};
use crate::store::{ContentSize, Prepared};

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

impl CommitRow {
    /// The content that it appends, if it appends one.
    pub fn appended(&self) -> Option<ContentHash> {
        match self.commit.operation {
            Operation::Append { content } => Some(content),
            _ => None,
        }
    }
}

/// A commit with what a listing shows of the message that it appends; of any other commit, the commit
/// alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedCommit {
    /// The commit.
    pub row: CommitRow,
    /// The message.
    pub said: Option<ContentRow>,
    /// Its tokens, if they are known.
    pub count: Option<TokenCount>,
    /// How it uses tools, if that is kept.
    pub uses: Option<ToolUses>,
}

impl From<CommitRow> for ListedCommit {
    fn from(row: CommitRow) -> Self {
        Self {
            row,
            said: None,
            count: None,
            uses: None,
        }
    }
}

/// A message that a commit on a path appends, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The commit.
    pub commit: CommitHash,
    /// How many commits stand before it on its path.
    pub depth: u64,
    /// What it appends.
    pub content: ContentHash,
    /// Who speaks.
    pub role: Role,
    /// Whether a client attached it.
    pub attached: bool,
    /// Whether it calls tools or holds results.
    pub uses_tools: bool,
    /// Its calls and results, if they were asked for and are kept.
    pub links: Option<Links>,
    /// Its tokens, if they were asked for and are known.
    pub count: Option<TokenCount>,
}

/// What is to be told of appended messages beyond who speaks; each costs a look into another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Their calls and results.
    pub links: bool,
    /// Their tokens in this encoding.
    pub counts: Option<Encoding>,
}

/// Commits by whether a path leads to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByReach {
    /// Those on a path, in no order.
    pub reached: Vec<CommitRow>,
    /// The others, in no order.
    pub unreached: Vec<CommitRow>,
}

/// What was taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// How many commits.
    pub commits: u64,
    /// How many contents.
    pub contents: u64,
    /// Their canonical forms, in bytes.
    pub size_bytes: u64,
}

/// What a listing shows of a content without reading its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentRow {
    /// Its name.
    pub hash: ContentHash,
    /// Who speaks.
    pub role: Role,
    /// Whether a client attached it.
    pub attached: bool,
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

/// What is kept and could be made again from the rest, to be held against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// The commits that have a checkpoint.
    pub checkpoints: Vec<CommitHash>,
    /// What was counted.
    pub counts: Vec<(CountKey, Encoding, TokenCount)>,
    /// What contexts come to.
    pub totals: Vec<(CommitHash, Encoding, Total)>,
    /// Contexts summed up; none of what cannot be read.
    pub summaries: Vec<(CommitHash, Encoding, Option<Summed>)>,
}

/// Reading objects.
pub trait Objects {
    /// The commits.
    fn commits(&self, hashes: &[CommitHash]) -> Result<Vec<Option<CommitRow>>>;

    /// The commit, if it is here.
    fn commit(&self, hash: &CommitHash) -> Result<Option<CommitRow>> {
        Ok(self.commits(slice::from_ref(hash))?.remove(0))
    }

    /// Lists the commits whose hash starts with `prefix`, in hash order, at most `limit`.
    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>>;

    /// Tells the newest `limit` commits of the path that ends in `tip`, oldest first, one at a time: those
    /// after `after`, if that is on the path. A range scan of a lineage, never a walk by parent.
    fn walk(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        visit: &mut dyn FnMut(CommitRow) -> Result<()>,
    ) -> Result<()>;

    /// The same commits newest first, held all at once.
    fn ancestors(
        &self,
        tip: &CommitHash,
        until: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<CommitRow>> {
        let mut rows = Vec::new();
        self.walk(tip, until, limit, &mut |row| {
            rows.push(row);
            Ok(())
        })?;
        rows.reverse();
        Ok(rows)
    }

    /// The same with what a listing shows of the messages that they append.
    fn listing(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        encoding: Encoding,
    ) -> Result<Vec<ListedCommit>>;

    /// Tells what the commits at these depths of the path to `tip` append, oldest first, one at a time;
    /// of commits that append nothing, nothing. Reads neither bodies nor the commits' texts.
    fn appended(
        &self,
        tip: &CommitHash,
        depths: Range<u64>,
        facts: Facts,
        visit: &mut dyn FnMut(Appended) -> Result<()>,
    ) -> Result<()>;

    /// For each request setting that is in force at `tip`, the commit that set it last. Reads the
    /// commits since the newest checkpoint.
    fn settings_at(&self, tip: &CommitHash) -> Result<BTreeMap<String, CommitHash>>;

    /// The commits on the path that ends in `tip` that append no message, oldest first. What it costs
    /// grows with how many there are, not with the path.
    fn changes(&self, tip: &CommitHash) -> Result<Vec<CommitRow>>;

    /// Whether these commits are on the path that ends in `tip`, `tip` itself included. A few hops
    /// between lineages.
    fn are_ancestors(&self, commits: &[CommitHash], tip: &CommitHash) -> Result<Vec<bool>>;

    /// The same of one commit.
    fn is_ancestor(&self, ancestor: &CommitHash, tip: &CommitHash) -> Result<bool> {
        Ok(self.are_ancestors(slice::from_ref(ancestor), tip)?[0])
    }

    /// The commit at `depth` on the path that ends in `tip`.
    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>>;

    /// The commits on the paths to any of these tips, each once, and those on none of them. Reads
    /// all that there is: for what concerns all of it.
    fn by_reach(&self, tips: &[CommitHash]) -> Result<ByReach>;

    /// The children of `parent` (none: the roots) that append `content`, oldest first.
    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<CommitHash>>;

    /// Tells the canonical bytes of these contents, one after the other, each with its place among those
    /// asked for; of what isn't here, nothing.
    fn each_body(
        &self,
        hashes: &[ContentHash],
        visit: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()>;

    /// The messages, whole.
    fn contents(&self, hashes: &[ContentHash]) -> Result<Vec<Option<Message>>> {
        let mut found = vec![None; hashes.len()];
        self.each_body(hashes, &mut |at, body| {
            let read = Message::from_canonical(body).map_err(|error| Error::Damaged {
                detail: format!("content {}: {error}", hashes[at]),
            });
            found[at] = Some(read?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The message, whole, if it is here.
    fn content(&self, hash: &ContentHash) -> Result<Option<Message>> {
        Ok(self.contents(slice::from_ref(hash))?.remove(0))
    }

    /// The canonical forms, of erased ones the tombstone's.
    fn bodies(&self, hashes: &[ContentHash]) -> Result<Vec<Option<String>>> {
        let mut found = vec![None; hashes.len()];
        self.each_body(hashes, &mut |at, body| {
            found[at] = Some(body.to_owned());
            Ok(())
        })?;
        Ok(found)
    }

    /// What listings show of these contents.
    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ContentRow>>>;

    /// The same of one content.
    fn content_row(&self, hash: &ContentHash) -> Result<Option<ContentRow>> {
        Ok(self.content_rows(slice::from_ref(hash))?.remove(0))
    }

    /// How these contents use tools, in brief; none of one that uses none. Reads no body.
    fn tool_uses(&self, contents: &[ContentHash]) -> Result<Vec<Option<ToolUses>>>;

    /// All contents that are here, erased ones too.
    fn all_contents(&self) -> Result<Vec<ContentHash>> {
        let contents = self.content_sizes()?.into_iter();
        Ok(contents.map(|content| content.hash).collect())
    }

    /// How much room each content takes, all that are here. Reads no body.
    fn content_sizes(&self) -> Result<Vec<ContentSize>>;

    /// Whether each of these contents was erased: what stands in its place is a tombstone
    /// ([`crate::model::tombstone`]), whose own hash is another one. What isn't here was not.
    fn purged(&self, contents: &[ContentHash]) -> Result<Vec<bool>> {
        // A message may say the same words, so that only the body tells.
        let says_so = |row: &ContentRow| row.preview == PURGED;
        let rows = self.content_rows(contents)?;
        let may_be = rows.iter().enumerate();
        let may_be = may_be.filter(|(_, row)| row.as_ref().is_some_and(says_so));
        let may_be: Vec<usize> = may_be.map(|(at, _)| at).collect();
        let asked: Vec<ContentHash> = may_be.iter().map(|at| contents[*at]).collect();
        let mut purged = vec![false; contents.len()];
        self.each_body(&asked, &mut |at, body| {
            purged[may_be[at]] = is_tombstone(&asked[at], body.as_bytes());
            Ok(())
        })?;
        Ok(purged)
    }

    /// Whether each of these contents has no body any more: it was damaged, and was set aside. What
    /// isn't here was not.
    fn lost(&self, contents: &[ContentHash]) -> Result<Vec<bool>>;

    /// The counts known in `encoding`.
    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>>;

    /// What the provider counted at these commits.
    fn usage(&self, commits: &[CommitHash]) -> Result<Vec<Option<Usage>>>;

    /// The newest checkpoint on the path that ends in `tip`: the commit and its context.
    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>>;

    /// The newest total on the path that ends in `tip`, and the depth of its commit.
    fn newest_total(&self, tip: &CommitHash, encoding: Encoding) -> Result<Option<(u64, Total)>>;

    /// All that is derived, as far as its rows are as they were written. Reads all that there is.
    fn derived(&self) -> Result<Derived>;

    /// The newest summary on the path that ends in `tip`, and the depth of its commit.
    fn newest_summary(&self, tip: &CommitHash, encoding: Encoding)
    -> Result<Option<(u64, Summed)>>;

    /// How many commits lead from the newest checkpoint on the path to `tip`; without one, from
    /// the root, which counts too.
    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64>;
}

/// Writing objects.
pub trait ObjectsMut: Objects {
    /// Says which contents may be put next. `contents` is asked by an engine for which it is quicker to find out
    /// together which of them are here.
    fn foresee(&self, contents: &mut dyn FnMut() -> Vec<ContentHash>) -> Result<()> {
        let _ = contents;
        Ok(())
    }

    /// Keeps a message and says whether it is new, maybe with what
    /// [`Store::preparing`](super::Store::preparing) has worked out of it; one that is here already is left alone,
    /// but where its body was set aside it is whole again.
    fn put_message(&self, message: &Sealed<Message>, prepared: Option<Prepared>) -> Result<bool>;

    /// The same of which nothing was worked out.
    fn put_content(&self, message: &Sealed<Message>) -> Result<bool> {
        self.put_message(message, None)
    }

    /// Gives a message that is here its body back, if that was set aside. Whether it was.
    fn heal_content(&self, message: &Sealed<Message>) -> Result<bool> {
        let is_lost = self.lost(&[message.hash()])?[0];
        if is_lost {
            self.put_message(message, None)?;
        }
        Ok(is_lost)
    }

    /// Keeps a commit and says whether it is new. Its parent and contents must be here.
    fn put_commit(&self, commit: &Sealed<Commit>) -> Result<bool>;

    /// Keeps counts.
    fn put_counts(&self, counts: &[(CountKey, TokenCount)], encoding: Encoding) -> Result<()>;

    /// Keeps one.
    fn put_count(&self, key: CountKey, encoding: Encoding, count: TokenCount) -> Result<()> {
        self.put_counts(&[(key, count)], encoding)
    }

    /// Keeps what the provider counted at a commit.
    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()>;

    /// Keeps a checkpoint: `context` is the fold up to `commit`.
    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()>;

    /// Keeps what the visible messages at a commit come to.
    fn put_total(&self, commit: &CommitHash, encoding: Encoding, total: Total) -> Result<()>;

    /// Keeps the summary of the context at a commit.
    fn put_summary(&self, commit: &CommitHash, encoding: Encoding, summary: &Summed) -> Result<()>;

    /// Erases a content for good: `[purged]` stands in its place from now on, and putting the
    /// content again changes nothing. Its counts go too, and all totals
    /// and summaries. Gives the bytes that it had.
    fn purge_content(&self, hash: &ContentHash) -> Result<u64>;

    /// Keeps a content that was erased elsewhere, by the role of what stands in its place; one that is
    /// here is left alone.
    fn put_tombstone(&self, hash: &ContentHash, role: Role) -> Result<()>;

    /// Takes out, without a trace, the commits that nothing leads to: no ref, no move of one in the
    /// log, no tag's note, no session that was taken over or resumed. Contents that no commit names
    /// then go with them. Such is what an import leaves that was killed or failed.
    fn drop_unreached(&self) -> Result<Dropped>;
}
