//! What imports keep: the bytes of sources, the records behind commits, sessions and resumes.

use postgres::Row;

use super::columns::{damaged, get, hash_bytes, keys, text, unsigned};
use super::session::{Block, Session, place_of};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashBytes, fingerprint};
use crate::model::{RefName, Span};
use crate::store::codec::{number, pack_spans, unpack_spans};
use crate::store::packing::{packed, unpack};
use crate::store::{
    Records, ResumeRow, SourceRow, SourceSize, SourceState, Sources, SourcesMut, SourcesOf,
};

fn source_row(row: &Row) -> Result<SourceRow> {
    Ok(SourceRow {
        id: unsigned(row, 0)?,
        session: get(row, 1)?,
        format: text(row, 2)?.to_owned(),
        size_bytes: unsigned(row, 3)?,
        fingerprint: hash_bytes(row, 4)?,
    })
}

impl Block {
    fn holds(&self, source: u64, at: u64) -> bool {
        self.source == source && self.start <= at && at - self.start < self.bytes.len() as u64
    }
}

impl Session<'_> {
    /// The last block that begins at or before `at`.
    fn block_at(&self, source: u64, at: u64) -> Result<Option<Block>> {
        self.first(
            "SELECT start, size_bytes, encoding, data FROM source_blocks
             WHERE source = $1 AND start <= $2 ORDER BY start DESC LIMIT 1",
            &[&number(source), &number(at)],
            |row| {
                Ok(Block {
                    source,
                    start: unsigned(row, 0)?,
                    bytes: unpack(get(row, 2)?, get(row, 3)?, unsigned(row, 1)?)?,
                })
            },
        )
    }

    fn must_source(&self, id: u64) -> Result<SourceRow> {
        let name = || format!("source {id}");
        let row = self.source(id)?;
        self.source.set(row.as_ref().map(|row| row.id));
        row.ok_or_else(|| Error::Overtaken { name: name() })
    }
}

impl Sources for Session<'_> {
    fn sources_of(&self, of: SourcesOf<'_>) -> Result<Vec<SourceRow>> {
        let sql = |which: &str| {
            format!("SELECT id, session, format, size_bytes, fingerprint FROM sources {which}")
        };
        match of {
            SourcesOf::All => self.all(&sql("ORDER BY id DESC"), &[], source_row),
            SourcesOf::Any => self.all(&sql("LIMIT 1"), &[], source_row),
            SourcesOf::Session(session) => {
                let sql = sql("WHERE session = $1 ORDER BY id DESC");
                self.all(&sql, &[session], source_row)
            }
            SourcesOf::Number(id) => self.all(&sql("WHERE id = $1"), &[&number(id)], source_row),
        }
    }

    fn source_sizes(&self) -> Result<Vec<SourceSize>> {
        let sql = "SELECT id, coalesce(sum(length(data)), 0)::bigint
             FROM sources LEFT JOIN source_blocks ON source = id GROUP BY id ORDER BY id";
        self.all(sql, &[], |row| {
            Ok(SourceSize {
                id: unsigned(row, 0)?,
                kept_bytes: unsigned(row, 1)?,
            })
        })
    }

    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>> {
        let mut found = Vec::new();
        let end = span.offset.saturating_add(span.len);
        let mut at = span.offset;
        while at < end {
            let mut last = self.block.borrow_mut();
            if !last.as_ref().is_some_and(|block| block.holds(id, at)) {
                *last = self.block_at(id, at)?.filter(|block| block.holds(id, at));
            }
            let Some(block) = last.as_ref() else {
                // Blocks have no gap, so there is none only behind the last.
                let source = self.source(id)?;
                if source.is_some_and(|source| at < source.size_bytes) {
                    let detail = format!("the bytes of source {id} from {at} on are missing");
                    return Err(damaged(detail));
                }
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

    fn records(&self, commits: &[CommitHash]) -> Result<Vec<Records>> {
        let mut found = vec![Records::new(); commits.len()];
        if commits.is_empty() {
            return Ok(found);
        }
        let sql = "SELECT n, source, spans FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             JOIN commits ON hash = key JOIN commit_records ON commit_id = id
             ORDER BY n, source DESC";
        for row in self.query(sql, &[&keys(commits)])? {
            let spans = unpack_spans(get(&row, 2)?)?;
            found[place_of(&row)?].push((unsigned(&row, 1)?, spans));
        }
        Ok(found)
    }

    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
        let sql = "SELECT hash, messages, digest FROM resumes
             JOIN commits ON commits.id = commit_id WHERE tool = $1 AND session = $2";
        self.first(sql, &[&tool, &id], |row| {
            Ok(ResumeRow {
                commit: get(row, 0)?,
                messages: unsigned(row, 1)?,
                digest: hash_bytes(row, 2)?,
            })
        })
    }
}

impl SourcesMut for Session<'_> {
    fn put_source(&self, session: &RefName, format: &str, newest: Option<u64>) -> Result<u64> {
        if self.sources(session)?.first().map(|row| row.id) != newest {
            let name = session.short().to_owned();
            return Err(Error::Overtaken { name });
        }
        let sql = "WITH next AS (
                 UPDATE tract_repository SET last_source = last_source + 1 RETURNING last_source
             )
             INSERT INTO sources (id, session, format, size_bytes, fingerprint)
             SELECT last_source, $1, $2, 0, $3 FROM next RETURNING id";
        let put = self.first(sql, &[session, &format, &fingerprint(b"")], |row| {
            unsigned(row, 0)
        })?;
        put.ok_or_else(|| damaged("the repository's own row is missing"))
    }

    fn append_pressed(
        &self,
        id: u64,
        from: &SourceState,
        (bytes, pressed): (&[u8], Option<Vec<u8>>),
        fingerprint: &HashBytes,
    ) -> Result<()> {
        let row = self.must_source(id)?;
        if row.state() != *from {
            let name = row.session.short().to_owned();
            return Err(Error::Overtaken { name });
        }
        let (start, size) = (from.size_bytes, bytes.len() as u64);
        if !bytes.is_empty() {
            let (encoding, data) = packed(bytes, pressed);
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
            self.must_source(source)?;
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

    fn drop_older_sources(&self) -> Result<(u64, u64)> {
        let sql = "SELECT id, (SELECT coalesce(sum(length(data)), 0)::bigint
                               FROM source_blocks WHERE source = s.id)
             FROM sources AS s
             WHERE id NOT IN (
                 SELECT max(source) FROM commit_records JOIN sources ON sources.id = source
                 GROUP BY commit_id, session, format)
               AND id NOT IN (
                 SELECT max(id) FROM sources
                 WHERE session IN (SELECT name FROM refs UNION SELECT name FROM reflog)
                 GROUP BY session)";
        let older = self.all(sql, &[], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?;
        for (id, _) in &older {
            self.purge_source(*id)?;
        }
        let kept_bytes = older.iter().map(|(_, kept)| kept).sum();
        Ok((older.len() as u64, kept_bytes))
    }

    fn purge_source(&self, id: u64) -> Result<()> {
        // Blocks and records go with their source.
        self.block.replace(None);
        self.source.set(None);
        self.execute("DELETE FROM sources WHERE id = $1", &[&number(id)])
    }
}
