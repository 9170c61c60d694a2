//! Refs, operations, the log of moves, what is remembered beside refs, and the configuration.

use std::collections::HashMap;

use rusqlite::params;

use super::codec::{Row, damaged, number};
use super::schema::AT_COMMITS;
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Author, Millis, PURGED, RefName, RefValue};
use crate::store::columns::Columns;
use crate::store::lineage::Lineages;
use crate::store::refs::{COLLECTED, Seat, kept, seen, words_after_purge};
use crate::store::tables::{self, Only, Purge};
use crate::store::{
    Activity, AdoptedRow, Collections, MovesOf, Opening, OperationRow, ReflogRow, Refs, RefsMut,
    Upkeep, rows,
};

/// The moves for which a condition holds.
fn moves(condition: &str) -> String {
    format!(
        "SELECT operation, name, old_target, older.hash, old_symbolic,
             new_target, newer.hash, new_symbolic
         FROM reflog
         LEFT JOIN commits AS older ON older.id = old_target AND intact!(commits AS older)
         LEFT JOIN commits AS newer ON newer.id = new_target AND intact!(commits AS newer)
         WHERE intact!(reflog) AND {condition}"
    )
}

/// What is wrong with a ref whose moves don't lead to where it is.
fn broken(name: &RefName) -> Error {
    damaged(format!("the log of {name} has a gap"))
}

