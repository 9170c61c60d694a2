//! The words of a text, as a ranked search knows them: without case and accents, English ones by
//! their stems, identifiers whole and by their parts, text of scripts without spaces (Chinese, Japanese, Korean, Thai,
//! Lao, Khmer, Burmese) in pairs of characters.
//!
//! `parseConfig`, `parse_config` and `parse-config` are the same whole, with the same parts. Two
//! words are the same if they come out the same, nothing else: whatever finds by these words may
//! miss what is there letter by letter, which is what an exact search is for. Deliberately absent:
//! which words a query asks for, what a word is worth in a message.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use waken_snowball::SnowballEnv;
use waken_snowball::algorithms::english_stemmer;

/// A longer word is none: keys, hashes and encoded bytes, which nobody remembers.
const MOST_BYTES: usize = 64;
/// What has more parts without a joint between them is no identifier, but encoded bytes as well.
const MOST_HUMPS: usize = 8;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPiece<'a> {
    /// Folded, not yet brought to its stem.
    pub folded: &'a str,
    /// Where it stands, in bytes.
    pub at: Range<usize>,
    /// Whether this is an identifier as a whole, whose parts come after it.
    pub is_whole: bool,
}

/// Memory that is used again from text to text.
#[derive(Default)]
pub struct Cutter {
    folded: String,
    parts: Vec<Part>,
}

/// A part of what stands without a gap: where it ends in the folded text, and where it stands.
struct Part {
    end: usize,
    at: Range<usize>,
    is_cjk: bool,
}

