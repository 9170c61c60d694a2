//! A strict engine of plain maps, for tests: it keeps the same promises as SQLite, without a line
//! in common, so that the contract is about the traits and not about one engine.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use super::{
    AdoptedRow, Appended, ByReach, Checked, Collections, CommitRow, ContentRow, ContentSize,
    CountKey, Derived, Dropped, Facts, Fault, FollowedFile, Hit, ListedCommit, Objects, ObjectsMut,
    OperationRow, Prepare, Prepared, Records, ReflogRow, Refs, RefsMut, ResumeRow, Reversal, Room,
    RoomOf, Search, SearchMut, SessionRow, SetAside, Shown, SourceRow, SourceSize, SourceState,
    Sources, SourcesMut, Store, TagNote, Tx, UnreadFile, View,
};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashBytes, HashPrefix, fingerprint};
use crate::model::searched::{Literals, searched};
use crate::model::{
    Commit, Encoding, Message, Millis, Operation, PURGED, RefName, RefValue, Role, Sealed, Span,
    Summed, TokenCount, ToolUses, Total, Usage, is_tombstone, preview, tombstone,
};

#[derive(Clone, Default)]
struct Maps {
    /// Canonical forms.
    contents: BTreeMap<ContentHash, String>,
    commits: BTreeMap<CommitHash, CommitRow>,
    order: Vec<CommitHash>,
    counts: BTreeMap<(CountKey, Encoding), TokenCount>,
    checkpoints: BTreeMap<CommitHash, Context>,
    totals: BTreeMap<(CommitHash, Encoding), Total>,
    summaries: BTreeMap<(CommitHash, Encoding), Summed>,
    usage: BTreeMap<CommitHash, Usage>,
    refs: BTreeMap<RefName, RefValue>,
    operations: Vec<OperationRow>,
    reflog: Vec<ReflogRow>,
    tag_notes: BTreeMap<RefName, TagNote>,
    followers: BTreeMap<RefName, RefName>,
    adopted: Vec<(RefName, AdoptedRow)>,
    purges: Vec<u64>,
    collections: Collections,
    last_check: Option<Millis>,
    config: BTreeMap<String, String>,
    sources: Vec<(SourceRow, Vec<u8>)>,
    last_source: u64,
    records: BTreeMap<(CommitHash, u64), Vec<Span>>,
    followed: BTreeMap<String, FollowedFile>,
    unread: BTreeMap<String, UnreadFile>,
    sessions: BTreeMap<RefName, SessionRow>,
    resumes: BTreeMap<(String, String), ResumeRow>,
}

/// The engine.
#[derive(Default)]
pub(crate) struct Map {
    kept: RefCell<Maps>,
    writing: Cell<bool>,
}

struct MapSession<'a> {
    store: &'a Map,
    maps: RefCell<Maps>,
    operation: Cell<Option<u64>>,
    /// An operation that comes with the first move: its time and what it is.
    coming: RefCell<Option<(Millis, String)>>,
    writes: bool,
}

impl Drop for MapSession<'_> {
    fn drop(&mut self) {
        if self.writes {
            self.store.writing.set(false);
        }
    }
}

impl Map {
    fn session(&self, writes: bool) -> MapSession<'_> {
        MapSession {
            store: self,
            maps: RefCell::new(self.kept.borrow().clone()),
            operation: Cell::new(None),
            coming: RefCell::default(),
            writes,
        }
    }
}

impl Store for Map {
    fn read(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(self.session(false)))
    }

    fn write(&self) -> Result<Box<dyn Tx + '_>> {
        if self.writing.replace(true) {
            return Err(Error::Busy { waited_ms: 0 });
        }
        Ok(Box::new(self.session(true)))
    }

    fn write_if_free(&self) -> Result<Box<dyn Tx + '_>> {
        self.write()
    }

    fn press(&self) -> fn(&[u8]) -> Option<Vec<u8>> {
        |_| None
    }

    fn preparing(&self) -> Result<Box<Prepare>> {
        Ok(Box::new(|message| Prepared {
            shown: Shown::of(message),
            body: None,
        }))
    }

    fn version(&self) -> Result<u64> {
        // Nobody else can reach it.
        Ok(0)
    }

    fn verify(&self, _: &mut dyn FnMut(Checked, Option<Fault>)) -> Result<Checked> {
        let maps = self.kept.borrow();
        Ok(Checked {
            contents: maps.contents.len() as u64,
            commits: maps.commits.len() as u64,
            sources: maps.sources.len() as u64,
            unscrubbed: false,
            aside: 0,
        })
    }

    fn size_bytes(&self) -> Result<u64> {
        Ok(0)
    }

    fn recompress(&self, _: &mut dyn FnMut(u64, u64)) -> Result<()> {
        Ok(())
    }

    fn has_free_room(&self) -> Result<bool> {
        Ok(false)
    }

    fn room(&self) -> Result<Room> {
        let mut room = Room::default();
        let bodies = self
            .kept
            .borrow()
            .contents
            .values()
            .map(String::len)
            .sum::<usize>();
        room.add(RoomOf::Messages, bodies as u64);
        Ok(room)
    }

    fn rebuild(&self) -> Result<Vec<SetAside>> {
        Ok(Vec::new())
    }

    fn backup(&self, _: &Path, _: &mut dyn FnMut(u64, u64)) -> Result<()> {
        Ok(())
    }

    fn checked(&self, now: Millis) -> Result<()> {
        self.kept.borrow_mut().last_check = Some(now);
        Ok(())
    }

    fn scrub(&self) -> Result<()> {
        Ok(())
    }
}

