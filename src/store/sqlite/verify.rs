//! Everything checked: the file's pages and indexes, each seal, each object against its name and its
//! place, each kept source against its fingerprint. And what can be made again, made again.
//!
//! Deliberately absent: whether a history folds; that is [`crate::history`]'s to say.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;

use super::Sqlite;
use super::codec::{Speaker, number, unpack, unpack_any, unpack_spans, unsigned};
use super::seal::intact;
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, Fingerprint, HashBytes};
use crate::model::{Commit, Message, Operation, RefName, Span, ToolUses, is_tombstone, preview};
use crate::store::{Checked, Fault};

/// How often it is told how far the check has come.
const STEP: u64 = 1_000;

/// Who is told of faults and of progress.
type Tell<'a> = &'a mut dyn FnMut(Checked, Option<Fault>);

/// Checks all that a view sees.
pub(super) fn verify(session: &Session<'_>, tell: Tell<'_>) -> Result<Checked> {
    let mut check = Check {
        session,
        tell,
        done: Checked::default(),
    };
    check.file()?;
    check.schema()?;
    check.seals()?;
    check.contents()?;
    check.commits()?;
    check.sources()?;
    let owed = session.first("SELECT 1 FROM unscrubbed LIMIT 1", [], |_| Ok(()))?;
    check.done.unscrubbed = owed.is_some();
    Ok(check.done)
}

struct Check<'a, 's, 't> {
    session: &'a Session<'s>,
    tell: Tell<'t>,
    done: Checked,
}

