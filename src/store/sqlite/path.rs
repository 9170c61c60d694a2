//! Paths: the commits that lead to one, read lineage by lineage from the root on.
//!
//! Rows that were written one after the other stand one after the other in every table, and forward is
//! the way in which the engine finds the next of each without a search. So a path is read oldest first,
//! whoever wants it newest first.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rusqlite::{Params, params};

use super::codec::{Row, blob, damaged};
use super::session::{Session, keyed};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Encoding;
use crate::store::Objects;
use crate::store::columns::Columns;
use crate::store::lineage::{Lineages, Path, Place, Stretch, no_commit_at};
use crate::store::{Appended, CommitRow, Facts, ListedCommit, Visit, rows};

/// What stands in the text of each commit that sets anything.
static SETS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"settings\":{"));

/// The commits of a stretch.
const COMMITS: &str = "SELECT hash, depth, canonical FROM commits
     WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 AND intact!(commits) ORDER BY depth";

/// What was counted of the content that a commit appends.
const COUNTED: &str = "LEFT JOIN counts ON counts.content = commits.content AND encoding = ?4
     AND mask = x'' AND intact!(counts, content = commits.content)";

/// The tools' uses in it.
const USED: &str = "LEFT JOIN tool_uses ON calls + results > 0
     AND tool_uses.content = commits.content AND intact!(tool_uses)";

/// Of lineages, each one's parent and the depth at which it parts from that.
pub(super) type Forks = HashMap<i64, (Option<i64>, Option<i64>)>;

impl Session<'_> {
    /// Makes sure that the commits for which nothing was found are not here.
    pub(super) fn prove_absent_where<T>(
        &self,
        hashes: &[CommitHash],
        found: &[Option<T>],
    ) -> Result<()> {
        let absent = hashes.iter().zip(found).filter(|(_, row)| row.is_none());
        let absent: Vec<CommitHash> = absent.map(|(hash, _)| *hash).collect();
        self.prove_commits_absent(&absent)
    }

    /// Makes sure that commits which were not found are not here. Where something is written, most
    /// that is looked for is new, and the index refuses what it has already.
    pub(super) fn prove_commits_absent(&self, hashes: &[CommitHash]) -> Result<()> {
        if self.writes || hashes.is_empty() {
            return Ok(());
        }
        let beside = keyed::<CommitHash>("SELECT neighbours!(commits, hash, key) FROM keys");
        self.scan(&beside, [blob(hashes)], |_| Ok(true)).map(|_| ())
    }

    /// The lineages along which the path to a place goes, from its end, each with the depth of the
    /// last commit on it.
    pub(super) fn lineages(&self, end: Place) -> Result<Vec<(i64, i64)>> {
        self.lineages_to((end.lineage, end.depth), &Forks::new())
    }

    /// The same of a lineage and a depth; what is known of forks is not read.
    pub(super) fn lineages_to(&self, end: (i64, i64), known: &Forks) -> Result<Vec<(i64, i64)>> {
        let sql = "SELECT parent, fork_depth FROM lineages WHERE id = ?1 AND intact!(lineages)";
        let mut lineages = vec![end];
        let (mut lineage, _) = end;
        loop {
            let fork = match known.get(&lineage) {
                Some(fork) => *fork,
                None => self
                    .first(sql, [lineage], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .ok_or_else(|| damaged(format!("lineage {lineage} is missing")))?,
            };
            let (Some(parent), Some(fork_depth)) = fork else {
                return Ok(lineages);
            };
            lineages.push((parent, fork_depth));
            lineage = parent;
        }
    }

    /// Where all lineages part from others, if there are at most so many.
    pub(super) fn forks(&self, most: usize) -> Result<Forks> {
        let last = "SELECT coalesce(max(id), 0) FROM lineages";
        let last = self.first(last, [], |row| row.unsigned(0))?.unwrap_or(0);
        let mut forks = Forks::new();
        if last <= most as u64 {
            let all = "SELECT id, parent, fork_depth FROM lineages WHERE intact!(lineages)";
            self.scan(all, [], |row| {
                forks.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
                Ok(true)
            })?;
        }
        Ok(forks)
    }

    /// What on a lineage, up to this depth, appends nothing, the newest first.
    ///
    /// An index alone tells, so that of a long lineage only these are read; and all of them are, since only
    /// their number says that the index has lost none.
    fn changes_along(&self, lineage: i64, last: i64) -> Result<Vec<CommitRow>> {
        let sql = "SELECT changes FROM lineages WHERE id = ?1 AND intact!(lineages)";
        let count: Option<u64> = self.first(sql, [lineage], |row| row.get(0))?;
        let sql = "SELECT hash, depth, CASE WHEN depth <= ?2 THEN canonical END, depth <= ?2
             FROM commits WHERE lineage = ?1 AND content IS NULL AND intact!(commits)
             ORDER BY depth DESC";
        let (mut found, mut read, mut above) = (Vec::new(), 0, i64::MAX);
        let mut is_ordered = true;
        self.scan(sql, [lineage, last], |row| {
            let depth = row.get(1)?;
            is_ordered &= depth < above;
            (read, above) = (read + 1, depth);
            if row.get(3)? {
                found.push(rows::commit(row, 0)?);
            }
            Ok(true)
        })?;
        if is_ordered && count == Some(read) {
            Ok(found)
        } else {
            Err(damaged(format!(
                "what changed lineage {lineage} is not all there"
            )))
        }
    }

    /// Counts the commits of each lineage that append nothing, where some may have gone.
    pub(super) fn count_changes(&self) -> Result<()> {
        let sql = "UPDATE lineages SET changes = n, seal = sealed(id, parent, fork_depth, n)
             FROM (SELECT l.id AS of, count(commits.id) AS n
                   FROM lineages AS l
                   LEFT JOIN commits ON commits.lineage = l.id AND commits.content IS NULL
                   GROUP BY l.id)
             WHERE of = lineages.id AND changes IS NOT n
               AND seal = sealed(id, parent, fork_depth, changes)";
        self.execute(sql, [])
    }

    /// Reads rows of a lineage, whose second column is their depth: one for each of these, in their order.
    fn scan_whole(
        &self,
        sql: &str,
        params: impl Params,
        depths: RangeInclusive<i64>,
        mut read: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let (mut next, last) = depths.into_inner();
        self.scan(sql, params, |row| {
            if row.number(1)? != next {
                return Err(no_commit_at(next));
            }
            next += 1;
            read(row).map(|()| true)
        })?;
        if next <= last {
            Err(no_commit_at(next))
        } else {
            Ok(())
        }
    }
}

