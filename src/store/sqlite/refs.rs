//! Refs, operations, the log of moves, what is remembered beside refs, and the configuration.

use rusqlite::{Row, params};

use super::codec::{number, unsigned};
use super::session::Session;
use crate::error::{Error, Result};
use crate::model::{Millis, PURGED, RefName, RefValue};
use crate::store::{AdoptedRow, OperationRow, ReflogRow, Refs, RefsMut, Reversal, TagNote};

/// What a ref holds, in two columns, of which at most one is there: a target's hash and another
/// ref's name.
fn value(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<RefValue>> {
    Ok(match row.get(first)? {
        Some(commit) => Some(RefValue::Commit(commit)),
        None => row
            .get::<_, Option<RefName>>(first + 1)?
            .map(RefValue::Symbolic),
    })
}

fn reflog_row(row: &Row<'_>) -> rusqlite::Result<ReflogRow> {
    Ok(ReflogRow {
        operation: unsigned(row, 0)?,
        name: row.get(1)?,
        old: value(row, 2)?,
        new: value(row, 4)?,
    })
}

/// The log of moves, to be narrowed down.
macro_rules! moves {
    ($which:literal) => {
        concat!(
            "SELECT operation, name, older.hash, old_symbolic, newer.hash, new_symbolic FROM reflog
             LEFT JOIN commits AS older ON older.id = old_target
             LEFT JOIN commits AS newer ON newer.id = new_target ",
            $which
        )
    };
}

impl Refs for Session<'_> {
    fn reference(&self, name: &RefName) -> Result<Option<RefValue>> {
        let found = self.first(
            "SELECT commits.hash, refs.symbolic FROM refs
             LEFT JOIN commits ON commits.id = refs.target WHERE refs.name = ?1",
            [name],
            |row| value(row, 0),
        )?;
        Ok(found.flatten())
    }

    fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        // A range scan from the prefix on; what follows the last name that has it isn't read.
        let sql = "SELECT refs.name, commits.hash, refs.symbolic
             FROM refs LEFT JOIN commits ON commits.id = refs.target
             WHERE refs.name >= ?1 ORDER BY refs.name";
        let mut found = Vec::new();
        self.scan(sql, [prefix], |row| {
            let name: RefName = row.get(0)?;
            let has = name.as_str().starts_with(prefix);
            found.extend(value(row, 1)?.filter(|_| has).map(|value| (name, value)));
            Ok(has)
        })?;
        Ok(found)
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Result<Vec<OperationRow>> {
        self.all(
            "SELECT id, time, what, undoes, redoes FROM operations WHERE id < ?1
             ORDER BY id DESC LIMIT ?2",
            [number(before.unwrap_or(u64::MAX)), number(limit as u64)],
            |row| {
                let other = |column: usize| -> rusqlite::Result<Option<u64>> {
                    let id: Option<i64> = row.get(column)?;
                    id.map(|_| unsigned(row, column)).transpose()
                };
                Ok(OperationRow {
                    id: unsigned(row, 0)?,
                    time: Millis(row.get(1)?),
                    what: row.get(2)?,
                    reversal: match (other(3)?, other(4)?) {
                        (Some(undone), _) => Reversal::Undo(undone),
                        (None, Some(redone)) => Reversal::Redo(redone),
                        (None, None) => Reversal::None,
                    },
                })
            },
        )
    }

    fn moves(&self, operation: u64) -> Result<Vec<ReflogRow>> {
        let sql = moves!("WHERE operation = ?1 ORDER BY reflog.id");
        self.all(sql, [number(operation)], reflog_row)
    }

    fn reflog(&self, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
        let sql = moves!("WHERE name = ?1 ORDER BY reflog.id DESC LIMIT ?2");
        self.all(sql, params![name, number(limit as u64)], reflog_row)
    }

    fn last_purge(&self) -> Result<Option<u64>> {
        if let Some(known) = self.last_purge.get() {
            return Ok(known);
        }
        let sql = "SELECT operation FROM purges ORDER BY operation DESC LIMIT 1";
        let last = self.first(sql, [], |row| unsigned(row, 0))?;
        self.last_purge.set(Some(last));
        Ok(last)
    }

    fn tag_notes(&self, tags: &[RefName]) -> Result<Vec<Option<TagNote>>> {
        let names: Vec<&str> = tags.iter().map(RefName::as_str).collect();
        let names = serde_json::to_string(&names).map_err(Error::store)?;
        self.each(
            "SELECT names.key, hash, time, note FROM json_each(?1) AS names
             CROSS JOIN tag_notes ON tag = names.value JOIN commits ON commits.id = commit_id",
            tags.len(),
            [names],
            |row| {
                Ok(TagNote {
                    commit: row.get(1)?,
                    time: Millis(row.get(2)?),
                    text: row.get(3)?,
                })
            },
        )
    }

    fn follower(&self, session: &RefName) -> Result<Option<RefName>> {
        let sql = "SELECT branch FROM followers WHERE session = ?1";
        self.first(sql, [session], |row| row.get(0))
    }

    fn adopted(&self, session: &RefName) -> Result<Vec<AdoptedRow>> {
        self.all(
            "SELECT theirs.hash, ours.hash FROM adopted
             JOIN commits theirs ON theirs.id = theirs JOIN commits ours ON ours.id = ours
             WHERE session = ?1 ORDER BY adopted.id",
            [session],
            |row| {
                Ok(AdoptedRow {
                    theirs: row.get(0)?,
                    ours: row.get(1)?,
                })
            },
        )
    }

    fn config(&self) -> Result<Vec<(String, String)>> {
        let sql = "SELECT key, value FROM config ORDER BY key";
        self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

impl RefsMut for Session<'_> {
    fn begin_reversal(&self, time: Millis, what: &str, reversal: Reversal) -> Result<u64> {
        let (undoes, redoes) = match reversal {
            Reversal::None => (None, None),
            Reversal::Undo(id) => (Some(number(id)), None),
            Reversal::Redo(id) => (None, Some(number(id))),
        };
        let id = self.insert(
            "INSERT INTO operations (time, what, undoes, redoes) VALUES (?1, ?2, ?3, ?4)",
            params![time.0, what, undoes, redoes],
        )?;
        self.operation.set(Some(id));
        u64::try_from(id).map_err(Error::store)
    }

    fn set_reference(&self, name: &RefName, new: Option<&RefValue>) -> Result<()> {
        let Some(operation) = self.operation.get() else {
            return Err(Error::store("no operation is open to log the move under"));
        };
        let old = self.reference(name)?;
        if old.as_ref() == new {
            return Ok(());
        }
        let columns = |value: Option<&RefValue>| -> Result<(Option<i64>, Option<RefName>)> {
            Ok(match value {
                Some(RefValue::Commit(hash)) => (Some(self.must_place(hash)?.id), None),
                Some(RefValue::Symbolic(name)) => (None, Some(name.clone())),
                None => (None, None),
            })
        };
        let (old_target, old_symbolic) = columns(old.as_ref())?;
        let (new_target, new_symbolic) = columns(new)?;
        if new.is_some() {
            self.execute(
                "INSERT OR REPLACE INTO refs (name, target, symbolic) VALUES (?1, ?2, ?3)",
                params![name, new_target, new_symbolic],
            )?;
        } else {
            self.execute("DELETE FROM refs WHERE name = ?1", [name])?;
        }
        self.execute(
            "INSERT INTO reflog
             (operation, name, old_target, old_symbolic, new_target, new_symbolic)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                operation,
                name,
                old_target,
                old_symbolic,
                new_target,
                new_symbolic
            ],
        )
    }

    fn purge_operations(&self, purge: u64) -> Result<()> {
        let sql = "UPDATE operations SET what = ?1 WHERE id < ?2";
        self.execute(sql, params![PURGED, number(purge)])?;
        self.last_purge.set(None);
        let sql = "INSERT INTO purges (operation) VALUES (?1)";
        self.execute(sql, [number(purge)])
    }

    fn set_tag_note(&self, tag: &RefName, note: Option<&TagNote>) -> Result<()> {
        let Some(note) = note else {
            return self.execute("DELETE FROM tag_notes WHERE tag = ?1", [tag]);
        };
        let commit = self.must_place(&note.commit)?.id;
        self.execute(
            "INSERT OR REPLACE INTO tag_notes (tag, commit_id, time, note) VALUES (?1, ?2, ?3, ?4)",
            params![tag, commit, note.time.0, note.text],
        )
    }

    fn set_follower(&self, session: &RefName, branch: &RefName) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO followers (session, branch) VALUES (?1, ?2)";
        self.execute(sql, [session, branch])
    }

    fn put_adopted(&self, session: &RefName, adopted: AdoptedRow) -> Result<()> {
        let theirs = self.must_place(&adopted.theirs)?.id;
        let ours = self.must_place(&adopted.ours)?.id;
        self.execute(
            "INSERT INTO adopted (session, theirs, ours) VALUES (?1, ?2, ?3)",
            params![session, theirs, ours],
        )
    }

    fn set_config(&self, key: &str, value: Option<&str>) -> Result<()> {
        match value {
            Some(value) => self.execute(
                "INSERT OR REPLACE INTO config (key, value) VALUES (?1, ?2)",
                [key, value],
            ),
            None => self.execute("DELETE FROM config WHERE key = ?1", [key]),
        }
    }
}
