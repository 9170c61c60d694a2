//! Which of the messages that a summary stands for its lines were made from, as far as their words tell.
//!
//! A line is held against each hidden message by the words that both have, the rare ones most. Deliberately absent: any
//! understanding; a line in other words is from nowhere.

use std::collections::{HashMap, HashSet};

use super::{BlameStep, Blamer};
use crate::context::OrderEntry;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::terms::{Cutter, is_common, stem};
use crate::model::word_weights::{factor_of, hash, weighed};
use crate::model::{EntryId, Message, Operation, Part};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::View;

/// How many bodies are read at once.
const TOGETHER: usize = 64;
/// What part of a line's words a message must have, by what they are worth, to be where it came from.
const SHARE: f32 = 0.4;
/// Of messages with nearly as many of the words, the one counts in which they weigh most: a file that was read whole has every
/// word of it.
const NEARLY: f32 = 0.8;
/// A line of fewer words says too little.
const WORDS: usize = 2;

/// A line of a summary, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedLine {
    /// The line. Hostile until escaped.
    pub text: String,
    /// Where its words stand; none: in no hidden message, or it has too few.
    pub from: Option<LineSource>,
}

/// A hidden message with the words of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSource {
    /// The message.
    pub entry: EntryId,
    /// One line of it. Hostile until escaped.
    pub preview: String,
    /// What part of the line's words it has, by what they are worth: up to 1.
    pub share: f32,
}

/// The words of a text, each once.
type Hashes = HashSet<u64>;

/// The words of a message that any line has, and what each is worth in it.
type Levels = HashMap<u64, f32>;

impl Repo {
    /// The lines of the summary `entry` on the path to `tip`, each with the message from which it came, of those that
    /// the summary stands for. Reads the bodies of all these.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] if `entry` is no message there, and the store's; nothing where it stands for none.
    pub fn derived_lines(&self, tip: &CommitHash, entry: &EntryId) -> Result<Vec<DerivedLine>> {
        let rows = self.blame(tip, Some(entry))?;
        let steps = rows.iter().flat_map(|row| &row.steps);
        let by = steps.into_iter().find_map(|step| match step {
            BlameStep::StandsFor { by, .. } => Some(*by),
            _ => None,
        });
        let view = self.store.read()?;
        let view = &*view;
        let text = text_at(view, tip, entry)?;
        let Some(by) = by.filter(|_| !text.is_empty()) else {
            return Ok(Vec::new());
        };
        let row = load::commit(view, &by)?;
        let (Operation::Hide(hide), Some(parent)) = (&row.commit.operation, row.commit.parent)
        else {
            return Ok(Vec::new());
        };
        let covered = Blamer::new(view).covered(hide, &parent)?;
        let hidden: Vec<OrderEntry> = covered.into_iter().filter(|one| one.visible).collect();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let words: Vec<Hashes> = lines.iter().map(|line| words_of(line)).collect();
        let wanted: Hashes = words.iter().flatten().copied().collect();
        let mut has: Vec<Levels> = Vec::with_capacity(hidden.len());
        for some in hidden.chunks(TOGETHER) {
            let contents: Vec<_> = some.iter().map(|one| one.content).collect();
            for message in load::contents(view, &contents)? {
                has.push(levels(&message, &wanted));
            }
        }
        let worth = worth(&has);
        let mut derived = Vec::with_capacity(lines.len());
        for (line, words) in lines.into_iter().zip(words) {
            let from = match nearest(&words, &has, &worth) {
                Some((at, share)) => {
                    let said = load::told_rows(view, &[hidden[at].content])?
                        .into_values()
                        .next();
                    Some(LineSource {
                        entry: hidden[at].id,
                        preview: said.map(|row| row.preview).unwrap_or_default(),
                        share,
                    })
                }
                None => None,
            };
            let text = line.to_owned();
            derived.push(DerivedLine { text, from });
        }
        Ok(derived)
    }
}

