//! Refs, operations, the log of moves, and the configuration.

use rusqlite::{Row, params};

use super::codec::{number, unsigned};
use super::objects::commit_id;
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Millis, PURGED, RefName, RefValue};
use crate::store::{AdoptedRow, OperationRow, ReflogRow, Reversal, TagNote};

/// A target's hash and another ref's name: at most one is there.
type Held = (Option<CommitHash>, Option<String>);

fn held(row: &Row<'_>, first: usize) -> rusqlite::Result<Held> {
    Ok((row.get(first)?, row.get(first + 1)?))
}

fn name(text: &str) -> Result<RefName> {
    text.parse().map_err(|error: Error| Error::Damaged {
        detail: error.to_string(),
    })
}

fn value(held: Held) -> Result<Option<RefValue>> {
    Ok(match held {
        (Some(commit), _) => Some(RefValue::Commit(commit)),
        (None, Some(symbolic)) => Some(RefValue::Symbolic(name(&symbolic)?)),
        (None, None) => None,
    })
}

pub(super) fn reference(session: &Session<'_>, name: &RefName) -> Result<Option<RefValue>> {
    let found = session.first(
        "SELECT commits.hash, refs.symbolic FROM refs LEFT JOIN commits ON commits.id = refs.target
         WHERE refs.name = ?1",
        [name.as_str()],
        |row| held(row, 0),
    )?;
    value(found.unwrap_or_default())
}

pub(super) fn references(session: &Session<'_>, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
    // A range scan from the prefix on; what follows the last name that has it isn't read.
    let mut statement = session.prepare(
        "SELECT refs.name, commits.hash, refs.symbolic
         FROM refs LEFT JOIN commits ON commits.id = refs.target
         WHERE refs.name >= ?1 ORDER BY refs.name",
    )?;
    let mut rows = statement.query([prefix]).map_err(super::engine)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(super::engine)? {
        let text: String = row.get(0).map_err(super::engine)?;
        if !text.starts_with(prefix) {
            break;
        }
        if let Some(value) = value(held(row, 1).map_err(super::engine)?)? {
            found.push((name(&text)?, value));
        }
    }
    Ok(found)
}

