//! Contents, commits and their lineages, counts and usage.

use rusqlite::{Row, params};

use super::codec::{encoding_number, number, pack, role_number, role_of, unpack, unsigned};
use super::engine;
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashBytes, HashPrefix};
use crate::model::{Commit, Encoding, Message, Operation, TokenCount, Usage, preview, tombstone};
use crate::store::{CommitRow, ContentRow, CountKey};

/// Where a commit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) id: i64,
    pub(super) lineage: i64,
    pub(super) depth: i64,
}

const ROW: &str = "SELECT hash, depth, canonical FROM commits";

struct RawCommit {
    hash: CommitHash,
    depth: i64,
    canonical: String,
}

fn raw_commit(row: &Row<'_>) -> rusqlite::Result<RawCommit> {
    Ok(RawCommit {
        hash: row.get(0)?,
        depth: row.get(1)?,
        canonical: row.get(2)?,
    })
}

impl RawCommit {
    fn parse(self) -> Result<CommitRow> {
        let damaged = |detail: String| Error::Damaged { detail };
        Ok(CommitRow {
            hash: self.hash,
            commit: Commit::from_canonical(&self.canonical)
                .map_err(|error| damaged(format!("commit {}: {error}", self.hash)))?,
            depth: u64::try_from(self.depth).map_err(|error| damaged(error.to_string()))?,
        })
    }
}

/// What is wrong with a caller that names an object which isn't here.
pub(super) fn missing(what: &'static str, hash: &impl ToString) -> Error {
    Error::Malformed {
        what,
        detail: format!("{} is not stored", hash.to_string()),
    }
}

pub(super) fn place(session: &Session<'_>, hash: &CommitHash) -> Result<Option<Place>> {
    session.first(
        "SELECT id, lineage, depth FROM commits WHERE hash = ?1",
        [hash],
        |row| {
            Ok(Place {
                id: row.get(0)?,
                lineage: row.get(1)?,
                depth: row.get(2)?,
            })
        },
    )
}

/// The row of a commit that must be here.
pub(super) fn commit_id(session: &Session<'_>, hash: &CommitHash) -> Result<i64> {
    place(session, hash)?
        .map(|place| place.id)
        .ok_or_else(|| missing("commit", hash))
}

pub(super) fn content_id(session: &Session<'_>, hash: &ContentHash) -> Result<Option<i64>> {
    let sql = "SELECT id FROM contents WHERE hash = ?1";
    session.first(sql, [hash], |row| row.get(0))
}

/// The lineage that this one left, and the depth of the last commit they share.
pub(super) fn parent_lineage(session: &Session<'_>, lineage: i64) -> Result<Option<(i64, i64)>> {
    let sql = "SELECT parent, fork_depth FROM lineages WHERE id = ?1 AND parent IS NOT NULL";
    session.first(sql, [lineage], |row| Ok((row.get(0)?, row.get(1)?)))
}

pub(super) fn commit(session: &Session<'_>, hash: &CommitHash) -> Result<Option<CommitRow>> {
    let sql = "SELECT hash, depth, canonical FROM commits WHERE hash = ?1";
    let raw = session.first(sql, [hash], raw_commit)?;
    raw.map(RawCommit::parse).transpose()
}

pub(super) fn commits_with_prefix(
    session: &Session<'_>,
    prefix: &HashPrefix,
    limit: usize,
) -> Result<Vec<CommitRow>> {
    let (low, high) = prefix.range();
    let raw = session.all(
        &format!("{ROW} WHERE hash BETWEEN ?1 AND ?2 ORDER BY hash LIMIT ?3"),
        params![low, high, number(limit as u64)],
        raw_commit,
    )?;
    raw.into_iter().map(RawCommit::parse).collect()
}

pub(super) fn ancestors(
    session: &Session<'_>,
    tip: &CommitHash,
    until: Option<&CommitHash>,
    limit: usize,
) -> Result<Vec<CommitRow>> {
    let mut found = Vec::new();
    let Some(tip) = place(session, tip)? else {
        return Ok(found);
    };
    let mut from = Some((tip.lineage, tip.depth));
    while let Some((lineage, depth)) = from {
        let mut scan = session.prepare(&format!(
            "{ROW} WHERE lineage = ?1 AND depth <= ?2 ORDER BY depth DESC"
        ))?;
        let mut rows = scan.query([lineage, depth]).map_err(engine)?;
        while let Some(row) = rows.next().map_err(engine)? {
            if found.len() == limit {
                return Ok(found);
            }
            let raw = raw_commit(row).map_err(engine)?;
            if until == Some(&raw.hash) {
                return Ok(found);
            }
            found.push(raw.parse()?);
        }
        from = parent_lineage(session, lineage)?;
    }
    Ok(found)
}

