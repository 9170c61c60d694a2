//! Names and ids in the letters that providers allow.

use std::borrow::Cow;

use super::{Repair, Repairs};
use crate::hash::{fingerprint, hex};

/// `text` with every character that is no ASCII letter, digit, `_` or `-` made `_`, cut at
/// `max_chars`; `otherwise` if it is empty.
pub fn plain(text: &str, max_chars: usize, otherwise: &str) -> String {
    if text.is_empty() {
        return otherwise.to_owned();
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars()
        .take(max_chars)
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

/// Which names of tools a provider takes.
#[derive(Clone, Copy, Debug)]
pub struct ToolNames {
    max_chars: usize,
    /// What may stand in one beside ASCII letters and digits.
    marks: &'static str,
    /// Whether the first character is a letter or `_`.
    begins_as_a_word: bool,
}

impl ToolNames {
    /// OpenAI's, in both of its forms.
    pub const OPENAI: Self = Self {
        max_chars: 64,
        marks: "_-",
        begins_as_a_word: false,
    };
    /// Anthropic's.
    pub const ANTHROPIC: Self = Self {
        max_chars: 128,
        ..Self::OPENAI
    };
    /// Gemini's.
    pub const GEMINI: Self = Self {
        max_chars: 128,
        marks: "_.:-",
        begins_as_a_word: true,
    };

    /// Whether a name is taken as it is.
    pub fn takes(&self, name: &str) -> bool {
        let allowed = |c: char| c.is_ascii_alphanumeric() || self.marks.contains(c);
        !name.is_empty()
            && name.chars().count() <= self.max_chars
            && name.chars().all(allowed)
            && (!self.begins_as_a_word || begins_as_a_word(name))
    }

    /// The name that is sent: the tool's own or, where it is refused, one that every provider takes. It depends on nothing but
    /// the name, so that a call, its result and the tool's definition have the same one; two names never become one.
    pub fn sent<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.takes(name) {
            Cow::Borrowed(name)
        } else {
            Cow::Owned(other_name(name))
        }
    }

    /// The name that is sent for a tool in the message so numbered. A change is told to `repairs`.
    pub fn of_call<'a>(&self, name: &'a str, number: usize, repairs: &mut Repairs) -> Cow<'a, str> {
        let sent = self.sent(name);
        if sent != name {
            repairs.add(Repair::ToolName, number);
        }
        sent
    }
}

fn begins_as_a_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// How many digits of a name's fingerprint tell it from others that look alike.
const MARK_CHARS: usize = 8;

/// A name that every provider takes: the letters of the refused one, and digits of its fingerprint.
fn other_name(name: &str) -> String {
    let max_chars = ToolNames::OPENAI.max_chars - MARK_CHARS - 1;
    let words = plain(name, max_chars, "tool");
    let front = if begins_as_a_word(&words) { "" } else { "_" };
    let words: String = front.chars().chain(words.chars()).take(max_chars).collect();
    let mark = hex(&fingerprint(name.as_bytes()));
    format!("{words}_{}", &mark[..MARK_CHARS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_name_becomes_one_that_everybody_takes_and_no_other_does() {
        let long = "n".repeat(200);
        let names = [
            "",
            "tool",
            "a.b",
            "a:b",
            "a b",
            "a_b",
            "9to",
            "-x",
            "_9to",
            "ü",
            "é",
            &long,
            &long[1..],
            "mcp__a__b",
        ];
        for rule in [ToolNames::OPENAI, ToolNames::ANTHROPIC, ToolNames::GEMINI] {
            let mut sent: Vec<_> = names.iter().map(|name| rule.sent(name)).collect();
            for (name, sent) in names.iter().zip(&sent) {
                let everybody = [ToolNames::OPENAI, ToolNames::ANTHROPIC, ToolNames::GEMINI];
                assert!(
                    sent == name || everybody.iter().all(|rule| rule.takes(sent)),
                    "{sent}"
                );
                assert_eq!(rule.sent(sent), *sent);
            }
            sent.sort();
            sent.dedup();
            assert_eq!(sent.len(), names.len());
        }
        assert_eq!(
            ToolNames::ANTHROPIC.sent("weather.now"),
            "weather_now_700b5356"
        );
        assert_eq!(ToolNames::GEMINI.sent("weather.now"), "weather.now");
    }
}
