//! How values become parameters and columns become values. All text is bytes there.

use std::borrow::Cow;

use postgres::Row;
use postgres::types::{FromSql, ToSql, Type, accepts};

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::RefName;

type Wrong = Box<dyn std::error::Error + Sync + Send>;

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

macro_rules! hash_column {
    ($hash:ty) => {
        impl<'a> FromSql<'a> for $hash {
            fn from_sql(column: &Type, raw: &'a [u8]) -> Result<Self, Wrong> {
                let bytes = <&[u8]>::from_sql(column, raw)?;
                Ok(Self::from_bytes(bytes.try_into()?))
            }

            accepts!(BYTEA);
        }
    };
}

hash_column!(CommitHash);
hash_column!(ContentHash);

impl<'a> FromSql<'a> for RefName {
    fn from_sql(column: &Type, raw: &'a [u8]) -> Result<Self, Wrong> {
        let bytes = <&[u8]>::from_sql(column, raw)?;
        Ok(std::str::from_utf8(bytes)?.parse()?)
    }

    accepts!(BYTEA);
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

/// A row that holds what no program writes.
pub(super) fn damaged(detail: impl ToString) -> Error {
    let detail = detail.to_string();
    Error::Damaged { detail }
}

/// A column.
pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T> {
    row.try_get(column).map_err(damaged)
}

/// A column that holds what [`number`](crate::store::codec::number) wrote.
pub(super) fn unsigned(row: &Row, column: usize) -> Result<u64> {
    u64::try_from(get::<i64>(row, column)?).map_err(damaged)
}

/// A column that holds text, or nothing.
pub(super) fn maybe_text(row: &Row, column: usize) -> Result<Option<&str>> {
    let bytes = get::<Option<&[u8]>>(row, column)?;
    bytes.map(std::str::from_utf8).transpose().map_err(damaged)
}

/// A column that holds text.
pub(super) fn text(row: &Row, column: usize) -> Result<&str> {
    maybe_text(row, column)?.ok_or_else(|| damaged("a text is missing"))
}

/// A column that holds 32 bytes.
pub(super) fn hash_bytes(row: &Row, column: usize) -> Result<HashBytes> {
    get::<&[u8]>(row, column)?.try_into().map_err(damaged)
}
