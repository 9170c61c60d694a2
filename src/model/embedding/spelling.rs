//! How a tokenizer spells a text before it is cut into pieces, and where it cuts it first.

use std::borrow::Cow;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A step by which a text is spelt anew.
pub(super) enum Respelling {
    Bert {
        is_clean: bool,
        has_gaps: bool,
        strips_accents: bool,
        is_lower: bool,
    },
    Lowercase,
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    StripAccents,
    Strip {
        left: bool,
        right: bool,
    },
    Prepend(String),
    Replace(SpellingPattern, String),
}

/// What is looked for.
pub(super) enum SpellingPattern {
    Text(String),
    Regex(Regex),
}

#[derive(Deserialize)]
struct WrittenPattern {
    #[serde(rename = "String")]
    text: Option<String>,
    #[serde(rename = "Regex")]
    regex: Option<String>,
}

impl SpellingPattern {
    fn parse(written: &Value) -> Result<Self, String> {
        let written: WrittenPattern = serde_json::from_value(written.clone())
            .map_err(|error| format!("a pattern: {error}"))?;
        match (written.text, written.regex) {
            (Some(text), None) => Ok(Self::Text(text)),
            (None, Some(regex)) => {
                let regex = Regex::new(&regex);
                Ok(Self::Regex(regex.map_err(|error| error.to_string())?))
            }
            _ => Err("a pattern is a text or a regular expression".to_owned()),
        }
    }

    fn replaced(&self, text: &str, with: &str) -> String {
        match self {
            Self::Text(pattern) => text.replace(pattern.as_str(), with),
            Self::Regex(pattern) => pattern
                .replace_all(text, regex::NoExpand(with))
                .into_owned(),
        }
    }

    /// The places that match, in order.
    fn places(&self, text: &str) -> Vec<(usize, usize)> {
        match self {
            Self::Text(pattern) => {
                let found = text.match_indices(pattern.as_str());
                found.map(|(at, found)| (at, at + found.len())).collect()
            }
            Self::Regex(pattern) => {
                let found = pattern.find_iter(text);
                found.map(|found| (found.start(), found.end())).collect()
            }
        }
    }
}

fn kind(step: &Value) -> &str {
    step["type"].as_str().unwrap_or_default()
}

fn flag(step: &Value, name: &str, usual: bool) -> bool {
    step[name].as_bool().unwrap_or(usual)
}

impl Respelling {
    /// The steps of a `normalizer`.
    pub(super) fn parse(step: &Value, steps: &mut Vec<Self>) -> Result<(), String> {
        let text = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
        steps.push(match kind(step) {
            "" if step.is_null() => return Ok(()),
            "Sequence" => {
                let inner = step["normalizers"].as_array().into_iter().flatten();
                return inner
                    .into_iter()
                    .try_for_each(|step| Self::parse(step, steps));
            }
            "BertNormalizer" => {
                let is_lower = flag(step, "lowercase", true);
                Self::Bert {
                    is_clean: flag(step, "clean_text", true),
                    has_gaps: flag(step, "handle_chinese_chars", true),
                    strips_accents: flag(step, "strip_accents", is_lower),
                    is_lower,
                }
            }
            "Lowercase" => Self::Lowercase,
            "NFC" => Self::Nfc,
            "NFD" => Self::Nfd,
            // A precompiled table is that, and some characters more.
            "NFKC" | "Precompiled" | "Nmt" => Self::Nfkc,
            "NFKD" => Self::Nfkd,
            "StripAccents" => Self::StripAccents,
            "Strip" => Self::Strip {
                left: flag(step, "strip_left", true),
                right: flag(step, "strip_right", true),
            },
            "Prepend" => Self::Prepend(text("prepend")),
            "Replace" => Self::Replace(SpellingPattern::parse(&step["pattern"])?, text("content")),
            other => return Err(format!("a tokenizer with the normalizer '{other}'")),
        });
        Ok(())
    }

    pub(super) fn apply(&self, text: &str) -> String {
        match self {
            Self::Bert {
                is_clean,
                has_gaps,
                strips_accents,
                is_lower,
            } => {
                let mut told = String::with_capacity(text.len());
                for c in text.chars() {
                    match c {
                        c if *is_clean && c.is_whitespace() => told.push(' '),
                        '\0' | '\u{fffd}' if *is_clean => {}
                        c if *is_clean && c.is_control() => {}
                        c if *has_gaps && is_ideograph(c) => told.extend([' ', c, ' ']),
                        c => told.push(c),
                    }
                }
                if *strips_accents {
                    told = without_accents(&told);
                }
                if *is_lower { told.to_lowercase() } else { told }
            }
            Self::Lowercase => text.to_lowercase(),
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
            Self::StripAccents => text.chars().filter(|c| !is_combining_mark(*c)).collect(),
            Self::Strip { left, right } => {
                let text = if *left { text.trim_start() } else { text };
                let text = if *right { text.trim_end() } else { text };
                text.to_owned()
            }
            Self::Prepend(before) if text.is_empty() || before.is_empty() => text.to_owned(),
            Self::Prepend(before) => before.clone() + text,
            Self::Replace(pattern, with) => pattern.replaced(text, with),
        }
    }
}

