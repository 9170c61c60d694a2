//! Words and their places as bytes: blocks that a database keeps as rows, each of which is read alone.
//!
//! A word is written as what it shares with the one before it in its block and the rest; a block
//! begins with a whole one, and is known by it, but the first of a segment by nothing. Before its words a block says
//! with which word the next one begins, so that one that is lost is missed.

use crate::error::Result;
use crate::store::codec::{Packer, Unpacker};
use crate::store::columns::damaged;

/// A block is about as large as what fits in one page of a database.
const BLOCK_BYTES: usize = 3_800;

/// A block on its way into the database.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::store) struct Block {
    /// Its first word; of a segment's first block nothing.
    pub(in crate::store) word: Vec<u8>,
    pub(in crate::store) data: Vec<u8>,
}

/// Writes words that come in their order.
#[derive(Default)]
pub(in crate::store) struct Writer {
    done: Vec<Block>,
    open: Packer,
    first: Vec<u8>,
    before: Vec<u8>,
}

impl Writer {
    pub(super) fn push(&mut self, word: &[u8], count: u64, places: &[u8]) {
        if !self.open.0.is_empty() && self.open.0.len() + word.len() + places.len() > BLOCK_BYTES {
            self.close(word);
            self.first = word.to_vec();
            self.before.clear();
        }
        let same = |(a, b): &(&u8, &u8)| a == b;
        let shared = self.before.iter().zip(word).take_while(same).count();
        self.open.number(shared as u64);
        self.open.number((word.len() - shared) as u64);
        self.open.0.extend(&word[shared..]);
        self.open.number(count);
        self.open.number(places.len() as u64);
        self.open.0.extend(places);
        self.before.clear();
        self.before.extend(word);
    }

    fn close(&mut self, next: &[u8]) {
        let mut data = Packer::default();
        data.number(next.len() as u64);
        data.0.extend(next);
        data.0.append(&mut self.open.0);
        self.done.push(Block {
            word: std::mem::take(&mut self.first),
            data: data.0,
        });
    }

    pub(super) fn finish(mut self) -> Vec<Block> {
        self.close(&[]);
        self.done
    }
}

/// Reads words from blocks that stand one behind the other.
pub(in crate::store) struct Reader {
    blocks: std::vec::IntoIter<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
    word: Vec<u8>,
    count: u64,
    places: std::ops::Range<usize>,
    /// With which word the next block begins.
    following: Vec<u8>,
    /// Whether all blocks of a segment are read.
    is_whole: bool,
    is_over: bool,
}

impl Reader {
    /// Of all blocks of a segment.
    pub(super) fn of(blocks: Vec<Vec<u8>>) -> Self {
        let is_whole = true;
        Self {
            is_whole,
            ..Self::some(blocks)
        }
    }

    /// Of some that stand one behind the other.
    pub(super) fn some(blocks: Vec<Vec<u8>>) -> Self {
        Self {
            blocks: blocks.into_iter(),
            block: Vec::new(),
            at: 0,
            word: Vec::new(),
            count: 0,
            places: 0..0,
            following: Vec::new(),
            is_whole: false,
            is_over: false,
        }
    }

    /// Goes on to the next word. Whether there is one.
    pub(super) fn next(&mut self) -> Result<bool> {
        let damaged = || damaged("a block of the index of words");
        let mut expected = Vec::new();
        while self.at == self.block.len() {
            let Some(next) = self.blocks.next() else {
                self.is_over = true;
                let is_lost = self.is_whole && !self.following.is_empty();
                return if is_lost { Err(damaged()) } else { Ok(false) };
            };
            expected = std::mem::take(&mut self.following);
            (self.block, self.at) = (next, 0);
            self.word.clear();
            self.head().ok_or_else(damaged)?;
        }
        self.read().ok_or_else(damaged)?;
        if expected.is_empty() || expected == self.word {
            Ok(true)
        } else {
            Err(damaged())
        }
    }

    fn head(&mut self) -> Option<()> {
        let mut rest = Unpacker(&self.block);
        let length = usize::try_from(rest.number()?).ok()?;
        let (following, after) = rest.0.split_at_checked(length)?;
        self.following = following.to_vec();
        self.at = self.block.len() - after.len();
        Some(())
    }

    fn read(&mut self) -> Option<()> {
        let mut rest = Unpacker(self.block.get(self.at..)?);
        let length = |number: u64| usize::try_from(number).ok();
        let shared = length(rest.number()?)?;
        let own = length(rest.number()?)?;
        let (own, after) = rest.0.split_at_checked(own)?;
        if shared > self.word.len() {
            return None;
        }
        self.word.truncate(shared);
        self.word.extend(own);
        rest.0 = after;
        self.count = rest.number()?;
        let places = length(rest.number()?)?;
        let start = self.block.len() - rest.0.len();
        let end = start.checked_add(places)?;
        if end > self.block.len() {
            return None;
        }
        (self.places, self.at) = (start..end, end);
        Some(())
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// With which word the block begins that comes after the last one read; nothing where none does.
    pub(super) fn following(&self) -> &[u8] {
        &self.following
    }

    pub(super) fn word(&self) -> &[u8] {
        &self.word
    }

    /// In how many contents the word stands.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn places(&self) -> &[u8] {
        &self.block[self.places.clone()]
    }
}