fn missing(what: &'static str) -> Error {
    Error::Malformed {
        what,
        detail: "not stored".to_owned(),
    }
}

impl Maps {
    fn message(&self, hash: &ContentHash) -> Option<(&str, Message)> {
        let canonical = self.contents.get(hash)?;
        let message = Message::from_canonical(canonical).expect("it was written");
        Some((canonical, message))
    }

    /// The commits that something names beside other commits.
    fn named(&self) -> Vec<CommitHash> {
        let moves = self.reflog.iter().flat_map(|row| [&row.old, &row.new]);
        let values = self.refs.values().chain(moves.flatten());
        let mut named: Vec<CommitHash> = values
            .filter_map(|value| match value {
                RefValue::Commit(commit) => Some(*commit),
                RefValue::Symbolic(_) => None,
            })
            .collect();
        named.extend(self.tag_notes.values().map(|note| note.commit));
        named.extend(self.resumes.values().map(|resume| resume.commit));
        let adopted = self.adopted.iter();
        named.extend(adopted.flat_map(|(_, row)| [row.theirs, row.ours]));
        named
    }

    fn on_paths(&self, tips: &[CommitHash]) -> BTreeSet<CommitHash> {
        let rows = tips.iter().flat_map(|tip| self.path(tip));
        rows.map(|row| row.hash).collect()
    }

    fn path(&self, tip: &CommitHash) -> Vec<CommitRow> {
        let next = |row: &&CommitRow| row.commit.parent.and_then(|p| self.commits.get(&p));
        std::iter::successors(self.commits.get(tip), next)
            .cloned()
            .collect()
    }
}

