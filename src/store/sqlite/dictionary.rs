//! Dictionaries: what many messages have in common, so that each of them is packed into fewer bytes.
//!
//! A body's encoding is the number of the dictionary that it leans on. What a dictionary holds was said in
//! messages. Deliberately absent: how one is made, see [`super::training`], and where it is kept, see
//! [`super::bodies`].

use std::cell::RefCell;
use std::io::Read;
use std::sync::Arc;

use zstd::bulk::{Compressor, Decompressor};

use super::codec::{self, LEVEL, damaged, pays, unpack_any};
use crate::error::Result;
use crate::store::PressedBody;

/// A shorter message is not packed with a dictionary: all of those together are a thousandth of what
/// messages take, and each would be slower to read.
const PACKED_FROM_BYTES: usize = 128;
/// The bytes that bodies lean on.
pub(super) struct Dictionary {
    pub(super) id: i64,
    pub(super) data: Vec<u8>,
}

/// What a thread has made ready of the last dictionary that it used.
type Ready<C> = RefCell<Option<(Arc<Dictionary>, C)>>;

thread_local! {
    static PACKER: Ready<Compressor<'static>> = const { RefCell::new(None) };
    static UNPACKER: Ready<Decompressor<'static>> = const { RefCell::new(None) };
}

fn ready<C, T>(
    slot: &Ready<C>,
    of: &Arc<Dictionary>,
    make: impl FnOnce(&[u8]) -> std::io::Result<C>,
    act: impl FnOnce(&mut C) -> std::io::Result<T>,
) -> std::io::Result<T> {
    let mut slot = slot.borrow_mut();
    match &mut *slot {
        Some((held, with)) if Arc::ptr_eq(held, of) => act(with),
        _ => {
            let (_, with) = slot.insert((of.clone(), make(&of.data)?));
            act(with)
        }
    }
}

impl Dictionary {
    /// The bytes in fewer of them, where that is worth it.
    pub(super) fn press(self: &Arc<Self>, bytes: &[u8]) -> Option<Vec<u8>> {
        if bytes.len() < PACKED_FROM_BYTES {
            return None;
        }
        let make = |data: &[u8]| {
            let mut with = Compressor::with_dictionary(LEVEL, data)?;
            // Its number stands in the row.
            with.include_dictid(false)?;
            Ok(with)
        };
        let packed = PACKER.with(|slot| ready(slot, self, make, |with| with.compress(bytes)));
        pays(packed.ok()?, bytes)
    }

    fn unpack_into(self: &Arc<Self>, buffer: &mut Vec<u8>, stored: &[u8], size: u64) -> bool {
        // A size that is wrong must not decide how much memory is taken.
        let bound = Decompressor::upper_bound(stored);
        let Some(bound) = bound.filter(|bound| *bound as u64 == size) else {
            return false;
        };
        buffer.clear();
        buffer.reserve(bound);
        let act = |with: &mut Decompressor<'static>| with.decompress_to_buffer(stored, buffer);
        let unpacked = UNPACKER.with(|slot| ready(slot, self, Decompressor::with_dictionary, act));
        unpacked.is_ok_and(|len| len == bound)
    }
}

/// How a body is unpacked.
pub(super) enum Packing {
    Alone(i64),
    With(Arc<Dictionary>),
}

impl Packing {
    /// The `size` bytes that were packed: what was not packed is given as it is, all else is put into
    /// `buffer`.
    pub(super) fn unpack_into<'a>(
        &self,
        buffer: &'a mut Vec<u8>,
        stored: &'a [u8],
        size: u64,
    ) -> Result<&'a [u8]> {
        match self {
            Self::Alone(encoding) => codec::unpack_into(buffer, *encoding, stored, size),
            Self::With(dictionary) => {
                if dictionary.unpack_into(buffer, stored, size) {
                    Ok(buffer)
                } else {
                    Err(damaged("a compressed body"))
                }
            }
        }
    }

    /// The dictionary that it leans on, if it does.
    pub(super) fn dictionary(self) -> Option<Arc<Dictionary>> {
        match self {
            Self::Alone(_) => None,
            Self::With(dictionary) => Some(dictionary),
        }
    }

    /// The same as bytes of their own.
    pub(super) fn unpack(&self, stored: Vec<u8>, size: u64) -> Result<Vec<u8>> {
        match self {
            Self::Alone(encoding) => codec::unpack(*encoding, stored, size),
            Self::With(_) => {
                let mut bytes = Vec::new();
                self.unpack_into(&mut bytes, &stored, size)?;
                Ok(bytes)
            }
        }
    }

    /// The same where it is not known how many they are.
    pub(super) fn unpack_any(&self, stored: Vec<u8>) -> Result<Vec<u8>> {
        let dictionary = match self {
            Self::Alone(encoding) => return unpack_any(*encoding, stored),
            Self::With(dictionary) => dictionary,
        };
        let mut bytes = Vec::new();
        let read = zstd::Decoder::with_dictionary(&*stored, &dictionary.data);
        let read = read.and_then(|mut read| read.read_to_end(&mut bytes));
        read.map_err(|error| damaged(format!("a compressed body: {error}")))?;
        Ok(bytes)
    }
}

/// A body packed ahead of its turn.
pub(super) fn press_body(with: Option<&Arc<Dictionary>>, bytes: &[u8]) -> Option<PressedBody> {
    let (dictionary, bytes) = match with {
        None => (None, codec::press(bytes)?),
        Some(with) => (Some(with.id), with.press(bytes)?),
    };
    Some(PressedBody { dictionary, bytes })
}