impl Cutter {
    /// Tells the words of a text, in their order.
    pub fn each(&mut self, text: &str, mut found: impl FnMut(WordPiece<'_>)) {
        let bytes = text.as_bytes();
        let class = |at: usize| {
            bytes
                .get(at)
                .map_or(Class::Gap, |byte| CLASSES[usize::from(*byte)])
        };
        let mut at = 0;
        while at < bytes.len() {
            let first = class(at);
            if !first.is_letter() {
                // Where a character goes on, no word begins.
                let begins = first == Class::Wide && starts(text, at).is_some();
                if !begins {
                    at += width(bytes[at]);
                    continue;
                }
            }
            let mut end = at + 1;
            while matches!(class(end), Class::Small | Class::Digit) {
                end += 1;
            }
            // Most words are no more than that: they need no cutting.
            if first.is_letter() && class(end) == Class::Gap {
                self.plain(text, at..end, first == Class::Capital, &mut found);
                at = end;
                continue;
            }
            let (end, is_ascii) = chunk_end(text, at);
            self.chunk(text, at..end, is_ascii, &mut found);
            at = end;
        }
    }

    /// A word in one case, or with a capital before it.
    fn plain(
        &mut self,
        text: &str,
        at: Range<usize>,
        is_capital: bool,
        found: &mut impl FnMut(WordPiece<'_>),
    ) {
        if at.len() < 2 || at.len() > MOST_BYTES {
            return;
        }
        let mut folded = &text[at.clone()];
        if is_capital {
            self.folded.clear();
            self.folded.push_str(folded);
            self.folded.make_ascii_lowercase();
            folded = &self.folded;
        }
        found(WordPiece {
            folded,
            at,
            is_whole: false,
        });
    }

    fn chunk(
        &mut self,
        text: &str,
        at: Range<usize>,
        is_ascii: bool,
        found: &mut impl FnMut(WordPiece<'_>),
    ) {
        self.folded.clear();
        self.parts.clear();
        let joints = if is_ascii {
            self.fold_ascii(text, &at)
        } else {
            self.fold(text, &at)
        };
        let is_cjk = self.parts.iter().any(|part| part.is_cjk);
        let humps = self.parts.len().saturating_sub(1 + joints);
        let is_one = self.parts.len() == 1;
        if !is_one && !is_cjk && self.folded.len() <= MOST_BYTES {
            found(WordPiece {
                folded: &self.folded,
                at,
                is_whole: true,
            });
        }
        if humps > MOST_HUMPS {
            return;
        }
        let mut start = 0;
        for part in &self.parts {
            let folded = &self.folded[start..part.end];
            start = part.end;
            if part.is_cjk {
                pairs(text, part, found);
            } else if folded.len() > 1 && folded.len() <= MOST_BYTES {
                found(WordPiece {
                    folded,
                    at: part.at.clone(),
                    is_whole: false,
                });
            }
        }
    }

    /// Cuts what is plain ASCII. Says how many joints there are.
    fn fold_ascii(&mut self, text: &str, at: &Range<usize>) -> usize {
        let bytes = &text.as_bytes()[..at.end];
        let (mut joints, mut start, mut copied) = (0, at.start, at.start);
        let mut end = at.end;
        for here in at.clone() {
            let before = if here == at.start {
                b'_'
            } else {
                bytes[here - 1]
            };
            match bytes[here] {
                b'\'' => {
                    self.folded.push_str(&text[copied..here]);
                    copied = here + 1;
                    if is_genitive(&bytes[here..]) {
                        end = here;
                        break;
                    }
                }
                b'_' | b'-' => {
                    joints += 1;
                    self.folded.push_str(&text[copied..here]);
                    self.ends(start..here, false);
                    (start, copied) = (here + 1, here + 1);
                }
                // The last capital of several begins the next part: `HTTPServer`.
                b'A'..=b'Z'
                    if before.is_ascii_alphanumeric()
                        && (!before.is_ascii_uppercase()
                            || bytes.get(here + 1).is_some_and(u8::is_ascii_lowercase)) =>
                {
                    self.folded.push_str(&text[copied..here]);
                    self.ends(start..here, false);
                    (start, copied) = (here, here);
                }
                _ => {}
            }
        }
        self.folded
            .push_str(text.get(copied..end).unwrap_or_default());
        self.ends(start..end, false);
        self.folded.make_ascii_lowercase();
        joints
    }

    /// Cuts any text. Says how many joints there are.
    fn fold(&mut self, text: &str, at: &Range<usize>) -> usize {
        let (mut joints, mut start) = (0, at.start);
        let mut before = None;
        for (here, c) in text[at.clone()].char_indices() {
            let here = at.start + here;
            if joint(text, here).is_some() {
                if c == '_' || c == '-' {
                    joints += 1;
                    self.ends(start..here, before.is_some_and(is_unspaced));
                    (start, before) = (here + c.len_utf8(), None);
                }
                continue;
            }
            let parts = before.is_some_and(|before: char| {
                is_unspaced(before) != is_unspaced(c) || (before.is_lowercase() && c.is_uppercase())
            });
            if parts {
                self.ends(start..here, before.is_some_and(is_unspaced));
                start = here;
            }
            // Accents go; what is not one, such as the mark in が, stays with its character.
            let plain = std::iter::once(c).nfkd().filter(|c| !is_accent(*c));
            for c in plain.nfc() {
                self.folded.extend(c.to_lowercase());
            }
            before = Some(c);
        }
        self.ends(start..at.end, before.is_some_and(is_unspaced));
        joints
    }

    /// A part ends here.
    fn ends(&mut self, at: Range<usize>, is_cjk: bool) {
        let end = self.folded.len();
        if self.parts.last().map_or(0, |part| part.end) < end {
            self.parts.push(Part { end, at, is_cjk });
        }
    }
}

/// Pairs of characters; one that stands alone is a word.
fn pairs(text: &str, part: &Part, found: &mut impl FnMut(WordPiece<'_>)) {
    let here = &text[part.at.clone()];
    let mut told = |range: Range<usize>| {
        let folded: String = here[range.clone()].nfkc().collect();
        found(WordPiece {
            folded: &folded,
            at: part.at.start + range.start..part.at.start + range.end,
            is_whole: false,
        });
    };
    // A mark stands with its letter.
    let mut starts = here.char_indices().filter(|(_, c)| !is_mark(*c));
    let (mut before, mut from) = (None, 0);
    if let Some((first, _)) = starts.next() {
        from = first.min(from);
    }
    loop {
        let next = starts.next().map(|(at, _)| at);
        let end = next.unwrap_or(here.len());
        if let Some(before) = before {
            told(before..end);
        }
        before = Some(from);
        match next {
            Some(next) => from = next,
            None => break,
        }
    }
    if before == Some(0) {
        told(0..here.len());
    }
}

/// What a byte is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Small,
    Digit,
    Capital,
    Gap,
    /// What may join two parts of a word.
    Joint,
    /// A byte of a longer character.
    Wide,
}

impl Class {
    const fn is_letter(self) -> bool {
        matches!(self, Self::Small | Self::Capital | Self::Digit)
    }

    const fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Capital,
            b'0'..=b'9' => Self::Digit,
            b'_' | b'-' | b'\'' => Self::Joint,
            0x80.. => Self::Wide,
            _ => Self::Gap,
        }
    }
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Gap; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = Class::of(byte as u8);
        byte += 1;
    }
    classes
};

/// Where what begins here ends, which stands without a gap; and whether all of it is ASCII.
fn chunk_end(text: &str, at: usize) -> (usize, bool) {
    let bytes = text.as_bytes();
    let (mut end, mut is_ascii) = (at, true);
    while let Some(byte) = bytes.get(end) {
        let class = CLASSES[usize::from(*byte)];
        if class.is_letter() {
            end += 1;
            continue;
        }
        if class == Class::Gap {
            break;
        }
        let wide = starts(text, end);
        // What joins two parts, if another one follows.
        let joint = || joint(text, end).filter(|joint| starts(text, end + joint).is_some());
        let Some(more) = wide.or_else(joint) else {
            break;
        };
        is_ascii &= more == 1;
        end += more;
    }
    (end, is_ascii)
}

