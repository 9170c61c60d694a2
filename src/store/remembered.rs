//! What is remembered by a name, one row each: settings, notes of tags, followers, sessions, files.
//!
//! An engine keeps and gives such rows by their table alone; what is in them is said by [`Refs`](super::Refs) and
//! [`Sources`](super::Sources). Deliberately absent: what has no single name, or belongs to an object.

use super::columns::{Cell, Columns, damaged, get};
use super::tables::Table;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::RefName;

/// A table of what is remembered.
#[derive(Clone, Copy, Debug)]
pub struct Memory(pub(super) &'static Table);

/// A row: its name, and its other columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// The name.
    pub key: String,
    pub(super) cells: Vec<Cell>,
}

/// What is wrong with a row that holds what no program writes.
pub(super) fn odd(what: &str, key: &str) -> Error {
    damaged(format!("{what} {key}: it is not what was written"))
}

impl MemoryRow {
    /// The column at `at`, which holds text or nothing.
    pub(super) fn maybe_text(&self, at: usize) -> Result<Option<&str>> {
        match self.cells.get(at) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(Cell::Bytes(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(odd("a text of", &self.key)),
            },
            _ => Err(odd("a text of", &self.key)),
        }
    }

    /// The same where there must be one.
    pub(super) fn text(&self, at: usize) -> Result<&str> {
        self.maybe_text(at)?
            .ok_or_else(|| odd("a text of", &self.key))
    }

    /// A column that may hold nothing, read by `read` where it holds something.
    pub(super) fn maybe<T>(
        &self,
        at: usize,
        read: impl FnOnce(&Self, usize) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.cells.get(at) {
            Some(Cell::Null) => Ok(None),
            _ => read(self, at).map(Some),
        }
    }

    /// A ref's name.
    pub(super) fn reference(&self, at: usize) -> Result<RefName> {
        let name = self.text(at)?.parse();
        name.map_err(|_| odd("a ref's name of", &self.key))
    }

    /// What the row is remembered by, where that is a ref.
    pub(super) fn name(&self) -> Result<RefName> {
        let name = self.key.parse();
        name.map_err(|_| odd("the name", &self.key))
    }

    pub(super) fn number(&self, at: usize) -> Result<i64> {
        match self.cells.get(at) {
            Some(Cell::Number(number)) => Ok(*number),
            _ => Err(odd("a number of", &self.key)),
        }
    }

    /// A number that counts something.
    pub(super) fn unsigned(&self, at: usize) -> Result<u64> {
        u64::try_from(self.number(at)?).map_err(|_| odd("a number of", &self.key))
    }

    pub(super) fn bytes(&self, at: usize) -> Result<&[u8]> {
        match self.cells.get(at) {
            Some(Cell::Bytes(bytes)) => Ok(bytes),
            _ => Err(odd("the bytes of", &self.key)),
        }
    }

    pub(super) fn commit(&self, at: usize) -> Result<CommitHash> {
        match self.cells.get(at) {
            Some(Cell::Commit(commit)) => Ok(*commit),
            _ => Err(odd("a commit of", &self.key)),
        }
    }
}

/// Reading what is remembered.
pub trait Remembered {
    /// The rows of these names that are here, or all, by name. A name that is asked for twice may be answered
    /// once.
    fn remembered(&self, of: Memory, names: Option<&[&str]>) -> Result<Vec<MemoryRow>>;

    /// Fails where a row of this name, or any, is not as it was written. Such a row of what can be made again
    /// counts as absent, which is wrong where the rows themselves are what is shown.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`].
    fn prove_intact(&self, _of: Memory, _name: Option<&str>) -> Result<()> {
        Ok(())
    }
}

/// Writing what is remembered.
pub trait RememberedMut: Remembered {
    /// Keeps a row of this name in place of any other: its other columns; none: there is none from now on.
    fn remember(&self, of: Memory, name: &str, cells: Option<Vec<Cell>>) -> Result<()>;
}

/// The column that names a commit.
pub(super) const COMMIT: &str = "commit_id";

impl MemoryRow {
    /// A row's columns, from its name on.
    pub(super) fn read(row: &impl Columns, of: &Table) -> Result<Self> {
        Ok(Self {
            key: get(row, 0)?,
            cells: cells(row, 1, &of.columns[1..])?,
        })
    }

    /// Of a sum, the columns behind its place, from `first` on.
    pub(super) fn read_sum(row: &impl Columns, first: usize, of: &Table) -> Result<Self> {
        Ok(Self {
            key: of.name.to_owned(),
            cells: cells(row, first, &of.columns[PLACE..])?,
        })
    }
}

/// How many columns of a sum say where it stands: lineage, depth and encoding.
pub(super) const PLACE: usize = 3;

fn cells(row: &impl Columns, first: usize, columns: &[&str]) -> Result<Vec<Cell>> {
    let cell = |(at, column): (usize, &&str)| match *column {
        COMMIT => get(row, first + at).map(Cell::Commit),
        _ => row.cell(first + at),
    };
    columns.iter().enumerate().map(cell).collect()
}

/// The row of one name.
pub(super) fn one<V: Remembered + ?Sized>(
    view: &V,
    of: &'static Table,
    name: &str,
) -> Result<Option<MemoryRow>> {
    Ok(view.remembered(Memory(of), Some(&[name]))?.pop())
}

/// All rows, where nothing else shows that one is damaged.
pub(super) fn shown<V: Remembered + ?Sized>(
    view: &V,
    of: &'static Table,
) -> Result<Vec<MemoryRow>> {
    view.prove_intact(Memory(of), None)?;
    all(view, of)
}

/// All rows.
pub(super) fn all<V: Remembered + ?Sized>(view: &V, of: &'static Table) -> Result<Vec<MemoryRow>> {
    view.remembered(Memory(of), None)
}
