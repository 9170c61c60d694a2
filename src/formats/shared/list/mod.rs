//! The list of messages that the tool sends, told as steps while the tool changes it: what comes at its
//! end is appended; what it takes out, or puts in another place, is hidden.
//!
//! A list is told once a model has answered it, before it is changed, and at the end of the file: what a
//! record says again in between is not. Deliberately absent: which record changes the list.

mod changes;
#[cfg(test)]
mod laws;
mod matches;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

pub(in crate::formats) use self::changes::following;
pub(in crate::formats) use self::matches::matched;
use crate::error::Result;
use crate::formats::shared::teller::Teller;
use crate::formats::{Step, StepEntry, StepId};
use crate::hash::ContentHash;
use crate::model::{Message, Millis, Part, Role, Span};

/// A record of the list.
#[derive(Debug, Default)]
pub(in crate::formats) struct Listed {
    /// Its id; empty if it has none.
    pub(in crate::formats) id: String,
    /// Whether a model said it.
    pub(in crate::formats) is_reply: bool,
    /// What is told of it: messages at the end. Of what is not sent there are none.
    pub(in crate::formats) steps: Vec<Step>,
}

/// The record that changed the list, and when that was.
#[derive(Clone, Copy)]
pub(in crate::formats) struct Change {
    pub(in crate::formats) span: Span,
    pub(in crate::formats) time: Option<Millis>,
}

/// Tells a sink of a list.
pub(in crate::formats) struct Telling<'s> {
    pub(in crate::formats) teller: Teller<'s>,
    rows: Vec<Row>,
    /// Where the row of an id stands.
    places: HashMap<String, usize>,
    /// How many rows were told, and stand as they did then.
    settled: usize,
    /// What is visible by now, in order.
    told: Vec<Told>,
    changed: Option<Change>,
}

/// One record of the list.
struct Row {
    id: String,
    is_reply: bool,
    /// Whether it came with a whole list.
    is_listed: bool,
    /// The messages that were told of it, each with which of its messages it is.
    told: Vec<(usize, Key)>,
    /// What is to be told of it behind those.
    new: Vec<Step>,
}

/// What tells messages from others: all that they say but what was thought, which is not sent again.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::formats) struct Key {
    said: ContentHash,
    role: Role,
}

impl Key {
    fn of(message: &Message) -> Self {
        let is_thought = |part: &Part| matches!(part, Part::Thinking { .. });
        let role = message.role;
        if !message.parts.iter().any(is_thought) {
            let said = message.hash();
            return Self { said, role };
        }
        let parts = message.parts.iter().filter(|part| !is_thought(part));
        let said = Message::new(role, parts.cloned().collect()).hash();
        Self { said, role }
    }
}

/// A message that was told.
pub(in crate::formats) struct Told {
    pub(in crate::formats) key: Key,
    /// The row that it is of, its id, and which of its messages.
    row: usize,
    id: String,
    number: usize,
    entry: StepEntry,
    /// Of a tool's message the results, as far as they are told apart.
    results: Vec<u64>,
    /// Whether parts of it were hidden.
    is_pruned: bool,
}

/// A message of the list as it is now.
pub(in crate::formats) struct Item {
    pub(in crate::formats) key: Key,
    row: usize,
    number: usize,
    /// What tells it, unless it was told.
    step: Option<Step>,
}

impl<'s> Telling<'s> {
    pub(in crate::formats) fn new(teller: Teller<'s>) -> Self {
        Self {
            teller,
            rows: Vec::new(),
            places: HashMap::new(),
            settled: 0,
            told: Vec::new(),
            changed: None,
        }
    }

    /// Whether there is nothing in the list.
    pub(in crate::formats) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether these are the first of its records, by their ids, and not all.
    pub(in crate::formats) fn begins_with(&self, list: &[Listed]) -> bool {
        let mut pairs = list.iter().zip(&self.rows);
        list.len() < self.rows.len() && pairs.all(|(listed, row)| listed.id == row.id)
    }

    /// Puts a record where the one of the same id stands, or at the end; gives whether there was one.
    pub(in crate::formats) fn put(&mut self, listed: Listed, change: Change) -> Result<bool> {
        if let Some(at) = self.places.get(&listed.id).copied() {
            self.touch(at, change)?;
            self.rows[at].put(listed);
            return Ok(true);
        }
        if listed.is_reply {
            self.settle()?;
        }
        self.push(listed, false);
        Ok(false)
    }

    /// Adds to what the record of the same id says; where there is none, it stands at the end.
    pub(in crate::formats) fn add(&mut self, mut more: Listed, change: Change) -> Result<()> {
        let Some(at) = self.places.get(&more.id).copied() else {
            more.id.clear();
            return self.put(more, change).map(drop);
        };
        self.touch(at, change)?;
        self.rows[at].new.extend(more.steps);
        Ok(())
    }

    /// A row is about to change.
    fn touch(&mut self, at: usize, change: Change) -> Result<()> {
        if at < self.settled {
            self.settle()?;
            self.changed = Some(change);
        }
        Ok(())
    }

    fn push(&mut self, listed: Listed, is_listed: bool) {
        if !listed.id.is_empty() {
            self.places.insert(listed.id.clone(), self.rows.len());
        }
        self.rows.push(Row {
            id: listed.id,
            is_reply: listed.is_reply,
            is_listed,
            told: Vec::new(),
            new: listed.steps,
        });
    }

