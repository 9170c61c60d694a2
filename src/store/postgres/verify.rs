//! Everything checked: each object against its name and its place, what listings show of it, each ref
//! against its log, each kept source against its fingerprint, and what is indexed for searches against
//! what messages say.
//!
//! Deliberately absent: pages and indexes, which are the server's own (its checksums, `pg_amcheck`).

use std::collections::BTreeSet;

use postgres::Row;

use super::columns::{get, terms as terms_of};
use super::session::Session;
use crate::error::Result;
use crate::hash::{ContentHash, Fingerprint};
use crate::model::{Message, RefName, Span, is_tombstone};
use crate::store::check::{self, Judged, RefLogs, Tell};
use crate::store::codec::{number, unpack_spans};
use crate::store::columns::Columns;
use crate::store::grams::Terms;
use crate::store::packing::unpack_any;
use crate::store::rows::Shown;
use crate::store::{Checked, Fault, rows};

/// How many rows are read at once, and after how many it is told how far the check has come.
const BATCH: i64 = 512;

/// Checks all that a view sees.
pub(super) fn verify(session: &Session<'_>, tell: Tell<'_>) -> Result<Checked> {
    let done = Checked::default();
    let mut check = Check {
        session,
        tell,
        done,
    };
    check.contents()?;
    check.commits()?;
    check.refs()?;
    check.sources()?;
    let owed = "SELECT owes_scrub IS NOT NULL FROM tract_repository";
    check.done.unscrubbed = session.first(owed, &[], |row| get(row, 0))? == Some(true);
    Ok(check.done)
}

/// The message of a body, whatever its row says of its size.
pub(super) fn whole(
    hash: &ContentHash,
    encoding: i64,
    stored: Vec<u8>,
) -> Option<(Message, usize)> {
    let body = unpack_any(encoding, stored).ok()?;
    let canonical = rows::canonical(hash, &body).ok()?;
    Some((Message::from_canonical(canonical).ok()?, canonical.len()))
}

/// Contents with all that is kept of them, from a row on.
pub(super) const CONTENTS: &str = "SELECT id, hash, encoding, body, role, preview, size_bytes, calls,
         results, uses, terms
     FROM contents LEFT JOIN bodies ON bodies.content = id LEFT JOIN tool_uses ON tool_uses.content = id
     LEFT JOIN search ON search.content = id WHERE id > $1 ORDER BY id LIMIT $2";

struct Check<'a, 's, 't> {
    session: &'a Session<'s>,
    tell: Tell<'t>,
    done: Checked,
}

