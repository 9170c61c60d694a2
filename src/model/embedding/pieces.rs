//! The pieces that a word is made of: by the longest that fit, by the likeliest, or by merging.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

/// How a word is cut into pieces. What it does not know is left out.
pub(super) enum Pieces {
    /// The longest piece that fits, then the longest of the rest.
    Longest {
        known: HashMap<String, u32>,
        /// What stands before a piece that does not begin a word.
        inside: String,
        /// A longer word is unknown.
        most_chars: usize,
        unknown: Option<u32>,
    },
    /// The pieces that are likeliest together.
    Likeliest {
        known: HashMap<String, (u32, f64)>,
        longest_bytes: usize,
        /// What an unknown character costs.
        worst: f64,
        unknown: Option<u32>,
    },
    /// Characters, merged as long as two of them may be, the first learnt first.
    Merged {
        known: HashMap<String, u32>,
        merges: HashMap<(u32, u32), (u32, u32)>,
        /// What stands behind a piece that ends a word.
        end: String,
        inside: String,
        /// Whether a character that is unknown is its bytes.
        has_bytes: bool,
        /// Whether a word that is a piece is that one.
        is_whole_first: bool,
        unknown: Option<u32>,
    },
    /// Words as they are.
    Words {
        known: HashMap<String, u32>,
        unknown: Option<u32>,
    },
}

#[derive(Deserialize)]
struct PiecesKind {
    #[serde(rename = "type")]
    kind: Option<String>,
    unk_token: Option<String>,
    unk_id: Option<u32>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
}

#[derive(Deserialize)]
struct PieceVocabulary {
    vocab: HashMap<String, u32>,
    #[serde(default)]
    merges: Vec<PieceMerge>,
}

#[derive(Deserialize)]
struct ScoredVocabulary {
    vocab: Vec<(String, f64)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PieceMerge {
    Spaced(String),
    Pair(String, String),
}

/// How many characters a word of WordPiece has at most, where its file does not say.
const MOST_CHARS: usize = 100;
/// How much less likely than the least likely piece an unknown character is.
const UNKNOWN_COST: f64 = 10.0;

impl Pieces {
    /// The `model` of a tokenizer.
    pub(super) fn parse(model: &RawValue) -> Result<Self, String> {
        fn read<'a, T: Deserialize<'a>>(model: &'a RawValue) -> Result<T, String> {
            serde_json::from_str(model.get()).map_err(|error| format!("its vocabulary: {error}"))
        }
        let about: PiecesKind = read(model)?;
        let kind = match about.kind.as_deref() {
            // An early tokenizer of WordPiece or BPE does not say what it is.
            None => "WordPiece",
            Some(kind) => kind,
        };
        let text = |text: Option<String>| text.unwrap_or_default();
        let unknown =
            |known: &HashMap<String, u32>| known.get(about.unk_token.as_deref()?).copied();
        Ok(match kind {
            "WordPiece" => {
                let PieceVocabulary { vocab: known, .. } = read(model)?;
                Self::Longest {
                    unknown: unknown(&known),
                    known,
                    inside: about
                        .continuing_subword_prefix
                        .unwrap_or_else(|| "##".to_owned()),
                    most_chars: about.max_input_chars_per_word.unwrap_or(MOST_CHARS),
                }
            }
            "Unigram" => {
                let ScoredVocabulary { vocab } = read(model)?;
                let worst = vocab.iter().map(|(_, score)| *score).fold(0.0, f64::min);
                let longest_bytes = vocab.iter().map(|(piece, _)| piece.len()).max();
                let known = vocab.into_iter().zip(0..);
                Self::Likeliest {
                    known: known
                        .map(|((piece, score), id)| (piece, (id, score)))
                        .collect(),
                    longest_bytes: longest_bytes.unwrap_or(0),
                    worst: worst - UNKNOWN_COST,
                    unknown: about.unk_id,
                }
            }
            "BPE" => {
                let PieceVocabulary {
                    vocab: known,
                    merges,
                } = read(model)?;
                let inside = text(about.continuing_subword_prefix.clone());
                let mut learnt = HashMap::with_capacity(merges.len());
                for (merge, rank) in merges.iter().zip(0..) {
                    let (a, b) = match merge {
                        PieceMerge::Spaced(pair) => pair.split_once(' ').unwrap_or((pair, "")),
                        PieceMerge::Pair(a, b) => (a.as_str(), b.as_str()),
                    };
                    let rest = b.strip_prefix(inside.as_str()).unwrap_or(b);
                    let whole = known.get(&format!("{a}{rest}"));
                    if let (Some(a), Some(b), Some(whole)) = (known.get(a), known.get(b), whole) {
                        learnt.entry((*a, *b)).or_insert((rank, *whole));
                    }
                }
                Self::Merged {
                    unknown: unknown(&known),
                    known,
                    merges: learnt,
                    end: text(about.end_of_word_suffix),
                    inside,
                    has_bytes: about.byte_fallback,
                    is_whole_first: about.ignore_merges,
                }
            }
            "WordLevel" => {
                let PieceVocabulary { vocab: known, .. } = read(model)?;
                Self::Words {
                    unknown: unknown(&known),
                    known,
                }
            }
            other => return Err(format!("a tokenizer with the model '{other}'")),
        })
    }

