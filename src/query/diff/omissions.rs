//! Long runs of neighbours that a comparison tells by their number and their tokens: nobody reads them.
//!
//! Both contexts are of one path, so a message that one of them hides is the other's by its name alone. Of each run the first
//! and the last few are read, and as many more as it takes for what is read to say the same as if all were.

use std::collections::HashSet;
use std::ops::Range;

use crate::context::plan::truncate::marker_number;
use crate::diff::parts::neutral;
use crate::diff::{DiffOptions, Omitted, Side};
use crate::error::Result;
use crate::model::{Encoding, EntryId, HideKind, Message, Part, Total};
use crate::repo::outline::Listed;
use crate::repo::repository::Repo;
use crate::repo::segments::{What, segments};
use crate::repo::stretches::Outline;
use crate::repo::totals;
use crate::repo::weigh::Scales;
use crate::store::View;

/// How many messages there are at least where any is left out.
const LONG: u64 = if cfg!(test) { 1 } else { 1_024 };
/// How many neighbours are left out at least.
const FEWEST: usize = if cfg!(test) { 1 } else { 256 };
/// How many are read before them.
const HEAD: usize = if cfg!(test) { 3 } else { 8 };
/// How many are read behind them; more where those answer calls further up.
const TAIL: usize = if cfg!(test) { 3 } else { 16 };

/// Neighbours that are not read.
#[derive(Debug)]
pub(super) struct Piece {
    /// How many visible entries stand before them in each of the contexts that have them.
    at: [Option<usize>; 2],
    len: usize,
    /// The depths of the commits that append them.
    pub(super) depths: Range<u64>,
    /// How many are read behind them.
    tail: usize,
}

impl Piece {
    /// The only context that has them.
    pub(super) fn only(&self) -> Option<usize> {
        match self.at {
            [Some(_), Some(_)] => None,
            [Some(_), None] => Some(0),
            [None, _] => Some(1),
        }
    }

    /// Reads more behind them.
    fn widen(&mut self) {
        // By no even step: a call and its result may stand at the same places of each round.
        let more = (self.tail / 2 + 1).min(self.len);
        self.len -= more;
        self.tail += more;
        self.depths.end -= more as u64;
    }
}

/// What is left out of two contexts, of which `early` leads to the other: behind the first `both` entries, with which both
/// begin. The first `shared` commits are those of both.
pub(super) fn pieces(
    view: &dyn View,
    outlines: &[Outline; 2],
    early: usize,
    shared: u64,
    both: usize,
) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    if outlines[1 - early].entries() < LONG {
        return Ok(pieces);
    }
    for segment in segments(view, &outlines[early], &outlines[1 - early])? {
        let What::Depths(depths) = segment.what else {
            continue;
        };
        // What was appended since is told.
        if depths.start >= shared {
            continue;
        }
        let mut at = [segment.before, segment.after];
        at.rotate_left(early);
        let skipped = match at {
            [Some(place), Some(_)] => both.saturating_sub(place).min(segment.len),
            _ => 0,
        };
        let first = skipped + HEAD;
        if first + FEWEST + TAIL > segment.len {
            continue;
        }
        let len = segment.len - first - TAIL;
        let start = depths.start + first as u64;
        pieces.push(Piece {
            at: at.map(|place| place.map(|place| place + first)),
            len,
            depths: start..start + len as u64,
            tail: TAIL,
        });
    }
    Ok(pieces)
}

impl Repo {
    /// Weighs what was left out: what both contexts come to tells of the longest run, or of what both begin with,
    /// without a look at it. No view may be open.
    pub(super) fn weigh_omitted(
        &self,
        outlines: &[Outline; 2],
        pieces: &[Piece],
        mut sides: [&mut Side; 2],
        encoding: Encoding,
    ) -> Result<()> {
        let mut totals = [Total::default(); 2];
        for (total, outline) in totals.iter_mut().zip(outlines) {
            *total = totals::of_commit(self, &outline.tip, encoding)?;
        }
        let view = self.store.read()?;
        let fresh = Default::default();
        let late = usize::from(view.is_ancestor(&outlines[0].tip, &outlines[1].tip)?);
        let mut scales = Scales::new(&*view, outlines[late].tip, encoding, &fresh)?;
        for (total, outline) in totals.into_iter().zip(outlines) {
            scales.know(outline, total)?;
        }
        let alone = pieces.iter().filter(|piece| piece.only().is_some());
        let longest = alone.max_by_key(|piece| piece.depths.end - piece.depths.start);
        // All of both contexts but what both have and nobody has read, and but for the longest run.
        let mut told = [Total::default(); 2];
        for (told, side) in told.iter_mut().zip(&sides) {
            told.extend(side.counts.iter().copied());
        }
        let mut weights = vec![Total::default(); pieces.len()];
        let is_longest =
            |piece: &Piece| longest.is_some_and(|longest| std::ptr::eq(longest, piece));
        for (weight, piece) in weights.iter_mut().zip(pieces) {
            if let Some(which) = piece.only().filter(|_| !is_longest(piece)) {
                *weight = scales.depths(std::slice::from_ref(&piece.depths))?;
                told[which] = told[which].with(*weight);
            }
        }
        if let Some(at) = pieces.iter().position(is_longest) {
            let which = pieces[at].only().unwrap_or_default();
            let all = totals[which].with(told[1 - which]);
            weights[at] = all.without(totals[1 - which]).without(told[which]);
            told[which] = told[which].with(weights[at]);
        }
        let mut first = totals[0].without(told[0]);
        if let Some(at) = pieces.iter().position(|piece| piece.only().is_none()) {
            let rest = first;
            first = scales.first(&outlines[0], sides[0].skipped)?;
            weights[at] = rest.without(first);
        }
        for (which, side) in sides.iter_mut().enumerate() {
            side.skipped_total = first;
            let own = pieces.iter().zip(&weights);
            let own = own.filter(|(piece, _)| piece.only().is_none_or(|only| only == which));
            for (omitted, (_, weight)) in side.omitted.iter_mut().zip(own) {
                omitted.total = *weight;
            }
        }
        Ok(())
    }
}

