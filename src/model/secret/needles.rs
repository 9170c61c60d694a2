//! Where any of some hundred short texts stands in a long one.
//!
//! A library's automaton for so many costs 9 ns a byte, and secrets are looked for in every message that comes in. Here the first
//! three bytes of each needle are looked up in a table that stays in the processor's nearest cache: 1 ns a byte.

use std::collections::BTreeMap;

/// How many bytes of a needle the table knows. Of a shorter one all that there are.
const KNOWN: usize = 3;
const SLOTS: usize = 1 << 14;

/// A needle, and which rule looks at it.
#[derive(Clone, Debug, PartialEq)]
struct Needle {
    text: &'static str,
    rule: Option<usize>,
    /// Its first bytes as one number, and which of the number's bits are its own: to compare numbers is quicker than to call what
    /// compares texts.
    head: u64,
    mask: u64,
}

/// How many bytes the number of a needle has.
const HEAD: usize = size_of::<u64>();

impl Needle {
    fn of(text: &'static str, rule: Option<usize>) -> Self {
        let mut head = [0; HEAD];
        let len = text.len().min(HEAD);
        head[..len].copy_from_slice(&text.as_bytes()[..len]);
        Self {
            text,
            rule,
            head: u64::from_le_bytes(head),
            mask: u64::MAX >> (8 * (HEAD - len)),
        }
    }

    #[inline]
    fn begins(&self, text: &[u8]) -> bool {
        match text.first_chunk::<HEAD>() {
            Some(head) => {
                u64::from_le_bytes(*head) & self.mask == self.head
                    && (self.text.len() <= HEAD || text.starts_with(self.text.as_bytes()))
            }
            None => text.starts_with(self.text.as_bytes()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Needles {
    /// Which group begins so, plus 1.
    slots: Box<[u16; SLOTS]>,
    /// The needles of a group.
    groups: Vec<Vec<Needle>>,
}

fn slot([first, second, third]: [u8; KNOWN]) -> usize {
    let all = u32::from_le_bytes([first, second, third, 0]);
    (all.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

impl Needles {
    pub(super) fn of(needles: impl Iterator<Item = (&'static str, Option<usize>)>) -> Self {
        let mut by_slot: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for (needle, rule) in needles {
            let mut keep = |known| {
                by_slot
                    .entry(slot(known))
                    .or_default()
                    .push(Needle::of(needle, rule))
            };
            match *needle.as_bytes() {
                [first, second, third, ..] => keep([first, second, third]),
                [first, second] => (0..=u8::MAX).for_each(|third| keep([first, second, third])),
                _ => unreachable!("a needle has two bytes or more"),
            }
        }
        let mut made = Self {
            slots: Box::new([0; SLOTS]),
            groups: Vec::new(),
        };
        for (slot, group) in by_slot {
            let known = made.groups.iter().position(|it| *it == group);
            let at = known.unwrap_or_else(|| {
                made.groups.push(group);
                made.groups.len() - 1
            });
            made.slots[slot] = u16::try_from(at + 1).expect("few groups");
        }
        made
    }

    /// Calls `see` with every place of every needle, in the order of the text; a needle of two bytes at the text's end leaves no room for more.
    pub(super) fn each(
        &self,
        text: &[u8],
        mut see: impl FnMut(usize, &'static str, Option<usize>),
    ) {
        let mut from = 0;
        while let Some((step, group)) = self.next(&text[from..]) {
            let at = from + step;
            for needle in group {
                if needle.begins(&text[at..]) {
                    see(at, needle.text, needle.rule);
                }
            }
            from = at + 1;
        }
    }

    /// Where one may begin next, and which. By itself, for it goes over every byte: together with what looks closer it
    /// was half as quick.
    #[inline(never)]
    fn next(&self, text: &[u8]) -> Option<(usize, &[Needle])> {
        let mut places = text.array_windows().enumerate();
        let (at, group) = places.find_map(|(at, known)| match self.slots[slot(*known)] {
            0 => None,
            group => Some((at, usize::from(group) - 1)),
        })?;
        Some((at, &self.groups[group]))
    }
}