    /// Adds the pieces of a word.
    pub(super) fn cut(&self, word: &str, pieces: &mut Vec<u32>) {
        let (from, unknown) = (pieces.len(), self.unknown());
        match self {
            Self::Longest {
                known,
                inside,
                most_chars,
                ..
            } => {
                if longest(known, inside, *most_chars, word, pieces).is_none() {
                    pieces.truncate(from);
                }
            }
            Self::Likeliest {
                known,
                longest_bytes,
                worst,
                ..
            } => {
                likeliest(known, *longest_bytes, *worst, word, pieces);
            }
            Self::Merged { .. } => self.merge(word, pieces),
            Self::Words { known, .. } => pieces.extend(known.get(word)),
        }
        if let Some(unknown) = unknown {
            let mut at = 0;
            pieces.retain(|piece| {
                at += 1;
                at <= from || *piece != unknown
            });
        }
    }

    const fn unknown(&self) -> Option<u32> {
        match self {
            Self::Longest { unknown, .. }
            | Self::Likeliest { unknown, .. }
            | Self::Merged { unknown, .. }
            | Self::Words { unknown, .. } => *unknown,
        }
    }

    fn merge(&self, word: &str, pieces: &mut Vec<u32>) {
        let Self::Merged {
            known,
            merges,
            end,
            inside,
            has_bytes,
            is_whole_first,
            ..
        } = self
        else {
            return;
        };
        if let Some(whole) = known.get(word).filter(|_| *is_whole_first) {
            return pieces.push(*whole);
        }
        let mut parts: Vec<u32> = Vec::with_capacity(word.len());
        for (at, c) in word.char_indices() {
            let before = if at > 0 { inside.as_str() } else { "" };
            let behind = if at + c.len_utf8() == word.len() {
                end.as_str()
            } else {
                ""
            };
            let spelt = match (before, behind) {
                ("", "") => known.get(c.encode_utf8(&mut [0; 4]) as &str),
                _ => known.get(&format!("{before}{c}{behind}")),
            };
            match spelt {
                Some(part) => parts.push(*part),
                None if *has_bytes => {
                    let bytes = c.encode_utf8(&mut [0; 4]).bytes().collect::<Vec<_>>();
                    let bytes = bytes
                        .iter()
                        .map(|byte| known.get(&format!("<0x{byte:02X}>")));
                    parts.extend(bytes.flatten());
                }
                None => {}
            }
        }
        pieces.extend(merged(&parts, merges));
    }
}

/// The parts with all merges done, the first learnt first, of equal ones the first in the word.
fn merged(parts: &[u32], merges: &HashMap<(u32, u32), (u32, u32)>) -> Vec<u32> {
    let mut now: Vec<Option<u32>> = parts.iter().copied().map(Some).collect();
    let mut next: Vec<usize> = (1..=parts.len()).collect();
    let mut before: Vec<Option<usize>> = (0..parts.len()).map(|at| at.checked_sub(1)).collect();
    let mut waiting = BinaryHeap::new();
    let offer = |at: usize, now: &[Option<u32>], next: &[usize], waiting: &mut BinaryHeap<_>| {
        let other = now.get(next[at]).copied().flatten();
        let pair = now[at].zip(other);
        if let Some((pair, (rank, whole))) = pair.and_then(|pair| Some((pair, *merges.get(&pair)?)))
        {
            waiting.push(Reverse((rank, at, pair, whole)));
        }
    };
    for at in 0..parts.len() {
        offer(at, &now, &next, &mut waiting);
    }
    while let Some(Reverse((_, at, pair, whole))) = waiting.pop() {
        let other = next[at];
        let is_there = now[at] == Some(pair.0) && now.get(other).copied().flatten() == Some(pair.1);
        if !is_there {
            continue;
        }
        (now[at], now[other]) = (Some(whole), None);
        next[at] = next[other];
        if let Some(behind) = before.get_mut(next[at]) {
            *behind = Some(at);
        }
        offer(at, &now, &next, &mut waiting);
        if let Some(ahead) = before[at] {
            offer(ahead, &now, &next, &mut waiting);
        }
    }
    now.into_iter().flatten().collect()
}

/// None where some of the word is no piece.
fn longest(
    known: &HashMap<String, u32>,
    inside: &str,
    most_chars: usize,
    word: &str,
    pieces: &mut Vec<u32>,
) -> Option<()> {
    if word.chars().nth(most_chars).is_some() {
        return None;
    }
    let (mut from, mut spelt) = (0, String::new());
    while from < word.len() {
        let mut ends = word[from..]
            .char_indices()
            .map(|(at, c)| from + at + c.len_utf8());
        let ends: Vec<usize> = ends.by_ref().collect();
        let (end, piece) = ends.into_iter().rev().find_map(|end| {
            spelt.clear();
            spelt += if from > 0 { inside } else { "" };
            spelt += &word[from..end];
            Some((end, *known.get(spelt.as_str())?))
        })?;
        pieces.push(piece);
        from = end;
    }
    Some(())
}

fn likeliest(
    known: &HashMap<String, (u32, f64)>,
    longest_bytes: usize,
    worst: f64,
    word: &str,
    pieces: &mut Vec<u32>,
) {
    // Of each place the best way to it: its score, where its last piece begins, and that.
    let mut best: Vec<Option<(f64, usize, Option<u32>)>> = vec![None; word.len() + 1];
    best[0] = Some((0.0, 0, None));
    for (from, c) in word.char_indices() {
        let Some((score, ..)) = best[from] else {
            continue;
        };
        let mut offer = |end: usize, score: f64, piece: Option<u32>| {
            if best[end].is_none_or(|(known, ..)| known < score) {
                best[end] = Some((score, from, piece));
            }
        };
        offer(from + c.len_utf8(), score + worst, None);
        let reach = word.floor_char_boundary(from.saturating_add(longest_bytes));
        for end in from + c.len_utf8()..=reach {
            if let Some((piece, own)) = word.get(from..end).and_then(|it| known.get(it)) {
                offer(end, score + own, Some(*piece));
            }
        }
    }
    let (mut found, mut end) = (Vec::new(), word.len());
    while end > 0 {
        let Some((_, from, piece)) = best[end] else {
            break;
        };
        found.extend(piece);
        end = from;
    }
    pieces.extend(found.into_iter().rev());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(model: &str, word: &str) -> Vec<u32> {
        let model: &RawValue = serde_json::from_str(model).expect("JSON");
        let pieces = Pieces::parse(model).expect("known");
        let mut found = Vec::new();
        pieces.cut(word, &mut found);
        found
    }

    #[test]
    fn words_are_cut_by_the_longest_piece() {
        let model = r###"{"type":"WordPiece","unk_token":"[UNK]","vocab":
            {"[UNK]":0,"un":1,"##aff":2,"##able":3,"##a":4,"unaf":5}}"###;
        assert_eq!(cut(model, "unaffable"), [0; 0], "unaf leaves no way on");
        assert_eq!(cut(model, "unaffa"), [0; 0]);
        let model = model.replace(r#","unaf":5"#, "");
        assert_eq!(cut(&model, "unaffable"), [1, 2, 3]);
        assert_eq!(
            cut(&model, "unx"),
            [0; 0],
            "a word that is not known is left out"
        );
    }

    #[test]
    fn words_are_cut_by_the_likeliest_pieces() {
        let model = r#"{"type":"Unigram","unk_id":0,"vocab":
            [["<unk>",0.0],["a",-1.0],["b",-1.0],["ab",-1.5],["abc",-9.0],["c",-2.0]]}"#;
        assert_eq!(cut(model, "abc"), [3, 5]);
        assert_eq!(
            cut(model, "aéb"),
            [1, 2],
            "a character that is not known is left out"
        );
    }

    #[test]
    fn words_are_merged_in_the_order_that_was_learnt() {
        let model = r#"{"type":"BPE","unk_token":"<unk>","byte_fallback":true,"vocab":
            {"<unk>":0,"a":1,"b":2,"c":3,"ab":4,"bc":5,"abc":6,"<0xC3>":7,"<0xA9>":8},
            "merges":["b c",["a","b"],"ab c"]}"#;
        assert_eq!(cut(model, "abc"), [1, 5], "b c was learnt first");
        assert_eq!(cut(model, "aab"), [1, 4]);
        assert_eq!(cut(model, "é"), [7, 8]);
        assert_eq!(cut(model, "bcbc"), [5, 5]);
    }
}
