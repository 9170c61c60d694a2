//! What imports keep: the bytes of sources, the records behind commits, sessions and resumes.

use rusqlite::params;

use super::codec::{self, LEVEL, Row, blob, damaged, number, pack_spans, unpack_spans};
use super::said::{LEANT, leans, press_beside};
use super::session::{Session, keyed};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashBytes, fingerprint};
use crate::model::{RefName, Span};
use crate::store::columns::Columns;
use crate::store::lineage::Lineages;
use crate::store::sources::{Block, bytes_of, must_be_newest, must_source, source_as_it_was};
use crate::store::tables::BILLED;
use crate::store::{
    BlockText, Cell, KeptBill, Memory, PressedBlock, Records, RememberedMut, ResumeRow, SourceRow,
    SourceSize, SourceState, Sources, SourcesMut, SourcesOf, rows,
};

/// A block in fewer bytes, beside what its messages say.
pub(super) fn press(block: &[u8], said: &BlockText) -> Option<PressedBlock> {
    if leans(block, said) {
        press_beside(block, said, (LEANT, LEVEL))
    } else {
        codec::press(block).map(PressedBlock::alone)
    }
}

impl Session<'_> {
    /// The last block that begins at or before `at`.
    fn block_at(&self, source: u64, at: u64) -> Result<Option<Block>> {
        self.first(
            "SELECT start, size_bytes, encoding, data FROM source_blocks
             WHERE source = ?1 AND start <= ?2 AND intact!(source_blocks) ORDER BY start DESC
             LIMIT 1",
            [number(source), number(at)],
            |row| {
                Ok(Block {
                    source,
                    start: row.unsigned(0)?,
                    bytes: self.unpack_block(row.get(2)?, row.get(3)?, row.unsigned(1)?)?,
                })
            },
        )
    }
}

