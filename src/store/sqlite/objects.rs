//! Contents, commits and their lineages, and usage.

use rusqlite::params;

use super::codec::{blob, damaged, number, pack};
use super::dictionary::Packing;
use super::reading::each_body;
use super::session::{Session, keyed};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashPrefix};
use crate::model::{Commit, Message, Operation, Sealed, ToolUses, Usage, tombstone};
use crate::store::columns::Columns;
use crate::store::columns::missing;
use crate::store::lineage::{Lineages, Place};
use crate::store::rows::{self, Shown, USAGE};
use crate::store::tables::{self, Only, Purge};
use crate::store::{CommitRow, ContentRow, ContentSize, Objects, ObjectsMut, Prepared};

/// The message of a body as it is stored, which must be that of its name.
pub(super) fn message(
    hash: &ContentHash,
    packed: Option<(Packing, Vec<u8>)>,
    size_bytes: u64,
) -> Result<Message> {
    let Some((packing, stored)) = packed else {
        return Err(damaged(format!("content {hash}: its body is missing")));
    };
    let body = packing.unpack(stored, size_bytes)?;
    rows::message(hash, rows::canonical(hash, &body)?)
}

impl Session<'_> {
    pub(super) fn content_id(&self, hash: &ContentHash) -> Result<Option<i64>> {
        if let Some(id) = self.memo.content(hash) {
            return Ok(Some(id));
        }
        let sql = "SELECT id FROM contents WHERE hash = ?1 AND intact!(contents)";
        let id = self.first(sql, [hash], |row| row.get(0))?;
        if let Some(id) = id.filter(|_| self.writes) {
            self.memo.saw_content(*hash, id);
        }
        Ok(id)
    }

    /// Writes what listings show of a message into its row.
    pub(super) fn show(&self, id: i64, shown: &Shown) -> Result<()> {
        self.execute(
            "UPDATE contents SET role = ?2, preview = ?3, size_bytes = ?4, calls = ?5, results = ?6,
                 seal = sealed(id, hash, ?2, ?3, ?4, ?5, ?6)
             WHERE id = ?1",
            params![
                id,
                shown.role,
                shown.preview,
                shown.size_bytes,
                shown.calls,
                shown.results
            ],
        )
    }

    fn put_body(&self, id: i64, (encoding, body): (i64, &[u8]), uses: Option<&str>) -> Result<()> {
        self.changed_often(
            "INSERT OR REPLACE INTO bodies (content, encoding, body) VALUES (?1, ?2, ?3)",
            params![id, encoding, body],
        )?;
        if let Some(uses) = uses {
            let sql = "INSERT OR REPLACE INTO sealed!(tool_uses)";
            self.changed_often(sql, params![id, uses])?;
        }
        Ok(())
    }

    /// Gives a content its body back, where that was damaged and set aside: the message that is put
    /// has its name, so it is that body.
    fn heal(&self, id: i64, message: &Sealed<Message>) -> Result<bool> {
        let here = "SELECT 1 FROM bodies WHERE content = ?1";
        if self.first(here, [id], |_| Ok(()))?.is_some() {
            return Ok(false);
        }
        let shown = Shown::of(message);
        self.show(id, &shown)?;
        // They were summed up with a guess.
        self.drop_totals()?;
        let (encoding, body) = pack(message.canonical().as_bytes());
        self.put_body(id, (encoding, &body), shown.uses.as_deref())?;
        self.index_again(id, message)?;
        Ok(true)
    }

    /// The row of a content that must be here.
    pub(super) fn must_content_id(&self, hash: &ContentHash) -> Result<i64> {
        let id = self.content_id(hash)?;
        id.ok_or_else(|| missing("content", hash))
    }
}

