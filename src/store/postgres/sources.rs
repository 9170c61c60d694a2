//! What imports keep: the bytes of sources, the records behind commits, sessions and resumes.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::columns::{damaged, get, keys};
use super::driver::Asked;
use super::link::asked;
use super::session::{Session, place_of};
use super::usual::{ANY, ANY_INJECTED, remembered_asked};
use crate::error::Result;
use crate::hash::{CommitHash, HashBytes, fingerprint};
use crate::model::{RefName, Span};
use crate::store::codec::{number, pack_spans, unpack_spans};
use crate::store::columns::Columns;
use crate::store::compression::{ZSTD, packed, unpack};
use crate::store::lineage::Lineages;
use crate::store::sources::{Block, bytes_of, must_be_newest, must_source, source_as_it_was};
use crate::store::tables::FOLLOWED;
use crate::store::{
    PressedBlock, Records, ResumeRow, SourceRow, SourceSize, SourceState, Sources, SourcesMut,
    SourcesOf, rows,
};

/// All sources, the newest first.
const ALL: &str =
    "SELECT id, session, format, size_bytes, fingerprint FROM sources ORDER BY id DESC";

pub(super) fn all_sources() -> Result<Asked> {
    asked(ALL, &[])
}

/// The records behind some commits.
pub(super) const RECORDS: &str = "SELECT n, source, spans
     FROM unnest($1) WITH ORDINALITY AS keys (key, n)
     JOIN commits ON hash = key JOIN commit_records ON commit_id = id ORDER BY n, source DESC";

/// Tells them, each with the place of its commit.
pub(super) fn each_record(
    rows: &[Row],
    mut tell: impl FnMut(usize, (u64, Vec<Span>)),
) -> Result<()> {
    for row in rows {
        let spans = unpack_spans(get(row, 2)?)?;
        tell(place_of(row)?, (row.unsigned(1)?, spans));
    }
    Ok(())
}

/// The last block of a source that begins at or before a place.
fn block_asked(source: u64, at: u64) -> Result<Asked> {
    let sql = "SELECT start, size_bytes, encoding, data FROM source_blocks
         WHERE source = $1 AND start <= $2 ORDER BY start DESC LIMIT 1";
    asked(sql, &[&number(source), &number(at)])
}

impl Session<'_> {
    /// The files of these sessions, where all files and sources are known already.
    fn told_files(&self, of: Option<&[RefName]>) -> Result<Option<Vec<(String, RefName)>>> {
        let (files, sources) = (remembered_asked(&FOLLOWED, None)?, self.all_told(ALL)?);
        let (Some(sources), Some(files)) = (sources, self.told(&files)) else {
            return Ok(None);
        };
        let sources = sources
            .iter()
            .map(|row| Ok((row.unsigned(0)?, get(row, 1)?)));
        let sources: HashMap<u64, RefName> = sources.collect::<Result<_>>()?;
        let mut found: Vec<(String, RefName)> = Vec::new();
        for file in files.iter() {
            let session = sources.get(&file.unsigned(1)?);
            let session = session.filter(|name| of.is_none_or(|of| of.contains(name)));
            found.extend(
                session
                    .map(|name| Ok((get(file, 0)?, name.clone())))
                    .transpose()?,
            );
        }
        Ok(Some(found))
    }

    /// The last block that begins at or before `at`.
    fn block_at(&self, source: u64, at: u64) -> Result<Option<Block>> {
        let found = self.ask(block_asked(source, at)?)?;
        let block = found.first().map(|row| {
            Ok(Block {
                source,
                start: row.unsigned(0)?,
                bytes: unpack(get(row, 2)?, get(row, 3)?, row.unsigned(1)?)?,
            })
        });
        block.transpose()
    }
}

