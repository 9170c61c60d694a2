//! Which visible entries stand by themselves where others stand together.

use std::ops::Range;

use crate::model::EntryId;
use crate::repo::standouts::joined;
use crate::repo::stretches::{Outline, Stood};
use crate::rewrite::needs::{Apart, Needs};

/// How many visible entries stand by themselves on both sides of one around which they do.
const AROUND: usize = if cfg!(test) { 2 } else { 64 };

/// The places of the visible entries that stand by themselves, in order.
pub(super) fn apart_places(outline: &Outline, needs: &Needs, apart: Apart) -> Vec<Range<usize>> {
    let visible = outline.visible().len();
    let around = |place: usize| place.saturating_sub(AROUND)..visible.min(place + AROUND + 1);
    let mut places = vec![
        0..apart.first.min(visible),
        visible.saturating_sub(apart.last)..visible,
    ];
    places.extend(apart.share.map(|share| around(share.of(visible))));
    places.extend(apart.keep.map(|keep| around(visible.saturating_sub(keep))));
    if apart.around {
        // An edit names its entry, too.
        let named = needs
            .named
            .iter()
            .map(|id| outline.edits.get(&id.commit).unwrap_or(id));
        let named: Vec<&EntryId> = named.collect();
        let mut before = 0;
        for stretch in outline.stretches.iter().filter(|one| one.fate.visible) {
            if let Stood::One(entry) = &stretch.what
                && named.contains(&&entry.id)
            {
                places.push(around(before));
            }
            before += stretch.len;
        }
    }
    joined(places, 0)
}