impl Session<'_> {
    /// Makes sure that a ref which was not found is not there: neither beside its place, nor by its
    /// log.
    fn prove_ref_absent(&self, name: &RefName) -> Result<()> {
        let beside = "SELECT neighbours!(refs, name, ?1)";
        self.first(beside, [name], |_| Ok(()))?;
        let newest = "SELECT new_target IS NULL AND new_symbolic IS NULL FROM reflog
             WHERE name = ?1 AND intact!(reflog) ORDER BY id DESC LIMIT 1";
        match self.first(newest, [name], |row| row.get(0))? {
            Some(false) => Err(broken(name)),
            Some(true) | None => Ok(()),
        }
    }

    /// Makes sure that no operation is missing among those found before `before`: their numbers have
    /// no gap, from the first that is not forgotten up to the last that was given.
    fn prove_operations_whole(
        &self,
        before: Option<u64>,
        found: &[OperationRow],
        limit: usize,
    ) -> Result<()> {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'operations'";
        let given = self.first(sql, [], |row| row.unsigned(0))?.unwrap_or(0);
        let oldest = if found.len() < limit {
            self.kept_collections()?.forgotten.unwrap_or(1)
        } else {
            0
        };
        let newest = before.map_or(given, |before| given.min(before.saturating_sub(1)));
        let mut ids = found.iter().map(|row| row.id);
        let lost = match ids.next() {
            None => (limit > 0 && newest >= oldest).then_some(newest),
            Some(first) if first != newest => Some(newest),
            Some(first) => {
                let gap = ids.zip((0..first).rev()).find(|(id, next)| id != next);
                let last = found.last().map_or(0, |row| row.id);
                gap.map(|(_, next)| next)
                    .or((last > oldest && found.len() < limit).then(|| last - 1))
            }
        };
        match lost {
            Some(id) => Err(damaged(format!("operation {id} is missing"))),
            None => Ok(()),
        }
    }

    fn moves_of_operation(&self, operation: u64) -> Result<Vec<ReflogRow>> {
        let sql = moves("operation = ?1 ORDER BY reflog.id");
        let found = self.all(&sql, [number(operation)], |row| rows::moved(row))?;
        let beside = "SELECT neighbours!(reflog, operation, ?1)";
        self.first(beside, [number(operation)], |_| Ok(()))?;
        self.prove_moves_whole(operation, &found)?;
        let mut found = self.seen_moves(found);
        found.retain(|row| row.old != row.new);
        Ok(found)
    }

    fn moves_of_ref(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
        let name = kept(self.seat(), name);
        let sql = moves(&format!(
            "name = ?1 AND NOT ({STAYED}) ORDER BY reflog.id DESC LIMIT ?2"
        ));
        let params = params![name, number(limit as u64)];
        let found = self.all(&sql, params, |row| rows::moved(row))?;
        // Each move begins where the one before it ended, and the last ends where the ref is.
        let mut next = match limit {
            0 => return Ok(found),
            _ => self.kept_reference(name)?,
        };
        for row in &found {
            if row.name != *name || row.new != next {
                return Err(broken(name));
            }
            next.clone_from(&row.old);
        }
        match next {
            Some(_) if found.len() < limit => Err(broken(name)),
            _ => Ok(self.seen_moves(found)),
        }
    }

    fn seen_moves(&self, mut moves: Vec<ReflogRow>) -> Vec<ReflogRow> {
        for row in &mut moves {
            row.name = seen(self.seat(), row.name.clone());
        }
        moves
    }

    /// What the ref holds that is kept under this name.
    fn kept_reference(&self, name: &RefName) -> Result<Option<RefValue>> {
        let found = self.first(
            "SELECT target, commits.hash, symbolic FROM refs
             LEFT JOIN commits ON commits.id = refs.target AND intact!(commits)
             WHERE refs.name = ?1 AND intact!(refs)",
            [name],
            |row| rows::value(row, 0),
        )?;
        if found.is_none() {
            self.prove_ref_absent(name)?;
        }
        Ok(found.flatten())
    }

    /// The names of commits by their rows, as far as they are there. Where refs stand is remembered in a view.
    fn commits_of_rows(&self, mut targets: Vec<i64>) -> Result<HashMap<i64, CommitHash>> {
        // Each once, in the order in which they stand in the file.
        targets.sort_unstable();
        targets.dedup();
        let sql = "SELECT hash, id, lineage, depth FROM commits WHERE id = ?1 AND intact!(commits)";
        let mut found = HashMap::with_capacity(targets.len());
        let mut ends = self.ends.borrow_mut();
        for target in targets {
            let row = self.first(sql, [target], |row| Ok((row.get(0)?, rows::place(row, 1)?)))?;
            let Some((commit, place)) = row else { continue };
            found.insert(target, commit);
            if !self.writes {
                ends.insert(commit, place);
            }
        }
        Ok(found)
    }

    /// What is kept of when a branch was worked on last that is moved there; of another ref nothing.
    fn activity(&self, name: &RefName, to: &RefValue) -> Result<Option<i64>> {
        let RefValue::Commit(tip) = to else {
            return Ok(None);
        };
        let active = name
            .is_branch()
            .then(|| Activity::at(self, name.clone(), tip));
        Ok(active.transpose()?.map(|active| active.number()))
    }

    /// The branches that the index has behind one, newest first, at most so many.
    fn indexed_branches(&self, behind: Option<&Activity>, most: usize) -> Result<Vec<Activity>> {
        let sql = |condition: &str| {
            format!(
                "SELECT active, name FROM refs INDEXED BY refs_by_activity
                 WHERE name >= 'refs/heads/' AND name < 'refs/heads0' AND {condition}"
            )
        };
        let mut found = Vec::new();
        if most == 0 {
            return Ok(found);
        }
        // Those of which it is not kept come last there.
        let mut read = |row: &Row<'_>| {
            let active: Option<i64> = row.get(0)?;
            if let Some(active) = active {
                found.push(Activity::kept(active, row.get(1)?));
            }
            Ok(active.is_some() && found.len() < most)
        };
        match behind {
            None => {
                // From its beginning on, no key leads astray.
                self.scan(&sql("true ORDER BY active DESC, name"), [], read)?;
            }
            Some(behind) => {
                let as_old = sql("active = ?1 AND name > ?2 ORDER BY name");
                let older = sql("active < ?1 ORDER BY active DESC, name");
                let number = behind.number();
                if self.scan(&as_old, params![number, behind.name], &mut read)? {
                    self.scan(&older, [number], read)?;
                }
            }
        }
        Ok(found)
    }

    /// The branches of which it is not kept: worked out.
    fn untold_branches(&self) -> Result<Vec<(Activity, CommitHash)>> {
        let sql = format!(
            "SELECT name FROM refs INDEXED BY refs_by_activity WHERE {AT_COMMITS} AND active IS NULL"
        );
        let names: Vec<RefName> = self.all(&sql, [], |row| row.get(0))?;
        let mut found = Vec::new();
        for name in names {
            if let Some(RefValue::Commit(tip)) = self.kept_reference(&name)? {
                found.push((Activity::at(self, name, &tip)?, tip));
            }
        }
        Ok(found)
    }

    /// Makes sure that the index gave all branches.
    fn prove_branches_whole(&self, found: usize) -> Result<()> {
        let sql = format!("SELECT count(*) FROM refs NOT INDEXED WHERE {AT_COMMITS}");
        let all = self.first(&sql, [], |row| row.unsigned(0))?;
        if all == Some(found as u64) {
            return Ok(());
        }
        Err(damaged("the list of branches has a gap"))
    }

    /// Makes sure that the index gave all moves of an operation, each once: they stand in the log one after
    /// the other, behind the last one of an operation before.
    fn prove_moves_whole(&self, operation: u64, found: &[ReflogRow]) -> Result<()> {
        let before = "SELECT id FROM reflog WHERE operation < ?1 AND intact!(reflog)
             ORDER BY operation DESC, id DESC LIMIT 1";
        let before: Option<i64> = self.first(before, [number(operation)], |row| row.get(0))?;
        let logged = "SELECT operation, name FROM reflog WHERE id > ?1 AND intact!(reflog)
             ORDER BY id";
        let mut names = found.iter().map(|row| &row.name);
        // Where a row is asked for by its operation, the index says which that is, and no seal.
        let mut is_whole = found.iter().all(|row| row.operation == operation);
        self.scan(logged, [before.unwrap_or(0)], |row| {
            let (of, name): (u64, RefName) = (row.unsigned(0)?, row.get(1)?);
            is_whole &= of > operation || of == operation && names.next() == Some(&name);
            Ok(of <= operation && is_whole)
        })?;
        if is_whole && names.next().is_none() {
            Ok(())
        } else {
            Err(damaged(format!(
                "the moves of operation {operation} are not all there"
            )))
        }
    }
}

