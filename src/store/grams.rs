//! A text as terms for the index: overlapping pieces of three characters, two within Chinese,
//! Japanese and Korean text, where words are that short and no space parts them.
//!
//! A term depends on the characters of its piece alone, so the terms of a text hold those of
//! everything inside it. Deliberately absent: SQL.

use crate::model::Message;
use crate::model::searched::{Literals, fold, searched};
use crate::model::terms::is_cjk;

/// How many different terms there are: 4 letters of 32. Two pieces that share a term cost a look at
/// a body, no more.
const TERMS: usize = 1 << 20;
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// The most terms that one query names. The more, the fewer bodies are read in vain; SQLite's own
/// limit is an expression 256 levels deep.
const QUERY_TERMS: usize = 64;

/// Collects the terms of texts, each of them once.
struct Grams {
    seen: Vec<u64>,
    terms: Vec<u32>,
}

impl Grams {
    fn new() -> Self {
        Self {
            seen: vec![0; TERMS / 64],
            terms: Vec::new(),
        }
    }

    /// Adds those of `text`.
    fn add(&mut self, text: &str) {
        each_term(text, |term| {
            let (word, bit) = (&mut self.seen[term as usize / 64], 1 << (term % 64));
            if *word & bit == 0 {
                *word |= bit;
                self.terms.push(term);
            }
        });
    }

    /// The terms in the order of their first use; none are left.
    fn take(&mut self) -> Vec<u32> {
        for term in &self.terms {
            self.seen[*term as usize / 64] = 0;
        }
        std::mem::take(&mut self.terms)
    }
}

/// Terms as words on a line.
fn line(terms: &[u32]) -> String {
    let mut line = String::with_capacity(terms.len() * 5);
    for term in terms {
        spell(*term, &mut line);
        line.push(' ');
    }
    line
}

/// The terms of one content, summed up so that two sets of them can be compared: how many, and a sum
/// that depends on each of them and not on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TermSum {
    terms: u32,
    sum: u64,
}

impl TermSum {
    pub(super) fn add(&mut self, term: &[u8]) {
        self.terms += 1;
        self.sum = self.sum.wrapping_add(fnv(term.iter().copied()));
    }
}

/// What the index should know of messages.
pub(super) struct Terms(Grams);

impl Terms {
    pub(super) fn new() -> Self {
        Self(Grams::new())
    }

    /// The terms of a message.
    pub(super) fn numbers(&mut self, message: &Message) -> Vec<u32> {
        for passage in searched(message) {
            self.0.add(&passage.text);
        }
        self.0.take()
    }

    /// The same as words on a line.
    pub(super) fn line(&mut self, message: &Message) -> String {
        line(&self.numbers(message))
    }

    pub(super) fn of(&mut self, message: &Message) -> TermSum {
        let mut sum = TermSum::default();
        for term in self.line(message).split_ascii_whitespace() {
            sum.add(term.as_bytes());
        }
        sum
    }
}

/// Calls `found` with every term of `text`, repeats included. No piece reaches over white space or
/// ASCII punctuation: that would be more than half of all terms, for little.
fn each_term(text: &str, mut found: impl FnMut(u32)) {
    let (mut two_back, mut one_back) = (None, None);
    for c in text.chars() {
        if c != '_' && (c.is_ascii_punctuation() || c.is_whitespace() || c.is_control()) {
            (two_back, one_back) = (None, None);
            continue;
        }
        let (c, wide) = (fold(c), is_cjk(c));
        if let Some((before, before_wide)) = one_back {
            if wide && before_wide {
                found(term([before, c]));
            }
            if let Some((first, first_wide)) = two_back
                && !(wide && before_wide && first_wide)
            {
                found(term([first, before, c]));
            }
        }
        (two_back, one_back) = (one_back, Some((c, wide)));
    }
}

/// # Source
///
/// FNV-1a in 64 bits, <https://datatracker.ietf.org/doc/html/rfc9923>.
fn fnv(units: impl IntoIterator<Item: Into<u64>>) -> u64 {
    let step = |hash: u64, unit: u64| (hash ^ unit).wrapping_mul(0x0000_0100_0000_01b3);
    let units = units.into_iter().map(Into::into);
    units.fold(0xcbf2_9ce4_8422_2325, step)
}

/// The number of a piece, made of whole characters. It stands in the index: whoever changes it, or
/// [`fold`], gives the format another number.
fn term<const N: usize>(piece: [char; N]) -> u32 {
    let hash = fnv(piece);
    (hash ^ (hash >> 40)) as u32 % TERMS as u32
}

