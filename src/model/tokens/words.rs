//! The rules by which a text is cut into words before tokens are made of each.
//!
//! # Source
//!
//! The patterns of `o200k_base` and `cl100k_base` in `tiktoken_ext/openai_public.py` of
//! <https://github.com/openai/tiktoken>. In their terms, with what each function here answers for:
//!
//! - a word ([`Rules::cased`] where its case matters), with one char before it that is no letter, number or line's end;
//! - up to three numbers; signs with a space before them and lines' ends behind them;
//! - white space ([`space`]): up to its last line's end, or else all but its last char where something follows.

use super::layout::{BLOCK, CASELESS, LOWER, MARK, NUMBER, OTHER, SPACE, UPPER};

static PLACES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kinds.places"));
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kinds.blocks"));
/// The kinds of the chars of ASCII: the first block.
static ASCII: [u8; BLOCK] = match BLOCKS.first_chunk() {
    Some(block) => *block,
    None => panic!("there is a block"),
};

const LETTER: u8 = UPPER | LOWER | CASELESS;
const SIGN: u8 = MARK | OTHER;

/// The rules of one encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// A word ends where upper case follows lower case, and keeps its contraction.
    Cased,
    /// A word is all letters that stand together, and a contraction is one of its own.
    Plain,
}

/// The kind of the char at a place, and where it ends; none at the end.
#[inline]
fn kind(text: &str, at: usize) -> Option<(u8, usize)> {
    let first = *text.as_bytes().get(at)?;
    if first.is_ascii() {
        return Some((ASCII[usize::from(first & 0x7f)], at + 1));
    }
    let char = text[at..].chars().next()?;
    let place = usize::from(PLACES[char as usize / BLOCK]);
    let kind = BLOCKS[place * BLOCK + char as usize % BLOCK];
    Some((kind, at + char.len_utf8()))
}

/// Where the chars of these kinds end, from a place on.
#[inline]
fn run(text: &str, from: usize, kinds: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        while let Some(byte) = bytes.get(at)
            && byte.is_ascii()
            && ASCII[usize::from(byte & 0x7f)] & kinds != 0
        {
            at += 1;
        }
        match kind(text, at) {
            Some((kind, end)) if kind & kinds != 0 => at = end,
            _ => return at,
        }
    }
}

/// Where the bytes end that are one of these.
fn run_of(text: &str, from: usize, signs: &[u8]) -> usize {
    let behind = text.as_bytes()[from..].iter();
    from + behind.take_while(|byte| signs.contains(byte)).count()
}

