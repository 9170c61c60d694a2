//! What paths lead to: all commits by it, and those out of the file that nothing leads to.

use std::collections::{HashMap, HashSet};

use super::codec::number;
use super::session::Session;
use super::verify::unsound;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::store::columns::Columns;
use crate::store::lineage::{Lineages, Place};
use crate::store::{ByReach, Dropped, Objects, Reachability, ReachabilityMut, rows};

/// Indexes for the columns that may name a commit and that nobody else looks by: for each commit
/// that goes, SQLite looks for all that could name it.
const NAMES: [(&str, &str); 10] = [
    ("commits_by_parent", "commits (parent)"),
    ("reflog_by_old", "reflog (old_target)"),
    ("reflog_by_new", "reflog (new_target)"),
    ("refs_by_target", "refs (target)"),
    ("notes_by_commit", "tag_notes (commit_id)"),
    ("resumes_by_commit", "resumes (commit_id)"),
    ("adopted_by_theirs", "adopted (theirs)"),
    ("adopted_by_ours", "adopted (ours)"),
    ("usage_details_by_commit", "usage_details (commit_id)"),
    ("injected_by_commit", "injected (commit_id)"),
];

/// The commits by whose paths all else is judged.
const ROOTS: &str = "SELECT target FROM refs WHERE intact!(refs)
     UNION SELECT old_target FROM reflog WHERE intact!(reflog) UNION SELECT new_target FROM reflog
     UNION SELECT commit_id FROM resumes WHERE intact!(resumes)";

/// What is remembered of any.
const REMEMBERED: &str = "UNION SELECT commit_id FROM tag_notes WHERE intact!(tag_notes)
     UNION SELECT theirs FROM adopted WHERE intact!(adopted) UNION SELECT ours FROM adopted";

/// The commits that something here names beside other commits: those by whose paths all else is judged,
/// and more.
fn named(more: &str) -> String {
    format!(
        "SELECT id, lineage, depth, hash FROM commits WHERE id IN ({ROOTS} {more})
             AND intact!(commits)"
    )
}

impl Session<'_> {
    /// How far paths that end in these places go along each lineage, with those that were merged there.
    fn reached(&self, ends: impl IntoIterator<Item = Place>) -> Result<HashMap<i64, i64>> {
        let mut reached: HashMap<i64, i64> = HashMap::new();
        let mut open: Vec<Place> = ends.into_iter().collect();
        while !open.is_empty() {
            let mut grown: HashMap<i64, (i64, i64)> = HashMap::new();
            for end in std::mem::take(&mut open) {
                for (lineage, depth) in self.lineages(end)? {
                    let last = reached.entry(lineage).or_insert(-1);
                    if depth > *last {
                        grown.entry(lineage).or_insert((*last, depth)).1 = depth;
                        *last = depth;
                    }
                }
            }
            for (lineage, (known, last)) in grown {
                open.extend(self.merged_between(lineage, known, last)?);
            }
        }
        Ok(reached)
    }

    /// The places of what was merged on a lineage after one depth, up to another.
    fn merged_between(&self, lineage: i64, after: i64, last: i64) -> Result<Vec<Place>> {
        // Whatever the format's number says: what this misses would be taken out.
        let sql = "SELECT hash, depth, canonical FROM commits
             WHERE lineage = ?1 AND depth > ?2 AND depth <= ?3
             AND instr(canonical, '\"merged\":\"') > 0 AND intact!(commits)";
        let rows = self.all(sql, [lineage, after, last], |row| rows::commit(row, 0))?;
        let merged = rows.iter().filter_map(|row| row.commit.merged);
        merged.map(|merged| self.must_place(&merged)).collect()
    }
}

impl Reachability for Session<'_> {
    fn by_reach(&self, tips: &[CommitHash]) -> Result<ByReach> {
        let mut places = Vec::with_capacity(tips.len());
        for tip in tips {
            places.extend(self.place(tip)?);
        }
        let reached = self.reached(places)?;
        let mut reach = ByReach::default();
        let sql = "SELECT lineage, hash, depth, canonical FROM commits WHERE intact!(commits)";
        self.scan(sql, [], |row| {
            let lineage: i64 = row.get(0)?;
            let row = rows::commit(row, 1)?;
            let last = reached.get(&lineage);
            if last.is_some_and(|last| number(row.depth) <= *last) {
                reach.reached.push(row)
            } else {
                reach.unreached.push(row)
            }
            Ok(true)
        })?;
        Ok(reach)
    }

    fn named_commits(&self) -> Result<Vec<CommitHash>> {
        self.all(&named(REMEMBERED), [], |row| row.get(3))
    }
}

