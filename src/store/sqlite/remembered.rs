//! What is remembered by a name: one way to read and to write such rows, whatever their table.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql, params_from_iter};

use super::codec::damaged;
use super::seal::intact;
use super::session::Session;
use crate::error::{Error, Result};
use crate::store::tables::Table;
use crate::store::{Cell, Memory, MemoryRow, Remembered, RememberedMut};

/// The column that names a commit.
const COMMIT: &str = "commit_id";

/// The condition that a row is as it was written; of what can be made again any other counts as absent.
fn sound(table: &Table) -> String {
    let name = table.name;
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| format!("{name}.{column}"))
        .collect();
    let columns = columns.join(", ");
    match table.derived {
        Some(_) => format!("{name}.seal = sealed({columns})"),
        None => format!("intact('{name}', {name}.seal, {columns})"),
    }
}

fn cell(row: &Row<'_>, at: usize, column: &str) -> rusqlite::Result<Cell> {
    if column == COMMIT {
        return row.get(at).map(Cell::Commit);
    }
    Ok(match row.get_ref(at)? {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Number(number),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_owned()),
        text @ ValueRef::Text(_) => Cell::Text(text.as_str()?.to_owned()),
        ValueRef::Real(_) => return Err(damaged("a number with a fraction")),
    })
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Commit(commit) => ValueRef::Blob(commit.as_bytes()),
        }))
    }
}

impl Session<'_> {
    /// Makes sure that a name which was not found is not there: by the rows beside its place.
    fn prove_not_remembered(&self, table: &Table, name: &str) -> Result<()> {
        let (of, key, sound) = (table.name, table.key(), sound(table));
        let beside = format!(
            "SELECT (SELECT 1 FROM {of} WHERE {key} < ?1 AND {sound} ORDER BY {key} DESC LIMIT 1),
                 (SELECT 1 FROM {of} WHERE {key} > ?1 AND {sound} ORDER BY {key} LIMIT 1)"
        );
        self.first(&beside, [name], |_| Ok(())).map(drop)
    }
}

impl Remembered for Session<'_> {
    fn remembered(&self, of: Memory, names: Option<&[&str]>) -> Result<Vec<MemoryRow>> {
        let table = of.0;
        let (name, key, sound) = (table.name, table.key(), sound(table));
        let columns = table.columns.iter().map(|column| match *column {
            COMMIT => "commits.hash".to_owned(),
            column => format!("{name}.{column}"),
        });
        let columns: Vec<String> = columns.collect();
        let commits = match table.columns.contains(&COMMIT) {
            true => concat!(
                " JOIN commits ON commits.id = commit_id AND ",
                intact!(commits)
            ),
            false => "",
        };
        let (from, order, asked) = match names {
            None => (name.to_owned(), format!(" ORDER BY {name}.{key}"), None),
            Some([]) => return Ok(Vec::new()),
            Some([one]) => (
                name.to_owned(),
                format!(" AND {name}.{key} = ?1"),
                Some((*one).to_owned()),
            ),
            Some(names) => (
                format!("json_each(?1) AS asked CROSS JOIN {name} ON {name}.{key} = asked.value"),
                String::new(),
                Some(serde_json::to_string(names).map_err(Error::store)?),
            ),
        };
        let sql = format!(
            "SELECT {} FROM {from}{commits} WHERE {sound}{order}",
            columns.join(", ")
        );
        let found = self.all(&sql, params_from_iter(asked), |row| {
            let cells = table.columns.iter().enumerate().skip(1);
            let cells = cells.map(|(at, column)| cell(row, at, column));
            Ok(MemoryRow {
                key: row.get(0)?,
                cells: cells.collect::<rusqlite::Result<_>>()?,
            })
        })?;
        if table.derived.is_none() {
            let is_found = |name: &&&str| found.iter().any(|row| row.key == **name);
            for name in names
                .unwrap_or_default()
                .iter()
                .filter(|name| !is_found(name))
            {
                self.prove_not_remembered(table, name)?;
            }
        }
        Ok(found)
    }
}

impl RememberedMut for Session<'_> {
    fn remember(&self, of: Memory, row: MemoryRow) -> Result<()> {
        let (table, mut values) = (of.0, vec![Cell::Text(row.key)]);
        for cell in row.cells {
            values.push(match cell {
                Cell::Commit(commit) => Cell::Number(self.must_place(&commit)?.id),
                other => other,
            });
        }
        let places: Vec<String> = (1..=values.len()).map(|at| format!("?{at}")).collect();
        let places = places.join(", ");
        let sql = format!(
            "INSERT OR REPLACE INTO {} ({}, seal) VALUES ({places}, sealed({places}))",
            table.name,
            table.listed()
        );
        self.execute(&sql, params_from_iter(values))
    }

    fn forget(&self, of: Memory, name: &str) -> Result<()> {
        let sql = format!("DELETE FROM {} WHERE {} = ?1", of.0.name, of.0.key());
        self.execute(&sql, [name])
    }
}
