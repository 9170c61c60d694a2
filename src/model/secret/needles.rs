//! Where any of some hundred short texts stands in a long one.
//!
//! A library's automaton for so many costs 9 ns a byte, and secrets are looked for in every message that comes in. Here the first
//! three bytes of each needle are looked up in a table that stays in the processor's nearest cache: 1 ns a byte.

use std::collections::BTreeMap;

/// How many bytes of a needle the table knows. Of a shorter one all that there are.
const KNOWN: usize = 3;
const SLOTS: usize = 1 << 13;

/// A needle, and which rule looks at it.
type Needle = (&'static str, Option<usize>);

#[derive(Debug)]
pub(super) struct Needles {
    /// Which group begins so, plus 1.
    slots: Box<[u16; SLOTS]>,
    /// The needles of a group.
    groups: Vec<Vec<Needle>>,
}

fn slot([first, second, third]: [u8; KNOWN]) -> usize {
    let all = u32::from_le_bytes([first, second, third, 0]);
    (all.wrapping_mul(0x9e37_79b1) >> 19) as usize
}

impl Needles {
    pub(super) fn of(needles: impl Iterator<Item = Needle>) -> Self {
        let mut by_slot: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for (needle, rule) in needles {
            let mut keep = |known| by_slot.entry(slot(known)).or_default().push((needle, rule));
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
            for (needle, rule) in group {
                if text[at..].starts_with(needle.as_bytes()) {
                    see(at, needle, *rule);
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
