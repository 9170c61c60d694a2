//! Names: refs, the log of their moves, what is remembered beside them, and the configuration.

use tokio_postgres::Row;

use super::columns::{Parameter, damaged, get, keys};
use super::driver::Asked;
use super::link::asked;
use super::session::Session;
use super::turn::Turn;
use super::usual::{LAST_PURGE, UPKEEP};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Author, Millis, PURGED, RefName, RefValue};
use crate::store::codec::number;
use crate::store::columns::Columns;
use crate::store::lineage::Lineages;
use crate::store::refs::{COLLECTED, Seat, kept, seen, words_after_purge};
use crate::store::tables::{self, Only, Purge};
use crate::store::{
    Activity, AdoptedRow, Collections, MovesOf, Opening, OperationRow, ReflogRow, Refs, RefsMut,
    Reversal, Tips, Upkeep, rows,
};

/// All refs, by name.
pub(super) const REFS: &str = "SELECT target, hash, symbolic, name
     FROM refs LEFT JOIN commits ON commits.id = target ORDER BY name";

/// All that was taken over of sessions, oldest first.
pub(super) const ADOPTED: &str = "SELECT t.hash, o.hash, session FROM adopted AS a
     JOIN commits AS t ON t.id = a.theirs JOIN commits AS o ON o.id = a.ours ORDER BY a.id";

/// Which rows of `refs` are branches: as their index has it.
pub(super) const IS_BRANCH: &str = "substr(name, 1, 11) = 'refs/heads/'";

/// A page of the branches, by when they were worked on last, as parameters of statements.
pub(super) struct Page {
    as_old: Option<i64>,
    name: Option<RefName>,
    most: i64,
    older: Option<i64>,
}

impl Page {
    /// At most so many of those that come behind one, or of all.
    pub(super) fn of(behind: Option<&Activity>, most: usize) -> Self {
        let as_old = behind.map(Activity::number);
        Self {
            as_old,
            name: behind.map(|behind| behind.name.clone()),
            most: i64::try_from(most).unwrap_or(i64::MAX),
            // What is as old as can be has nothing older behind it.
            older: as_old.map_or(Some(i64::MAX), |number| number.checked_sub(1)),
        }
    }

    pub(super) fn parameters(&self) -> [&dyn Parameter; 4] {
        [&self.as_old, &self.name, &self.most, &self.older]
    }

    /// Its rows, as `branch`: those that were worked on when the one before was, whose names come behind, and older ones. Of
    /// some that may not be known; there are few of them.
    pub(super) fn rows() -> String {
        format!(
            "(
                 (SELECT name, target, active FROM refs WHERE {IS_BRANCH} AND active = $1 AND name > $2
                  ORDER BY name LIMIT $3)
                 UNION ALL
                 (SELECT name, target, active FROM refs WHERE {IS_BRANCH} AND active <= $4
                  ORDER BY active DESC, name LIMIT $3)
                 UNION ALL
                 (SELECT name, target, told.active FROM refs
                  CROSS JOIN LATERAL (SELECT last_time(target) AS active OFFSET 0) AS told
                  WHERE {IS_BRANCH} AND refs.active IS NULL AND target IS NOT NULL
                    AND (told.active = $1 AND name > $2 OR told.active <= $4))
                 ORDER BY active DESC, name LIMIT $3
             ) AS branch"
        )
    }

    /// The branches that [`Refs::active_branches`] gives.
    pub(super) fn asked(&self) -> Result<Asked> {
        let sql = format!(
            "SELECT name, active, hash FROM {} LEFT JOIN commits ON commits.id = target ORDER BY active DESC, name",
            Self::rows()
        );
        asked(sql, &self.parameters())
    }
}

/// Those of which the names begin so.
pub(super) fn refs_below(prefix: &str) -> Result<Asked> {
    let sql = "SELECT target, hash, symbolic, name
         FROM refs LEFT JOIN commits ON commits.id = target
         WHERE substr(name, 1, length($1)) = $1 ORDER BY name";
    asked(sql, &[&prefix])
}