impl Sources for Session<'_> {
    fn sources_of(&self, of: SourcesOf<'_>) -> Result<Vec<SourceRow>> {
        let sql = |which: &str| {
            format!(
                "SELECT id, session, format, size_bytes, fingerprint FROM sources
                 WHERE intact!(sources) {which}"
            )
        };
        match of {
            SourcesOf::All => self.all(&sql("ORDER BY id DESC"), [], |row| rows::source(row)),
            SourcesOf::Any => self.all(&sql("LIMIT 1"), [], |row| rows::source(row)),
            SourcesOf::Session(session) => {
                let sql = sql("AND session = ?1 ORDER BY id DESC");
                self.all(&sql, [session], |row| rows::source(row))
            }
            SourcesOf::Number(id) => {
                let sql = sql("AND id = ?1");
                let found = self.all(&sql, [number(id)], |row| rows::source(row))?;
                if found.is_empty() {
                    let beside = "SELECT neighbours!(sources, id, ?1)";
                    self.first(beside, [number(id)], |_| Ok(()))?;
                }
                Ok(found)
            }
        }
    }

    fn sessions_in(&self, directory: &str) -> Result<Vec<RefName>> {
        let sql = "SELECT name FROM sessions WHERE cwd = ?1 AND intact!(sessions) ORDER BY name";
        let found = self.all(sql, [directory], |row| row.get(0))?;
        self.first("SELECT neighbours!(sessions, cwd, ?1)", [directory], |_| {
            Ok(())
        })?;
        Ok(found)
    }

    fn followed_files(&self, of: Option<&[RefName]>) -> Result<Vec<(String, RefName)>> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<Option<RefName>>(1)?));
        let found: Vec<(String, Option<RefName>)> = match of {
            None => self.all(
                "SELECT path, session FROM followed
                 LEFT JOIN sources ON sources.id = source AND intact!(sources)
                 WHERE intact!(followed) ORDER BY path",
                [],
                read,
            )?,
            Some(sessions) => {
                let names: Vec<&str> = sessions.iter().map(RefName::as_str).collect();
                self.all(
                    "SELECT followed.path, session FROM json_each(?1) AS asked
                     CROSS JOIN sources ON session = asked.value AND intact!(sources)
                     CROSS JOIN followed ON source = sources.id AND intact!(followed)
                     ORDER BY followed.path",
                    [serde_json::to_string(&names).map_err(Error::store)?],
                    read,
                )?
            }
        };
        // What is known of a file goes with its source.
        let lost = || damaged("a source that was followed is lost");
        let found = found.into_iter();
        let found = found.map(|(path, session)| Ok((path, session.ok_or_else(lost)?)));
        found.collect()
    }

    fn sizes_of(&self, only_older: bool) -> Result<Vec<SourceSize>> {
        let sql = if only_older {
            "SELECT id, (SELECT coalesce(sum(length(data)), 0)
                         FROM source_blocks WHERE source = s.id)
             FROM sources AS s
             WHERE id NOT IN (
                 SELECT max(source) FROM commit_records JOIN sources ON sources.id = source
                 WHERE intact!(commit_records) AND intact!(sources)
                 GROUP BY commit_id, session, format)
               AND id NOT IN (
                 SELECT max(id) FROM sources
                 WHERE session IN (SELECT name FROM refs UNION SELECT name FROM reflog)
                 GROUP BY session)
               AND id NOT IN (
                 SELECT f.id FROM followed JOIN sources AS f ON f.id = followed.source
                 WHERE f.session IN (SELECT name FROM refs UNION SELECT name FROM reflog))"
        } else {
            "SELECT sources.id, coalesce(sum(length(data)), 0) FROM sources
             LEFT JOIN source_blocks ON source = sources.id GROUP BY 1 ORDER BY 1"
        };
        self.all(sql, [], |row| rows::source_size(row))
    }

    fn source_bytes(&self, id: u64, span: Span) -> Result<Vec<u8>> {
        bytes_of(self, &self.block, (id, span), |at| self.block_at(id, at))
    }

    fn said(&self, commits: &[CommitHash]) -> Result<BlockText> {
        self.said_at(commits)
    }

    fn records(&self, commits: &[CommitHash]) -> Result<Vec<Records>> {
        let mut found = vec![Records::new(); commits.len()];
        let sql = keyed::<CommitHash>(
            "SELECT n, source, spans FROM keys
             CROSS JOIN commits ON hash = key AND intact!(commits, hash = key)
             LEFT JOIN commit_records ON commit_id = id
             AND intact!(commit_records, commit_id = commits.id) ORDER BY n, source DESC",
        );
        let mut is_here = vec![None; commits.len()];
        self.scan(&sql, [blob(commits)], |row| {
            let at = row.unsigned(0)? as usize;
            is_here[at] = Some(());
            if let Some(spans) = row.get::<Option<Vec<u8>>>(2)? {
                found[at].push((row.unsigned(1)?, unpack_spans(&spans)?));
            }
            Ok(true)
        })?;
        self.prove_absent_where(commits, &is_here)?;
        let without = commits.iter().zip(&found).filter(|(_, has)| has.is_empty());
        let without: Vec<CommitHash> = without.map(|(commit, _)| *commit).collect();
        let beside = keyed::<CommitHash>(
            "SELECT neighbours!(commit_records, commit_id, id)
             FROM keys CROSS JOIN commits ON hash = key",
        );
        self.scan(&beside, [blob(&without)], |_| Ok(true))?;
        Ok(found)
    }

    fn keeps_bills(&self) -> Result<bool> {
        Ok(true)
    }

    fn kept_bills(&self, names: Option<&[&str]>) -> Result<Vec<KeptBill>> {
        // A tip that came in again since has a number of its own: nothing was told of what is counted for it now.
        let sql = |which: &str| {
            format!(
                "SELECT name, tip, replies FROM billed WHERE intact!(billed) AND EXISTS (
                     SELECT 1 FROM commits WHERE hash = tip AND id <= until AND intact!(commits)
                 ) {which}"
            )
        };
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let rows: Vec<(String, CommitHash, Vec<u8>)> = match names {
            None => self.all(&sql(""), [], read)?,
            Some(names) => {
                let names = serde_json::to_string(names).map_err(Error::store)?;
                let which = "AND name IN (SELECT value FROM json_each(?1))";
                self.all(&sql(which), [names], read)?
            }
        };
        let bill = |(name, tip, replies)| KeptBill { name, tip, replies };
        Ok(rows.into_iter().map(bill).collect())
    }

    fn tells_injected(&self) -> Result<bool> {
        let any = self.first("SELECT 1 FROM injected LIMIT 1", [], |row| {
            row.get::<i64>(0)
        })?;
        Ok(any.is_some())
    }

    fn resumed(&self, tool: &str, id: &str) -> Result<Option<ResumeRow>> {
        self.first(
            "SELECT commits.hash, messages, digest FROM resumes
             JOIN commits ON commits.id = commit_id AND intact!(commits) WHERE tool = ?1
             AND session = ?2 AND intact!(resumes)",
            [tool, id],
            |row| rows::resumed(row),
        )
    }

    fn all_resumed(&self) -> Result<Vec<(String, String, ResumeRow)>> {
        self.all(
            "SELECT commits.hash, messages, digest, tool, session FROM resumes
             JOIN commits ON commits.id = commit_id AND intact!(commits)
             WHERE intact!(resumes) ORDER BY tool, session",
            [],
            |row| Ok((row.get(3)?, row.get(4)?, rows::resumed(row)?)),
        )
    }
}