fn without_accents(text: &str) -> String {
    text.nfd().filter(|c| !is_combining_mark(*c)).collect()
}

/// Whether BERT puts gaps around a character.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x2_0000..=0x2_a6df | 0x2_a700..=0x2_ceaf
        | 0xf900..=0xfaff | 0x2_f800..=0x2_fa1f)
}

/// A step by which a text is cut into words.
pub(super) enum Cutting {
    /// At white space; what is no letter stands alone.
    Bert,
    /// Letters together, and what is none.
    Words,
    /// At white space.
    Spaces,
    Punctuation,
    Digits {
        is_each_alone: bool,
    },
    Metaspace {
        mark: String,
        is_always: bool,
        cuts: bool,
    },
    Bytes {
        has_prefix: bool,
        words: Option<Regex>,
    },
    Split {
        pattern: SpellingPattern,
        is_kept: bool,
    },
}

/// Into which words GPT-2 cuts a text, without the look ahead that gives the last of several spaces to what follows.
const GPT2: &str = r"'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";

impl Cutting {
    /// The steps of a `pre_tokenizer`.
    pub(super) fn parse(step: &Value, steps: &mut Vec<Self>) -> Result<(), String> {
        steps.push(match kind(step) {
            "" if step.is_null() => return Ok(()),
            "Sequence" => {
                let inner = step["pretokenizers"].as_array().into_iter().flatten();
                return inner
                    .into_iter()
                    .try_for_each(|step| Self::parse(step, steps));
            }
            "BertPreTokenizer" => Self::Bert,
            "Whitespace" => Self::Words,
            "WhitespaceSplit" => Self::Spaces,
            "Punctuation" => Self::Punctuation,
            "Digits" => Self::Digits {
                is_each_alone: flag(step, "individual_digits", false),
            },
            "Metaspace" => {
                let scheme = step["prepend_scheme"].as_str();
                Self::Metaspace {
                    mark: step["replacement"]
                        .as_str()
                        .unwrap_or("\u{2581}")
                        .to_owned(),
                    is_always: match scheme {
                        Some(scheme) => scheme != "never",
                        None => flag(step, "add_prefix_space", true),
                    },
                    cuts: flag(step, "split", true),
                }
            }
            "ByteLevel" => Self::Bytes {
                has_prefix: flag(step, "add_prefix_space", true),
                words: match flag(step, "use_regex", true) {
                    true => Some(Regex::new(GPT2).map_err(|error| error.to_string())?),
                    false => None,
                },
            },
            "Split" => Self::Split {
                pattern: SpellingPattern::parse(&step["pattern"])?,
                is_kept: match step["behavior"].as_str() {
                    Some("Removed") => false,
                    Some("Isolated") => true,
                    other => {
                        let other = other.unwrap_or_default();
                        return Err(format!("a tokenizer that splits as '{other}'"));
                    }
                },
            },
            other => return Err(format!("a tokenizer with the pre-tokenizer '{other}'")),
        });
        Ok(())
    }

    pub(super) fn apply(&self, word: &str, words: &mut Vec<String>) {
        let mut each = |found: &str| {
            if !found.is_empty() {
                words.push(found.to_owned());
            }
        };
        match self {
            Self::Bert => {
                for spaced in word.split_whitespace() {
                    runs(
                        spaced,
                        |c| {
                            if is_punctuation(c) {
                                CharRun::Alone
                            } else {
                                CharRun::A
                            }
                        },
                        &mut each,
                    );
                }
            }
            Self::Words => {
                let of = |c: char| match c {
                    c if c.is_whitespace() => CharRun::Gap,
                    c if c.is_alphanumeric() || c == '_' || is_combining_mark(c) => CharRun::A,
                    _ => CharRun::B,
                };
                runs(word, of, each);
            }
            Self::Spaces => word.split_whitespace().for_each(each),
            Self::Punctuation => runs(
                word,
                |c| {
                    if is_punctuation(c) {
                        CharRun::Alone
                    } else {
                        CharRun::A
                    }
                },
                each,
            ),
            Self::Digits { is_each_alone } => {
                let of = |c: char| match (c.is_numeric(), is_each_alone) {
                    (true, true) => CharRun::Alone,
                    (true, false) => CharRun::B,
                    (false, _) => CharRun::A,
                };
                runs(word, of, each);
            }
            Self::Metaspace {
                mark,
                is_always,
                cuts,
            } => {
                let marked = word.replace(' ', mark);
                let marked = match *is_always && !marked.starts_with(mark.as_str()) {
                    true => mark.clone() + &marked,
                    false => marked,
                };
                if !cuts || mark.is_empty() {
                    return each(&marked);
                }
                let mut from = 0;
                for (at, _) in marked.match_indices(mark.as_str()) {
                    each(&marked[from..at]);
                    from = at;
                }
                each(&marked[from..]);
            }
            Self::Bytes { has_prefix, words } => {
                let spaced = match *has_prefix && !word.starts_with(' ') {
                    true => Cow::Owned(format!(" {word}")),
                    false => Cow::Borrowed(word),
                };
                let mut spelt = |word: &str| {
                    let word: String = word.bytes().map(byte_char).collect();
                    each(&word);
                };
                match words {
                    Some(words) => words
                        .find_iter(&spaced)
                        .for_each(|found| spelt(found.as_str())),
                    None => spelt(&spaced),
                }
            }
            Self::Split { pattern, is_kept } => {
                let mut from = 0;
                for (at, end) in pattern.places(word) {
                    each(&word[from..at]);
                    if *is_kept {
                        each(&word[at..end]);
                    }
                    from = end;
                }
                each(&word[from..]);
            }
        }
    }
}

