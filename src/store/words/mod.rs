//! The index of a ranked search: which words stand in which contents, and what each is worth there.
//!
//! Contents come in by their numbers, which only grow, and so does the index: a segment holds the
//! words of all contents between two numbers, in the order of the alphabet, each with the contents
//! that have it. Whatever writes many contents makes a segment of them; segments that have become many
//! are made one. What no segment holds yet is read when somebody searches. Derived data: any segment may
//! be dropped with all behind it. Deliberately absent: statements, and how contents are found and told.

mod blocks;
pub(super) mod ranking;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use super::codec::number;
use super::columns::damaged;
use super::indexed::Indexed;
use crate::error::Result;
use crate::model::word_weights::{Hashed, LEVELS, Weighed, hash};
pub(super) use blocks::{Block, Reader, Writer};

/// When so many segments of about a size stand one behind the other, they become one.
const SEVERAL: usize = 8;
/// The size of the smallest ones; each kind is [`SEVERAL`] times as large as the one before. A single message has some
/// hundred bytes of words: where what comes in one by one was of one kind up to much more, it was written again and again.
const SMALL_BYTES: i64 = 512;
/// No segment becomes larger than this, for it is made in one transaction.
const MOST_BYTES: i64 = 16 << 20;
/// No segment has so many contents; whoever says so would have a reader take memory for them.
const MOST_CONTENTS: i64 = 1 << 26;
/// How many places are gathered at most before they are kept: some 40 MB of memory.
const MOST_PLACES: usize = 2 << 20;
/// How many bits of a place in the index say what the word is worth there.
const LEVEL_BITS: u32 = LEVELS.ilog2();

/// A stretch of contents whose words are kept together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The number of the last content in it, by which it is known.
    pub(super) last: i64,
    /// That of the last one before it.
    pub(super) since: i64,
    pub(super) size_bytes: i64,
}

/// What an engine does for the index.
pub(super) trait Shelf {
    /// All segments, oldest first.
    fn segments(&self) -> Result<Vec<Segment>>;

    /// Tells the blocks that may hold words from one to another one, both included: of each segment,
    /// oldest first, in their order, by the segment's last content.
    fn blocks(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(i64, &[u8]) -> Result<()>,
    ) -> Result<()>;

    /// All blocks of a segment, in their order.
    fn blocks_of(&self, segment: i64) -> Result<Vec<Vec<u8>>>;

    fn put_segment(&self, segment: Segment, blocks: &[Block]) -> Result<()>;

    fn drop_segment(&self, last: i64) -> Result<()>;
}

/// The contents that have a word, in the order of their numbers.
#[derive(Debug, Default)]
struct Places {
    last: i64,
    count: u64,
    bytes: Vec<u8>,
}

impl Places {
    fn since(since: i64) -> Self {
        Self {
            last: since,
            ..Self::default()
        }
    }

    /// Those of another word.
    fn begin(&mut self, since: i64) {
        self.bytes.clear();
        (self.last, self.count) = (since, 0);
    }

    fn push(&mut self, id: i64, level: u8) {
        let step = (id - self.last).cast_unsigned();
        let mut value = step << LEVEL_BITS | u64::from(level);
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
        (self.last, self.count) = (id, self.count + 1);
    }
}

/// Reads [`Places`]: each content with the level.
struct Placed<'a> {
    last: i64,
    bytes: &'a [u8],
}

impl<'a> Placed<'a> {
    fn since(since: i64, bytes: &'a [u8]) -> Self {
        Self { last: since, bytes }
    }
}

impl Iterator for Placed<'_> {
    type Item = (i64, u8);

    fn next(&mut self) -> Option<(i64, u8)> {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 56 {
                return None;
            }
        }
        // A damaged step must not lead back.
        self.last = self.last.saturating_add((value >> LEVEL_BITS) as i64);
        Some((self.last, value as u8 & (LEVELS - 1)))
    }
}

/// A segment that is being made.
pub(super) struct Gathered {
    since: i64,
    last: i64,
    /// All words in a row, and where each ends there.
    text: String,
    ends: Vec<u32>,
    /// By their hashes, which of the words it is.
    words: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// Which word, in which content, counted from the segment's beginning.
    places: Vec<(u32, u32, u8)>,
}

impl Gathered {
    /// Of contents that come after this one.
    pub(super) fn since(since: i64) -> Self {
        Self {
            since,
            last: since,
            text: String::new(),
            ends: Vec::new(),
            words: HashMap::default(),
            places: Vec::new(),
        }
    }

    pub(super) fn last(&self) -> i64 {
        self.last
    }