impl SourcesMut for Session<'_> {
    fn put_source(&self, session: &RefName, format: &str, newest: Option<u64>) -> Result<u64> {
        must_be_newest(self, session, newest)?;
        let id = self.next_id("sources")?;
        let sql = "INSERT INTO sealed!(sources)";
        self.execute(sql, params![id, session, format, 0, fingerprint(b"")])?;
        u64::try_from(id).map_err(Error::store)
    }

    fn append_pressed(
        &self,
        id: u64,
        from: &SourceState,
        (bytes, pressed): (&[u8], Option<PressedBlock>),
        fingerprint: &HashBytes,
    ) -> Result<()> {
        source_as_it_was(self, id, from)?;
        let start = from.size_bytes;
        let size = bytes.len() as u64;
        if !bytes.is_empty() {
            let (encoding, data) = self.pressed_block(bytes, pressed)?;
            self.execute(
                "INSERT INTO sealed!(source_blocks)",
                params![
                    self.next_id("source_blocks")?,
                    number(id),
                    number(start),
                    number(size),
                    encoding,
                    data
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

    fn keep_bills(&self, bills: &[KeptBill]) -> Result<()> {
        self.execute(
            "DELETE FROM billed WHERE name NOT IN (SELECT name FROM refs)",
            [],
        )?;
        let newest = "SELECT coalesce(max(id), 0) FROM commits";
        let until = self.first(newest, [], |row| row.get::<i64>(0))?;
        for bill in bills {
            let cells = vec![
                Cell::Bytes(bill.tip.as_bytes().to_vec()),
                Cell::Number(until.unwrap_or(0)),
                Cell::Bytes(bill.replies.clone()),
            ];
            self.remember(Memory(&BILLED), &bill.name, Some(cells))?;
        }
        Ok(())
    }

    fn forget_bills_with(&self, reply: &CommitHash) -> Result<()> {
        let id = self.must_place(reply)?.id;
        self.execute("DELETE FROM billed WHERE until >= ?1", [id])
    }

    fn put_records(&self, commit: &CommitHash, source: u64, spans: &[Span]) -> Result<()> {
        let commit = self.must_place(commit)?.id;
        must_source(self, source)?;
        let sql = "INSERT OR REPLACE INTO sealed!(commit_records)";
        self.execute(sql, params![commit, number(source), pack_spans(spans)])
    }

    fn put_resumed(&self, tool: &str, id: &str, resume: &ResumeRow) -> Result<()> {
        let commit = self.must_place(&resume.commit)?.id;
        self.execute(
            "INSERT OR REPLACE INTO sealed!(resumes)",
            params![tool, id, commit, number(resume.messages), resume.digest],
        )
    }

    fn purge_source(&self, id: u64) -> Result<()> {
        // Blocks and records go with their source.
        self.execute("DELETE FROM sources WHERE id = ?1", [number(id)])?;
        self.block.replace(None);
        self.leaning_blocks.forget();
        self.memo.forget();
        Ok(())
    }
}