impl Objects for MapSession<'_> {
    fn commits(&self, hashes: &[CommitHash]) -> Result<Vec<Option<CommitRow>>> {
        let maps = self.maps.borrow();
        let row = |hash| maps.commits.get(hash).cloned();
        Ok(hashes.iter().map(row).collect())
    }

    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>> {
        let maps = self.maps.borrow();
        let fits = |row: &&CommitRow| row.hash.to_string().starts_with(prefix.as_str());
        Ok(maps
            .commits
            .values()
            .filter(fits)
            .take(limit)
            .cloned()
            .collect())
    }

    fn walk(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        visit: &mut dyn FnMut(CommitRow) -> Result<()>,
    ) -> Result<()> {
        let path = self.maps.borrow().path(tip).into_iter();
        let newest = path.take_while(|row| Some(&row.hash) != after).take(limit);
        let newest: Vec<CommitRow> = newest.collect();
        newest.into_iter().rev().try_for_each(visit)
    }

    fn listing(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        encoding: Encoding,
    ) -> Result<Vec<ListedCommit>> {
        let listed = |row: CommitRow| {
            let Operation::Append { content } = row.commit.operation else {
                return Ok(ListedCommit::from(row));
            };
            let mask = None;
            Ok(ListedCommit {
                said: self.content_row(&content)?,
                count: self
                    .counts(&[CountKey { content, mask }], encoding)?
                    .remove(0),
                uses: self.tool_uses(&[content])?.remove(0),
                ..ListedCommit::from(row)
            })
        };
        self.ancestors(tip, after, limit)?
            .into_iter()
            .map(listed)
            .collect()
    }

    fn appended(
        &self,
        tip: &CommitHash,
        depths: Range<u64>,
        facts: Facts,
        visit: &mut dyn FnMut(Appended) -> Result<()>,
    ) -> Result<()> {
        let path = self.maps.borrow().path(tip).into_iter().rev();
        for row in path.filter(|row| depths.contains(&row.depth)) {
            let Some(content) = row.appended() else {
                continue;
            };
            let damaged = || Error::Damaged {
                detail: format!("content {content:.10} is missing"),
            };
            let said = self.content_row(&content)?.ok_or_else(damaged)?;
            let uses = self.tool_uses(&[content])?.remove(0);
            let key = CountKey {
                content,
                mask: None,
            };
            visit(Appended {
                commit: row.hash,
                depth: row.depth,
                content,
                role: said.role,
                attached: said.attached,
                uses_tools: said.calls + said.results > 0,
                links: uses.filter(|_| facts.links).map(|uses| uses.links()),
                count: match facts.counts {
                    Some(encoding) => self.counts(&[key], encoding)?.remove(0),
                    None => None,
                },
            })?;
        }
        Ok(())
    }

    fn settings_at(&self, tip: &CommitHash) -> Result<BTreeMap<String, CommitHash>> {
        let path = self.maps.borrow().path(tip).into_iter().rev();
        let set = |row: CommitRow| {
            let keys = row.commit.settings.into_keys();
            keys.map(move |key| (key, row.hash))
        };
        Ok(path.flat_map(set).collect())
    }

    fn changes(&self, tip: &CommitHash) -> Result<Vec<CommitRow>> {
        let path = self.maps.borrow().path(tip).into_iter().rev();
        let appends = |row: &CommitRow| matches!(row.commit.operation, Operation::Append { .. });
        Ok(path.filter(|row| !appends(row)).collect())
    }

    fn are_ancestors(&self, commits: &[CommitHash], tip: &CommitHash) -> Result<Vec<bool>> {
        let path = self.maps.borrow().path(tip);
        let on_path = |commit: &CommitHash| path.iter().any(|row| row.hash == *commit);
        Ok(commits.iter().map(on_path).collect())
    }

    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>> {
        let path = self.maps.borrow().path(tip);
        Ok(path
            .iter()
            .find(|row| row.depth == depth)
            .map(|row| row.hash))
    }

    fn by_reach(&self, tips: &[CommitHash]) -> Result<ByReach> {
        let maps = self.maps.borrow();
        let on_paths = maps.on_paths(tips);
        let rows = maps.commits.values().cloned();
        let (reached, unreached) = rows.partition(|row| on_paths.contains(&row.hash));
        Ok(ByReach { reached, unreached })
    }

    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<CommitHash>> {
        let maps = self.maps.borrow();
        let fits = |hash: &&CommitHash| {
            let commit = &maps.commits[*hash].commit;
            let append = Operation::Append { content: *content };
            commit.parent.as_ref() == parent && commit.operation == append
        };
        Ok(maps.order.iter().filter(fits).copied().collect())
    }

    fn each_body(
        &self,
        hashes: &[ContentHash],
        visit: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        let maps = self.maps.borrow();
        for (at, hash) in hashes.iter().enumerate() {
            if let Some(canonical) = maps.contents.get(hash) {
                visit(at, canonical)?;
            }
        }
        Ok(())
    }

    fn contents(&self, hashes: &[ContentHash]) -> Result<Vec<Option<Message>>> {
        let maps = self.maps.borrow();
        let message = |hash| Some(maps.message(hash)?.1);
        Ok(hashes.iter().map(message).collect())
    }

    fn bodies(&self, hashes: &[ContentHash]) -> Result<Vec<Option<String>>> {
        let maps = self.maps.borrow();
        Ok(hashes
            .iter()
            .map(|hash| maps.contents.get(hash).cloned())
            .collect())
    }

    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ContentRow>>> {
        let maps = self.maps.borrow();
        let row = |hash: &ContentHash| {
            let (canonical, message) = maps.message(hash)?;
            Some(ContentRow {
                hash: *hash,
                role: message.role,
                attached: message.is_attached(),
                preview: preview(&message),
                size_bytes: canonical.len() as u64,
                calls: message.calls().count() as u32,
                results: message.results().count() as u32,
            })
        };
        Ok(hashes.iter().map(row).collect())
    }

    fn tool_uses(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ToolUses>>> {
        let maps = self.maps.borrow();
        let uses = |hash| ToolUses::of(&maps.message(hash)?.1);
        Ok(hashes.iter().map(uses).collect())
    }

    fn all_contents(&self) -> Result<Vec<ContentHash>> {
        Ok(self.maps.borrow().contents.keys().copied().collect())
    }

    fn content_sizes(&self) -> Result<Vec<ContentSize>> {
        let maps = self.maps.borrow();
        let size = |hash: &ContentHash| {
            let (canonical, message) = maps.message(hash)?;
            Some(ContentSize {
                hash: *hash,
                role: message.role,
                attached: message.is_attached(),
                size_bytes: canonical.len() as u64,
                kept_bytes: canonical.len() as u64,
                uses_tools: ToolUses::of(&message).is_some(),
            })
        };
        Ok(maps.contents.keys().filter_map(size).collect())
    }

    fn purged(&self, contents: &[ContentHash]) -> Result<Vec<bool>> {
        let maps = self.maps.borrow();
        let purged = |hash: &ContentHash| {
            let kept = maps.contents.get(hash);
            kept.is_some_and(|kept| is_tombstone(hash, kept.as_bytes()))
        };
        Ok(contents.iter().map(purged).collect())
    }

    fn lost(&self, contents: &[ContentHash]) -> Result<Vec<bool>> {
        Ok(vec![false; contents.len()])
    }

    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>> {
        let maps = self.maps.borrow();
        Ok(keys
            .iter()
            .map(|key| maps.counts.get(&(*key, encoding)).copied())
            .collect())
    }

    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>> {
        let maps = self.maps.borrow();
        Ok(maps.path(tip).iter().find_map(|row| {
            let context = maps.checkpoints.get(&row.hash)?;
            Some((row.hash, context.clone()))
        }))
    }

    fn newest_total(&self, tip: &CommitHash, encoding: Encoding) -> Result<Option<(u64, Total)>> {
        let maps = self.maps.borrow();
        Ok(maps.path(tip).iter().find_map(|row| {
            let total = maps.totals.get(&(row.hash, encoding))?;
            Some((row.depth, *total))
        }))
    }

    fn total(&self, commit: &CommitHash, encoding: Encoding) -> Result<Option<Total>> {
        Ok(self.maps.borrow().totals.get(&(*commit, encoding)).copied())
    }

    fn newest_summary(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Summed)>> {
        let maps = self.maps.borrow();
        Ok(maps.path(tip).iter().find_map(|row| {
            let summary = maps.summaries.get(&(row.hash, encoding))?;
            Some((row.depth, summary.clone()))
        }))
    }

    fn usage(&self, commits: &[CommitHash]) -> Result<Vec<Option<Usage>>> {
        let maps = self.maps.borrow();
        let usage = |commit| maps.usage.get(commit).copied();
        Ok(commits.iter().map(usage).collect())
    }

    fn derived(&self) -> Result<Derived> {
        let maps = self.maps.borrow();
        let counts = maps.counts.iter();
        let totals = maps.totals.iter();
        let summaries = maps.summaries.iter();
        Ok(Derived {
            checkpoints: maps.checkpoints.keys().copied().collect(),
            counts: counts
                .map(|((key, of), count)| (*key, *of, *count))
                .collect(),
            totals: totals.map(|((at, of), total)| (*at, *of, *total)).collect(),
            summaries: summaries
                .map(|((at, of), summary)| (*at, *of, Some(summary.clone())))
                .collect(),
        })
    }

    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        let maps = self.maps.borrow();
        let path = maps.path(tip);
        let since = path
            .iter()
            .position(|row| maps.checkpoints.contains_key(&row.hash));
        Ok(since.unwrap_or(path.len()) as u64)
    }
}

