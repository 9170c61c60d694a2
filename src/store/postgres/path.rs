//! Paths: the commits that lead to one, oldest first, in ranges of lineages.

use std::sync::Arc;

use tokio_postgres::Row;

use super::ahead::{APPENDED, LISTED};
use super::columns::{From, Parameter, get};
use super::driver::Asked;
use super::link::asked;
use super::session::Session;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Encoding;
use crate::store::codec::encoding_number;
use crate::store::lineage::{Lineages, Path, Place, Stretch, no_commit_at};
use crate::store::{Appended, CommitRow, Facts, ListedCommit, Visit, rows};

/// What holds of the text of a commit that has a second parent, and of few others.
pub(super) const MERGES: &str = "position('\"merged\":\"'::bytea IN canonical) > 0";

/// How many commits are asked for at once.
const BATCH: i64 = 4_096;

impl Session<'_> {
    /// Reads the rows of these parts in their order, a batch at a time: no answer is under way while
    /// one is read. `sql` takes them as `part`, from the first three parameters, and its second column is
    /// the depth: there is a row for each.
    fn scan(
        &self,
        sql: &str,
        parts: &[Stretch],
        more: &[&dyn Parameter],
        read: &mut dyn FnMut(&From<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut open = parts.iter().copied().peekable();
        while open.peek().is_some() {
            let (mut batch, mut left) = (Vec::new(), BATCH);
            while let Some(next) = open.peek_mut().filter(|_| left > 0) {
                let last = next.last.min(next.first + left - 1);
                batch.push(Stretch { last, ..*next });
                left -= last - next.first + 1;
                next.first = last + 1;
                if next.first > next.last {
                    open.next();
                }
            }
            let column = |of: fn(&Stretch) -> i64| batch.iter().map(of).collect::<Vec<i64>>();
            let (lineages, firsts) = (column(|one| one.lineage), column(|one| one.first));
            let lasts = column(|one| one.last);
            let mut parameters: Vec<&dyn Parameter> = vec![&lineages, &firsts, &lasts];
            parameters.extend(more);
            let mut depths = batch.iter().flat_map(|one| one.first..=one.last);
            for row in self.query(sql, &parameters)?.iter() {
                let next = depths.next();
                if next != Some(get(row, 1)?) {
                    return Err(no_commit_at(next.unwrap_or_default()));
                }
                read(&From(row, 0))?;
            }
            if let Some(depth) = depths.next() {
                return Err(no_commit_at(depth));
            }
        }
        Ok(())
    }
}

