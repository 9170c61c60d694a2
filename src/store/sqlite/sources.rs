//! What imports keep: the bytes of sources, the records behind commits, sessions and resumes.

use rusqlite::{Row, params};

use super::codec::{number, pack, pack_spans, unpack, unpack_spans, unsigned};
use super::engine;
use super::objects::{commit_id, missing};
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashBytes, fingerprint};
use crate::model::{RefName, Span};
use crate::store::{ResumeRow, SessionRow, SourceRow};

/// A block of a source, unpacked.
pub(super) struct Block {
    source: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn holds(&self, source: u64, at: u64) -> bool {
        self.source == source && self.start <= at && at - self.start < self.bytes.len() as u64
    }
}

struct RawSource {
    session: String,
    row: SourceRow,
}

fn raw_source(row: &Row<'_>) -> rusqlite::Result<RawSource> {
    Ok(RawSource {
        session: row.get(1)?,
        row: SourceRow {
            id: unsigned(row, 0)?,
            session: RefName::head(),
            format: row.get(2)?,
            size_bytes: unsigned(row, 3)?,
            fingerprint: row.get(4)?,
        },
    })
}

impl RawSource {
    fn parse(self) -> Result<SourceRow> {
        let session = self
            .session
            .parse()
            .map_err(|error: Error| Error::Damaged {
                detail: error.to_string(),
            })?;
        Ok(SourceRow {
            session,
            ..self.row
        })
    }
}

pub(super) fn sources(session: &Session<'_>, of: &RefName) -> Result<Vec<SourceRow>> {
    let raw = session.all(
        "SELECT id, session, format, size_bytes, fingerprint FROM sources
         WHERE session = ?1 ORDER BY id DESC",
        [of.as_str()],
        raw_source,
    )?;
    raw.into_iter().map(RawSource::parse).collect()
}

pub(super) fn source(session: &Session<'_>, id: u64) -> Result<Option<SourceRow>> {
    let sql = "SELECT id, session, format, size_bytes, fingerprint FROM sources WHERE id = ?1";
    let raw = session.first(sql, [number(id)], raw_source)?;
    raw.map(RawSource::parse).transpose()
}

pub(super) fn purge_source(session: &Session<'_>, id: u64) -> Result<()> {
    // Blocks and records go with their source.
    session.execute("DELETE FROM sources WHERE id = ?1", [number(id)])?;
    session.block.replace(None);
    Ok(())
}

pub(super) fn source_bytes(session: &Session<'_>, id: u64, span: Span) -> Result<Vec<u8>> {
    let mut found = Vec::new();
    let end = span.offset.saturating_add(span.len);
    let mut at = span.offset;
    while at < end {
        let mut last = session.block.borrow_mut();
        if !last.as_ref().is_some_and(|block| block.holds(id, at)) {
            *last = load_block(session, id, at)?.filter(|block| block.holds(id, at));
        }
        let Some(block) = last.as_ref() else {
            break;
        };
        // Both ends lie within the block, so they fit what indexes memory.
        let from = (at - block.start) as usize;
        let to = (end - block.start).min(block.bytes.len() as u64) as usize;
        found.extend_from_slice(&block.bytes[from..to]);
        at = block.start + to as u64;
    }
    Ok(found)
}

/// The last block that begins at or before `at`.
fn load_block(session: &Session<'_>, source: u64, at: u64) -> Result<Option<Block>> {
    let stored = session.first(
        "SELECT start, size_bytes, encoding, data FROM source_blocks
         WHERE source = ?1 AND start <= ?2 ORDER BY start DESC LIMIT 1",
        [number(source), number(at)],
        |row| {
            Ok((
                unsigned(row, 0)?,
                unsigned(row, 1)?,
                row.get(2)?,
                row.get(3)?,
            ))
        },
    )?;
    let Some((start, size, encoding, data)) = stored else {
        return Ok(None);
    };
    Ok(Some(Block {
        source,
        start,
        bytes: unpack(encoding, data, size)?,
    }))
}

