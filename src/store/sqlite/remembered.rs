//! What is remembered by a name: one way to read and to write such rows, whatever their table.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, params_from_iter};

use super::session::Session;
use crate::error::{Error, Result};
use crate::store::columns::damaged;
use crate::store::lineage::Lineages;
use crate::store::remembered::COMMIT;
use crate::store::tables::Table;
use crate::store::{Cell, Memory, MemoryRow, Remembered, RememberedMut};

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
        let beside = format!("SELECT neighbours!({}, {}, ?1)", table.name, table.key());
        self.first(&beside, [name], |_| Ok(())).map(drop)
    }

    /// Writes a row of a table, in place of any with the same key.
    pub(super) fn put_row(
        &self,
        table: &Table,
        values: impl IntoIterator<Item = Cell>,
    ) -> Result<()> {
        let sql = format!("INSERT OR REPLACE INTO sealed!({})", table.name);
        self.execute(&sql, params_from_iter(values))
    }
}

impl Remembered for Session<'_> {
    fn remembered(&self, of: Memory, names: Option<&[&str]>) -> Result<Vec<MemoryRow>> {
        let table = of.0;
        let (name, key) = (table.name, table.key());
        let columns = table.columns.iter().map(|column| match *column {
            COMMIT => "commits.hash".to_owned(),
            column => format!("{name}.{column}"),
        });
        let columns: Vec<String> = columns.collect();
        let commits = if table.columns.contains(&COMMIT) {
            " JOIN commits ON commits.id = commit_id AND intact!(commits)"
        } else {
            ""
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
            "SELECT {} FROM {from}{commits} WHERE intact!({name}){order}",
            columns.join(", ")
        );
        let found = self.all(&sql, params_from_iter(asked), |row| {
            MemoryRow::read(row, table)
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

    fn prove_intact(&self, of: Memory, name: Option<&str>) -> Result<()> {
        let (table, key) = (of.0.name, of.0.key());
        let of_name = name.map_or(String::new(), |_| format!(" AND {key} = ?1"));
        let sql = format!(
            "SELECT 1 FROM {table} WHERE NOT coalesce(intact!({table}), FALSE){of_name} LIMIT 1"
        );
        match self.first(&sql, params_from_iter(name), |_| Ok(()))? {
            None => Ok(()),
            Some(()) => Err(damaged(format!(
                "a row of {table} is not as it was written"
            ))),
        }
    }
}

impl RememberedMut for Session<'_> {
    fn remember(&self, of: Memory, name: &str, cells: Option<Vec<Cell>>) -> Result<()> {
        let Some(cells) = cells else {
            let sql = format!("DELETE FROM {} WHERE {} = ?1", of.0.name, of.0.key());
            return self.execute(&sql, [name]);
        };
        self.put_row(
            of.0,
            [Cell::from(name)].into_iter().chain(self.rows_of(cells)?),
        )
    }
}
