//! What a change made of what was told: what is gone is hidden, and what is new stands in its place.

use std::collections::{HashMap, HashSet};

use super::matched::matched;
use super::{Change, Item, Key, Telling, Told, results};
use crate::error::Result;
use crate::interop::{Action, Cover, HideStep, Moment, Step, StepEntry, StepId};
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
        let hide = self.hide(&told, &mut items, &fates, change)?;
        let mut told: Vec<Option<Told>> = told.into_iter().map(Some).collect();
        let mut placed = 0..;
        for (item, fate) in items.into_iter().zip(fates) {
            match (fate, hide) {
                (Fate::Stays(at) | Fate::Pruned(at), _) => {
                    let row = self.rows[item.row].id.clone();
                    self.told.extend(told[at].take().map(|told| Told {
                        key: item.key,
                        row,
                        number: item.number,
                        ..told
                    }));
                }
                (Fate::Swapped(_) | Fate::Placed, Some(step)) => {
                    let entry = StepEntry {
                        step,
                        replacement: placed.next(),
                    };
                    let told = self.told_of(&item, None, entry);
                    self.told.push(told);
                }
                _ => self.append(item)?,
            }
        }
        Ok(())
    }

    /// What becomes of each message of the list, beside what was told.
    fn fates(&self, told: &[Told], items: &[Item]) -> Vec<Fate> {
        let before: Vec<Key> = told.iter().map(|told| told.key).collect();
        let now: Vec<Key> = items.iter().map(|item| item.key).collect();
        let found = matched(&before, &now);
        let kept: HashSet<usize> = found.iter().flatten().copied().collect();
        let gone: Vec<usize> = (0..told.len()).filter(|at| !kept.contains(at)).collect();
        let mut by_row: HashMap<(&str, usize), usize> = HashMap::new();
        for at in &gone {
            let Told { row, number, .. } = &told[*at];
            by_row.insert((row, *number), *at);
        }
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
            let after = || found[at..].iter().flatten().next().copied();
            let fits = |known: &usize| {
                before.is_none_or(|before| before < *known)
                    && after().is_none_or(|after| *known < after)
            };
            fates.push(match known.filter(|_| !id.is_empty()).filter(fits) {
                Some(known) => {
                    before = Some(known);
                    let results = item.step.as_ref().and_then(Step::message).map(results);
                    let old = &told[known];
                    let count = results.map_or(0, |results| results.len());
                    match count > 0 && count == old.results.len() && !old.is_pruned {
                        true => Fate::Pruned(known),
                        false => Fate::Swapped(known),
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

    /// Hides what is gone, with what stands in its place; none where nothing is.
    fn hide(
        &mut self,
        told: &[Told],
        items: &mut [Item],
        fates: &[Fate],
        change: Change,
    ) -> Result<Option<StepId>> {
        let stays: HashSet<usize> = fates.iter().filter_map(Fate::stays).collect();
        let gone = || (0..told.len()).filter(|at| !stays.contains(at));
        let mut replacements = Vec::new();
        for at in 0..items.len() {
            if !matches!(fates[at], Fate::Swapped(_) | Fate::Placed) {
                continue;
            }
            let before = fates[at..].iter().find_map(Fate::stays);
            let step = items[at].step.take();
            if let Some(Action::Append(message)) = step.map(|step| step.action) {
                replacements.push((before.map(|at| told[at].entry), message));
            }
        }
        let ends = gone().next().zip(gone().next_back());
        let cover = match ends {
            Some((first, last)) => Cover::Range(told[first].entry, told[last].entry),
            None if replacements.is_empty() => return Ok(None),
            None => Cover::Nothing,
        };
        let between = ends.map_or(0..0, |(first, last)| first..last);
        let kept = between.filter(|at| stays.contains(at));
        let keep = kept.map(|at| told[at].entry).collect();
        let kind = match fates.contains(&Fate::Placed) {
            true => HideKind::Compaction,
            false => HideKind::Drop,
        };
        let hide = HideStep {
            kind,
            cover,
            keep,
            parts: Vec::new(),
            replacements,
            moment: Moment::Here,
        };
        self.tell_hide(hide, change).map(Some)
    }

    fn tell_hide(&mut self, hide: HideStep, change: Change) -> Result<StepId> {
        self.tell(Step {
            time: change.time,
            ..Step::new(Action::Hide(hide), change.span)
        })
    }
}
