//! Which appends of a path stand out, so that a plan has to tell them from their neighbours: known from what was looked at
//! once, for as long as the path goes on.
//!
//! Only commits count, whatever became of their messages. Those that stand out may be too many, never too few.

use std::collections::{BTreeSet, HashMap};
use std::ops::{Add, Range};

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::pairs::Links;
use crate::model::{Encoding, Standouts};
use crate::repo::load;
use crate::repo::stretches::Outline;
use crate::store::{Appended, Facts, View};

/// How far a result stands behind its call at most where neither stands out.
pub(crate) const FAR: u64 = if cfg!(test) { 3 } else { 64 };
/// How many are kept at most: of more, the first.
const MOST: usize = if cfg!(test) { 16 } else { 1_024 };
/// How many commits there are at least where any is looked for.
pub(crate) const LONG: u64 = if cfg!(test) { 8 } else { 4_096 };

/// How many entries are looked at one by one rather than what is known of them is asked for.
pub(crate) const FEWEST: u64 = if cfg!(test) { 6 } else { 2_048 };

const LINKS: Facts = Facts {
    links: true,
    counts: None,
};

/// Which appends of a path stand out, as far as it is kept in any encoding.
pub(crate) fn known(view: &dyn View, outline: &Outline) -> Result<Option<Standouts>> {
    let mut best: Option<Standouts> = None;
    if outline.entries() < FEWEST {
        return Ok(best);
    }
    for encoding in Encoding::ALL {
        let newest = view.newest_summary(&outline.tip, encoding)?;
        let found = newest.and_then(|(_, summary)| summary.standouts);
        let covered = best.as_ref().map_or(0, |best| best.covered);
        best = found.filter(|found| found.covered > covered).or(best);
    }
    Ok(best)
}

/// What stands out up to a commit, gone on from what is known of the path to it.
pub(crate) fn extended(
    view: &dyn View,
    tip: &CommitHash,
    known: Option<Standouts>,
) -> Result<Option<Standouts>> {
    let len = load::commit(view, tip)?.depth + 1;
    let mut found = match known {
        Some(known) if known.covered >= len || known.depths.len() >= MOST => {
            return Ok(Some(known));
        }
        known if len < LONG => return Ok(known),
        known => known.unwrap_or_default(),
    };
    let more = among(view, tip, found.covered..len)?;
    let room = MOST - found.depths.len();
    found.covered = more.iter().nth(room).copied().unwrap_or(len);
    found.depths.extend(more.into_iter().take(room));
    Ok(Some(found))
}

/// Whether all that stands out up to a commit is among these, as far as they go. What is known to be so of a commit before it is
/// not looked at again where these go on from that.
pub(crate) fn are_sound(
    view: &dyn View,
    tip: &CommitHash,
    kept: &Standouts,
    before: Option<&Standouts>,
) -> Result<bool> {
    let len = load::commit(view, tip)?.depth + 1;
    let is_ordered = kept.depths.is_sorted_by(|one, other| one < other);
    let last = kept.depths.last().is_none_or(|last| *last < kept.covered);
    if !is_ordered || !last || kept.covered > len {
        return Ok(false);
    }
    let has_all = |first: u64| {
        let all = among(view, tip, first..len)?;
        let has = |depth: &u64| kept.depths.binary_search(depth).is_ok();
        Ok(all.range(..kept.covered.max(first)).all(has))
    };
    let goes_on = |before: &&Standouts| {
        kept.covered >= before.covered && kept.depths.starts_with(&before.depths)
    };
    match before.filter(goes_on) {
        Some(before) if has_all(before.covered)? => Ok(true),
        _ => has_all(0),
    }
}

/// The calls and results of an append: as they are kept, else from its body.
pub(crate) fn links_of(view: &dyn View, one: &Appended) -> Result<Links> {
    Ok(match (&one.links, one.uses_tools) {
        (Some(links), _) => links.clone(),
        (None, false) => Links::default(),
        (None, true) => Links::of(&load::content(view, &one.content)?),
    })
}