impl Check<'_, '_, '_> {
    fn fault(&mut self, fault: Fault) {
        (self.tell)(self.done, Some(fault));
    }

    fn step(&mut self) {
        let done = self.done.contents + self.done.commits + self.done.sources;
        if done.is_multiple_of(STEP) {
            (self.tell)(self.done, None);
        }
    }

    /// Pages, indexes, the search index's structure, and rows that name rows.
    fn file(&mut self) -> Result<()> {
        for detail in unsound(self.session)? {
            self.fault(match is_of_index(&detail) {
                true => Fault::Index { detail },
                false => Fault::File { detail },
            });
        }
        let sql = "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1";
        let orphans: Vec<(String, i64)> = self
            .session
            .all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (table, rows) in orphans {
            let detail = format!("{rows} rows of {table} name rows that are not there");
            self.fault(Fault::File { detail });
        }
        Ok(())
    }

    /// The tables and indexes, as the migrations make them, and nothing else: what is planted runs
    /// nothing, but it is not ours.
    fn schema(&mut self) -> Result<()> {
        const SQL: &str = "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema
             WHERE name NOT GLOB 'sqlite_stat*'";
        let wanted = Sqlite::in_memory()?;
        let wanted = Session::read(&wanted)?;
        let read = |session: &Session<'_>| -> Result<BTreeMap<String, String>> {
            let rows = session.all(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.into_iter().collect())
        };
        let (wanted, here) = (read(&wanted)?, read(self.session)?);
        for name in wanted.keys().chain(here.keys()).collect::<BTreeSet<_>>() {
            let detail = match (wanted.get(name), here.get(name)) {
                (Some(wanted), Some(here)) if wanted == here => continue,
                (_, None) => format!("{name} is missing"),
                (None, _) => format!("{name} is not ours"),
                _ => format!("{name} is another one"),
            };
            self.fault(Fault::File { detail });
        }
        Ok(())
    }

    fn seals(&mut self) -> Result<()> {
        for (table, key, columns) in sealed_tables(self.session)? {
            let broken = format!("FROM {table} WHERE seal IS NOT sealed({columns})");
            if let Some(what) = derived(&table) {
                let sql = format!("SELECT count(*) {broken}");
                let rows = self.session.first(&sql, [], |row| unsigned(row, 0))?;
                if let Some(rows) = rows.filter(|rows| *rows > 0) {
                    self.fault(Fault::Derived { what, rows });
                }
                continue;
            }
            // A content's row is judged beside its body, and a commit's beside its text.
            if table == "contents" || table == "commits" {
                continue;
            }
            let sql = format!("SELECT CAST({key} AS TEXT) {broken}");
            let keys: Vec<Option<String>> = self.session.all(&sql, [], |row| row.get(0))?;
            for key in keys {
                let (table, key) = (table.clone(), key.unwrap_or_default());
                self.fault(Fault::Row { table, key });
            }
        }
        Ok(())
    }

    fn contents(&mut self) -> Result<()> {
        let sql = concat!(
            "SELECT hash, encoding, body, size_bytes, role, preview, calls, results, ",
            "contents.seal IS sealed(id, hash, role, preview, size_bytes, calls, results), uses
             FROM contents LEFT JOIN bodies ON bodies.content = id
                  LEFT JOIN tool_uses ON tool_uses.content = id ORDER BY id"
        );
        let session = self.session;
        session.scan(sql, [], |row| {
            self.done.contents += 1;
            self.step();
            let hash: ContentHash = row.get(0)?;
            let body = match row.get::<_, Option<i64>>(1)? {
                None => Err("its body is missing"),
                Some(encoding) => body(encoding, row.get(2)?, row.get(3)?)
                    .filter(|body| hash.names(body) || is_tombstone(&hash, body))
                    .and_then(|body| String::from_utf8(body).ok())
                    .and_then(|body| Some((Message::from_canonical(&body).ok()?, body.len())))
                    .ok_or("its body is not what was written"),
            };
            match body {
                Err(why) => self.fault(Fault::Content { hash, why }),
                Ok((message, size_bytes)) => {
                    let shows = row.get::<_, i64>(3)? == number(size_bytes as u64)
                        && row
                            .get(4)
                            .is_ok_and(|said: Speaker| said == Speaker::from(&message))
                        && row
                            .get_ref(5)?
                            .as_str()
                            .is_ok_and(|text| text == preview(&message))
                        && row.get::<_, i64>(6)? == number(message.calls().count() as u64)
                        && row.get::<_, i64>(7)? == number(message.results().count() as u64)
                        && row.get::<_, Option<String>>(9).is_ok_and(|uses| {
                            uses == ToolUses::of(&message).map(|uses| uses.to_text())
                        });
                    if !shows || !row.get::<_, bool>(8)? {
                        self.fault(Fault::Listing { hash });
                    }
                }
            }
            Ok(true)
        })?;
        Ok(())
    }

    fn commits(&mut self) -> Result<()> {
        let sql = "SELECT c.hash, c.canonical, c.depth, p.hash, p.depth, appended.hash,
                 c.lineage IS p.lineage OR (l.parent IS p.lineage AND l.fork_depth IS p.depth),
                 c.seal IS sealed(c.id, c.hash, c.lineage, c.depth, c.parent, c.content)
                     AND l.id IS NOT NULL
             FROM commits c LEFT JOIN commits p ON p.id = c.parent
             LEFT JOIN lineages l ON l.id = c.lineage
             LEFT JOIN contents appended ON appended.id = c.content ORDER BY c.id";
        let here = concat!(
            "SELECT 1 FROM contents WHERE hash = ?1 AND ",
            intact!(contents)
        );
        let session = self.session;
        session.scan(sql, [], |row| {
            self.done.commits += 1;
            self.step();
            let hash: CommitHash = row.get(0)?;
            let mut wrong = |why| self.fault(Fault::Commit { hash, why });
            let text = row.get_ref(1)?.as_str().ok();
            let text = text.filter(|text| hash.names(text.as_bytes()));
            let Some(commit) = text.and_then(|text| Commit::from_canonical(text).ok()) else {
                wrong("its text is not what was written");
                return Ok(true);
            };
            let parent: Option<CommitHash> = row.get(3)?;
            let depth = row.get::<_, Option<i64>>(4)?.map_or(0, |depth| depth + 1);
            let appended: Option<ContentHash> = row.get(5)?;
            let appends = match commit.operation {
                Operation::Append { content } => Some(content),
                _ => None,
            };
            let follows = commit.parent.is_none() || row.get(6)?;
            if parent != commit.parent || row.get::<_, i64>(2)? != depth || !follows {
                wrong("it does not stand where its parent says");
            } else if appended != appends || !row.get::<_, bool>(7)? {
                wrong("its row is not as it was written");
            }
            for content in commit.operation.contents() {
                // Damage beside it has been told already.
                if matches!(session.first(here, [content], |_| Ok(())), Ok(None)) {
                    wrong("a message that it names is missing");
                }
            }
            Ok(true)
        })?;
        Ok(())
    }

    fn sources(&mut self) -> Result<()> {
        let sql = "SELECT id, session, size_bytes, fingerprint FROM sources ORDER BY id";
        let sources: Vec<(u64, RefName, u64, HashBytes)> = self.session.all(sql, [], |row| {
            Ok((
                unsigned(row, 0)?,
                row.get(1)?,
                unsigned(row, 2)?,
                row.get(3)?,
            ))
        })?;
        for (id, session, size_bytes, fingerprint) in sources {
            self.done.sources += 1;
            self.step();
            let (mut read, mut whole) = (Fingerprint::default(), Some(0));
            let blocks = "SELECT start, size_bytes, encoding, data FROM source_blocks
                 WHERE source = ?1 ORDER BY start";
            self.session.scan(blocks, [number(id)], |row| {
                let (start, len) = (unsigned(row, 0)?, unsigned(row, 1)?);
                let bytes = unpack(row.get(2)?, row.get(3)?, len).ok();
                whole = whole.filter(|end| *end == start).and(bytes).map(|bytes| {
                    read.update(&bytes);
                    start + len
                });
                Ok(true)
            })?;
            let spans = "SELECT spans FROM commit_records WHERE source = ?1";
            let mut inside = true;
            self.session.scan(spans, [number(id)], |row| {
                let spans: Vec<u8> = row.get(0)?;
                let is_inside = |span: &Span| {
                    let end = span.offset.checked_add(span.len);
                    end.is_some_and(|end| end <= size_bytes)
                };
                inside &= unpack_spans(&spans).is_ok_and(|spans| spans.iter().all(is_inside));
                Ok(true)
            })?;
            let why = match (
                whole == Some(size_bytes) && read.value() == fingerprint,
                inside,
            ) {
                (true, true) => continue,
                (true, false) => "a record behind a commit is not in it",
                (false, _) => "its bytes are not what was imported",
            };
            self.fault(Fault::Source { id, session, why });
        }
        Ok(())
    }
}