impl Check<'_, '_, '_> {
    fn fault(&mut self, fault: Fault) {
        (self.tell)(self.done, Some(fault));
    }

    /// Reads the rows of a statement that takes a number and a limit, and begins with each one's number.
    fn each(
        &mut self,
        sql: &str,
        mut read: impl FnMut(&mut Self, &Row) -> Result<()>,
    ) -> Result<()> {
        let mut after = 0_i64;
        loop {
            let rows = self.session.query(sql, &[&after, &BATCH])?;
            for row in &rows {
                read(self, row)?;
                after = get(row, 0)?;
            }
            (self.tell)(self.done, None);
            if (rows.len() as i64) < BATCH {
                return Ok(());
            }
        }
    }

    fn contents(&mut self) -> Result<()> {
        let (mut terms, mut astray) = (Terms::new(), 0);
        self.each(CONTENTS, |check, row| {
            check.done.contents += 1;
            let hash: ContentHash = get(row, 1)?;
            let Some(encoding) = get::<Option<i64>>(row, 2)? else {
                let (why, mends) = ("its body is missing", false);
                check.fault(Fault::Content { hash, why, mends });
                return Ok(());
            };
            let Some((message, size_bytes)) = whole(&hash, encoding, get(row, 3)?) else {
                let (why, mends) = ("its body is not what was written", false);
                check.fault(Fault::Content { hash, why, mends });
                return Ok(());
            };
            // What a purge erased may be indexed or not.
            let is_stone = is_tombstone(&hash, message.canonical().as_bytes());
            if let Some(mut found) = terms_of(row, 10)?.filter(|_| !is_stone) {
                let of_it = terms.numbers(&message).into_iter();
                let mut wanted: Vec<i32> = of_it.map(u32::cast_signed).collect();
                found.sort_unstable();
                wanted.sort_unstable();
                astray += u64::from(found != wanted);
            }
            let shows = Shown::read(row, 4);
            if shows.is_ok_and(|shows| shows == Shown::of_size(&message, size_bytes)) {
                return Ok(());
            }
            check.fault(Fault::Listing { hash });
            Ok(())
        })?;
        if astray > 0 {
            let (what, rows) = ("the search index", astray);
            self.fault(Fault::Derived { what, rows });
        }
        Ok(())
    }

    fn commits(&mut self) -> Result<()> {
        let here: BTreeSet<ContentHash> = self
            .session
            .all("SELECT hash FROM contents", &[], |row| get(row, 0))?
            .into_iter()
            .collect();
        let sql = "SELECT c.id, c.hash, c.canonical, c.depth, p.hash, p.depth, appended.hash,
                 coalesce((p.id IS NOT NULL AND c.lineage = p.lineage)
                     OR (l.parent IS NOT DISTINCT FROM p.lineage
                         AND l.fork_depth IS NOT DISTINCT FROM p.depth), false)
             FROM commits AS c LEFT JOIN commits AS p ON p.id = c.parent
             LEFT JOIN lineages AS l ON l.id = c.lineage
             LEFT JOIN contents AS appended ON appended.id = c.content
             WHERE c.id > $1 ORDER BY c.id LIMIT $2";
        self.each(sql, |check, row| {
            check.done.commits += 1;
            let judged = Judged::read(row, 1)?;
            let (hash, mends) = (judged.hash, false);
            let mut wrong = |why| check.fault(Fault::Commit { hash, why, mends });
            let Some(commit) = judged.commit else {
                wrong("its text is not what was written");
                return Ok(());
            };
            if !judged.is_placed {
                wrong("it does not stand where its parent says");
            } else if !judged.appends {
                wrong("its row is not as it was written");
            }
            let contents = commit.operation.contents();
            if contents.iter().any(|content| !here.contains(content)) {
                wrong("a message that it names is missing");
            }
            Ok(())
        })
    }

    /// Each ref against the log of its moves, those that were deleted too.
    fn refs(&mut self) -> Result<()> {
        let refs = "SELECT name, target, symbolic FROM refs";
        let read = |row: &Row| Ok((get(row, 0)?, check::at(row, 1)?));
        let mut logs = RefLogs::of(self.session.all(refs, &[], read)?);
        let log = "SELECT name, old_target, old_symbolic, new_target, new_symbolic
             FROM reflog ORDER BY id";
        for row in self.session.query(log, &[])? {
            logs.moved(&row)?;
        }
        logs.faults()
            .into_iter()
            .for_each(|fault| self.fault(fault));
        Ok(())
    }

    fn sources(&mut self) -> Result<()> {
        let sql = "SELECT id, size_bytes, fingerprint, session FROM sources
             WHERE id > $1 ORDER BY id LIMIT $2";
        self.each(sql, |check, row| {
            check.done.sources += 1;
            let (id, size_bytes): (i64, u64) = (get(row, 0)?, row.unsigned(1)?);
            let mut read = Fingerprint::default();
            let (mut end, mut is_whole) = (0, true);
            loop {
                let block = "SELECT start, size_bytes, encoding, data FROM source_blocks
                     WHERE source = $1 AND start >= $2 ORDER BY start LIMIT 1";
                let next = check.session.first(block, &[&id, &number(end)], |row| {
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
            let session: Option<RefName> = get(row, 3).ok();
            if !is_whole || end != size_bytes || read.value()[..] != *row.bytes(2)? {
                let why = "its bytes are not what was imported";
                check.fault(Fault::Source { session, why });
                return Ok(());
            }
            let spans = "SELECT spans FROM commit_records WHERE source = $1";
            let is_inside = |span: &Span| check::is_inside(span, size_bytes);
            let inside = check.session.all(spans, &[&id], |row| {
                let spans = unpack_spans(get(row, 0)?);
                Ok(spans.is_ok_and(|spans| spans.iter().all(is_inside)))
            })?;
            if inside.contains(&false) {
                let why = "a record behind a commit is not in it";
                check.fault(Fault::Source { session, why });
            }
            Ok(())
        })
    }
}
