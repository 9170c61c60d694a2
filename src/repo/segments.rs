//! Where two outlines of one path differ, stretch by stretch: what happened in between, told without a look at each message.

use std::ops::Range;

use crate::context::Entry;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::EntryId;
use crate::repo::change::Placed;
use crate::repo::load;
use crate::repo::stretches::{Outline, Stood, appended};
use crate::store::View;

/// Neighbouring entries that are visible before or after, all of them.
pub(crate) struct Segment {
    /// How many visible entries stand before them, where they are visible: before, and after.
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
    pub(crate) len: usize,
    pub(crate) what: What,
}

pub(crate) enum What {
    /// What the commits at these depths append, as they appended it.
    Depths(Range<u64>),
    /// One, as it is before and after, where it is visible.
    One(Box<(Option<Entry>, Option<Entry>)>),
}

impl Segment {
    pub(crate) fn is_hidden(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }

    pub(crate) fn is_shown(&self) -> bool {
        self.before.is_none() && self.after.is_some()
    }

    /// Whether it stays with other parts or another text.
    pub(crate) fn is_changed(&self) -> bool {
        let stays = self.before.is_some() && self.after.is_some();
        match &self.what {
            What::One(both) if stays => match &**both {
                (Some(old), Some(new)) => (old.content, &old.mask) != (new.content, &new.mask),
                _ => false,
            },
            _ => false,
        }
    }

    /// Some of its entries, as they are after, or else as they were before, with their places.
    fn entries(
        &self,
        view: &dyn View,
        tip: &CommitHash,
        range: Range<usize>,
        is_after: bool,
    ) -> Result<Vec<Placed>> {
        let first = if is_after { self.after } else { self.before };
        let first = first.unwrap_or_default() + range.start;
        let entries = match &self.what {
            What::Depths(depths) => {
                let at = |place: usize| depths.start + place as u64;
                appended(view, tip, at(range.start)..at(range.end))?
            }
            What::One(both) if is_after => both.1.iter().cloned().collect(),
            What::One(both) => both.0.iter().cloned().collect(),
        };
        Ok((first..).zip(entries).collect())
    }
}

/// The entries of some segments at these places among all of theirs, with their places in the context before or after.
pub(crate) fn entries_at(
    view: &dyn View,
    tip: &CommitHash,
    segments: &[&Segment],
    wanted: Range<usize>,
    is_after: bool,
) -> Result<Vec<Placed>> {
    let (mut found, mut start) = (Vec::with_capacity(wanted.len()), 0);
    for segment in segments {
        let end = start + segment.len;
        let some = wanted.start.clamp(start, end)..wanted.end.clamp(start, end);
        if !some.is_empty() {
            found.extend(segment.entries(
                view,
                tip,
                some.start - start..some.end - start,
                is_after,
            )?);
        }
        start = end;
    }
    Ok(found)
}

/// All that is visible at one of them or at both. `after` is what comes of `before` by more commits.
pub(crate) fn segments(view: &dyn View, before: &Outline, after: &Outline) -> Result<Vec<Segment>> {
    let depths = after.depths();
    let damaged = || Error::damaged("what comes of a path is not what stood there");
    let mut old = before.stretches.iter();
    let mut at: Option<(Stood, usize, bool)> = None;
    let mut found = Found::default();
    for new in &after.stretches {
        let is = new.fate.visible;
        let mut left = new.len;
        while left > 0 {
            if at.as_ref().is_none_or(|(_, len, _)| *len == 0) {
                at = old
                    .next()
                    .map(|one| (one.what.clone(), one.len, one.fate.visible));
            }
            let done = new.len - left;
            let (was, len, what) = match (&mut at, &new.what) {
                (Some((Stood::From(first), len, visible)), Stood::From(there))
                    if *first == there + done as u64 =>
                {
                    let some = left.min(*len);
                    let depths = *first..*first + some as u64;
                    *first = depths.end;
                    *len -= some;
                    (*visible, some, What::Depths(depths))
                }
                (Some((Stood::From(first), len, visible)), Stood::One(entry))
                    if depths.get(&entry.id.commit) == Some(first) && entry.id.index.is_none() =>
                {
                    let was = if entry.is_as_appended() {
                        (**entry).clone()
                    } else {
                        as_appended(view, &entry.id)?
                    };
                    *first += 1;
                    *len -= 1;
                    (*visible, 1, one(Some(was), entry))
                }
                (Some((Stood::One(was), len, visible)), Stood::One(entry))
                    if was.id == entry.id =>
                {
                    *len = 0;
                    (*visible, 1, one(Some((**was).clone()), entry))
                }
                // What the commits put in place that came since.
                (_, Stood::One(entry)) => (false, 1, one(None, entry)),
                // What they append.
                (None, Stood::From(there)) => {
                    let depths = there + done as u64..there + new.len as u64;
                    (false, left, What::Depths(depths))
                }
                (Some(_), Stood::From(_)) => return Err(damaged()),
            };
            found.add(was, is, len, what);
            left -= len;
        }
    }
    if at.is_some_and(|(_, len, _)| len > 0) || old.next().is_some() {
        return Err(damaged());
    }
    Ok(found.segments)
}

/// Segments in the making.
#[derive(Default)]
struct Found {
    seen_before: usize,
    seen_after: usize,
    segments: Vec<Segment>,
}

impl Found {
    /// The next entries, which were visible, or are.
    fn add(&mut self, was: bool, is: bool, len: usize, what: What) {
        if was || is {
            self.segments.push(Segment {
                before: was.then_some(self.seen_before),
                after: is.then_some(self.seen_after),
                len,
                what,
            });
        }
        self.seen_before += if was { len } else { 0 };
        self.seen_after += if is { len } else { 0 };
    }
}

fn one(before: Option<Entry>, after: &Entry) -> What {
    What::One(Box::new((before, Some(after.clone()))))
}

fn as_appended(view: &dyn View, id: &EntryId) -> Result<Entry> {
    let content = load::commit(view, &id.commit)?.appended();
    let content = content.ok_or_else(|| Error::damaged("an entry was not appended"))?;
    Ok(Entry::new(*id, content, None))
}
