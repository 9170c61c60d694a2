//! Contents, commits, lineages, counts.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{codec, wrap};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashPrefix};
use crate::model::{Commit, Encoding, Message, Operation, Role, TokenCount};
use crate::store::{CommitRow, ContentRow, CountKey, preview};

/// Where a commit stands: row, lineage, depth.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) id: i64,
    pub(super) lineage: i64,
    pub(super) depth: i64,
}

pub(super) fn place(db: &Connection, hash: &CommitHash) -> Result<Option<Place>> {
    db.prepare_cached("SELECT id, lineage, depth FROM commits WHERE hash = ?1")
        .and_then(|mut query| {
            query
                .query_row([hash.as_bytes()], |row| {
                    Ok(Place {
                        id: row.get(0)?,
                        lineage: row.get(1)?,
                        depth: row.get(2)?,
                    })
                })
                .optional()
        })
        .map_err(wrap)
}

/// The commit's place; an error if it isn't here.
pub(super) fn known(db: &Connection, hash: &CommitHash) -> Result<Place> {
    place(db, hash)?.ok_or_else(|| Error::UnknownRevision {
        text: hash.to_string(),
        nearest: None,
    })
}

pub(super) fn commit_hash(row: &Row<'_>, column: usize) -> rusqlite::Result<CommitHash> {
    Ok(CommitHash::from_bytes(row.get(column)?))
}

const COLUMNS: &str = "hash, canonical, depth";

fn commit_row(row: &Row<'_>) -> rusqlite::Result<(CommitHash, String, i64)> {
    Ok((commit_hash(row, 0)?, row.get(1)?, row.get(2)?))
}

fn read(stored: (CommitHash, String, i64)) -> Result<CommitRow> {
    let (hash, canonical, depth) = stored;
    let damaged = |error: Error| Error::Damaged {
        detail: format!("commit {}: {error}", hash.short()),
    };
    let commit = Commit::from_canonical(&canonical).map_err(damaged)?;
    Ok(CommitRow {
        hash,
        commit,
        depth: depth as u64,
    })
}

pub(super) fn commit(db: &Connection, hash: &CommitHash) -> Result<Option<CommitRow>> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM commits WHERE hash = ?1"))
        .and_then(|mut query| query.query_row([hash.as_bytes()], commit_row).optional())
        .map_err(wrap)?
        .map(read)
        .transpose()
}

