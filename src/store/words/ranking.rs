//! Which contents a ranked search asks for first: BM25 over the index.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::{Gathered, Placed, Reader, Shelf, whole};
use crate::error::{Error, Result};
use crate::model::Role;
use crate::model::query::{Query, Term};
use crate::model::word_weights::{factor_of, role_word};
use crate::store::columns::damaged;

/// Words stand in few contents of a stretch where their places have fewer bytes than one for so many contents.
const FEW: usize = 32;

/// What is asked of the index.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'q> {
    /// The words.
    pub query: &'q Query,
    /// Only messages of this role.
    pub role: Option<Role>,
    /// At most so many contents.
    pub most: usize,
}

/// Contents with their scores, best first, the newest first among equals.
pub(in crate::store) struct Best {
    pub(in crate::store) contents: Vec<(i64, f32)>,
    /// How rare each wanted word is: what it adds to a score at most.
    pub(in crate::store) rarity: Vec<f32>,
}

/// The contents that are asked for, of which `may_be` holds. It is asked of those alone that rank high enough.
pub(in crate::store) fn best(
    shelf: &impl Shelf,
    tail: &Gathered,
    ranking: Ranking<'_>,
    may_be: &mut dyn FnMut(i64) -> Result<bool>,
) -> Result<Best> {
    let asked = asked(ranking);
    let mut spans: Vec<(i64, i64)> = Vec::new();
    let mut places: HashMap<i64, usize> = HashMap::new();
    for segment in whole(shelf.segments()?)? {
        places.insert(segment.last, spans.len());
        spans.push((segment.since, segment.last));
    }
    spans.push((tail.since, tail.last));
    let known: i64 = spans.iter().map(|(since, last)| last - since).sum();

    // By stretch and word, the places of all words that are meant.
    let mut found: Vec<Vec<Vec<Vec<u8>>>> = vec![vec![Vec::new(); asked.len()]; spans.len()];
    let mut rarity = Vec::with_capacity(asked.len());
    for (at, one) in asked.iter().enumerate() {
        let mut count = 0;
        let mut take = |stretch: usize, of_it: u64, places: &[u8]| {
            count += of_it;
            found[stretch][at].push(places.to_vec());
        };
        look_up(shelf, one, &places, &mut take)?;
        let of_tail = |of_it: u64, places: &[u8]| take(spans.len() - 1, of_it, places);
        tail.having(|word| one.is(word), of_tail);
        let (all, count) = (known as f32, (count as f32).min(known as f32));
        rarity.push((1.0 + (all - count + 0.5) / (count + 0.5)).ln());
    }

    let needed = asked.iter().filter(|one| one.is_needed).count() as u8;
    let mut best: BinaryHeap<Reverse<(u32, i64)>> = BinaryHeap::new();
    let mut offer = |id: i64, cell: Cell| -> Result<()> {
        // Scores are not negative, so that their bits are in their order.
        let key = (cell.score.to_bits(), id);
        let is_worse =
            best.len() >= ranking.most && best.peek().is_none_or(|Reverse(worst)| key <= *worst);
        if cell.score > 0.0 && cell.needed == needed && !is_worse && may_be(id)? {
            best.push(Reverse(key));
            if best.len() > ranking.most {
                best.pop();
            }
        }
        Ok(())
    };
    let weigh = |cell: &mut Cell, at: usize, level: u8| {
        let (one, seen) = (&asked[at], at as u8 + 1);
        if cell.seen != seen {
            cell.seen = seen;
            cell.score += one.weight * rarity[at] * factor_of(level);
            cell.needed += u8::from(one.is_needed);
        }
    };
    for ((since, last), found) in spans.into_iter().zip(&found) {
        let lists = found.iter().enumerate();
        let lists = lists.flat_map(|(at, lists)| lists.iter().map(move |list| (at, list)));
        let all = lists.flat_map(|(at, list)| {
            let is_here = move |(id, _): &(i64, u8)| *id > since && *id <= last;
            let placed = Placed::since(since, list).filter(is_here);
            placed.map(move |(id, level)| (id, at, level))
        });
        let size_bytes: usize = found.iter().flatten().map(Vec::len).sum();
        if size_bytes < (last - since) as usize / FEW {
            // Of few contents each is gathered, in the order of the words.
            let mut few: Vec<(i64, usize, u8)> = all.collect();
            few.sort_by_key(|(id, at, _)| (*id, *at));
            for of_one in few.chunk_by(|(one, ..), (other, ..)| one == other) {
                let mut cell = Cell::default();
                of_one
                    .iter()
                    .for_each(|(_, at, level)| weigh(&mut cell, *at, *level));
                offer(of_one[0].0, cell)?;
            }
            continue;
        }
        let mut cells = vec![Cell::default(); (last - since) as usize];
        for (id, at, level) in all {
            weigh(&mut cells[(id - since - 1) as usize], at, level);
        }
        for (cell, id) in cells.into_iter().zip(since + 1..) {
            offer(id, cell)?;
        }
    }
    let mut contents: Vec<(u32, i64)> = best.into_iter().map(|Reverse(key)| key).collect();
    contents.sort_unstable_by_key(|key| Reverse(*key));
    rarity.truncate(ranking.query.wanted.len());
    Ok(Best {
        contents: contents
            .into_iter()
            .map(|(score, id)| (id, f32::from_bits(score)))
            .collect(),
        rarity,
    })
}