impl Session<'_> {
    /// Logs from which directory an operation comes: a row of its HEAD, which stays where it is.
    fn log_seat(&self, operation: i64, seat: &Seat) -> Result<()> {
        let head = RefName::head();
        let head = kept(Some(seat), &head);
        let (target, symbolic) = self.held(self.kept_reference(head)?.as_ref())?;
        let id = self.next_id("reflog")?;
        let sql = "INSERT INTO sealed!(reflog)";
        self.execute(
            sql,
            params![id, operation, head, target, symbolic, target, symbolic],
        )
    }

    fn kept_collections(&self) -> Result<Collections> {
        let sql = "SELECT times, operation FROM collections WHERE id = 1 AND intact!(collections)";
        let found = self.first(sql, [], |row| {
            Ok(Collections {
                times: row.get(0)?,
                forgotten: row.get(1)?,
            })
        })?;
        Ok(found.unwrap_or_default())
    }

    fn write_collections(&self, to: Collections) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO sealed!(collections)";
        self.execute(sql, params![1, number(to.times), to.forgotten.map(number)])
    }

    pub(super) fn set_last_check(&self, now: Millis) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO sealed!(checks)";
        self.execute(sql, [1, now.0])
    }
}

/// Of a row of the log: its ref stayed where it was, so it only says where an operation was asked for.
const STAYED: &str = "old_target IS new_target AND old_symbolic IS new_symbolic";

/// How many refs are many.
const MANY_REFS: usize = 256;

