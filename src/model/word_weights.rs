//! What each word of a message is worth, for the index of a ranked search.
//!
//! BM25's factor of a word in a message, in a few levels: it grows with how often the word is there
//! and shrinks with the length of the message. How rare a word is among messages is the index's to
//! know. Deliberately absent: how the index keeps it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::model::pool::{Pool, Pooled};
use crate::model::searched::searched;
use crate::model::terms::{Cutter, is_common, stem};
use crate::model::{Message, Part, Role};

/// How many levels there are.
pub const LEVELS: u8 = 8;

/// BM25's usual constants, and the length of a message that is neither long nor short, in words.
///
/// # Source
///
/// Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
const K1: f32 = 1.2;
const B: f32 = 0.75;
const USUAL_WORDS: f32 = 150.0;

/// What a word is worth that somebody said, beside one that a tool was given or gave.
pub(crate) const SAID: u32 = 2;
/// How many different words are remembered from message to message.
const KNOWN_WORDS: usize = 1 << 16;

/// The words of a message, each once, with its level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    text: String,
    /// Where each word ends, its level, and its hash.
    ends: Vec<(u32, u8, u64)>,
}

impl Weighed {
    /// The words, their levels, below [`LEVELS`], and the hashes by which they are told apart.
    pub fn words(&self) -> impl Iterator<Item = (&str, u8, u64)> {
        let mut start = 0;
        self.ends.iter().map(move |(end, level, hash)| {
            let end = *end as usize;
            let word = &self.text[start..end];
            start = end;
            (word, *level, *hash)
        })
    }

    fn push(&mut self, word: &str, level: u8, hash: u64) {
        self.text += word;
        self.ends.push((self.text.len() as u32, level, hash));
    }
}

/// BM25's factor of a word that is so often in a message of so many words, as a part of what it can
/// be at most.
pub fn factor(times: f32, words: f32) -> f32 {
    times / (times + K1 * (1.0 - B + B * words / USUAL_WORDS))
}

/// The factor that a level stands for.
pub fn factor_of(level: u8) -> f32 {
    (f32::from(level) + 0.5) / f32::from(LEVELS)
}

/// The word that every message of a role has in the index; no text has it.
pub fn role_word(role: Role) -> String {
    format!("role:{role}")
}

static IDLE: Pool<Weigher> = Pool::new();

thread_local! {
    static WEIGHER: RefCell<Pooled<Weigher>> = IDLE.take(Weigher::default).into();
}

/// The words of a message, by a weigher of this thread's.
pub fn weighed(message: &Message) -> Weighed {
    WEIGHER.with_borrow_mut(|weigher| weigher.message(message))
}

/// Weighs message after message.
#[derive(Default)]
pub struct Weigher {
    cutter: Cutter,
    /// By the hash of a folded word, its stem; none for one that is too common.
    known: HashMap<u64, Option<u32>, BuildHasherDefault<Hashed>>,
    /// All stems in a row; of each, where it ends there, and its hash.
    text: String,
    stems: Vec<(u32, u64)>,
    by_stem: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// By stem, how often the message has it; and those that it has, in their order.
    times: Vec<u32>,
    here: Vec<u32>,
}

impl Weigher {
    /// The words of a message.
    pub fn message(&mut self, message: &Message) -> Weighed {
        if self.known.len() > KNOWN_WORDS {
            let cutter = std::mem::take(&mut self.cutter);
            *self = Self {
                cutter,
                ..Self::default()
            };
        }
        let mut words = 0;
        for passage in searched(message) {
            let weight = match message.parts[passage.part] {
                Part::Text { .. } => SAID,
                _ => 1,
            };
            words += self.count(&passage.text, weight);
        }
        let mut weighed = Weighed::default();
        let role = role_word(message.role);
        weighed.push(&role, 0, hash(role.as_bytes()));
        for stem in self.here.drain(..) {
            let times = std::mem::take(&mut self.times[stem as usize]);
            let part = factor(times as f32, words as f32);
            let level = (part * f32::from(LEVELS)) as u8;
            let (end, hash) = self.stems[stem as usize];
            let start = stem
                .checked_sub(1)
                .map_or(0, |before| self.stems[before as usize].0);
            let stem = &self.text[start as usize..end as usize];
            weighed.push(stem, level.min(LEVELS - 1), hash);
        }
        weighed
    }

    /// Counts the words of a text. How many there are, by their weight.
    fn count(&mut self, text: &str, weight: u32) -> u32 {
        let Self {
            cutter,
            known,
            text: all,
            stems,
            by_stem,
            times,
            here,
        } = self;
        let mut words = 0;
        cutter.each(text, |piece| {
            let stem = *known
                .entry(hash(piece.folded.as_bytes()))
                .or_insert_with(|| {
                    if is_common(piece.folded) {
                        return None;
                    }
                    let stem = stem(piece.folded);
                    let hash = hash(stem.as_bytes());
                    Some(*by_stem.entry(hash).or_insert_with(|| {
                        all.push_str(&stem);
                        stems.push((all.len() as u32, hash));
                        times.push(0);
                        times.len() as u32 - 1
                    }))
                });
            let Some(stem) = stem else { return };
            let times = &mut times[stem as usize];
            if *times == 0 {
                here.push(stem);
            }
            *times += weight;
            words += if piece.is_whole { 0 } else { weight };
        });
        words
    }
}

/// FNV-1a by whole words of eight bytes: a hash for words that nobody chooses, of which two that
/// share one are counted as one.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mixed = |hash: u64, eight: u64| {
        let hash = (hash ^ eight).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    };
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        hash = mixed(hash, u64::from_le_bytes(*chunk));
    }
    // Of what is left, each byte once: more is quicker than to ask how many there are.
    let tail = match (bytes.last_chunk::<8>(), rest) {
        (_, []) => return hash,
        (Some(last), _) => u64::from_le_bytes(*last),
        (None, short) => short
            .iter()
            .fold(0, |all, byte| all << 8 | u64::from(*byte)),
    };
    mixed(hash, tail)
}

/// What is hashed already.
#[derive(Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(message: &Message) -> Vec<(String, u8)> {
        let weighed = Weigher::default().message(message);
        let words = weighed.words();
        let words = words.map(|(word, level, _)| (word.to_owned(), level));
        words.collect()
    }

    #[test]
    fn a_word_is_worth_more_the_more_often_it_is_there_and_the_shorter_the_message() {
        let level = |text: &str, word: &str| {
            let words = levels(&Message::text(Role::User, text));
            words
                .iter()
                .find(|(one, _)| one == word)
                .map(|(_, level)| *level)
        };
        let long = "lorem ".repeat(2_000);
        assert_eq!(level("the redesign", "the"), None);
        assert!(level("redesigned, redesigning", "redesign") > level("redesign", "redesign"));
        assert!(level("redesign", "redesign") > level(&format!("redesign {long}"), "redesign"));
        assert_eq!(level(&long, "lorem"), Some(LEVELS - 1));
        assert_eq!(level("redesign", "role:user"), Some(0));
    }

    #[test]
    fn what_was_weighed_before_changes_nothing() {
        let mut weigher = Weigher::default();
        let said = Message::text(Role::User, "Redesign the website: redesigns, websites");
        let alone = weigher.message(&said);
        weigher.message(&Message::text(Role::Tool, "website website redesigner"));
        assert_eq!(weigher.message(&said), alone);
        assert_eq!(alone.words().count(), 3);
    }
}
