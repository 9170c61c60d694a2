//! What imports keep: the bytes of sources, the records behind commits, sessions and resumes.

use rusqlite::{Row, params};

use super::codec::{blob, number, pack_spans, packed, unpack, unpack_spans, unsigned};
use super::seal::{intact, neighbours};
use super::session::{Session, SourceBlock, keyed};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashBytes, fingerprint};
use crate::model::{RefName, Span};
use crate::store::{
    Records, ResumeRow, SourceRow, SourceSize, SourceState, Sources, SourcesMut, SourcesOf,
};

fn source_row(row: &Row<'_>) -> rusqlite::Result<SourceRow> {
    Ok(SourceRow {
        id: unsigned(row, 0)?,
        session: row.get(1)?,
        format: row.get(2)?,
        size_bytes: unsigned(row, 3)?,
        fingerprint: row.get(4)?,
    })
}

impl Session<'_> {
    /// The last block that begins at or before `at`.
    fn block_at(&self, source: u64, at: u64) -> Result<Option<SourceBlock>> {
        self.first(
            concat!(
                "SELECT start, size_bytes, encoding, data FROM source_blocks
                 WHERE source = ?1 AND start <= ?2 AND ",
                intact!(source_blocks),
                " ORDER BY start DESC LIMIT 1"
            ),
            [number(source), number(at)],
            |row| {
                Ok(SourceBlock {
                    source,
                    start: unsigned(row, 0)?,
                    bytes: unpack(row.get(2)?, row.get(3)?, unsigned(row, 1)?)?,
                })
            },
        )
    }

    fn must_source(&self, id: u64) -> Result<SourceRow> {
        let name = || format!("source {id}");
        self.source(id)?
            .ok_or_else(|| Error::Overtaken { name: name() })
    }
}

