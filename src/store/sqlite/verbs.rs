//! The traits' verbs, each handed to the file that knows its tables.

use super::session::Session;
use super::{checkpoints, objects, refs, search, sources};
use crate::context::Context;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashBytes, HashPrefix};
use crate::model::{Commit, Encoding, Message, Millis, RefName, RefValue, Span, TokenCount, Usage};
use crate::store::{
    AdoptedRow, CommitRow, ContentRow, CountKey, Hit, Literals, OperationRow, ReflogRow, ResumeRow,
    Reversal, SessionRow, SourceRow, TagNote, Tx, View,
};

impl View for Session<'_> {
    fn commit(&self, hash: &CommitHash) -> Result<Option<CommitRow>> {
        objects::commit(self, hash)
    }

    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>> {
        objects::commits_with_prefix(self, prefix, limit)
    }

    fn ancestors(
        &self,
        tip: &CommitHash,
        until: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<CommitRow>> {
        objects::ancestors(self, tip, until, limit)
    }

    fn is_ancestor(&self, ancestor: &CommitHash, tip: &CommitHash) -> Result<bool> {
        objects::is_ancestor(self, ancestor, tip)
    }

    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>> {
        objects::ancestor_at(self, tip, depth)
    }

    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<CommitHash>> {
        objects::appends_after(self, parent, content)
    }

    fn content(&self, hash: &ContentHash) -> Result<Option<Message>> {
        objects::content(self, hash)
    }

    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<ContentRow>> {
        objects::content_rows(self, hashes)
    }

    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>> {
        objects::counts(self, keys, encoding)
    }

    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>> {
        checkpoints::checkpoint(self, tip)
    }

    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        checkpoints::commits_since(self, tip)
    }

    fn reference(&self, name: &RefName) -> Result<Option<RefValue>> {
        refs::reference(self, name)
    }

    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        refs::references(self, prefix)
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Result<Vec<OperationRow>> {
        refs::operations(self, before, limit)
    }

    fn moves(&self, operation: u64) -> Result<Vec<ReflogRow>> {
        refs::moves(self, operation)
    }

    fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
        refs::reflog(self, name, limit)
    }

    fn tag_notes(&self, tags: &[RefName]) -> Result<Vec<Option<TagNote>>> {
        refs::tag_notes(self, tags)
    }

    fn follower(&self, session: &RefName) -> Result<Option<RefName>> {
        refs::follower(self, session)
    }

    fn adopted(&self, session: &RefName) -> Result<Vec<AdoptedRow>> {
        refs::adopted(self, session)
    }

    fn last_purge(&self) -> Result<Option<u64>> {
        refs::last_purge(self)
    }

    fn config(&self) -> Result<Vec<(String, String)>> {
        refs::config(self)
    }

    fn sources(&self, session: &RefName) -> Result<Vec<SourceRow>> {
        sources::sources(self, session)
    }

    fn source(&self, id: u64) -> Result<Option<SourceRow>> {
        sources::source(self, id)
    }

    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>> {
        sources::source_bytes(self, id, span)
    }

    fn records(&self, commit: &CommitHash) -> Result<Vec<(u64, Vec<Span>)>> {
        sources::records(self, commit)
    }

    fn usage(&self, commit: &CommitHash) -> Result<Option<Usage>> {
        objects::usage(self, commit)
    }

    fn session(&self, name: &RefName) -> Result<Option<SessionRow>> {
        sources::session_row(self, name)
    }

    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
        sources::resumed(self, tool, id)
    }

    fn unindexed_bytes(&self) -> Result<u64> {
        search::unindexed_bytes(self)
    }

    fn search(&self, literals: &Literals, tips: &[CommitHash]) -> Result<Vec<Hit>> {
        search::search(self, literals, tips)
    }
}

impl Tx for Session<'_> {
    fn put_content(&self, message: &Message) -> Result<ContentHash> {
        objects::put_content(self, message)
    }

    fn put_commit(&self, commit: &Commit) -> Result<(CommitHash, bool)> {
        objects::put_commit(self, commit)
    }

    fn put_count(&self, key: CountKey, encoding: Encoding, count: TokenCount) -> Result<()> {
        objects::put_count(self, key, encoding, count)
    }

    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        checkpoints::put_checkpoint(self, commit, context)
    }

    fn begin_reversal(&self, time: Millis, what: &str, reversal: Reversal) -> Result<u64> {
        refs::begin_reversal(self, time, what, reversal)
    }

    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()> {
        refs::set_reference(self, name, new)
    }

    fn set_tag_note(&self, tag: &RefName, note: Option<&TagNote>) -> Result<()> {
        refs::set_tag_note(self, tag, note)
    }

    fn set_follower(&self, session: &RefName, branch: &RefName) -> Result<()> {
        refs::set_follower(self, session, branch)
    }

    fn put_adopted(&self, session: &RefName, adopted: AdoptedRow) -> Result<()> {
        refs::put_adopted(self, session, adopted)
    }

    fn set_config(&self, key: &str, value: Option<&str>) -> Result<()> {
        refs::set_config(self, key, value)
    }

    fn put_source(&self, session: &RefName, format: &str) -> Result<u64> {
        sources::put_source(self, session, format)
    }

    fn append_source(&self, id: u64, bytes: &[u8], fingerprint: &HashBytes) -> Result<()> {
        sources::append_source(self, id, bytes, fingerprint)
    }

    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()> {
        sources::put_records(self, commit, source, spans)
    }

    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()> {
        objects::put_usage(self, commit, usage)
    }

    fn put_session(&self, name: &RefName, session: &SessionRow) -> Result<()> {
        sources::put_session(self, name, session)
    }

    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()> {
        sources::put_resumed(self, tool, id, resume)
    }

    fn index(&self, enough_bytes: u64) -> Result<u64> {
        search::index(self, enough_bytes)
    }

    fn unindex(&self, contents: &[ContentHash]) -> Result<()> {
        search::unindex(self, contents)
    }

    fn purge_content(&self, hash: &ContentHash) -> Result<u64> {
        objects::purge_content(self, hash)
    }

    fn purge_source(&self, id: u64) -> Result<()> {
        sources::purge_source(self, id)
    }

    fn purge_operations(&self, purge: u64) -> Result<()> {
        refs::purge_operations(self, purge)
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.finish()
    }
}