    /// Puts a whole list in place of what there is.
    pub(in crate::formats) fn replace(&mut self, list: Vec<Listed>, change: Change) -> Result<()> {
        let ids: HashSet<&str> = list.iter().map(|listed| listed.id.as_str()).collect();
        // What no model has answered yet, and what the tool has put there itself, comes with the list.
        while self.rows.len() > self.settled
            && let Some(row) = self.rows.last()
            && !row.is_reply
            && !row.id.is_empty()
            && ids.contains(row.id.as_str())
        {
            self.rows.pop();
        }
        self.settle()?;
        self.rows.clear();
        self.places.clear();
        self.settled = 0;
        for listed in list {
            match self.places.get(&listed.id).copied() {
                Some(at) => self.rows[at].put(listed),
                None => self.push(listed, true),
            }
        }
        self.changed = (!self.told.is_empty()).then_some(change);
        Ok(())
    }

    /// Takes out the record of this id and all that stand behind it; all where there is none. Gives
    /// whether anything was there.
    pub(in crate::formats) fn rewind(&mut self, id: &str, change: Change) -> Result<bool> {
        let from = self.places.get(id).copied().unwrap_or(0);
        self.cut(from, change)
    }

    /// Takes out all that stands behind the record of this id. Gives whether there is one.
    pub(in crate::formats) fn rewind_behind(&mut self, id: &str, change: Change) -> Result<bool> {
        let Some(at) = self.places.get(id).copied() else {
            return Ok(false);
        };
        self.cut(at + 1, change)?;
        Ok(true)
    }

    fn cut(&mut self, from: usize, change: Change) -> Result<bool> {
        self.settle()?;
        let has_any = self.rows.len() > from;
        for row in self.rows.drain(from..) {
            self.places.remove(&row.id);
        }
        self.settled = self.rows.len();
        self.changed = Some(change);
        Ok(has_any)
    }

    /// Tells the list as it is.
    pub(in crate::formats) fn settle(&mut self) -> Result<()> {
        let changed = self.changed.take();
        let from = changed.map_or(self.settled, |_| 0);
        let items = self.items(from);
        match changed {
            Some(change) => self.reconcile(items, change)?,
            None => {
                for item in items {
                    self.append(item)?;
                }
            }
        }
        self.settled = self.rows.len();
        Ok(())
    }

    /// The messages of the rows from one on, which count as told from now on. What calls gave back is
    /// one message, though the reply's record has it and one of its own.
    fn items(&mut self, from: usize) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for (at, row) in self.rows.iter_mut().enumerate().skip(from) {
            let next = row.told.last().map_or(0, |(number, _)| number + 1);
            let told = std::mem::take(&mut row.told).into_iter();
            let told = told.map(|(number, key)| (number, key, None));
            let keyed = |step: Step| Some((Key::of(step.message()?), Some(step)));
            let new = std::mem::take(&mut row.new).into_iter().filter_map(keyed);
            let new = (next..).zip(new);
            let new = new.map(|(number, (key, step))| (number, key, step));
            for (number, key, step) in told.chain(new) {
                let item = Item {
                    key,
                    row: at,
                    number,
                    step,
                };
                match items.last_mut() {
                    Some(last) if last.is_said_again_by(&item) => last.take(item),
                    _ => items.push(item),
                }
            }
        }
        for item in &items {
            let told = &mut self.rows[item.row].told;
            told.push((item.number, item.key));
        }
        items
    }

    fn append(&mut self, mut item: Item) -> Result<()> {
        if let Some(step) = item.step.take() {
            let entry = self.teller.next_step().entry();
            let told = self.told_of(&item, step.message(), entry);
            self.told.push(told);
            self.tell(step)?;
        }
        Ok(())
    }

    fn told_of(&self, item: &Item, message: Option<&Message>, entry: StepEntry) -> Told {
        Told {
            key: item.key,
            row: item.row,
            id: self.rows[item.row].id.clone(),
            number: item.number,
            entry,
            results: message.map(results).unwrap_or_default(),
            is_pruned: false,
        }
    }

    fn tell(&mut self, step: Step) -> Result<StepId> {
        Ok(self.teller.step(step)?.step)
    }
}

impl Row {
    /// Says what is in a record, and nothing else any more.
    fn put(&mut self, listed: Listed) {
        self.is_reply = listed.is_reply;
        self.told.clear();
        self.new = listed.steps;
    }
}

impl Item {
    /// Whether another one, right behind it, says what these calls gave back once more: the same, or
    /// what was sent in place of what the reply's record has. Calls have ids of their own, so that two of
    /// them never give back the same.
    fn is_said_again_by(&self, next: &Self) -> bool {
        if self.key.role != Role::Tool || next.key.role != Role::Tool {
            return false;
        }
        if self.key == next.key {
            return true;
        }
        let is_of_reply = self.number > 0 && next.number == 0;
        let results = |item: &Self| -> Option<HashSet<String>> {
            let message = item.step.as_ref().and_then(Step::message)?;
            Some(message.results().map(str::to_owned).collect())
        };
        let same = || results(self).zip(results(next));
        is_of_reply && same().is_some_and(|(one, other)| one == other)
    }

    /// Takes what is said again, with its record.
    fn take(&mut self, next: Self) {
        let Some(mut step) = next.step else { return };
        if let Some(own) = self.step.take() {
            step.records.splice(0..0, own.records);
            step.time = own.time.or(step.time);
            self.key = next.key;
            self.step = Some(step);
        }
    }
}

/// The results of a tool's message, as far as they are told apart.
fn results(message: &Message) -> Vec<u64> {
    let is_tools = message.role == Role::Tool;
    let parts = message.parts.iter().filter(|_| is_tools);
    parts
        .map(|part| {
            let mut hasher = DefaultHasher::new();
            part.hash(&mut hasher);
            hasher.finish()
        })
        .collect()
}