impl Refs for Session<'_> {
    fn seat(&self) -> Option<&Seat> {
        self.store.seat.as_ref()
    }

    fn worker(&self) -> Option<&Author> {
        self.store.worker.as_ref()
    }

    fn reference(&self, name: &RefName) -> Result<Option<RefValue>> {
        self.kept_reference(kept(self.seat(), name))
    }

    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        // A range scan from the prefix on; what follows the last name that has it isn't read.
        let sql = "SELECT name, target, symbolic FROM refs WHERE name >= ?1 AND intact!(refs)
             ORDER BY name";
        let before = "SELECT neighbours!(refs, name, ?1)";
        self.first(before, [prefix], |_| Ok(()))?;
        let (mut names, mut targets) = (Vec::new(), Vec::new());
        self.scan(sql, [prefix], |row| {
            let name: RefName = row.get(0)?;
            let has = name.as_str().starts_with(prefix);
            if has {
                let target: Option<i64> = row.get(1)?;
                targets.extend(target);
                names.push((name, target, row.get::<Option<RefName>>(2)?));
            }
            Ok(has)
        })?;
        if names.len() >= MANY_REFS && !self.writes {
            self.store.has_many_refs()?;
        }
        let commits = self.commits_of_rows(targets)?;
        let mut found = Vec::with_capacity(names.len());
        for (name, target, symbolic) in names {
            let value = match target.map(|target| commits.get(&target)) {
                Some(Some(commit)) => Some(RefValue::Commit(*commit)),
                Some(None) => return Err(damaged("the commit of a ref is missing")),
                None => symbolic.map(RefValue::Symbolic),
            };
            found.extend(value.map(|value| (seen(self.seat(), name), value)));
        }
        Ok(found)
    }

    fn active_branches(
        &self,
        behind: Option<&Activity>,
        most: usize,
    ) -> Result<Vec<(Activity, CommitHash)>> {
        let mut found = self.untold_branches()?;
        found.retain(|(one, _)| behind.is_none_or(|behind| one > behind));
        for one in self.indexed_branches(behind, most)? {
            let tip = self.kept_reference(&one.name)?;
            let tip = tip.as_ref().and_then(RefValue::commit);
            let tip = tip.ok_or_else(|| damaged("the list of branches leads nowhere"))?;
            found.push((one, tip));
        }
        if behind.is_none() && found.len() < most {
            self.prove_branches_whole(found.len())?;
        }
        found.sort();
        found.truncate(most);
        Ok(found)
    }

    fn names_of(&self, commits: &[CommitHash]) -> Result<Vec<(RefName, CommitHash)>> {
        let mut wanted: HashMap<i64, CommitHash> = HashMap::with_capacity(commits.len());
        for commit in commits {
            wanted.extend(self.place(commit)?.map(|place| (place.id, *commit)));
        }
        // A row that is damaged may say that it stands behind the last one: the end is not the statement's to find.
        let sql =
            "SELECT name, target FROM refs WHERE name >= 'refs/' AND intact!(refs) ORDER BY name";
        let mut found = Vec::new();
        self.first("SELECT neighbours!(refs, name, 'refs/')", [], |_| Ok(()))?;
        self.scan(sql, [], |row| {
            let name: RefName = row.get(0)?;
            let target: Option<i64> = row.get(1)?;
            let is_one = name.as_str().starts_with("refs/");
            if let Some(commit) = target.and_then(|target| wanted.get(&target)) {
                found.extend(is_one.then_some((name, *commit)));
            }
            Ok(is_one)
        })?;
        Ok(found)
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Result<Vec<OperationRow>> {
        let found = self.all(
            "SELECT id, time, what, undoes, redoes, name, client, run FROM operations
             LEFT JOIN authors ON authors.operation = operations.id
                 AND intact!(authors, operation = operations.id)
             WHERE id < ?1 AND intact!(operations) ORDER BY id DESC LIMIT ?2",
            [number(before.unwrap_or(u64::MAX)), number(limit as u64)],
            |row| rows::operation(row),
        )?;
        self.prove_operations_whole(before, &found, limit)?;
        let beside = "SELECT neighbours!(authors, operation, ?1)";
        for one in found.iter().filter(|one| one.by.is_none()) {
            self.first(beside, [number(one.id)], |_| Ok(()))?;
        }
        Ok(found)
    }

    fn moved(&self, of: MovesOf<'_>) -> Result<Vec<ReflogRow>> {
        match of {
            MovesOf::Operation(operation) => self.moves_of_operation(operation),
            MovesOf::Ref(name, limit) => self.moves_of_ref(name, limit),
        }
    }

    fn asked_at(&self, operation: u64) -> Result<Option<RefName>> {
        let sql = format!(
            "SELECT name FROM reflog WHERE operation = ?1 AND intact!(reflog) AND {STAYED} LIMIT 1"
        );
        let head = self.first(&sql, [number(operation)], |row| row.get(0))?;
        Ok(head.map(|head| seen(self.seat(), head)))
    }

    fn last_purge(&self) -> Result<Option<u64>> {
        if let Some(known) = self.last_purge.get() {
            return Ok(known);
        }
        let sql = "SELECT operation FROM purges WHERE intact!(purges) ORDER BY operation DESC
             LIMIT 1";
        let last = self.first(sql, [], |row| row.unsigned(0))?;
        self.last_purge.set(Some(last));
        Ok(last)
    }

    fn adopted(&self, session: &RefName) -> Result<Vec<AdoptedRow>> {
        let found: Vec<(u64, AdoptedRow)> = self.all(
            "SELECT theirs.hash, ours.hash, adopted.id FROM adopted
             JOIN commits AS theirs ON theirs.id = adopted.theirs AND intact!(commits AS theirs)
             JOIN commits AS ours ON ours.id = adopted.ours AND intact!(commits AS ours)
             WHERE session = ?1 AND intact!(adopted) ORDER BY adopted.id",
            [session],
            |row| Ok((row.unsigned(2)?, rows::adopted(row)?)),
        )?;
        // An index that lost one of them, or leads to one twice, says nothing of it.
        let count = "SELECT count(*) FROM adopted NOT INDEXED WHERE session = ?1";
        let count = self.first(count, [session], |row| row.unsigned(0))?;
        let is_each_once = found.is_sorted_by(|one, next| one.0 < next.0);
        if count != Some(found.len() as u64) || !is_each_once {
            return Err(damaged(format!(
                "what was taken over of {session} is not as it was written"
            )));
        }
        Ok(found.into_iter().map(|(_, commits)| commits).collect())
    }

    fn upkeep(&self) -> Result<Upkeep> {
        let checked = "SELECT time FROM checks WHERE id = 1 AND intact!(checks)";
        Ok(Upkeep {
            collections: self.kept_collections()?,
            rows_aside: self.aside()?,
            last_check: self.first(checked, [], |row| row.get(0).map(Millis))?,
        })
    }

    // Without a look at the rest.
    fn collections(&self) -> Result<Collections> {
        self.kept_collections()
    }

    fn sound_references(&self) -> Result<Vec<RefName>> {
        let sql = "SELECT name FROM refs WHERE seal = sealed(name, target, symbolic) ORDER BY name";
        self.all(sql, [], |row| {
            row.get(0).map(|name| seen(self.seat(), name))
        })
    }
}

