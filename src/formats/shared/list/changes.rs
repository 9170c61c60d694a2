//! What a change made of what was told: what is gone is hidden, and what is new stands in its place.

use std::collections::{HashMap, HashSet};

use super::matches::matched;
use super::{Change, Item, Key, Telling, Told, results};
use crate::error::Result;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry, StepId};
use crate::model::{HideKind, Message};

/// What becomes of a message of the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It was told, as it is.
    Stays(usize),
    /// It was told, and results of it were changed.
    Pruned(usize),
    /// Another one of the same row was told in its place.
    Swapped(usize),
    /// It is new, and stands before others or in place of them.
    Placed,
    /// It is new at the end.
    Appended,
}

impl Fate {
    /// The message that was told and stays.
    fn stays(&self) -> Option<usize> {
        match self {
            Self::Stays(at) | Self::Pruned(at) => Some(*at),
            _ => None,
        }
    }
}

impl Telling<'_> {
    /// Tells what a change made of what was told.
    pub(super) fn reconcile(&mut self, mut items: Vec<Item>, change: Change) -> Result<()> {
        let mut told = std::mem::take(&mut self.told);
        let fates = self.fates(&told, &items);
        self.prune(&mut told, &mut items, &fates, change)?;
        let placed = self.hide(&told, &mut items, &fates, change)?;
        let mut told: Vec<Option<Told>> = told.into_iter().map(Some).collect();
        for ((item, fate), placed) in items.into_iter().zip(fates).zip(placed) {
            match (fate, placed) {
                (Fate::Stays(at) | Fate::Pruned(at), _) => {
                    let id = self.rows[item.row].id.clone();
                    self.told.extend(told[at].take().map(|told| Told {
                        key: item.key,
                        id,
                        row: item.row,
                        number: item.number,
                        ..told
                    }));
                }
                (_, Some(entry)) => {
                    let told = self.told_of(&item, None, entry);
                    self.told.push(told);
                }
                (_, None) => self.append(item)?,
            }
        }
        Ok(())
    }

    /// What becomes of each message of the list, beside what was told.
    fn fates(&self, told: &[Told], items: &[Item]) -> Vec<Fate> {
        let found = found(told, items);
        let kept: HashSet<usize> = found.iter().flatten().copied().collect();
        let gone: Vec<usize> = (0..told.len()).filter(|at| !kept.contains(at)).collect();
        let mut by_row: HashMap<(&str, usize), usize> = HashMap::new();
        for at in &gone {
            let Told { id, number, .. } = &told[*at];
            by_row.insert((id, *number), *at);
        }
        let following = following(&found);
        let mut fates = Vec::with_capacity(items.len());
        let mut before = None;
        for (at, item) in items.iter().enumerate() {
            if let Some(known) = found[at] {
                before = Some(known);
                fates.push(Fate::Stays(known));
                continue;
            }
            let id = self.rows[item.row].id.as_str();
            let known = by_row.get(&(id, item.number)).copied();
            let fits = |known: &usize| {
                before.is_none_or(|before| before < *known)
                    && following[at].is_none_or(|after| *known < after)
            };
            fates.push(match known.filter(|_| !id.is_empty()).filter(fits) {
                Some(known) => {
                    before = Some(known);
                    let results = item.step.as_ref().and_then(Step::message).map(results);
                    let old = &told[known];
                    let count = results.map_or(0, |results| results.len());
                    if count > 0 && count == old.results.len() && !old.is_pruned {
                        Fate::Pruned(known)
                    } else {
                        Fate::Swapped(known)
                    }
                }
                None => Fate::Placed,
            });
        }
        // What is new at the end is no replacement, unless it came in place of what is gone.
        let swapped = fates
            .iter()
            .filter(|fate| matches!(fate, Fate::Swapped(_) | Fate::Pruned(_)));
        let is_less = gone.len() > swapped.count();
        for (item, fate) in items.iter().zip(&mut fates).rev() {
            if *fate != Fate::Placed {
                break;
            }
            if !(is_less && self.rows[item.row].is_listed) {
                *fate = Fate::Appended;
            }
        }
        fates
    }

    /// Hides results that were changed in their place.
    fn prune(
        &mut self,
        told: &mut [Told],
        items: &mut [Item],
        fates: &[Fate],
        change: Change,
    ) -> Result<()> {
        let mut parts = Vec::new();
        for (item, fate) in items.iter_mut().zip(fates) {
            let Fate::Pruned(at) = fate else { continue };
            let Some(step) = item.step.take() else {
                continue;
            };
            let told = &mut told[*at];
            let Some(message) = step.message() else {
                continue;
            };
            let now = results(message);
            for (number, part) in (0..).zip(&message.parts) {
                if told.results.get(number) != now.get(number) {
                    let stub = Message::new(message.role, vec![part.clone()]);
                    parts.push((told.entry, number as u32, Some(stub)));
                }
            }
            (told.results, told.is_pruned) = (now, true);
        }
        if parts.is_empty() {
            return Ok(());
        }
        self.tell_hide(HideStep::prune(parts), change).map(drop)
    }

    /// Hides what is gone, with what stands in its place; gives for each message the entry that it is
    /// now, if it stands there.
    fn hide(
        &mut self,
        told: &[Told],
        items: &mut [Item],
        fates: &[Fate],
        change: Change,
    ) -> Result<Vec<Option<StepEntry>>> {
        let stays: HashSet<usize> = fates.iter().filter_map(Fate::stays).collect();
        let gone = || (0..told.len()).filter(|at| !stays.contains(at));
        let places: Vec<Option<usize>> = fates.iter().map(Fate::stays).collect();
        let following = following(&places);
        let (mut replacements, mut numbers) = (Vec::new(), vec![None; items.len()]);
        for (at, item) in items.iter_mut().enumerate() {
            if !matches!(fates[at], Fate::Swapped(_) | Fate::Placed) {
                continue;
            }
            if let Some(Action::Append(message)) = item.step.take().map(|step| step.action) {
                numbers[at] = Some(replacements.len());
                replacements.push((following[at].map(|at| told[at].entry), message));
            }
        }
        let ends = gone().next().zip(gone().next_back());
        let cover = match ends {
            Some((first, last)) => Cover::Range(told[first].entry, told[last].entry),
            None if replacements.is_empty() => return Ok(numbers.iter().map(|_| None).collect()),
            None => Cover::Nothing,
        };
        let between = ends.map_or(0..0, |(first, last)| first..last);
        let kept = between.filter(|at| stays.contains(at));
        let keep = kept.map(|at| told[at].entry).collect();
        let kind = if fates.contains(&Fate::Placed) {
            HideKind::Compaction
        } else {
            HideKind::Drop
        };
        let hide = HideStep::of(kind, cover)
            .keeping(keep)
            .putting(replacements);
        let step = self.tell_hide(hide, change)?;
        let entry = |number: Option<usize>| number.map(|number| step.replacement(number));
        Ok(numbers.into_iter().map(entry).collect())
    }

    fn tell_hide(&mut self, hide: HideStep, change: Change) -> Result<StepId> {
        self.tell(Step::new(Action::Hide(hide), change.span).at(change.time))
    }
}