/// The lineage in which the path that ends in `tip` holds the commit at `depth`.
fn lineage_at(session: &Session<'_>, tip: Place, depth: i64) -> Result<Option<i64>> {
    if depth > tip.depth {
        return Ok(None);
    }
    let mut lineage = tip.lineage;
    while let Some((parent, fork_depth)) = parent_lineage(session, lineage)? {
        if depth > fork_depth {
            break;
        }
        lineage = parent;
    }
    Ok(Some(lineage))
}

pub(super) fn is_ancestor(
    session: &Session<'_>,
    ancestor: &CommitHash,
    tip: &CommitHash,
) -> Result<bool> {
    let (Some(ancestor), Some(tip)) = (place(session, ancestor)?, place(session, tip)?) else {
        return Ok(false);
    };
    Ok(lineage_at(session, tip, ancestor.depth)? == Some(ancestor.lineage))
}

pub(super) fn ancestor_at(
    session: &Session<'_>,
    tip: &CommitHash,
    depth: u64,
) -> Result<Option<CommitHash>> {
    let Some(tip) = place(session, tip)? else {
        return Ok(None);
    };
    let depth = number(depth);
    let Some(lineage) = lineage_at(session, tip, depth)? else {
        return Ok(None);
    };
    let sql = "SELECT hash FROM commits WHERE lineage = ?1 AND depth = ?2";
    session.first(sql, [lineage, depth], |row| row.get(0))
}

pub(super) fn appends_after(
    session: &Session<'_>,
    parent: Option<&CommitHash>,
    content: &ContentHash,
) -> Result<Vec<CommitHash>> {
    let Some(content) = content_id(session, content)? else {
        return Ok(Vec::new());
    };
    let parent = match parent.map(|hash| place(session, hash)).transpose()? {
        Some(None) => return Ok(Vec::new()),
        Some(Some(place)) => Some(place.id),
        None => None,
    };
    session.all(
        "SELECT hash FROM commits WHERE parent IS ?1 AND content = ?2 ORDER BY id",
        params![parent, content],
        |row| row.get(0),
    )
}

pub(super) fn content(session: &Session<'_>, hash: &ContentHash) -> Result<Option<Message>> {
    let stored = session.first(
        "SELECT size_bytes, encoding, body FROM contents JOIN bodies ON content = id WHERE hash = ?1",
        [hash],
        |row| Ok((unsigned(row, 0)?, row.get(1)?, row.get(2)?)),
    )?;
    let Some((size, encoding, body)) = stored else {
        return Ok(None);
    };
    let damaged = |error: String| Error::Damaged {
        detail: format!("content {hash}: {error}"),
    };
    let body = unpack(encoding, body, size)?;
    let canonical = String::from_utf8(body).map_err(|error| damaged(error.to_string()))?;
    let message =
        Message::from_canonical(&canonical).map_err(|error| damaged(error.to_string()))?;
    Ok(Some(message))
}

pub(super) fn content_rows(
    session: &Session<'_>,
    hashes: &[ContentHash],
) -> Result<Vec<ContentRow>> {
    let mut found = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let row = session.first(
            "SELECT role, preview, size_bytes, calls, results FROM contents WHERE hash = ?1",
            [hash],
            |row| {
                let role: i64 = row.get(0)?;
                let content = |role| -> rusqlite::Result<ContentRow> {
                    Ok(ContentRow {
                        hash: *hash,
                        role,
                        preview: row.get(1)?,
                        size_bytes: unsigned(row, 2)?,
                        calls: row.get(3)?,
                        results: row.get(4)?,
                    })
                };
                role_of(role)
                    .map(content)
                    .map_or_else(|e| Ok(Err(e)), |c| c.map(Ok))
            },
        )?;
        found.extend(row.transpose()?);
    }
    Ok(found)
}

fn mask_bytes(mask: &Option<HashBytes>) -> &[u8] {
    mask.as_ref().map_or(&[], |mask| mask.as_slice())
}

pub(super) fn counts(
    session: &Session<'_>,
    keys: &[CountKey],
    encoding: Encoding,
) -> Result<Vec<Option<TokenCount>>> {
    keys.iter()
        .map(|key| {
            session.first(
                "SELECT tokens, estimated FROM counts
                 WHERE content = (SELECT id FROM contents WHERE hash = ?1)
                   AND encoding = ?2 AND mask = ?3",
                params![
                    key.content,
                    encoding_number(encoding),
                    mask_bytes(&key.mask)
                ],
                |row| {
                    Ok(TokenCount {
                        tokens: unsigned(row, 0)?,
                        estimated: row.get(1)?,
                    })
                },
            )
        })
        .collect()
}

pub(super) fn usage(session: &Session<'_>, commit: &CommitHash) -> Result<Option<Usage>> {
    session.first(
        "SELECT input_tokens, output_tokens FROM usage
         WHERE commit_id = (SELECT id FROM commits WHERE hash = ?1)",
        [commit],
        |row| {
            Ok(Usage {
                input_tokens: unsigned(row, 0)?,
                output_tokens: unsigned(row, 1)?,
            })
        },
    )
}

