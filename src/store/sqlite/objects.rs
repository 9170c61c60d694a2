//! Contents, commits and their lineages, counts and usage.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Row, params};

use super::codec::{Speaker, blob, damaged, number, pack, unsigned};
use super::dictionary::Packing;
use super::seal::{intact, neighbours};
use super::session::{Session, keyed};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashPrefix};
use crate::model::{
    Commit, Encoding, Message, Operation, Role, Sealed, Summed, TokenCount, ToolUses, Total, Usage,
    is_tombstone, preview, tombstone,
};
use crate::store::lineage::{Place, lineage_at};
use crate::store::tables::{self, Only, Purge};
use crate::store::{
    Appended, ByReach, CommitRow, ContentRow, ContentSize, CountKey, Derived, Dropped, Facts,
    ListedCommit, Objects, ObjectsMut, Prepared, Shown,
};

/// The commit in three columns: hash, depth and canonical bytes, which must be those of its name.
pub(super) fn commit_row(row: &Row<'_>, first: usize) -> rusqlite::Result<CommitRow> {
    let hash: CommitHash = row.get(first)?;
    let canonical = row.get_ref(first + 2)?.as_str()?;
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

/// The message of a body as it is stored, which must be that of its name.
pub(super) fn message(
    hash: &ContentHash,
    packed: Option<(Packing, Vec<u8>)>,
    size_bytes: u64,
) -> rusqlite::Result<Message> {
    let wrong = |error: String| damaged(format!("content {hash}: {error}"));
    let Some((packing, stored)) = packed else {
        return Err(wrong("its body is missing".to_owned()));
    };
    let body = packing.unpack(stored, size_bytes)?;
    Message::from_canonical(canonical(hash, &body)?).map_err(|error| wrong(error.to_string()))
}

/// The text of a body, which must be that of its name.
pub(super) fn canonical<'a>(hash: &ContentHash, body: &'a [u8]) -> rusqlite::Result<&'a str> {
    let wrong = |error: String| damaged(format!("content {hash}: {error}"));
    if !hash.names(body) && !is_tombstone(hash, body) {
        return Err(wrong("its body is another one's".to_owned()));
    }
    std::str::from_utf8(body).map_err(|e| wrong(e.to_string()))
}

/// What is wrong with a caller that names an object which isn't here.
pub(super) fn missing(what: &'static str, hash: &impl ToString) -> Error {
    Error::Malformed {
        what,
        detail: format!("{} is not stored", hash.to_string()),
    }
}