/// Reads the entries of a side, and leaves out what is to be left out.
pub(super) fn read(
    view: &dyn View,
    listed: &Listed,
    pieces: &[Piece],
    which: usize,
    side: &mut Side,
) -> Result<()> {
    (side.entries, side.omitted) = Default::default();
    let mut next = side.skipped;
    let read = |range: Range<usize>, side: &mut Side| -> Result<()> {
        let found = listed.read_in(view, range)?.into_iter();
        side.entries.extend(found.map(|one| one.entry));
        Ok(())
    };
    for piece in pieces {
        let Some(place) = piece.at[which] else {
            continue;
        };
        read(next..place, side)?;
        side.omitted.push(Omitted {
            slot: side.entries.len(),
            len: piece.len,
            is_in_both: piece.only().is_none(),
            ..Omitted::default()
        });
        next = place + piece.len;
    }
    read(next..listed.len(), side)
}

/// Leaves out less, where what was read might say something else than all would. Whether there was any need for it.
pub(super) fn refine(pieces: &mut Vec<Piece>, sides: [&Side; 2], options: &DiffOptions) -> bool {
    if pieces.is_empty() {
        return false;
    }
    if !is_told_where_they_part(sides, options) {
        pieces.clear();
        return true;
    }
    // What a hide put in place may say just what something says that is hidden.
    if has_placed(sides) && pieces.iter().any(|piece| piece.only().is_some()) {
        pieces.retain(|piece| piece.only().is_none());
        return true;
    }
    let mut short: HashSet<usize> = HashSet::new();
    for (which, side) in sides.into_iter().enumerate() {
        let own = (0..pieces.len()).filter(|at| pieces[*at].at[which].is_some());
        let own: Vec<usize> = own.collect();
        short.extend(unanswered(side).into_iter().map(|nth| own[nth]));
    }
    for at in &short {
        pieces[*at].widen();
    }
    pieces.retain(|piece| piece.len >= FEWEST);
    !short.is_empty()
}

/// Whether the contexts differ before anything is left out.
fn is_told_where_they_part(sides: [&Side; 2], options: &DiffOptions) -> bool {
    let first = |side: &Side| side.omitted.first().map(|omitted| omitted.slot);
    let [old, new] = sides.map(|side| &side.messages[..first(side).unwrap_or(side.entries.len())]);
    let both = old.iter().zip(new);
    let same = both
        .take_while(|(one, other)| neutral(one, options) == neutral(other, options))
        .count();
    [(old, sides[0]), (new, sides[1])]
        .iter()
        .all(|(read, side)| same < read.len() || side.omitted.is_empty())
}

/// Whether a hide put a message in place, other than a marker of its own words, that only one of the contexts has.
fn has_placed(sides: [&Side; 2]) -> bool {
    let names = sides.map(|side| {
        let names = side.entries.iter().map(|entry| entry.id);
        names.collect::<HashSet<EntryId>>()
    });
    let is_marker = |message: &Message| match message.parts.as_slice() {
        [Part::Text { text, .. }] => marker_number(text).is_some(),
        _ => false,
    };
    let is_placed = |which: usize| {
        let both = sides[which].entries.iter().zip(&sides[which].messages);
        let mut placed = both.filter(|(entry, _)| entry.placed.is_some());
        placed.any(|(entry, message)| {
            let is_marker = entry.placed == Some(HideKind::Truncation) && is_marker(message);
            !is_marker && !names[1 - which].contains(&entry.id)
        })
    };
    is_placed(0) || is_placed(1)
}

/// Behind which of what is left out a result was read whose call was not.
fn unanswered(side: &Side) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut called: HashSet<&str> = HashSet::new();
    let mut before = 0;
    for (slot, message) in side.messages.iter().enumerate() {
        while side
            .omitted
            .get(before)
            .is_some_and(|omitted| omitted.slot == slot)
        {
            before += 1;
            called.clear();
        }
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => drop(called.insert(id)),
                Part::ToolResult { call, .. } if before > 0 && !called.contains(call.as_str()) => {
                    found.insert(before - 1);
                }
                _ => {}
            }
        }
    }
    found
}