pub(super) fn commits_with_prefix(
    db: &Connection,
    prefix: &HashPrefix,
    limit: usize,
) -> Result<Vec<CommitRow>> {
    let (low, high) = prefix.range();
    let sql = format!(
        "SELECT {COLUMNS} FROM commits WHERE hash BETWEEN ?1 AND ?2 ORDER BY hash LIMIT ?3"
    );
    let mut query = db.prepare_cached(&sql).map_err(wrap)?;
    let rows = query
        .query_map(params![low, high, sql_limit(limit)], commit_row)
        .map_err(wrap)?;
    rows.map(|row| read(row.map_err(wrap)?)).collect()
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The stretches of lineages that lead to a place, newest first: lineage and its last depth.
pub(super) fn stretches(db: &Connection, tip: Place) -> Result<Vec<(i64, i64)>> {
    let mut found = vec![(tip.lineage, tip.depth)];
    let mut query = db
        .prepare_cached("SELECT parent, fork_depth FROM lineages WHERE id = ?1")
        .map_err(wrap)?;
    let mut lineage = tip.lineage;
    loop {
        let next: (Option<i64>, Option<i64>) = query
            .query_row([lineage], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(wrap)?;
        let (Some(parent), Some(depth)) = next else {
            return Ok(found);
        };
        found.push((parent, depth));
        lineage = parent;
    }
}

pub(super) fn ancestors(
    db: &Connection,
    tip: &CommitHash,
    until: Option<&CommitHash>,
    limit: usize,
) -> Result<Vec<CommitRow>> {
    let Some(tip) = place(db, tip)? else {
        return Ok(Vec::new());
    };
    let until = until.map(|hash| place(db, hash)).transpose()?.flatten();
    let sql = format!(
        "SELECT {COLUMNS} FROM commits WHERE lineage = ?1 AND depth <= ?2 AND depth > ?3
         ORDER BY depth DESC LIMIT ?4"
    );
    let mut query = db.prepare_cached(&sql).map_err(wrap)?;
    let mut rows = Vec::new();
    for (lineage, depth) in stretches(db, tip)? {
        let stop = until.filter(|until| until.lineage == lineage && until.depth <= depth);
        let floor = stop.map_or(-1, |stop| stop.depth);
        let left = sql_limit(limit - rows.len());
        let found = query
            .query_map(params![lineage, depth, floor, left], commit_row)
            .map_err(wrap)?;
        for row in found {
            rows.push(read(row.map_err(wrap)?)?);
        }
        if stop.is_some() || rows.len() >= limit {
            break;
        }
    }
    Ok(rows)
}

pub(super) fn is_ancestor(
    db: &Connection,
    ancestor: &CommitHash,
    tip: &CommitHash,
) -> Result<bool> {
    let (Some(ancestor), Some(tip)) = (place(db, ancestor)?, place(db, tip)?) else {
        return Ok(false);
    };
    let mut stretches = stretches(db, tip)?.into_iter();
    Ok(stretches.any(|(lineage, last)| ancestor.lineage == lineage && ancestor.depth <= last))
}

pub(super) fn ancestor_at(
    db: &Connection,
    tip: &CommitHash,
    depth: u64,
) -> Result<Option<CommitHash>> {
    let Some(tip) = place(db, tip)? else {
        return Ok(None);
    };
    let Ok(depth) = i64::try_from(depth) else {
        return Ok(None);
    };
    if depth > tip.depth {
        return Ok(None);
    }
    let stretches = stretches(db, tip)?;
    // The last stretch, walking back, that still reaches this deep.
    let lineage = stretches
        .iter()
        .take_while(|(_, last)| *last >= depth)
        .last();
    let Some((lineage, _)) = lineage else {
        return Ok(None);
    };
    db.prepare_cached("SELECT hash FROM commits WHERE lineage = ?1 AND depth = ?2")
        .and_then(|mut query| {
            query
                .query_row(params![lineage, depth], |row| commit_hash(row, 0))
                .optional()
        })
        .map_err(wrap)
}

pub(super) fn appends_after(
    db: &Connection,
    parent: Option<&CommitHash>,
    content: &ContentHash,
) -> Result<Vec<CommitHash>> {
    let parent = match parent {
        Some(parent) => Some(known(db, parent)?.id),
        None => None,
    };
    let Some(content) = content_id(db, content)? else {
        return Ok(Vec::new());
    };
    let mut query = db
        .prepare_cached("SELECT hash FROM commits WHERE parent IS ?1 AND content = ?2 ORDER BY id")
        .map_err(wrap)?;
    let rows = query
        .query_map(params![parent, content], |row| commit_hash(row, 0))
        .map_err(wrap)?;
    rows.collect::<Result<_, _>>().map_err(wrap)
}

pub(super) fn content_id(db: &Connection, hash: &ContentHash) -> Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM contents WHERE hash = ?1")
        .and_then(|mut query| {
            query
                .query_row([hash.as_bytes()], |row| row.get(0))
                .optional()
        })
        .map_err(wrap)
}

pub(super) fn content(db: &Connection, hash: &ContentHash) -> Result<Option<Message>> {
    let found: Option<(i64, Vec<u8>, i64)> = db
        .prepare_cached(
            "SELECT form, body, size_bytes FROM contents JOIN bodies ON content = id WHERE hash = ?1",
        )
        .and_then(|mut query| {
            query
                .query_row([hash.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()
        })
        .map_err(wrap)?;
    let Some((form, body, size_bytes)) = found else {
        return Ok(None);
    };
    let damaged = |detail: String| Error::Damaged {
        detail: format!("content {}: {detail}", hash.short()),
    };
    let body = codec::unpack_body(form, body, size_bytes).map_err(|e| damaged(e.to_string()))?;
    let text = String::from_utf8(body).map_err(|error| damaged(error.to_string()))?;
    Message::from_canonical(&text)
        .map(Some)
        .map_err(|error| damaged(error.to_string()))
}

pub(super) fn content_rows(db: &Connection, hashes: &[ContentHash]) -> Result<Vec<ContentRow>> {
    let mut query = db
        .prepare_cached(
            "SELECT role, preview, size_bytes, calls, results FROM contents WHERE hash = ?1",
        )
        .map_err(wrap)?;
    let mut rows = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let found: Option<(String, String, i64, u32, u32)> = query
            .query_row([hash.as_bytes()], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            })
            .optional()
            .map_err(wrap)?;
        if let Some((role, preview, size_bytes, calls, results)) = found {
            let role: Role = role.parse()?;
            let size_bytes = size_bytes as u64;
            rows.push(ContentRow {
                hash: *hash,
                role,
                preview,
                size_bytes,
                calls,
                results,
            });
        }
    }
    Ok(rows)
}

pub(super) fn counts(
    db: &Connection,
    keys: &[CountKey],
    encoding: Encoding,
) -> Result<Vec<Option<TokenCount>>> {
    let mut query = db
        .prepare_cached(
            "SELECT tokens, estimated FROM contents JOIN counts ON content = id
             WHERE hash = ?1 AND mask = ?2 AND encoding = ?3",
        )
        .map_err(wrap)?;
    keys.iter()
        .map(|key| {
            let mask = mask_bytes(key);
            query
                .query_row(
                    params![key.content.as_bytes(), mask, encoding.as_str()],
                    |row| {
                        let tokens: i64 = row.get(0)?;
                        Ok(TokenCount {
                            tokens: tokens as u64,
                            estimated: row.get(1)?,
                        })
                    },
                )
                .optional()
                .map_err(wrap)
        })
        .collect()
}

fn mask_bytes(key: &CountKey) -> &[u8] {
    key.mask.as_ref().map_or(&[], |mask| mask.as_slice())
}

pub(super) fn put_content(db: &Connection, message: &Message) -> Result<ContentHash> {
    let canonical = message.canonical();
    let hash = ContentHash::of(&canonical);
    if content_id(db, &hash)?.is_some() {
        return Ok(hash);
    }
    db.prepare_cached(
        "INSERT INTO contents (hash, role, preview, size_bytes, calls, results)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .and_then(|mut insert| {
        insert.execute(params![
            hash.as_bytes(),
            message.role.as_str(),
            preview(message),
            canonical.len() as i64,
            message.calls().count() as i64,
            message.results().count() as i64,
        ])
    })
    .map_err(wrap)?;
    let id = db.last_insert_rowid();
    let (form, body) = codec::pack_body(canonical.as_bytes());
    db.prepare_cached("INSERT INTO bodies (content, form, body) VALUES (?1, ?2, ?3)")
        .and_then(|mut insert| insert.execute(params![id, form, body.as_ref()]))
        .map_err(wrap)?;
    Ok(hash)
}