impl Refs for MapSession<'_> {
    fn reference(&self, name: &RefName) -> Result<Option<RefValue>> {
        Ok(self.maps.borrow().refs.get(name).cloned())
    }

    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        let maps = self.maps.borrow();
        let all = maps
            .refs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()));
        Ok(all
            .filter(|(name, _)| name.as_str().starts_with(prefix))
            .collect())
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Result<Vec<OperationRow>> {
        let maps = self.maps.borrow();
        let earlier = |row: &&OperationRow| before.is_none_or(|before| row.id < before);
        let rows = maps.operations.iter().rev().filter(earlier);
        Ok(rows.take(limit).cloned().collect())
    }

    fn moves(&self, operation: u64) -> Result<Vec<ReflogRow>> {
        let maps = self.maps.borrow();
        let rows = maps.reflog.iter();
        Ok(rows
            .filter(|row| row.operation == operation)
            .cloned()
            .collect())
    }

    fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
        let maps = self.maps.borrow();
        let rows = maps.reflog.iter().rev().filter(|row| row.name == *name);
        Ok(rows.take(limit).cloned().collect())
    }

    fn tag_notes(&self, tags: &[RefName]) -> Result<Vec<Option<TagNote>>> {
        let maps = self.maps.borrow();
        let note = |tag| maps.tag_notes.get(tag).cloned();
        Ok(tags.iter().map(note).collect())
    }

    fn all_tag_notes(&self) -> Result<Vec<(RefName, TagNote)>> {
        let notes = self.maps.borrow().tag_notes.clone();
        Ok(notes.into_iter().collect())
    }

    fn follower(&self, session: &RefName) -> Result<Option<RefName>> {
        Ok(self.maps.borrow().followers.get(session).cloned())
    }

    fn adopted(&self, session: &RefName) -> Result<Vec<AdoptedRow>> {
        let maps = self.maps.borrow();
        let of_it = |(of, row): &(RefName, AdoptedRow)| (of == session).then_some(*row);
        Ok(maps.adopted.iter().filter_map(of_it).collect())
    }

    fn last_purge(&self) -> Result<Option<u64>> {
        Ok(self.maps.borrow().purges.last().copied())
    }

    fn collections(&self) -> Result<Collections> {
        Ok(self.maps.borrow().collections)
    }

    fn rows_aside(&self) -> Result<u64> {
        Ok(0)
    }

    fn sound_references(&self) -> Result<Vec<RefName>> {
        Ok(self.maps.borrow().refs.keys().cloned().collect())
    }

    fn named_commits(&self) -> Result<Vec<CommitHash>> {
        Ok(self.maps.borrow().named())
    }

    fn last_check(&self) -> Result<Option<Millis>> {
        Ok(self.maps.borrow().last_check)
    }

    fn config(&self) -> Result<Vec<(String, String)>> {
        let config = self.maps.borrow().config.clone();
        Ok(config.into_iter().collect())
    }
}

