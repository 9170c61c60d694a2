//! What is hidden on a way: by compactions and resets, and by edits of what is sent.

use std::collections::HashMap;
use std::rc::Rc;

use super::index::Kind;
use super::message::{replacement, said};
use super::read::{Reader, Told};
use super::system;
use crate::error::Result;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Role};

impl Reader<'_> {
    /// What is sent of an entry that was read, behind the edits of it.
    fn edited(&mut self, at: u32, next: &Told) -> Result<Option<Message>> {
        let edit = next.edits.get(&at).map(|(edit, _)| *edit);
        let content = edit
            .map(|edit| self.record(edit, |_, record| replacement(record).map(ToOwned::to_owned)));
        let content = content.transpose()?;
        if let Some(None) = content {
            return Ok(None);
        }
        let content = content.flatten();
        let found = self.record(at, |reader, record| {
            said(record, content.as_deref(), &mut reader.teller.notes)
        })?;
        match found {
            Ok(found) => Ok(found.map(|said| said.message)),
            Err(reason) => {
                let line = edit.map_or(0, |edit| self.index.entries[edit as usize].line);
                self.teller.problem_on(line, reason)?;
                Ok(None)
            }
        }
    }

    /// What is sent of an entry of the way from here on.
    pub(super) fn edit(&mut self, at: u32, target: Option<u32>, next: &mut Told) -> Result<()> {
        let entry = self.index.entries[at as usize];
        let way = entry.parent.map(|parent| self.index.way(parent, |_| false));
        let way = way.unwrap_or_default();
        let is_on_way = |target: &u32| way.binary_search(target).is_ok() && self.is_said(*target);
        let Some(target) = target.filter(is_on_way) else {
            return Ok(());
        };
        if !self.is_kept(target, next) {
            return Ok(());
        }
        let old = self.standing(target, next);
        Rc::make_mut(&mut next.edits).insert(target, (at, None));
        let hide = match (old, self.edited(target, next)?) {
            (Some(old), Some(message)) => HideStep::replacing(old, message),
            (Some(old), None) => HideStep::of(HideKind::Drop, Cover::Range(old, old)),
            (None, Some(message)) => {
                let behind = way
                    .into_iter()
                    .filter(|it| *it > target && self.is_said(*it));
                let place = behind.filter_map(|it| self.standing(it, next)).next();
                HideStep::of(HideKind::Drop, Cover::Nothing).putting(vec![(place, message)])
            }
            (None, None) => return Ok(()),
        };
        let is_sent = !hide.replacements.is_empty();
        let made = self.step(Step::new(Action::Hide(hide), entry.span), next)?;
        let standing = is_sent.then(|| made.step.replacement(0));
        Rc::make_mut(&mut next.edits).insert(target, (at, standing));
        Ok(())
    }

    /// Whether an entry on the way is none that the compaction before sums up.
    fn is_kept(&self, at: u32, behind: &Told) -> bool {
        let compaction = behind.compaction.filter(|compaction| *compaction > at);
        compaction.is_none_or(|it| {
            self.told[it as usize]
                .first
                .is_some_and(|first| at >= first)
        })
    }

    /// How an entry on the way is sent behind the compaction and the edits before it, if it is.
    fn standing(&self, at: u32, behind: &Told) -> Option<StepEntry> {
        let compaction = behind.compaction.filter(|compaction| *compaction > at);
        let back = compaction.and_then(|it| self.told[it as usize].back.get(&at).copied());
        let edited = behind.edits.get(&at).map(|(_, standing)| *standing);
        let standing = edited.unwrap_or(back.or(self.told[at as usize].made));
        standing.filter(|_| self.is_kept(at, behind))
    }

    /// Whether an entry says something that is sent.
    fn is_said(&self, at: u32) -> bool {
        let is_message = self.index.entries[at as usize].kind == Kind::Message;
        is_message && self.told[at as usize].made.is_some()
    }

    /// The first and the last of what is sent before an entry of the way, behind the compaction before it, but for the
    /// prompt that it begins with.
    fn ends_before(&self, at: u32, behind: &Told) -> Option<(StepEntry, StepEntry)> {
        let mut ends: Option<(StepEntry, StepEntry)> = None;
        let compaction = behind.compaction.map(|at| (at, &self.told[at as usize]));
        let from = compaction.map_or(0, |(at, told)| told.first.unwrap_or(at));
        let mut next = self.index.entries[at as usize].parent;
        while let Some(at) = next.filter(|at| *at >= from) {
            let standing = self.standing(at, behind);
            if let Some(entry) = standing.filter(|_| self.is_said(at)) {
                ends = Some((entry, ends.map_or(entry, |(_, last)| last)));
            }
            next = self.index.entries[at as usize].parent;
        }
        let summary = compaction.and_then(|(_, told)| told.made);
        match summary {
            Some(summary) => Some((summary, ends.map_or(summary, |(_, last)| last))),
            None => ends,
        }
    }

    /// The changes of the prompt that are sent behind the compaction before, which stand before `at`.
    fn changes_before(&self, at: u32, behind: &Told) -> Vec<(u32, StepEntry)> {
        let from = behind.compaction.unwrap_or_default();
        let way = self.index.way(at, |at| at < from).into_iter();
        let changes = way.filter(|it| self.index.entries[*it as usize].kind == Kind::System);
        let changes = changes.filter_map(|it| Some((it, self.told[it as usize].made?)));
        let first = behind.system.as_ref().map(|(entry, _)| *entry);
        changes.filter(|(_, made)| Some(*made) != first).collect()
    }

    /// Everything before it goes but a tail, before which its summary stands; a reset has none. What an earlier one had
    /// hidden of that tail is said again. The prompt is the one that holds by then, in front.
    pub(super) fn compaction(
        &mut self,
        at: u32,
        first: Option<u32>,
        next: &mut Told,
    ) -> Result<()> {
        let before = next.clone();
        let (found, time, _) = self.read(at, next)?;
        let entry = self.index.entries[at as usize];
        let is_reset = matches!(entry.kind, Kind::Reset(_));
        if found.is_none() && !is_reset {
            self.teller.end.other("compaction");
            return Ok(());
        }
        next.compaction = Some(at);
        // A way's entries are in the file's order.
        let tail = entry.parent.zip(first);
        let tail = tail.map(|(last, first)| self.index.way(last, |at| at < first));
        let tail = tail.filter(|tail| tail.first().copied() == first);
        next.first = first.filter(|_| tail.is_some());
        let tail: Vec<u32> = tail
            .into_iter()
            .flatten()
            .filter(|at| self.is_said(*at))
            .collect();
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        for at in tail {
            match self.standing(at, &before) {
                Some(entry) => kept.push((at, entry)),
                None => lost.extend(self.edited(at, &before)?.map(|message| (at, message))),
            }
        }
        if next.last.is_none() {
            if let Some(said) = found {
                let step = Step::append(said.message, entry.span);
                next.made = Some(self.step(step.at(time), next)?);
            }
            return Ok(());
        }
        let prompt = self.record(at, |_, record| {
            system::of(record.system_message, None).map(system::whole)
        })?;
        let prompt = prompt.filter(|text| !text.is_empty()).map(Rc::from);
        // Of a reset the tool says no prompt.
        let is_same = is_reset || prompt == before.system.as_ref().map(|(_, text)| text.clone());
        let old_prompt = before.system.as_ref().map(|(entry, _)| *entry);
        let place = kept.first().map(|(_, entry)| *entry);
        let mut messages = Vec::new();
        if let Some(text) = prompt.as_deref().filter(|_| !is_same) {
            messages.push(Message::text(Role::System, text));
        }
        let (of_prompt, has_summary) = (messages.len(), found.is_some());
        messages.extend(found.map(|said| said.message));
        let of_lost = messages.len();
        let lost = lost.into_iter().map(|(at, message)| {
            messages.push(message);
            at
        });
        let lost: Vec<u32> = lost.collect();
        // What stands from the first that is kept on stays, all of it but changes of the prompt.
        let kept_first = kept.first().map_or(at, |(at, _)| *at);
        let changes = entry
            .parent
            .map(|parent| self.changes_before(parent, &before));
        let late = changes.and_then(|changes| changes.last().copied());
        let late = late.filter(|(at, _)| !is_reset && *at > kept_first);
        let ends = self.ends_before(kept_first, &before);
        let first = old_prompt
            .filter(|_| !is_same)
            .or(ends.map(|(first, _)| first));
        let last = late.map(|(_, made)| made);
        let last = last.or(ends.map(|(_, last)| last)).or(first);
        let first = first.or(last);
        let mut keep: Vec<StepEntry> = Vec::new();
        let cover = match first.zip(last) {
            Some((first, last)) if !kept.is_empty() => Cover::Range(first, last),
            None if !kept.is_empty() || is_reset => Cover::Nothing,
            _ => {
                keep.extend(old_prompt.filter(|_| is_same));
                Cover::Everything
            }
        };
        if let Some((late, _)) = late {
            let covered = kept.iter().filter(|(at, _)| *at < late);
            keep.extend(covered.map(|(_, entry)| *entry));
        }
        if cover == Cover::Nothing && messages.is_empty() {
            return Ok(());
        }
        let kind = if is_reset {
            HideKind::Clear
        } else {
            HideKind::Compaction
        };
        let replacements = messages.into_iter().map(|message| (place, message));
        let hide = HideStep::of(kind, cover)
            .keeping(keep)
            .putting(replacements.collect());
        let step = Step::new(Action::Hide(hide), entry.span).at(time);
        let made = self.step(step, next)?;
        let put = |number: usize| made.step.replacement(number);
        next.made = has_summary.then(|| put(of_prompt));
        if !is_same {
            next.system = prompt.map(|text| (put(0), text));
        }
        let again = lost.into_iter().zip((of_lost..).map(put));
        let again: Vec<(u32, StepEntry)> = again.collect();
        let edits = again.iter().filter(|(at, _)| next.edits.contains_key(at));
        for (at, standing) in edits.copied().collect::<Vec<_>>() {
            let edit = next.edits[&at].0;
            Rc::make_mut(&mut next.edits).insert(at, (edit, Some(standing)));
        }
        next.back = self.back(before.compaction, &kept, again);
        Ok(())
    }

    /// What of a compaction's tail stands as what it says `again`, or as what one before it brought back.
    fn back(
        &self,
        before: Option<u32>,
        kept: &[(u32, StepEntry)],
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
