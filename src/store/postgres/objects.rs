//! Contents, commits and their lineages, counts and usage.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use postgres::Row;

use super::columns::{damaged, get, hash_bytes, keys, text, unsigned};
use super::session::{Session, place_of};
use super::waiting::{Append, Content};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashPrefix};
use crate::model::{
    Commit, Encoding, Message, Operation, Role, Sealed, Summed, TokenCount, ToolUses, Total, Usage,
    is_tombstone, preview, tombstone,
};
use crate::store::codec::{Speaker, encoding_number, encoding_of, number};
use crate::store::lineage::{Place, lineage_at};
use crate::store::packing::{RAW, ZSTD, pack, unpack_into};
use crate::store::tables::{self, Only, Purge};
use crate::store::{
    Appended, ByReach, CommitRow, ContentRow, ContentSize, CountKey, Derived, Dropped, Facts,
    ListedCommit, Objects, ObjectsMut, Prepared, Shown,
};

/// How many bytes of bodies, packed, are asked for at once.
const BODIES_BYTES: i64 = 4 << 20;
/// How many of them at most.
const BODIES: usize = 4_096;
/// How many counts are kept together.
const TOGETHER: usize = 4_096;

/// The commit in three columns: hash, depth and canonical bytes, which must be those of its name.
pub(super) fn commit_row(row: &Row, first: usize) -> Result<CommitRow> {
    let hash: CommitHash = get(row, first)?;
    let canonical = text(row, first + 2)?;
    if !hash.names(canonical.as_bytes()) {
        return Err(damaged(format!("commit {hash}: its text is another one's")));
    }
    Ok(CommitRow {
        hash,
        commit: Commit::from_canonical(canonical)
            .map_err(|error| damaged(format!("commit {hash}: {error}")))?,
        depth: unsigned(row, first + 1)?,
    })
}

/// What a listing shows, in seven columns, from its hash on.
pub(super) fn content_row(row: &Row, first: usize) -> Result<ContentRow> {
    let Speaker { role, attached } = Speaker::of(get(row, first + 1)?)?;
    let small = |column| u32::try_from(get::<i64>(row, column)?).map_err(damaged);
    Ok(ContentRow {
        hash: get(row, first)?,
        role,
        attached,
        preview: text(row, first + 2)?.to_owned(),
        size_bytes: unsigned(row, first + 3)?,
        calls: small(first + 4)?,
        results: small(first + 5)?,
    })
}

/// A count in two columns, if it is there.
pub(super) fn count(row: &Row, first: usize) -> Result<Option<TokenCount>> {
    if get::<Option<i64>>(row, first)?.is_none() {
        return Ok(None);
    }
    Ok(Some(TokenCount {
        tokens: unsigned(row, first)?,
        estimated: get(row, first + 1)?,
    }))
}

/// The text of a body, which must be that of its name.
pub(super) fn canonical<'a>(hash: &ContentHash, body: &'a [u8]) -> Result<&'a str> {
    let wrong = |error: String| damaged(format!("content {hash}: {error}"));
    if !hash.names(body) && !is_tombstone(hash, body) {
        return Err(wrong("its body is another one's".to_owned()));
    }
    std::str::from_utf8(body).map_err(|error| wrong(error.to_string()))
}

pub(super) fn message(hash: &ContentHash, canonical: &str) -> Result<Message> {
    Message::from_canonical(canonical).map_err(|e| damaged(format!("content {hash}: {e}")))
}

/// What is wrong with a caller that names an object which isn't here.
pub(super) fn missing(what: &'static str, hash: &impl ToString) -> Error {
    Error::Malformed {
        what,
        detail: format!("{} is not stored", hash.to_string()),
    }
}

/// Contents that were asked for: places among them, and where their bodies are.
struct Wanted {
    at: usize,
    hash: ContentHash,
    id: i64,
    size_bytes: u64,
    packed_bytes: i64,
}

