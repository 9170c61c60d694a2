//! The second pass: the entries on each way are read again, and become steps.

use std::collections::HashMap;
use std::rc::Rc;

use super::index::{Index, Kind, Record};
use super::message::{Said, counted, said};
use super::system;
use crate::error::Result;
use crate::formats::shared::continuation::Plain;
use crate::formats::shared::parts;
use crate::formats::shared::teller::Teller;
use crate::formats::{Input, Midway, Source, Step, StepEntry, StepId, again};
use crate::model::{Message, Millis, Role, StatedUsage, depth};
use crate::wire::json::{quoted, string};

/// Reads a session.
pub(super) fn import(source: Source<'_>) -> Result<()> {
    import_whole(source, false)
}

/// The same of a tool that repairs its files: it takes out entries, and what hung on one names it still.
pub(super) fn import_repaired(source: Source<'_>) -> Result<()> {
    import_whole(source, true)
}

fn import_whole(source: Source<'_>, is_repaired: bool) -> Result<()> {
    let index = Index::read(source.input, 0, source.stem, is_repaired, source.sink)?;
    let teller = Teller::of(source.stem, &[], source.sink);
    Reader::new(index, source.input, None, teller).tell()
}

/// Goes on from the middle, where each entry follows the one before and nothing is summed up.
pub(super) fn go_on(source: Source<'_>, from: Midway<'_>) -> Result<bool> {
    let mut found = Plain::of(source.sink);
    let index = Index::read(source.input, from.offset, from.id, false, &mut found)?;
    if !index.is_one_way || index.start.is_some() {
        return Ok(false);
    }
    let before = SETTINGS.map(|key| from.settings.get(key).map(|it| Rc::from(&**it)));
    let teller = Teller::of(from.id, &[], &mut found);
    Reader::new(index, source.input, Some(before), teller).tell()?;
    Ok(found.is_plain)
}

/// The settings that change on a way, and where each stands among those in force.
const SETTINGS: [&str; 2] = ["model", "tools"];
const MODEL: usize = 0;
const TOOLS: usize = 1;

/// Settings as JSON.
type InForce = [Option<Rc<str>>; 2];

/// What is known of an entry once it was told.
#[derive(Clone, Default)]
pub(super) struct Told {
    pub(super) is_done: bool,
    /// The entry of the conversation that it made.
    pub(super) made: Option<StepEntry>,
    /// The last step up to it.
    pub(super) last: Option<StepId>,
    /// The settings in force behind it, and those that the steps up to it brought.
    pub(super) settings: InForce,
    pub(super) brought: InForce,
    /// The message that the conversation begins with, where that is a prompt, and its text.
    pub(super) system: Option<(StepEntry, Rc<str>)>,
    /// The entries on its way that are sent otherwise than they were said: by which edit, and as what, if they are.
    pub(super) edits: Rc<HashMap<u32, (u32, Option<StepEntry>)>>,
    /// The compaction on the way to it.
    pub(super) compaction: Option<u32>,
    /// Of a compaction: the first entry that it keeps, if that is on its way.
    pub(super) first: Option<u32>,
    /// Of a compaction: what of its tail stands as what it, or one before it, brought back.
    pub(super) back: Rc<HashMap<u32, StepEntry>>,
}

pub(super) struct Reader<'a> {
    pub(super) index: Index,
    pub(super) input: &'a dyn Input,
    pub(super) teller: Teller<'a>,
    /// By entry.
    pub(super) told: Vec<Told>,
    /// The settings in force before the first entry, where there is more before it.
    pub(super) before: Option<InForce>,
    /// What was counted for requests that no reply shows.
    pub(super) others: StatedUsage,
    /// When a fork began: what was counted before that its parent has.
    forked: Option<Millis>,
}

/// What an entry says, and when.
type Read = (Option<Said>, Option<Millis>, Option<String>);

impl<'a> Reader<'a> {
    fn new(
        mut index: Index,
        input: &'a dyn Input,
        before: Option<InForce>,
        mut teller: Teller<'a>,
    ) -> Self {
        teller.start = index.start.take().unwrap_or(teller.start);
        teller.end = std::mem::take(&mut index.end);
        let start = &teller.start;
        let forked = start.forked_from.is_some().then_some(start.descent.begun);
        Self {
            forked: forked.flatten(),
            told: vec![Told::default(); index.entries.len()],
            index,
            input,
            teller,
            before,
            others: StatedUsage::default(),
        }
    }

    /// Tells of the way to where the session stands, then of those that leave it.
    fn tell(mut self) -> Result<()> {
        self.teller.open()?;
        let count = self.index.entries.len() as u32;
        if let Some(leaf) = self.index.leaf {
            self.way(leaf)?;
        }
        let mut is_inner = vec![false; count as usize];
        for entry in &self.index.entries {
            if let Some(parent) = entry.parent {
                is_inner[parent as usize] = true;
            }
        }
        let mut number = 1;
        for leaf in 0..count {
            if is_inner[leaf as usize] || self.told[leaf as usize].is_done {
                continue;
            }
            self.teller.branch = Some(format!("leaf-{number}"));
            self.way(leaf)?;
            // A way on which nothing is said is none.
            number += usize::from(self.teller.branch.take().is_none());
        }
        self.teller.end.stated = self.others.if_any();
        self.teller.close()
    }

