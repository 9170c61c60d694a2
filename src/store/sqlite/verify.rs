//! Everything checked: the file's pages and indexes, each seal, each object against its name and its
//! place, each ref against its log, each kept source against its fingerprint, and what is indexed for
//! searches against what messages say.
//!
//! Deliberately absent: whether a history folds, and whatever follows from that; it is
//! [`crate::history`]'s to say.

use std::collections::{BTreeMap, BTreeSet};

use super::Sqlite;
use super::codec::{Row, unpack, unpack_spans};
use super::schema::laid_out;
use super::search::Indexed;
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::{ContentHash, Fingerprint, HashBytes};
use crate::model::{Message, RefName, Span, is_tombstone};
use crate::store::check::{self, Judged, RefLogs, Tell};
use crate::store::columns::Columns;
use crate::store::grams::Terms;
use crate::store::rows::Shown;
use crate::store::{Checked, Fault, tables};

/// How often it is told how far the check has come.
const STEP: u64 = 1_000;

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
    check.names()?;
    check.sources()?;
    check.done.aside = session.aside()?;
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
            self.fault(if is_of_pages(&detail) {
                Fault::File { detail }
            } else {
                Fault::Index { detail }
            });
        }
        let sql = "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1";
        let orphans: Vec<(String, i64)> = self
            .session
            .all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (table, rows) in orphans {
            let rows = u64::try_from(rows).unwrap_or_default();
            self.fault(Fault::Dangling { table, rows });
        }
        Ok(())
    }

    /// The tables and indexes as they are made, and nothing else: what is planted runs nothing, but it
    /// is not ours.
    fn schema(&mut self) -> Result<()> {
        const SQL: &str = "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema
             WHERE name NOT GLOB 'sqlite_stat*'";
        let wanted = Sqlite::in_memory()?;
        let wanted = Session::read(&wanted)?;
        let read = |session: &Session<'_>| -> Result<BTreeMap<String, String>> {
            let rows = session.all(SQL, [], |row| {
                let sql: String = row.get(1)?;
                Ok((row.get(0)?, laid_out(&sql)))
            })?;
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
        for table in tables::TABLES.iter().filter(|table| table.is_sealed) {
            let broken = format!(
                "FROM {} WHERE seal IS NOT sealed({})",
                table.name,
                table.listed()
            );
            if let Some(what) = table.derived {
                let sql = format!("SELECT count(*) {broken}");
                let rows = self.session.first(&sql, [], |row| row.unsigned(0))?;
                if let Some(rows) = rows.filter(|rows| *rows > 0) {
                    self.fault(Fault::Derived { what, rows });
                }
                continue;
            }
            // A content's row is judged beside its body, and a commit's beside its text.
            if table.name == "contents" || table.name == "commits" {
                continue;
            }
            let sql = format!("SELECT CAST({} AS TEXT) {broken}", table.key());
            let keys: Vec<Option<String>> = self.session.all(&sql, [], |row| row.get(0))?;
            for key in keys {
                let (table, key) = (table.name.to_owned(), key.unwrap_or_default());
                self.fault(Fault::Row { table, key });
            }
        }
        Ok(())
    }

    fn contents(&mut self) -> Result<()> {
        let sql = "SELECT hash, encoding, body, size_bytes,
                 role, preview, size_bytes, calls, results, uses,
                 contents.seal IS sealed(id, hash, role, preview, size_bytes, calls, results), id
             FROM contents LEFT JOIN bodies ON bodies.content = id
                  LEFT JOIN tool_uses ON tool_uses.content = id ORDER BY id";
        let session = self.session;
        let (mut indexed, is_torn) = match session.indexed_terms() {
            Ok(indexed) => (indexed, false),
            // It cannot even be read through, and can be made again.
            Err(Error::Damaged { .. }) => (Indexed::default(), true),
            Err(error) => return Err(error),
        };
        let (mut terms, mut astray) = (Terms::new(), u64::from(is_torn));
        session.scan(sql, [], |row| {
            self.done.contents += 1;
            self.step();
            let hash: ContentHash = row.get(0)?;
            let found = indexed.take(row.get(11)?);
            let body = match row.get::<Option<i64>>(1)? {
                None => Err("its body is missing"),
                Some(encoding) => body(session, encoding, row.get(2)?, row.get(3)?)
                    .filter(|body| hash.names(body) || is_tombstone(&hash, body))
                    .and_then(|body| String::from_utf8(body).ok())
                    .and_then(|body| Some((Message::from_canonical(&body).ok()?, body.len())))
                    .ok_or("its body is not what was written"),
            };
            match body {
                Err(why) => {
                    let mends = row.get::<Option<i64>>(1)?.is_some();
                    self.fault(Fault::Content { hash, why, mends });
                }
                Ok((message, size_bytes)) => {
                    // What a purge erased may be indexed or not.
                    let is_stone = is_tombstone(&hash, message.canonical().as_bytes());
                    let is_right = |found| found == terms.of(&message) || is_stone;
                    astray += u64::from(!found.is_none_or(is_right));
                    let wanted = Shown::of_size(&message, size_bytes);
                    let shows = Shown::read(row, 4).is_ok_and(|shown| shown == wanted);
                    if !shows || !row.get::<bool>(10)? {
                        self.fault(Fault::Listing { hash });
                    }
                }
            }
            Ok(true)
        })?;
        let rows = astray + indexed.left();
        if rows > 0 {
            let what = "the search index";
            self.fault(Fault::Derived { what, rows });
        }
        Ok(())
    }

    /// Each ref against the log of its moves, those that were deleted too.
    fn names(&mut self) -> Result<()> {
        let refs = "SELECT name, target, symbolic FROM refs
             WHERE seal = sealed(name, target, symbolic)";
        let read = |row: &Row<'_>| Ok((row.get(0)?, check::at(row, 1)?));
        let mut logs = RefLogs::of(self.session.all(refs, [], read)?);
        let log = "SELECT name, old_target, old_symbolic, new_target, new_symbolic FROM reflog
             WHERE seal = sealed(id, operation, name, old_target, old_symbolic, new_target, new_symbolic)
             ORDER BY id";
        self.session
            .scan(log, [], |row| logs.moved(row).map(|()| true))?;
        logs.faults()
            .into_iter()
            .for_each(|fault| self.fault(fault));
        Ok(())
    }

    fn commits(&mut self) -> Result<()> {
        let sql = "SELECT c.hash, c.canonical, c.depth, p.hash, p.depth, appended.hash,
                 (p.id IS NOT NULL AND c.lineage IS p.lineage)
                     OR (l.parent IS p.lineage AND l.fork_depth IS p.depth),
                 c.seal IS sealed(c.id, c.hash, c.lineage, c.depth, c.parent, c.content)
                     AND l.id IS NOT NULL
             FROM commits c LEFT JOIN commits p ON p.id = c.parent
             LEFT JOIN lineages l ON l.id = c.lineage
             LEFT JOIN contents appended ON appended.id = c.content ORDER BY c.id";
        let here = "SELECT 1 FROM contents WHERE hash = ?1 AND intact!(contents)";
        let session = self.session;
        session.scan(sql, [], |row| {
            self.done.commits += 1;
            self.step();
            let judged = Judged::read(row, 0)?;
            let hash = judged.hash;
            let mut wrong = |why, mends| self.fault(Fault::Commit { hash, why, mends });
            let is_sealed: bool = row.get(7)?;
            let Some(commit) = judged.commit else {
                // Its name may be what is wrong.
                wrong("its text is not what was written", !is_sealed);
                return Ok(true);
            };
            if !judged.is_placed {
                wrong("it does not stand where its parent says", true);
            } else if !judged.appends || !is_sealed {
                wrong("its row is not as it was written", true);
            }
            for content in commit.operation.contents() {
                // Damage beside it has been told already.
                if matches!(session.first(here, [content], |_| Ok(())), Ok(None)) {
                    wrong("a message that it names is missing", false);
                }
            }
            Ok(true)
        })?;
        self.changes_of_lineages()
    }

    /// How many commits each lineage says append nothing, against the table itself and no index.
    fn changes_of_lineages(&mut self) -> Result<()> {
        let sql = "SELECT CAST(l.id AS TEXT) FROM lineages l
             LEFT JOIN (SELECT lineage, sum(content IS NULL) AS n FROM commits NOT INDEXED GROUP BY lineage) c
                 ON c.lineage = l.id
             WHERE l.changes IS NOT coalesce(n, 0)
               AND l.seal = sealed(l.id, parent, fork_depth, changes)";
        let keys: Vec<String> = self.session.all(sql, [], |row| row.get(0))?;
        for key in keys {
            let table = "lineages".to_owned();
            self.fault(Fault::Row { table, key });
        }
        Ok(())
    }

    fn sources(&mut self) -> Result<()> {
        let count = "SELECT count(*) FROM sources";
        let count = self.session.first(count, [], |row| row.unsigned(0))?;
        self.done.sources = count.unwrap_or(0);
        for (id, wrong) in broken_sources(self.session)? {
            let name = "SELECT session FROM sources WHERE id = ?1";
            let session: Option<RefName> = self
                .session
                .first(name, [id], |row| Ok(row.get(0).ok()))?
                .flatten();
            let why = match wrong {
                WrongSource::Bytes => "its bytes are not what was imported",
                WrongSource::Records => "a record behind a commit is not in it",
            };
            self.fault(Fault::Source { session, why });
        }
        Ok(())
    }
}