pub(super) fn operations(
    session: &Session<'_>,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<OperationRow>> {
    session.all(
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

pub(super) fn moves(session: &Session<'_>, operation: u64) -> Result<Vec<ReflogRow>> {
    let rows = session.all(
        "SELECT name, older.hash, old_symbolic, newer.hash, new_symbolic FROM reflog
         LEFT JOIN commits AS older ON older.id = old_target
         LEFT JOIN commits AS newer ON newer.id = new_target
         WHERE operation = ?1 ORDER BY reflog.id",
        [number(operation)],
        |row| Ok((row.get::<_, String>(0)?, held(row, 1)?, held(row, 3)?)),
    )?;
    rows.into_iter()
        .map(|(of, old, new)| {
            Ok(ReflogRow {
                operation,
                name: name(&of)?,
                old: value(old)?,
                new: value(new)?,
            })
        })
        .collect()
}

pub(super) fn reflog(session: &Session<'_>, of: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
    let rows = session.all(
        "SELECT operation, older.hash, old_symbolic, newer.hash, new_symbolic FROM reflog
         LEFT JOIN commits AS older ON older.id = old_target
         LEFT JOIN commits AS newer ON newer.id = new_target
         WHERE name = ?1 ORDER BY reflog.id DESC LIMIT ?2",
        params![of.as_str(), number(limit as u64)],
        |row| Ok((unsigned(row, 0)?, held(row, 1)?, held(row, 3)?)),
    )?;
    rows.into_iter()
        .map(|(operation, old, new)| {
            Ok(ReflogRow {
                operation,
                name: of.clone(),
                old: value(old)?,
                new: value(new)?,
            })
        })
        .collect()
}

pub(super) fn tag_notes(session: &Session<'_>, tags: &[RefName]) -> Result<Vec<Option<TagNote>>> {
    let sql = "SELECT hash, time, note FROM tag_notes JOIN commits ON commits.id = commit_id
         WHERE tag = ?1";
    let note = |row: &Row<'_>| {
        Ok(TagNote {
            commit: row.get(0)?,
            time: Millis(row.get(1)?),
            text: row.get(2)?,
        })
    };
    let notes = tags
        .iter()
        .map(|tag| session.first(sql, [tag.as_str()], note));
    notes.collect()
}

pub(super) fn follower(session: &Session<'_>, of: &RefName) -> Result<Option<RefName>> {
    let sql = "SELECT branch FROM followers WHERE session = ?1";
    let found: Option<String> = session.first(sql, [of.as_str()], |row| row.get(0))?;
    found.map(|text| name(&text)).transpose()
}

pub(super) fn adopted(session: &Session<'_>, of: &RefName) -> Result<Vec<AdoptedRow>> {
    session.all(
        "SELECT theirs.hash, ours.hash FROM adopted
         JOIN commits theirs ON theirs.id = theirs JOIN commits ours ON ours.id = ours
         WHERE session = ?1 ORDER BY adopted.id",
        [of.as_str()],
        |row| {
            Ok(AdoptedRow {
                theirs: row.get(0)?,
                ours: row.get(1)?,
            })
        },
    )
}

pub(super) fn last_purge(session: &Session<'_>) -> Result<Option<u64>> {
    let sql = "SELECT operation FROM purges ORDER BY operation DESC LIMIT 1";
    session.first(sql, [], |row| unsigned(row, 0))
}

pub(super) fn config(session: &Session<'_>) -> Result<Vec<(String, String)>> {
    let sql = "SELECT key, value FROM config ORDER BY key";
    session.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

pub(super) fn begin_reversal(
    session: &Session<'_>,
    time: Millis,
    what: &str,
    reversal: Reversal,
) -> Result<u64> {
    let (undoes, redoes) = match reversal {
        Reversal::None => (None, None),
        Reversal::Undo(id) => (Some(number(id)), None),
        Reversal::Redo(id) => (None, Some(number(id))),
    };
    let id = session.insert(
        "INSERT INTO operations (time, what, undoes, redoes) VALUES (?1, ?2, ?3, ?4)",
        params![time.0, what, undoes, redoes],
    )?;
    session.operation.set(Some(id));
    u64::try_from(id).map_err(Error::store)
}

pub(super) fn set_reference(
    session: &Session<'_>,
    name: &RefName,
    new: Option<&RefValue>,
) -> Result<()> {
    let Some(operation) = session.operation.get() else {
        return Err(Error::store("no operation is open to log the move under"));
    };
    let old = reference(session, name)?;
    if old.as_ref() == new {
        return Ok(());
    }
    let columns = |value: Option<&RefValue>| -> Result<(Option<i64>, Option<String>)> {
        Ok(match value {
            Some(RefValue::Commit(hash)) => (Some(commit_id(session, hash)?), None),
            Some(RefValue::Symbolic(name)) => (None, Some(name.as_str().to_owned())),
            None => (None, None),
        })
    };
    let (old_target, old_symbolic) = columns(old.as_ref())?;
    let (new_target, new_symbolic) = columns(new)?;
    if new.is_some() {
        session.execute(
            "INSERT OR REPLACE INTO refs (name, target, symbolic) VALUES (?1, ?2, ?3)",
            params![name.as_str(), new_target, new_symbolic],
        )?;
    } else {
        session.execute("DELETE FROM refs WHERE name = ?1", [name.as_str()])?;
    }
    session.insert(
        "INSERT INTO reflog
         (operation, name, old_target, old_symbolic, new_target, new_symbolic)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            operation,
            name.as_str(),
            old_target,
            old_symbolic,
            new_target,
            new_symbolic
        ],
    )?;
    Ok(())
}

pub(super) fn purge_operations(session: &Session<'_>, purge: u64) -> Result<()> {
    let sql = "UPDATE operations SET what = ?1 WHERE id < ?2";
    session.execute(sql, params![PURGED, number(purge)])?;
    let sql = "INSERT INTO purges (operation) VALUES (?1)";
    session.insert(sql, [number(purge)])?;
    Ok(())
}

pub(super) fn set_tag_note(
    session: &Session<'_>,
    tag: &RefName,
    note: Option<&TagNote>,
) -> Result<()> {
    match note {
        Some(note) => session.execute(
            "INSERT OR REPLACE INTO tag_notes (tag, commit_id, time, note) VALUES (?1, ?2, ?3, ?4)",
            params![
                tag.as_str(),
                commit_id(session, &note.commit)?,
                note.time.0,
                note.text
            ],
        )?,
        None => session.execute("DELETE FROM tag_notes WHERE tag = ?1", [tag.as_str()])?,
    };
    Ok(())
}

pub(super) fn set_follower(session: &Session<'_>, of: &RefName, branch: &RefName) -> Result<()> {
    session.execute(
        "INSERT OR REPLACE INTO followers (session, branch) VALUES (?1, ?2)",
        [of.as_str(), branch.as_str()],
    )?;
    Ok(())
}

pub(super) fn put_adopted(session: &Session<'_>, of: &RefName, adopted: AdoptedRow) -> Result<()> {
    session.insert(
        "INSERT INTO adopted (session, theirs, ours) VALUES (?1, ?2, ?3)",
        params![
            of.as_str(),
            commit_id(session, &adopted.theirs)?,
            commit_id(session, &adopted.ours)?
        ],
    )?;
    Ok(())
}

pub(super) fn set_config(session: &Session<'_>, key: &str, value: Option<&str>) -> Result<()> {
    match value {
        Some(value) => session.execute(
            "INSERT OR REPLACE INTO config (key, value) VALUES (?1, ?2)",
            [key, value],
        )?,
        None => session.execute("DELETE FROM config WHERE key = ?1", [key])?,
    };
    Ok(())
}