/// How many bytes the character here has, if a word may begin or go on with it.
fn starts(text: &str, at: usize) -> Option<usize> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return byte.is_ascii_alphanumeric().then_some(1);
    }
    let c = text[at..].chars().next()?;
    let is_letter = is_accent(c) || is_mark(c) || !is_sign(c) && c.is_alphanumeric();
    is_letter.then_some(c.len_utf8())
}

/// Whether this is an arrow, a line of a box, a tick or the like: none is a letter, and to say so at once is quicker.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{26ff}')
}

/// How many bytes the character here has, if it joins two parts of one word.
fn joint(text: &str, at: usize) -> Option<usize> {
    match text.as_bytes()[at] {
        b'_' | b'-' | b'\'' => Some(1),
        _ if text[at..].starts_with('’') => Some('’'.len_utf8()),
        _ => None,
    }
}

/// How many bytes a character has that begins with this one.
fn width(first: u8) -> usize {
    match first {
        0..=0xbf => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

fn is_genitive(rest: &[u8]) -> bool {
    matches!(rest, [b'\'', b's' | b'S'])
}

/// A mark that changes how a letter is spoken, and that people leave out.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Whether words of this script may be two characters long and stand without spaces.
///
/// # Source
///
/// Unicode's blocks: CJK radicals to Hangul syllables, compatibility ideographs, halfwidth kana, and
/// the ideographic planes.
pub fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether words of this script stand without spaces: pairs of its characters are what is found.
fn is_unspaced(c: char) -> bool {
    is_cjk(c) || is_south_eastern(c)
}

/// Whether this is a letter or a mark of a script of South East Asia that puts no spaces between words.
///
/// # Source
///
/// Unicode's blocks Thai, Lao, Myanmar with its extensions, Khmer; without digits and punctuation.
fn is_south_eastern(c: char) -> bool {
    matches!(c,
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e81}'..='\u{ece}' | '\u{edc}'..='\u{edf}'
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109d}'
        | '\u{1780}'..='\u{17d3}' | '\u{17dc}'..='\u{17dd}' | '\u{a9e0}'..='\u{a9ef}'
        | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}')
}

/// Whether this is a vowel or a tone of such a script that stands above, below or around a letter.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{eb1}' | '\u{eb4}'..='\u{ebc}'
        | '\u{ec8}'..='\u{ece}' | '\u{102b}'..='\u{103e}' | '\u{1056}'..='\u{1059}'
        | '\u{105e}'..='\u{1060}' | '\u{1062}'..='\u{1064}' | '\u{1067}'..='\u{106d}'
        | '\u{1071}'..='\u{1074}' | '\u{1082}'..='\u{108d}' | '\u{109a}'..='\u{109d}'
        | '\u{17b4}'..='\u{17d3}' | '\u{17dd}')
}

/// What inflected forms of a folded word have in common. Only English ones are known.
///
/// # Source
///
/// Snowball's English stemmer, <https://snowballstem.org/algorithms/english/stemmer.html>.
pub fn stem(folded: &str) -> Cow<'_, str> {
    if folded.len() < 3 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(folded);
    }
    let mut env = SnowballEnv::create(folded);
    english_stemmer::stem(&mut env);
    env.get_current()
}

/// Whether a folded word stands in so many texts that it tells none from another.
pub fn is_common(folded: &str) -> bool {
    COMMON.binary_search(&folded).is_ok()
}