/// The text of an entry, as it is there.
fn text_at(view: &dyn View, tip: &CommitHash, entry: &EntryId) -> Result<String> {
    let order = load::order(view, tip)?;
    let found = order.entries().find(|one| one.id == *entry);
    let found = found.ok_or_else(|| Error::NotOnPath {
        entry: entry.to_string(),
    })?;
    let message = load::content(view, &found.content)?;
    let texts = message.parts.iter().filter_map(Part::as_text);
    Ok(texts.collect::<Vec<_>>().join("\n"))
}

/// The words of a line, as the index of a ranked search would know them.
fn words_of(line: &str) -> Hashes {
    let mut words = Hashes::new();
    Cutter::default().each(line, |piece| {
        if !is_common(piece.folded) {
            words.insert(hash(stem(piece.folded).as_bytes()));
        }
    });
    words
}

fn levels(message: &Message, wanted: &Hashes) -> Levels {
    let all = weighed(message);
    let words = all.words().filter(|(_, _, hash)| wanted.contains(hash));
    words
        .map(|(_, level, hash)| (hash, factor_of(level)))
        .collect()
}

/// What each word is worth: the fewer messages have it, the more.
fn worth(has: &[Levels]) -> HashMap<u64, f32> {
    let mut counts: HashMap<u64, f32> = HashMap::new();
    for hash in has.iter().flat_map(Levels::keys) {
        *counts.entry(*hash).or_default() += 1.0;
    }
    let all = has.len() as f32;
    for count in counts.values_mut() {
        *count = (1.0 + all / *count).ln();
    }
    counts
}

/// The message with most of the words, the first of several, and what part of them it has.
fn nearest(words: &Hashes, has: &[Levels], worth: &HashMap<u64, f32>) -> Option<(usize, f32)> {
    if words.len() < WORDS {
        return None;
    }
    // A word that no hidden message has is the summary's own, and worth as much as the rarest.
    let most = (1.0 + has.len() as f32).ln();
    let of = |word: &u64| worth.get(word).copied().unwrap_or(most);
    let all: f32 = words.iter().map(of).sum();
    let mut found: Vec<(usize, f32, f32)> = Vec::new();
    for (at, has) in has.iter().enumerate() {
        let here = words
            .iter()
            .filter_map(|word| Some((of(word), has.get(word)?)));
        let (worth, weight) = here.fold((0.0, 0.0), |(sum, weights), (worth, level)| {
            (sum + worth, weights + worth * level)
        });
        if worth / all >= SHARE {
            found.push((at, worth / all, weight));
        }
    }
    let most = found.iter().map(|(_, share, _)| *share).fold(0.0, f32::max);
    found.retain(|(_, share, _)| *share >= NEARLY * most);
    let best = found
        .into_iter()
        .reduce(|best, one| if one.2 > best.2 { one } else { best });
    best.map(|(at, share, _)| (at, share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    #[test]
    fn a_line_is_from_the_message_with_its_rare_words() {
        let lines = [
            ("- Nested quotes fail in the parser", Some(0)),
            ("Deploying to staging", Some(2)),
            ("The parser tests pass", Some(1)),
            ("Something entirely unheard of", None),
            // One word tells nothing.
            ("parser", None),
        ];
        let everything = "parser tests quotes nested staging deploy pass fails ".to_owned();
        let everything = everything + &"and so much more that nobody reads it ".repeat(100);
        let has = [
            "the parser fails on nested quotes in config.toml",
            "the parser was rewritten; all tests pass",
            "deploy to staging tomorrow",
            &everything,
        ];
        let wanted: Hashes = lines.iter().flat_map(|(line, _)| words_of(line)).collect();
        let has = has.map(|text| levels(&Message::text(Role::User, text), &wanted));
        let worth = worth(&has);
        for (line, expected) in lines {
            let from = nearest(&words_of(line), &has, &worth).map(|(at, _)| at);
            assert_eq!(from, expected, "{line}");
        }
    }
}
