//! What is remembered by a name: one way to read and to write such rows, whatever their table.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::Postgres;
use super::columns::{Given, Parameter};
use super::link::Link;
use super::session::Session;
use super::usual::{indexed, remembered_asked};
use crate::error::Result;
use crate::store::lineage::Lineages;
use crate::store::refs::configured;
use crate::store::tables::{CONFIG, SESSIONS, Table};
use crate::store::{Cell, Memory, MemoryRow, Remembered, RememberedMut, Store};

impl Parameter for Cell {
    fn given(&self) -> (Given<'_>, Type) {
        let bytes = match self {
            Self::Number(number) => return (Given::Other(number), Type::INT8),
            Self::Null => None,
            Self::Text(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(&bytes[..]),
            Self::Commit(commit) => Some(&commit.as_bytes()[..]),
        };
        (Given::Bytes(bytes), Type::BYTEA)
    }
}

impl Postgres {
    /// What is configured, in one statement outside of any transaction, but where views that follow are to see the same.
    pub(super) fn configured_now(&self) -> Result<Vec<(String, String)>> {
        if self.is_held.get() {
            return self.read()?.config();
        }
        let listed = CONFIG.listed();
        let table = self.address.qualified(CONFIG.name);
        let sql = format!("SELECT {listed} FROM {table} ORDER BY {}", CONFIG.key());
        let ask = |link: &Link| link.query(&sql, &[]);
        let (link, found) = self.enter_transaction(false, self.wait, ask)?;
        self.give_back(link);
        let rows = found.iter().map(|row| MemoryRow::read(row, &CONFIG));
        configured(rows.collect::<Result<_>>()?)
    }
}

impl Remembered for Session<'_> {
    fn remembered(&self, of: Memory, names: Option<&[&str]>) -> Result<Vec<MemoryRow>> {
        let table = of.0;
        let read = |row: &Row| MemoryRow::read(row, table);
        let asked = match names {
            None => remembered_asked(table, None)?,
            Some([]) => return Ok(Vec::new()),
            Some(names) => {
                if table.name == SESSIONS.name
                    && let Some(foreseen) = self.ahead.sessions(names)
                {
                    return Ok(foreseen);
                }
                if let Some(all) = self.told(&remembered_asked(table, None)?) {
                    let rows = all
                        .iter()
                        .map(read)
                        .collect::<Result<Vec<_>>>()?
                        .into_iter();
                    return Ok(rows.filter(|row| names.contains(&&*row.key)).collect());
                }
                remembered_asked(table, Some(names))?
            }
        };
        self.ask(asked)?.iter().map(read).collect()
    }
}

impl Session<'_> {
    /// Writes a row of a table, in place of any with the same key: how an index says that, and how many columns
    /// it is.
    pub(super) fn put_row(
        &self,
        table: &Table,
        (key, keys): (&str, usize),
        values: impl IntoIterator<Item = Cell>,
    ) -> Result<()> {
        let values: Vec<Cell> = values.into_iter().collect();
        // Nothing has no type, which a parameter must have.
        let mut given: Vec<&dyn Parameter> = Vec::with_capacity(values.len());
        let mut places = Vec::with_capacity(values.len());
        for value in &values {
            if matches!(value, Cell::Null) {
                places.push("NULL".to_owned());
            } else {
                given.push(value);
                places.push(format!("${}", given.len()));
            }
        }
        let others = table.columns.iter().skip(keys);
        let others = others.map(|column| format!("{column} = excluded.{column}"));
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({key}) DO UPDATE SET {}",
            table.name,
            table.listed(),
            places.join(", "),
            others.collect::<Vec<_>>().join(", ")
        );
        self.execute(&sql, &given)
    }
}

impl RememberedMut for Session<'_> {
    fn remember(&self, of: Memory, name: &str, cells: Option<Vec<Cell>>) -> Result<()> {
        let key = indexed(of.0, of.0.key());
        let Some(cells) = cells else {
            let name_there = indexed(of.0, "$1");
            let sql = format!("DELETE FROM {} WHERE {key} = {name_there}", of.0.name);
            return self.execute(&sql, &[&name]);
        };
        self.put_row(
            of.0,
            (&key, 1),
            [Cell::from(name)].into_iter().chain(self.rows_of(cells)?),
        )
    }
}
