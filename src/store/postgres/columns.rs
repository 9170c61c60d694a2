//! How values become parameters and columns become values. All text is bytes there.

use std::borrow::Cow;

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::RefName;
use crate::store::Cell;
use crate::store::columns::Columns;

pub(super) use crate::store::columns::{damaged, get};

pub(super) type Wrong = Box<dyn std::error::Error + Sync + Send>;

/// A parameter that knows its type, so that a statement need not be prepared to learn it.
pub(super) trait Parameter {
    fn given(&self) -> (Given<'_>, Type);
}

/// The value of a parameter.
pub(super) enum Given<'a> {
    Bytes(Option<&'a [u8]>),
    Other(&'a (dyn ToSql + Sync)),
}

impl Given<'_> {
    pub(super) fn value(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Other(other) => *other,
        }
    }
}

macro_rules! parameters {
    ($($type:ty => $column:ident),+ $(,)?) => {
        $(impl Parameter for $type {
            fn given(&self) -> (Given<'_>, Type) {
                (Given::Other(self), Type::$column)
            }
        })+
    };
}

parameters! {
    i64 => INT8,
    Option<i64> => INT8,
    bool => BOOL,
    Vec<i64> => INT8_ARRAY,
    Vec<i32> => INT4_ARRAY,
    Vec<bool> => BOOL_ARRAY,
    Vec<&[u8]> => BYTEA_ARRAY,
}

macro_rules! bytes_parameters {
    ($($type:ty, $bytes:expr;)+) => {
        $(impl Parameter for $type {
            fn given(&self) -> (Given<'_>, Type) {
                let bytes: fn(&Self) -> Option<&[u8]> = $bytes;
                (Given::Bytes(bytes(self)), Type::BYTEA)
            }
        })+
    };
}

bytes_parameters! {
    [u8], |bytes| Some(bytes);
    &[u8], |bytes| Some(bytes);
    str, |text| Some(text.as_bytes());
    &str, |text| Some(text.as_bytes());
    String, |text| Some(text.as_bytes());
    Option<&[u8]>, |bytes| *bytes;
    Option<String>, |text| text.as_deref().map(str::as_bytes);
    Vec<u8>, |bytes| Some(bytes);
    HashBytes, |bytes| Some(bytes);
    Cow<'_, [u8]>, |bytes| Some(bytes);
    CommitHash, |hash| Some(hash.as_bytes());
    ContentHash, |hash| Some(hash.as_bytes());
    RefName, |name| Some(name.as_str().as_bytes());
    Option<RefName>, |name| name.as_ref().map(|name| name.as_str().as_bytes());
}

/// Keys of one statement: all in one parameter.
pub(super) trait Key {
    fn bytes(&self) -> &[u8];
}

impl Key for CommitHash {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Key for ContentHash {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Key for RefName {
    fn bytes(&self) -> &[u8] {
        self.as_str().as_bytes()
    }
}

pub(super) fn keys<K: Key>(keys: &[K]) -> Vec<&[u8]> {
    keys.iter().map(Key::bytes).collect()
}

impl Columns for Row {
    fn is_null(&self, at: usize) -> Result<bool> {
        Ok(self.try_get::<_, Any>(at).map_err(damaged)?.is_null)
    }

    fn number(&self, at: usize) -> Result<i64> {
        self.try_get(at).map_err(damaged)
    }

    fn unsigned(&self, at: usize) -> Result<u64> {
        u64::try_from(self.number(at)?).map_err(damaged)
    }

    fn flag(&self, at: usize) -> Result<bool> {
        self.try_get(at).map_err(damaged)
    }

    fn text(&self, at: usize) -> Result<&str> {
        std::str::from_utf8(self.bytes(at)?).map_err(damaged)
    }

    fn bytes(&self, at: usize) -> Result<&[u8]> {
        self.try_get(at).map_err(damaged)
    }

    fn cell(&self, at: usize) -> Result<Cell> {
        Ok(match *self.columns()[at].type_() {
            Type::INT8 => get::<Option<i64>>(self, at)?.map_or(Cell::Null, Cell::Number),
            _ => get::<Option<Vec<u8>>>(self, at)?.map_or(Cell::Null, Cell::Bytes),
        })
    }
}

/// The columns of a row from one on.
pub(super) struct From<'a>(pub(super) &'a Row, pub(super) usize);

impl Columns for From<'_> {
    fn is_null(&self, at: usize) -> Result<bool> {
        self.0.is_null(self.1 + at)
    }

    fn number(&self, at: usize) -> Result<i64> {
        self.0.number(self.1 + at)
    }

    fn unsigned(&self, at: usize) -> Result<u64> {
        self.0.unsigned(self.1 + at)
    }

    fn flag(&self, at: usize) -> Result<bool> {
        self.0.flag(self.1 + at)
    }

    fn text(&self, at: usize) -> Result<&str> {
        self.0.text(self.1 + at)
    }

    fn bytes(&self, at: usize) -> Result<&[u8]> {
        self.0.bytes(self.1 + at)
    }

    fn cell(&self, at: usize) -> Result<Cell> {
        self.0.cell(self.1 + at)
    }
}

/// A value of any type, of which nothing is asked but whether it is one.
struct Any {
    is_null: bool,
}

impl FromSql<'_> for Any {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Wrong> {
        Ok(Self { is_null: false })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Wrong> {
        Ok(Self { is_null: true })
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Terms of the search index.
pub(super) fn terms(row: &Row, at: usize) -> Result<Option<Vec<i32>>> {
    row.try_get(at).map_err(damaged)
}