/// The operations before one, newest first.
pub(super) fn operations_asked(before: Option<u64>, limit: usize) -> Result<Asked> {
    let sql = "SELECT id, time, what, undoes, redoes, name, client, run
         FROM operations LEFT JOIN authors ON operation = id WHERE id < $1
         ORDER BY id DESC LIMIT $2";
    let before = before.map_or(i64::MAX, number);
    asked(sql, &[&before, &number(limit as u64)])
}

/// The moves for which a condition holds.
fn moves(condition: &str) -> String {
    format!(
        "SELECT operation, name, old_target, o.hash, old_symbolic,
             new_target, n.hash, new_symbolic
         FROM reflog LEFT JOIN commits AS o ON o.id = old_target
         LEFT JOIN commits AS n ON n.id = new_target WHERE {condition}"
    )
}

impl Session<'_> {
    fn moved_as_seen(&self, row: &impl Columns) -> Result<ReflogRow> {
        let moved = rows::moved(row)?;
        Ok(ReflogRow {
            name: seen(self.seat(), moved.name.clone()),
            ..moved
        })
    }
}

impl Refs for Session<'_> {
    fn seat(&self) -> Option<&Seat> {
        self.store.seat.as_ref()
    }

    fn worker(&self) -> Option<&Author> {
        self.store.worker.as_ref()
    }

    fn reference(&self, name: &RefName) -> Result<Option<RefValue>> {
        let name = kept(self.seat(), name);
        if let Some(held) = self.ahead.reference(name) {
            self.has_read(name, held.as_ref());
            return Ok(held);
        }
        if let Some(all) = self.all_told(REFS)? {
            let is_it = |row: &&Row| {
                row.bytes(3)
                    .is_ok_and(|kept| kept == name.as_str().as_bytes())
            };
            return all
                .iter()
                .find(is_it)
                .map_or(Ok(None), |row| rows::value(row, 0));
        }
        let sql = "SELECT target, hash, symbolic
             FROM refs LEFT JOIN commits ON commits.id = target WHERE name = $1";
        let found = self
            .first(sql, &[name], |row| rows::value(row, 0))?
            .flatten();
        if self.turn == Turn::OnBranch {
            self.ahead.saw_reference(name, found.as_ref());
            self.has_read(name, found.as_ref());
        }
        Ok(found)
    }

    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        let read = |row: &Row| {
            let value = rows::value(row, 0)?.ok_or_else(|| damaged("a ref holds nothing"))?;
            Ok((seen(self.seat(), get(row, 3)?), value))
        };
        if let Some(all) = self.all_told(REFS)? {
            let begins = |row: &&Row| {
                row.bytes(3)
                    .is_ok_and(|name| name.starts_with(prefix.as_bytes()))
            };
            return all.iter().filter(begins).map(read).collect();
        }
        self.ask(refs_below(prefix)?)?.iter().map(read).collect()
    }

    fn active_branches(
        &self,
        behind: Option<&Activity>,
        most: usize,
    ) -> Result<Vec<(Activity, CommitHash)>> {
        let rows = self.ask(Page::of(behind, most).asked()?)?;
        let read = |row: &Row| Ok((Activity::kept(get(row, 1)?, get(row, 0)?), get(row, 2)?));
        rows.iter().map(read).collect()
    }

    fn look_ahead(&self, tips: Tips<'_>) -> Result<()> {
        self.ask_ahead(tips)
    }

    fn names_of(&self, commits: &[CommitHash]) -> Result<Vec<(RefName, CommitHash)>> {
        if let Some(all) = self.all_told(REFS)? {
            let mut found = Vec::new();
            for row in all.iter() {
                let (name, hash): (RefName, Option<CommitHash>) = (get(row, 3)?, get(row, 1)?);
                found.extend(
                    hash.filter(|hash| commits.contains(hash))
                        .map(|hash| (name, hash)),
                );
            }
            found.retain(|(name, _)| name.as_str().starts_with("refs/"));
            return Ok(found);
        }
        let sql = "SELECT name, hash FROM refs JOIN commits ON commits.id = target
             WHERE hash = ANY ($1) AND substr(name, 1, 5) = 'refs/' ORDER BY name";
        self.all(sql, &[&keys(commits)], |row| {
            Ok((get(row, 0)?, get(row, 1)?))
        })
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Result<Vec<OperationRow>> {
        let asked = operations_asked(before, limit)?;
        self.ask(asked)?.iter().map(rows::operation).collect()
    }

    fn moved(&self, of: MovesOf<'_>) -> Result<Vec<ReflogRow>> {
        match of {
            MovesOf::Operation(operation) => {
                let sql = moves("operation = $1 ORDER BY reflog.id");
                self.all(&sql, &[&number(operation)], |row| self.moved_as_seen(row))
            }
            MovesOf::Ref(name, limit) => {
                let sql = moves("name = $1 ORDER BY reflog.id DESC LIMIT $2");
                let name = kept(self.seat(), name);
                self.all(&sql, &[name, &number(limit as u64)], |row| {
                    self.moved_as_seen(row)
                })
            }
        }
    }

    fn last_purge(&self) -> Result<Option<u64>> {
        if let Some(known) = self.last_purge.get() {
            return Ok(known);
        }
        let last = self.first(LAST_PURGE, &[], |row| row.unsigned(0))?;
        self.last_purge.set(Some(last));
        Ok(last)
    }

    fn adopted(&self, session: &RefName) -> Result<Vec<AdoptedRow>> {
        if let Some(all) = self.all_told(ADOPTED)? {
            let is_of = |row: &&Row| {
                row.bytes(2)
                    .is_ok_and(|of| of == session.as_str().as_bytes())
            };
            return all.iter().filter(is_of).map(rows::adopted).collect();
        }
        let sql = "SELECT t.hash, o.hash FROM adopted AS a JOIN commits AS t ON t.id = a.theirs
             JOIN commits AS o ON o.id = a.ours WHERE session = $1 ORDER BY a.id";
        self.all(sql, &[session], rows::adopted)
    }

    fn upkeep(&self) -> Result<Upkeep> {
        let found = self.first(UPKEEP, &[], |row| {
            Ok(Upkeep {
                collections: Collections {
                    times: get(row, 0)?,
                    forgotten: get(row, 1)?,
                },
                rows_aside: 0,
                last_check: get::<Option<i64>>(row, 2)?.map(Millis),
            })
        })?;
        Ok(found.unwrap_or_default())
    }

    fn sound_references(&self) -> Result<Vec<RefName>> {
        let sql = "SELECT name FROM refs LEFT JOIN commits ON commits.id = target
             WHERE hash IS NOT NULL OR symbolic IS NOT NULL ORDER BY name";
        self.all(sql, &[], |row| {
            get(row, 0).map(|name| seen(self.seat(), name))
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
        if self.turn != Turn::Alone {
            // Its number is the last that it is given, so that nothing comes between it and the end.
            self.coming
                .replace(Some((time, what.to_owned(), by.cloned())));
            self.came_with.take();
            return Ok(None);
        }
        let (reversal, is_coming) = match how {
            Opening::Now(reversal) => (reversal, false),
            Opening::WithFirstMove => (Reversal::None, true),
        };
        let (undoes, redoes) = reversal.columns();
        self.drop_idle_operation()?;
        let id = self.next_id("operations")?;
        let made = "INSERT INTO operations (id, time, what, undoes, redoes)
             VALUES ($1, $2, $3, $4, $5)";
        let of: [&dyn Parameter; 5] = [&id, &time.0, &what, &undoes, &redoes];
        match by {
            None => self.execute(made, &of)?,
            Some(Author { name, client, run }) => {
                let sql = format!(
                    "WITH made AS ({made})
                     INSERT INTO authors (operation, name, client, run) VALUES ($1, $6, $7, $8)"
                );
                let who: [&dyn Parameter; 3] = [name, client, run];
                self.execute(&sql, &[&of[..], &who[..]].concat())?;
            }
        }
        self.operation.set(Some(id));
        self.may_be_idle.set(is_coming);
        Ok(Some(id.cast_unsigned()))
    }

    fn hold_read(&self) -> Result<()> {
        self.hold_read_refs()
    }

    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()> {
        if self.turn != Turn::Alone {
            return self.move_beside(name, new);
        }
        let Some(operation) = self.operation.get() else {
            return Err(Error::store("no operation is open to log the move under"));
        };
        let seen = name;
        let name = kept(self.seat(), name);
        let was = self.ahead.reference(name);
        self.ahead.forget_reference(name);
        let (target, symbolic) = self.held(new)?;
        let id = self.next_id("reflog")?;
        // One statement sees the ref as it was, moves it, and logs the move, if it is one.
        let sql = "WITH was AS (
                 SELECT target, symbolic FROM (VALUES (1)) AS one LEFT JOIN refs ON name = $2
             ), moved AS (
                 INSERT INTO refs (name, target, symbolic) SELECT $2, $3, $4
                 WHERE $3 IS NOT NULL OR $4 IS NOT NULL
                 ON CONFLICT (name) DO UPDATE SET target = $3, symbolic = $4
             ), dropped AS (
                 DELETE FROM refs WHERE name = $2 AND $3 IS NULL AND $4 IS NULL
             )
             INSERT INTO reflog
                 (id, operation, name, old_target, old_symbolic, new_target, new_symbolic)
             SELECT $1, $5, $2, target, symbolic, $3, $4 FROM was
             WHERE target IS DISTINCT FROM $3 OR symbolic IS DISTINCT FROM $4";
        self.execute(sql, &[&id, name, &target, &symbolic, &operation])?;
        // Nobody waits for what it was, just to keep a log: what is not known counts as moved.
        if was.is_none_or(|was| was.as_ref() != new) {
            self.store.ledger.moved(seen, new);
        }
        Ok(())
    }

    fn purge_operations(&self, purge: u64) -> Result<()> {
        self.last_purge.set(None);
        let emptied = tables::purged(Purge::Empty, Only::Files);
        let emptied = emptied.map(|table| format!(", {0}_gone AS (DELETE FROM {0})", table.name));
        self.execute(
            &format!(
                "WITH owed AS (UPDATE tract_repository SET owes_scrub = txid_current()),
                     marked AS (INSERT INTO purges (operation) VALUES ($2)){}
                 UPDATE operations SET what = {} WHERE id < $2",
                emptied.collect::<String>(),
                words_after_purge("$1", "::bytea")
            ),
            &[&PURGED, &number(purge)],
        )
    }

    fn forget_operations(&self, last: u64) -> Result<()> {
        let last = number(last);
        // Where each ref was then is what its last move until then has made of it.
        self.execute(
            "DELETE FROM reflog WHERE operation <= $1 AND (
                 id NOT IN (SELECT max(id) FROM reflog WHERE operation <= $1 GROUP BY name)
                 OR (new_target IS NULL AND new_symbolic IS NULL))",
            &[&last],
        )?;
        self.execute(
            "UPDATE reflog SET operation = $1, old_target = NULL, old_symbolic = NULL
             WHERE operation <= $1",
            &[&last],
        )?;
        // A purge is behind it still: what is erased is asked for by whether there was one.
        self.last_purge.set(None);
        self.execute(
            "INSERT INTO purges (operation) SELECT $1 WHERE EXISTS (
                 SELECT 1 FROM purges WHERE operation < $1) ON CONFLICT DO NOTHING",
            &[&last],
        )?;
        self.execute("DELETE FROM purges WHERE operation < $1", &[&last])?;
        self.execute("UPDATE tract_repository SET forgotten = $1", &[&last])?;
        self.execute(
            "UPDATE operations SET what = $2, undoes = NULL, redoes = NULL WHERE id = $1",
            &[&last, &COLLECTED],
        )?;
        // It is nobody's, for it stands for those of many.
        self.execute(
            "WITH whose AS (DELETE FROM authors WHERE operation <= $1)
             DELETE FROM operations WHERE id < $1",
            &[&last],
        )
    }

    fn count_collection(&self) -> Result<()> {
        self.execute("UPDATE tract_repository SET collected = collected + 1", &[])
    }

    fn put_adopted(&self, session: &RefName, adopted: AdoptedRow) -> Result<()> {
        let theirs = self.must_place(&adopted.theirs)?.id;
        let ours = self.must_place(&adopted.ours)?.id;
        self.execute(
            "INSERT INTO adopted (id, session, theirs, ours) VALUES ($1, $2, $3, $4)",
            &[&self.next_id("adopted")?, session, &theirs, &ours],
        )
    }
}
