//! Everything checked: the file's pages and indexes, each seal, each object against its name and its
//! place, each ref against its log, each kept source against its fingerprint, and what is indexed for
//! searches against what messages say.
//!
//! Deliberately absent: whether a history folds, and whatever follows from that; it is
//! [`crate::repo`]'s to say.

use std::collections::{BTreeMap, BTreeSet};

use super::Sqlite;
use super::codec::Row;
use super::schema::{AT_COMMITS, LAST_TIME, laid_out};
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::{ContentHash, Fingerprint, HashBytes};
use crate::model::RefName;
use crate::store::check::{self, Check, RefLogs, Tell};
use crate::store::columns::Columns;
use crate::store::indexed::Indexed;
use crate::store::rows::Shown;
use crate::store::{Checked, Fault, tables};

/// How often it is told how far the check has come.
const STEP: u64 = 1_000;

/// Checks all that a view sees.
pub(super) fn verify(session: &Session<'_>, tell: Tell<'_>) -> Result<Checked> {
    let mut check = Check::new(tell, Some(STEP), true);
    file(session, &mut check)?;
    schema(session, &mut check)?;
    seals(session, &mut check)?;
    contents(session, &mut check)?;
    commits(session, &mut check)?;
    names(session, &mut check)?;
    sources(session, &mut check)?;
    check.done.aside = session.aside()?;
    let owed = session.first("SELECT 1 FROM unscrubbed LIMIT 1", [], |_| Ok(()))?;
    check.done.unscrubbed = owed.is_some();
    Ok(check.done)
}

/// Pages, indexes, the search index's structure, and rows that name rows.
fn file(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    for detail in unsound(session)? {
        check.fault(if is_of_pages(&detail) {
            Fault::File { detail }
        } else {
            Fault::Index { detail }
        });
    }
    let sql = "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1";
    let orphans: Vec<(String, i64)> = session.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (table, rows) in orphans {
        let rows = u64::try_from(rows).unwrap_or_default();
        check.fault(Fault::Dangling { table, rows });
    }
    Ok(())
}

/// The tables and indexes as they are made, and nothing else: what is planted runs nothing, but it
/// is not ours.
fn schema(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    const SQL: &str = "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema
         WHERE name NOT GLOB 'sqlite_stat*'";
    let wanted = Sqlite::in_memory()?;
    let wanted = Session::read(&wanted)?;
    if session.may_merge()? {
        wanted.allow_merges()?;
    }
    for table in session.lacking()? {
        wanted.execute(&format!("DROP TABLE {table}"), [])?;
    }
    let read = |session: &Session<'_>| -> Result<BTreeMap<String, String>> {
        let rows = session.all(SQL, [], |row| {
            let sql: String = row.get(1)?;
            Ok((row.get(0)?, laid_out(&sql)))
        })?;
        Ok(rows.into_iter().collect())
    };
    let (wanted, here) = (read(&wanted)?, read(session)?);
    for name in wanted.keys().chain(here.keys()).collect::<BTreeSet<_>>() {
        let detail = match (wanted.get(name), here.get(name)) {
            (Some(wanted), Some(here)) if wanted == here => continue,
            (_, None) => format!("{name} is missing"),
            (None, _) => format!("{name} is not ours"),
            _ => format!("{name} is another one"),
        };
        check.fault(Fault::File { detail });
    }
    Ok(())
}

fn seals(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    for table in tables::TABLES.iter().filter(|table| table.is_sealed) {
        let broken = format!(
            "FROM {} WHERE seal IS NOT sealed({})",
            table.name,
            table.listed()
        );
        if let Some(what) = table.derived {
            let sql = format!("SELECT count(*) {broken}");
            let rows = session.first(&sql, [], |row| row.unsigned(0))?;
            if let Some(rows) = rows.filter(|rows| *rows > 0) {
                check.fault(Fault::Derived { what, rows });
            }
            continue;
        }
        // A content's row is judged beside its body, and a commit's beside its text.
        if table.name == "contents" || table.name == "commits" {
            continue;
        }
        let sql = format!("SELECT CAST({} AS TEXT) {broken}", table.key());
        let keys: Vec<Option<String>> = session.all(&sql, [], |row| row.get(0))?;
        for key in keys {
            let (table, key) = (table.name.to_owned(), key.unwrap_or_default());
            check.fault(Fault::Row { table, key });
        }
    }
    Ok(())
}

fn contents(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let sql = "SELECT hash, encoding, body, size_bytes,
             role, preview, size_bytes, calls, results, uses,
             contents.seal IS sealed(id, hash, role, preview, size_bytes, calls, results), id
         FROM contents LEFT JOIN bodies ON bodies.content = id
              LEFT JOIN tool_uses ON tool_uses.content = id ORDER BY id";
    let mut indexed = match session.indexed_terms() {
        Ok(indexed) => indexed,
        // It cannot even be read through, and can be made again.
        Err(Error::Damaged { .. }) => {
            check.astray = 1;
            Indexed::default()
        }
        Err(error) => return Err(error),
    };
    check.read_words(session)?;
    session.scan(sql, [], |row| {
        let encoding: Option<i64> = row.get(1)?;
        let unpacked = |encoding| Ok(body(session, encoding, row.get(2)?, row.get(3)?));
        let body = encoding.map(unpacked).transpose()?;
        let is_sealed: bool = row.get(10)?;
        let shown = Shown::read(row, 4).ok().filter(|_| is_sealed);
        let id = row.get(11)?;
        let found = indexed.take(id);
        check.content((id, row.get(0)?), body, shown, |terms, message| {
            found.is_none_or(|found| found == terms.of(message))
        })?;
        Ok(true)
    })?;
    check.astray += indexed.left();
    check.indexed();
    Ok(())
}

