//! How well a message answers a ranked search, and the lines of it that say so.
//!
//! The index has named it by its words alone. Here it is read: phrases must stand in it, and what must not be
//! there may not; the more of the words it has, and the nearer they stand, the better, and what somebody
//! said is worth more than what a tool gave. Deliberately absent: the index, and where a message stands.

use std::collections::HashSet;
use std::ops::Range;

use crate::model::pattern::MatchedLine;
use crate::model::query::{Query, Term};
use crate::model::searched::{Passage, searched};
use crate::model::terms::{Cutter, stem};
use crate::model::word_weights::{SAID, factor};
use crate::model::{Message, Part};

/// How much of a score is for having all of the words, and how much more one is worth whose words stand
/// together.
const ALL_WORDS: f32 = 0.6;
const TOGETHER: f32 = 0.5;
/// What a message is worth beside others by what of it answers: said, thought, given to a tool, given by one.
const WORTH: [f32; 4] = [1.0, 0.8, 0.75, 0.7];
/// The same of calls that edit files, and of what is only asked.
const EDITS: f32 = 0.9;
const ASKED: f32 = 0.5;
/// From one passage to the next is as far as so many words.
const GAP: usize = 100;

/// What a ranked search looks for in messages.
pub(super) struct Looking<'q> {
    query: &'q Query,
    /// All words that matter, the wanted ones first, in their order.
    terms: Vec<&'q Term>,
    /// The bytes with which one of them begins: a stem begins as its word does.
    begins: [bool; 256],
    /// How rare each wanted word is.
    rarity: Vec<f32>,
    /// How many lines are told.
    lines: usize,
}

/// What was found in a message.
pub(super) struct Looked {
    pub(super) score: f32,
    /// The lines that answer best, in their order.
    pub(super) lines: Vec<MatchedLine>,
    /// The parts with a wanted word.
    pub(super) parts: HashSet<usize>,
    /// Whether one of them is what somebody said.
    pub(super) is_said: bool,
    /// Whether all of them are, and ask.
    pub(super) is_question: bool,
}

/// A word where it stands.
struct Place {
    term: usize,
    /// How many words stand before it.
    place: usize,
    passage: usize,
    at: Range<usize>,
}