impl Sources for MapSession<'_> {
    fn sources(&self, session: &RefName) -> Result<Vec<SourceRow>> {
        let maps = self.maps.borrow();
        let rows = maps.sources.iter().rev().map(|(row, _)| row);
        Ok(rows
            .filter(|row| row.session == *session)
            .cloned()
            .collect())
    }

    fn all_sources(&self) -> Result<Vec<SourceRow>> {
        let maps = self.maps.borrow();
        Ok(maps.sources.iter().map(|(row, _)| row.clone()).collect())
    }

    fn source_sizes(&self) -> Result<Vec<SourceSize>> {
        let maps = self.maps.borrow();
        let size = |(row, bytes): &(SourceRow, Vec<u8>)| SourceSize {
            id: row.id,
            kept_bytes: bytes.len() as u64,
        };
        Ok(maps.sources.iter().map(size).collect())
    }

    fn has_sources(&self) -> Result<bool> {
        Ok(!self.maps.borrow().sources.is_empty())
    }

    fn sources_behind(&self, commits: &[CommitHash]) -> Result<Vec<u64>> {
        let maps = self.maps.borrow();
        let behind = maps.records.keys();
        let behind = behind.filter(|(commit, _)| commits.contains(commit));
        let behind: BTreeSet<u64> = behind.map(|(_, source)| *source).collect();
        Ok(behind.into_iter().collect())
    }

    fn sessions(&self) -> Result<Vec<RefName>> {
        Ok(self.maps.borrow().sessions.keys().cloned().collect())
    }

    fn source(&self, id: u64) -> Result<Option<SourceRow>> {
        let maps = self.maps.borrow();
        Ok(maps
            .sources
            .iter()
            .map(|(row, _)| row)
            .find(|row| row.id == id)
            .cloned())
    }

    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>> {
        let maps = self.maps.borrow();
        let source = maps.sources.iter().find(|(row, _)| row.id == id);
        let bytes = source.map_or(&[][..], |(_, bytes)| bytes);
        let from = (span.offset as usize).min(bytes.len());
        let to = (span.offset.saturating_add(span.len) as usize).min(bytes.len());
        Ok(bytes[from..to].to_vec())
    }

    fn records(&self, commits: &[CommitHash]) -> Result<Vec<Records>> {
        let maps = self.maps.borrow();
        let of = |commit: &CommitHash| {
            let all = maps.records.range((*commit, 0)..=(*commit, u64::MAX)).rev();
            all.map(|((_, source), spans)| (*source, spans.clone()))
                .collect()
        };
        Ok(commits.iter().map(of).collect())
    }

    fn followed(&self, path: &str) -> Result<Option<FollowedFile>> {
        Ok(self.maps.borrow().followed.get(path).cloned())
    }

    fn followed_files(&self) -> Result<Vec<(String, RefName)>> {
        let maps = self.maps.borrow();
        let session = |file: &FollowedFile| {
            let mut sources = maps.sources.iter();
            let (source, _) = sources.find(|(row, _)| row.id == file.source)?;
            Some((file.path.clone(), source.session.clone()))
        };
        Ok(maps.followed.values().filter_map(session).collect())
    }

    fn last_followed(&self) -> Result<Option<Millis>> {
        let maps = self.maps.borrow();
        Ok(maps.followed.values().map(|file| file.time).max())
    }

    fn unread_files(&self) -> Result<Vec<UnreadFile>> {
        Ok(self.maps.borrow().unread.values().cloned().collect())
    }

    fn session(&self, name: &RefName) -> Result<Option<SessionRow>> {
        Ok(self.maps.borrow().sessions.get(name).cloned())
    }

    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
        let key = (tool.to_owned(), id.to_owned());
        Ok(self.maps.borrow().resumes.get(&key).cloned())
    }
}

impl Search for MapSession<'_> {
    // A map needs no index.
    fn unindexed_bytes(&self) -> Result<u64> {
        Ok(0)
    }

    fn search(&self, literals: &Literals, tips: &[CommitHash]) -> Result<Vec<Hit>> {
        let maps = self.maps.borrow();
        let mut hits: Vec<Hit> = Vec::new();
        for (tip, commit) in tips.iter().enumerate() {
            for row in maps.path(commit) {
                if hits
                    .iter()
                    .any(|hit| hit.commit == row.hash && hit.tip < tip)
                {
                    continue;
                }
                let mut contents = row.commit.operation.contents();
                contents.sort_unstable();
                contents.dedup();
                contents.retain(|content| {
                    let (_, message) = maps.message(content).expect("it is here");
                    let pieces = searched(&message);
                    pieces.iter().any(|piece| literals.are_in(&piece.text))
                });
                let appended = row.appended();
                hits.extend(contents.into_iter().map(|content| Hit {
                    tip,
                    commit: row.hash,
                    content: Some(content).filter(|content| appended != Some(*content)),
                    depth: row.depth,
                }));
            }
        }
        Ok(hits)
    }
}

impl MapSession<'_> {
    fn need(&self, commit: &CommitHash) -> Result<()> {
        let found = self.maps.borrow().commits.contains_key(commit);
        found.then_some(()).ok_or_else(|| missing("commit"))
    }
}