pub(super) fn records(session: &Session<'_>, commit: &CommitHash) -> Result<Vec<(u64, Vec<Span>)>> {
    let mut statement = session.prepare(
        "SELECT source, spans FROM commit_records
         WHERE commit_id = (SELECT id FROM commits WHERE hash = ?1) ORDER BY source DESC",
    )?;
    let mut rows = statement.query([commit]).map_err(engine)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(engine)? {
        let spans: Vec<u8> = row.get(1).map_err(engine)?;
        found.push((unsigned(row, 0).map_err(engine)?, unpack_spans(&spans)?));
    }
    Ok(found)
}

pub(super) fn session_row(session: &Session<'_>, name: &RefName) -> Result<Option<SessionRow>> {
    let found = session.first(
        "SELECT title, cwd, absent FROM sessions WHERE name = ?1",
        [name.as_str()],
        |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)),
    )?;
    let Some((title, cwd, absent)) = found else {
        return Ok(None);
    };
    let absent = serde_json::from_str(&absent).map_err(|error| Error::Damaged {
        detail: format!("session {name}: {error}"),
    })?;
    Ok(Some(SessionRow { title, cwd, absent }))
}

pub(super) fn resumed(session: &Session<'_>, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
    session.first(
        "SELECT commits.hash, messages, digest FROM resumes JOIN commits ON commits.id = commit_id
         WHERE tool = ?1 AND session = ?2",
        [tool, id],
        |row| {
            Ok(ResumeRow {
                commit: row.get(0)?,
                messages: unsigned(row, 1)?,
                digest: row.get(2)?,
            })
        },
    )
}

pub(super) fn put_source(session: &Session<'_>, of: &RefName, format: &str) -> Result<u64> {
    let id = session.insert(
        "INSERT INTO sources (session, format, size_bytes, fingerprint) VALUES (?1, ?2, 0, ?3)",
        params![of.as_str(), format, fingerprint(b"")],
    )?;
    u64::try_from(id).map_err(Error::store)
}

pub(super) fn append_source(
    session: &Session<'_>,
    id: u64,
    bytes: &[u8],
    fingerprint: &HashBytes,
) -> Result<()> {
    let row = source(session, id)?.ok_or_else(|| missing("source", &id))?;
    if !bytes.is_empty() {
        let (encoding, data) = pack(bytes);
        session.insert(
            "INSERT INTO source_blocks (source, start, size_bytes, encoding, data)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                number(id),
                number(row.size_bytes),
                number(bytes.len() as u64),
                encoding,
                data.as_ref(),
            ],
        )?;
    }
    session.execute(
        "UPDATE sources SET size_bytes = ?2, fingerprint = ?3 WHERE id = ?1",
        params![
            number(id),
            number(row.size_bytes + bytes.len() as u64),
            fingerprint,
        ],
    )?;
    Ok(())
}

pub(super) fn put_records(
    session: &Session<'_>,
    commit: &CommitHash,
    of: u64,
    spans: &[Span],
) -> Result<()> {
    let commit = commit_id(session, commit)?;
    source(session, of)?.ok_or_else(|| missing("source", &of))?;
    session.execute(
        "INSERT OR REPLACE INTO commit_records (commit_id, source, spans) VALUES (?1, ?2, ?3)",
        params![commit, number(of), pack_spans(spans)],
    )?;
    Ok(())
}

pub(super) fn put_session(session: &Session<'_>, name: &RefName, row: &SessionRow) -> Result<()> {
    let absent = serde_json::to_string(&row.absent).map_err(Error::store)?;
    session.execute(
        "INSERT OR REPLACE INTO sessions (name, title, cwd, absent) VALUES (?1, ?2, ?3, ?4)",
        params![name.as_str(), row.title, row.cwd, absent],
    )?;
    Ok(())
}

pub(super) fn put_resumed(
    session: &Session<'_>,
    tool: &str,
    id: &str,
    resume: &ResumeRow,
) -> Result<()> {
    session.execute(
        "INSERT OR REPLACE INTO resumes (tool, session, commit_id, messages, digest)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            tool,
            id,
            commit_id(session, &resume.commit)?,
            number(resume.messages),
            resume.digest,
        ],
    )?;
    Ok(())
}