impl Session<'_> {
    pub(super) fn place(&self, hash: &CommitHash) -> Result<Option<Place>> {
        if let Some(place) = self.seen(hash) {
            return Ok(Some(place));
        }
        let sql = "SELECT id, lineage, depth FROM commits WHERE hash = $1";
        let place = self.first_aside(sql, &[hash], |row| {
            Ok(Place {
                id: get(row, 0)?,
                lineage: get(row, 1)?,
                depth: get(row, 2)?,
            })
        })?;
        if let Some(place) = place {
            self.saw(*hash, place);
        }
        Ok(place)
    }

    /// The place of a commit that must be here.
    pub(super) fn must_place(&self, hash: &CommitHash) -> Result<Place> {
        self.place(hash)?.ok_or_else(|| missing("commit", hash))
    }

    /// The rows of contents, of which all must be here.
    pub(super) fn must_contents(&self, hashes: &[ContentHash]) -> Result<Vec<i64>> {
        let known = hashes
            .iter()
            .filter_map(|hash| Some((*hash, self.seen_content(hash)?)));
        let mut known: HashMap<ContentHash, i64> = known.collect();
        let mut open: Vec<ContentHash> = hashes.to_vec();
        open.retain(|hash| !known.contains_key(hash));
        if !open.is_empty() {
            known.extend(self.look_for(&open)?);
        }
        let found = hashes.iter().map(|hash| {
            let id = known.get(hash).copied();
            id.ok_or_else(|| missing("content", hash))
        });
        found.collect()
    }

    /// Those of these contents that are here. Of many, not all may be remembered.
    fn look_for(&self, hashes: &[ContentHash]) -> Result<HashMap<ContentHash, i64>> {
        let sql = "SELECT hash, id FROM contents WHERE hash = ANY ($1)";
        let rows = self.query(sql, &[&keys(hashes)])?;
        let found = rows.iter().map(|row| {
            let (hash, id) = (get(row, 0)?, get(row, 1)?);
            self.saw_content(hash, id);
            Ok((hash, id))
        });
        found.collect()
    }

    fn content_id(&self, hash: &ContentHash) -> Result<Option<i64>> {
        match self.must_contents(&[*hash]) {
            Ok(ids) => Ok(ids.first().copied()),
            Err(Error::Malformed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Tells bodies one after the other, each held against its name. They come in batches, and none is
    /// under way while one is told.
    fn tell_bodies(
        &self,
        hashes: &[ContentHash],
        tell: &mut dyn FnMut(usize, &ContentHash, &str) -> Result<()>,
    ) -> Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let mut wanted = self.all(
            "SELECT n, hash, contents.id, size_bytes, coalesce(length(body), 0)::bigint
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN contents ON hash = key
             LEFT JOIN bodies ON content = contents.id ORDER BY n",
            &[&keys(hashes)],
            |row| {
                Ok(Wanted {
                    at: place_of(row)?,
                    hash: get(row, 1)?,
                    id: get(row, 2)?,
                    size_bytes: unsigned(row, 3)?,
                    packed_bytes: get(row, 4)?,
                })
            },
        )?;
        let mut buffer = Vec::new();
        while !wanted.is_empty() {
            let mut bytes = 0;
            let fits = wanted.iter().take(BODIES).take_while(|one| {
                let fits = bytes < BODIES_BYTES;
                bytes += one.packed_bytes;
                fits
            });
            let some = fits.count();
            let some: Vec<Wanted> = wanted.drain(..some).collect();
            let ids: Vec<i64> = some.iter().map(|one| one.id).collect();
            let sql = "SELECT content, encoding, body FROM bodies WHERE content = ANY ($1)";
            let rows = self.query(sql, &[&ids])?;
            let bodies = rows.iter().map(|row| Ok((get::<i64>(row, 0)?, row)));
            let bodies: HashMap<i64, &Row> = bodies.collect::<Result<_>>()?;
            for one in some {
                let hash = &one.hash;
                let row = bodies.get(&one.id);
                let row =
                    row.ok_or_else(|| damaged(format!("content {hash}: its body is missing")))?;
                let (encoding, stored) = (get(row, 1)?, get(row, 2)?);
                let body = unpack_into(&mut buffer, encoding, stored, one.size_bytes)?;
                tell(one.at, hash, canonical(hash, body)?)?;
            }
        }
        Ok(())
    }

    /// Keeps a content's row with its body, if there is none by that name; whether there was none.
    fn insert_content(
        &self,
        hash: &ContentHash,
        message: &Message,
        canonical: &str,
        shown: &Shown,
        (encoding, body): (i64, &[u8]),
    ) -> Result<bool> {
        let id = self.next_id("contents");
        if self.is_first(hash) {
            self.saw_content(*hash, id);
            self.put(|waiting| {
                waiting.content(Content {
                    id,
                    hash: *hash,
                    role: Speaker::from(message).number(),
                    preview: shown.preview.as_bytes().to_vec(),
                    size_bytes: number(canonical.len() as u64),
                    calls: number(message.calls().count() as u64),
                    results: number(message.results().count() as u64),
                    encoding,
                    body: body.to_vec(),
                    uses: shown.uses.clone().map(Into::into),
                });
            })?;
            return Ok(true);
        }
        let found = self.first_aside(
            "WITH put AS (
                 INSERT INTO contents (id, hash, role, preview, size_bytes, calls, results)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (hash) DO NOTHING RETURNING id
             ), packed AS (
                 INSERT INTO bodies (content, encoding, body) SELECT id, $8, $9 FROM put
             ), used AS (
                 INSERT INTO tool_uses (content, uses) SELECT id, $10 FROM put WHERE $10 IS NOT NULL
             )
             SELECT id FROM put UNION ALL SELECT id FROM contents WHERE hash = $2",
            &[
                &id,
                hash,
                &Speaker::from(message).number(),
                &shown.preview,
                &number(canonical.len() as u64),
                &number(message.calls().count() as u64),
                &number(message.results().count() as u64),
                &encoding,
                &body,
                &shown.uses,
            ],
            |row| get::<i64>(row, 0),
        )?;
        let found = found.ok_or_else(|| damaged("a content was neither put nor here"))?;
        self.saw_content(*hash, found);
        Ok(found == id)
    }
}

