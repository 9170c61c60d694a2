//! How values become column values: numbers for the words of the model, compressed bodies, and
//! lists of integers.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};

use zstd::bulk::{Compressor, Decompressor};

use crate::error::Error;
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::{Encoding, Message, RefName, Role, Span};
use crate::store::CountKey;

/// Below this a frame's own bytes eat what zstd saves.
const COMPRESS_FROM_BYTES: usize = 512;
/// Level 3 is zstd's own default; higher ones cost an import more time than the disk is worth.
pub(super) const LEVEL: i32 = 3;

pub(super) const RAW: i64 = 0;
pub(super) const ZSTD: i64 = 1;

thread_local! {
    // Making one costs more than a short message takes.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> =
        RefCell::new(Compressor::new(LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> =
        RefCell::new(Decompressor::new().ok());
}

fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|with| with.as_mut()?.compress(bytes).ok())
}

fn decompress(bytes: &[u8], size: usize) -> io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|with| match with {
        Some(with) => with.decompress(bytes, size),
        None => zstd::bulk::decompress(bytes, size),
    })
}

/// The bytes in fewer of them, where that is worth it.
pub(super) fn press(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < COMPRESS_FROM_BYTES {
        return None;
    }
    pays(compress(bytes)?, bytes)
}

/// Packed bytes, where they are worth it.
pub(super) fn pays(packed: Vec<u8>, bytes: &[u8]) -> Option<Vec<u8>> {
    let most = bytes.len() - bytes.len() / 10;
    (packed.len() < most).then_some(packed)
}

/// Bytes as they are stored, with the number that says how.
pub(super) fn pack(bytes: &[u8]) -> (i64, Cow<'_, [u8]>) {
    packed(bytes, press(bytes))
}

/// The same where they were pressed already.
pub(super) fn packed(bytes: &[u8], pressed: Option<Vec<u8>>) -> (i64, Cow<'_, [u8]>) {
    match pressed {
        Some(pressed) => (ZSTD, pressed.into()),
        None => (RAW, bytes.into()),
    }
}

/// The `size` bytes that were packed.
pub(super) fn unpack(encoding: i64, stored: Vec<u8>, size: u64) -> rusqlite::Result<Vec<u8>> {
    let bytes = match encoding {
        ZSTD => {
            let size = usize::try_from(size).map_err(damaged)?;
            // A size that is wrong must not decide how much memory is taken.
            match Decompressor::upper_bound(&stored) {
                Some(bound) if bound == size => decompress(&stored, size),
                _ => zstd::stream::decode_all(stored.as_slice()),
            }
            .map_err(|error| damaged(format!("a compressed body: {error}")))?
        }
        _ => unpack_any(encoding, stored)?,
    };
    if bytes.len() as u64 != size {
        return Err(damaged(format!(
            "a body has {} bytes instead of {size}",
            bytes.len()
        )));
    }
    Ok(bytes)
}

/// The same without a copy: what was packed is unpacked into `buffer`, and what was not is given as it is.
pub(super) fn unpack_into<'a>(
    buffer: &'a mut Vec<u8>,
    encoding: i64,
    stored: &'a [u8],
    size: u64,
) -> rusqlite::Result<&'a [u8]> {
    let bound = (encoding == ZSTD).then(|| Decompressor::upper_bound(stored));
    match (encoding, bound.flatten()) {
        (RAW, _) if stored.len() as u64 == size => return Ok(stored),
        (ZSTD, Some(bound)) if bound as u64 == size => {
            buffer.clear();
            buffer.reserve(bound);
            let unpacked = DECOMPRESSOR.with_borrow_mut(|with| match with {
                Some(with) => with.decompress_to_buffer(stored, buffer).ok(),
                None => None,
            });
            if unpacked == Some(bound) {
                return Ok(buffer);
            }
        }
        _ => {}
    }
    // The slow way says what is wrong, if anything is.
    *buffer = unpack(encoding, stored.to_vec(), size)?;
    Ok(buffer)
}

/// The same where it is not known how many they are.
pub(super) fn unpack_any(encoding: i64, stored: Vec<u8>) -> rusqlite::Result<Vec<u8>> {
    match encoding {
        RAW => Ok(stored),
        ZSTD => zstd::stream::decode_all(stored.as_slice())
            .map_err(|error| damaged(format!("a compressed body: {error}"))),
        other => Err(damaged(format!("unknown encoding {other} of a body"))),
    }
}

/// A column's number; what doesn't fit 63 bits is cut to that.
pub(super) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A column that holds what [`number`] wrote.
pub(super) fn unsigned(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// A row that holds what no program writes: an error of the crate's, carried through the engine's.
pub(super) fn damaged(detail: impl ToString) -> rusqlite::Error {
    let detail = detail.to_string();
    let error = Box::new(Error::Damaged { detail });
    rusqlite::Error::FromSqlConversionFailure(0, Type::Null, error)
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
        name.map_err(|error: Error| wrong(error.to_string()))
    }
}