impl<'q> Looking<'q> {
    pub(super) fn new(query: &'q Query, rarity: Vec<f32>, lines: usize) -> Self {
        let mut terms: Vec<&Term> = query.wanted.iter().map(|one| &one.term).collect();
        for term in query.phrases.iter().chain(&query.without).flatten() {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        let mut begins = [false; 256];
        for term in &terms {
            begins[usize::from(term.text.bytes().next().unwrap_or_default())] = true;
        }
        Self {
            query,
            terms,
            begins,
            rarity,
            lines,
        }
    }

    /// Whether a message has all phrases in it, and nothing that must not be there.
    pub(super) fn passes(&self, message: &Message) -> bool {
        if self.query.phrases.is_empty() && self.query.without.is_empty() {
            return true;
        }
        let (places, _) = self.places(message, &searched(message));
        let has = |row: &Vec<Term>| self.stands(row, &places);
        self.query.phrases.iter().all(has) && !self.query.without.iter().any(has)
    }

    /// What of a message answers; none where it does not.
    pub(super) fn at(&self, message: &Message) -> Option<Looked> {
        let passages = searched(message);
        let (places, words) = self.places(message, &passages);
        let has = |row: &Vec<Term>| self.stands(row, &places);
        if !self.query.phrases.iter().all(has) || self.query.without.iter().any(has) {
            return None;
        }
        let wanted = self.query.wanted.len();
        let mut times = vec![0.0; wanted];
        let mut worth = 0.0_f32;
        let (mut is_said, mut is_question) = (false, true);
        let mut parts = HashSet::new();
        for one in places.iter().filter(|one| one.term < wanted) {
            let passage = &passages[one.passage];
            let kind = kind(message, passage);
            times[one.term] += if kind == 0 { SAID as f32 } else { 1.0 };
            let asks = kind == 0 && is_asked(&passage.text, one.at.end);
            is_said |= kind == 0;
            is_question &= asks;
            worth = worth.max(match kind {
                0 if asks => ASKED,
                2 if edits(message, passage.part) => EDITS,
                kind => WORTH[kind],
            });
            parts.insert(passage.part);
        }
        let (mut score, mut here, mut all) = (0.0, 0.0, 0.0);
        for (at, one) in self.query.wanted.iter().enumerate() {
            let most = one.weight * self.rarity.get(at).copied().unwrap_or_default();
            all += most;
            if times[at] > 0.0 {
                here += most;
                score += most * factor(times[at], words as f32);
            }
        }
        if parts.is_empty() {
            return None;
        }
        let share = if all > 0.0 { here / all } else { 1.0 };
        score *= 1.0 - ALL_WORDS + ALL_WORDS * share;
        score *= 1.0 + TOGETHER * self.together(&places) * share;
        Some(Looked {
            score: score * worth,
            lines: self
                .best_lines(&passages, &places)
                .into_iter()
                .map(|line| line.in_brief(message))
                .collect(),
            parts,
            is_said,
            is_question,
        })
    }

    /// Where the words stand, and how many words the message has, by their weight.
    fn places(&self, message: &Message, passages: &[Passage<'_>]) -> (Vec<Place>, u32) {
        let (mut places, mut cutter) = (Vec::new(), Cutter::default());
        let (mut place, mut words) = (0, 0);
        for (passage, said) in passages.iter().enumerate() {
            let weight = if kind(message, said) == 0 { SAID } else { 1 };
            cutter.each(&said.text, |piece| {
                if !piece.is_whole {
                    place += 1;
                    words += weight;
                }
                let first = piece.folded.bytes().next().unwrap_or_default();
                if !self.begins[usize::from(first)] {
                    return;
                }
                let stem = stem(piece.folded);
                for (term, one) in self.terms.iter().enumerate() {
                    if one.is(piece.folded, &stem) {
                        places.push(Place {
                            term,
                            place,
                            passage,
                            at: piece.at.clone(),
                        });
                    }
                }
            });
            place += GAP;
        }
        (places, words)
    }

    /// Whether words stand somewhere one behind the other.
    fn stands(&self, row: &[Term], places: &[Place]) -> bool {
        let of = |term: &Term| {
            let at = self.terms.iter().position(|one| *one == term);
            let places = places.iter().filter(move |one| Some(one.term) == at);
            places.map(|one| one.place)
        };
        let Some((first, rest)) = row.split_first() else {
            return false;
        };
        let rest: Vec<HashSet<usize>> = rest.iter().map(|term| of(term).collect()).collect();
        let follows = |from: usize| {
            let mut rest = rest.iter().enumerate();
            rest.all(|(at, places)| places.contains(&(from + at + 1)))
        };
        of(first).any(follows)
    }

    /// How near the wanted words stand, as far as they are here: 1 where they stand side by side.
    fn together(&self, places: &[Place]) -> f32 {
        // Parts of identifiers stand together anyway.
        let is_own = |one: &&Place| {
            let wanted = self.query.wanted.get(one.term);
            wanted.is_some_and(|wanted| wanted.weight >= 1.0)
        };
        let places: Vec<&Place> = places.iter().filter(is_own).collect();
        let mut counts = vec![0_usize; self.query.wanted.len()];
        let kinds: HashSet<usize> = places.iter().map(|one| one.term).collect();
        if kinds.len() < 2 {
            return 0.0;
        }
        let (mut from, mut here, mut nearest) = (0, 0, usize::MAX);
        for one in &places {
            counts[one.term] += 1;
            here += usize::from(counts[one.term] == 1);
            while here == kinds.len() {
                nearest = nearest.min(one.place - places[from].place + 1);
                let first = &mut counts[places[from].term];
                *first -= 1;
                here -= usize::from(*first == 0);
                from += 1;
            }
        }
        kinds.len() as f32 / nearest.max(kinds.len()) as f32
    }

    /// The lines with the most and the rarest of the wanted words.
    fn best_lines(&self, passages: &[Passage<'_>], places: &[Place]) -> Vec<MatchedLine> {
        let wanted = self.query.wanted.len();
        let mut lines: Vec<(f32, usize, usize, MatchedLine)> = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        for one in places.iter().filter(|one| one.term < wanted) {
            let passage = &passages[one.passage];
            let start = passage.text[..one.at.start]
                .rfind('\n')
                .map_or(0, |at| at + 1);
            let found = one.at.start - start..one.at.end - start;
            let is_new = !matches!(lines.last(), Some((_, at, begin, _)) if (*at, *begin) == (one.passage, start));
            if is_new {
                let rest = &passage.text[start..];
                let text = &rest[..rest.find('\n').unwrap_or(rest.len())];
                let line = MatchedLine {
                    part: passage.part,
                    text: text.strip_suffix('\r').unwrap_or(text).to_owned(),
                    matches: Vec::new(),
                };
                seen.clear();
                lines.push((0.0, one.passage, start, line));
            }
            let Some((score, _, _, line)) = lines.last_mut() else {
                continue;
            };
            if seen.insert(one.term) {
                let weight = self.query.wanted[one.term].weight;
                *score += weight * self.rarity.get(one.term).copied().unwrap_or_default();
            }
            // The whole of an identifier and its parts are one match.
            match line.matches.last_mut() {
                Some(last) if found.start < last.end => last.end = last.end.max(found.end),
                _ => line.matches.push(found),
            }
        }
        if self.lines > 0 && lines.len() > self.lines {
            lines.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
            lines.truncate(self.lines);
            lines.sort_by_key(|(_, passage, start, _)| (*passage, *start));
        }
        lines.into_iter().map(|(.., line)| line).collect()
    }
}

/// Whether the sentence in which a word ends at `at` is a question.
fn is_asked(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let end = rest.char_indices().find(|(at, c)| match c {
        // As in `a.rs`.
        '.' => !rest[at + 1..].starts_with(char::is_alphanumeric),
        c => matches!(c, '?' | '？' | '؟' | '!' | '。' | '\n'),
    });
    end.is_some_and(|(_, c)| matches!(c, '?' | '？' | '؟'))
}

/// What the names of tools that edit files have in them.
const EDITING: [&str; 5] = ["edit", "write", "patch", "replace", "create"];

/// Whether a part is a call that edits a file.
fn edits(message: &Message, part: usize) -> bool {
    let Part::ToolCall { name, .. } = &message.parts[part] else {
        return false;
    };
    let name = name.to_lowercase();
    EDITING.iter().any(|it| name.contains(it))
}

/// What a passage is, by its place in [`WORTH`].
fn kind(message: &Message, passage: &Passage<'_>) -> usize {
    match message.parts[passage.part] {
        Part::Text { .. } => 0,
        Part::Thinking { .. } => 1,
        Part::ToolCall { .. } => 2,
        _ => 3,
    }
}
