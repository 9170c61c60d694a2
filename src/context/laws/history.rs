//! Random histories with every operation, resets and re-appends, from plain numbers so that they
//! shrink well. Numbers that would give an operation the fold refuses give an append instead.

use proptest::prelude::*;

use crate::context::Order;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{
    Commit, EntryId, Hide, HideKind, Interval, Message, Millis, Operation, Part, PartHide,
    Priority, Replacement, Role, Settings,
};

/// One number for each choice.
pub(crate) type Draw = (u8, u32, u32, u32, u32);

/// A tree of commits, each after its parent.
#[derive(Clone, Debug)]
pub(crate) struct History(pub(crate) Vec<(CommitHash, Commit)>);

/// Histories of up to `most` commits.
pub(crate) fn histories(most: usize) -> impl Strategy<Value = History> {
    prop::collection::vec(any::<Draw>(), 1..most).prop_map(|draws| {
        let mut history = History(Vec::new());
        for draw in draws {
            history.grow(draw);
        }
        history
    })
}

impl History {
    /// The path to the commit at `index`, oldest first.
    pub(crate) fn path(&self, index: usize) -> Vec<(CommitHash, Commit)> {
        let mut path = vec![self.0[index].clone()];
        while let Some(parent) = path[path.len() - 1].1.parent {
            let found = self.0.iter().find(|(hash, _)| *hash == parent);
            path.push(found.expect("a parent comes first").clone());
        }
        path.reverse();
        path
    }

    /// The whole order at the commit at `index`.
    pub(crate) fn order(&self, index: usize) -> Order {
        fold(&self.path(index))
    }

    /// Adds the commit that `draw` stands for: mostly after the newest, sometimes after an older.
    pub(crate) fn grow(&mut self, draw: Draw) {
        let (op, a, b, ..) = draw;
        let parent = match self.0.len() {
            0 => None,
            count if op >= 224 => Some(a.wrapping_mul(31).wrapping_add(b) as usize % count),
            count => Some(count - 1),
        };
        let order = parent.map(|at| self.order(at)).unwrap_or_default();
        let path = parent.map(|at| self.path(at)).unwrap_or_default();
        let parent = parent.map(|at| self.0[at].0);
        let serial = self.0.len() as i64;
        let commit = |operation| {
            let mut settings = Settings::new();
            if a % 5 == 0 {
                settings.insert(
                    ["model", "temperature"][b as usize % 2].into(),
                    serial.to_string(),
                );
            }
            // The time keeps every commit apart from every other.
            Commit {
                parent,
                operation,
                time: Some(Millis(serial)),
                settings,
                note: None,
                author: None,
                merged: None,
                origin: None,
            }
        };
        let wanted = commit(operation(draw, &order, &path));
        let hash = wanted.hash();
        let commit = match order.clone().apply(hash, &wanted) {
            Ok(()) => wanted,
            Err(_) => commit(Operation::Append {
                content: content(b),
            }),
        };
        self.0.push((commit.hash(), commit));
    }
}

/// Folds a path from the root.
pub(crate) fn fold(path: &[(CommitHash, Commit)]) -> Order {
    let mut order = Order::default();
    for (hash, commit) in path {
        order.apply(*hash, commit).expect("a generated path folds");
    }
    order
}

/// One of a few contents, so that equal ones occur.
pub(crate) fn content(number: u32) -> ContentHash {
    message(number).hash()
}

/// The message behind [`content`]: of one to three parts, all of another length.
pub(crate) fn message(number: u32) -> Message {
    let number = number % CONTENTS;
    let words = |part| "word ".repeat((number * 3 + part) as usize);
    Message {
        parts: (0..=number % 3)
            .map(|part| Part::text(words(part)))
            .collect(),
        ..Message::text(Role::ALL[number as usize % Role::ALL.len()], "")
    }
}

/// How many contents there are.
pub(crate) const CONTENTS: u32 = 11;

fn operation(draw: Draw, order: &Order, path: &[(CommitHash, Commit)]) -> Operation {
    let (op, a, b, c, d) = draw;
    let entries: Vec<EntryId> = order.entries().map(|entry| entry.id).collect();
    let made = |wanted: &dyn Fn(&Operation) -> bool| -> Vec<CommitHash> {
        let found = path.iter().filter(|(_, commit)| wanted(&commit.operation));
        found.map(|(hash, _)| *hash).collect()
    };
    let pick = |number: u32| entries[number as usize % entries.len()];
    if entries.is_empty() {
        return Operation::Append {
            content: content(b),
        };
    }
    let hides = made(&|operation| matches!(operation, Operation::Hide(_)));
    let edits = made(&|operation| matches!(operation, Operation::Edit { .. }));
    match op % 12 {
        0..=3 => Operation::Append {
            content: content(b),
        },
        4 | 5 => {
            // Sometimes by the name of an earlier edit.
            let target = match edits.as_slice() {
                edits if !edits.is_empty() && a % 3 == 0 => edits[b as usize % edits.len()].into(),
                _ => pick(b),
            };
            Operation::Edit {
                target,
                content: content(c),
            }
        }
        6..=8 => Operation::Hide(hide(draw, &entries)),
        9 | 10 if !hides.is_empty() || !edits.is_empty() => {
            let targets: Vec<CommitHash> = hides.iter().chain(&edits).copied().collect();
            let target = targets[b as usize % targets.len()];
            let hidden: Vec<EntryId> = order
                .entries()
                .filter(|entry| entry.hidden_by.contains(&target))
                .map(|entry| entry.id)
                .collect();
            let named = op % 12 == 10 && !hidden.is_empty();
            let entries = if named {
                vec![hidden[c as usize % hidden.len()]]
            } else {
                Vec::new()
            };
            Operation::Restore { target, entries }
        }
        _ => {
            let mut targets = vec![pick(b), pick(c)];
            targets.truncate(1 + d as usize % 2);
            let priority = [Priority::Pinned, Priority::Normal, Priority::Skip][a as usize % 3];
            Operation::Annotate {
                targets,
                priority,
                reason: None,
            }
        }
    }
}

fn hide(draw: Draw, entries: &[EntryId]) -> Hide {
    let (_, a, b, c, d) = draw;
    let count = entries.len();
    let at = |number: u32| number as usize % count;
    let interval = |x: u32, y: u32| {
        let (first, last) = (at(x).min(at(y)), at(x).max(at(y)));
        Interval {
            first: entries[first],
            last: entries[last],
        }
    };
    let mut intervals = Vec::new();
    if a % 4 != 0 {
        intervals.push(interval(b, c));
    }
    if a % 7 == 1 {
        intervals.push(interval(c, d));
    }
    let keep = entries
        .iter()
        .enumerate()
        .filter(|(i, _)| d >> (i % 32) & 3 == 3);
    let mut parts = Vec::new();
    for (bit, number) in [(4, b), (5, d)] {
        if a >> bit & 3 == 0 {
            let stub = (c % 2 == 0).then(|| content(number));
            parts.push(PartHide {
                entry: entries[at(number)],
                part: c % 3,
                stub,
            });
        }
    }
    let replacements = (0..c % 4).map(|index| {
        let number = d.rotate_left(8 * index);
        let before = (number % 3 != 0).then(|| entries[at(number / 3)]);
        Replacement {
            before,
            content: content(number),
        }
    });
    Hide {
        kind: HideKind::ALL[a as usize % 5],
        intervals,
        keep: keep.map(|(_, entry)| *entry).collect(),
        parts,
        replacements: replacements.collect(),
    }
}
