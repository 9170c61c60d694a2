//! Events that are numbered: each once, in the order of their numbers, of the highest revision.

use std::collections::BTreeMap;

use super::event::EventPlace;

/// Puts numbered things in order. What has no number stays where it came.
#[derive(Clone, Debug)]
pub struct Sequence<T> {
    /// The revision, and the number that comes next; none before the first numbered thing.
    at: Option<EventPlace>,
    /// What was taken since the first numbered thing, in order.
    log: Vec<Logged<T>>,
    /// What waits for those before it.
    held: BTreeMap<u64, Logged<T>>,
}

#[derive(Clone, Debug)]
struct Logged<T> {
    sequence: Option<u64>,
    id: Option<String>,
    what: T,
}

/// What became of a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taken<T> {
    /// It is known, or of a lower revision, or has to wait.
    Nothing,
    /// These come next.
    Next(Vec<T>),
    /// Everything since the first numbered thing is to be taken again: [`Sequence::log`].
    Anew,
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Self {
            at: None,
            log: Vec::new(),
            held: BTreeMap::new(),
        }
    }
}

impl<T: Clone> Sequence<T> {
    /// Things as they are taken in the end, with the place and the id of each.
    pub fn in_order(
        things: impl IntoIterator<Item = (Option<EventPlace>, Option<String>, T)>,
    ) -> Vec<T> {
        let mut sequence = Self::default();
        let mut before = Vec::new();
        for (place, id, what) in things {
            if place.is_none() && !sequence.is_numbered() {
                before.push(what);
            } else {
                sequence.take(place, id.as_deref(), what);
            }
        }
        before.extend(sequence.log().cloned());
        before.extend(sequence.rest());
        before
    }

    /// Whether anything numbered has come.
    pub(super) fn is_numbered(&self) -> bool {
        self.at.is_some()
    }

    /// Whether anything waits for those before it.
    pub(super) fn waits(&self) -> bool {
        !self.held.is_empty()
    }

    /// All that was taken since the first numbered thing, in order.
    pub(super) fn log(&self) -> impl Iterator<Item = &T> {
        self.log.iter().map(|logged| &logged.what)
    }

    /// Takes a thing.
    pub(super) fn take(
        &mut self,
        place: Option<EventPlace>,
        id: Option<&str>,
        what: T,
    ) -> Taken<T> {
        let logged = Logged {
            sequence: place.map(|place| place.sequence),
            id: id.map(str::to_owned),
            what,
        };
        let Some(place) = place else {
            let what = logged.what.clone();
            if self.is_numbered() {
                self.log.push(logged);
            }
            return Taken::Next(vec![what]);
        };
        let next = *self.at.get_or_insert(place);
        if place.revision < next.revision {
            return Taken::Nothing;
        }
        if place.revision > next.revision {
            self.log.clear();
            self.held.clear();
            self.at = Some(place);
            self.go_on(logged);
            return Taken::Anew;
        }
        // None comes after the last number of all, so it may come again.
        let is_last = place.sequence == u64::MAX;
        match place.sequence {
            sequence if is_last && self.holds(sequence) => self.put(sequence, logged),
            sequence if sequence == next.sequence => Taken::Next(self.go_on(logged)),
            sequence if sequence > next.sequence => {
                self.held.insert(sequence, logged);
                Taken::Nothing
            }
            sequence => self.put(sequence, logged),
        }
    }

    fn holds(&self, sequence: u64) -> bool {
        self.log.iter().any(|one| one.sequence == Some(sequence))
    }

    /// What waits, for nothing more will come.
    pub(super) fn rest(&mut self) -> Vec<T> {
        let held = std::mem::take(&mut self.held);
        held.into_values().map(|logged| logged.what).collect()
    }

    /// The next one, and those that waited for it.
    fn go_on(&mut self, first: Logged<T>) -> Vec<T> {
        let mut next = Some(first);
        let mut taken = Vec::new();
        while let (Some(logged), Some(at)) = (next, &mut self.at) {
            at.sequence = at.sequence.saturating_add(1);
            taken.push(logged.what.clone());
            self.log.push(logged);
            next = self.held.remove(&at.sequence);
        }
        taken
    }

    /// One with a number that is past: the same again, another in its place, or one from before
    /// the first that came.
    fn put(&mut self, sequence: u64, logged: Logged<T>) -> Taken<T> {
        let is_it = |one: &Logged<T>| one.sequence == Some(sequence);
        match self.log.iter_mut().find(|one| is_it(one)) {
            Some(one) if one.id == logged.id => return Taken::Nothing,
            Some(one) => *one = logged,
            None => {
                let later = |one: &Logged<T>| one.sequence.is_some_and(|other| other > sequence);
                let at = self.log.iter().position(later).unwrap_or(self.log.len());
                self.log.insert(at, logged);
            }
        }
        Taken::Anew
    }
}