impl Objects for Session<'_> {
    fn commits(&self, hashes: &[CommitHash]) -> Result<Vec<Option<CommitRow>>> {
        let found = self.by_key(
            "SELECT n, hash, depth, canonical
             FROM keys CROSS JOIN commits ON hash = key AND intact!(commits, hash = key)",
            hashes,
            |row| rows::commit(row, 1),
        )?;
        self.prove_absent_where(hashes, &found)?;
        Ok(found)
    }

    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>> {
        let (low, high) = prefix.range();
        let found = self.all(
            "SELECT hash, depth, canonical FROM commits WHERE hash BETWEEN ?1 AND ?2
             AND intact!(commits) ORDER BY hash LIMIT ?3",
            params![low, high, number(limit as u64)],
            |row| rows::commit(row, 0),
        )?;
        if found.is_empty() {
            self.prove_commits_absent(&[CommitHash::from_bytes(low)])?;
        }
        Ok(found)
    }

    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
        most: usize,
    ) -> Result<Vec<CommitHash>> {
        let Some(content) = self.content_id(content)? else {
            return Ok(Vec::new());
        };
        let parent = match parent.map(|hash| self.place(hash)).transpose()? {
            Some(None) => return Ok(Vec::new()),
            Some(Some(place)) => Some(place.id),
            None => None,
        };
        self.all(
            "SELECT hash FROM commits WHERE parent IS ?1 AND content = ?2 AND intact!(commits)
             ORDER BY id LIMIT ?3",
            params![parent, content, i64::try_from(most).unwrap_or(i64::MAX)],
            |row| row.get(0),
        )
    }

    fn each_body(
        &self,
        hashes: &[ContentHash],
        visit: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        each_body(self, hashes, visit)
    }

    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ContentRow>>> {
        self.by_key(
            "SELECT n, hash, role, preview, size_bytes, calls, results
             FROM keys CROSS JOIN contents ON hash = key AND intact!(contents, hash = key)",
            hashes,
            |row| rows::content(row, 1),
        )
    }

    fn tool_uses(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ToolUses>>> {
        let found = self.by_key(
            "SELECT n, uses FROM keys CROSS JOIN contents ON hash = key
             AND intact!(contents, hash = key) CROSS JOIN tool_uses ON content = contents.id
             AND intact!(tool_uses)",
            hashes,
            |row| Ok(ToolUses::from_text(row.text(1)?)),
        )?;
        let mut found: Vec<Option<ToolUses>> = found.into_iter().map(Option::flatten).collect();
        // What is missing though its message uses tools is made of the message again.
        let mut open: Vec<usize> = (0..hashes.len())
            .filter(|at| found[*at].is_none())
            .collect();
        let asked: Vec<ContentHash> = open.iter().map(|at| hashes[*at]).collect();
        // One that is not found uses none for all that is seen here, and may be one that no index leads to.
        let mut uses_tools = Vec::with_capacity(open.len());
        for (row, hash) in self.content_rows(&asked)?.into_iter().zip(&asked) {
            let row = row.ok_or_else(|| damaged(format!("content {hash} is missing")))?;
            uses_tools.push(row.calls + row.results > 0);
        }
        let mut uses_tools = uses_tools.into_iter();
        open.retain(|_| uses_tools.next() == Some(true));
        let lost: Vec<ContentHash> = open.iter().map(|at| hashes[*at]).collect();
        for (at, message) in open.into_iter().zip(self.contents(&lost)?) {
            found[at] = message.as_ref().and_then(ToolUses::of);
        }
        Ok(found)
    }

    fn lost(&self, contents: &[ContentHash]) -> Result<Vec<bool>> {
        let found = self.by_key(
            "SELECT n, encoding IS NULL FROM keys CROSS JOIN contents ON hash = key
             AND intact!(contents, hash = key) LEFT JOIN bodies ON content = id",
            contents,
            |row| row.get(1),
        )?;
        Ok(found.into_iter().map(|lost| lost == Some(true)).collect())
    }

    fn content_sizes(&self) -> Result<Vec<ContentSize>> {
        // A body's length is known without a look at its bytes. One in a pack takes its share of it.
        let sql = "SELECT hash, role, contents.size_bytes, coalesce(CASE WHEN encoding < 0
                 THEN length(packs.data) * contents.size_bytes / packs.size_bytes
                 ELSE length(body) END, 0), calls + results > 0
             FROM contents LEFT JOIN bodies ON bodies.content = contents.id
             LEFT JOIN packs ON packs.id = -encoding WHERE intact!(contents)
             ORDER BY contents.id";
        self.all(sql, [], |row| rows::content_size(row))
    }

    fn contents_shown_as_erased(&self) -> Result<Vec<ContentHash>> {
        let sql = "SELECT hash FROM contents WHERE preview = '[purged]' AND intact!(contents) ORDER BY id";
        self.all(sql, [], |row| row.get(0))
    }

    fn usage(&self, commits: &[CommitHash]) -> Result<Vec<Option<Usage>>> {
        let found = self.by_key(
            &format!(
                "SELECT n, {USAGE}
             FROM keys CROSS JOIN commits ON hash = key AND intact!(commits, hash = key)
             LEFT JOIN usage ON commit_id = id AND intact!(usage)"
            ),
            commits,
            |row| rows::usage(row, 1),
        )?;
        self.prove_absent_where(commits, &found)?;
        let found: Vec<Option<Usage>> = found.into_iter().map(Option::flatten).collect();
        let without = commits
            .iter()
            .zip(&found)
            .filter(|(_, usage)| usage.is_none());
        let without: Vec<CommitHash> = without.map(|(commit, _)| *commit).collect();
        let beside = keyed::<CommitHash>(
            "SELECT neighbours!(usage, commit_id, id) FROM keys
             CROSS JOIN commits ON hash = key",
        );
        self.scan(&beside, [blob(&without)], |_| Ok(true))?;
        Ok(found)
    }
}