impl ObjectsMut for MapSession<'_> {
    fn put_content(&self, message: &Sealed<Message>) -> Result<bool> {
        let contents = &mut self.maps.borrow_mut().contents;
        let is_new = !contents.contains_key(&message.hash());
        let kept = contents.entry(message.hash());
        kept.or_insert_with(|| message.canonical().to_owned());
        Ok(is_new)
    }

    fn put_prepared(&self, message: &Sealed<Message>, _: Prepared) -> Result<bool> {
        self.put_content(message)
    }

    fn put_commit(&self, commit: &Sealed<Commit>) -> Result<bool> {
        let maps = &mut *self.maps.borrow_mut();
        let hash = commit.hash();
        if maps.commits.contains_key(&hash) {
            return Ok(false);
        }
        let depth = match &commit.parent {
            None => 0,
            Some(parent) => {
                maps.commits
                    .get(parent)
                    .ok_or_else(|| missing("parent"))?
                    .depth
                    + 1
            }
        };
        if commit
            .operation
            .contents()
            .iter()
            .any(|hash| !maps.contents.contains_key(hash))
        {
            return Err(missing("content"));
        }
        let commit = commit.clone().into_inner();
        maps.commits.insert(
            hash,
            CommitRow {
                hash,
                commit,
                depth,
            },
        );
        maps.order.push(hash);
        Ok(true)
    }

    fn put_count(&self, key: CountKey, encoding: Encoding, count: TokenCount) -> Result<()> {
        let mut maps = self.maps.borrow_mut();
        if !maps.contents.contains_key(&key.content) {
            return Err(missing("content"));
        }
        maps.counts.insert((key, encoding), count);
        Ok(())
    }

    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        self.need(commit)?;
        self.maps
            .borrow_mut()
            .checkpoints
            .insert(*commit, context.clone());
        Ok(())
    }

    fn put_total(&self, commit: &CommitHash, encoding: Encoding, total: Total) -> Result<()> {
        self.need(commit)?;
        let mut maps = self.maps.borrow_mut();
        maps.totals.insert((*commit, encoding), total);
        Ok(())
    }

    fn put_summary(&self, commit: &CommitHash, encoding: Encoding, summary: &Summed) -> Result<()> {
        self.need(commit)?;
        let mut maps = self.maps.borrow_mut();
        maps.summaries.insert((*commit, encoding), summary.clone());
        Ok(())
    }

    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()> {
        self.need(commit)?;
        self.maps.borrow_mut().usage.insert(*commit, usage);
        Ok(())
    }

    fn purge_content(&self, hash: &ContentHash) -> Result<u64> {
        let maps = &mut *self.maps.borrow_mut();
        let gone = || missing("content to purge");
        let (canonical, message) = maps.message(hash).ok_or_else(gone)?;
        let (size, stone) = (canonical.len() as u64, tombstone(message.role));
        maps.contents.insert(*hash, stone.canonical());
        maps.counts.retain(|(key, _), _| key.content != *hash);
        maps.totals.clear();
        maps.summaries.clear();
        Ok(size)
    }

    fn heal_content(&self, _: &Sealed<Message>) -> Result<bool> {
        Ok(false)
    }

    fn put_tombstone(&self, hash: &ContentHash, role: Role) -> Result<()> {
        let stone = tombstone(role).canonical();
        let contents = &mut self.maps.borrow_mut().contents;
        contents.entry(*hash).or_insert(stone);
        Ok(())
    }

    fn drop_unreached(&self) -> Result<Dropped> {
        let maps = &mut *self.maps.borrow_mut();
        let stays = maps.on_paths(&maps.named());
        let commits = maps.commits.len() as u64 - stays.len() as u64;
        maps.commits.retain(|hash, _| stays.contains(hash));
        maps.order.retain(|hash| stays.contains(hash));
        maps.checkpoints.retain(|hash, _| stays.contains(hash));
        maps.totals.retain(|(hash, _), _| stays.contains(hash));
        maps.summaries.retain(|(hash, _), _| stays.contains(hash));
        maps.usage.retain(|hash, _| stays.contains(hash));
        maps.records.retain(|(hash, _), _| stays.contains(hash));
        let rows = maps.commits.values();
        let named: BTreeSet<ContentHash> = rows
            .flat_map(|row| row.commit.operation.contents())
            .collect();
        let (mut gone, mut size_bytes) = (0, 0);
        maps.contents.retain(|hash, kept| {
            let stays = named.contains(hash);
            gone += u64::from(!stays);
            size_bytes += if stays { 0 } else { kept.len() as u64 };
            stays
        });
        maps.counts
            .retain(|(key, _), _| named.contains(&key.content));
        Ok(Dropped {
            commits,
            contents: gone,
            size_bytes,
        })
    }
}

