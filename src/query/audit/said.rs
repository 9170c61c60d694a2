//! What is still said: the text of all visible messages, and whether a fact stands in it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use memchr::memmem;

use super::held::FoundFact;
use super::{FactClass, folded};
use crate::model::Message;
use crate::model::searched::searched;

/// How many words a phrase has by which longer texts are told in other words.
const PHRASE: usize = 3;
/// How many tenths of a text's phrases say it.
const TENTHS: usize = 6;

/// All that is said, as it is looked into.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// In small letters, with single spaces; a line break between messages.
    text: String,
    phrases: HashSet<u64>,
}

impl Said {
    /// What these messages say: their texts, calls and results.
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut said = Self::default();
        for message in messages {
            for passage in searched(message) {
                said.add(&passage.text);
            }
        }
        said
    }

    /// Somebody says this, too.
    pub fn add(&mut self, text: &str) {
        let text = folded(text);
        self.phrases.extend(phrases(&text));
        self.text.push('\n');
        self.text += &text;
    }

    /// Whether a fact is said word for word, or by another of its names.
    pub fn repeats(&self, found: &FoundFact) -> bool {
        let mut names = std::iter::once(&found.fact.text).chain(&found.names);
        names.any(|name| self.has(name))
    }

    /// Whether a fact is said.
    pub(super) fn says(&self, found: &FoundFact) -> bool {
        let is_told = match found.fact.class {
            FactClass::Instruction | FactClass::Task | FactClass::Error => {
                self.tells(&found.fact.text)
            }
            _ => false,
        };
        is_told || self.repeats(found)
    }

    /// Whether these words stand in it, as words.
    pub fn has(&self, words: &str) -> bool {
        let words = folded(words);
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let opens = is_word(words.chars().next());
        let closes = is_word(words.chars().next_back());
        !words.is_empty()
            && memmem::find_iter(self.text.as_bytes(), &words).any(|at| {
                let before = self.text[..at].chars().next_back();
                let after = self.text[at + words.len()..].chars().next();
                !(opens && is_word(before) || closes && is_word(after))
            })
    }

    /// Whether most of its phrases stand in it.
    fn tells(&self, text: &str) -> bool {
        let phrases: HashSet<u64> = phrases(&folded(text)).collect();
        let told = phrases
            .iter()
            .filter(|phrase| self.phrases.contains(phrase));
        !phrases.is_empty() && told.count() * 10 >= phrases.len() * TENTHS
    }
}

/// The phrases of a text that is folded.
fn phrases(text: &str) -> impl Iterator<Item = u64> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let hashed = |words: &[&str]| {
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        hasher.finish()
    };
    words
        .windows(PHRASE)
        .map(hashed)
        .collect::<Vec<_>>()
        .into_iter()
}