    /// Whether it is time to keep what there is.
    pub(super) fn is_large(&self) -> bool {
        self.places.len() >= MOST_PLACES
    }

    /// Takes the next content in.
    pub(super) fn add(&mut self, id: i64, words: &Weighed) {
        let step = (id - self.since) as u32;
        for (word, level, hash) in words.words() {
            let which = *self.words.entry(hash).or_insert_with(|| {
                self.text.push_str(word);
                self.ends.push(self.text.len() as u32);
                self.ends.len() as u32 - 1
            });
            self.places.push((which, step, level));
        }
        self.last = id;
    }

    fn word(&self, which: u32) -> &str {
        let which = which as usize;
        let start = which.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[which] as usize]
    }

    /// Tells in how many contents the words stand that are meant, and these.
    fn having(&self, is: impl Fn(&str) -> bool, mut take: impl FnMut(u64, &[u8])) {
        for which in (0..self.ends.len() as u32).filter(|which| is(self.word(*which))) {
            let mut places = Places::since(self.since);
            for (_, step, level) in self.places.iter().filter(|(of, ..)| *of == which) {
                places.push(self.since + i64::from(*step), *level);
            }
            take(places.count, &places.bytes);
        }
    }

    /// Its words in their order, with the contents that have them.
    fn written(&self) -> Writer {
        // By word, and of each word in the order in which they came.
        let mut starts = vec![0_u32; self.ends.len() + 1];
        for (which, ..) in &self.places {
            starts[*which as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut nexts = starts.clone();
        let mut by_word = vec![(0, 0); self.places.len()];
        for (which, step, level) in &self.places {
            let next = &mut nexts[*which as usize];
            by_word[*next as usize] = (*step, *level);
            *next += 1;
        }
        let mut order: Vec<u32> = (0..self.ends.len() as u32).collect();
        // Most words differ in their first bytes, which a number holds.
        order.sort_by_cached_key(|which| {
            let word = self.word(*which);
            (beginning(word.as_bytes()), word)
        });
        let mut writer = Writer::default();
        let mut places = Places::default();
        for which in order {
            let at = starts[which as usize] as usize..starts[which as usize + 1] as usize;
            places.begin(self.since);
            for (step, level) in &by_word[at] {
                places.push(self.since + i64::from(*step), *level);
            }
            writer.push(self.word(which).as_bytes(), places.count, &places.bytes);
        }
        writer
    }

    /// Puts it among the others, and makes one of several where they have become many.
    pub(super) fn keep(self, shelf: &impl Shelf) -> Result<()> {
        if self.last == self.since {
            return Ok(());
        }
        put(shelf, (self.since, self.last), self.written())?;
        join(shelf)
    }
}

/// What a transaction does about the words of what comes in.
#[derive(Default)]
pub(super) enum Gathering {
    /// Nothing has come in yet that was prepared.
    #[default]
    Open,
    /// Too much before it is not in the index.
    Off,
    /// They are gathered.
    On(Gathered),
}

impl Gathering {
    /// Keeps what was gathered, if anything was.
    pub(super) fn keep(cell: &RefCell<Self>, shelf: &impl Shelf) -> Result<()> {
        match cell.take() {
            Self::On(gathered) => gathered.keep(shelf),
            Self::Open | Self::Off => Ok(()),
        }
    }
}

/// The first bytes of a word, as a number that is in their order.
fn beginning(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = word.len().min(8);
    bytes[..len].copy_from_slice(&word[..len]);
    u64::from_be_bytes(bytes)
}

fn put(shelf: &impl Shelf, (since, last): (i64, i64), writer: Writer) -> Result<()> {
    let blocks = writer.finish();
    let size_bytes = blocks.iter().map(|block| block.data.len() as u64).sum();
    let segment = Segment {
        last,
        since,
        size_bytes: number(size_bytes),
    };
    shelf.put_segment(segment, &blocks)
}

/// Segments that go on from one another, or an error.
fn whole(segments: Vec<Segment>) -> Result<Vec<Segment>> {
    let mut since = 0_i64;
    for segment in &segments {
        let is_too_long = segment.last > since.saturating_add(MOST_CONTENTS);
        if segment.since != since || segment.last <= since || is_too_long {
            return Err(damaged("a segment of the index of words is missing"));
        }
        since = segment.last;
    }
    Ok(segments)
}

/// The kind of a segment, by its size.
fn kind(segment: &Segment) -> u32 {
    let times = (segment.size_bytes / SMALL_BYTES).max(1);
    times.ilog2() / SEVERAL.ilog2()
}

/// Makes one of the newest segments where there are several of which none is of a larger kind than the last: what is
/// large is not written again for a few that are small.
fn join(shelf: &impl Shelf) -> Result<()> {
    let mut segments = shelf.segments()?;
    while let Some(last) = segments.last() {
        let (of, before) = (kind(last), segments[..segments.len() - 1].iter().rev());
        let count = 1 + before.take_while(|one| kind(one) <= of).count();
        let several = segments.split_off(segments.len() - count);
        let size_bytes: i64 = several.iter().map(|one| one.size_bytes).sum();
        if count < SEVERAL || size_bytes > MOST_BYTES {
            break;
        }
        segments.push(merge(shelf, &several)?);
    }
    Ok(())
}

/// Makes one segment of some that stand one behind the other.
fn merge(shelf: &impl Shelf, several: &[Segment]) -> Result<Segment> {
    let (Some(first), Some(end)) = (several.first(), several.last()) else {
        return Err(damaged("no segment of the index"));
    };
    let mut readers = Vec::with_capacity(several.len());
    for segment in several {
        let mut reader = Reader::of(shelf.blocks_of(segment.last)?);
        if reader.next()? {
            readers.push((segment.since, reader));
        }
    }
    let mut writer = Writer::default();
    while let Some(word) = readers.iter().map(|(_, reader)| reader.word()).min() {
        let word = word.to_vec();
        let mut places = Places::since(first.since);
        for (since, reader) in &mut readers {
            if reader.word() == word {
                for (id, level) in Placed::since(*since, reader.places()) {
                    places.push(id, level);
                }
                reader.next()?;
            }
        }
        readers.retain(|(_, reader)| !reader.is_over());
        writer.push(&word, places.count, &places.bytes);
    }
    for segment in several {
        shelf.drop_segment(segment.last)?;
    }
    put(shelf, (first.since, end.last), writer)?;
    let size_bytes = several.iter().map(|one| one.size_bytes).sum();
    Ok(Segment {
        last: end.last,
        since: first.since,
        size_bytes,
    })
}

/// A content's words and their levels in the index, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordSum {
    words: u32,
    sum: u64,
}

