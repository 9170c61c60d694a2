//! What a ranked search asks for: words, beginnings of words, phrases, and what must not be there.
//!
//! `website redesign` asks for both words, in any order and any form; the more of them a message has,
//! the better. `"redesign proposals"` must stand in it like that, `pars*` is any word that begins so,
//! `-draft` must not be there, nor may `-"first draft"`. Nothing else is special.

use crate::error::{Error, Result};
use crate::model::terms::{Cutter, is_common, stem};

/// How many different words a query may ask for; more tell nothing.
const MOST_WORDS: usize = 32;
/// What the parts of an identifier are worth beside the whole of it.
const PART_WEIGHT: f32 = 0.4;

/// A word to look for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Its stem, or its beginning.
    pub text: String,
    /// Whether any word that begins so is meant.
    pub is_prefix: bool,
}

impl Term {
    /// Whether a folded word with this stem is one that is looked for.
    pub fn is(&self, folded: &str, stem: &str) -> bool {
        if self.is_prefix {
            folded.starts_with(&self.text)
        } else {
            stem == self.text
        }
    }
}

/// A word that makes a message better, the rarer the word.
#[derive(Clone, Debug, PartialEq)]
pub struct SoughtTerm {
    /// The word.
    pub term: Term,
    /// What it is worth beside the others.
    pub weight: f32,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// One of these must be there; those of phrases are among them.
    pub wanted: Vec<SoughtTerm>,
    /// Each of these must stand in a message, word behind word.
    pub phrases: Vec<Vec<Term>>,
    /// None of these may.
    pub without: Vec<Vec<Term>>,
}

impl Query {
    /// Reads what somebody typed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where nothing is left to look for: no word, only such as stand in
    /// nearly every text, or only what must not be there.
    pub fn parse(text: &str) -> Result<Self> {
        let mut query = Self::default();
        let (mut rest, mut is_common_alone) = (text.trim_start(), false);
        while !rest.is_empty() {
            let is_without = rest.starts_with('-')
                && rest[1..].starts_with(|c: char| c == '"' || c.is_alphanumeric());
            rest = if is_without { &rest[1..] } else { rest };
            let said = if let Some(quoted) = rest.strip_prefix('"') {
                let end = quoted.find('"').unwrap_or(quoted.len());
                rest = quoted.get(end + 1..).unwrap_or_default();
                let terms = in_row(&quoted[..end], false);
                if !is_without && !terms.is_empty() {
                    query.phrases.push(terms.clone());
                }
                terms
            } else {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                rest = after;
                let terms = in_row(word.trim_end_matches('*'), word.ends_with('*'));
                if !is_without {
                    is_common_alone |= query.ask(word);
                    rest = rest.trim_start();
                    continue;
                }
                terms
            };
            rest = rest.trim_start();
            if is_without {
                query.without.push(said);
            } else {
                for term in said {
                    is_common_alone |= is_common(&term.text);
                    query.add(term, 1.0);
                }
            }
        }
        query.without.retain(|terms| !terms.is_empty());
        if query.wanted.is_empty() {
            let has_letters = text.contains(char::is_alphanumeric);
            let reason = match (is_common_alone, query.without.is_empty()) {
                (true, _) => "such words stand in nearly every message",
                (false, false) => "it says only what must not be there",
                (false, true) if has_letters => "a word has two letters or more",
                (false, true) => "there is no word in it",
            };
            return Err(Error::input("the words to find", reason));
        }
        Ok(query)
    }

