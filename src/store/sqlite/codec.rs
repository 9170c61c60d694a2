//! How values become column values of this engine, and columns become values.

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};

use super::engine;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, RefName};
use crate::store::codec::encoding_number;
use crate::store::columns::{self, Column, Columns};
use crate::store::{Cell, CountKey};

pub(super) use crate::store::codec::{Packer, Speaker, Unpacker, number, pack_spans, unpack_spans};
pub(super) use crate::store::columns::damaged;
pub(super) use crate::store::compression::{
    LEVEL, RAW, ZSTD, pack, packed, pays, press, unpack, unpack_any, unpack_into,
};

/// A row of an answer: what is wrong with a column is an error of the crate's.
pub(super) struct Row<'a>(pub(super) &'a rusqlite::Row<'a>);

impl Row<'_> {
    /// A column.
    pub(super) fn get<'r, T: Column<'r>>(&'r self, at: usize) -> Result<T> {
        columns::get(self, at)
    }

    /// A column of which nothing is asked but whether it is as another one.
    pub(super) fn value(&self, at: usize) -> Result<Value> {
        self.0.get(at).map_err(engine)
    }
}

impl Columns for Row<'_> {
    fn is_null(&self, at: usize) -> Result<bool> {
        let value = self.0.get_ref(at).map_err(engine)?;
        Ok(value == ValueRef::Null)
    }

    fn number(&self, at: usize) -> Result<i64> {
        self.0.get(at).map_err(engine)
    }

    fn unsigned(&self, at: usize) -> Result<u64> {
        let value = self.number(at)?;
        let wrong = |_| rusqlite::Error::IntegralValueOutOfRange(at, value);
        u64::try_from(value).map_err(wrong).map_err(engine)
    }

    fn flag(&self, at: usize) -> Result<bool> {
        self.0.get(at).map_err(engine)
    }

    fn text(&self, at: usize) -> Result<&str> {
        let text = self.0.get_ref(at).map_err(engine)?.as_str().ok();
        // Where it is none, a text of its own says what is wrong.
        let wrong = || self.0.get::<_, String>(at).err();
        text.ok_or_else(|| wrong().map_or_else(|| damaged("a text"), engine))
    }

    fn bytes(&self, at: usize) -> Result<&[u8]> {
        let bytes = self.0.get_ref(at).map_err(engine)?.as_bytes().ok();
        let wrong = || self.0.get::<_, Vec<u8>>(at).err();
        bytes.ok_or_else(|| wrong().map_or_else(|| damaged("bytes"), engine))
    }

    fn cell(&self, at: usize) -> Result<Cell> {
        Ok(match self.value(at)? {
            Value::Null => Cell::Null,
            Value::Integer(number) => Cell::Number(number),
            Value::Blob(bytes) => Cell::Bytes(bytes),
            Value::Text(text) => Cell::Text(text),
            Value::Real(_) => return Err(damaged("a number with a fraction")),
        })
    }
}

/// What one statement is asked for many times over: all keys in one value, each as long as the next.
pub(super) fn blob<K: Key>(keys: &[K]) -> Vec<u8> {
    let mut bytes = Vec::new();
    keys.iter().for_each(|key| key.write(&mut bytes));
    bytes
}

/// A key of fixed length.
pub(super) trait Key {
    const BYTES: usize;

    fn write(&self, bytes: &mut Vec<u8>);
}

impl Key for CountKey {
    const BYTES: usize = 64;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.content.as_bytes());
        bytes.extend(self.mask.unwrap_or_default());
    }
}

macro_rules! hash_column {
    ($hash:ty) => {
        impl Key for $hash {
            const BYTES: usize = 32;

            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend(self.as_bytes());
            }
        }

        impl ToSql for $hash {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
            }
        }
    };
}

hash_column!(CommitHash);
hash_column!(ContentHash);

impl ToSql for RefName {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_str().to_sql()
    }
}

impl ToSql for Encoding {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(encoding_number(*self)))
    }
}

impl ToSql for Speaker {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.number()))
    }
}