impl Objects for Session<'_> {
    fn commits(&self, hashes: &[CommitHash]) -> Result<Vec<Option<CommitRow>>> {
        self.by_key(
            "SELECT n, hash, depth, canonical
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key",
            hashes,
            |row| commit_row(row, 1),
        )
    }

    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>> {
        let (low, high) = prefix.range();
        self.all(
            "SELECT hash, depth, canonical FROM commits WHERE hash BETWEEN $1 AND $2
             ORDER BY hash LIMIT $3",
            &[&low, &high, &number(limit as u64)],
            |row| commit_row(row, 0),
        )
    }

    fn walk(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        visit: &mut dyn FnMut(CommitRow) -> Result<()>,
    ) -> Result<()> {
        self.walk_path(tip, after, limit, visit)
    }

    fn listing(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        encoding: Encoding,
    ) -> Result<Vec<ListedCommit>> {
        self.list_path(tip, after, limit, encoding)
    }

    fn appended(
        &self,
        tip: &CommitHash,
        depths: Range<u64>,
        facts: Facts,
        visit: &mut dyn FnMut(Appended) -> Result<()>,
    ) -> Result<()> {
        self.appended_on_path(tip, depths, facts, visit)
    }

    fn settings_at(&self, tip: &CommitHash) -> Result<BTreeMap<String, CommitHash>> {
        self.settings_on_path(tip)
    }

    fn changes(&self, tip: &CommitHash) -> Result<Vec<CommitRow>> {
        self.changes_on_path(tip)
    }

    fn are_ancestors(&self, commits: &[CommitHash], tip: &CommitHash) -> Result<Vec<bool>> {
        let path = self.path(tip)?;
        let found = self.by_key(
            "SELECT n, lineage, depth
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key",
            commits,
            |row| Ok(lineage_at(&path, get(row, 2)?) == Some(get(row, 1)?)),
        )?;
        let found = found.into_iter().map(|on_path| on_path == Some(true));
        Ok(found.collect())
    }

    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>> {
        let depth = number(depth);
        let Some(lineage) = lineage_at(&self.path(tip)?, depth) else {
            return Ok(None);
        };
        let sql = "SELECT hash FROM commits WHERE lineage = $1 AND depth = $2";
        let found = self.first(sql, &[&lineage, &depth], |row| get(row, 0))?;
        // There is one at every depth of a path.
        let missing = || damaged(format!("the path at depth {depth} is missing"));
        found.map(Some).ok_or_else(missing)
    }

    fn by_reach(&self, tips: &[CommitHash]) -> Result<ByReach> {
        self.split_by_reach(tips)
    }

    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<CommitHash>> {
        let sql = match parent {
            Some(_) => {
                "SELECT c.hash FROM commits AS c JOIN contents ON contents.id = c.content
                 JOIN commits AS p ON p.id = c.parent
                 WHERE contents.hash = $1 AND p.hash = $2 ORDER BY c.id"
            }
            None => {
                "SELECT c.hash FROM commits AS c JOIN contents ON contents.id = c.content
                 WHERE contents.hash = $1 AND c.parent IS NULL ORDER BY c.id"
            }
        };
        match parent {
            Some(parent) => self.all(sql, &[content, parent], |row| get(row, 0)),
            None => self.all(sql, &[content], |row| get(row, 0)),
        }
    }

    fn each_body(
        &self,
        hashes: &[ContentHash],
        visit: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        self.tell_bodies(hashes, &mut |at, _, body| visit(at, body))
    }

    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ContentRow>>> {
        self.by_key(
            "SELECT n, hash, role, preview, size_bytes, calls, results
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN contents ON hash = key",
            hashes,
            |row| content_row(row, 1),
        )
    }

    fn tool_uses(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ToolUses>>> {
        let found = self.by_key(
            "SELECT n, uses FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             JOIN contents ON hash = key JOIN tool_uses ON content = contents.id",
            hashes,
            |row| Ok(ToolUses::from_text(text(row, 1)?)),
        )?;
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    fn content_sizes(&self) -> Result<Vec<ContentSize>> {
        let sql =
            "SELECT hash, role, size_bytes, coalesce(length(body), 0)::bigint, calls + results > 0
             FROM contents LEFT JOIN bodies ON content = id ORDER BY id";
        self.all(sql, &[], |row| {
            let Speaker { role, attached } = Speaker::of(get(row, 1)?)?;
            Ok(ContentSize {
                hash: get(row, 0)?,
                role,
                attached,
                size_bytes: unsigned(row, 2)?,
                kept_bytes: unsigned(row, 3)?,
                uses_tools: get(row, 4)?,
            })
        })
    }

    fn lost(&self, contents: &[ContentHash]) -> Result<Vec<bool>> {
        // No repair sets anything aside here.
        Ok(vec![false; contents.len()])
    }

    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>> {
        let mut answers: Vec<Option<TokenCount>> = vec![None; keys.len()];
        if keys.is_empty() {
            return Ok(answers);
        }
        let contents: Vec<&[u8]> = keys.iter().map(|key| &key.content.as_bytes()[..]).collect();
        let masks: Vec<&[u8]> = keys.iter().map(mask).collect();
        let rows = self.query(
            "SELECT n, tokens, estimated
             FROM unnest($1, $2) WITH ORDINALITY AS keys (key, masked, n)
             JOIN contents ON hash = key
             JOIN counts ON content = contents.id AND encoding = $3 AND mask = masked",
            &[&contents, &masks, &encoding_number(encoding)],
        )?;
        for row in rows {
            answers[place_of(&row)?] = count(&row, 1)?;
        }
        Ok(answers)
    }

    fn usage(&self, commits: &[CommitHash]) -> Result<Vec<Option<Usage>>> {
        self.by_key(
            "SELECT n, input_tokens, output_tokens
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key
             JOIN usage ON commit_id = id",
            commits,
            |row| {
                Ok(Usage {
                    input_tokens: unsigned(row, 1)?,
                    output_tokens: unsigned(row, 2)?,
                })
            },
        )
    }

    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>> {
        self.newest_checkpoint(tip)
    }

    fn newest_total(&self, tip: &CommitHash, encoding: Encoding) -> Result<Option<(u64, Total)>> {
        self.newest_total_of(tip, encoding)
    }

    fn derived(&self) -> Result<Derived> {
        let checkpoints = "SELECT hash FROM checkpoints AS c JOIN commits ON commits.id = commit_id
             AND commits.lineage = c.lineage AND commits.depth = c.depth";
        let counts = "SELECT hash, encoding, mask, tokens, estimated
             FROM counts JOIN contents ON contents.id = content";
        Ok(Derived {
            checkpoints: self.all(checkpoints, &[], |row| get(row, 0))?,
            counts: self.all(counts, &[], |row| {
                let mask = match get::<&[u8]>(row, 2)?.is_empty() {
                    true => None,
                    false => Some(hash_bytes(row, 2)?),
                };
                let content = get(row, 0)?;
                let count = count(row, 3)?.unwrap_or_default();
                Ok((
                    CountKey { content, mask },
                    encoding_of(get(row, 1)?)?,
                    count,
                ))
            })?,
            totals: self.all_totals()?,
            summaries: self.all_summaries()?,
        })
    }

    fn newest_summary(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Summed)>> {
        self.newest_summary_of(tip, encoding)
    }

    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        self.since_checkpoint(tip)
    }
}