pub(super) fn spell(term: u32, out: &mut String) {
    for shift in [15, 10, 5, 0] {
        out.push(char::from(LETTERS[(term >> shift) as usize % 32]));
    }
}

/// What a content that may match has in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// This term.
    Term(u32),
    /// Each of these.
    All(Vec<Self>),
    /// One of these.
    Any(Vec<Self>),
}

impl Wanted {
    /// How many terms are named.
    fn terms(&self) -> usize {
        match self {
            Self::Term(_) => 1,
            Self::All(several) | Self::Any(several) => several.iter().map(Self::terms).sum(),
        }
    }
}

/// What contents that may hold `literals` have in the index; none where the index cannot tell.
pub(super) fn wanted(literals: &Literals) -> Option<Wanted> {
    match literals {
        Literals::Anything => None,
        Literals::Text(text) => all_terms(text),
        Literals::All(all) => {
            let mut room = QUERY_TERMS;
            let known = all.iter().filter_map(wanted).filter(|one| {
                let fits = one.terms() <= room;
                room -= if fits { one.terms() } else { 0 };
                fits
            });
            join(known.collect(), Wanted::All)
        }
        Literals::Any(any) => {
            let known: Option<Vec<Wanted>> = any.iter().map(wanted).collect();
            join(known?, Wanted::Any).filter(|one| one.terms() <= QUERY_TERMS)
        }
    }
}

fn join(mut several: Vec<Wanted>, by: fn(Vec<Wanted>) -> Wanted) -> Option<Wanted> {
    match several.len() {
        0 | 1 => several.pop(),
        _ => Some(by(several)),
    }
}

/// A long text is asked for by some of its terms, taken evenly.
fn all_terms(text: &str) -> Option<Wanted> {
    let mut terms = Vec::new();
    each_term(text, |term| terms.push(term));
    terms.sort_unstable();
    terms.dedup();
    let step = terms.len().div_ceil(QUERY_TERMS / 2).max(1);
    let some = terms.into_iter().step_by(step).map(Wanted::Term);
    join(some.collect(), Wanted::All)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str) -> Vec<u32> {
        let mut terms = Vec::new();
        each_term(text, |term| terms.push(term));
        terms
    }

    #[test]
    fn terms_stay_what_they_are() {
        let mut grams = Grams::new();
        grams.add("Parse parse 東京");
        assert_eq!(line(&grams.take()), "c5gc pysz 4i7w lzvg ");
        assert!(grams.take().is_empty(), "what was taken is gone");
    }

    #[test]
    fn no_term_reaches_over_what_parts_words() {
        assert_eq!(terms("ab cd\nfn(x)->y; foo_b"), terms("foo_b"));
        assert_eq!(terms("foo_b").len(), 3);
    }

    #[test]
    fn words_of_two_ideographs_are_terms() {
        assert_eq!(terms("東京"), [term(['東', '京'])]);
        assert!(terms("私は東京へ行く").contains(&term(['東', '京'])));
        assert!(terms("ab").is_empty());
        assert!(terms("a東").is_empty());
        assert_eq!(wanted(&Literals::Text("ab".to_owned())), None);
    }

    #[test]
    fn a_query_stays_small() {
        let long = Literals::Text(
            ('a'..='z')
                .cycle()
                .take(9)
                .chain("x1y2z3".chars())
                .collect(),
        );
        let long = Literals::All(vec![long; 500]);
        let deep = (0..240).fold(long.clone(), |inner, _| {
            Literals::All(vec![
                inner,
                Literals::Any(vec![Literals::Text("abc".to_owned())]),
            ])
        });
        for literals in [long, deep] {
            assert!(wanted(&literals).expect("terms").terms() <= QUERY_TERMS);
        }
        let wide = Literals::Any(vec![Literals::Text("abc".to_owned()); 500]);
        assert_eq!(wanted(&wide), None);
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        /// What is inside a text, in whatever case, has no term that the text lacks.
        #[test]
        fn the_terms_of_a_part_are_terms_of_the_whole(
            before in any::<String>(),
            inside in "[a-cA-C東京タワー가나ſßẞKΣς ]{0,8}",
            after in any::<String>(),
        ) {
            let whole = terms(&format!("{before}{inside}{after}"));
            for part in [inside.clone(), inside.to_lowercase()] {
                if part.chars().map(fold).eq(inside.chars().map(fold)) {
                    prop_assert!(terms(&part).iter().all(|term| whole.contains(term)));
                }
            }
        }
    }
}