impl RefsMut for Session<'_> {
    fn open_operation(
        &self,
        time: Millis,
        what: &str,
        by: Option<&Author>,
        how: Opening,
    ) -> Result<Option<u64>> {
        let Opening::Now(reversal) = how else {
            self.operation.set(None);
            let coming = (time, what.to_owned(), by.cloned());
            self.coming.replace(Some(coming));
            return Ok(None);
        };
        let (undoes, redoes) = reversal.columns();
        let id = self.next_id("operations")?;
        let sql = "INSERT INTO sealed!(operations)";
        self.execute(sql, params![id, time.0, what, undoes, redoes])?;
        if let Some(Author { name, client, run }) = by {
            let sql = "INSERT INTO sealed!(authors)";
            self.execute(sql, params![id, name, client, run])?;
        }
        if let Some(seat) = self.seat().filter(|seat| seat.person().is_none()) {
            self.log_seat(id, seat)?;
        }
        self.operation.set(Some(id));
        self.coming.take();
        u64::try_from(id).map(Some).map_err(Error::store)
    }

    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()> {
        if self.operation.get().is_none() && self.coming.borrow().is_none() {
            return Err(Error::store("no operation is open to log the move under"));
        }
        let seen = name;
        let name = kept(self.seat(), name);
        let old = self.kept_reference(name)?;
        if old.as_ref() == new {
            return Ok(());
        }
        if let Some((time, what, by)) = self.coming.take() {
            self.begin_operation_by(time, &what, by.as_ref())?;
        }
        let operation = self.operation.get();
        let (old_target, old_symbolic) = self.held(old.as_ref())?;
        let (new_target, new_symbolic) = self.held(new)?;
        if let Some(new) = new {
            let sql = "INSERT OR REPLACE INTO refs (name, target, symbolic, active, seal)
                 VALUES (?1, ?2, ?3, ?4, sealed(?1, ?2, ?3))";
            let active = self.activity(name, new)?;
            self.execute(sql, params![name, new_target, new_symbolic, active])?;
        } else {
            self.execute("DELETE FROM refs WHERE name = ?1", [name])?;
        }
        self.execute(
            "INSERT INTO sealed!(reflog)",
            params![
                self.next_id("reflog")?,
                operation,
                name,
                old_target,
                old_symbolic,
                new_target,
                new_symbolic
            ],
        )?;
        self.store.ledger.moved(seen, new);
        Ok(())
    }

    fn purge_operations(&self, purge: u64) -> Result<()> {
        // What was set aside may hold what is erased, and a reason may quote it.
        self.empty(tables::purged(Purge::Empty, Only::Servers))?;
        let what = words_after_purge("?1", "");
        let sql = format!(
            "UPDATE operations SET what = {what}, seal = sealed(id, time, {what}, undoes, redoes)
             WHERE id < ?2"
        );
        self.execute(&sql, params![PURGED, number(purge)])?;
        self.last_purge.set(None);
        self.execute("INSERT INTO sealed!(purges)", [number(purge)])?;
        let sql = "INSERT INTO unscrubbed (operation) VALUES (?1)";
        self.execute(sql, [number(purge)])
    }

    fn forget_operations(&self, last: u64) -> Result<()> {
        let last = number(last);
        // Where each ref was then is what its last move until then has made of it.
        let kept = "SELECT max(id) FROM reflog WHERE operation <= ?1 GROUP BY name";
        self.execute(
            &format!("DELETE FROM reflog WHERE operation <= ?1 AND id NOT IN ({kept})"),
            [last],
        )?;
        self.execute(
            "DELETE FROM reflog WHERE operation <= ?1 AND new_target IS NULL AND new_symbolic IS NULL",
            [last],
        )?;
        self.execute(
            "UPDATE reflog SET operation = ?1, old_target = NULL, old_symbolic = NULL,
                 seal = sealed(id, ?1, name, NULL, NULL, new_target, new_symbolic)
             WHERE operation <= ?1",
            [last],
        )?;
        // A purge is behind it still: what is erased is asked for by whether there was one.
        self.last_purge.set(None);
        let purged = "SELECT 1 FROM purges WHERE operation < ?1 AND intact!(purges) LIMIT 1";
        if self.first(purged, [last], |_| Ok(()))?.is_some() {
            self.execute("DELETE FROM purges WHERE operation <= ?1", [last])?;
            self.execute("INSERT INTO sealed!(purges)", [last])?;
        }
        let collections = self.kept_collections()?;
        self.write_collections(Collections {
            forgotten: u64::try_from(last).ok(),
            ..collections
        })?;
        self.execute(
            "UPDATE operations SET what = ?2, undoes = NULL, redoes = NULL,
                 seal = sealed(id, time, ?2, NULL, NULL) WHERE id = ?1",
            params![last, COLLECTED],
        )?;
        // It is nobody's, for it stands for those of many.
        self.execute("DELETE FROM authors WHERE operation <= ?1", [last])?;
        // For each that goes, SQLite looks for those that could name it.
        for column in ["undoes", "redoes"] {
            let index = format!("CREATE INDEX operations_by_{column} ON operations ({column})");
            self.execute(&index, [])?;
        }
        self.execute("DELETE FROM operations WHERE id < ?1", [last])?;
        for column in ["undoes", "redoes"] {
            self.execute(&format!("DROP INDEX operations_by_{column}"), [])?;
        }
        Ok(())
    }

    fn count_collection(&self) -> Result<()> {
        let collections = self.kept_collections()?;
        self.write_collections(Collections {
            times: collections.times + 1,
            ..collections
        })
    }

    fn put_adopted(&self, session: &RefName, adopted: AdoptedRow) -> Result<()> {
        let theirs = self.must_place(&adopted.theirs)?.id;
        let ours = self.must_place(&adopted.ours)?.id;
        let id = self.next_id("adopted")?;
        let sql = "INSERT INTO sealed!(adopted)";
        self.execute(sql, params![id, session, theirs, ours])
    }
}
