//! Bodies in fewer bytes: the compression that engines share. Deliberately absent: where they are kept.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

use super::codec::damaged;
use crate::error::Result;
use crate::model::pool::{Pool, Pooled};

/// Below this a frame's own bytes eat what zstd saves.
const COMPRESS_FROM_BYTES: usize = 512;
/// Level 3 is zstd's own default; higher ones cost an import more time than the disk is worth.
pub(super) const LEVEL: i32 = 3;

pub(super) const RAW: i64 = 0;
pub(super) const ZSTD: i64 = 1;

// Making one costs more than a short message takes.
static COMPRESSORS: Pool<Option<Compressor<'static>>> = Pool::new();
static DECOMPRESSORS: Pool<Option<Decompressor<'static>>> = Pool::new();

thread_local! {
    static COMPRESSOR: RefCell<Pooled<Option<Compressor<'static>>>> =
        COMPRESSORS.take(|| Compressor::new(LEVEL).ok()).into();
    static DECOMPRESSOR: RefCell<Pooled<Option<Decompressor<'static>>>> =
        DECOMPRESSORS.take(|| Decompressor::new().ok()).into();
}

pub(super) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|with| with.as_mut()?.compress(bytes).ok())
}

fn decompress(bytes: &[u8], size: usize) -> io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|with| match &mut **with {
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
pub(super) fn unpack(encoding: i64, stored: Vec<u8>, size: u64) -> Result<Vec<u8>> {
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
) -> Result<&'a [u8]> {
    let bound = (encoding == ZSTD).then(|| Decompressor::upper_bound(stored));
    match (encoding, bound.flatten()) {
        (RAW, _) if stored.len() as u64 == size => return Ok(stored),
        (ZSTD, Some(bound)) if bound as u64 == size => {
            buffer.clear();
            buffer.reserve(bound);
            let unpacked = DECOMPRESSOR.with_borrow_mut(|with| match &mut **with {
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
pub(super) fn unpack_any(encoding: i64, stored: Vec<u8>) -> Result<Vec<u8>> {
    match encoding {
        RAW => Ok(stored),
        ZSTD => zstd::stream::decode_all(stored.as_slice())
            .map_err(|error| damaged(format!("a compressed body: {error}"))),
        other => Err(damaged(format!("unknown encoding {other} of a body"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

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
            let _ = unpack(ZSTD, bytes, 10);
        }
    }
}
