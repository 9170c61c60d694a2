//! The second pass: the entries on each way are read again, and become steps.

use std::collections::HashMap;
use std::rc::Rc;

use super::index::{Index, Kind, Record};
use super::message::{Said, broken_off, said};
use crate::error::Result;
use crate::formats::shared::continuation::Plain;
use crate::formats::shared::parts;
use crate::formats::shared::teller::Teller;
use crate::formats::{
    Action, Cover, HideStep, Input, Midway, Source, Step, StepEntry, StepId, again,
};
use crate::model::{HideKind, Message, Millis, StatedUsage};
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
    let model = from.settings.get("model").map(|model| Rc::from(&**model));
    let teller = Teller::of(from.id, &[], &mut found);
    Reader::new(index, source.input, model, teller).tell()?;
    Ok(found.is_plain)
}

/// What is known of an entry once it was told.
#[derive(Clone, Default)]
struct Told {
    is_done: bool,
    /// The entry of the conversation that it made.
    made: Option<StepEntry>,
    /// The last step up to it.
    last: Option<StepId>,
    /// The model in force behind it, as JSON, and the one that the last step up to it brought.
    model: Option<Rc<str>>,
    brought: Option<Rc<str>>,
    /// The compaction on the way to it.
    compaction: Option<u32>,
    /// Of a compaction: the first entry that it keeps, if that is on its way.
    first: Option<u32>,
    /// Of a compaction: what of its tail stands as what it, or one before it, brought back.
    back: Rc<HashMap<u32, StepEntry>>,
}

struct Reader<'a> {
    index: Index,
    input: &'a dyn Input,
    teller: Teller<'a>,
    /// By entry.
    told: Vec<Told>,
    /// The model in force before the first entry.
    model: Option<Rc<str>>,
    /// What was counted for replies that are not sent again.
    others: StatedUsage,
}

/// What an entry says, and when.
type Read = (Option<Said>, Option<Millis>, Option<String>);