/// How long the contraction is that stands at a place: `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll`, `'d`, in either case.
fn contraction(text: &str, at: usize) -> usize {
    let [b'\'', behind @ ..] = &text.as_bytes()[at..] else {
        return 0;
    };
    match behind {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] => 3,
        // The long s, whose other case is s.
        [0xc5, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// The highest bit of each of 16 bytes.
const HIGH: u128 = u128::from_le_bytes([0x80; 16]);
/// The lowest bit of each.
const LOW: u128 = u128::from_le_bytes([1; 16]);

/// The highest bit of those of 16 bytes that are between two chars of ASCII.
#[inline]
fn between(bytes: u128, least: u8, most: u8) -> u128 {
    let low = bytes & !HIGH;
    let from = low + LOW * u128::from(0x80 - least);
    let past = low + LOW * u128::from(0x7f - most);
    from & !past & !bytes & HIGH
}

/// Where the bytes end, from a place on, that have their highest bit in a mask.
#[inline]
fn length(mask: u128, from: usize) -> usize {
    let others = (!mask & HIGH).checked_shr(8 * from as u32).unwrap_or(0);
    from + others.trailing_zeros() as usize / 8
}

/// One of 16 bytes; none behind them.
#[inline]
fn byte(bytes: u128, at: usize) -> Option<u8> {
    Some(bytes.checked_shr(8 * at as u32)? as u8)
}

/// Whether a byte that is no letter stands in front of a word as part of it.
#[inline]
fn leads(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_digit() && !matches!(byte, b'\r' | b'\n')
}

impl Rules {
    /// Where the word ends that starts at a place, which is not the text's end. All of a text is words.
    pub(super) fn end(self, text: &str, at: usize) -> usize {
        let Some((first, second)) = kind(text, at) else {
            return at;
        };
        let byte = text.as_bytes()[at];
        if self == Self::Plain && byte == b'\'' {
            let contraction = contraction(text, at);
            if contraction > 0 {
                return at + contraction;
            }
        }
        let may_lead = first & (LETTER | NUMBER) == 0 && !matches!(byte, b'\r' | b'\n');
        let lead = if may_lead { second } else { at };
        let word = match self {
            Self::Cased => Self::cased(text, lead, at),
            Self::Plain => Some(run(text, lead, LETTER)).filter(|end| *end > lead),
        };
        if let Some(end) = word {
            return end;
        }
        if first == NUMBER {
            let mut end = second;
            for _ in 0..2 {
                if let Some((NUMBER, next)) = kind(text, end) {
                    end = next;
                }
            }
            return end;
        }
        let signs = if byte == b' ' { second } else { at };
        let end = run(text, signs, SIGN);
        if end > signs {
            let behind: &[u8] = match self {
                Self::Cased => b"\r\n/",
                Self::Plain => b"\r\n",
            };
            return run_of(text, end, behind);
        }
        space(text, at)
    }

    /// How long the word is that the next 16 bytes begin with; none where they do not say it: other chars than ASCII's, a
    /// contraction, a longer word. The last of a text have zeros behind them.
    #[inline]
    pub(super) fn short(self, ahead: u128, is_last: bool) -> Option<usize> {
        let first = ahead as u8;
        let lower = between(ahead, b'a', b'z');
        let upper = between(ahead, b'A', b'Z');
        let letters = lower | upper;
        let lead = if letters & 0x80 != 0 {
            0
        } else if letters & 0x8000 != 0 && leads(first) {
            1
        } else {
            16
        };
        if lead < 16 {
            let end = match self {
                Self::Cased => length(lower, length(upper, lead)),
                Self::Plain if first == b'\'' => return None,
                Self::Plain => length(letters, lead),
            };
            let next = byte(ahead, end)?;
            let is_end = next.is_ascii() && (next != b'\'' || self == Self::Plain);
            return is_end.then_some(end);
        }
        if first.is_ascii_digit() {
            let end = length(between(ahead, b'0', b'9'), 0);
            return if end >= 3 {
                Some(3)
            } else {
                byte(ahead, end).filter(u8::is_ascii).map(|_| end)
            };
        }
        if is_last || !first.is_ascii() {
            return None;
        }
        let breaks = between(ahead, b'\n', b'\n') | between(ahead, b'\r', b'\r');
        let spaces = between(ahead, b'\t', b'\r') | between(ahead, b' ', b' ');
        let signs = !(letters | spaces | between(ahead, b'0', b'9') | ahead) & HIGH;
        let start = usize::from(first == b' ');
        let end = length(signs, start);
        if end > start {
            let behind = match self {
                Self::Cased => breaks | between(ahead, b'/', b'/'),
                Self::Plain => breaks,
            };
            let end = length(behind, end);
            return byte(ahead, end).filter(|next| next.is_ascii()).map(|_| end);
        }
        let end = length(spaces, 0);
        byte(ahead, end).filter(u8::is_ascii)?;
        let inside = breaks & ((1 << (8 * end)) - 1);
        Some(match inside {
            0 if end > 1 => end - 1,
            0 => end,
            _ => 16 - inside.leading_zeros() as usize / 8,
        })
    }

    /// Where a word ends that starts at a place, behind what leads it; none where none does. What leads it
    /// may be a mark, which then is the word where no lower case follows.
    fn cased(text: &str, from: usize, lead: usize) -> Option<usize> {
        const UPPERS: u8 = UPPER | CASELESS | MARK;
        const LOWERS: u8 = LOWER | CASELESS | MARK;
        let lowered = |from: usize| {
            let uppers = run(text, from, UPPERS);
            let lowers = run(text, uppers, LOWERS);
            if lowers > uppers {
                return Some(lowers);
            }
            // The last of them that is neither case.
            let chars = text[from..uppers].char_indices().rev();
            let mut ends = chars.map(|(start, _)| kind(text, from + start));
            ends.find_map(|kind| kind.filter(|(kind, _)| kind & LOWERS != 0))
                .map(|(_, end)| end)
        };
        let uppered = || Some(run(text, from, UPPERS)).filter(|end| *end > from);
        let is_marked = || from > lead && kind(text, lead).is_some_and(|(kind, _)| kind == MARK);
        let end = lowered(from)
            .or_else(|| is_marked().then(|| lowered(lead)).flatten())
            .or_else(uppered)?;
        Some(end + contraction(text, end))
    }
}

/// Where white space ends that starts at a place.
fn space(text: &str, at: usize) -> usize {
    let end = run(text, at, SPACE);
    let space = &text[at..end];
    if let Some(line) = space.rfind(['\r', '\n']) {
        return at + line + 1;
    }
    let last = space.chars().next_back().map_or(0, char::len_utf8);
    if end == text.len() || last == space.len() {
        end
    } else {
        end - last
    }
}
