//! How values become column values of this engine.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};

use crate::error::Error;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, RefName, Span};
use crate::store::{CountKey, codec, packing};

pub(super) use crate::store::codec::{Speaker, number, pack_spans};
pub(super) use crate::store::packing::{LEVEL, RAW, ZSTD, pack, packed, pays, press};

/// The `size` bytes that were packed.
pub(super) fn unpack(encoding: i64, stored: Vec<u8>, size: u64) -> rusqlite::Result<Vec<u8>> {
    packing::unpack(encoding, stored, size).map_err(carried)
}

/// The same without a copy, see [`packing::unpack_into`].
pub(super) fn unpack_into<'a>(
    buffer: &'a mut Vec<u8>,
    encoding: i64,
    stored: &'a [u8],
    size: u64,
) -> rusqlite::Result<&'a [u8]> {
    packing::unpack_into(buffer, encoding, stored, size).map_err(carried)
}

/// The same where it is not known how many they are.
pub(super) fn unpack_any(encoding: i64, stored: Vec<u8>) -> rusqlite::Result<Vec<u8>> {
    packing::unpack_any(encoding, stored).map_err(carried)
}

pub(super) fn unpack_spans(bytes: &[u8]) -> rusqlite::Result<Vec<Span>> {
    codec::unpack_spans(bytes).map_err(carried)
}

/// A column that holds what [`number`] wrote.
pub(super) fn unsigned(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// A row that holds what no program writes.
pub(super) fn damaged(detail: impl ToString) -> rusqlite::Error {
    let detail = detail.to_string();
    carried(Error::Damaged { detail })
}

/// An error of the crate's, carried through the engine's.
pub(super) fn carried(error: Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Null, Box::new(error))
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

        impl FromSql for $hash {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let blob = value.as_blob()?;
                let bytes = blob.try_into().map_err(|_| FromSqlError::InvalidBlobSize {
                    expected_size: 32,
                    blob_size: blob.len(),
                })?;
                Ok(Self::from_bytes(bytes))
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

impl FromSql for RefName {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?.parse();
        name.map_err(|error: Error| {
            let detail = error.to_string();
            wrong(Error::Damaged { detail })
        })
    }
}

impl ToSql for Encoding {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(codec::encoding_number(*self)))
    }
}

impl FromSql for Encoding {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        codec::encoding_of(value.as_i64()?).map_err(wrong)
    }
}

impl ToSql for Speaker {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.number()))
    }
}

impl FromSql for Speaker {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::of(value.as_i64()?).map_err(wrong)
    }
}

fn wrong(error: Error) -> FromSqlError {
    FromSqlError::Other(Box::new(error))
}
