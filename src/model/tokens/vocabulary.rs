//! A vocabulary as it lies in the program, and how many of its tokens a word makes.
//!
//! Nothing is loaded: pages of the program's file are read when a token on them is looked up.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::layout::{NO_RANK, RANK_BITS, hash, kept_of};
use super::words::Rules;
use crate::model::pool::{Pool, Pooled};

/// A longer word is merged by a heap.
const SHORT: usize = 32;
/// How many words a thread remembers, a power of two; most texts use few words again and again.
const REMEMBERED_WORDS: usize = 32_768;
/// The length of the longest of them.
const REMEMBERED_BYTES: usize = 14;

/// A vocabulary.
pub(super) struct Vocabulary {
    /// How a text is cut into words.
    rules: Rules,
    /// All tokens, in the order of their ranks.
    bytes: &'static [u8],
    /// Where each ends.
    ends: &'static [[u8; 4]],
    /// Ranks, at the place that a token's hash says or behind it.
    slots: &'static [[u8; 4]],
    /// The rank of each pair of bytes.
    pairs: &'static [[u8; 4]],
}

macro_rules! laid_out {
    ($name:literal, $what:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".", $what))
    };
    ($name:literal, $rules:expr) => {
        Vocabulary {
            rules: $rules,
            bytes: laid_out!($name, "bytes"),
            ends: numbers(laid_out!($name, "ends")),
            slots: numbers(laid_out!($name, "slots")),
            pairs: numbers(laid_out!($name, "pairs")),
        }
    };
}

pub(super) static O200K: Vocabulary = laid_out!("o200k_base", Rules::Cased);
pub(super) static CL100K: Vocabulary = laid_out!("cl100k_base", Rules::Plain);

const fn numbers(bytes: &'static [u8]) -> &'static [[u8; 4]] {
    bytes.as_chunks().0
}

/// Short words that were counted, each with how many tokens it makes in its highest byte. The place of a word follows
/// from its key, and one takes the place of another.
struct Remembered(Box<[u128]>);

static IDLE: Pool<Remembered> = Pool::new();

thread_local! {
    static REMEMBERED: RefCell<Pooled<Remembered>> = IDLE.take(Remembered::new).into();
}

impl Remembered {
    fn new() -> Self {
        Self(vec![0; REMEMBERED_WORDS].into())
    }

    #[inline]
    fn of(&mut self, key: u128, made: impl FnOnce() -> u64) -> u64 {
        let mixed = (key >> 64) as u64 ^ (key as u64).rotate_left(26);
        let mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> (u64::BITS - REMEMBERED_WORDS.ilog2())) as usize;
        let known = &mut self.0[place];
        if *known & (u128::MAX >> 8) != key {
            *known = key | u128::from(made()) << 120;
        }
        (*known >> 120) as u64
    }
}

