//! Which rows stood when: what each compaction took out, what it wrote once more, and what it put there.
//!
//! Nothing in a row says that it is written once more. A compaction writes all that it keeps at once, in order: the
//! first messages, its summary, the last ones, of which some may be shortened. So all rows from there on are what stood
//! until the next.

use super::message::{Said, Standing};
use crate::model::{Message, Part, Role};

/// How many of the first messages a compaction keeps at most; the tool keeps three unless it is told otherwise.
const FIRST: usize = 64;

/// A compaction, by the places of rows among those that were not taken back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Compaction {
    /// What stood before it: from this row on, up to the first of its own.
    pub(super) from: usize,
    /// The first row that it wrote.
    pub(super) at: usize,
    /// How many of the first it wrote once more.
    pub(super) first: usize,
    /// How many of the last.
    pub(super) last: usize,
}

impl Compaction {
    /// Behind the last row that it wrote.
    pub(super) fn end(&self) -> usize {
        self.at + self.first + 1 + self.last
    }

    /// The row that stood before, of which a row that it wrote is a copy, perhaps a shortened one.
    pub(super) fn original(&self, row: usize) -> Option<usize> {
        if row < self.at + self.first {
            return Some(self.from + row - self.at);
        }
        let behind = self.end().checked_sub(row)?;
        (row > self.at + self.first).then(|| self.at - behind)
    }
}

/// The compactions of a session, of whose rows these are all that were not taken back.
pub(super) fn compactions(rows: &[&Said]) -> Vec<Compaction> {
    let marks: Vec<Mark> = rows.iter().map(|row| Mark::of(&row.message)).collect();
    let is_out = |row: &&Said| row.standing == Standing::Compacted;
    let Some(newest) = rows.iter().rposition(is_out).map(|at| at + 1) else {
        return Vec::new();
    };
    let (mut found, mut from) = (Vec::<Compaction>::new(), 0);
    for row in 0..rows.len() {
        let is_newest = row == newest;
        let before = found.last().map_or(0, Compaction::end);
        if row < before || row > newest || !(is_newest || rows[row].sums_up) || row == from {
            continue;
        }
        // The first messages that stood stand before the summary once more.
        let is_again = |count: &usize| {
            let first = row.checked_sub(*count);
            first.is_some_and(|first| {
                first > from && first >= before && marks[first..row] == marks[from..][..*count]
            })
        };
        let most = (row.saturating_sub(from + 1) / 2).min(FIRST);
        let again = (1..=most).rev().find(is_again);
        let at = row - again.filter(|_| !is_newest).unwrap_or_default();
        let until = if is_newest { rows.len() } else { newest };
        let (stood, wrote) = (&marks[from..at], &marks[at..until]);
        let pairs = stood.iter().zip(wrote);
        let first = pairs.take_while(|(one, other)| one == other).count();
        let behind = wrote.get(first + 1..).unwrap_or_default();
        let last = overlap(&stood[first..], behind);
        // A text that only reads like a summary has nothing around it that stood before.
        if first + last > 0 || is_newest {
            found.push(Compaction {
                from,
                at,
                first,
                last,
            });
            from = at;
        }
    }
    found
}

/// What of a message stays where it is shortened: who speaks, of which call, and what is said, but for a result.
#[derive(PartialEq, Eq)]
struct Mark(Role, Vec<String>);

impl Mark {
    fn of(message: &Message) -> Self {
        let words = message.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.clone()),
            Part::ToolCall { id, .. } => Some(id.clone()),
            Part::ToolResult { call, .. } => Some(call.clone()),
            _ => None,
        });
        Self(message.role, words.collect())
    }
}

/// How many of the last of one list are the first of another.
fn overlap(list: &[Mark], other: &[Mark]) -> usize {
    let other = &other[..other.len().min(list.len())];
    // For each beginning of the other, how long its longest end is that it begins with itself.
    let mut borders = vec![0; other.len()];
    let longer = |mut length: usize, next: &Mark, borders: &[usize]| {
        while length > 0 && (length == other.len() || other[length] != *next) {
            length = borders[length - 1];
        }
        length + usize::from(other.get(length) == Some(next))
    };
    for at in 1..other.len() {
        borders[at] = longer(borders[at - 1], &other[at], &borders);
    }
    list.iter()
        .fold(0, |length, next| longer(length, next, &borders))
}
