//! Columns as values: what a row of any engine's is read by. Deliberately absent: statements, and how values
//! become parameters, which are each engine's own.

pub(super) use super::codec::damaged;
use super::codec::{Speaker, encoding_of};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::{Encoding, RefName};

/// What stands in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A number.
    Number(i64),
    /// Text.
    Text(String),
    /// Bytes. An engine whose text is bytes may give it as such.
    Bytes(Vec<u8>),
    /// A commit, which must be here.
    Commit(CommitHash),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::from)
    }
}

/// A row of an answer.
pub(super) trait Columns {
    fn is_null(&self, at: usize) -> Result<bool>;

    fn number(&self, at: usize) -> Result<i64>;

    /// What [`number`](super::codec::number) wrote.
    fn unsigned(&self, at: usize) -> Result<u64>;

    fn flag(&self, at: usize) -> Result<bool>;

    fn text(&self, at: usize) -> Result<&str>;

    fn bytes(&self, at: usize) -> Result<&[u8]>;

    /// Whatever it holds but the name of an object.
    fn cell(&self, at: usize) -> Result<Cell>;
}

/// What a column holds.
pub(super) trait Column<'r>: Sized {
    fn of(row: &'r impl Columns, at: usize) -> Result<Self>;
}

/// A column.
pub(super) fn get<'r, T: Column<'r>>(row: &'r impl Columns, at: usize) -> Result<T> {
    T::of(row, at)
}

/// What is wrong with a caller that names an object which isn't here.
pub(super) fn missing(what: &'static str, hash: &impl ToString) -> Error {
    Error::Malformed {
        what,
        detail: format!("{} is not stored", hash.to_string()),
    }
}

macro_rules! columns {
    ($($type:ty, $read:expr;)+) => {
        $(impl<'r> Column<'r> for $type {
            fn of(row: &'r impl Columns, at: usize) -> Result<Self> {
                $read(row, at)
            }
        })+
    };
}

columns! {
    i64, Columns::number;
    u64, Columns::unsigned;
    bool, Columns::flag;
    &'r str, Columns::text;
    &'r [u8], Columns::bytes;
    u32, |row: &'r _, at| u32::try_from(Columns::number(row, at)?).map_err(damaged);
    String, |row: &'r _, at| Columns::text(row, at).map(str::to_owned);
    Vec<u8>, |row: &'r _, at| Columns::bytes(row, at).map(<[u8]>::to_vec);
    HashBytes, |row: &'r _, at| Columns::bytes(row, at)?.try_into().map_err(damaged);
    CommitHash, |row: &'r _, at| get(row, at).map(CommitHash::from_bytes);
    ContentHash, |row: &'r _, at| get(row, at).map(ContentHash::from_bytes);
    RefName, |row: &'r _, at| Columns::text(row, at)?.parse().map_err(|error: Error| damaged(error));
    Encoding, |row: &'r _, at| encoding_of(Columns::number(row, at)?);
    Speaker, |row: &'r _, at| Speaker::of(Columns::number(row, at)?);
}

impl<'r, T: Column<'r>> Column<'r> for Option<T> {
    fn of(row: &'r impl Columns, at: usize) -> Result<Self> {
        if row.is_null(at)? {
            Ok(None)
        } else {
            T::of(row, at).map(Some)
        }
    }
}