/// The last bytes of a text, fewer than 16.
#[cold]
fn last(bytes: &[u8]) -> u128 {
    let mut chunk = [0; 16];
    chunk[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(chunk)
}

fn number(numbers: &[[u8; 4]], at: usize) -> usize {
    u32::from_le_bytes(numbers[at]) as usize
}

impl Vocabulary {
    /// How many tokens a text makes.
    pub(super) fn count(&self, text: &str) -> u64 {
        REMEMBERED.with_borrow_mut(|known| {
            let bytes = text.as_bytes();
            let mut count = 0;
            let mut at = 0;
            while at < bytes.len() {
                let (ahead, is_last) = match bytes[at..].first_chunk::<16>() {
                    Some(chunk) => (u128::from_le_bytes(*chunk), false),
                    None => (last(&bytes[at..]), true),
                };
                let len = match self.rules.short(ahead, is_last) {
                    Some(len) => len,
                    None => self.rules.end(text, at) - at,
                };
                let made = || self.count_word(&bytes[at..at + len]);
                count += if len > REMEMBERED_BYTES {
                    made()
                } else {
                    known.of(self.key(ahead, len), made)
                };
                at += len;
            }
            count
        })
    }

    /// A short word, which the next bytes begin with, as a number: other than that of any other word and of the same one in
    /// another vocabulary. Its highest byte is 0.
    #[inline]
    fn key(&self, ahead: u128, len: usize) -> u128 {
        let word = ahead & ((1 << (8 * len)) - 1);
        word | (len as u128) << 112 | (self.rules as u128) << 116
    }

    fn count_word(&self, word: &[u8]) -> u64 {
        if self.rank(word) != NO_RANK {
            1
        } else if word.len() <= SHORT {
            self.merged(word)
        } else {
            self.merged_by_heap(word)
        }
    }

    fn token(&self, rank: usize) -> &'static [u8] {
        let start = rank
            .checked_sub(1)
            .map_or(0, |before| number(self.ends, before));
        &self.bytes[start..number(self.ends, rank)]
    }

    fn rank(&self, token: &[u8]) -> u32 {
        let hash = hash(token);
        let mut at = hash as usize;
        loop {
            at &= self.slots.len() - 1;
            let slot = u32::from_le_bytes(self.slots[at]);
            if slot == 0 {
                return NO_RANK;
            }
            if slot >> RANK_BITS == kept_of(hash) {
                let rank = (slot & ((1 << RANK_BITS) - 1)) - 1;
                if self.token(rank as usize) == token {
                    return rank;
                }
            }
            at += 1;
        }
    }

    fn rank_of_pair(&self, pair: &[u8]) -> u32 {
        u32::from_le_bytes(self.pairs[usize::from(u16::from_be_bytes([pair[0], pair[1]]))])
    }

    /// How many tokens are left once, of all neighbours that are a token together, those of the lowest rank
    /// were joined, again and again.
    fn merged(&self, word: &[u8]) -> u64 {
        // Where each token starts, and the rank that it has together with the next one.
        let mut starts: [usize; SHORT + 1] = std::array::from_fn(|at| at);
        let mut ranks = [NO_RANK; SHORT + 1];
        let mut count = word.len();
        for (at, pair) in word.windows(2).enumerate() {
            ranks[at] = self.rank_of_pair(pair);
        }
        loop {
            let mut lowest = (NO_RANK, 0);
            for (at, rank) in ranks[..count].iter().enumerate() {
                if *rank < lowest.0 {
                    lowest = (*rank, at);
                }
            }
            let (rank, at) = lowest;
            if rank == NO_RANK {
                return count as u64;
            }
            starts.copy_within(at + 2..=count, at + 1);
            ranks.copy_within(at + 1..=count, at);
            count -= 1;
            for at in at.saturating_sub(1)..=at {
                ranks[at] = match starts[..=count].get(at + 2) {
                    Some(end) => self.rank(&word[starts[at]..*end]),
                    None => NO_RANK,
                };
            }
        }
    }

    /// The same for a word of any length.
    fn merged_by_heap(&self, word: &[u8]) -> u64 {
        const GONE: usize = usize::MAX;
        // Where the token that starts here ends, and where the one before it starts.
        let mut ends: Vec<usize> = (1..=word.len()).collect();
        let mut before: Vec<usize> = (0..=word.len()).map(|at| at.saturating_sub(1)).collect();
        // Two neighbours that are a token: its rank, start and end.
        let mut pairs: BinaryHeap<Reverse<(u32, usize, usize)>> = BinaryHeap::new();
        for (start, pair) in word.windows(2).enumerate() {
            let rank = self.rank_of_pair(pair);
            if rank != NO_RANK {
                pairs.push(Reverse((rank, start, start + 2)));
            }
        }
        let mut count = word.len() as u64;
        while let Some(Reverse((_, start, end))) = pairs.pop() {
            let middle = ends[start];
            if middle == GONE || ends.get(middle) != Some(&end) {
                continue;
            }
            ends[start] = end;
            ends[middle] = GONE;
            before[end] = start;
            count -= 1;
            let mut offer = |start: usize, end: usize| {
                let rank = self.rank(&word[start..end]);
                if rank != NO_RANK {
                    pairs.push(Reverse((rank, start, end)));
                }
            };
            if let Some(next) = ends.get(end) {
                offer(start, *next);
            }
            if start > 0 {
                offer(before[start], end);
            }
        }
        count
    }
}
