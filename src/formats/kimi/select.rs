//! Which of the user's words a compaction keeps: all, or within a measure the first and the newest.
//!
//! # Source
//!
//! `compaction/handoff.ts` of the tool; until it split the measure, it kept the newest alone.

use super::message::estimate;
use crate::error::Result;

/// How much is kept, in tokens as the tool estimates them.
const TOKENS_MAX: u64 = 20_000;
/// How much of that is for the first.
const HEAD_TOKENS: u64 = 2_000;
/// What the tool counts for a message beside what is in it.
const AROUND: u64 = 1;

/// What is kept, in its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// One of the messages.
    Whole(usize),
    /// The beginning or the end of one.
    Cut(String),
    /// The note that so many tokens are left out here.
    Elided(u64),
}

/// What the tool counts for a message of the user's with this text alone.
pub(super) fn tokens_of(text: &str) -> u64 {
    AROUND + estimate(text)
}

/// The newest messages of these sizes. `text` reads one.
pub(super) fn newest(
    tokens: &[u64],
    text: &mut dyn FnMut(usize) -> Result<String>,
) -> Result<Vec<Kept>> {
    let (mut kept, mut left) = (Vec::new(), TOKENS_MAX);
    for (at, tokens) in tokens.iter().enumerate().rev() {
        if left == 0 {
            break;
        }
        let Some(rest) = left.checked_sub(*tokens) else {
            kept.push(Kept::Cut(beginning(&text(at)?, left).to_owned()));
            break;
        };
        kept.push(Kept::Whole(at));
        left = rest;
    }
    kept.reverse();
    Ok(kept)
}

/// The first and the newest of them, with a note between.
pub(super) fn both_ends(
    tokens: &[u64],
    text: &mut dyn FnMut(usize) -> Result<String>,
) -> Result<Vec<Kept>> {
    let total: u64 = tokens.iter().sum();
    if total <= TOKENS_MAX {
        return Ok((0..tokens.len()).map(Kept::Whole).collect());
    }
    let (mut tail, mut left, mut counted) = (Vec::new(), TOKENS_MAX - HEAD_TOKENS, 0);
    let (mut head_end, mut before_cut) = (tokens.len(), None);
    while left > 0 && head_end > 0 {
        head_end -= 1;
        let Some(rest) = left.checked_sub(tokens[head_end]) else {
            let all = text(head_end)?;
            let end = ending(&all, left);
            counted += tokens_of(end);
            tail.push(Kept::Cut(end.to_owned()));
            let before = &all[..all.len() - end.len()];
            before_cut = (!before.is_empty()).then(|| before.to_owned());
            break;
        };
        counted += tokens[head_end];
        tail.push(Kept::Whole(head_end));
        left = rest;
    }
    // Where one message was cut, what stands before the cut comes last.
    let first = tokens[..head_end].iter().enumerate();
    let first = first.map(|(at, tokens)| (*tokens, Kept::Whole(at)));
    let cut = before_cut.map(|before| (tokens_of(&before), Kept::Cut(before)));
    let (mut head, mut left) = (Vec::new(), HEAD_TOKENS);
    for (size, whole) in first.chain(cut) {
        if left == 0 {
            break;
        }
        let Some(rest) = left.checked_sub(size) else {
            let all = match whole {
                Kept::Whole(at) => text(at)?,
                Kept::Cut(text) => text,
                Kept::Elided(_) => String::new(),
            };
            let beginning = beginning(&all, left);
            counted += tokens_of(beginning);
            head.push(Kept::Cut(beginning.to_owned()));
            break;
        };
        counted += size;
        head.push(whole);
        left = rest;
    }
    tail.reverse();
    head.push(Kept::Elided(total.saturating_sub(counted)));
    head.extend(tail);
    Ok(head)
}

/// How many bytes the first of these characters have that are of so many tokens.
fn fitting(chars: impl Iterator<Item = char>, tokens: u64) -> usize {
    let (mut ascii, mut others, mut bytes) = (0_u64, 0, 0);
    for char in chars {
        if char.is_ascii() {
            ascii += 1
        } else {
            others += 1
        }
        if ascii.div_ceil(4) + others > tokens {
            break;
        }
        bytes += char.len_utf8();
    }
    bytes
}

/// The beginning of a text that is of so many tokens.
fn beginning(text: &str, tokens: u64) -> &str {
    &text[..fitting(text.chars(), tokens)]
}

/// The end of one.
fn ending(text: &str, tokens: u64) -> &str {
    &text[text.len() - fitting(text.chars().rev(), tokens)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    type Select = fn(&[u64], &mut dyn FnMut(usize) -> Result<String>) -> Result<Vec<Kept>>;

    fn kept(texts: &[&str], select: Select) -> Vec<Kept> {
        let tokens: Vec<u64> = texts.iter().map(|text| tokens_of(text)).collect();
        select(&tokens, &mut |at| Ok(texts[at].to_owned())).expect("texts are here")
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let texts = ["one", "zwei\u{fc}", &"x".repeat(79_000)];
        let all: Vec<Kept> = (0..3).map(Kept::Whole).collect();
        assert_eq!(kept(&texts, newest), all);
        assert_eq!(kept(&texts, both_ends), all);
        assert_eq!(kept(&[], both_ends), []);
    }

    #[test]
    fn of_too_much_the_newest_was_kept_first_and_then_both_ends() {
        let long = "a".repeat(60_000) + &"\u{e9}".repeat(20_000);
        let texts = ["task", &long, "now"];
        let left = 20_000 - 2;
        let newest = kept(&texts, newest);
        let cut = "a".repeat(60_000) + &"\u{e9}".repeat(left - 15_000);
        assert_eq!(newest, [Kept::Cut(cut), Kept::Whole(2)]);
        let both = kept(&texts, both_ends);
        let end = "\u{e9}".repeat(18_000 - 2);
        let start = "a".repeat((2_000 - 2) * 4);
        let total = 2 + tokens_of(&long) + 2;
        let counted = 2 + tokens_of(&start) + tokens_of(&end) + 2;
        let expected = [
            Kept::Whole(0),
            Kept::Cut(start),
            Kept::Elided(total - counted),
            Kept::Cut(end),
            Kept::Whole(2),
        ];
        assert_eq!(both, expected);
    }

    #[test]
    fn one_message_alone_is_cut_in_the_middle() {
        let long = "b".repeat(100_000);
        let [Kept::Cut(start), Kept::Elided(_), Kept::Cut(end)] = &kept(&[&long], both_ends)[..]
        else {
            panic!("not both ends");
        };
        assert_eq!((start.len(), end.len()), (8_000, 72_000));
    }
}