impl Lineages for Session<'_> {
    fn place(&self, hash: &CommitHash) -> Result<Option<Place>> {
        if let Some(place) = self.known.place(hash) {
            return Ok(Some(place));
        }
        let sql = "SELECT id, lineage, depth FROM commits WHERE hash = $1";
        let place = self.first_aside(sql, &[hash], |row| rows::place(row, 0))?;
        if let Some(place) = place {
            self.known.saw(*hash, place);
        }
        Ok(place)
    }

    fn path(&self, tip: &CommitHash) -> Result<Path> {
        if let Some(path) = self.known.path(tip) {
            return Ok(path);
        }
        let rows = self.query(
            "WITH RECURSIVE path (lineage, last, at) AS (
                 SELECT lineage, depth, 0 FROM commits WHERE hash = $1
                 UNION ALL
                 SELECT l.parent, l.fork_depth, at + 1 FROM path JOIN lineages AS l ON l.id = lineage
                 WHERE l.parent IS NOT NULL
             ) SELECT lineage, last FROM path ORDER BY at",
            &[tip],
        )?;
        let path = rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let path = Arc::new(path.collect::<Result<Vec<(i64, i64)>>>()?);
        if !path.is_empty() {
            self.known.saw_path(*tip, &path);
        }
        Ok(path)
    }

    fn standing(&self, commits: &[CommitHash]) -> Result<Vec<Option<(i64, i64)>>> {
        let known = commits.iter().map(|commit| self.known.place(commit));
        let known: Option<Vec<Place>> = known.collect();
        if let Some(known) = known {
            let at = known.into_iter().map(|place| (place.lineage, place.depth));
            return Ok(at.map(Some).collect());
        }
        self.by_key(
            "SELECT n, lineage, depth
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key",
            commits,
            |row| Ok((get(row, 1)?, get(row, 2)?)),
        )
    }

    fn name_at(&self, lineage: i64, depth: i64) -> Result<Option<CommitHash>> {
        if let Some(foreseen) = self.ahead.name_at(lineage, depth)? {
            return Ok(Some(foreseen));
        }
        let sql = "SELECT hash FROM commits WHERE lineage = $1 AND depth = $2";
        self.first(sql, &[&lineage, &depth], |row| get(row, 0))
    }

    /// An index tells.
    fn merges_on(&self, path: &[(i64, i64)]) -> Result<Vec<CommitRow>> {
        let (lineages, lasts): (Vec<i64>, Vec<i64>) = path.iter().copied().unzip();
        let sql = format!(
            "SELECT hash, depth, canonical FROM unnest($1, $2) AS part (lineage, last)
             JOIN commits AS c ON c.lineage = part.lineage AND c.depth <= part.last AND {MERGES}
             ORDER BY depth"
        );
        let mut found = self.all(&sql, &[&lineages, &lasts], |row| rows::commit(row, 0))?;
        // A setting may be called so, too.
        found.retain(|row| row.commit.merged.is_some());
        Ok(found)
    }

    fn changes_on(&self, path: &[(i64, i64)]) -> Result<Vec<CommitRow>> {
        if let Some(foreseen) = self.ahead.changes(path, |row| rows::commit(row, LISTED)) {
            return foreseen;
        }
        let found = self.ask(changes_asked(path)?)?;
        found.iter().map(|row| rows::commit(row, 0)).collect()
    }

    fn scan_commits(&self, parts: &[Stretch], visit: Visit<'_, CommitRow>) -> Result<()> {
        let sql =
            format!("SELECT hash, commits.depth, canonical FROM {PARTS} ORDER BY commits.depth");
        let mut read = |row: &From<'_>| visit(rows::commit(row, 0)?);
        if self
            .ahead
            .tells(parts, &mut |row| read(&From(row, LISTED)))?
        {
            return Ok(());
        }
        self.scan(&sql, parts, &[], &mut read)
    }

    fn scan_listed(
        &self,
        parts: &[Stretch],
        encoding: Encoding,
        visit: Visit<'_, ListedCommit>,
    ) -> Result<()> {
        let sql = format!(
            "SELECT commits.hash, commits.depth, canonical, contents.hash, role, preview, size_bytes,
                 calls, results, tokens, estimated, uses
             FROM {PARTS} LEFT JOIN contents ON contents.id = commits.content {COUNTED} {USED}
             ORDER BY commits.depth"
        );
        let mut read = |row: &From<'_>| visit(rows::listed(row)?);
        if encoding == Encoding::default()
            && self
                .ahead
                .tells(parts, &mut |row| read(&From(row, LISTED)))?
        {
            return Ok(());
        }
        self.scan(&sql, parts, &[&encoding_number(encoding)], &mut read)
    }

    fn scan_appended(
        &self,
        parts: &[Stretch],
        facts: Facts,
        visit: Visit<'_, Appended>,
    ) -> Result<()> {
        let (uses, uses_of) = if facts.links {
            ("uses", USED)
        } else {
            ("NULL::bytea", "")
        };
        let (tokens, tokens_of) = match facts.counts {
            None => ("NULL::bigint, NULL::boolean", ""),
            Some(_) => ("tokens, estimated", COUNTED),
        };
        let sql = format!(
            "SELECT commits.hash, commits.depth, contents.hash, role, calls + results, {uses}, {tokens},
                 commits.content IS NULL
             FROM {PARTS} LEFT JOIN contents ON contents.id = commits.content {uses_of} {tokens_of}
             ORDER BY commits.depth"
        );
        let encoding = facts.counts.map(encoding_number);
        let more: &[&dyn Parameter] = match &encoding {
            Some(encoding) => &[encoding],
            None => &[],
        };
        let is_usual = facts.counts.is_none_or(|of| of == Encoding::default());
        let mut foreseen = |row: &Row| {
            let appended = rows::appended(&From(row, APPENDED))?;
            let asked = appended.map(|one| Appended {
                links: one.links.filter(|_| facts.links),
                count: one.count.filter(|_| facts.counts.is_some()),
                ..one
            });
            asked.map_or(Ok(()), &mut *visit)
        };
        if is_usual && self.ahead.tells(parts, &mut foreseen)? {
            return Ok(());
        }
        let mut read = |row: &From<'_>| rows::appended(row)?.map_or(Ok(()), &mut *visit);
        self.scan(&sql, parts, more, &mut read)
    }
}

/// What on a path appends nothing.
pub(super) fn changes_asked(path: &[(i64, i64)]) -> Result<Asked> {
    let (lineages, lasts): (Vec<i64>, Vec<i64>) = path.iter().copied().unzip();
    let sql = "SELECT hash, commits.depth, canonical
         FROM unnest($1, $2) AS part (lineage, last) JOIN commits
         ON commits.lineage = part.lineage AND commits.depth <= last AND content IS NULL
         ORDER BY commits.depth";
    asked(sql, &[&lineages, &lasts])
}

/// The commits of some parts.
const PARTS: &str = "unnest($1, $2, $3) AS part (lineage, first, last)
     JOIN commits ON commits.lineage = part.lineage AND commits.depth BETWEEN first AND last";

const COUNTED: &str = "LEFT JOIN counts ON counts.content = commits.content AND encoding = $4
     AND mask = ''::bytea";

const USED: &str = "LEFT JOIN tool_uses
     ON calls + results > 0 AND tool_uses.content = commits.content";