impl<'a> Reader<'a> {
    fn new(
        mut index: Index,
        input: &'a dyn Input,
        model: Option<Rc<str>>,
        mut teller: Teller<'a>,
    ) -> Self {
        teller.start = index.start.take().unwrap_or(teller.start);
        teller.end = std::mem::take(&mut index.end);
        Self {
            told: vec![Told::default(); index.entries.len()],
            index,
            input,
            teller,
            model,
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
                    model: self.model.clone(),
                    brought: self.model.clone(),
                    ..Told::default()
                },
            };
            next.is_done = true;
            match entry.kind {
                Kind::Message => self.message(at, &mut next)?,
                Kind::Compaction(first) | Kind::Reset(first) => {
                    self.compaction(at, first, &mut next)?
                }
                Kind::Model => next.model = self.index.models.get(&at).cloned(),
                Kind::Other => {}
            }
            self.told[at as usize] = next;
        }
        Ok(())
    }

    /// What an entry says; what cannot be read was reported.
    fn read(&mut self, at: u32) -> Result<Read> {
        let entry = self.index.entries[at as usize];
        let text = again(self.input, entry.span)?;
        let record: Record<'_> = serde_json::from_str(&text).unwrap_or_default();
        let found = match said(&record, &mut self.teller.notes) {
            Ok(None) => {
                if let Some((model, usage)) = broken_off(&record) {
                    self.others.add_other(model.unwrap_or_default(), usage);
                }
                None
            }
            Ok(found) => found,
            Err(reason) => {
                self.teller.problem_on(entry.line, reason)?;
                None
            }
        };
        Ok((found, parts::time(record.timestamp), string(record.r#type)))
    }

    fn message(&mut self, at: u32, next: &mut Told) -> Result<()> {
        let (found, time, kind) = self.read(at)?;
        let Some(said) = found else {
            let kind = kind.unwrap_or_default();
            self.teller.end.other(format!("{kind} (not sent)"));
            return Ok(());
        };
        if let Some(model) = said.model {
            next.model = Some(quoted(&model).into());
        }
        let model = next.model.clone().filter(|_| next.model != next.brought);
        next.brought = model.clone().or(next.brought.take());
        let step = Step::append(said.message, self.index.entries[at as usize].span)
            .at(time)
            .by_model(model.map(|model| (*model).to_owned()))
            .counted(said.usage);
        next.made = Some(self.step(step, next)?);
        Ok(())
    }

    fn step(&mut self, step: Step, next: &mut Told) -> Result<StepEntry> {
        let made = self.teller.next_step();
        self.teller.follow(step, &mut next.last)?;
        Ok(made.entry())
    }

    /// How an entry on the way is sent behind the compaction before it, if it is.
    fn standing(&self, at: u32, compaction: Option<u32>) -> Option<StepEntry> {
        let told = &self.told[at as usize];
        let Some(compaction) = compaction.filter(|compaction| *compaction > at) else {
            return told.made;
        };
        let behind = &self.told[compaction as usize];
        let is_kept = behind.first.is_some_and(|first| at >= first);
        let back = behind.back.get(&at).copied();
        back.or(told.made).filter(|_| is_kept)
    }

    /// Whether an entry says something that is sent.
    fn is_said(&self, at: u32) -> bool {
        let is_message = self.index.entries[at as usize].kind == Kind::Message;
        is_message && self.told[at as usize].made.is_some()
    }

    /// The first and the last of what is sent before an entry of the way, behind the compaction before it.
    fn ends_before(&self, at: u32, compaction: Option<u32>) -> Option<(StepEntry, StepEntry)> {
        let mut ends: Option<(StepEntry, StepEntry)> = None;
        let behind = compaction.map(|at| (at, &self.told[at as usize]));
        let from = behind.map_or(0, |(at, behind)| behind.first.unwrap_or(at));
        let mut next = self.index.entries[at as usize].parent;
        while let Some(at) = next.filter(|at| *at >= from) {
            let standing = self.standing(at, compaction);
            if let Some(entry) = standing.filter(|_| self.is_said(at)) {
                ends = Some((entry, ends.map_or(entry, |(_, last)| last)));
            }
            next = self.index.entries[at as usize].parent;
        }
        let summary = behind.and_then(|(_, behind)| behind.made);
        match summary {
            Some(summary) => Some((summary, ends.map_or(summary, |(_, last)| last))),
            None => ends,
        }
    }

    /// Everything before it goes but a tail, before which its summary stands; a reset has none. What an earlier one had
    /// hidden of that tail is said again.
    fn compaction(&mut self, at: u32, first: Option<u32>, next: &mut Told) -> Result<()> {
        let (found, time, _) = self.read(at)?;
        let entry = self.index.entries[at as usize];
        let is_reset = matches!(entry.kind, Kind::Reset(_));
        if found.is_none() && !is_reset {
            self.teller.end.other("compaction");
            return Ok(());
        }
        let before = next.compaction.replace(at);
        // A way's entries are in the file's order.
        let tail = entry.parent.zip(first);
        let tail = tail.map(|(last, first)| self.index.way(last, |at| at < first));
        let tail = tail.filter(|tail| tail.first().copied() == first);
        next.first = first.filter(|_| tail.is_some());
        let tail = tail.into_iter().flatten().filter(|at| self.is_said(*at));
        let standing = tail.map(|at| (at, self.standing(at, before)));
        let (kept, lost): (Vec<_>, Vec<_>) = standing.partition(|(_, entry)| entry.is_some());
        if next.last.is_none() {
            if let Some(said) = found {
                let step = Step::append(said.message, entry.span);
                next.made = Some(self.step(step.at(time), next)?);
            }
            return Ok(());
        }
        let kept_first = kept.first().and_then(|(at, entry)| Some((*at, (*entry)?)));
        let place = kept_first.map(|(_, entry)| entry);
        let summary = found.map(|said| said.message);
        let has_summary = summary.is_some();
        let mut messages: Vec<Message> = summary.into_iter().collect();
        for (at, _) in &lost {
            let (found, ..) = self.read(*at)?;
            messages.extend(found.map(|said| said.message));
        }
        // What stands from the first that is kept on stays, all of it.
        let ends = self.ends_before(kept_first.map_or(at, |(at, _)| at), before);
        let cover = match (kept_first, ends) {
            (Some(_), Some((first, last))) => Cover::Range(first, last),
            (Some(_), None) => Cover::Nothing,
            // A reset of nothing is no step.
            (None, None) if is_reset => Cover::Nothing,
            (None, _) => Cover::Everything,
        };
        if cover == Cover::Nothing && messages.is_empty() {
            return Ok(());
        }
        let kind = if is_reset {
            HideKind::Clear
        } else {
            HideKind::Compaction
        };
        let replacements = messages.into_iter().map(|message| (place, message));
        let hide = HideStep::of(kind, cover).putting(replacements.collect());
        let step = Step::new(Action::Hide(hide), entry.span).at(time);
        let made = self.step(step, next)?;
        next.made = has_summary.then_some(made);
        let lost: Vec<u32> = lost.into_iter().map(|(at, _)| at).collect();
        let from = usize::from(has_summary);
        let again = (from..).zip(lost);
        let again = again.map(|(number, at)| (at, made.step.replacement(number)));
        next.back = self.back(before, &kept, again.collect());
        Ok(())
    }

    /// What of a compaction's tail stands as what it says `again`, or as what one before it brought back.
    fn back(
        &self,
        before: Option<u32>,
        kept: &[(u32, Option<StepEntry>)],
        again: Vec<(u32, StepEntry)>,
    ) -> Rc<HashMap<u32, StepEntry>> {
        let known = before.map(|at| self.told[at as usize].back.clone());
        let known = known.unwrap_or_default();
        let of_kept = kept.iter().filter_map(|(at, _)| known.get_key_value(at));
        // Many compactions that keep the same share it.
        if again.is_empty() && of_kept.clone().count() == known.len() {
            return known;
        }
        let of_kept = of_kept.map(|(at, entry)| (*at, *entry));
        Rc::new(of_kept.chain(again).collect())
    }
}
