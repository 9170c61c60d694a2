//! What paths lead to: all commits by it, and those out of the tables that nothing leads to.

use std::collections::HashSet;

use super::columns::{get, keys};
use super::path::MERGES;
use super::session::Session;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::store::columns::Columns;
use crate::store::lineage::Lineages;
use crate::store::{ByReach, Dropped, Objects, Reachability, ReachabilityMut, rows};

/// The commits by whose paths all else is judged.
const ROOTS: &str = "SELECT target FROM refs UNION SELECT old_target FROM reflog
     UNION SELECT new_target FROM reflog UNION SELECT commit_id FROM resumes";

/// The commits that something here names beside other commits.
const NAMED: &str = "SELECT target FROM refs UNION SELECT old_target FROM reflog
     UNION SELECT new_target FROM reflog UNION SELECT commit_id FROM resumes
     UNION SELECT commit_id FROM tag_notes UNION SELECT theirs FROM adopted UNION SELECT ours FROM adopted";

/// How far the paths to some commits go along each lineage: of commits whose rows `ends` gives.
fn reached(ends: &str) -> String {
    format!(
        "reached (lineage, last) AS (
             SELECT lineage, max(depth) FROM commits WHERE id IN ({ends}) GROUP BY lineage
             UNION
             SELECT l.parent, l.fork_depth FROM reached JOIN lineages AS l ON l.id = reached.lineage
             WHERE l.parent IS NOT NULL
         ), far (lineage, last) AS (SELECT lineage, max(last) FROM reached GROUP BY lineage)"
    )
}

/// The commits whose rows stand in the first parameter.
const ENDS: &str = "SELECT unnest($1)";

impl Session<'_> {
    /// The rows of these commits, and of all that was merged on the paths to them, and so on: paths to these are
    /// all that they lead to.
    fn ends(&self, mut ends: Vec<i64>) -> Result<Vec<i64>> {
        let sql = format!(
            "WITH RECURSIVE {} SELECT c.hash, c.depth, c.canonical
             FROM far JOIN commits AS c ON c.lineage = far.lineage AND c.depth <= far.last AND {MERGES}",
            reached(ENDS)
        );
        loop {
            let rows = self.all(&sql, &[&ends], |row| rows::commit(row, 0))?;
            let merged = rows.iter().filter_map(|row| row.commit.merged);
            let mut merged: Vec<i64> = merged
                .map(|merged| Ok(self.must_place(&merged)?.id))
                .collect::<Result<_>>()?;
            merged.retain(|id| !ends.contains(id));
            if merged.is_empty() {
                return Ok(ends);
            }
            ends.extend(merged);
        }
    }

    /// The same of those whose rows `sql` gives.
    fn ends_of(&self, sql: &str) -> Result<Vec<i64>> {
        let sql = format!("SELECT id FROM commits WHERE id IN ({sql})");
        self.ends(self.all(&sql, &[], |row| get(row, 0))?)
    }
}

impl Reachability for Session<'_> {
    fn by_reach(&self, tips: &[CommitHash]) -> Result<ByReach> {
        let ends = "SELECT id FROM commits WHERE hash = ANY ($1)";
        let ends = self.ends(self.all(ends, &[&keys(tips)], |row| get(row, 0))?)?;
        let sql = format!(
            "WITH RECURSIVE {} SELECT hash, depth, canonical, coalesce(depth <= last, false)
             FROM commits LEFT JOIN far ON far.lineage = commits.lineage",
            reached(ENDS)
        );
        let mut reach = ByReach::default();
        for row in self.query(&sql, &[&ends])?.iter() {
            let found = rows::commit(row, 0)?;
            if get(row, 3)? {
                reach.reached.push(found)
            } else {
                reach.unreached.push(found)
            }
        }
        Ok(reach)
    }

    fn named_commits(&self) -> Result<Vec<CommitHash>> {
        let sql = format!("SELECT hash FROM commits WHERE id IN ({NAMED}) ORDER BY id");
        self.all(&sql, &[], |row| get(row, 0))
    }
}

