//! How bodies are unpacked: alone, in a pack, or with a dictionary.
//!
//! Dictionaries are from before there were packs: what many messages have in common. A body's encoding is the number of
//! the dictionary that it leans on. A collection puts such bodies into packs. Deliberately absent: where they are
//! kept, see [`super::bodies`].

use std::cell::RefCell;
use std::io::Read;
use std::sync::Arc;

use zstd::bulk::Decompressor;

use super::codec::{self, damaged, unpack_any};
use super::pack::Pack;
use crate::error::Result;

/// The bytes that bodies lean on.
pub(super) struct Dictionary {
    pub(super) id: i64,
    pub(super) data: Vec<u8>,
}

/// What a thread has made ready of the last dictionary that it used.
type Ready<C> = RefCell<Option<(Arc<Dictionary>, C)>>;

thread_local! {
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
    In(Arc<Pack>),
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
            Self::In(pack) => {
                let body = pack.body(stored)?;
                if body.len() as u64 != size {
                    return Err(damaged("a body of another length than its row says"));
                }
                buffer.clear();
                buffer.extend_from_slice(body);
                Ok(buffer)
            }
        }
    }

    /// The same as bytes of their own.
    pub(super) fn unpack(&self, stored: Vec<u8>, size: u64) -> Result<Vec<u8>> {
        match self {
            Self::Alone(encoding) => codec::unpack(*encoding, stored, size),
            Self::With(_) | Self::In(_) => {
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
            Self::In(pack) => return pack.body(&stored).map(<[u8]>::to_vec),
        };
        let mut bytes = Vec::new();
        let read = zstd::Decoder::with_dictionary(&*stored, &dictionary.data);
        let read = read.and_then(|mut read| read.read_to_end(&mut bytes));
        read.map_err(|error| damaged(format!("a compressed body: {error}")))?;
        Ok(bytes)
    }
}