impl Session<'_> {
    pub(super) fn place(&self, hash: &CommitHash) -> Result<Option<Place>> {
        if let Some(place) = self.memo.place(hash) {
            return Ok(Some(place));
        }
        let sql = concat!(
            "SELECT id, lineage, depth FROM commits WHERE hash = ?1 AND ",
            intact!(commits)
        );
        let place = self.first(sql, [hash], |row| {
            Ok(Place {
                id: row.get(0)?,
                lineage: row.get(1)?,
                depth: row.get(2)?,
            })
        })?;
        match place {
            None => self.prove_commits_absent(&[*hash])?,
            Some(place) if self.writes => self.memo.saw(*hash, place),
            Some(_) => {}
        }
        Ok(place)
    }

    /// Makes sure that the commits for which nothing was found are not here.
    pub(super) fn prove_absent_where<T>(
        &self,
        hashes: &[CommitHash],
        found: &[Option<T>],
    ) -> Result<()> {
        let absent = hashes.iter().zip(found).filter(|(_, row)| row.is_none());
        let absent: Vec<CommitHash> = absent.map(|(hash, _)| *hash).collect();
        self.prove_commits_absent(&absent)
    }

    /// Makes sure that commits which were not found are not here. Where something is written, most
    /// that is looked for is new, and the index refuses what it has already.
    fn prove_commits_absent(&self, hashes: &[CommitHash]) -> Result<()> {
        if self.writes || hashes.is_empty() {
            return Ok(());
        }
        let beside = concat!("SELECT ", neighbours!(commits, "hash", "key"), " FROM keys");
        let beside = keyed::<CommitHash>(beside);
        self.scan(&beside, [blob(hashes)], |_| Ok(true)).map(|_| ())
    }

    /// The place of a commit that must be here.
    pub(super) fn must_place(&self, hash: &CommitHash) -> Result<Place> {
        self.place(hash)?.ok_or_else(|| missing("commit", hash))
    }

    pub(super) fn content_id(&self, hash: &ContentHash) -> Result<Option<i64>> {
        if let Some(id) = self.memo.content(hash) {
            return Ok(Some(id));
        }
        let sql = concat!(
            "SELECT id FROM contents WHERE hash = ?1 AND ",
            intact!(contents)
        );
        let id = self.first(sql, [hash], |row| row.get(0))?;
        if let Some(id) = id.filter(|_| self.writes) {
            self.memo.saw_content(*hash, id);
        }
        Ok(id)
    }

    fn put_body(&self, id: i64, message: &Sealed<Message>) -> Result<()> {
        let (encoding, body) = self.pack_body(message.canonical().as_bytes())?;
        self.execute(
            "INSERT INTO bodies (content, encoding, body) VALUES (?1, ?2, ?3)",
            params![id, encoding, body.as_ref()],
        )?;
        match ToolUses::of(message) {
            None => Ok(()),
            Some(uses) => self.execute(
                "INSERT OR REPLACE INTO tool_uses (content, uses, seal)
                 VALUES (?1, ?2, sealed(?1, ?2))",
                params![id, uses.to_text()],
            ),
        }
    }

    /// Gives a content its body back, where that was damaged and set aside: the message that is put
    /// has its name, so it is that body.
    fn heal(&self, id: i64, message: &Sealed<Message>) -> Result<bool> {
        let here = "SELECT 1 FROM bodies WHERE content = ?1";
        if self.first(here, [id], |_| Ok(()))?.is_some() {
            return Ok(false);
        }
        self.execute(
            "UPDATE contents SET role = ?2, preview = ?3, size_bytes = ?4, calls = ?5, results = ?6,
                 seal = sealed(id, hash, ?2, ?3, ?4, ?5, ?6)
             WHERE id = ?1",
            params![
                id,
                Speaker::from(&**message),
                preview(message),
                number(message.canonical().len() as u64),
                number(message.calls().count() as u64),
                number(message.results().count() as u64),
            ],
        )?;
        // They were summed up with a guess.
        self.drop_totals()?;
        self.put_body(id, message)?;
        self.index_again(id, message)?;
        Ok(true)
    }

    /// The row of a content that must be here.
    pub(super) fn must_content_id(&self, hash: &ContentHash) -> Result<i64> {
        let id = self.content_id(hash)?;
        id.ok_or_else(|| missing("content", hash))
    }

    /// The lineages along which the path to a place goes, from its end, each with the depth of the
    /// last commit on it.
    pub(super) fn lineages(&self, end: Place) -> Result<Vec<(i64, i64)>> {
        let sql = concat!(
            "SELECT parent, fork_depth FROM lineages WHERE id = ?1 AND ",
            intact!(lineages)
        );
        let mut lineages = vec![(end.lineage, end.depth)];
        let mut lineage = end.lineage;
        loop {
            let row = self.first(sql, [lineage], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let (parent, fork_depth) = row.ok_or_else(|| Error::Damaged {
                detail: format!("lineage {lineage} is missing"),
            })?;
            let (Some(parent), Some(fork_depth)) = (parent, fork_depth) else {
                return Ok(lineages);
            };
            lineages.push((parent, fork_depth));
            lineage = parent;
        }
    }
}

impl Session<'_> {
    /// What on a lineage, up to this depth, appends nothing, the newest first.
    ///
    /// An index alone tells, so that of a long lineage only these are read; and all of them are, since only
    /// their number says that the index has lost none.
    fn changes_along(&self, lineage: i64, last: i64) -> Result<Vec<CommitRow>> {
        let sql = concat!(
            "SELECT changes FROM lineages WHERE id = ?1 AND ",
            intact!(lineages)
        );
        let count: Option<u64> = self.first(sql, [lineage], |row| unsigned(row, 0))?;
        let sql = concat!(
            "SELECT hash, depth, CASE WHEN depth <= ?2 THEN canonical END, depth <= ?2 FROM commits
             WHERE lineage = ?1 AND content IS NULL AND ",
            intact!(commits),
            " ORDER BY depth DESC"
        );
        let (mut found, mut read, mut above) = (Vec::new(), 0, i64::MAX);
        let mut is_ordered = true;
        self.scan(sql, [lineage, last], |row| {
            let depth = row.get(1)?;
            is_ordered &= depth < above;
            (read, above) = (read + 1, depth);
            if row.get(3)? {
                found.push(commit_row(row, 0)?);
            }
            Ok(true)
        })?;
        match is_ordered && count == Some(read) {
            true => Ok(found),
            false => Err(Error::Damaged {
                detail: format!("what changed lineage {lineage} is not all there"),
            }),
        }
    }

    /// Counts the commits of each lineage that append nothing, where some may have gone.
    pub(super) fn count_changes(&self) -> Result<()> {
        let sql = "UPDATE lineages SET changes = n, seal = sealed(id, parent, fork_depth, n)
             FROM (SELECT l.id AS of, count(commits.id) AS n
                   FROM lineages AS l
                   LEFT JOIN commits ON commits.lineage = l.id AND commits.content IS NULL
                   GROUP BY l.id)
             WHERE of = lineages.id AND changes IS NOT n
               AND seal = sealed(id, parent, fork_depth, changes)";
        self.execute(sql, [])
    }
}

