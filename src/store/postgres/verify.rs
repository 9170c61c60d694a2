//! Everything checked: each object against its name and its place, what listings show of it, each ref
//! against its log, each kept source against its fingerprint, and what is indexed for searches against
//! what messages say.
//!
//! Deliberately absent: pages and indexes, which are the server's own (its checksums, `pg_amcheck`).

use std::collections::BTreeSet;
use std::mem;

use tokio_postgres::Row;

use super::columns::{get, terms as terms_of};
use super::refs::IS_BRANCH;
use super::session::Session;
use crate::error::Result;
use crate::hash::{ContentHash, Fingerprint};
use crate::store::Checked;
use crate::store::check::{self, Check, RefLogs, Tell};
use crate::store::codec::number;
use crate::store::columns::Columns;
use crate::store::compression::unpack_any;
use crate::store::rows::Shown;

/// How many rows are read at once, and after how many it is told how far the check has come.
const BATCH: i64 = 512;

/// Checks all that a view sees.
pub(super) fn verify(session: &Session<'_>, tell: Tell<'_>) -> Result<Checked> {
    let mut check = Check::new(tell, None, false);
    contents(session, &mut check)?;
    commits(session, &mut check)?;
    refs(session, &mut check)?;
    sources(session, &mut check)?;
    let owed = "SELECT owes_scrub IS NOT NULL FROM tract_repository";
    check.done.unscrubbed = session.first(owed, &[], |row| get(row, 0))? == Some(true);
    Ok(check.done)
}

/// Contents with all that is kept of them, from a row on.
pub(super) const CONTENTS: &str = "SELECT id, hash, encoding, body, role, preview, size_bytes, calls,
         results, uses, terms
     FROM contents LEFT JOIN bodies ON bodies.content = id LEFT JOIN tool_uses ON tool_uses.content = id
     LEFT JOIN search ON search.content = id WHERE id > $1 ORDER BY id LIMIT $2";

/// The body in such a row, if it has one: unpacked, whatever its row says of its size, if it can be.
pub(super) fn body(row: &Row) -> Result<Option<Option<Vec<u8>>>> {
    let encoding: Option<i64> = get(row, 2)?;
    let unpacked = |encoding| Ok(unpack_any(encoding, get(row, 3)?).ok());
    encoding.map(unpacked).transpose()
}

/// Reads the rows of a statement that takes a number and a limit, and begins with each one's number.
fn each<'t>(
    session: &Session<'_>,
    check: &mut Check<'t>,
    sql: &str,
    mut read: impl FnMut(&mut Check<'t>, &Row) -> Result<()>,
) -> Result<()> {
    let mut after = 0_i64;
    loop {
        let rows = session.query(sql, &[&after, &BATCH])?;
        for row in rows.iter() {
            read(check, row)?;
            after = get(row, 0)?;
        }
        check.progress()?;
        if (rows.len() as i64) < BATCH {
            return Ok(());
        }
    }
}

fn contents(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    check.read_words(session)?;
    each(session, check, CONTENTS, |check, row| {
        let shown = Shown::read(row, 4).ok();
        let found = terms_of(row, 10)?;
        let name = (get(row, 0)?, get(row, 1)?);
        check.content(name, body(row)?, shown, |terms, message| {
            found.is_none_or(|mut found| {
                let of_it = terms.numbers(message).into_iter();
                let mut wanted: Vec<i32> = of_it.map(u32::cast_signed).collect();
                found.sort_unstable();
                wanted.sort_unstable();
                found == wanted
            })
        })
    })?;
    check.indexed();
    Ok(())
}

fn commits(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let here = session.all("SELECT hash FROM contents", &[], |row| get(row, 0))?;
    let here: BTreeSet<ContentHash> = here.into_iter().collect();
    let sql = "SELECT c.id, c.hash, c.canonical, c.depth, p.hash, p.depth, appended.hash,
             coalesce((p.id IS NOT NULL AND c.lineage = p.lineage)
                 OR (l.parent IS NOT DISTINCT FROM p.lineage
                     AND l.fork_depth IS NOT DISTINCT FROM p.depth), false)
         FROM commits AS c LEFT JOIN commits AS p ON p.id = c.parent
         LEFT JOIN lineages AS l ON l.id = c.lineage
         LEFT JOIN contents AS appended ON appended.id = c.content
         WHERE c.id > $1 ORDER BY c.id LIMIT $2";
    each(session, check, sql, |check, row| {
        // That any is missing is told once.
        let mut is_told = false;
        let is_here = |content: &_| here.contains(content) || mem::replace(&mut is_told, true);
        check.commit(row, 1, true, is_here)
    })?;
    check.merged(|merged| {
        let here = "SELECT 1 FROM commits WHERE hash = $1";
        Ok(session.first(here, &[merged], |_| Ok(()))?.is_some())
    })
}

/// Each ref against the log of its moves, those that were deleted too.
fn refs(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let refs = "SELECT name, target, symbolic FROM refs";
    let read = |row: &Row| Ok((get(row, 0)?, check::at(row, 1)?));
    let mut logs = RefLogs::of(session.all(refs, &[], read)?);
    let log = "SELECT name, old_target, old_symbolic, new_target, new_symbolic
         FROM reflog ORDER BY id";
    for row in session.query(log, &[])?.iter() {
        logs.moved(row)?;
    }
    check.refs(logs);
    let wrong =
        format!("SELECT count(*) FROM refs WHERE {IS_BRANCH} AND active <> last_time(target)");
    check.activity(session.first(&wrong, &[], |row| row.unsigned(0))?);
    Ok(())
}

fn sources(session: &Session<'_>, check: &mut Check<'_>) -> Result<()> {
    let sql = "SELECT id, size_bytes, fingerprint, session FROM sources
         WHERE id > $1 ORDER BY id LIMIT $2";
    each(session, check, sql, |check, row| {
        check.done.sources += 1;
        let (id, size_bytes): (i64, u64) = (get(row, 0)?, row.unsigned(1)?);
        let mut read = Fingerprint::default();
        let (mut end, mut is_whole) = (0, true);
        loop {
            let block = "SELECT start, size_bytes, encoding, data FROM source_blocks
                 WHERE source = $1 AND start >= $2 ORDER BY start LIMIT 1";
            let next = session.first(block, &[&id, &number(end)], |row| {
                let bytes = unpack_any(get(row, 2)?, get(row, 3)?).unwrap_or_default();
                Ok((row.unsigned(0)?, row.unsigned(1)?, bytes))
            })?;
            let Some((start, len, bytes)) = next else {
                break;
            };
            is_whole &= start == end && bytes.len() as u64 == len && len > 0;
            read.update(&bytes);
            end = start + len.max(1);
        }
        is_whole &= end == size_bytes && read.value()[..] == *row.bytes(2)?;
        let spans = "SELECT spans FROM commit_records WHERE source = $1";
        let inside = session.all(spans, &[&id], |row| {
            Ok(check::are_inside(row.bytes(0)?, size_bytes))
        })?;
        check.source(get(row, 3).ok(), is_whole, !inside.contains(&false));
        Ok(())
    })
}