/// Each ref against the log of its moves, those that were deleted too.
fn names(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let refs = "SELECT name, target, symbolic FROM refs
         WHERE seal = sealed(name, target, symbolic)";
    let read = |row: &Row<'_>| Ok((row.get(0)?, check::at(row, 1)?));
    let mut logs = RefLogs::of(session.all(refs, [], read)?);
    let log = "SELECT name, old_target, old_symbolic, new_target, new_symbolic FROM reflog
         WHERE seal = sealed(id, operation, name, old_target, old_symbolic, new_target, new_symbolic)
         ORDER BY id";
    session.scan(log, [], |row| logs.moved(row).map(|()| true))?;
    check.refs(logs);
    let sql = format!(
        "SELECT count(*) FROM refs WHERE {AT_COMMITS} AND active <> {LAST_TIME}
             AND seal = sealed(name, target, symbolic)"
    );
    check.activity(session.first(&sql, [], |row| row.unsigned(0))?);
    Ok(())
}

fn commits(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let sql = "SELECT c.hash, c.canonical, c.depth, p.hash, p.depth, appended.hash,
             (p.id IS NOT NULL AND c.lineage IS p.lineage)
                 OR (l.parent IS p.lineage AND l.fork_depth IS p.depth),
             c.seal IS sealed(c.id, c.hash, c.lineage, c.depth, c.parent, c.content)
                 AND l.id IS NOT NULL
         FROM commits c LEFT JOIN commits p ON p.id = c.parent
         LEFT JOIN lineages l ON l.id = c.lineage
         LEFT JOIN contents appended ON appended.id = c.content ORDER BY c.id";
    let here = "SELECT 1 FROM contents WHERE hash = ?1 AND intact!(contents)";
    // Damage beside it has been told already.
    let is_here =
        |content: &ContentHash| !matches!(session.first(here, [content], |_| Ok(())), Ok(None));
    session.scan(sql, [], |row| {
        check.commit(row, 0, row.get(7)?, is_here).map(|()| true)
    })?;
    check.merged(|merged| {
        let here = "SELECT 1 FROM commits WHERE hash = ?1";
        Ok(session.first(here, [merged], |_| Ok(()))?.is_some())
    })?;
    changes_of_lineages(session, check)
}

/// How many commits each lineage says append nothing, against the table itself and no index.
fn changes_of_lineages(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let sql = "SELECT CAST(l.id AS TEXT) FROM lineages l
         LEFT JOIN (SELECT lineage, sum(content IS NULL) AS n FROM commits NOT INDEXED GROUP BY lineage) c
             ON c.lineage = l.id
         WHERE l.changes IS NOT coalesce(n, 0)
           AND l.seal = sealed(l.id, parent, fork_depth, changes)";
    let keys: Vec<String> = session.all(sql, [], |row| row.get(0))?;
    for key in keys {
        let table = "lineages".to_owned();
        check.fault(Fault::Row { table, key });
    }
    Ok(())
}

fn sources(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let sql = "SELECT id, size_bytes, fingerprint, session FROM sources ORDER BY id";
    let sources: Vec<(i64, u64, HashBytes, Option<RefName>)> = session.all(sql, [], |row| {
        Ok((row.get(0)?, row.unsigned(1)?, row.get(2)?, row.get(3).ok()))
    })?;
    check.done.sources = sources.len() as u64;
    for (id, size_bytes, fingerprint, name) in sources {
        let (mut read, mut whole) = (Fingerprint::default(), Some(0));
        let blocks = "SELECT start, size_bytes, encoding, data FROM source_blocks
             WHERE source = ?1 ORDER BY start";
        session.scan(blocks, [id], |row| {
            let (start, len) = (row.unsigned(0)?, row.unsigned(1)?);
            let bytes = session.unpack_block(row.get(2)?, row.get(3)?, len).ok();
            whole = whole.filter(|end| *end == start).and(bytes).map(|bytes| {
                read.update(&bytes);
                start + len
            });
            Ok(true)
        })?;
        let spans = "SELECT spans FROM commit_records WHERE source = ?1";
        let mut holds_all = true;
        session.scan(spans, [id], |row| {
            holds_all &= check::are_inside(row.bytes(0)?, size_bytes);
            Ok(true)
        })?;
        let is_whole = whole == Some(size_bytes) && read.value() == fingerprint;
        check.source(name, is_whole, holds_all);
    }
    Ok(())
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
