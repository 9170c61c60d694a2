//! Objects: contents and commits, by their names.

use std::slice;

use super::columns::damaged;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashPrefix};
use crate::model::{
    Commit, Message, Operation, PURGED, Role, Sealed, ToolUses, Usage, is_tombstone, tombstone,
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

    /// The children of `parent` (none: the roots) that append `content`, oldest first, at most so many.
    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
        most: usize,
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
            let read = Message::from_canonical(body)
                .map_err(|error| damaged(format!("content {}: {error}", hashes[at])));
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

    /// How these contents, which are here, use tools, in brief; none of one that uses none. Reads no body.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Damaged`] where nothing leads to one, as far as an engine can tell.
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

    /// Whether anything here is erased, be it that it came so: a purge elsewhere leaves no operation here
    /// ([`Refs::last_purge`](super::Refs::last_purge)).
    fn has_tombstones(&self) -> Result<bool> {
        Ok(!self.tombstones()?.is_empty())
    }

    /// The contents that are erased.
    fn tombstones(&self) -> Result<Vec<ContentHash>> {
        let may_be = self.contents_shown_as_erased()?;
        let purged = self.purged(&may_be)?;
        let all = may_be.into_iter().zip(purged);
        Ok(all.filter_map(|(hash, is)| is.then_some(hash)).collect())
    }

    /// The contents of which listings show [`PURGED`], by an index of them. Reads no body.
    fn contents_shown_as_erased(&self) -> Result<Vec<ContentHash>>;

    /// Whether each of these contents has no body any more: it was damaged, and was set aside. What
    /// isn't here was not. An engine that sets nothing aside has lost none.
    fn lost(&self, contents: &[ContentHash]) -> Result<Vec<bool>> {
        Ok(vec![false; contents.len()])
    }

    /// What the provider counted at these commits.
    fn usage(&self, commits: &[CommitHash]) -> Result<Vec<Option<Usage>>>;
}

/// Writing objects.
pub trait ObjectsMut: Objects {
    /// Says which contents may be put next. `contents` is asked by an engine for which it is quicker to find out
    /// together which of them are here.
    fn foresee(&self, contents: &mut dyn FnMut() -> Vec<ContentHash>) -> Result<()> {
        let _ = contents;
        Ok(())
    }

    /// Keeps a message by a name, which is its own, or of an erased one in whose place it stands; says whether it
    /// is new, maybe with what [`Store::preparing`](super::Store::preparing) has worked out of it. One that is here
    /// already is left alone, but where the body of its own name was set aside it is whole again.
    fn put_named(
        &self,
        name: &ContentHash,
        message: &Sealed<Message>,
        prepared: Option<Prepared>,
    ) -> Result<bool>;

    /// Keeps a message by its own name.
    fn put_message(&self, message: &Sealed<Message>, prepared: Option<Prepared>) -> Result<bool> {
        self.put_named(&message.hash(), message, prepared)
    }

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

    /// Keeps what the provider counted at a commit.
    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()>;

    /// Erases a content for good: `[purged]` stands in its place from now on, and putting the
    /// content again changes nothing. Its counts go too, and all totals
    /// and summaries. Gives the bytes that it had.
    fn purge_content(&self, hash: &ContentHash) -> Result<u64>;

    /// Keeps a content that was erased elsewhere, by the role of what stands in its place; one that is
    /// here is left alone.
    fn put_tombstone(&self, hash: &ContentHash, role: Role) -> Result<()> {
        let stone = Sealed::new(tombstone(role));
        self.put_named(hash, &stone, None).map(drop)
    }
}