/// What SQLite finds wrong with pages and indexes, a line each.
pub(super) fn unsound(session: &Session<'_>) -> Result<Vec<String>> {
    let mut lines: Vec<String> = session.all("PRAGMA integrity_check", [], |row| row.get(0))?;
    lines.retain(|line| line != "ok");
    Ok(lines)
}

/// Whether such a line is about an index, which can be made again from its rows.
fn is_of_index(line: &str) -> bool {
    line.contains(" index ")
}

/// A body's bytes, whatever its row says of their number.
fn body(encoding: i64, stored: Vec<u8>, size_bytes: i64) -> Option<Vec<u8>> {
    let size_bytes = u64::try_from(size_bytes).ok();
    let as_told = size_bytes.and_then(|size| unpack(encoding, stored.clone(), size).ok());
    as_told.or_else(|| unpack_any(encoding, stored).ok())
}

/// What a table is, if it can be made again from the rest.
fn derived(table: &str) -> Option<&'static str> {
    match table {
        "checkpoints" => Some("checkpoints"),
        "counts" => Some("token counts"),
        "totals" => Some("totals"),
        "tool_uses" => Some("calls of tools"),
        _ => None,
    }
}

/// The tables whose rows are sealed: name, the column that tells rows apart, all that is sealed.
fn sealed_tables(session: &Session<'_>) -> Result<Vec<(String, String, String)>> {
    let sql = "SELECT m.name, min(c.name) FILTER (WHERE c.cid = 0),
             group_concat(c.name ORDER BY c.cid)
         FROM sqlite_schema m, pragma_table_info(m.name) c
         WHERE m.type = 'table' AND c.name NOT IN ('seal', 'canonical')
           AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'seal')
         GROUP BY m.name";
    session.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Makes again what can be made from the rest: names and listings of objects whose bytes are whole,
