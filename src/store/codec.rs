//! What engines write alike: numbers for the words of the model, and lists of integers as bytes.
//! Deliberately absent: columns and statements, which are each engine's own.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::background::{KnownStart, KnownWork};
use crate::model::tokens::PictureRule;
use crate::model::{
    BlockSum, Encoding, EntryId, LargestEntry, Message, PathSums, Role, Span, Standouts, Summed,
    TokenCount, Total, Written,
};

/// The number of an encoding of counts: the place of its vocabulary, and of its rule for pictures in steps of as many as there are
/// vocabularies.
pub(super) fn encoding_number(encoding: Encoding) -> i64 {
    let plain = encoding.plain();
    let vocabulary = Encoding::ALL.iter().position(|one| *one == plain);
    let rule = PictureRule::ALL
        .iter()
        .position(|rule| *rule == encoding.pictures());
    let place = vocabulary.zip(rule).expect("all are there");
    (place.1 * Encoding::ALL.len() + place.0) as i64
}

/// The encoding of counts with this number.
pub(super) fn encoding_of(number: i64) -> Result<Encoding> {
    let found = usize::try_from(number).ok().and_then(|number| {
        let rule = PictureRule::ALL.get(number / Encoding::ALL.len())?;
        Some(Encoding::ALL[number % Encoding::ALL.len()].with_pictures(*rule))
    });
    found.ok_or_else(|| damaged(format!("unknown encoding {number} of counts")))
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

impl Speaker {
    pub(super) fn number(self) -> i64 {
        let number = ROLES.iter().position(|role| *role == self.role);
        let number = number.expect("all are there") as i64;
        number + if self.attached { ATTACHED } else { 0 }
    }

    pub(super) fn of(number: i64) -> Result<Self> {
        let attached = number >= ATTACHED;
        let place = if attached { number - ATTACHED } else { number };
        let role = usize::try_from(place).ok().and_then(|at| ROLES.get(at));
        let role = *role.ok_or_else(|| damaged(format!("unknown role {number}")))?;
        Ok(Self { role, attached })
    }
}

/// A row that holds what no program writes.
pub(super) fn damaged(detail: impl ToString) -> Error {
    let detail = detail.to_string();
    Error::Damaged { detail }
}

/// A column's number; what doesn't fit 63 bits is cut to that.
pub(super) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
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

pub(super) fn unpack_spans(bytes: &[u8]) -> Result<Vec<Span>> {
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

/// In a summary, in place of a number that is not known; and behind all that stands out, before the settings.
const NOT_KNOWN: u64 = u64::MAX;
/// What stands before what works in the background.
const BACKGROUND: u64 = u64::MAX - 1;

/// What stands before the sums of a path.
const SUMS: u64 = u64::MAX - 2;

/// A summary as bytes.
pub(super) fn pack_summary(summary: &Summed) -> Vec<u8> {
    let mut out = Packer::default();
    let Total {
        messages,
        tokens,
        estimates,
    } = summary.total;
    let facts = [messages, tokens, estimates, summary.hidden].into_iter();
    let facts = facts.chain(summary.hides.map(u64::from));
    let facts = facts.chain([summary.moves.into()]);
    facts
        .chain(summary.by_role)
        .chain([summary.injected])
        .for_each(|number| out.number(number));
    let Some(largest) = &summary.largest else {
        return out.0;
    };
    let TokenCount { tokens, estimated } = largest.tokens;
    let index = largest.entry.index.map_or(0, |index| u64::from(index) + 1);
    let facts = [largest.number, tokens, estimated.into(), index];
    facts.into_iter().for_each(|number| out.number(number));
    out.0.extend(largest.entry.commit.as_bytes());
    out.0.extend(largest.content.as_bytes());
    let has_last =
        summary.settings.is_some() || summary.background.is_some() || summary.sums.is_some();
    let has_more = summary.standouts.is_some() || has_last;
    if summary.written.is_some() || has_more {
        let (messages, size_bytes) = match summary.written {
            Some(written) => (written.messages, written.size_bytes),
            None => (0, 0),
        };
        out.number(messages);
        out.number(size_bytes);
    }
    if has_more {
        let standouts = summary.standouts.as_ref();
        out.number(standouts.map_or(NOT_KNOWN, |standouts| standouts.covered));
        let mut next = 0;
        for depth in standouts.iter().flat_map(|standouts| &standouts.depths) {
            out.number(depth - next);
            next = depth + 1;
        }
    }
    if let Some(known) = &summary.background {
        out.number(BACKGROUND);
        out.number(known.covered);
        out.number(known.open.len() as u64);
        for start in &known.open {
            out.number(start.called);
            out.number(start.at);
            out.text(&start.id);
        }
        out.number(known.calls.len() as u64);
        known.calls.iter().for_each(|depth| out.number(*depth));
    }
    if let Some(sums) = &summary.sums {
        out.number(SUMS);
        pack_sums(&mut out, sums);
    }
    if let Some(settings) = &summary.settings {
        out.number(NOT_KNOWN);
        for (key, commit) in settings {
            out.text(key);
            out.0.extend(commit.as_bytes());
        }
    }
    out.0
}

/// Bytes that make no sense give nothing.
pub(super) fn unpack_summary(bytes: &[u8]) -> Option<Summed> {
    let mut from = Unpacker(bytes);
    let mut summary = Summed {
        total: Total {
            messages: from.number()?,
            tokens: from.number()?,
            estimates: from.number()?,
        },
        hidden: from.number()?,
        ..Summed::default()
    };
    for hides in &mut summary.hides {
        *hides = from.small()?;
    }
    summary.moves = from.small()?;
    for tokens in &mut summary.by_role {
        *tokens = from.number()?;
    }
    summary.injected = from.number()?;
    if !from.is_done() {
        let number = from.number()?;
        let tokens = TokenCount {
            tokens: from.number()?,
            estimated: from.number()? == 1,
        };
        let index = match from.number()? {
            0 => None,
            index => Some(u32::try_from(index - 1).ok()?),
        };
        let commit = CommitHash::from_bytes(from.hash()?);
        summary.largest = Some(LargestEntry {
            entry: EntryId { commit, index },
            content: ContentHash::from_bytes(from.hash()?),
            number,
            tokens,
        });
    }
    if !from.is_done() {
        let written = Written {
            messages: from.number()?,
            size_bytes: from.number()?,
        };
        summary.written = Some(written).filter(|written| written.messages > 0);
    }
    if !from.is_done() {
        let mut standouts = Standouts {
            covered: from.number()?,
            depths: Vec::new(),
        };
        let (mut next, mut has_settings) = (0_u64, false);
        while !from.is_done() {
            let step = from.number()?;
            if step == BACKGROUND {
                summary.background = Some(unpack_background(&mut from)?);
                continue;
            }
            if step == SUMS {
                summary.sums = Some(unpack_sums(&mut from)?);
                continue;
            }
            has_settings = step == NOT_KNOWN;
            if has_settings {
                break;
            }
            let depth = next.checked_add(step)?;
            standouts.depths.push(depth);
            next = depth.checked_add(1)?;
        }
        summary.standouts = Some(standouts).filter(|standouts| standouts.covered != NOT_KNOWN);
        if has_settings {
            let mut settings = BTreeMap::new();
            while !from.is_done() {
                let key = from.text()?;
                settings.insert(key, CommitHash::from_bytes(from.hash()?));
            }
            summary.settings = Some(settings);
        }
    }
    from.is_done().then_some(summary)
}

fn unpack_background(from: &mut Unpacker<'_>) -> Option<KnownWork> {
    let mut known = KnownWork {
        covered: from.number()?,
        ..KnownWork::default()
    };
    for _ in 0..from.number()? {
        known.open.push(KnownStart {
            called: from.number()?,
            at: from.number()?,
            id: from.text()?,
        });
    }
    for _ in 0..from.number()? {
        known.calls.push(from.number()?);
    }
    Some(known)
}

fn pack_sums(out: &mut Packer, sums: &PathSums) {
    out.number(sums.size);
    out.number(sums.blocks.len() as u64);
    for block in &sums.blocks {
        out.number(block.is_some().into());
        let Some(block) = block else { continue };
        block.by_role.iter().for_each(|tokens| out.number(*tokens));
        for number in [block.injected, block.largest_at, block.largest] {
            out.number(number);
        }
    }
}

fn unpack_sums(from: &mut Unpacker<'_>) -> Option<PathSums> {
    let size = from.number()?;
    let mut blocks = Vec::new();
    for _ in 0..from.number()? {
        if from.number()? == 0 {
            blocks.push(None);
            continue;
        }
        let mut by_role = [0; Role::ALL.len()];
        for tokens in &mut by_role {
            *tokens = from.number()?;
        }
        blocks.push(Some(BlockSum {
            by_role,
            injected: from.number()?,
            largest_at: from.number()?,
            largest: from.number()?,
        }));
    }
    Some(PathSums { size, blocks })
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
        fn summaries_survive(
            stands_out in prop::option::of(prop::collection::btree_set(0..1_u64 << 40, 0..9)),
            settings in prop::option::of(prop::collection::btree_map("[a-z]{0,9}", any::<[u8; 32]>(), 0..5)),
            sums in prop::option::of((
                1..1_u64 << 40,
                prop::collection::vec(prop::option::of(any::<([u64; 5], u64, u64, u64)>()), 0..4),
            )),
            background in prop::option::of((
                any::<u64>(),
                prop::collection::vec((any::<u64>(), any::<u64>(), "[a-z]{0,9}"), 0..3),
                prop::collection::vec(any::<u64>(), 0..3),
            )),
        ) {
            let hash = [7; 32];
            let largest = LargestEntry {
                entry: EntryId::of(CommitHash::from_bytes(hash)),
                content: ContentHash::from_bytes(hash),
                number: 3,
                tokens: TokenCount::default(),
            };
            let standouts = stands_out.map(|depths| Standouts {
                covered: 1 << 40,
                depths: depths.into_iter().collect(),
            });
            let settings = settings.map(|settings| {
                let settings = settings.into_iter();
                settings.map(|(key, hash)| (key, CommitHash::from_bytes(hash))).collect()
            });
            let background = background.map(|(covered, open, calls)| KnownWork {
                covered,
                open: open.into_iter().map(|(called, at, id)| KnownStart { called, at, id }).collect(),
                calls,
            });
            let sums = sums.map(|(size, blocks)| {
                let blocks = blocks.into_iter().map(|block| {
                    block.map(|(by_role, injected, largest_at, largest)| BlockSum { by_role, injected, largest_at, largest })
                });
                PathSums { size, blocks: blocks.collect() }
            });
            let largest = Some(largest);
            let summary = Summed { largest, standouts, settings, background, sums, ..Summed::default() };
            prop_assert_eq!(unpack_summary(&pack_summary(&summary)), Some(summary));
        }

        #[test]
        fn any_bytes_are_something_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = unpack_spans(&bytes);
            let _ = unpack_summary(&bytes);
            let mut unpacker = Unpacker(&bytes);
            while unpacker.text().is_some() {}
        }
    }
}