impl RefsMut for MapSession<'_> {
    fn begin_reversal(&self, time: Millis, what: &str, reversal: Reversal) -> Result<u64> {
        let operations = &mut self.maps.borrow_mut().operations;
        let id = operations.last().map_or(0, |row| row.id) + 1;
        operations.push(OperationRow {
            id,
            time,
            what: what.to_owned(),
            reversal,
        });
        self.operation.set(Some(id));
        self.coming.take();
        Ok(id)
    }

    fn begin_moves(&self, time: Millis, what: &str) -> Result<()> {
        self.operation.set(None);
        self.coming.replace(Some((time, what.to_owned())));
        Ok(())
    }

    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()> {
        if self.operation.get().is_none() && self.coming.borrow().is_none() {
            return Err(missing("operation"));
        }
        if let Some(RefValue::Commit(commit)) = new {
            self.need(commit)?;
        }
        if self.reference(name)?.as_ref() == new {
            return Ok(());
        }
        if let Some((time, what)) = self.coming.take() {
            self.begin_operation(time, &what)?;
        }
        let operation = self.operation.get().ok_or_else(|| missing("operation"))?;
        let maps = &mut *self.maps.borrow_mut();
        let old = match new {
            Some(value) => maps.refs.insert(name.clone(), value.clone()),
            None => maps.refs.remove(name),
        };
        let (name, new) = (name.clone(), new.cloned());
        maps.reflog.push(ReflogRow {
            operation,
            name,
            old,
            new,
        });
        Ok(())
    }

    fn purge_operations(&self, purge: u64) -> Result<()> {
        let maps = &mut *self.maps.borrow_mut();
        for row in maps.operations.iter_mut().filter(|row| row.id < purge) {
            PURGED.clone_into(&mut row.what);
        }
        maps.purges.push(purge);
        maps.unread.clear();
        Ok(())
    }

    fn forget_operations(&self, last: u64) -> Result<()> {
        let maps = &mut *self.maps.borrow_mut();
        let mut then: BTreeMap<RefName, Option<RefValue>> = BTreeMap::new();
        for row in maps.reflog.iter().filter(|row| row.operation <= last) {
            then.insert(row.name.clone(), row.new.clone());
        }
        let there = then.into_iter().filter(|(_, new)| new.is_some());
        let rows = there.map(|(name, new)| ReflogRow {
            operation: last,
            name,
            old: None,
            new,
        });
        let later = maps.reflog.iter().filter(|row| row.operation > last);
        maps.reflog = rows.chain(later.cloned()).collect();
        maps.operations.retain(|row| row.id >= last);
        for row in maps.operations.iter_mut().filter(|row| row.id == last) {
            "gc".clone_into(&mut row.what);
            row.reversal = Reversal::None;
        }
        if maps.purges.iter().any(|purge| *purge < last) {
            maps.purges.retain(|purge| *purge > last);
            maps.purges.insert(0, last);
        }
        maps.collections.forgotten = Some(last);
        Ok(())
    }

    fn forget_unreached(&self) -> Result<()> {
        let maps = &mut *self.maps.borrow_mut();
        let notes = std::mem::take(&mut maps.tag_notes);
        let pairs = std::mem::take(&mut maps.adopted);
        let mut roots = maps.named();
        let mut reached = maps.on_paths(&roots);
        for _ in 0..=pairs.len() {
            let held = pairs
                .iter()
                .filter(|(_, pair)| reached.contains(&pair.ours));
            roots.extend(held.map(|(_, pair)| pair.theirs));
            reached = maps.on_paths(&roots);
        }
        let pairs = pairs.into_iter();
        maps.adopted = pairs
            .filter(|(_, pair)| reached.contains(&pair.ours))
            .collect();
        let is_known = |tag: &RefName| {
            maps.refs.contains_key(tag) || maps.reflog.iter().any(|row| row.name == *tag)
        };
        let notes = notes.into_iter();
        let stays =
            |(tag, note): &(RefName, TagNote)| reached.contains(&note.commit) && is_known(tag);
        maps.tag_notes = notes.filter(stays).collect();
        Ok(())
    }

    fn count_collection(&self) -> Result<()> {
        self.maps.borrow_mut().collections.times += 1;
        Ok(())
    }

    fn set_tag_note(&self, tag: &RefName, note: Option<&TagNote>) -> Result<()> {
        if let Some(note) = note {
            self.need(&note.commit)?;
        }
        let notes = &mut self.maps.borrow_mut().tag_notes;
        match note {
            Some(note) => notes.insert(tag.clone(), note.clone()),
            None => notes.remove(tag),
        };
        Ok(())
    }

    fn set_follower(&self, session: &RefName, branch: &RefName) -> Result<()> {
        let followers = &mut self.maps.borrow_mut().followers;
        followers.insert(session.clone(), branch.clone());
        Ok(())
    }

    fn put_adopted(&self, session: &RefName, adopted: AdoptedRow) -> Result<()> {
        self.need(&adopted.theirs)?;
        self.need(&adopted.ours)?;
        let all = &mut self.maps.borrow_mut().adopted;
        all.push((session.clone(), adopted));
        Ok(())
    }

    fn set_config(&self, key: &str, value: Option<&str>) -> Result<()> {
        let config = &mut self.maps.borrow_mut().config;
        match value {
            Some(value) => config.insert(key.to_owned(), value.to_owned()),
            None => config.remove(key),
        };
        Ok(())
    }
}

fn overtaken(source: u64) -> Error {
    let name = format!("source {source}");
    Error::Overtaken { name }
}