/// indexes, checkpoints, counts that are damaged, and the search index, which the next search fills.
///
/// Where a row stays that nothing vouches for, the indexes of its table may be all that still leads
/// to it, and the search index all that still knows its text: then those stay as they are.
///
/// # Errors
///
/// [`Error::Damaged`] where the pages themselves are: rows may stand under others' numbers there.
pub(super) fn rebuild(session: &Session<'_>) -> Result<()> {
    let unsound = unsound(session)?;
    if let Some(detail) = unsound.into_iter().find(|line| !is_of_index(line)) {
        return Err(Error::Damaged { detail });
    }
    session.execute("DELETE FROM checkpoints", [])?;
    session.drop_totals()?;
    let sql =
        "DELETE FROM counts WHERE seal IS NOT sealed(content, encoding, mask, tokens, estimated)";
    session.execute(sql, [])?;
    let contents = broken_contents(session)?;
    let commits = broken_commits(session)?;
    let mut kept: Vec<&str> = Vec::new();
    let sealed = sealed_tables(session)?;
    for (table, _, columns) in &sealed {
        if table == "contents" || table == "commits" {
            continue;
        }
        let sql = format!("SELECT 1 FROM {table} WHERE seal IS NOT sealed({columns}) LIMIT 1");
        if session.first(&sql, [], |_| Ok(()))?.is_some() {
            kept.push(table);
        }
    }
    if contents.iter().any(|(_, mend)| mend.is_none()) {
        kept.push("contents");
    }
    if commits.iter().any(|(_, mend)| mend.is_none()) {
        kept.push("commits");
    }
    let tables = "SELECT DISTINCT tbl_name FROM sqlite_schema WHERE type = 'index'";
    let tables: Vec<String> = session.all(tables, [], |row| row.get(0))?;
    for table in tables
        .iter()
        .filter(|table| !kept.contains(&table.as_str()))
    {
        session.execute(&format!("REINDEX {table}"), [])?;
    }
    for (id, mend) in contents {
        match mend {
            Some(Mend::Name(hash)) if !kept.contains(&"contents") => {
                let sql = "UPDATE contents SET hash = ?2 WHERE id = ?1";
                session.execute(sql, params![id, ContentHash::from_bytes(hash)])?;
            }
            Some(Mend::Listing(message, size_bytes)) => {
                session.execute(
                    "UPDATE contents SET role = ?2, preview = ?3, size_bytes = ?4, calls = ?5,
                         results = ?6, seal = sealed(id, hash, ?2, ?3, ?4, ?5, ?6)
                     WHERE id = ?1",
                    params![
                        id,
                        Speaker::from(&message),
                        preview(&message),
                        number(size_bytes as u64),
                        number(message.calls().count() as u64),
                        number(message.results().count() as u64),
                    ],
                )?;
            }
            Some(Mend::Name(_)) | None => {}
        }
    }
    session.execute("DELETE FROM tool_uses", [])?;
    session.execute(
        "INSERT INTO tool_uses (content, uses, seal) SELECT id, uses, sealed(id, uses)
         FROM (SELECT contents.id, tool_uses_of(encoding, body, size_bytes) AS uses
               FROM contents JOIN bodies ON content = contents.id WHERE calls + results > 0)
         WHERE uses IS NOT NULL",
        [],
    )?;
    for (id, mend) in commits {
        if let Some(Mend::Name(hash)) = mend
            && !kept.contains(&"commits")
        {
            let sql = "UPDATE commits SET hash = ?2 WHERE id = ?1";
            session.execute(sql, params![id, CommitHash::from_bytes(hash)])?;
        }
    }
    if !kept.contains(&"contents") {
        session.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
    }
    Ok(())
}

