//! What imports keep: the bytes of sources, the records behind commits, sessions and resumes.

use postgres::Row;

use super::columns::{damaged, get, hash_bytes, keys, maybe_text, text, unsigned};
use super::session::{Block, Session, place_of};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, FingerprintMark, HashBytes, fingerprint};
use crate::model::{Millis, RefName, Span};
use crate::store::codec::{number, pack_spans, unpack_spans};
use crate::store::packing::{packed, press, unpack};
use crate::store::{
    FileStamp, FollowedFile, Records, ResumeRow, SessionRow, SourceRow, SourceSize, SourceState,
    Sources, SourcesMut, UnreadFile,
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
    fn sources(&self, session: &RefName) -> Result<Vec<SourceRow>> {
        let sql = "SELECT id, session, format, size_bytes, fingerprint FROM sources
             WHERE session = $1 ORDER BY id DESC";
        self.all(sql, &[session], source_row)
    }

    fn all_sources(&self) -> Result<Vec<SourceRow>> {
        let sql = "SELECT id, session, format, size_bytes, fingerprint FROM sources ORDER BY id";
        self.all(sql, &[], source_row)
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

    fn has_sources(&self) -> Result<bool> {
        let found = self.first("SELECT 1 FROM sources LIMIT 1", &[], |_| Ok(()))?;
        Ok(found.is_some())
    }

    fn sources_behind(&self, commits: &[CommitHash]) -> Result<Vec<u64>> {
        let sql = "SELECT DISTINCT source FROM commit_records JOIN commits ON id = commit_id
             WHERE hash = ANY ($1) ORDER BY source";
        self.all(sql, &[&keys(commits)], |row| unsigned(row, 0))
    }

    fn sessions(&self) -> Result<Vec<RefName>> {
        let sql = "SELECT name FROM sessions ORDER BY name";
        self.all(sql, &[], |row| get(row, 0))
    }

    fn source(&self, id: u64) -> Result<Option<SourceRow>> {
        let sql = "SELECT id, session, format, size_bytes, fingerprint FROM sources WHERE id = $1";
        self.first(sql, &[&number(id)], source_row)
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

    fn followed(&self, path: &str) -> Result<Option<FollowedFile>> {
        let sql = "SELECT source, size_bytes, modified_ns, file, hashed, settings, time
             FROM followed WHERE sha256(path) = sha256($1)";
        let found = self.first(sql, &[&path], |row| {
            let hashed = FingerprintMark::from_bytes(get(row, 4)?);
            let settings = serde_json::from_str(text(row, 5)?).ok();
            let (Some(hashed), Some(settings)) = (hashed, settings) else {
                return Ok(None);
            };
            Ok(Some(FollowedFile {
                path: path.to_owned(),
                source: unsigned(row, 0)?,
                stamp: FileStamp {
                    size_bytes: unsigned(row, 1)?,
                    modified_ns: get(row, 2)?,
                    file: get(row, 3)?,
                },
                hashed,
                settings,
                time: Millis(get(row, 6)?),
            }))
        })?;
        Ok(found.flatten())
    }

    fn followed_files(&self) -> Result<Vec<(String, RefName)>> {
        let sql = "SELECT path, session FROM followed JOIN sources ON id = source ORDER BY path";
        self.all(sql, &[], |row| Ok((text(row, 0)?.to_owned(), get(row, 1)?)))
    }

    fn last_followed(&self) -> Result<Option<Millis>> {
        let sql = "SELECT max(time) FROM followed";
        let found = self.first(sql, &[], |row| get::<Option<i64>>(row, 0))?;
        Ok(found.flatten().map(Millis))
    }

    fn unread_files(&self) -> Result<Vec<UnreadFile>> {
        let sql = "SELECT path, why, time FROM unread ORDER BY path";
        self.all(sql, &[], |row| {
            Ok(UnreadFile {
                path: text(row, 0)?.to_owned(),
                why: text(row, 1)?.to_owned(),
                time: Millis(get(row, 2)?),
            })
        })
    }

    fn session(&self, name: &RefName) -> Result<Option<SessionRow>> {
        let sql = "SELECT title, cwd, absent FROM sessions WHERE name = $1";
        self.first(sql, &[name], |row| {
            let absent = serde_json::from_str(text(row, 2)?);
            Ok(SessionRow {
                title: maybe_text(row, 0)?.map(str::to_owned),
                cwd: maybe_text(row, 1)?.map(str::to_owned),
                absent: absent.map_err(|error| damaged(format!("session {name}: {error}")))?,
            })
        })
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

    fn append_source(
        &self,
        id: u64,
        from: &SourceState,
        bytes: &[u8],
        fingerprint: &HashBytes,
    ) -> Result<()> {
        self.append_pressed(id, from, (bytes, press(bytes)), fingerprint)
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

    fn put_followed(&self, file: &FollowedFile) -> Result<()> {
        self.must_source(file.source)?;
        let settings = serde_json::to_string(&file.settings).map_err(Error::store)?;
        self.execute(
            "INSERT INTO followed
                 (path, source, size_bytes, modified_ns, file, hashed, settings, time)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (sha256(path)) DO UPDATE
             SET source = excluded.source, size_bytes = excluded.size_bytes,
                 modified_ns = excluded.modified_ns, file = excluded.file,
                 hashed = excluded.hashed, settings = excluded.settings, time = excluded.time",
            &[
                &file.path,
                &number(file.source),
                &number(file.stamp.size_bytes),
                &file.stamp.modified_ns,
                &file.stamp.file,
                &&file.hashed.as_bytes()[..],
                &settings,
                &file.time.0,
            ],
        )
    }

    fn put_session(&self, name: &RefName, row: &SessionRow) -> Result<()> {
        let absent = serde_json::to_string(&row.absent).map_err(Error::store)?;
        self.execute(
            "INSERT INTO sessions (name, title, cwd, absent) VALUES ($1, $2, $3, $4)
             ON CONFLICT (name) DO UPDATE
             SET title = excluded.title, cwd = excluded.cwd, absent = excluded.absent",
            &[name, &row.title, &row.cwd, &absent],
        )
    }

    fn put_unread(&self, file: &UnreadFile) -> Result<()> {
        self.execute(
            "INSERT INTO unread (path, why, time) VALUES ($1, $2, $3)
             ON CONFLICT (sha256(path)) DO UPDATE SET why = excluded.why, time = excluded.time",
            &[&file.path, &file.why, &file.time.0],
        )
    }

    fn forget_unread(&self, path: &str) -> Result<()> {
        self.execute(
            "DELETE FROM unread WHERE sha256(path) = sha256($1)",
            &[&path],
        )
    }

    fn forget_session(&self, name: &RefName) -> Result<()> {
        self.execute("DELETE FROM sessions WHERE name = $1", &[name])
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