impl Sources for Session<'_> {
    fn sources_of(&self, of: SourcesOf<'_>) -> Result<Vec<SourceRow>> {
        macro_rules! which {
            ($which:literal) => {
                concat!(
                    "SELECT id, session, format, size_bytes, fingerprint FROM sources WHERE ",
                    intact!(sources),
                    $which
                )
            };
        }
        match of {
            SourcesOf::All => self.all(which!(" ORDER BY id DESC"), [], source_row),
            SourcesOf::Any => self.all(which!(" LIMIT 1"), [], source_row),
            SourcesOf::Session(session) => {
                let sql = which!(" AND session = ?1 ORDER BY id DESC");
                self.all(sql, [session], source_row)
            }
            SourcesOf::Number(id) => {
                let found = self.all(which!(" AND id = ?1"), [number(id)], source_row)?;
                if found.is_empty() {
                    let beside = concat!("SELECT ", neighbours!(sources, "id", "?1"));
                    self.first(beside, [number(id)], |_| Ok(()))?;
                }
                Ok(found)
            }
        }
    }

    fn source_sizes(&self) -> Result<Vec<SourceSize>> {
        self.sizes_of_sources()
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
                if self
                    .source(id)?
                    .is_some_and(|source| at < source.size_bytes)
                {
                    return Err(Error::Damaged {
                        detail: format!("the bytes of source {id} from {at} on are missing"),
                    });
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
        let sql = keyed::<CommitHash>(concat!(
            "SELECT n, source, spans FROM keys CROSS JOIN commits ON hash = key AND ",
            intact!(commits asked "key"),
            " LEFT JOIN commit_records ON commit_id = id AND ",
            intact!(commit_records asked "commits.id"),
            " ORDER BY n, source DESC"
        ));
        let mut is_here = vec![None; commits.len()];
        self.scan(&sql, [blob(commits)], |row| {
            let at = unsigned(row, 0)? as usize;
            is_here[at] = Some(());
            if let Some(spans) = row.get::<_, Option<Vec<u8>>>(2)? {
                found[at].push((unsigned(row, 1)?, unpack_spans(&spans)?));
            }
            Ok(true)
        })?;
        self.prove_absent_where(commits, &is_here)?;
        let without = commits.iter().zip(&found).filter(|(_, has)| has.is_empty());
        let without: Vec<CommitHash> = without.map(|(commit, _)| *commit).collect();
        let beside = keyed::<CommitHash>(concat!(
            "SELECT ",
            neighbours!(commit_records, "commit_id", "id"),
            " FROM keys CROSS JOIN commits ON hash = key"
        ));
        self.scan(&beside, [blob(&without)], |_| Ok(true))?;
        Ok(found)
    }

    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
        self.first(
            concat!(
                "SELECT commits.hash, messages, digest FROM resumes
                 JOIN commits ON commits.id = commit_id AND ",
                intact!(commits),
                " WHERE tool = ?1 AND session = ?2 AND ",
                intact!(resumes)
            ),
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
}

impl SourcesMut for Session<'_> {
    fn put_source(&self, session: &RefName, format: &str, newest: Option<u64>) -> Result<u64> {
        if self.sources(session)?.first().map(|row| row.id) != newest {
            let name = session.short().to_owned();
            return Err(Error::Overtaken { name });
        }
        let id = self.next_id("sources")?;
        self.execute(
            "INSERT INTO sources (id, session, format, size_bytes, fingerprint, seal)
             VALUES (?1, ?2, ?3, 0, ?4, sealed(?1, ?2, ?3, 0, ?4))",
            params![id, session, format, fingerprint(b"")],
        )?;
        u64::try_from(id).map_err(Error::store)
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
        let start = from.size_bytes;
        let size = bytes.len() as u64;
        if !bytes.is_empty() {
            let (encoding, data) = packed(bytes, pressed);
            self.execute(
                "INSERT INTO source_blocks (id, source, start, size_bytes, encoding, data, seal)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, sealed(?1, ?2, ?3, ?4, ?5, ?6))",
                params![
                    self.next_id("source_blocks")?,
                    number(id),
                    number(start),
                    number(size),
                    encoding,
                    data.as_ref()
                ],
            )?;
        }
        self.execute(
            "UPDATE sources SET size_bytes = ?2, fingerprint = ?3,
                 seal = sealed(id, session, format, ?2, ?3)
             WHERE id = ?1",
            params![number(id), number(start + size), fingerprint],
        )
    }

    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()> {
        let commit = self.must_place(commit)?.id;
        self.must_source(source)?;
        self.execute(
            "INSERT OR REPLACE INTO commit_records (commit_id, source, spans, seal)
             VALUES (?1, ?2, ?3, sealed(?1, ?2, ?3))",
            params![commit, number(source), pack_spans(spans)],
        )
    }

    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()> {
        let commit = self.must_place(&resume.commit)?.id;
        self.execute(
            "INSERT OR REPLACE INTO resumes (tool, session, commit_id, messages, digest, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, sealed(?1, ?2, ?3, ?4, ?5))",
            params![tool, id, commit, number(resume.messages), resume.digest],
        )
    }

    fn drop_older_sources(&self) -> Result<(u64, u64)> {
        let sql = concat!(
            "SELECT id, (SELECT coalesce(sum(length(data)), 0) FROM source_blocks WHERE source = s.id)
             FROM sources AS s
             WHERE id NOT IN (
                 SELECT max(source) FROM commit_records JOIN sources ON sources.id = source
                 WHERE ",
            intact!(commit_records),
            " AND ",
            intact!(sources),
            " GROUP BY commit_id, session, format)
               AND id NOT IN (
                 SELECT max(id) FROM sources
                 WHERE session IN (SELECT name FROM refs UNION SELECT name FROM reflog)
                 GROUP BY session)"
        );
        let older: Vec<(u64, u64)> =
            self.all(sql, [], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?;
        for (id, _) in &older {
            self.purge_source(*id)?;
        }
        let kept_bytes = older.iter().map(|(_, kept)| kept).sum();
        Ok((older.len() as u64, kept_bytes))
    }

    fn purge_source(&self, id: u64) -> Result<()> {
        // Blocks and records go with their source.
        self.execute("DELETE FROM sources WHERE id = ?1", [number(id)])?;
        self.block.replace(None);
        self.memo.forget();
        Ok(())
    }
}
