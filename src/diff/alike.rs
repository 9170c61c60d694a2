//! How alike two texts are, and the pairs of two lists that are most alike: both bounded, whatever
//! the texts' length.

use std::hash::{DefaultHasher, Hash, Hasher};

use similar::DiffableStr;

use crate::diff::list::Alignment;

/// How much of a text is looked at, in bytes.
const LOOKED_AT_BYTES: usize = 64 << 10;
/// How many words a sketch remembers.
const WORDS: usize = 256;
/// How many pairs of two lists are weighed at most.
const WEIGHED: usize = 1 << 16;

/// What is remembered of a text to compare it with others: the smallest hashes of its words.
///
/// # Source
///
/// The bottom-k sketch: A. Broder, "On the resemblance and containment of documents", 1997.
#[derive(Clone, Debug, Default)]
pub struct Sketch(Vec<u64>);

impl Sketch {
    /// The sketch of all these texts together.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hashes = Vec::new();
        let mut room = LOOKED_AT_BYTES;
        for text in texts {
            let text = &text[..text.floor_char_boundary(room)];
            room -= text.len();
            for word in text.tokenize_unicode_words() {
                // Punctuation says nothing: all JSON has the same.
                if word.contains(char::is_alphanumeric) {
                    let mut hasher = DefaultHasher::new();
                    word.hash(&mut hasher);
                    hashes.push(hasher.finish());
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(WORDS);
        Self(hashes)
    }

    /// From 0, no word in common, to 1, the same words.
    pub fn likeness(&self, other: &Self) -> f64 {
        let (a, b) = (&self.0, &other.0);
        if a.is_empty() && b.is_empty() {
            return 1.0;
        }
        let (mut x, mut y, mut common) = (0, 0, 0);
        while x < a.len() && y < b.len() {
            common += usize::from(a[x] == b[y]);
            let (left, right) = (a[x], b[y]);
            x += usize::from(left <= right);
            y += usize::from(right <= left);
        }
        2.0 * common as f64 / (a.len() + b.len()) as f64
    }
}

/// The pairs of two lists' items that are most alike by their sketches, of those that may be one.
pub fn most_alike<T>(
    before: &[T],
    after: &[T],
    least: f64,
    sketch: impl Fn(&T) -> Sketch,
    may_be_one: impl Fn(&T, &T) -> bool,
) -> Alignment {
    let [old, new] = [before, after].map(|list| list.iter().map(&sketch).collect::<Vec<_>>());
    heaviest(before.len(), after.len(), least, |b, a| {
        if may_be_one(&before[b], &after[a]) {
            old[b].likeness(&new[a])
        } else {
            0.0
        }
    })
}

/// The pairs of the greatest likeness in sum, in order. `likeness` takes an index into each list
/// and gives a number from 0 to 1; pairs that it gives less than `least` are no pairs.
///
/// Where the lists are long, only pairs near the diagonal are weighed.
fn heaviest(
    before: usize,
    after: usize,
    least: f64,
    likeness: impl Fn(usize, usize) -> f64,
) -> Alignment {
    let band = (WEIGHED / before.max(1)).max(1);
    // Which columns of a row are weighed.
    let columns = |row: usize| {
        let middle = row * after / before.max(1);
        let start = middle.saturating_sub(band / 2).min(after);
        let end = (start + band).min(after);
        (if end == after {
            after.saturating_sub(band)
        } else {
            start
        })..end
    };
    // best[row][column]: the greatest sum from here on; a row more than there are.
    let mut best: Vec<Vec<f64>> = vec![Vec::new(); before + 1];
    let mut weights: Vec<Vec<f64>> = Vec::with_capacity(before);
    let at = |best: &[Vec<f64>], row: usize, column: usize| -> f64 {
        if row >= before || column >= after {
            return 0.0;
        }
        let columns = columns(row);
        let sum = best[row].get(column.max(columns.start) - columns.start);
        sum.copied().unwrap_or(0.0)
    };
    for row in 0..before {
        let weigh = |column| Some(likeness(row, column)).filter(|w| *w >= least);
        weights.push(columns(row).map(|c| weigh(c).unwrap_or(0.0)).collect());
    }
    for row in (0..before).rev() {
        let columns = columns(row);
        let mut sums = vec![0.0; columns.len()];
        for column in columns.clone().rev() {
            let here = column - columns.start;
            let skip_row = at(&best, row + 1, column);
            let skip_column = sums.get(here + 1).copied().unwrap_or(0.0);
            let weight = weights[row][here];
            let take = match weight {
                w if w > 0.0 => w + at(&best, row + 1, column + 1),
                _ => 0.0,
            };
            sums[here] = take.max(skip_row).max(skip_column);
        }
        best[row] = sums;
    }
    let mut pairs = Alignment::new();
    let (mut row, mut column) = (0, 0);
    while row < before && column < after {
        let columns = columns(row);
        if column < columns.start {
            column = columns.start;
        }
        if !columns.contains(&column) {
            row += 1;
            continue;
        }
        let here = column - columns.start;
        let sum = best[row][here];
        let weight = weights[row][here];
        if weight > 0.0 && sum <= weight + at(&best, row + 1, column + 1) {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if sum <= at(&best, row + 1, column) {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_counts_words_in_common() {
        let sketch = |text| Sketch::of([text]);
        let likeness = |a, b| sketch(a).likeness(&sketch(b));
        assert_eq!(likeness("fix the parser", "fix the parser"), 1.0);
        assert_eq!(likeness("one two", "three four"), 0.0);
        assert!(
            likeness(
                "Please use the batch parser.",
                "Please use the streaming parser."
            ) > 0.7
        );
        assert_eq!(likeness("", ""), 1.0);
        assert_eq!(likeness("", "x"), 0.0);
        assert!(Sketch::of(["é".repeat(100_000).as_str()]).0.len() <= 1);
    }

    #[test]
    fn the_most_alike_are_paired_in_order() {
        let weights = [[0.0, 0.9, 0.0], [0.5, 0.0, 0.8]];
        let pairs = heaviest(2, 3, 0.4, |b, a| weights[b][a]);
        assert_eq!(pairs, [(0, 1), (1, 2)]);
        // Crossing pairs exclude each other: the better one stays.
        let weights = [[0.0, 0.9], [0.5, 0.0]];
        assert_eq!(heaviest(2, 2, 0.4, |b, a| weights[b][a]), [(0, 1)]);
        assert_eq!(heaviest(2, 2, 0.95, |b, a| weights[b][a]), []);
        assert_eq!(heaviest(0, 3, 0.4, |_, _| 1.0), []);
        assert_eq!(heaviest(3, 0, 0.4, |_, _| 1.0), []);
    }

    #[test]
    fn long_lists_are_weighed_near_the_diagonal() {
        let asked = std::cell::Cell::new(0_usize);
        let count = 5_000;
        let pairs = heaviest(count, count, 0.4, |b, a| {
            asked.set(asked.get() + 1);
            if b == a { 1.0 } else { 0.0 }
        });
        assert_eq!(pairs.len(), count);
        assert!(asked.get() <= WEIGHED + count);
    }
}