/// Tells where a word stands: the segment by its place, in how many contents, and these. Each block says with which word the
/// next one begins, so that one which is not there is missed.
fn look_up(
    shelf: &impl Shelf,
    one: &Asked<'_>,
    segments: &HashMap<i64, usize>,
    take: &mut dyn FnMut(usize, u64, &[u8]),
) -> Result<()> {
    let (from, to) = one.range();
    let mut next: Vec<Option<Vec<u8>>> = vec![None; segments.len()];
    shelf.blocks(&from, &to, &mut |segment, data| {
        let Some(place) = segments.get(&segment) else {
            return Ok(());
        };
        let mut reader = Reader::some(vec![data.to_vec()]);
        let mut expected = next[*place].take();
        while reader.next()? {
            if expected.take().is_some_and(|word| word != reader.word()) {
                return Err(lost());
            }
            if reader.word() >= from.as_slice() && reader.word() <= to.as_slice() {
                take(*place, reader.count(), reader.places());
            }
        }
        next[*place] = Some(reader.following().to_vec());
        Ok(())
    })?;
    let is_there = |next: &Option<Vec<u8>>| {
        let next = next.as_deref();
        next.is_some_and(|next| next.is_empty() || next > to.as_slice())
    };
    if next.iter().all(is_there) {
        Ok(())
    } else {
        Err(lost())
    }
}

fn lost() -> Error {
    damaged("a block of the index of words is missing")
}

/// What is known of a content while words are looked up.
#[derive(Clone, Copy, Default)]
struct Cell {
    score: f32,
    /// The last word that it has, by its place from 1.
    seen: u8,
    /// How many it has of those that must be there.
    needed: u8,
}

/// A word that is looked up.
struct Asked<'q> {
    term: std::borrow::Cow<'q, Term>,
    weight: f32,
    is_needed: bool,
}

impl Asked<'_> {
    fn range(&self) -> (Vec<u8>, Vec<u8>) {
        let from = self.term.text.clone().into_bytes();
        let mut to = from.clone();
        if self.term.is_prefix {
            to.push(0xff);
        }
        (from, to)
    }

    fn is(&self, word: &str) -> bool {
        self.term.is(word, word)
    }
}

/// From where to where the words stand that are looked up for it.
#[cfg(feature = "postgres")]
pub(in crate::store) fn ranges(ranking: Ranking<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    asked(ranking).iter().map(Asked::range).collect()
}

/// The wanted words in their order, and whatever else must be there.
fn asked(ranking: Ranking<'_>) -> Vec<Asked<'_>> {
    use std::borrow::Cow;
    let query = ranking.query;
    let in_phrase = |term: &Term| query.phrases.iter().flatten().any(|one| one == term);
    let wanted = query.wanted.iter().map(|one| Asked {
        term: Cow::Borrowed(&one.term),
        weight: one.weight,
        is_needed: in_phrase(&one.term),
    });
    let role = ranking.role.map(|role| Asked {
        term: Cow::Owned(Term {
            text: role_word(role),
            is_prefix: false,
        }),
        weight: 0.0,
        is_needed: true,
    });
    wanted.chain(role).collect()
}