fn mask(key: &CountKey) -> &[u8] {
    key.mask.as_ref().map_or(&[][..], |mask| mask)
}

impl ObjectsMut for Session<'_> {
    fn foresee(&self, contents: &mut dyn FnMut() -> Vec<ContentHash>) -> Result<()> {
        let mut open = contents();
        open.retain(|hash| self.seen_content(hash).is_none());
        if open.is_empty() {
            return Ok(());
        }
        let found = self.look_for(&open)?;
        open.retain(|hash| !found.contains_key(hash));
        self.saw_none(open);
        Ok(())
    }

    fn put_message(&self, message: &Sealed<Message>, prepared: Option<Prepared>) -> Result<bool> {
        let (hash, canonical) = (message.hash(), message.canonical());
        if self.seen_content(&hash).is_some() {
            return Ok(false);
        }
        let bytes = canonical.as_bytes();
        match prepared {
            None => {
                let (encoding, body) = pack(bytes);
                let shown = Shown::of(message);
                self.insert_content(&hash, message, canonical, &shown, (encoding, &body))
            }
            Some(Prepared { shown, body }) => {
                // Another engine's dictionary is not here.
                let alone = body.filter(|body| body.dictionary.is_none());
                let body = match &alone {
                    Some(body) => (ZSTD, body.bytes.as_slice()),
                    None => (RAW, bytes),
                };
                self.insert_content(&hash, message, canonical, &shown, body)
            }
        }
    }

    fn put_commit(&self, commit: &Sealed<Commit>) -> Result<bool> {
        let hash = commit.hash();
        if self.seen(&hash).is_some() {
            return Ok(false);
        }
        // All that can be refused is refused before the first row is written.
        let parent = commit.parent.as_ref();
        let parent = parent.map(|parent| self.must_place(parent)).transpose()?;
        let contents = self.must_contents(&commit.operation.contents())?;
        let appended = match commit.operation {
            Operation::Append { .. } => contents.first().copied(),
            _ => None,
        };
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        // Behind a commit that was made here is none yet.
        if let (Some(parent), Some(appended)) = (parent, appended)
            && self.end(parent.lineage) == Some(parent.depth)
        {
            let id = self.next_id("commits");
            let lineage = parent.lineage;
            self.saw(hash, Place { id, lineage, depth });
            self.ends_at(lineage, depth);
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
        let (id, fresh) = (self.next_id("commits"), self.next_id("lineages"));
        // A second child begins a lineage of its own.
        let found = self.first(
            "WITH here AS (
                 SELECT id, lineage, depth FROM commits WHERE hash = $2
             ), fork AS (
                 INSERT INTO lineages (id, parent, fork_depth) SELECT $8, $3, $4
                 WHERE NOT EXISTS (SELECT 1 FROM here) AND ($3 IS NULL OR EXISTS (
                     SELECT 1 FROM commits WHERE lineage = $3 AND depth = $5))
                 RETURNING id
             ), put AS (
                 INSERT INTO commits (id, hash, lineage, depth, parent, content, canonical)
                 SELECT $1, $2, coalesce((SELECT id FROM fork), $3), $5, $6, $7, $9
                 WHERE NOT EXISTS (SELECT 1 FROM here)
                 RETURNING id, lineage, depth
             )
             SELECT id, lineage, depth FROM put UNION ALL SELECT id, lineage, depth FROM here",
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
            |row| {
                Ok(Place {
                    id: get(row, 0)?,
                    lineage: get(row, 1)?,
                    depth: get(row, 2)?,
                })
            },
        )?;
        let place = found.ok_or_else(|| damaged("a commit was neither put nor here"))?;
        self.saw(hash, place);
        if place.id == id {
            self.ends_at(place.lineage, depth);
        }
        Ok(place.id == id)
    }

    fn put_counts(&self, counts: &[(CountKey, TokenCount)], encoding: Encoding) -> Result<()> {
        for counts in counts.chunks(TOGETHER) {
            let contents: Vec<ContentHash> = counts.iter().map(|(key, _)| key.content).collect();
            for ((key, count), content) in counts.iter().zip(self.must_contents(&contents)?) {
                let key = (content, encoding_number(encoding), mask(key).to_vec());
                self.put(|waiting| {
                    waiting.counts.insert(key, *count);
                })?;
            }
        }
        Ok(())
    }

    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()> {
        let commit = self.must_place(commit)?.id;
        self.put(|waiting| {
            waiting.usage.insert(commit, usage);
        })
    }

    fn put_total(&self, commit: &CommitHash, encoding: Encoding, total: Total) -> Result<()> {
        self.write_total(commit, encoding, total)
    }

    fn put_summary(&self, commit: &CommitHash, encoding: Encoding, summary: &Summed) -> Result<()> {
        self.write_summary(commit, encoding, summary)
    }

    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        self.write_checkpoint(commit, context)
    }

    fn purge_content(&self, hash: &ContentHash) -> Result<u64> {
        let gone = || missing("content to purge", hash);
        let row = self.content_row(hash)?.ok_or_else(gone)?;
        let id = self.must_contents(&[*hash])?[0];
        let stone = tombstone(row.role);
        let canonical = stone.canonical();
        let (encoding, body) = pack(canonical.as_bytes());
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
                &Speaker::from(&stone).number(),
                &preview(&stone),
                &number(canonical.len() as u64),
                &encoding,
                &body,
            ],
        )?;
        self.drop_totals()?;
        Ok(row.size_bytes)
    }

    fn put_tombstone(&self, hash: &ContentHash, role: Role) -> Result<()> {
        if self.content_id(hash)?.is_some() {
            return Ok(());
        }
        let stone = tombstone(role);
        let canonical = stone.canonical();
        let (encoding, body) = pack(canonical.as_bytes());
        let shown = Shown::of(&stone);
        self.insert_content(hash, &stone, &canonical, &shown, (encoding, &body))
            .map(drop)
    }

    fn drop_unreached(&self) -> Result<Dropped> {
        self.delete_unreached()
    }
}