    /// Takes in what stands between two spaces. Whether something of it was too common.
    fn ask(&mut self, word: &str) -> bool {
        let (word, is_prefix) = match word.trim_end_matches('*') {
            shorter if shorter.len() < word.len() => (shorter, true),
            word => (word, false),
        };
        let mut asked: Vec<(Term, bool)> = Vec::new();
        let mut too_common = false;
        Cutter::default().each(word, |piece| {
            if is_common(piece.folded) {
                too_common = true;
                return;
            }
            let text = stem(piece.folded).into_owned();
            let is_prefix = false;
            asked.push((Term { text, is_prefix }, piece.is_whole));
        });
        if is_prefix {
            // The last word is the one that may go on; letter by letter, for a stem is another beginning.
            let mut last = None;
            Cutter::default().each(word, |piece| {
                last = (!piece.is_whole).then(|| piece.folded.to_owned());
            });
            asked.pop();
            asked.extend(last.map(|text| {
                let is_prefix = true;
                (Term { text, is_prefix }, false)
            }));
        }
        let has_whole = asked.iter().any(|(_, is_whole)| *is_whole);
        for (term, is_whole) in asked {
            let is_part = has_whole && !is_whole;
            self.add(term, if is_part { PART_WEIGHT } else { 1.0 });
        }
        too_common
    }

    fn add(&mut self, term: Term, weight: f32) {
        if is_common(&term.text) {
            return;
        }
        let same = self.wanted.iter().position(|one| one.term == term);
        if let Some(at) = same {
            self.wanted[at].weight = self.wanted[at].weight.max(weight);
        } else if self.wanted.len() < MOST_WORDS {
            self.wanted.push(SoughtTerm { term, weight });
        }
    }
}

/// The words of a text, one behind the other: identifiers by their parts.
fn in_row(text: &str, is_prefix: bool) -> Vec<Term> {
    let mut terms = Vec::new();
    Cutter::default().each(text, |piece| {
        if !piece.is_whole {
            terms.push((piece.folded.to_owned(), stem(piece.folded).into_owned()));
        }
    });
    let last = terms.len();
    let term = |(at, (folded, stem)): (usize, (String, String))| {
        let is_prefix = is_prefix && at + 1 == last;
        let text = if is_prefix { folded } else { stem };
        Term { text, is_prefix }
    };
    terms.into_iter().enumerate().map(term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let term = |term: &Term| format!("{}{}", term.text, if term.is_prefix { "*" } else { "" });
        let row = |row: &Vec<Term>| row.iter().map(term).collect::<Vec<_>>().join(" ");
        let query = match Query::parse(text) {
            Ok(query) => query,
            Err(error) => return error.to_string(),
        };
        let wanted: Vec<String> = query.wanted.iter().map(|one| term(&one.term)).collect();
        let mut said = wanted.join(" ");
        for phrase in &query.phrases {
            said += &format!(" \"{}\"", row(phrase));
        }
        for without in &query.without {
            said += &format!(" -\"{}\"", row(without));
        }
        said
    }

    #[test]
    fn words_phrases_beginnings_and_what_must_not_be_there() {
        assert_eq!(
            said("the website proposals, redesign"),
            "websit propos redesign"
        );
        assert_eq!(
            said("\"redesign of the proposals\""),
            "redesign propos \"redesign of the propos\""
        );
        assert_eq!(said("propos* running*"), "propos* running*");
        assert_eq!(
            said("files -draft -\"first drafts\""),
            "file -\"draft\" -\"first draft\""
        );
        assert_eq!(said("parseConfig"), "parseconfig pars config");
        assert_eq!(said("parse_conf*"), "parseconf pars conf*");
        assert_eq!(said("--force - a"), "forc");
        assert_eq!(said("東京都"), "東京 京都");
        assert_eq!(
            said("\"unfinished business"),
            "unfinish busi \"unfinish busi\""
        );
    }

    #[test]
    fn what_asks_for_nothing_is_refused() {
        assert_eq!(said(""), "the words to find: there is no word in it");
        assert_eq!(
            said("- * \"\""),
            "the words to find: there is no word in it"
        );
        assert_eq!(
            said("-draft"),
            "the words to find: it says only what must not be there"
        );
        assert_eq!(
            said("what is this"),
            "the words to find: such words stand in nearly every message"
        );
    }
}