/// English words that say how others belong together, in the order of the alphabet.
static COMMON: [&str; 126] = [
    "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "between", "both", "but", "by", "can", "could", "did",
    "didnt", "do", "does", "doesnt", "doing", "dont", "down", "during", "each", "few", "for",
    "from", "further", "get", "had", "has", "have", "having", "he", "her", "here", "hers", "him",
    "his", "how", "if", "im", "in", "into", "is", "isnt", "it", "its", "ive", "just", "lets",
    "like", "may", "me", "might", "more", "most", "must", "my", "no", "nor", "not", "now", "of",
    "off", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "same", "she",
    "should", "so", "some", "such", "than", "that", "thats", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up",
    "us", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Cutter::default().each(text, |piece| words.push(stem(piece.folded).into_owned()));
        words
    }

    #[test]
    fn common_words_are_in_order() {
        assert!(COMMON.is_sorted());
        assert!(is_common("the") && !is_common("redesign"));
    }

    #[test]
    fn no_sign_is_a_letter() {
        let mut signs = ('\0'..=char::MAX).filter(|c| is_sign(*c));
        assert!(!signs.any(char::is_alphanumeric));
    }

    /// The words of a text of which every piece is cut.
    fn cut(text: &str) -> Vec<(String, Range<usize>)> {
        let (mut cutter, mut at, mut words) = (Cutter::default(), 0, Vec::new());
        while at < text.len() {
            if !text.is_char_boundary(at) || starts(text, at).is_none() {
                at += 1;
                continue;
            }
            let (end, is_ascii) = chunk_end(text, at);
            cutter.chunk(text, at..end, is_ascii, &mut |piece| {
                words.push((piece.folded.to_owned(), piece.at))
            });
            at = end;
        }
        words
    }

    proptest! {
        #[test]
        fn what_needs_no_cutting_is_what_cutting_gives(text in "([a-cA-C0-2_'’é東 .-]|[a-d]{3}| ){0,40}") {
            let mut words = Vec::new();
            Cutter::default().each(&text, |piece| words.push((piece.folded.to_owned(), piece.at)));
            prop_assert_eq!(words, cut(&text));
        }
    }

    #[test]
    fn words_come_without_case_accents_and_endings() {
        assert_eq!(
            words("Website redesign proposals"),
            ["websit", "redesign", "propos"]
        );
        assert_eq!(
            words("Proposing: the proposed proposal!"),
            ["propos", "the", "propos", "propos"]
        );
        assert_eq!(
            words("Café, cafe\u{301} ÉCOLE ﬁle"),
            ["cafe", "cafe", "ecol", "file"]
        );
        assert_eq!(
            words("The user's files don't users’"),
            ["the", "user", "file", "dont", "user"]
        );
        assert_eq!(words("v2 of 12 x utf8"), ["v2", "of", "12", "utf8"]);
    }

    #[test]
    fn identifiers_are_words_whole_and_by_their_parts() {
        let parse = ["parseconfig", "pars", "config"];
        for text in [
            "parseConfig",
            "parse_config",
            "ParseConfig()",
            "parse-config",
        ] {
            assert_eq!(words(text), parse, "{text}");
        }
        assert_eq!(
            words("src/lib/parse-config.rs"),
            ["src", "lib", "parseconfig", "pars", "config", "rs"]
        );
        assert_eq!(
            words("HTTPServer2Go"),
            ["httpserver2go", "http", "server2", "go"]
        );
        assert_eq!(words("MAX_LINE_LEN"), ["maxlinelen", "max", "line", "len"]);
        assert_eq!(words("-- --force _x_ a--b"), ["forc"]);
    }

    #[test]
    fn what_is_no_word_is_left_out() {
        assert!(words(&"x".repeat(65)).is_empty());
        assert!(words(&"aGVsbG8gd29ybGQsIGhl".repeat(9)).is_empty());
        assert!(words("… — ' _ - 's").is_empty());
    }

    #[test]
    fn text_without_spaces_comes_in_pairs() {
        assert_eq!(words("東京都 東"), ["東京", "京都", "東"]);
        assert_eq!(words("가나tower東京"), ["가나", "tower", "東京"]);
        assert_eq!(words("がぎ ｶﾞ"), ["がぎ", "ガ"]);
    }

    #[test]
    fn thai_lao_khmer_and_burmese_come_in_pairs_of_letters_with_their_marks() {
        assert_eq!(words("ข้อมูล"), ["ข้อ", "อมู", "มูล"]);
        // What stands in a longer text is found there.
        for (text, part) in [
            ("ระบบฐานข้อมูลเชื่อมต่อแล้ว", "ฐานข้อมูล"),
            ("ຖານຂໍ້ມູນເຊື່ອມຕໍ່", "ຂໍ້ມູນ"),
            ("មូលដ្ឋានទិន្នន័យ", "ទិន្នន័យ"),
            ("ဒေတာဘေ့စ်ချိတ်ဆက်", "ချိတ်ဆက်"),
        ] {
            let (all, wanted) = (words(text), words(part));
            assert!(wanted.len() > 1, "{wanted:?}");
            assert!(
                wanted.iter().all(|it| all.contains(it)),
                "{wanted:?} {all:?}"
            );
        }
        assert_eq!(words("ก parseX"), ["ก", "parsex", "pars"]);
    }

    #[test]
    fn a_word_says_where_it_stands() {
        let text = "é parseConfig’s 東京x don't";
        let mut told = Vec::new();
        Cutter::default().each(text, |piece| {
            told.push((text[piece.at.clone()].to_owned(), piece.is_whole))
        });
        let told: Vec<(&str, bool)> = told
            .iter()
            .map(|(text, whole)| (text.as_str(), *whole))
            .collect();
        assert_eq!(
            told,
            [
                ("parseConfig’s", true),
                ("parse", false),
                ("Config’s", false),
                ("東京", false),
                ("don't", false),
            ]
        );
    }
}