/// What is wrong with a kept source.
#[derive(Clone, Copy)]
enum WrongSource {
    /// Its blocks are not what was imported.
    Bytes,
    /// A record that a commit came from would not lie in it.
    Records,
}

/// The sources that are not as their rows say.
fn broken_sources(session: &Session<'_>) -> Result<Vec<(i64, WrongSource)>> {
    let sql = "SELECT id, size_bytes, fingerprint FROM sources ORDER BY id";
    let sources: Vec<(i64, u64, HashBytes)> = session.all(sql, [], |row| {
        Ok((row.get(0)?, row.unsigned(1)?, row.get(2)?))
    })?;
    let mut broken = Vec::new();
    for (id, size_bytes, fingerprint) in sources {
        let (mut read, mut whole) = (Fingerprint::default(), Some(0));
        let blocks = "SELECT start, size_bytes, encoding, data FROM source_blocks
             WHERE source = ?1 ORDER BY start";
        session.scan(blocks, [id], |row| {
            let (start, len) = (row.unsigned(0)?, row.unsigned(1)?);
            let bytes = unpack(row.get(2)?, row.get(3)?, len).ok();
            whole = whole.filter(|end| *end == start).and(bytes).map(|bytes| {
                read.update(&bytes);
                start + len
            });
            Ok(true)
        })?;
        let spans = "SELECT spans FROM commit_records WHERE source = ?1";
        let mut inside = true;
        session.scan(spans, [id], |row| {
            let spans: Vec<u8> = row.get(0)?;
            let is_inside = |span: &Span| check::is_inside(span, size_bytes);
            inside &= unpack_spans(&spans).is_ok_and(|spans| spans.iter().all(is_inside));
            Ok(true)
        })?;
        match (
            whole == Some(size_bytes) && read.value() == fingerprint,
            inside,
        ) {
            (true, true) => {}
            (true, false) => broken.push((id, WrongSource::Records)),
            (false, _) => broken.push((id, WrongSource::Bytes)),
        }
    }
    Ok(broken)
}