impl Lineages for Session<'_> {
    fn place(&self, hash: &CommitHash) -> Result<Option<Place>> {
        let known = self.memo.place(hash);
        if let Some(place) = known.or_else(|| self.ends.borrow().get(hash).copied()) {
            return Ok(Some(place));
        }
        let sql = "SELECT id, lineage, depth FROM commits WHERE hash = ?1 AND intact!(commits)";
        let place = self.first(sql, [hash], |row| rows::place(row, 0))?;
        match place {
            None => self.prove_commits_absent(&[*hash])?,
            Some(place) if self.writes => self.memo.saw(*hash, place),
            Some(_) => {}
        }
        Ok(place)
    }

    fn path(&self, tip: &CommitHash) -> Result<Path> {
        let end = self.place(tip)?;
        let path = end.map(|end| self.lineages(end)).transpose()?;
        Ok(Arc::new(path.unwrap_or_default()))
    }

    fn standing(&self, commits: &[CommitHash]) -> Result<Vec<Option<(i64, i64)>>> {
        let found = self.by_key(
            "SELECT n, lineage, depth FROM keys CROSS JOIN commits ON hash = key
             AND intact!(commits, hash = key)",
            commits,
            |row| Ok((row.get(1)?, row.get(2)?)),
        )?;
        self.prove_absent_where(commits, &found)?;
        Ok(found)
    }

    fn name_at(&self, lineage: i64, depth: i64) -> Result<Option<CommitHash>> {
        let sql = "SELECT hash FROM commits WHERE lineage = ?1 AND depth = ?2
             AND intact!(commits)";
        self.first(sql, [lineage, depth], |row| row.get(0))
    }

    fn changes_on(&self, path: &[(i64, i64)]) -> Result<Vec<CommitRow>> {
        let mut found: Vec<CommitRow> = Vec::new();
        for (lineage, last) in path {
            found.extend(self.changes_along(*lineage, *last)?);
        }
        found.reverse();
        Ok(found)
    }

    fn merges_on(&self, path: &[(i64, i64)]) -> Result<Vec<CommitRow>> {
        let mut found: Vec<CommitRow> = Vec::new();
        if path.is_empty() || !self.may_merge()? {
            return Ok(found);
        }
        let sql = "SELECT hash, depth, canonical FROM commits
             WHERE lineage = ?1 AND depth <= ?2 AND instr(canonical, '\"merged\":\"') > 0
             AND intact!(commits) ORDER BY depth";
        for (lineage, last) in path.iter().rev() {
            found.extend(self.all(sql, [*lineage, *last], |row| rows::commit(row, 0))?);
        }
        // A setting may be called so, too.
        found.retain(|row| row.commit.merged.is_some());
        Ok(found)
    }

    fn scan_commits(&self, parts: &[Stretch], visit: Visit<'_, CommitRow>) -> Result<()> {
        for part in parts {
            self.scan(COMMITS, part.params(), |row| {
                visit(rows::commit(row, 0)?).map(|()| true)
            })?;
        }
        Ok(())
    }

    fn scan_listed(
        &self,
        parts: &[Stretch],
        encoding: Encoding,
        visit: Visit<'_, ListedCommit>,
    ) -> Result<()> {
        let sql = format!(
            "SELECT commits.hash, depth, canonical, contents.hash, role, preview, size_bytes,
                 calls, results, tokens, estimated, uses
             FROM commits
             LEFT JOIN contents ON contents.id = commits.content AND intact!(contents)
             {COUNTED} {USED}
             WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 AND intact!(commits) ORDER BY depth"
        );
        for part in parts {
            let [lineage, first, last] = part.params();
            self.scan(&sql, params![lineage, first, last, encoding], |row| {
                let mut listed = rows::listed(row)?;
                let said = listed.said.as_ref().filter(|_| listed.uses.is_none());
                if let Some(said) = said.filter(|said| said.calls + said.results > 0) {
                    listed.uses = self.tool_uses(&[said.hash])?.pop().flatten();
                }
                visit(listed).map(|()| true)
            })?;
        }
        Ok(())
    }

    /// Rows alone: what a commit appends stands under its seal.
    fn scan_appended(
        &self,
        parts: &[Stretch],
        facts: Facts,
        visit: Visit<'_, Appended>,
    ) -> Result<()> {
        let (uses, uses_of) = if facts.links {
            ("uses", USED)
        } else {
            ("NULL", "")
        };
        let (tokens, tokens_of) = match facts.counts {
            None => ("NULL, NULL", ""),
            Some(_) => ("tokens, estimated", COUNTED),
        };
        let sql = format!(
            "SELECT commits.hash, depth, contents.hash, role, calls + results, {uses}, {tokens},
                 commits.content IS NULL
             FROM commits
             LEFT JOIN contents ON contents.id = commits.content AND intact!(contents)
             {uses_of} {tokens_of}
             WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 AND ?4 IS ?4 AND intact!(commits)
             ORDER BY depth"
        );
        for part in parts {
            let [lineage, first, last] = part.params();
            let params = params![lineage, first, last, facts.counts];
            self.scan_whole(&sql, params, first..=last, |row| {
                rows::appended(row)?.map_or(Ok(()), &mut *visit)
            })?;
        }
        Ok(())
    }

    fn scan_setting(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        visit: Visit<'_, CommitRow>,
    ) -> Result<()> {
        for part in self.parts(tip, after, usize::MAX)? {
            self.scan_whole(COMMITS, part.params(), part.first..=part.last, |row| {
                // Few commits set any: the others are held against their names and not read.
                let (hash, canonical): (CommitHash, &str) = (row.get(0)?, row.get(2)?);
                let canonical = canonical.as_bytes();
                if SETS.find(canonical).is_none() && hash.names(canonical) {
                    return Ok(());
                }
                visit(rows::commit(row, 0)?)
            })?;
        }
        Ok(())
    }
}

impl Stretch {
    /// The first three parameters of a statement about it.
    fn params(&self) -> [i64; 3] {
        [self.lineage, self.first, self.last]
    }
}