impl ObjectsMut for Session<'_> {
    fn put_named(
        &self,
        name: &ContentHash,
        message: &Sealed<Message>,
        prepared: Option<Prepared>,
    ) -> Result<bool> {
        let (hash, canonical) = (*name, message.canonical());
        let is_its_own = hash == message.hash();
        if let Some(id) = self.memo.content(&hash).filter(|_| is_its_own) {
            return self.heal(id, message).map(|_| false);
        }
        let (shown, pressed, words) = match prepared {
            Some(Prepared { shown, words, body }) => (shown, body, words),
            None => (Shown::of(message), None, None),
        };
        // Most that is put here is new: whether it is, the index says on the way.
        let id = self.next_id("contents")?;
        let put = self.changed_often(
            "INSERT INTO sealed!(contents) ON CONFLICT (hash) DO NOTHING",
            params![
                id,
                hash,
                shown.role,
                shown.preview,
                shown.size_bytes,
                shown.calls,
                shown.results,
            ],
        )?;
        if put == 0 {
            let id = self.must_content_id(&hash)?;
            return if is_its_own {
                self.heal(id, message).map(|_| false)
            } else {
                Ok(false)
            };
        }
        let (encoding, body) = self.pack_body(id, canonical.as_bytes(), pressed)?;
        self.put_body(id, (encoding, &body), shown.uses.as_deref())?;
        self.memo.saw_content(hash, id);
        self.gather(id, message, words)?;
        self.grew()?;
        Ok(true)
    }

    fn put_commit(&self, commit: &Sealed<Commit>) -> Result<bool> {
        let hash = commit.hash();
        // All that can be refused is refused before the first row is written.
        let parent = commit.parent.as_ref();
        let parent = parent.map(|parent| self.must_place(parent)).transpose()?;
        if let Some(merged) = &commit.merged {
            self.must_place(merged)?;
        }
        let contents = commit.operation.contents();
        let contents = contents.iter().map(|content| self.must_content_id(content));
        let contents = contents.collect::<Result<Vec<i64>>>()?;
        let appended = match commit.operation {
            Operation::Append { .. } => contents.first(),
            _ => None,
        };
        let (depth, taken) = match parent {
            None => (0, true),
            Some(parent) if self.memo.is_end(parent) => (parent.depth + 1, false),
            Some(parent) => {
                let sql = "SELECT 1 FROM commits WHERE lineage = ?1 AND depth = ?2";
                let place = [parent.lineage, parent.depth + 1];
                (place[1], self.first(sql, place, |_| Ok(()))?.is_some())
            }
        };
        let lineage = match parent {
            Some(parent) if !taken => parent.lineage,
            // Most that is put here is new: whether it is, the index says below, but a lineage
            // begins only where it is.
            _ if self.place(&hash)?.is_some() => return Ok(false),
            _ => {
                let id = self.next_id("lineages")?;
                let (parent, fork) = (parent.map(|p| p.lineage), parent.map(|p| p.depth));
                let sql = "INSERT INTO sealed!(lineages)";
                self.execute(sql, params![id, parent, fork, 0])?;
                id
            }
        };
        if commit.merged.is_some() || commit.origin.is_some() {
            self.allow_merges()?;
        }
        let id = self.next_id("commits")?;
        let put = self.changed_often(
            "INSERT INTO commits (id, hash, lineage, depth, parent, content, canonical, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, sealed(?1, ?2, ?3, ?4, ?5, ?6))
             ON CONFLICT (hash) DO NOTHING",
            params![
                id,
                hash,
                lineage,
                depth,
                parent.map(|parent| parent.id),
                appended,
                commit.canonical()
            ],
        )?;
        if put == 0 {
            return self.must_place(&hash).map(|_| false);
        }
        if appended.is_none() {
            let sql = "UPDATE lineages
                 SET changes = changes + 1, seal = sealed(id, parent, fork_depth, changes + 1)
                 WHERE id = ?1 AND intact!(lineages)";
            self.execute(sql, [lineage])?;
        }
        self.memo.put(hash, Place { id, lineage, depth });
        Ok(true)
    }

    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()> {
        let id = self.must_place(commit)?.id;
        let [input, output, cached, written, hour, reasoning] = usage.numbers().map(number);
        // What was billed with another count is worked out again.
        let other = "DELETE FROM billed WHERE until >= ?1 AND NOT EXISTS (
                 SELECT 1 FROM usage WHERE commit_id = ?1 AND input_tokens = ?2 AND output_tokens = ?3
                     AND cached_tokens = ?4 AND written_tokens = ?5 AND written_hour_tokens = ?6
                     AND reasoning_tokens = ?7)";
        self.execute(other, [id, input, output, cached, written, hour, reasoning])?;
        let sql = "INSERT OR REPLACE INTO sealed!(usage)";
        self.execute(sql, [id, input, output, cached, written, hour, reasoning])
    }

    fn purge_content(&self, hash: &ContentHash) -> Result<u64> {
        let gone = || missing("content to purge", hash);
        let id = self.content_id(hash)?.ok_or_else(gone)?;
        let row = self.content_row(hash)?.ok_or_else(gone)?;
        self.forget_pieces_of(&[id])?;
        let stone = Sealed::new(tombstone(row.role));
        self.show(id, &Shown::of(&stone))?;
        let (encoding, body) = pack(stone.canonical().as_bytes());
        self.put_body(id, (encoding, &body), None)?;
        for table in tables::purged(Purge::OfContent, Only::Servers) {
            self.execute(
                &format!("DELETE FROM {} WHERE content = ?1", table.name),
                [id],
            )?;
        }
        self.drop_totals()?;
        self.memo.forget();
        Ok(row.size_bytes)
    }
}
