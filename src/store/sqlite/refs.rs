//! Refs, operations, the reflog, configuration.

use rusqlite::{Connection, OptionalExtension, params};

use super::wrap;
use crate::error::{Error, Result};
use crate::model::{Millis, RefName, RefValue};
use crate::store::{OperationRow, ReflogRow};

const SYMBOLIC: &str = "ref: ";

fn to_text(value: &RefValue) -> String {
    match value {
        RefValue::Commit(hash) => hash.to_string(),
        RefValue::Symbolic(name) => format!("{SYMBOLIC}{name}"),
    }
}

fn from_text(text: &str) -> Result<RefValue> {
    Ok(match text.strip_prefix(SYMBOLIC) {
        Some(name) => RefValue::Symbolic(name.parse()?),
        None => RefValue::Commit(text.parse()?),
    })
}

pub(super) fn reference(db: &Connection, name: &RefName) -> Result<Option<RefValue>> {
    let text: Option<String> = db
        .prepare_cached("SELECT value FROM refs WHERE name = ?1")
        .and_then(|mut query| {
            query
                .query_row([name.as_str()], |row| row.get(0))
                .optional()
        })
        .map_err(wrap)?;
    text.as_deref().map(from_text).transpose()
}

pub(super) fn references(db: &Connection, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
    let mut query = db
        .prepare_cached(
            "SELECT name, value FROM refs WHERE name >= ?1 AND substr(name, 1, length(?1)) = ?1
             ORDER BY name",
        )
        .map_err(wrap)?;
    let rows = query
        .query_map([prefix], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .map_err(wrap)?;
    rows.map(|row| {
        let (name, value) = row.map_err(wrap)?;
        Ok((name.parse()?, from_text(&value)?))
    })
    .collect()
}

pub(super) fn begin_operation(db: &Connection, time: Millis, what: &str) -> Result<i64> {
    db.prepare_cached("INSERT INTO operations (time, what) VALUES (?1, ?2)")
        .and_then(|mut insert| insert.execute(params![time.0, what]))
        .map_err(wrap)?;
    Ok(db.last_insert_rowid())
}

pub(super) fn set_reference(
    db: &Connection,
    operation: Option<i64>,
    name: &RefName,
    new: Option<&RefValue>,
) -> Result<()> {
    let operation = operation.ok_or_else(|| Error::Malformed {
        what: "transaction",
        detail: format!("{name} moves outside an operation"),
    })?;
    let old = reference(db, name)?;
    if old.as_ref() == new {
        return Ok(());
    }
    match new {
        Some(value) => db
            .prepare_cached("INSERT OR REPLACE INTO refs (name, value) VALUES (?1, ?2)")
            .and_then(|mut insert| insert.execute(params![name.as_str(), to_text(value)])),
        None => db
            .prepare_cached("DELETE FROM refs WHERE name = ?1")
            .and_then(|mut delete| delete.execute([name.as_str()])),
    }
    .map_err(wrap)?;
    db.prepare_cached("INSERT INTO reflog (operation, name, old, new) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut insert| {
            insert.execute(params![
                operation,
                name.as_str(),
                old.as_ref().map(to_text),
                new.map(to_text)
            ])
        })
        .map_err(wrap)?;
    Ok(())
}

pub(super) fn operations(db: &Connection, limit: usize) -> Result<Vec<OperationRow>> {
    let mut query = db
        .prepare_cached("SELECT id, time, what FROM operations ORDER BY id DESC LIMIT ?1")
        .map_err(wrap)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query
        .query_map([limit], |row| {
            let id: i64 = row.get(0)?;
            Ok(OperationRow {
                id: id as u64,
                time: Millis(row.get(1)?),
                what: row.get(2)?,
            })
        })
        .map_err(wrap)?;
    rows.collect::<Result<_, _>>().map_err(wrap)
}

pub(super) fn reflog(db: &Connection, name: &RefName, limit: usize) -> Result<Vec<ReflogRow>> {
    type Stored = (i64, Option<String>, Option<String>);
    let mut query = db
        .prepare_cached(
            "SELECT operation, old, new FROM reflog WHERE name = ?1 ORDER BY id DESC LIMIT ?2",
        )
        .map_err(wrap)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query
        .query_map(params![name.as_str(), limit], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .map_err(wrap)?;
    rows.map(|row| {
        let (operation, old, new): Stored = row.map_err(wrap)?;
        Ok(ReflogRow {
            operation: operation as u64,
            name: name.clone(),
            old: old.as_deref().map(from_text).transpose()?,
            new: new.as_deref().map(from_text).transpose()?,
        })
    })
    .collect()
}

pub(super) fn config(db: &Connection, key: &str) -> Result<Option<String>> {
    db.prepare_cached("SELECT value FROM config WHERE key = ?1")
        .and_then(|mut query| query.query_row([key], |row| row.get(0)).optional())
        .map_err(wrap)
}

pub(super) fn set_config(db: &Connection, key: &str, value: Option<&str>) -> Result<()> {
    match value {
        Some(value) => db
            .prepare_cached("INSERT OR REPLACE INTO config (key, value) VALUES (?1, ?2)")
            .and_then(|mut insert| insert.execute([key, value])),
        None => db
            .prepare_cached("DELETE FROM config WHERE key = ?1")
            .and_then(|mut delete| delete.execute([key])),
    }
    .map_err(wrap)?;
    Ok(())
}