impl SourcesMut for MapSession<'_> {
    fn put_source(&self, session: &RefName, format: &str, newest: Option<u64>) -> Result<u64> {
        if self.sources(session)?.first().map(|row| row.id) != newest {
            let name = session.short().to_owned();
            return Err(Error::Overtaken { name });
        }
        let maps = &mut *self.maps.borrow_mut();
        maps.last_source += 1;
        let sources = &mut maps.sources;
        let row = SourceRow {
            id: maps.last_source,
            session: session.clone(),
            format: format.to_owned(),
            size_bytes: 0,
            fingerprint: fingerprint(b""),
        };
        sources.push((row.clone(), Vec::new()));
        Ok(row.id)
    }

    fn append_pressed(
        &self,
        id: u64,
        from: &SourceState,
        (bytes, _): (&[u8], Option<Vec<u8>>),
        fingerprint: &HashBytes,
    ) -> Result<()> {
        self.append_source(id, from, bytes, fingerprint)
    }

    fn append_source(
        &self,
        id: u64,
        from: &SourceState,
        bytes: &[u8],
        fingerprint: &HashBytes,
    ) -> Result<()> {
        let sources = &mut self.maps.borrow_mut().sources;
        let mut sources = sources.iter_mut();
        let source = sources.find(|(row, _)| row.id == id && row.state() == *from);
        let (row, kept) = source.ok_or_else(|| overtaken(id))?;
        kept.extend_from_slice(bytes);
        row.size_bytes = kept.len() as u64;
        row.fingerprint = *fingerprint;
        Ok(())
    }

    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()> {
        self.need(commit)?;
        self.source(source)?.ok_or_else(|| overtaken(source))?;
        self.maps
            .borrow_mut()
            .records
            .insert((*commit, source), spans.to_vec());
        Ok(())
    }

    fn put_followed(&self, file: &FollowedFile) -> Result<()> {
        let source = file.source;
        self.source(source)?.ok_or_else(|| overtaken(source))?;
        let followed = &mut self.maps.borrow_mut().followed;
        followed.insert(file.path.clone(), file.clone());
        Ok(())
    }

    fn put_session(&self, name: &RefName, session: &SessionRow) -> Result<()> {
        self.maps
            .borrow_mut()
            .sessions
            .insert(name.clone(), session.clone());
        Ok(())
    }

    fn put_unread(&self, file: &UnreadFile) -> Result<()> {
        let unread = &mut self.maps.borrow_mut().unread;
        unread.insert(file.path.clone(), file.clone());
        Ok(())
    }

    fn forget_unread(&self, path: &str) -> Result<()> {
        self.maps.borrow_mut().unread.remove(path);
        Ok(())
    }

    fn forget_session(&self, name: &RefName) -> Result<()> {
        self.maps.borrow_mut().sessions.remove(name);
        Ok(())
    }

    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()> {
        self.need(&resume.commit)?;
        let key = (tool.to_owned(), id.to_owned());
        self.maps.borrow_mut().resumes.insert(key, resume.clone());
        Ok(())
    }

    fn drop_older_sources(&self) -> Result<(u64, u64)> {
        let maps = &mut *self.maps.borrow_mut();
        let rows: BTreeMap<u64, &SourceRow> =
            maps.sources.iter().map(|(row, _)| (row.id, row)).collect();
        let mut newest: BTreeMap<(CommitHash, &RefName, &str), u64> = BTreeMap::new();
        // By commit, then by source: the last one stays.
        for (commit, source) in maps.records.keys() {
            let row = rows[source];
            newest.insert((*commit, &row.session, &row.format), *source);
        }
        let mut stays: BTreeSet<u64> = newest.into_values().collect();
        let is_known = |name: &RefName| {
            maps.refs.contains_key(name) || maps.reflog.iter().any(|row| row.name == *name)
        };
        let mut of_session: BTreeMap<&RefName, u64> = BTreeMap::new();
        for (row, _) in maps
            .sources
            .iter()
            .filter(|(row, _)| is_known(&row.session))
        {
            of_session.insert(&row.session, row.id);
        }
        stays.extend(of_session.into_values());
        let gone = maps
            .sources
            .iter()
            .filter(|(row, _)| !stays.contains(&row.id));
        let kept_bytes = gone.map(|(_, bytes)| bytes.len() as u64).sum();
        let before = maps.sources.len();
        maps.sources.retain(|(row, _)| stays.contains(&row.id));
        maps.records.retain(|(_, source), _| stays.contains(source));
        maps.followed.retain(|_, file| stays.contains(&file.source));
        Ok(((before - maps.sources.len()) as u64, kept_bytes))
    }

    fn purge_source(&self, id: u64) -> Result<()> {
        let maps = &mut *self.maps.borrow_mut();
        maps.sources.retain(|(row, _)| row.id != id);
        maps.records.retain(|(_, source), _| *source != id);
        maps.followed.retain(|_, file| file.source != id);
        Ok(())
    }
}

impl SearchMut for MapSession<'_> {
    fn index(&self, _: u64) -> Result<u64> {
        Ok(0)
    }

    fn unindex(&self, _: &[ContentHash]) -> Result<()> {
        Ok(())
    }
}

impl Tx for MapSession<'_> {
    fn commit(self: Box<Self>) -> Result<()> {
        self.store.kept.replace(self.maps.take());
        Ok(())
    }
}

#[test]
fn it_keeps_the_contract() {
    super::contract::run(&|| Box::new(Map::default()));
}