/// What stands out among the appends at these depths: what speaks for the system or is attached, calls and results of which the
/// other is not among them, and those that are far from each other.
fn among(view: &dyn View, tip: &CommitHash, depths: Range<u64>) -> Result<BTreeSet<u64>> {
    let mut found = BTreeSet::new();
    let mut pairing = Pairing::default();
    view.appended(tip, depths, LINKS, &mut |one| {
        if one.role.is_system() || one.attached {
            found.insert(one.depth);
        }
        let links = links_of(view, &one)?;
        pairing.take(one.depth, &links, &mut |call, result| match call {
            Some(call) if result - call <= FAR => {}
            call => found.extend(call.into_iter().chain([result])),
        });
        Ok(())
    })?;
    found.extend(pairing.waiting.into_values().flatten());
    Ok(found)
}

/// Calls and results paired as they are in [`Pairs`](crate::model::pairs::Pairs).
#[derive(Default)]
struct Pairing {
    waiting: HashMap<String, Vec<u64>>,
}

impl Pairing {
    /// The next append; `visit` is told of each result, with its call.
    fn take(&mut self, depth: u64, links: &Links, visit: &mut dyn FnMut(Option<u64>, u64)) {
        for id in &links.results {
            let call = self.waiting.get_mut(id).and_then(Vec::pop);
            if self.waiting.get(id).is_some_and(Vec::is_empty) {
                self.waiting.remove(id);
            }
            visit(call, depth);
        }
        for id in &links.calls {
            self.waiting.entry(id.clone()).or_default().push(depth);
        }
    }
}

/// What of a stretch stands by itself: what stands out, what is asked for, and around these and the stretch's ends as much as it
/// takes for each call to have its result on the same side. Reads what is near those alone.
pub(crate) fn around(
    view: &dyn View,
    tip: &CommitHash,
    stretch: &Range<u64>,
    asked: &[Range<u64>],
    known: &Standouts,
) -> Result<Vec<Range<u64>>> {
    let from = known.depths.partition_point(|depth| *depth < stretch.start);
    let to = known.depths.partition_point(|depth| *depth < stretch.end);
    let mut wanted: Vec<Range<u64>> = known.depths[from..to]
        .iter()
        .map(|depth| *depth..depth + 1)
        .collect();
    wanted.extend([stretch.start..stretch.start, stretch.end..stretch.end]);
    let asked = asked.iter().map(|one| {
        let clamp = |depth: u64| depth.clamp(stretch.start, stretch.end);
        clamp(one.start)..clamp(one.end)
    });
    wanted.extend(asked);
    let mut found = Vec::new();
    for one in joined(wanted, 4 * FAR) {
        let start = border(view, tip, one.start, stretch, true)?;
        found.push(start..border(view, tip, one.end, stretch, false)?);
    }
    Ok(joined(found, 0))
}

/// Ranges in order, of which none is nearer than so much to the next.
pub(crate) fn joined<N: Copy + Ord + Add<Output = N>>(
    mut ranges: Vec<Range<N>>,
    near: N,
) -> Vec<Range<N>> {
    ranges.sort_unstable_by_key(|one| one.start);
    let mut joined: Vec<Range<N>> = Vec::with_capacity(ranges.len());
    for one in ranges {
        match joined.last_mut() {
            Some(last) if one.start <= last.end + near => last.end = last.end.max(one.end),
            _ => joined.push(one),
        }
    }
    joined
}

/// The nearest depth up to this one, or else from it on, before which no call stands whose near result stands behind it; within
/// a stretch.
fn border(
    view: &dyn View,
    tip: &CommitHash,
    at: u64,
    within: &Range<u64>,
    is_back: bool,
) -> Result<u64> {
    let mut at = at;
    let len = load::commit(view, tip)?.depth + 1;
    loop {
        let mut pairs = Vec::new();
        let mut pairing = Pairing::default();
        let near = at.saturating_sub(2 * FAR)..(at + 2 * FAR).min(len);
        view.appended(tip, near, LINKS, &mut |one| {
            let links = links_of(view, &one)?;
            pairing.take(one.depth, &links, &mut |call, result| {
                pairs.extend(call.map(|call| (call, result)));
            });
            Ok(())
        })?;
        for _ in 0..FAR {
            let crosses = |(call, result): &(u64, u64)| *call < at && at <= *result;
            let is_end = if is_back {
                at == within.start
            } else {
                at == within.end
            };
            if is_end || !pairs.iter().any(crosses) {
                return Ok(at);
            }
            at = if is_back { at - 1 } else { at + 1 };
        }
    }
}