impl Objects for Session<'_> {
    fn commits(&self, hashes: &[CommitHash]) -> Result<Vec<Option<CommitRow>>> {
        let found = self.by_key(
            concat!(
                "SELECT n, hash, depth, canonical
                 FROM keys CROSS JOIN commits ON hash = key AND ",
                intact!(commits asked "key")
            ),
            hashes,
            |row| commit_row(row, 1),
        )?;
        self.prove_absent_where(hashes, &found)?;
        Ok(found)
    }

    fn commits_with_prefix(&self, prefix: &HashPrefix, limit: usize) -> Result<Vec<CommitRow>> {
        let (low, high) = prefix.range();
        let found = self.all(
            concat!(
                "SELECT hash, depth, canonical FROM commits WHERE hash BETWEEN ?1 AND ?2 AND ",
                intact!(commits),
                " ORDER BY hash LIMIT ?3"
            ),
            params![low, high, number(limit as u64)],
            |row| commit_row(row, 0),
        )?;
        if found.is_empty() {
            self.prove_commits_absent(&[CommitHash::from_bytes(low)])?;
        }
        Ok(found)
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
        let mut found: Vec<CommitRow> = Vec::new();
        let Some(place) = self.place(tip)? else {
            return Ok(found);
        };
        for (lineage, last) in self.lineages(place)? {
            found.extend(self.changes_along(lineage, last)?);
        }
        found.reverse();
        Ok(found)
    }

    fn are_ancestors(&self, commits: &[CommitHash], tip: &CommitHash) -> Result<Vec<bool>> {
        let Some(tip) = self.place(tip)? else {
            return Ok(vec![false; commits.len()]);
        };
        let path = self.lineages(tip)?;
        let found = self.by_key(
            concat!(
                "SELECT n, lineage, depth FROM keys CROSS JOIN commits ON hash = key AND ",
                intact!(commits asked "key")
            ),
            commits,
            |row| Ok(lineage_at(&path, row.get(2)?) == Some(row.get(1)?)),
        )?;
        self.prove_absent_where(commits, &found)?;
        let found = found.into_iter().map(|on_path| on_path == Some(true));
        Ok(found.collect())
    }

    fn ancestor_at(&self, tip: &CommitHash, depth: u64) -> Result<Option<CommitHash>> {
        let Some(tip) = self.place(tip)? else {
            return Ok(None);
        };
        let depth = number(depth);
        let Some(lineage) = lineage_at(&self.lineages(tip)?, depth) else {
            return Ok(None);
        };
        let sql = concat!(
            "SELECT hash FROM commits WHERE lineage = ?1 AND depth = ?2 AND ",
            intact!(commits)
        );
        let found = self.first(sql, [lineage, depth], |row| row.get(0))?;
        // There is one at every depth of a path.
        found.map(Some).ok_or_else(|| Error::Damaged {
            detail: format!("the path at depth {depth} is missing"),
        })
    }

    fn by_reach(&self, tips: &[CommitHash]) -> Result<ByReach> {
        self.split_by_reach(tips)
    }

    fn appends_after(
        &self,
        parent: Option<&CommitHash>,
        content: &ContentHash,
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
            concat!(
                "SELECT hash FROM commits WHERE parent IS ?1 AND content = ?2 AND ",
                intact!(commits),
                " ORDER BY id"
            ),
            params![parent, content],
            |row| row.get(0),
        )
    }

    fn each_body(
        &self,
        hashes: &[ContentHash],
        visit: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let sql = concat!(
            "SELECT n, hash, size_bytes, encoding, body
             FROM keys CROSS JOIN contents ON hash = key AND ",
            intact!(contents asked "key"),
            " LEFT JOIN bodies ON content = id"
        );
        let (mut buffer, mut failed) = (Vec::new(), None);
        self.scan(&keyed::<ContentHash>(sql), [blob(hashes)], |row| {
            let hash: ContentHash = row.get(1)?;
            let Some(encoding) = row.get(3)? else {
                return Err(damaged(format!("content {hash}: its body is missing")));
            };
            let stored = row.get_ref(4)?.as_blob()?;
            let packing = self.packing(encoding)?;
            let body = packing.unpack_into(&mut buffer, stored, unsigned(row, 2)?)?;
            failed = visit(unsigned(row, 0)? as usize, canonical(&hash, body)?).err();
            Ok(failed.is_none())
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn content_rows(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ContentRow>>> {
        self.by_key(
            concat!(
                "SELECT n, hash, role, preview, size_bytes, calls, results
                 FROM keys CROSS JOIN contents ON hash = key AND ",
                intact!(contents asked "key")
            ),
            hashes,
            |row| {
                let Speaker { role, attached } = row.get(2)?;
                Ok(ContentRow {
                    hash: row.get(1)?,
                    role,
                    attached,
                    preview: row.get(3)?,
                    size_bytes: unsigned(row, 4)?,
                    calls: row.get(5)?,
                    results: row.get(6)?,
                })
            },
        )
    }

    fn tool_uses(&self, hashes: &[ContentHash]) -> Result<Vec<Option<ToolUses>>> {
        let found = self.by_key(
            concat!(
                "SELECT n, uses FROM keys CROSS JOIN contents ON hash = key AND ",
                intact!(contents asked "key"),
                " CROSS JOIN tool_uses ON content = contents.id AND ",
                intact!(tool_uses)
            ),
            hashes,
            |row| Ok(ToolUses::from_text(row.get_ref(1)?.as_str()?)),
        )?;
        let mut found: Vec<Option<ToolUses>> = found.into_iter().map(Option::flatten).collect();
        // What is missing though its message uses tools is made of the message again.
        let mut open: Vec<usize> = (0..hashes.len())
            .filter(|at| found[*at].is_none())
            .collect();
        let asked: Vec<ContentHash> = open.iter().map(|at| hashes[*at]).collect();
        let rows = self.content_rows(&asked)?;
        let mut uses_tools = rows
            .iter()
            .map(|row| row.as_ref().is_some_and(|row| row.calls + row.results > 0));
        open.retain(|_| uses_tools.next() == Some(true));
        let lost: Vec<ContentHash> = open.iter().map(|at| hashes[*at]).collect();
        for (at, message) in open.into_iter().zip(self.contents(&lost)?) {
            found[at] = message.as_ref().and_then(ToolUses::of);
        }
        Ok(found)
    }

    fn lost(&self, contents: &[ContentHash]) -> Result<Vec<bool>> {
        let found = self.by_key(
            concat!(
                "SELECT n, encoding IS NULL FROM keys CROSS JOIN contents ON hash = key AND ",
                intact!(contents asked "key"),
                " LEFT JOIN bodies ON content = id"
            ),
            contents,
            |row| row.get(1),
        )?;
        Ok(found.into_iter().map(|lost| lost == Some(true)).collect())
    }

    fn content_sizes(&self) -> Result<Vec<ContentSize>> {
        self.sizes_of_contents()
    }

    fn counts(&self, keys: &[CountKey], encoding: Encoding) -> Result<Vec<Option<TokenCount>>> {
        // A mask of zeros stands for none, which its column holds as nothing.
        self.each(
            &keyed::<CountKey>(concat!(
                "SELECT n, tokens, estimated
                 FROM keys CROSS JOIN contents ON hash = substr(key, 1, 32) AND ",
                intact!(contents asked "substr(key, 1, 32)"),
                " CROSS JOIN counts ON content = contents.id AND encoding = ?2
                   AND mask = iif(substr(key, 33) = zeroblob(32), x'', substr(key, 33)) AND ",
                intact!(counts asked "contents.id")
            )),
            keys.len(),
            params![blob(keys), encoding],
            |row| {
                Ok(TokenCount {
                    tokens: unsigned(row, 1)?,
                    estimated: row.get(2)?,
                })
            },
        )
    }

    fn usage(&self, commits: &[CommitHash]) -> Result<Vec<Option<Usage>>> {
        let found = self.by_key(
            concat!(
                "SELECT n, input_tokens, output_tokens
                 FROM keys CROSS JOIN commits ON hash = key AND ",
                intact!(commits asked "key"),
                " LEFT JOIN usage ON commit_id = id AND ",
                intact!(usage)
            ),
            commits,
            |row| {
                if row.get::<_, Option<i64>>(1)?.is_none() {
                    return Ok(None);
                }
                Ok(Some(Usage {
                    input_tokens: unsigned(row, 1)?,
                    output_tokens: unsigned(row, 2)?,
                }))
            },
        )?;
        self.prove_absent_where(commits, &found)?;
        let found: Vec<Option<Usage>> = found.into_iter().map(Option::flatten).collect();
        let without = commits
            .iter()
            .zip(&found)
            .filter(|(_, usage)| usage.is_none());
        let without: Vec<CommitHash> = without.map(|(commit, _)| *commit).collect();
        let beside = keyed::<CommitHash>(concat!(
            "SELECT ",
            neighbours!(usage, "commit_id", "id"),
            " FROM keys CROSS JOIN commits ON hash = key"
        ));
        self.scan(&beside, [blob(&without)], |_| Ok(true))?;
        Ok(found)
    }

    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>> {
        self.newest_checkpoint(tip)
    }

    fn newest_total(&self, tip: &CommitHash, encoding: Encoding) -> Result<Option<(u64, Total)>> {
        Session::newest_total(self, tip, encoding)
    }

    fn derived(&self) -> Result<Derived> {
        let checkpoints = concat!(
            "SELECT commits.hash FROM checkpoints JOIN commits ON commits.id = commit_id
             AND commits.lineage = checkpoints.lineage AND commits.depth = checkpoints.depth WHERE ",
            intact!(checkpoints)
        );
        let counts = concat!(
            "SELECT contents.hash, counts.encoding, mask, tokens, estimated
             FROM counts JOIN contents ON contents.id = content WHERE ",
            intact!(counts)
        );
        let totals = concat!(
            "SELECT commits.hash, encoding, messages, tokens, estimates
             FROM totals JOIN commits ON commits.lineage = totals.lineage
                 AND commits.depth = totals.depth WHERE ",
            intact!(totals)
        );
        Ok(Derived {
            checkpoints: self.all(checkpoints, [], |row| row.get(0))?,
            counts: self.all(counts, [], |row| {
                let mask: Vec<u8> = row.get(2)?;
                let mask = match mask.is_empty() {
                    true => None,
                    false => Some(mask.try_into().map_err(|_| damaged("a mask"))?),
                };
                let key = CountKey {
                    content: row.get(0)?,
                    mask,
                };
                let count = TokenCount {
                    tokens: unsigned(row, 3)?,
                    estimated: row.get(4)?,
                };
                Ok((key, row.get(1)?, count))
            })?,
            totals: self.all(totals, [], |row| {
                let total = Total {
                    messages: unsigned(row, 2)?,
                    tokens: unsigned(row, 3)?,
                    estimates: unsigned(row, 4)?,
                };
                Ok((row.get(0)?, row.get(1)?, total))
            })?,
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

impl ObjectsMut for Session<'_> {
    fn put_message(&self, message: &Sealed<Message>, prepared: Option<Prepared>) -> Result<bool> {
        let (hash, canonical) = (message.hash(), message.canonical());
        if let Some(id) = self.memo.content(&hash) {
            return self.heal(id, message).map(|_| false);
        }
        let (shown, body) = match prepared {
            Some(Prepared { shown, body }) => (shown, Some(body)),
            None => (Shown::of(message), None),
        };
        // Most that is put here is new: whether it is, the index says on the way.
        let id = self.next_id("contents")?;
        let put = self.changed(
            "INSERT INTO contents (id, hash, role, preview, size_bytes, calls, results, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, sealed(?1, ?2, ?3, ?4, ?5, ?6, ?7))
             ON CONFLICT (hash) DO NOTHING",
            params![
                id,
                hash,
                Speaker::from(&**message),
                shown.preview,
                number(canonical.len() as u64),
                number(message.calls().count() as u64),
                number(message.results().count() as u64),
            ],
        )?;
        if put == 0 {
            let id = self.must_content_id(&hash)?;
            return self.heal(id, message).map(|_| false);
        }
        let (encoding, body) = match body {
            Some(body) => self.packed_body(canonical.as_bytes(), body)?,
            None => self.pack_body(canonical.as_bytes())?,
        };
        self.execute(
            "INSERT INTO bodies (content, encoding, body) VALUES (?1, ?2, ?3)",
            params![id, encoding, body.as_ref()],
        )?;
        if let Some(uses) = shown.uses {
            self.execute(
                "INSERT INTO tool_uses (content, uses, seal) VALUES (?1, ?2, sealed(?1, ?2))",
                params![id, uses],
            )?;
        }
        self.memo.saw_content(hash, id);
        self.grew()?;
        Ok(true)
    }

    fn put_commit(&self, commit: &Sealed<Commit>) -> Result<bool> {
        let hash = commit.hash();
        // All that can be refused is refused before the first row is written.
        let parent = commit.parent.as_ref();
        let parent = parent.map(|parent| self.must_place(parent)).transpose()?;
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
                self.execute(
                    "INSERT INTO lineages (id, parent, fork_depth, changes, seal)
                     VALUES (?1, ?2, ?3, 0, sealed(?1, ?2, ?3, 0))",
                    params![id, parent.map(|p| p.lineage), parent.map(|p| p.depth)],
                )?;
                id
            }
        };
        let id = self.next_id("commits")?;
        let put = self.changed(
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
            let sql = concat!(
                "UPDATE lineages
                 SET changes = changes + 1, seal = sealed(id, parent, fork_depth, changes + 1)
                 WHERE id = ?1 AND ",
                intact!(lineages)
            );
            self.execute(sql, [lineage])?;
        }
        self.memo.put(hash, Place { id, lineage, depth });
        Ok(true)
    }

    fn put_counts(&self, counts: &[(CountKey, TokenCount)], encoding: Encoding) -> Result<()> {
        counts.iter().try_for_each(|(key, count)| {
            self.execute(
                "INSERT OR REPLACE INTO counts (content, encoding, mask, tokens, estimated, seal)
                 VALUES (?1, ?2, ?3, ?4, ?5, sealed(?1, ?2, ?3, ?4, ?5))",
                params![
                    self.must_content_id(&key.content)?,
                    encoding,
                    key.mask.as_ref().map_or(&[][..], |mask| mask),
                    number(count.tokens),
                    count.estimated,
                ],
            )
        })
    }

    fn put_usage(&self, commit: &CommitHash, usage: Usage) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO usage (commit_id, input_tokens, output_tokens, seal)
             VALUES (?1, ?2, ?3, sealed(?1, ?2, ?3))",
            params![
                self.must_place(commit)?.id,
                number(usage.input_tokens),
                number(usage.output_tokens),
            ],
        )
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
        let id = self.content_id(hash)?.ok_or_else(gone)?;
        let row = self.content_row(hash)?.ok_or_else(gone)?;
        // Freed pages are overwritten even before the file is rewritten.
        self.first("PRAGMA secure_delete = ON", [], |row| row.get::<_, i64>(0))?;
        let stone = tombstone(row.role);
        let canonical = stone.canonical();
        self.execute(
            "UPDATE contents SET role = ?2, preview = ?3, size_bytes = ?4, calls = 0, results = 0,
                 seal = sealed(id, hash, ?2, ?3, ?4, 0, 0)
             WHERE id = ?1",
            params![
                id,
                Speaker::from(&stone),
                preview(&stone),
                number(canonical.len() as u64)
            ],
        )?;
        let (encoding, body) = pack(canonical.as_bytes());
        self.execute(
            "INSERT OR REPLACE INTO bodies (content, encoding, body) VALUES (?1, ?2, ?3)",
            params![id, encoding, body.as_ref()],
        )?;
        self.forget_pieces_of(id)?;
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

    fn put_tombstone(&self, hash: &ContentHash, role: Role) -> Result<()> {
        if self.content_id(hash)?.is_some() {
            return Ok(());
        }
        let stone = tombstone(role);
        let (id, canonical) = (self.next_id("contents")?, stone.canonical());
        self.execute(
            "INSERT INTO contents (id, hash, role, preview, size_bytes, calls, results, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, sealed(?1, ?2, ?3, ?4, ?5, 0, 0))",
            params![
                id,
                hash,
                Speaker::from(&stone),
                preview(&stone),
                number(canonical.len() as u64),
            ],
        )?;
        let (encoding, body) = pack(canonical.as_bytes());
        self.execute(
            "INSERT INTO bodies (content, encoding, body) VALUES (?1, ?2, ?3)",
            params![id, encoding, body.as_ref()],
        )
    }

    fn drop_unreached(&self) -> Result<Dropped> {
        self.memo.forget();
        self.delete_unreached()
    }
}