impl ToSql for Encoding {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self {
            Self::O200kBase => 0_i64,
            Self::Cl100kBase => 1,
        }))
    }
}

impl FromSql for Encoding {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_i64()? {
            0 => Ok(Self::O200kBase),
            1 => Ok(Self::Cl100kBase),
            other => Err(wrong(format!("unknown encoding {other} of counts"))),
        }
    }
}

/// The numbers of the roles are their places here.
const ROLES: [Role; 5] = [
    Role::System,
    Role::Developer,
    Role::User,
    Role::Assistant,
    Role::Tool,
];

/// What is added to the number of the role of what a client attached.
const ATTACHED: i64 = 8;

/// Whose a message is: the role, and whether a client attached it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Speaker {
    pub(super) role: Role,
    pub(super) attached: bool,
}

impl From<&Message> for Speaker {
    fn from(message: &Message) -> Self {
        Self {
            role: message.role,
            attached: message.is_attached(),
        }
    }
}

impl ToSql for Speaker {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let number = ROLES.iter().position(|role| *role == self.role);
        let number = number.expect("all are there") as i64;
        let more = if self.attached { ATTACHED } else { 0 };
        Ok(ToSqlOutput::from(number + more))
    }
}

impl FromSql for Speaker {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        let attached = number >= ATTACHED;
        let place = if attached { number - ATTACHED } else { number };
        let role = usize::try_from(place).ok().and_then(|at| ROLES.get(at));
        let role = *role.ok_or_else(|| wrong(format!("unknown role {number}")))?;
        Ok(Self { role, attached })
    }
}

fn wrong(detail: String) -> FromSqlError {
    FromSqlError::Other(Box::new(Error::Damaged { detail }))
}

/// Writes integers, short ones in few bytes (LEB128).
#[derive(Default)]
pub(super) struct Packer(pub(super) Vec<u8>);

impl Packer {
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Reads what a [`Packer`] wrote; none where the bytes are something else.
pub(super) struct Unpacker<'a>(pub(super) &'a [u8]);

impl Unpacker<'_> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let len = self.small::<usize>()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    pub(super) fn hash(&mut self) -> Option<HashBytes> {
        let (hash, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*hash)
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}

pub(super) fn pack_spans(spans: &[Span]) -> Vec<u8> {
    let mut packer = Packer::default();
    for span in spans {
        packer.number(span.offset);
        packer.number(span.len);
    }
    packer.0
}

pub(super) fn unpack_spans(bytes: &[u8]) -> rusqlite::Result<Vec<Span>> {
    let mut unpacker = Unpacker(bytes);
    let mut spans = Vec::new();
    while !unpacker.is_done() {
        match (unpacker.number(), unpacker.number()) {
            (Some(offset), Some(len)) => spans.push(Span { offset, len }),
            _ => return Err(damaged("the records of a commit")),
        }
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        #[test]
        fn spans_survive(spans in prop::collection::vec((any::<u64>(), any::<u64>()), 0..20)) {
            let spans: Vec<Span> =
                spans.into_iter().map(|(offset, len)| Span { offset, len }).collect();
            prop_assert_eq!(unpack_spans(&pack_spans(&spans)).expect("reads back"), spans);
        }

        #[test]
        fn bodies_survive(byte in any::<u8>(), len in 0usize..3000, noise in any::<[u8; 16]>()) {
            let mut bytes = vec![byte; len];
            bytes.extend(noise);
            let (encoding, packed) = pack(&bytes);
            prop_assert!(packed.len() <= bytes.len());
            let packed = packed.into_owned();
            prop_assert_eq!(&unpack(encoding, packed.clone(), bytes.len() as u64).expect("reads back"), &bytes);
            let mut buffer = vec![7; 9];
            let read = unpack_into(&mut buffer, encoding, &packed, bytes.len() as u64);
            prop_assert_eq!(read.expect("reads back"), &bytes);
            prop_assert!(unpack_into(&mut buffer, encoding, &packed, bytes.len() as u64 + 1).is_err());
            prop_assert!(unpack_into(&mut buffer, encoding, &packed[1..], bytes.len() as u64).is_err());
            prop_assert!(unpack(encoding, packed, bytes.len() as u64 + 1).is_err());
        }

        #[test]
        fn any_bytes_unpack_to_something_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = unpack_spans(&bytes);
            let mut unpacker = Unpacker(&bytes);
            while unpacker.text().is_some() {}
            let _ = unpack(ZSTD, bytes, 10);
        }
    }
}
