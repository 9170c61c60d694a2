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

impl Rules {
    /// Where the word ends that starts at a place; none at the text's end. All of a text is words.
    pub(super) fn end(self, text: &str, at: usize) -> Option<usize> {
        let (first, second) = kind(text, at)?;
        let byte = text.as_bytes()[at];
        if self == Self::Plain && byte == b'\'' {
            let contraction = contraction(text, at);
            if contraction > 0 {
                return Some(at + contraction);
            }
        }
        let may_lead = first & (LETTER | NUMBER) == 0 && !matches!(byte, b'\r' | b'\n');
        let lead = if may_lead { second } else { at };
        let word = match self {
            Self::Cased => Self::cased(text, lead, at),
            Self::Plain => Some(run(text, lead, LETTER)).filter(|end| *end > lead),
        };
        if let Some(end) = word {
            return Some(end);
        }
        if first == NUMBER {
            let mut end = second;
            for _ in 0..2 {
                if let Some((NUMBER, next)) = kind(text, end) {
                    end = next;
                }
            }
            return Some(end);
        }
        let signs = if byte == b' ' { second } else { at };
        let end = run(text, signs, SIGN);
        if end > signs {
            let behind: &[u8] = match self {
                Self::Cased => b"\r\n/",
                Self::Plain => b"\r\n",
            };
            return Some(run_of(text, end, behind));
        }
        Some(space(text, at))
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
