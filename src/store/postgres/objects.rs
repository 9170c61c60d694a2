//! Contents, commits and their lineages, and usage.

use tokio_postgres::Row;

use super::ahead::{LISTED, PROVIDERS};
use super::columns::{damaged, get};
use super::pending::Append;
use super::session::Session;
use super::turn::claim;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashPrefix};
use crate::model::{Commit, Message, Operation, Sealed, ToolUses, Usage, tombstone};
use crate::store::codec::number;
use crate::store::columns::Columns;
use crate::store::columns::missing;
use crate::store::compression::{RAW, ZSTD, pack};
use crate::store::lineage::{Lineages, Place};
use crate::store::rows::{self, Shown, USAGE};
use crate::store::tables::{self, Only, Purge};
use crate::store::{CommitRow, ContentRow, ContentSize, Objects, ObjectsMut, Prepared};

impl Objects for Session<'_> {
    fn commits(&self, hashes: &[CommitHash]) -> Result<Vec<Option<CommitRow>>> {
        let read = |row: &Row| rows::commit(row, LISTED);
        if let Some(found) = self.ahead.commits(hashes, read) {
            return found;
        }
        self.by_key(
            "SELECT n, hash, depth, canonical
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key",
            hashes,
            |row| rows::commit(row, 1),
        )
    }

    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>> {
        let (low, high) = prefix.range();
        self.all(
            "SELECT hash, depth, canonical FROM commits WHERE hash BETWEEN $1 AND $2
             ORDER BY hash LIMIT $3",
            &[&low, &high, &number(limit as u64)],
            |row| rows::commit(row, 0),
        )
    }

    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
        most: usize,
    ) -> Result<Vec<CommitHash>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let sql = match parent {
            Some(_) => {
                "SELECT c.hash FROM commits AS c JOIN contents ON contents.id = c.content
                 JOIN commits AS p ON p.id = c.parent
                 WHERE contents.hash = $1 AND p.hash = $2 ORDER BY c.id LIMIT $3"
            }
            None => {
                "SELECT c.hash FROM commits AS c JOIN contents ON contents.id = c.content
                 WHERE contents.hash = $1 AND c.parent IS NULL ORDER BY c.id LIMIT $2"
            }
        };
        match parent {
            Some(parent) => self.all(sql, &[content, parent, &most], |row| get(row, 0)),
            None => self.all(sql, &[content, &most], |row| get(row, 0)),
        }
    }

    fn each_body(
        &self,
        hashes: &[ContentHash],
        visit: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        self.each_packed(hashes, visit)
    }

    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ContentRow>>> {
        let read = |row: &Row| rows::content(row, LISTED + 3);
        if let Some(found) = self.ahead.contents(hashes, read) {
            return found;
        }
        self.by_key(
            "SELECT n, hash, role, preview, size_bytes, calls, results
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN contents ON hash = key",
            hashes,
            |row| rows::content(row, 1),
        )
    }

    fn tool_uses(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ToolUses>>> {
        let read = |row: &Row| {
            let uses: Option<&str> = get(row, LISTED + 11)?;
            Ok(uses.and_then(ToolUses::from_text))
        };
        if let Some(found) = self.ahead.contents(hashes, read) {
            return Ok(found?.into_iter().map(Option::flatten).collect());
        }
        let found = self.by_key(
            "SELECT n, uses FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             JOIN contents ON hash = key JOIN tool_uses ON content = contents.id",
            hashes,
            |row| Ok(ToolUses::from_text(row.text(1)?)),
        )?;
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    fn content_sizes(&self) -> Result<Vec<ContentSize>> {
        let sql =
            "SELECT hash, role, size_bytes, coalesce(length(body), 0)::bigint, calls + results > 0
             FROM contents LEFT JOIN bodies ON content = id ORDER BY id";
        self.all(sql, &[], rows::content_size)
    }

    fn contents_shown_as_erased(&self) -> Result<Vec<ContentHash>> {
        let sql = "SELECT hash FROM contents WHERE preview = '[purged]'::bytea ORDER BY id";
        self.all(sql, &[], |row| get(row, 0))
    }

    fn usage(&self, commits: &[CommitHash]) -> Result<Vec<Option<Usage>>> {
        let read = |row: &Row| rows::usage(row, PROVIDERS);
        if let Some(found) = self.ahead.commits(commits, read) {
            return Ok(found?.into_iter().map(Option::flatten).collect());
        }
        let found = self.by_key(
            &format!(
                "SELECT n, {USAGE}
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key
             JOIN usage ON commit_id = id"
            ),
            commits,
            |row| rows::usage(row, 1),
        )?;
        Ok(found.into_iter().map(Option::flatten).collect())
    }
}

impl ObjectsMut for Session<'_> {
    fn foresee(&self, contents: &mut dyn FnMut() -> Vec<ContentHash>) -> Result<()> {
        self.foresee_contents(contents())
    }

    fn put_named(
        &self,
        name: &ContentHash,
        message: &Sealed<Message>,
        prepared: Option<Prepared>,
    ) -> Result<bool> {
        let canonical = message.canonical();
        if self.known.content(name).is_some() {
            return Ok(false);
        }
        let bytes = canonical.as_bytes();
        match prepared {
            None => {
                let (encoding, body) = pack(bytes);
                let shown = Shown::of(message);
                let is_new = self.insert_content(name, shown, (encoding, &body))?;
                self.gather(name, message, None, is_new)
            }
            Some(Prepared { shown, words, body }) => {
                let body = match &body {
                    Some(body) => (ZSTD, body.as_slice()),
                    None => (RAW, bytes),
                };
                let is_new = self.insert_content(name, shown, body)?;
                self.gather(name, message, words, is_new)
            }
        }
    }

    fn put_commit(&self, commit: &Sealed<Commit>) -> Result<bool> {
        let hash = commit.hash();
        if self.known.place(&hash).is_some() {
            return Ok(false);
        }
        // All that can be refused is refused before the first row is written.
        let parent = commit.parent.as_ref();
        let parent = parent.map(|parent| self.must_place(parent)).transpose()?;
        if let Some(merged) = &commit.merged {
            self.must_place(merged)?;
        }
        let contents = self.must_contents(&commit.operation.contents())?;
        let appended = match commit.operation {
            Operation::Append { .. } => contents.first().copied(),
            _ => None,
        };
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        // Behind a commit that was made here is none yet.
        if let (Some(parent), Some(before), Some(appended)) = (parent, &commit.parent, appended)
            && self.known.end(parent.lineage) == Some(parent.depth)
        {
            let id = self.next_id("commits")?;
            let lineage = parent.lineage;
            self.known.saw(hash, Place { id, lineage, depth });
            self.known.ends_at(lineage, depth);
            self.known.goes_on(before, hash);
            self.put(|waiting| {
                waiting.commits.push(Append {
                    id,
                    hash,
                    lineage,
                    depth,
                    parent: parent.id,
                    content: appended,
                    canonical: commit.canonical().as_bytes().to_vec(),
                });
            })?;
            return Ok(true);
        }
        let id = self.next_id("commits")?;
        // A second child begins a lineage of its own, and so does one beside which another may come.
        let ends = parent.filter(|parent| self.known.end(parent.lineage) == Some(parent.depth));
        let goes_on = match (parent, ends) {
            (None, _) => "false".to_owned(),
            (_, Some(_)) => "true".to_owned(),
            (Some(_), None) => claim(self.turn, self.store.schema, "$6"),
        };
        let fresh = match ends {
            Some(_) => 0,
            None => self.next_id("lineages")?,
        };
        let put = format!(
            "WITH here AS (
                 SELECT id, lineage, depth FROM commits WHERE hash = $2
             ), fork AS (
                 INSERT INTO lineages (id, parent, fork_depth) SELECT $8, $3, $4
                 WHERE $8 > 0 AND NOT EXISTS (SELECT 1 FROM here) AND (NOT {goes_on} OR EXISTS (
                     SELECT 1 FROM commits WHERE lineage = $3 AND depth = $5))
                 RETURNING id
             ), put AS (
                 INSERT INTO commits (id, hash, lineage, depth, parent, content, canonical)
                 SELECT $1, $2, coalesce((SELECT id FROM fork), $3), $5, $6, $7, $9
                 WHERE NOT EXISTS (SELECT 1 FROM here)
                 RETURNING id, lineage, depth
             )
             SELECT id, lineage, depth FROM put UNION ALL SELECT id, lineage, depth FROM here"
        );
        let found = self.first(
            &put,
            &[
                &id,
                &hash,
                &parent.map(|parent| parent.lineage),
                &parent.map(|parent| parent.depth),
                &depth,
                &parent.map(|parent| parent.id),
                &appended,
                &fresh,
                &commit.canonical(),
            ],
            |row| rows::place(row, 0),
        )?;
        let place = found.ok_or_else(|| damaged("a commit was neither put nor here"))?;
        self.known.saw(hash, place);
        if place.id == id {
            self.known.ends_at(place.lineage, depth);
        }
        Ok(place.id == id)
    }

    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()> {
        let commit = self.must_place(commit)?.id;
        self.put(|waiting| {
            waiting.usage.insert(commit, usage);
        })
    }

    fn purge_content(&self, hash: &ContentHash) -> Result<u64> {
        let gone = || missing("content to purge", hash);
        let row = self.content_row(hash)?.ok_or_else(gone)?;
        let id = self.must_contents(&[*hash])?[0];
        let stone = Sealed::new(tombstone(row.role));
        let (shown, (encoding, body)) = (Shown::of(&stone), pack(stone.canonical().as_bytes()));
        let gone = tables::purged(Purge::OfContent, Only::Files).map(|table| {
            format!(
                ", {0}_gone AS (DELETE FROM {0} WHERE content = $1)",
                table.name
            )
        });
        self.execute(
            &format!(
                "WITH packed AS (UPDATE bodies SET encoding = $5, body = $6 WHERE content = $1){}
                 UPDATE contents SET role = $2, preview = $3, size_bytes = $4, calls = 0, results = 0
                 WHERE id = $1",
                gone.collect::<String>()
            ),
            &[
                &id,
                &shown.role,
                &shown.preview,
                &shown.size_bytes,
                &encoding,
                &body,
            ],
        )?;
        self.drop_totals()?;
        Ok(row.size_bytes)
    }
}
