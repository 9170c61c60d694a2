//! What imports kept: the files' bytes, which records are behind which commit, sessions, resumes.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{codec, objects, wrap};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashBytes};
use crate::interop::{Span, Usage};
use crate::model::RefName;
use crate::store::{ResumeRow, SessionRow, SourceRow};

type StoredSource = (i64, String, String, i64, HashBytes);

fn stored_source(row: &Row<'_>) -> rusqlite::Result<StoredSource> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
    ))
}

fn read_source(stored: StoredSource) -> Result<SourceRow> {
    let (id, session, format, size_bytes, fingerprint) = stored;
    Ok(SourceRow {
        id: id as u64,
        session: session.parse()?,
        format,
        size_bytes: size_bytes as u64,
        fingerprint,
    })
}

pub(super) fn sources(db: &Connection, session: &RefName) -> Result<Vec<SourceRow>> {
    let mut query = db
        .prepare_cached(
            "SELECT id, session, format, size_bytes, fingerprint FROM sources
             WHERE session = ?1 ORDER BY id DESC",
        )
        .map_err(wrap)?;
    let rows = query
        .query_map([session.as_str()], stored_source)
        .map_err(wrap)?;
    rows.map(|row| read_source(row.map_err(wrap)?)).collect()
}

pub(super) fn source(db: &Connection, id: u64) -> Result<Option<SourceRow>> {
    db.prepare_cached(
        "SELECT id, session, format, size_bytes, fingerprint FROM sources WHERE id = ?1",
    )
    .and_then(|mut query| query.query_row([id as i64], stored_source).optional())
    .map_err(wrap)?
    .map(read_source)
    .transpose()
}

pub(super) fn source_bytes(db: &Connection, id: u64, span: Span) -> Result<Vec<u8>> {
    let mut query = db
        .prepare_cached(
            "SELECT offset, size_bytes, body FROM source_blocks
             WHERE source = ?1 AND offset < ?3
               AND offset >= coalesce((SELECT max(offset) FROM source_blocks
                                       WHERE source = ?1 AND offset <= ?2), 0)
             ORDER BY offset",
        )
        .map_err(wrap)?;
    let end = span.offset.saturating_add(span.len);
    let rows = query
        .query_map(params![id as i64, span.offset as i64, end as i64], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, Vec<u8>>(2)?,
            ))
        })
        .map_err(wrap)?;
    let mut bytes = Vec::new();
    for row in rows {
        let (offset, size_bytes, body) = row.map_err(wrap)?;
        let block = codec::unpack_block(&body, size_bytes)?;
        let within = |at: u64| (at.saturating_sub(offset as u64) as usize).min(block.len());
        bytes.extend_from_slice(&block[within(span.offset)..within(end)]);
    }
    Ok(bytes)
}

pub(super) fn put_source(db: &Connection, session: &RefName, format: &str) -> Result<u64> {
    let empty = crate::hash::fingerprint(b"");
    db.prepare_cached(
        "INSERT INTO sources (session, format, size_bytes, fingerprint) VALUES (?1, ?2, 0, ?3)",
    )
    .and_then(|mut insert| insert.execute(params![session.as_str(), format, empty]))
    .map_err(wrap)?;
    Ok(db.last_insert_rowid() as u64)
}

pub(super) fn append_source(
    db: &Connection,
    id: u64,
    bytes: &[u8],
    fingerprint: &HashBytes,
) -> Result<()> {
    let known = source(db, id)?.ok_or_else(|| Error::NotOnPath {
        entry: format!("source {id}"),
    })?;
    if bytes.is_empty() {
        return Ok(());
    }
    db.prepare_cached(
        "INSERT INTO source_blocks (source, offset, size_bytes, body) VALUES (?1, ?2, ?3, ?4)",
    )
    .and_then(|mut insert| {
        let body = codec::pack_block(bytes)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        insert.execute(params![
            id as i64,
            known.size_bytes as i64,
            bytes.len() as i64,
            body
        ])
    })
    .map_err(wrap)?;
    let size = known.size_bytes + bytes.len() as u64;
    db.prepare_cached("UPDATE sources SET size_bytes = ?2, fingerprint = ?3 WHERE id = ?1")
        .and_then(|mut update| update.execute(params![id as i64, size as i64, fingerprint]))
        .map_err(wrap)?;
    Ok(())
}