impl Sources for Session<'_> {
    fn sources_of(&self, of: SourcesOf<'_>) -> Result<Vec<SourceRow>> {
        let sql = |which: &str| {
            format!("SELECT id, session, format, size_bytes, fingerprint FROM sources {which}")
        };
        if let SourcesOf::Number(id) = of
            && let Some(foreseen) = self.ahead.source(id)
        {
            return Ok(vec![foreseen]);
        }
        let known = match of {
            SourcesOf::Session(_) | SourcesOf::Number(_) => self.all_told(ALL)?,
            SourcesOf::All | SourcesOf::Any => None,
        };
        if let Some(known) = known {
            let mut known = known
                .iter()
                .map(rows::source)
                .collect::<Result<Vec<SourceRow>>>()?;
            known.retain(|row| match of {
                SourcesOf::Session(session) => row.session == *session,
                SourcesOf::Number(id) => row.id == id,
                SourcesOf::All | SourcesOf::Any => true,
            });
            return Ok(known);
        }
        match of {
            SourcesOf::All => self.ask(all_sources()?)?.iter().map(rows::source).collect(),
            SourcesOf::Any => self.all(ANY, &[], rows::source),
            SourcesOf::Session(session) => {
                let sql = sql("WHERE session = $1 ORDER BY id DESC");
                self.all(&sql, &[session], rows::source)
            }
            SourcesOf::Number(id) => self.all(&sql("WHERE id = $1"), &[&number(id)], rows::source),
        }
    }

    fn followed_files(&self, of: Option<&[RefName]>) -> Result<Vec<(String, RefName)>> {
        if let Some(files) = self.told_files(of)? {
            return Ok(files);
        }
        let sql = "SELECT path, session FROM followed JOIN sources ON sources.id = source";
        let read = |row: &Row| Ok((get(row, 0)?, get(row, 1)?));
        match of {
            None => self.all(&format!("{sql} ORDER BY path"), &[], read),
            Some(sessions) => {
                let sql = format!("{sql} WHERE session = ANY ($1) ORDER BY path");
                self.all(&sql, &[&keys(sessions)], read)
            }
        }
    }

    fn sizes_of(&self, only_older: bool) -> Result<Vec<SourceSize>> {
        let sql = if only_older {
            "SELECT id, (SELECT coalesce(sum(length(data)), 0)::bigint
                         FROM source_blocks WHERE source = s.id)
             FROM sources AS s
             WHERE id NOT IN (
                 SELECT max(source) FROM commit_records JOIN sources ON sources.id = source
                 GROUP BY commit_id, session, format)
               AND id NOT IN (
                 SELECT max(id) FROM sources
                 WHERE session IN (SELECT name FROM refs UNION SELECT name FROM reflog)
                 GROUP BY session)
               AND id NOT IN (
                 SELECT f.id FROM followed JOIN sources AS f ON f.id = followed.source
                 WHERE f.session IN (SELECT name FROM refs UNION SELECT name FROM reflog))"
        } else {
            "SELECT id, coalesce(sum(length(data)), 0)::bigint
             FROM sources LEFT JOIN source_blocks ON source = id GROUP BY id ORDER BY id"
        };
        self.all(sql, &[], rows::source_size)
    }

    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>> {
        bytes_of(self, &self.block, (id, span), |at| self.block_at(id, at))
    }

    fn foresee_bytes(&self, places: &[(u64, u64)]) -> Result<()> {
        let all = places.iter();
        let all = all.map(|(source, at)| block_asked(*source, *at));
        self.together(all.collect::<Result<_>>()?)
    }

    fn records(&self, commits: &[CommitHash]) -> Result<Vec<Records>> {
        let mut found = vec![Records::new(); commits.len()];
        if commits.is_empty() {
            return Ok(found);
        }
        if let Some(foreseen) = self.ahead.records(commits) {
            return Ok(foreseen);
        }
        let rows = self.query(RECORDS, &[&keys(commits)])?;
        each_record(&rows, |at, record| found[at].push(record))?;
        Ok(found)
    }

    fn tells_injected(&self) -> Result<bool> {
        let any: Vec<()> = self.all(ANY_INJECTED, &[], |_| Ok(()))?;
        Ok(!any.is_empty())
    }

    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
        let sql = "SELECT hash, messages, digest FROM resumes
             JOIN commits ON commits.id = commit_id WHERE tool = $1 AND session = $2";
        self.first(sql, &[&tool, &id], rows::resumed)
    }

    fn all_resumed(&self) -> Result<Vec<(String, String, ResumeRow)>> {
        let sql = "SELECT hash, messages, digest, tool, session FROM resumes
             JOIN commits ON commits.id = commit_id ORDER BY tool, session";
        self.all(sql, &[], |row| {
            Ok((get(row, 3)?, get(row, 4)?, rows::resumed(row)?))
        })
    }
}

impl SourcesMut for Session<'_> {
    fn put_source(&self, session: &RefName, format: &str, newest: Option<u64>) -> Result<u64> {
        self.lock_beside(session)?;
        must_be_newest(self, session, newest)?;
        // A number is never given twice, whatever became of the row.
        let sql = "INSERT INTO sources (id, session, format, size_bytes, fingerprint)
             VALUES ((numbers('sources', 1))[1], $1, $2, 0, $3) RETURNING id";
        let put = self.first(sql, &[session, &format, &fingerprint(b"")], |row| {
            row.unsigned(0)
        })?;
        put.ok_or_else(|| damaged("a source without a number"))
    }

    fn append_pressed(
        &self,
        id: u64,
        from: &SourceState,
        (bytes, pressed): (&[u8], Option<PressedBlock>),
        fingerprint: &HashBytes,
    ) -> Result<()> {
        source_as_it_was(self, id, from)?;
        self.source.set(Some(id));
        let (start, size) = (from.size_bytes, bytes.len() as u64);
        if !bytes.is_empty() {
            let pressed = pressed.filter(|pressed| pressed.encoding == ZSTD);
            let (encoding, data) = packed(bytes, pressed.map(|pressed| pressed.bytes));
            self.execute(
                "INSERT INTO source_blocks (source, start, size_bytes, encoding, data)
                 VALUES ($1, $2, $3, $4, $5)",
                &[&number(id), &number(start), &number(size), &encoding, &data],
            )?;
        }
        self.execute(
            "UPDATE sources SET size_bytes = $2, fingerprint = $3 WHERE id = $1",
            &[&number(id), &number(start + size), fingerprint],
        )
    }

    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()> {
        let commit = self.must_place(commit)?.id;
        if self.source.get() != Some(source) {
            must_source(self, source)?;
            self.source.set(Some(source));
        }
        let (key, spans) = ((commit, number(source)), pack_spans(spans));
        self.put(|waiting| {
            waiting.records.insert(key, spans);
        })
    }

    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()> {
        let commit = self.must_place(&resume.commit)?.id;
        self.execute(
            "INSERT INTO resumes (tool, session, commit_id, messages, digest)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tool, session) DO UPDATE
             SET commit_id = excluded.commit_id, messages = excluded.messages,
                 digest = excluded.digest",
            &[
                &tool,
                &id,
                &commit,
                &number(resume.messages),
                &resume.digest,
            ],
        )
    }

    fn purge_source(&self, id: u64) -> Result<()> {
        // Blocks and records go with their source.
        self.block.replace(None);
        self.source.set(None);
        self.execute("DELETE FROM sources WHERE id = $1", &[&number(id)])
    }
}