pub(super) fn put_commit(db: &Connection, commit: &Commit) -> Result<(CommitHash, bool)> {
    let canonical = commit.canonical();
    let hash = CommitHash::of(&canonical);
    if place(db, &hash)?.is_some() {
        return Ok((hash, false));
    }
    for content in commit.operation.contents() {
        if content_id(db, &content)?.is_none() {
            return Err(Error::NotOnPath {
                entry: format!("content {}", content.short()),
            });
        }
    }
    let parent = match &commit.parent {
        Some(parent) => Some(place(db, parent)?.ok_or_else(|| Error::NotOnPath {
            entry: parent.to_string(),
        })?),
        None => None,
    };
    let depth = parent.map_or(0, |parent| parent.depth + 1);
    let lineage = match parent {
        Some(parent) if !taken(db, parent.lineage, depth)? => parent.lineage,
        parent => {
            db.prepare_cached("INSERT INTO lineages (parent, fork_depth) VALUES (?1, ?2)")
                .and_then(|mut insert| {
                    insert.execute(params![parent.map(|p| p.lineage), parent.map(|p| p.depth)])
                })
                .map_err(wrap)?;
            db.last_insert_rowid()
        }
    };
    let content = match &commit.operation {
        Operation::Append { content } => content_id(db, content)?,
        _ => None,
    };
    db.prepare_cached(
        "INSERT INTO commits (hash, parent, lineage, depth, content, canonical)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .and_then(|mut insert| {
        let parent = parent.map(|parent| parent.id);
        insert.execute(params![
            hash.as_bytes(),
            parent,
            lineage,
            depth,
            content,
            canonical
        ])
    })
    .map_err(wrap)?;
    Ok((hash, true))
}

fn taken(db: &Connection, lineage: i64, depth: i64) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM commits WHERE lineage = ?1 AND depth = ?2")
        .and_then(|mut query| query.exists(params![lineage, depth]))
        .map_err(wrap)
}

pub(super) fn put_count(
    db: &Connection,
    key: CountKey,
    encoding: Encoding,
    count: TokenCount,
) -> Result<()> {
    let changed = db
        .prepare_cached(
            "INSERT OR REPLACE INTO counts (content, mask, encoding, tokens, estimated)
             SELECT id, ?2, ?3, ?4, ?5 FROM contents WHERE hash = ?1",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                key.content.as_bytes(),
                mask_bytes(&key),
                encoding.as_str(),
                count.tokens as i64,
                count.estimated,
            ])
        })
        .map_err(wrap)?;
    if changed == 0 {
        return Err(Error::NotOnPath {
            entry: format!("content {}", key.content.short()),
        });
    }
    Ok(())
}
