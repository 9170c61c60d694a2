//! A pack: bodies that came in one behind the other, in one frame; and what a session knows of packs and of blocks that
//! lean on bodies.
//!
//! A body says the pack's number and where it stands in the pack's text. A pack is read whole for any body in it,
//! unpacked once, by whoever needs it first, and never changes. Deliberately absent: how packs are read and written, see
//! [`super::packs`].

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use super::codec::{Packer, Unpacker, ZSTD, damaged, unpack_into};
use crate::error::Result;

/// How much text a pack has. Of real sessions 64 KiB take a third less than each body alone; 128 KiB take another
/// twentieth, and twice as long to read one of.
pub(super) const PACK_BYTES: usize = 64 << 10;
/// A longer body stands alone: it shares little with its neighbours, and it may be read alone.
pub(super) const LARGE_BYTES: usize = PACK_BYTES / 2;
/// A pack as it is stored, and its text once somebody has asked.
pub(super) struct Pack {
    pub(super) id: i64,
    pub(super) size_bytes: u64,
    pub(super) data: Vec<u8>,
    pub(super) text: OnceLock<Option<Vec<u8>>>,
}

impl Pack {
    fn text(&self) -> Option<&[u8]> {
        let unpacked = || {
            let mut text = Vec::new();
            unpack_into(&mut text, ZSTD, &self.data, self.size_bytes).ok()?;
            Some(text)
        };
        self.text.get_or_init(unpacked).as_deref()
    }

    /// The body that stands in this place of it, as its row says.
    pub(super) fn body(&self, place: &[u8]) -> Result<&[u8]> {
        let wrong = || damaged(format!("pack {} or a place in it", self.id));
        let mut place = Unpacker(place);
        let (offset, len) = (place.small::<usize>(), place.small::<usize>());
        let (offset, len) = offset.zip(len).ok_or_else(wrong)?;
        let end = offset.checked_add(len).ok_or_else(wrong)?;
        let text = self.text().ok_or_else(wrong)?;
        text.get(offset..end).ok_or_else(wrong)
    }
}

/// The packs that were read.
#[derive(Default)]
pub(super) struct Packs(pub(super) RefCell<Vec<Arc<Pack>>>);

impl Packs {
    /// What a transaction has written may not have come to be: its numbers are given again.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

/// A pack that bodies still come to.
pub(super) struct OpenPack {
    pub(super) id: i64,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) text: Vec<u8>,
}

impl OpenPack {
    pub(super) fn of(id: i64, first: i64) -> Self {
        let (last, text) = (first, Vec::with_capacity(PACK_BYTES));
        Self {
            id,
            first,
            last,
            text,
        }
    }

    /// Adds a body behind the others; what its row says.
    pub(super) fn add(&mut self, content: i64, body: &[u8]) -> (i64, Vec<u8>) {
        let mut place = Packer::default();
        place.number(self.text.len() as u64);
        place.number(body.len() as u64);
        self.text.extend_from_slice(body);
        self.last = content;
        (-self.id, place.0)
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }
}

/// A pack's row without its bytes.
#[derive(Clone, Copy)]
pub(super) struct Held {
    pub(super) id: i64,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// What is known of all packs, once anything was erased.
#[derive(Default)]
pub(super) struct Holders(pub(super) RefCell<Option<Vec<Held>>>);

/// A block of a source by its row, of which the contents that it leans on are known.
pub(super) struct Leaning {
    pub(super) id: i64,
    pub(super) runs: Vec<(i64, i64)>,
}

/// The blocks that lean on contents, once anything was erased.
#[derive(Default)]
pub(super) struct LeaningBlocks(pub(super) RefCell<Option<Vec<Leaning>>>);

impl LeaningBlocks {
    /// There are others by now.
    pub(super) fn forget(&self) {
        self.0.take();
    }
}