impl ReachabilityMut for Session<'_> {
    fn forget_unreached(&self) -> Result<()> {
        // Where a path holds what a commit of a session became, it is still asked which one that was;
        // such a commit's own path may hold more of them.
        let mut ends = self.ends_of(ROOTS)?;
        let mut kept = 0;
        loop {
            let sql = format!(
                "WITH RECURSIVE {} SELECT a.id, a.theirs FROM adopted AS a
                 JOIN commits AS o ON o.id = a.ours
                 JOIN far ON far.lineage = o.lineage AND o.depth <= far.last",
                reached(ENDS)
            );
            let held: Vec<(i64, i64)> =
                self.all(&sql, &[&ends], |row| Ok((get(row, 0)?, get(row, 1)?)))?;
            let theirs: HashSet<i64> = held.iter().map(|(_, theirs)| *theirs).collect();
            if theirs.len() > kept {
                kept = theirs.len();
                ends = self.ends(ends.into_iter().chain(theirs).collect())?;
                continue;
            }
            let held: Vec<i64> = held.into_iter().map(|(id, _)| id).collect();
            self.execute("DELETE FROM adopted WHERE id <> ALL ($1)", &[&held])?;
            let sql = format!(
                "WITH RECURSIVE {} DELETE FROM tag_notes WHERE commit_id NOT IN (
                     SELECT c.id FROM commits AS c
                     JOIN far ON far.lineage = c.lineage AND c.depth <= far.last)
                 OR (tag NOT IN (SELECT name FROM refs) AND tag NOT IN (SELECT name FROM reflog))",
                reached(ENDS)
            );
            return self.execute(&sql, &[&ends]);
        }
    }

    fn drop_unreached(&self) -> Result<Dropped> {
        self.forget();
        let ends = self.ends_of(NAMED)?;
        let sql = format!(
            "WITH RECURSIVE {}, gone AS (
                 DELETE FROM commits AS c WHERE NOT EXISTS (
                     SELECT 1 FROM far WHERE far.lineage = c.lineage AND c.depth <= far.last)
                 RETURNING 1
             ) SELECT count(*) FROM gone",
            reached(ENDS)
        );
        let commits = self
            .first(&sql, &[&ends], |row| row.unsigned(0))?
            .unwrap_or(0);
        if commits > 0 {
            // Their places are given anew.
            self.drop_totals()?;
        }
        let empty = "WITH gone AS (
                 DELETE FROM lineages WHERE id NOT IN (SELECT lineage FROM commits)
                     AND id NOT IN (SELECT parent FROM lineages WHERE parent IS NOT NULL) RETURNING 1
             ) SELECT count(*) FROM gone";
        while self.first(empty, &[], |row| get::<i64>(row, 0))? != Some(0) {}

        // What was erased stays so, whenever it comes in again.
        let mut named: HashSet<ContentHash> = self.tombstones()?.into_iter().collect();
        let others = "SELECT hash, depth, canonical FROM commits WHERE content IS NULL";
        for row in self.query(others, &[])?.iter() {
            named.extend(rows::commit(row, 0)?.commit.operation.contents());
        }
        let named: Vec<ContentHash> = named.into_iter().collect();
        let sql = "WITH gone AS (
                 DELETE FROM contents AS c WHERE hash <> ALL ($1)
                     AND NOT EXISTS (SELECT 1 FROM commits WHERE content = c.id)
                 RETURNING id, size_bytes
             ) SELECT id, size_bytes FROM gone";
        let gone = self.all(sql, &[&keys(&named)], |row| {
            Ok((get::<i64>(row, 0)?, row.unsigned(1)?))
        })?;
        self.forget_words(gone.iter().map(|(id, _)| *id).collect())?;
        Ok(Dropped {
            commits,
            contents: gone.len() as u64,
            size_bytes: gone.iter().map(|(_, size_bytes)| size_bytes).sum(),
        })
    }
}