/// To what a character belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharRun {
    A,
    B,
    Alone,
    Gap,
}

/// Each run of characters of a kind.
fn runs(text: &str, of: impl Fn(char) -> CharRun, mut each: impl FnMut(&str)) {
    let (mut from, mut before) = (0, CharRun::Gap);
    for (at, c) in text.char_indices() {
        let here = of(c);
        if here != before || here == CharRun::Alone {
            if before != CharRun::Gap {
                each(&text[from..at]);
            }
            from = at;
        }
        before = here;
    }
    if before != CharRun::Gap {
        each(&text[from..]);
    }
}

/// What BERT cuts off: signs of ASCII, and punctuation.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || !c.is_ascii()
            && !c.is_alphanumeric()
            && !c.is_whitespace()
            && !c.is_control()
            && is_sign(c)
}

/// Punctuation beyond ASCII, as far as texts have it.
fn is_sign(c: char) -> bool {
    matches!(u32::from(c), 0xa1 | 0xa7 | 0xab | 0xb6 | 0xb7 | 0xbb | 0xbf | 0x2010..=0x2027 | 0x2030..=0x205e
        | 0x3001..=0x3003 | 0x3008..=0x3011 | 0x3014..=0x301f | 0xff01..=0xff0f | 0xff1a..=0xff20 | 0xff3b..=0xff40
        | 0xff5b..=0xff65)
}

/// The character that stands for a byte where texts are spelt byte by byte.
fn byte_char(byte: u8) -> char {
    let is_own = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    if is_own(byte) {
        return char::from(byte);
    }
    // The others come behind, in their order.
    let before = (0..byte).filter(|before| !is_own(*before)).count();
    u32::try_from(256 + before)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cut(steps: &Value, text: &str) -> Vec<String> {
        let mut parsed = Vec::new();
        Cutting::parse(steps, &mut parsed).expect("known");
        parsed.iter().fold(vec![text.to_owned()], |words, step| {
            let mut next = Vec::new();
            words.iter().for_each(|word| step.apply(word, &mut next));
            next
        })
    }

    #[test]
    fn texts_are_cut_as_their_tokenizer_says() {
        let cut = |kind: &str, text: &str| cut(&json!({ "type": kind }), text);
        assert_eq!(
            cut("BertPreTokenizer", "don't go-on  now."),
            ["don", "'", "t", "go", "-", "on", "now", "."]
        );
        assert_eq!(cut("Whitespace", "a_b != c"), ["a_b", "!=", "c"]);
        assert_eq!(cut("WhitespaceSplit", " a  b!"), ["a", "b!"]);
        assert_eq!(cut("Metaspace", "so it is"), ["▁so", "▁it", "▁is"]);
        assert_eq!(cut("ByteLevel", "so it's é"), ["Ġso", "Ġit", "'s", "ĠÃ©"]);
    }

    #[test]
    fn texts_are_spelt_as_their_tokenizer_says() {
        let spelt = |step: &Value, text: &str| {
            let mut steps = Vec::new();
            Respelling::parse(step, &mut steps).expect("known");
            steps
                .iter()
                .fold(text.to_owned(), |text, step| step.apply(&text))
        };
        let bert = json!({ "type": "BertNormalizer", "lowercase": true });
        assert_eq!(spelt(&bert, "Crème\tBrûlée 東\u{7}"), "creme brulee  東 ");
        let llama = json!({ "type": "Sequence", "normalizers": [
            { "type": "Prepend", "prepend": "▁" },
            { "type": "Replace", "pattern": { "String": " " }, "content": "▁" },
        ] });
        assert_eq!(spelt(&llama, "a b"), "▁a▁b");
        let unknown = Respelling::parse(&json!({ "type": "Rot13" }), &mut Vec::new());
        assert!(unknown.is_err());
    }
}