/// For each message of the list the place of the one that was told and that it is. What was told of a row
/// that did not change is its own; what is new is found among the rest, in order between those.
fn found(told: &[Told], items: &[Item]) -> Vec<Option<usize>> {
    let places = (0..).zip(told);
    let own: HashMap<_, usize> = places
        .map(|(at, told)| ((told.row, told.number), at))
        .collect();
    let mut found = vec![None; items.len()];
    let (mut item, mut next) = (0, 0);
    for at in 0..=items.len() {
        let place = match items.get(at) {
            Some(item) if item.step.is_some() => None,
            Some(item) => own.get(&(item.row, item.number)).copied(),
            None => Some(told.len()),
        };
        let Some(place) = place.filter(|place| *place >= next) else {
            continue;
        };
        let before: Vec<Key> = told[next..place].iter().map(|told| told.key).collect();
        let now: Vec<Key> = items[item..at].iter().map(|item| item.key).collect();
        for (found, same) in found[item..at].iter_mut().zip(matched(&before, &now)) {
            *found = same.map(|same| next + same);
        }
        if let Some(found) = found.get_mut(at) {
            *found = Some(place);
        }
        (item, next) = (at + 1, place + 1);
    }
    found
}

/// For each place the first that is known from there on.
pub(in crate::formats) fn following(places: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut next = None;
    let mut following: Vec<_> = places
        .iter()
        .rev()
        .map(|place| {
            next = place.or(next);
            next
        })
        .collect();
    following.reverse();
    following
}