/// What SQLite finds wrong with pages and indexes, a line each.
pub(super) fn unsound(session: &Session<'_>) -> Result<Vec<String>> {
    let mut lines: Vec<String> = session.all("PRAGMA integrity_check", [], |row| row.get(0))?;
    lines.retain(|line| line != "ok");
    Ok(lines)
}

/// Whether such a line is about the file's pages. What it says of rows their seals say, too, and an index
/// can be made again from its rows.
pub(super) fn is_of_pages(line: &str) -> bool {
    let of_rows = [
        // The search index, which the next search fills.
        "fts5: ",
        "FTS5 table",
        " index ",
        " value in ",
        "CHECK constraint failed",
        "not in PRIMARY KEY order",
    ];
    !of_rows.iter().any(|part| line.contains(part))
}

/// A body's bytes, whatever its row says of their number.
pub(super) fn body(
    session: &Session<'_>,
    encoding: i64,
    stored: Vec<u8>,
    size_bytes: i64,
) -> Option<Vec<u8>> {
    let packing = session.packing(encoding).ok()?;
    let size_bytes = u64::try_from(size_bytes).ok();
    let as_told = size_bytes.and_then(|size| packing.unpack(stored.clone(), size).ok());
    as_told.or_else(|| packing.unpack_any(stored).ok())
}
