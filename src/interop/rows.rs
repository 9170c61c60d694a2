//! Sessions that stand in a tool's database: which rows are one, and the document that is made of them.
//!
//! That document is what an importer reads and what is kept of such a session. It is made of the rows alone and
//! in an order that they tell, so that the same rows make the same bytes. Deliberately absent: databases;
//! whoever opens one hands in [`Rows`].

use serde_json::{Map, Value};

use crate::error::Result;

/// The rows of a database at one moment.
pub trait Rows {
    /// The columns of a table; none where there is no such table.
    fn columns(&self, table: &str) -> Result<Vec<String>>;

    /// The rows of a table in an order of columns, as JSON objects by column: those that hold a text in a
    /// column, or all.
    fn rows(
        &self,
        table: &str,
        holding: Option<(&str, &str)>,
        order: &[&str],
    ) -> Result<Vec<Map<String, Value>>>;

    /// For each value of the column `by`: how many rows of a table hold it, how many bytes their texts in the
    /// column `text` have, and the greatest number in the column `newest`.
    fn summed(
        &self,
        table: &str,
        by: &str,
        text: &str,
        newest: &str,
    ) -> Result<Vec<(String, u64, u64, i64)>>;
}

/// How sessions stand in a tool's database.
#[derive(Clone, Copy)]
pub struct Tables {
    /// The database's name in the tool's directory.
    pub file: &'static str,
    /// The tables that show it, each with columns that it has.
    pub shown_by: &'static [(&'static str, &'static [&'static str])],
    /// All sessions in it, each after the one that started it.
    pub sessions: fn(&dyn Rows) -> Result<Vec<StoredSession>>,
    /// The session with an id, and its document; none where there is none.
    pub document: fn(&dyn Rows, id: &str) -> Result<Option<WithDocument>>,
}

/// A session, and its document.
pub type WithDocument = (StoredSession, String);

/// A session in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// The session whose agent started it.
    pub spawned_by: Option<String>,
    /// The working directory that it ran in.
    pub cwd: Option<String>,
    /// How many rows it is in.
    pub rows: u64,
    /// How long the texts of its messages are in bytes.
    pub size_bytes: u64,
    /// When any of its rows was last written, in milliseconds since 1970.
    pub updated: i64,
}

impl Tables {
    /// Whether a database has these tables.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being read.
    pub fn are_in(&self, rows: &dyn Rows) -> Result<bool> {
        for (table, needed) in self.shown_by {
            let columns = rows.columns(table)?;
            if !needed
                .iter()
                .all(|name| columns.iter().any(|it| it == name))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