pub(super) fn put_content(session: &Session<'_>, message: &Message) -> Result<ContentHash> {
    let canonical = message.canonical();
    let hash = ContentHash::of(&canonical);
    if content_id(session, &hash)?.is_some() {
        return Ok(hash);
    }
    let id = session.insert(
        "INSERT INTO contents (hash, role, preview, size_bytes, calls, results)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            hash,
            role_number(message.role),
            preview(message),
            number(canonical.len() as u64),
            number(message.calls().count() as u64),
            number(message.results().count() as u64),
        ],
    )?;
    let (encoding, body) = pack(canonical.as_bytes());
    session.insert(
        "INSERT INTO bodies (content, encoding, body) VALUES (?1, ?2, ?3)",
        params![id, encoding, body.as_ref()],
    )?;
    Ok(hash)
}

pub(super) fn purge_content(session: &Session<'_>, hash: &ContentHash) -> Result<u64> {
    let Some(id) = content_id(session, hash)? else {
        return Err(missing("content to purge", hash));
    };
    let message = content(session, hash)?.ok_or_else(|| missing("content to purge", hash))?;
    // Freed pages are overwritten even before the file is rewritten.
    session.first("PRAGMA secure_delete = ON", [], |row| row.get::<_, i64>(0))?;
    let size = message.canonical().len() as u64;
    let stone = tombstone(message.role);
    let canonical = stone.canonical();
    session.execute(
        "UPDATE contents SET role = ?2, preview = ?3, size_bytes = ?4, calls = 0, results = 0
         WHERE id = ?1",
        params![
            id,
            role_number(stone.role),
            preview(&stone),
            number(canonical.len() as u64)
        ],
    )?;
    let (encoding, body) = pack(canonical.as_bytes());
    session.execute(
        "UPDATE bodies SET encoding = ?2, body = ?3 WHERE content = ?1",
        params![id, encoding, body.as_ref()],
    )?;
    session.execute("DELETE FROM counts WHERE content = ?1", [id])?;
    Ok(size)
}

pub(super) fn put_commit(session: &Session<'_>, commit: &Commit) -> Result<(CommitHash, bool)> {
    let canonical = commit.canonical();
    let hash = CommitHash::of(&canonical);
    if place(session, &hash)?.is_some() {
        return Ok((hash, false));
    }
    // All that can be refused is refused before the first row is written.
    let parent = match &commit.parent {
        Some(parent) => {
            let found = place(session, parent)?;
            Some(found.ok_or_else(|| missing("parent of a commit", parent))?)
        }
        None => None,
    };
    let mut contents = Vec::new();
    for content in commit.operation.contents() {
        let id = content_id(session, &content)?;
        contents.push(id.ok_or_else(|| missing("content of a commit", &content))?);
    }
    let appended = match commit.operation {
        Operation::Append { .. } => contents.first().copied(),
        _ => None,
    };
    let depth = parent.map_or(0, |parent| parent.depth + 1);
    let lineage = match parent {
        None => session.insert(
            "INSERT INTO lineages (parent, fork_depth) VALUES (NULL, NULL)",
            [],
        )?,
        Some(parent) => {
            let sql = "SELECT 1 FROM commits WHERE lineage = ?1 AND depth = ?2";
            let taken = session.first(sql, [parent.lineage, depth], |_| Ok(()))?;
            match taken {
                None => parent.lineage,
                Some(()) => session.insert(
                    "INSERT INTO lineages (parent, fork_depth) VALUES (?1, ?2)",
                    [parent.lineage, parent.depth],
                )?,
            }
        }
    };
    session.insert(
        "INSERT INTO commits (hash, lineage, depth, parent, content, canonical)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            hash,
            lineage,
            depth,
            parent.map(|p| p.id),
            appended,
            canonical
        ],
    )?;
    Ok((hash, true))
}

pub(super) fn put_count(
    session: &Session<'_>,
    key: CountKey,
    encoding: Encoding,
    count: TokenCount,
) -> Result<()> {
    let content = content_id(session, &key.content)?;
    let content = content.ok_or_else(|| missing("content of a count", &key.content))?;
    session.execute(
        "INSERT OR REPLACE INTO counts (content, encoding, mask, tokens, estimated)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            content,
            encoding_number(encoding),
            mask_bytes(&key.mask),
            number(count.tokens),
            count.estimated,
        ],
    )?;
    Ok(())
}

pub(super) fn put_usage(session: &Session<'_>, commit: &CommitHash, usage: Usage) -> Result<()> {
    session.execute(
        "INSERT OR REPLACE INTO usage (commit_id, input_tokens, output_tokens) VALUES (?1, ?2, ?3)",
        params![
            commit_id(session, commit)?,
            number(usage.input_tokens),
            number(usage.output_tokens),
        ],
    )?;
    Ok(())
}