pub(super) fn records(db: &Connection, commit: &CommitHash) -> Result<Vec<(u64, Vec<Span>)>> {
    let Some(place) = objects::place(db, commit)? else {
        return Ok(Vec::new());
    };
    let mut query = db
        .prepare_cached(
            "SELECT source, spans FROM records WHERE commit_id = ?1 ORDER BY source DESC",
        )
        .map_err(wrap)?;
    let rows = query
        .query_map([place.id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .map_err(wrap)?;
    rows.map(|row| {
        let (source, bytes) = row.map_err(wrap)?;
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let spans = bytes
            .chunks_exact(16)
            .map(|pair| Span {
                offset: number(&pair[..8]),
                len: number(&pair[8..]),
            })
            .collect();
        Ok((source as u64, spans))
    })
    .collect()
}

pub(super) fn put_records(
    db: &Connection,
    commit: &CommitHash,
    source: u64,
    spans: &[Span],
) -> Result<()> {
    let place = objects::known(db, commit)?;
    let bytes: Vec<u8> = spans
        .iter()
        .flat_map(|span| [span.offset.to_le_bytes(), span.len.to_le_bytes()])
        .flatten()
        .collect();
    db.prepare_cached(
        "INSERT OR REPLACE INTO records (commit_id, source, spans) VALUES (?1, ?2, ?3)",
    )
    .and_then(|mut insert| insert.execute(params![place.id, source as i64, bytes]))
    .map_err(wrap)?;
    Ok(())
}

pub(super) fn usage(db: &Connection, commit: &CommitHash) -> Result<Option<Usage>> {
    db.prepare_cached(
        "SELECT input_tokens, output_tokens FROM usages JOIN commits ON id = commit_id
         WHERE hash = ?1",
    )
    .and_then(|mut query| {
        query
            .query_row([commit.as_bytes()], |row| {
                let (input, output): (i64, i64) = (row.get(0)?, row.get(1)?);
                Ok(Usage {
                    input_tokens: input as u64,
                    output_tokens: output as u64,
                })
            })
            .optional()
    })
    .map_err(wrap)
}

pub(super) fn put_usage(db: &Connection, commit: &CommitHash, usage: Usage) -> Result<()> {
    let place = objects::known(db, commit)?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO usages (commit_id, input_tokens, output_tokens) VALUES (?1, ?2, ?3)",
    )
    .and_then(|mut insert| {
        insert.execute(params![place.id, usage.input_tokens as i64, usage.output_tokens as i64])
    })
    .map_err(wrap)?;
    Ok(())
}

pub(super) fn session(db: &Connection, name: &RefName) -> Result<Option<SessionRow>> {
    db.prepare_cached("SELECT title, cwd, absent FROM sessions WHERE name = ?1")
        .and_then(|mut query| {
            query
                .query_row([name.as_str()], |row| {
                    let absent: String = row.get(2)?;
                    Ok(SessionRow {
                        title: row.get(0)?,
                        cwd: row.get(1)?,
                        absent: absent.lines().map(str::to_owned).collect(),
                    })
                })
                .optional()
        })
        .map_err(wrap)
}

pub(super) fn put_session(db: &Connection, name: &RefName, session: &SessionRow) -> Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO sessions (name, title, cwd, absent) VALUES (?1, ?2, ?3, ?4)",
    )
    .and_then(|mut insert| {
        let absent = session.absent.join("\n");
        insert.execute(params![name.as_str(), session.title, session.cwd, absent])
    })
    .map_err(wrap)?;
    Ok(())
}

pub(super) fn resumed(db: &Connection, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
    db.prepare_cached(
        "SELECT hash, messages, digest FROM resumes JOIN commits ON commits.id = commit_id
         WHERE tool = ?1 AND resumes.id = ?2",
    )
    .and_then(|mut query| {
        query
            .query_row([tool, id], |row| {
                let messages: i64 = row.get(1)?;
                Ok(ResumeRow {
                    commit: objects::commit_hash(row, 0)?,
                    messages: messages as u64,
                    digest: row.get(2)?,
                })
            })
            .optional()
    })
    .map_err(wrap)
}

pub(super) fn put_resumed(db: &Connection, tool: &str, id: &str, resume: &ResumeRow) -> Result<()> {
    let place = objects::known(db, &resume.commit)?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO resumes (tool, id, commit_id, messages, digest)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .and_then(|mut insert| {
        insert.execute(params![
            tool,
            id,
            place.id,
            resume.messages as i64,
            resume.digest
        ])
    })
    .map_err(wrap)?;
    Ok(())
}