impl ReachabilityMut for Session<'_> {
    fn forget_unreached(&self) -> Result<()> {
        let mut ends = self.all(&named(""), [], |row| rows::place(row, 0))?;
        let pairs = "SELECT adopted.id, o.id, o.lineage, o.depth, t.id, t.lineage, t.depth
             FROM adopted
             JOIN commits AS o ON o.id = ours AND intact!(commits AS o)
             JOIN commits AS t ON t.id = theirs AND intact!(commits AS t) WHERE intact!(adopted)";
        let mut pairs: Vec<(i64, Place, Place)> = self.all(pairs, [], |row| {
            Ok((row.get(0)?, rows::place(row, 1)?, rows::place(row, 4)?))
        })?;
        // Where a path holds what a commit of a session became, it is still asked which one that was.
        loop {
            let reached = self.reached(ends.iter().copied())?;
            let holds = |place: &Place| {
                let last = reached.get(&place.lineage);
                last.is_some_and(|last| place.depth <= *last)
            };
            let before = ends.len();
            pairs.retain(|(_, ours, theirs)| {
                let stays = holds(ours);
                ends.extend(stays.then_some(*theirs));
                !stays
            });
            if ends.len() == before {
                for (id, ..) in &pairs {
                    self.execute("DELETE FROM adopted WHERE id = ?1", [id])?;
                }
                let notes = "SELECT tag, c.id, c.lineage, c.depth FROM tag_notes
                     JOIN commits AS c ON c.id = commit_id";
                let notes: Vec<(String, Place)> =
                    self.all(notes, [], |row| Ok((row.get(0)?, rows::place(row, 1)?)))?;
                for (tag, _) in notes.iter().filter(|(_, place)| !holds(place)) {
                    self.execute("DELETE FROM tag_notes WHERE tag = ?1", [tag])?;
                }
                return self.execute(
                    "DELETE FROM tag_notes WHERE tag NOT IN (SELECT name FROM refs)
                         AND tag NOT IN (SELECT name FROM reflog)",
                    [],
                );
            }
        }
    }

    /// Deletes the commits that nothing leads to, and the contents that none names then.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where any page or index is: what an index has lost would seem to be named
    /// by nothing.
    fn drop_unreached(&self) -> Result<Dropped> {
        self.memo.forget();
        if let Some(detail) = unsound(self)?.into_iter().next() {
            return Err(Error::Damaged { detail });
        }
        let ends = self.all(&named(REMEMBERED), [], |row| rows::place(row, 0))?;
        let reached = self.reached(ends)?;
        let mut commits = Vec::new();
        // Children first, for they name their parents.
        let sql = "SELECT id, lineage, depth FROM commits WHERE intact!(commits) ORDER BY id DESC";
        self.scan(sql, [], |row| {
            let (lineage, depth): (i64, i64) = (row.get(1)?, row.get(2)?);
            if reached.get(&lineage).is_none_or(|last| depth > *last) {
                commits.push(row.get::<i64>(0)?);
            }
            Ok(true)
        })?;
        // Freed pages are overwritten even before the file is rewritten.
        self.first("PRAGMA secure_delete = ON", [], |row| row.get::<i64>(0))?;
        if !commits.is_empty() {
            // Their places are given anew.
            self.drop_totals()?;
            for (index, column) in NAMES {
                self.execute(&format!("CREATE INDEX {index} ON {column}"), [])?;
            }
            for id in &commits {
                self.execute("DELETE FROM commits WHERE id = ?1", [id])?;
            }
            for (index, _) in NAMES {
                self.execute(&format!("DROP INDEX {index}"), [])?;
            }
            self.count_changes()?;
        }
        let empty = "DELETE FROM lineages WHERE id NOT IN (SELECT lineage FROM commits)
             AND id NOT IN (SELECT parent FROM lineages WHERE parent IS NOT NULL)";
        while self.changed(empty, [])? > 0 {}

        // What was erased stays so, whenever it comes in again.
        let mut named: HashSet<ContentHash> = self.tombstones()?.into_iter().collect();
        let others = "SELECT hash, depth, canonical FROM commits WHERE content IS NULL";
        self.scan(others, [], |row| {
            named.extend(rows::commit(row, 0)?.commit.operation.contents());
            Ok(true)
        })?;
        let sql = "SELECT id, hash, size_bytes FROM contents
             WHERE id NOT IN (SELECT content FROM commits WHERE content IS NOT NULL)
             AND intact!(contents)";
        let (mut contents, mut size_bytes) = (Vec::new(), 0);
        self.scan(sql, [], |row| {
            if !named.contains(&row.get(1)?) {
                contents.push(row.get::<i64>(0)?);
                size_bytes += row.unsigned(2)?;
            }
            Ok(true)
        })?;
        if !contents.is_empty() {
            self.forget_pieces_of(&contents)?;
        }
        for id in &contents {
            self.execute("DELETE FROM search WHERE rowid = ?1", [id])?;
            self.execute("DELETE FROM contents WHERE id = ?1", [id])?;
        }
        self.forget_words(contents.iter().copied().collect())?;
        Ok(Dropped {
            commits: commits.len() as u64,
            contents: contents.len() as u64,
            size_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use crate::store::sqlite::Sqlite;
    use crate::store::{Store, contract};

    #[test]
    fn what_nothing_leads_to_goes_in_linear_work() {
        let work = |commits: usize| {
            let mut store = Sqlite::in_memory().expect("a database");
            contract::line(&store, commits);
            let steps = store.count_steps();
            let tx = store.write().expect("the lock");
            let dropped = tx.drop_unreached().expect("dropped");
            assert_eq!(dropped.contents as usize, commits);
            tx.commit().expect("done");
            steps.load(Ordering::Relaxed)
        };
        let (some, twice) = (work(300), work(600));
        assert!(twice < some * 5 / 2, "{some} {twice}");
    }
}
