//! What stands once a path's steps were taken, for tests: as strict as the fold of commits about what a step
//! may name.

use crate::formats::shared::contract::Session;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry, StepId};
use crate::model::Message;

struct Slot {
    entry: StepEntry,
    message: Message,
    is_hidden: bool,
    /// What stands in place of single parts.
    parts: Vec<(usize, Option<Message>)>,
}

impl Session {
    /// The messages that the main path ends with.
    pub(in crate::formats) fn standing(&self) -> Vec<Message> {
        standing(self.main())
    }
}

/// The messages that stand behind the last of these steps.
pub(in crate::formats) fn standing(steps: &[Step]) -> Vec<Message> {
    let mut slots: Vec<Slot> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match &step.action {
            Action::Append(message) => slots.push(Slot::of(number, None, message)),
            Action::Hide(hide) => take(hide, number, &mut slots),
        }
    }
    let shown = slots.into_iter().filter(|slot| !slot.is_hidden);
    shown.map(Slot::shown).collect()
}

fn take(hide: &HideStep, number: usize, slots: &mut Vec<Slot>) {
    let covered = match hide.cover {
        Cover::Nothing => 0..0,
        Cover::Everything => 0..slots.len(),
        Cover::Range(first, last) => place(slots, first)..place(slots, last) + 1,
    };
    assert!(covered.start <= covered.end, "a range from its end");
    let kept: Vec<usize> = hide.keep.iter().map(|entry| place(slots, *entry)).collect();
    for at in covered.filter(|at| !kept.contains(at)) {
        slots[at].is_hidden = true;
    }
    for (entry, part, stub) in &hide.parts {
        let at = place(slots, *entry);
        slots[at].parts.push((*part as usize, stub.clone()));
    }
    for (index, (before, message)) in hide.replacements.iter().enumerate() {
        let at = before.map_or(slots.len(), |entry| place(slots, entry));
        slots.insert(at, Slot::of(number, Some(index), message));
    }
}

/// Where an entry stands; the first of what a hide put there may be named by the hide alone.
fn place(slots: &[Slot], entry: StepEntry) -> usize {
    let first = StepEntry {
        replacement: entry.replacement.or(Some(0)),
        ..entry
    };
    let mut all = slots.iter();
    let found = all.position(|slot| slot.entry == entry || slot.entry == first);
    found.unwrap_or_else(|| panic!("{entry:?} is not on the path"))
}

impl Slot {
    fn of(step: usize, replacement: Option<usize>, message: &Message) -> Self {
        Self {
            entry: StepEntry {
                step: StepId(step),
                replacement,
            },
            message: message.clone(),
            is_hidden: false,
            parts: Vec::new(),
        }
    }

    fn shown(self) -> Message {
        let parts = self.message.parts.into_iter().enumerate();
        let parts = parts.flat_map(|(at, part)| {
            let stub = self.parts.iter().rfind(|(of, _)| *of == at);
            match stub {
                Some((_, stub)) => stub.iter().flat_map(|stub| stub.parts.clone()).collect(),
                None => vec![part],
            }
        });
        Message {
            parts: parts.collect(),
            ..self.message
        }
    }
}
