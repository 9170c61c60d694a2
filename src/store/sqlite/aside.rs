//! Rows set aside: what is damaged and cannot be made again leaves its table, so that it is in nobody's
//! way, and stays in the database as a statement that would put it back.

use rusqlite::params;

use super::session::Session;
use crate::error::Result;
use crate::store::columns::Columns;
use crate::store::tables::Table;

/// How often a table is emptied before what is left in it stays.
const DELETES: usize = 8;

impl Session<'_> {
    /// Copies the rows of a table for which `condition` holds to where they are set aside. Gives how
    /// many there are.
    pub(super) fn keep_aside(&self, table: &str, condition: &str) -> Result<u64> {
        let columns = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";
        let columns: Vec<String> = self.all(columns, [table], |row| row.get(0))?;
        // A damaged text need not be UTF-8: its bytes are what is kept.
        let value = |column: &String| {
            format!(
                "CASE typeof({column})
                     WHEN 'text' THEN 'CAST(' || quote(CAST({column} AS BLOB)) || ' AS TEXT)'
                     ELSE quote({column}) END"
            )
        };
        let values: Vec<String> = columns.iter().map(value).collect();
        let sql = format!(
            "INSERT INTO quarantine (id, origin, statement, seal)
             SELECT n, ?1, row, sealed(n, ?1, row) FROM (
                 SELECT (SELECT coalesce(max(id), 0) FROM quarantine) + row_number() OVER () AS n,
                     'INSERT INTO {table} ({}) VALUES (' || {} || ')' AS row
                 FROM {table} NOT INDEXED WHERE {condition})",
            columns.join(", "),
            values.join(" || ', ' || ")
        );
        let before = self.aside()?;
        self.execute(&sql, params![table])?;
        Ok(self.aside()? - before)
    }

    /// Sets the rows of a table aside for which `condition` holds. Gives how many there were.
    pub(super) fn set_aside(&self, table: &str, condition: &str) -> Result<u64> {
        let rows = self.keep_aside(table, condition)?;
        if rows > 0 {
            self.execute(&format!("DELETE FROM {table} WHERE {condition}"), [])?;
        }
        Ok(rows)
    }

    /// Writes a table anew without the rows for which `condition` holds: it may be in the order of its
    /// keys, and a key what is damaged.
    pub(super) fn write_anew(&self, table: &str, columns: &str, condition: &str) -> Result<()> {
        let whole = format!(
            "CREATE TEMP TABLE whole AS SELECT {columns}, seal FROM {table} WHERE NOT ({condition})"
        );
        self.execute(&whole, [])?;
        // A row whose key is damaged stands where no search for it leads, until the others are gone.
        for _ in 0..DELETES {
            self.execute(&format!("DELETE FROM {table}"), [])?;
            let left = format!("SELECT 1 FROM {table} NOT INDEXED LIMIT 1");
            if self.first(&left, [], |_| Ok(()))?.is_none() {
                break;
            }
        }
        let back = format!(
            "INSERT OR IGNORE INTO {table} ({columns}, seal) SELECT {columns}, seal FROM temp.whole"
        );
        self.execute(&back, [])?;
        self.execute("DROP TABLE temp.whole", [])
    }

    /// How many rows are set aside.
    pub(super) fn aside(&self) -> Result<u64> {
        let rows = "SELECT count(*) FROM quarantine";
        Ok(self.first(rows, [], |row| row.unsigned(0))?.unwrap_or(0))
    }

    /// Deletes all rows of some tables.
    pub(super) fn empty(&self, tables: impl Iterator<Item = &'static Table>) -> Result<()> {
        for table in tables {
            self.execute(&format!("DELETE FROM {}", table.name), [])?;
        }
        Ok(())
    }
}