/// How a row is made again from the bytes that it stands for.
enum Mend {
    /// Its name was damaged: with this one its seal is right.
    Name(HashBytes),
    /// What listings show was damaged: here is the message, and its size.
    Listing(Message, usize),
}

/// The contents whose rows or bodies are not as they were written, by their ids, and what mends each.
fn broken_contents(session: &Session<'_>) -> Result<Vec<(i64, Option<Mend>)>> {
    let sql = "SELECT contents.id, hash, encoding, body, size_bytes,
             seal IS sealed(id, hash, role, preview, size_bytes, calls, results)
         FROM contents NOT INDEXED LEFT JOIN bodies ON content = contents.id";
    let mut broken = Vec::new();
    session.scan(sql, [], |row| {
        let (id, hash): (i64, ContentHash) = (row.get(0)?, row.get(1)?);
        let bytes = match row.get::<_, Option<i64>>(2)? {
            Some(encoding) => body(encoding, row.get(3)?, row.get(4)?),
            None => None,
        };
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let read = text.and_then(|text| Some((Message::from_canonical(&text).ok()?, text)));
        let is_sealed: bool = row.get(5)?;
        let mend = match read {
            Some((message, text)) if hash.names(text.as_bytes()) => {
                if is_sealed {
                    return Ok(true);
                }
                Some(Mend::Listing(message, text.len()))
            }
            Some((_, text)) if is_tombstone(&hash, text.as_bytes()) => {
                if is_sealed {
                    return Ok(true);
                }
                // Nothing tells a tombstone's own name from another.
                None
            }
            Some((_, text)) if !is_sealed => Some(Mend::Name(*ContentHash::of(&text).as_bytes())),
            _ => None,
        };
        broken.push((id, mend));
        Ok(true)
    })?;
    let vouches = "SELECT seal IS sealed(id, ?2, role, preview, size_bytes, calls, results)
         FROM contents WHERE id = ?1";
    vouched(session, broken, vouches)
}

/// The same of commits.
fn broken_commits(session: &Session<'_>) -> Result<Vec<(i64, Option<Mend>)>> {
    let sql = "SELECT id, hash, canonical,
             seal IS sealed(id, hash, lineage, depth, parent, content)
         FROM commits NOT INDEXED";
    let mut broken = Vec::new();
    session.scan(sql, [], |row| {
        let (id, hash): (i64, CommitHash) = (row.get(0)?, row.get(1)?);
        let text = row.get_ref(2)?.as_str().unwrap_or_default();
        let (is_named, is_sealed) = (hash.names(text.as_bytes()), row.get::<_, bool>(3)?);
        if !is_named || !is_sealed {
            let name = *CommitHash::of(text).as_bytes();
            broken.push((id, (!is_named && !is_sealed).then_some(Mend::Name(name))));
        }
        Ok(true)
    })?;
    let vouches = "SELECT seal IS sealed(id, ?2, lineage, depth, parent, content)
         FROM commits WHERE id = ?1";
    vouched(session, broken, vouches)
}

/// Names only those that the seal of the row vouches for.
fn vouched(
    session: &Session<'_>,
    mut broken: Vec<(i64, Option<Mend>)>,
    vouches: &str,
) -> Result<Vec<(i64, Option<Mend>)>> {
    for (id, mend) in &mut broken {
        if let Some(Mend::Name(hash)) = mend {
            let is_its = session.first(vouches, params![*id, *hash], |row| row.get(0))?;
            if is_its != Some(true) {
                *mend = None;
            }
        }
    }
    Ok(broken)
}