impl WordSum {
    pub(super) fn of(words: &Weighed) -> Self {
        let mut sum = Self::default();
        for (_, level, hash) in words.words() {
            sum.add(hash, level);
        }
        sum
    }

    fn add(&mut self, hash: u64, level: u8) {
        self.words += 1;
        // Words that change places, or levels that do, are no longer the same.
        let mixed = (hash ^ u64::from(level)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.sum = self.sum.wrapping_add(mixed ^ mixed >> 29);
    }
}

/// What the whole index says of contents.
pub(super) fn indexed(shelf: &impl Shelf) -> Result<Indexed<WordSum>> {
    let mut known = Indexed::<WordSum>::default();
    for segment in whole(shelf.segments()?)? {
        let mut reader = Reader::of(shelf.blocks_of(segment.last)?);
        while reader.next()? {
            let hash = hash(reader.word());
            for (id, level) in Placed::since(segment.since, reader.places()) {
                known.of(id).add(hash, level);
            }
        }
        known.watermark = segment.last;
    }
    Ok(known)
}

/// Takes contents out, so that nothing of them is left. `newest` is the last content that there is:
/// numbers behind it are given again.
pub(super) fn forget(shelf: &impl Shelf, contents: &BTreeSet<i64>, newest: i64) -> Result<()> {
    for segment in shelf.segments()? {
        let has_any = contents
            .range(segment.since + 1..=segment.last)
            .next()
            .is_some();
        let last = segment.last.min(newest);
        if !has_any && last == segment.last {
            continue;
        }
        let mut reader = Reader::of(shelf.blocks_of(segment.last)?);
        shelf.drop_segment(segment.last)?;
        if last <= segment.since {
            continue;
        }
        let mut writer = Writer::default();
        while reader.next()? {
            let mut places = Places::since(segment.since);
            for (id, level) in Placed::since(segment.since, reader.places()) {
                if id <= last && !contents.contains(&id) {
                    places.push(id, level);
                }
            }
            if places.count > 0 {
                writer.push(reader.word(), places.count, &places.bytes);
            }
        }
        put(shelf, (segment.since, last), writer)?;
    }
    Ok(())
}

/// Drops what is known of a content and of all behind it, which is then taken in again.
pub(super) fn forget_from(shelf: &impl Shelf, content: i64) -> Result<()> {
    let segments = shelf.segments()?.into_iter();
    segments
        .filter(|segment| segment.last >= content)
        .try_for_each(|segment| shelf.drop_segment(segment.last))
}