    /// Tells of the entries up to a leaf that were not told yet.
    fn way(&mut self, leaf: u32) -> Result<()> {
        for at in self.index.way(leaf, |at| self.told[at as usize].is_done) {
            let entry = self.index.entries[at as usize];
            let mut next = match entry.parent.map(|parent| &self.told[parent as usize]) {
                Some(before) => Told {
                    made: None,
                    first: None,
                    back: Rc::default(),
                    ..before.clone()
                },
                None => Told {
                    settings: self.before.clone().unwrap_or_default(),
                    brought: self.before.clone().unwrap_or_default(),
                    ..Told::default()
                },
            };
            next.is_done = true;
            match entry.kind {
                Kind::Message => self.message(at, &mut next)?,
                Kind::Compaction(first) | Kind::Reset(first) => {
                    self.compaction(at, first, &mut next)?
                }
                Kind::System => self.system(at, &mut next)?,
                Kind::Edit(target) => self.edit(at, target, &mut next)?,
                Kind::Usage => self.record(at, |reader, record| reader.count(record, &next))?,
                Kind::Model => next.settings[MODEL] = self.index.models.get(&at).cloned(),
                Kind::Other => {}
            }
            self.told[at as usize] = next;
        }
        Ok(())
    }

    /// Gives an entry to somebody.
    pub(super) fn record<T>(
        &mut self,
        at: u32,
        each: impl FnOnce(&mut Self, &Record<'_>) -> T,
    ) -> Result<T> {
        let text = again(self.input, self.index.entries[at as usize].span)?;
        let record = serde_json::from_str(&text).unwrap_or_default();
        Ok(each(self, &record))
    }

    /// Counts a request that no reply shows; where it names no model, it is the one in force.
    fn count(&mut self, record: &Record<'_>, next: &Told) {
        if let Some((model, usage)) = counted(record) {
            let in_force = || serde_json::from_str(next.settings[MODEL].as_deref()?).ok();
            let model = model.or_else(in_force).unwrap_or_default();
            let is_copied = |forked| parts::time(record.timestamp).is_some_and(|it| it < forked);
            match self.forked.is_some_and(is_copied) {
                true => self.others.add_copied(model, usage),
                false => self.others.add_other(model, usage),
            }
        }
    }

    /// What an entry says for the first time; what cannot be read was reported.
    pub(super) fn read(&mut self, at: u32, next: &Told) -> Result<Read> {
        let line = self.index.entries[at as usize].line;
        let (found, time, kind) = self.record(at, |reader, record| {
            let found = said(record, None, &mut reader.teller.notes);
            if !matches!(&found, Ok(Some(said)) if said.usage.is_some()) {
                reader.count(record, next);
            }
            (found, parts::time(record.timestamp), string(record.r#type))
        })?;
        let found = match found {
            Ok(found) => found,
            Err(reason) => {
                self.teller.problem_on(line, reason)?;
                None
            }
        };
        Ok((found, time, kind))
    }

    fn message(&mut self, at: u32, next: &mut Told) -> Result<()> {
        let (found, time, kind) = self.read(at, next)?;
        let Some(said) = found else {
            let kind = kind.unwrap_or_default();
            self.teller.end.other(format!("{kind} (not sent)"));
            return Ok(());
        };
        if let Some(model) = said.model {
            next.settings[MODEL] = Some(quoted(&model).into());
        }
        let step = Step::append(said.message, self.index.entries[at as usize].span)
            .at(time)
            .counted(said.usage);
        next.made = Some(self.step(step, next)?);
        Ok(())
    }

    /// The prompt, or what changes of it, where it stands; and the tools from here on.
    fn system(&mut self, at: u32, next: &mut Told) -> Result<()> {
        let is_first = next.last.is_none() && self.before.is_none();
        let before = next.settings[TOOLS].clone();
        let (text, tools, time) = self.record(at, |_, record| {
            let message = system::of(None, record.message);
            let say = if is_first {
                system::whole
            } else {
                system::change
            };
            let tools = message.and_then(|it| system::tools(before.as_deref(), it));
            (message.map(say), tools, parts::time(record.timestamp))
        })?;
        let tools = tools.filter(|tools| depth::check_json("tools", tools, 1).is_ok());
        if let Some(tools) = tools {
            self.is_there("tool definitions");
            next.settings[TOOLS] = Some(tools.into());
        }
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            self.teller.end.other("message (not sent)");
            return Ok(());
        };
        self.is_there("system prompt");
        let message = Message::text(Role::System, &*text);
        let step = Step::append(message, self.index.entries[at as usize].span);
        let made = self.step(step.at(time), next)?;
        next.made = Some(made);
        if is_first {
            next.system = Some((made, text.into()));
        }
        Ok(())
    }

    /// Notes that the file has this of what the model was sent.
    fn is_there(&mut self, what: &str) {
        self.teller.end.absent.retain(|it| !it.starts_with(what));
    }

    /// Tells of a step, with the settings that are new.
    pub(super) fn step(&mut self, mut step: Step, next: &mut Told) -> Result<StepEntry> {
        for (at, key) in SETTINGS.into_iter().enumerate() {
            let value = next.settings[at].clone();
            if let Some(value) = value.filter(|value| next.brought[at].as_ref() != Some(value)) {
                step.settings.insert(key.to_owned(), (*value).to_owned());
                next.brought[at] = Some(value);
            }
        }
        let made = self.teller.next_step();
        self.teller.follow(step, &mut next.last)?;
        Ok(made.entry())
    }
}
