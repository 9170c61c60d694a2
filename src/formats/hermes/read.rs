//! The importer: the messages of a session as steps, and what hides them.

use std::ops::Range;

use serde_json::value::RawValue;

use super::message::{self, Said, Standing};
use super::rows::{BRANCHED_FROM, STARTED_BY, named_in};
use super::stood::{Compaction, compactions};
use super::{MESSAGES, PROVIDER};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Millis, Part, Role, StatedUsage, Usage};
use crate::wire::json::{decode, quoted, tight};

/// A session.
#[derive(Default)]
pub(super) struct Session {
    rows: Vec<(Range<usize>, Said)>,
    /// The system prompt, and where it stands.
    system: Option<(String, Range<usize>)>,
    begun: Option<Millis>,
    model: Option<String>,
    /// The session that it goes on with, and the one that it was branched off.
    parent: Option<String>,
    branched: Option<String>,
    counts: Counts,
    /// Those that stand, by the rows that say it, of those that were not taken back.
    standing: Vec<(usize, StepEntry)>,
}

/// What the tool says that all requests of a session came to.
#[derive(Default)]
struct Counts {
    input: u64,
    output: u64,
    cached: u64,
    written: u64,
    reasoning: u64,
}

impl Document for Session {
    const RECORDS: &'static str = MESSAGES;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        let counts = &mut self.counts;
        let count = match member.key {
            "input_tokens" => &mut counts.input,
            "output_tokens" => &mut counts.output,
            "cache_read_tokens" => &mut counts.cached,
            "cache_write_tokens" => &mut counts.written,
            "reasoning_tokens" => &mut counts.reasoning,
            _ => return self.told(member, teller),
        };
        *count = decode(Some(member.raw)).unwrap_or_default();
        true
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        // An agent's session has nothing of the one that started it.
        if teller.start.descent.spawned_by.is_none() {
            teller.start.forked_from = self.branched.take().or(self.parent.take());
        }
        teller.open()
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        match teller.read(at, message::said)? {
            Some(Ok(said)) => self.rows.push((at.clone(), said)),
            Some(Err(role)) => teller.end.other(role),
            None => {}
        }
        Ok(())
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let model = self.model.take();
        teller.set("model", model.as_deref().map(quoted));
        self.counted(model, teller);
        if let Some((text, at)) = self.system.take() {
            teller.end.absent.retain(|it| it != "system prompt");
            let message = Message::new(Role::System, vec![Part::text(text.trim())]);
            teller.append(message, &at, self.begun, None)?;
        }
        let rows = std::mem::take(&mut self.rows);
        let is_there = |(_, said): &&(Range<usize>, Said)| said.standing != Standing::TakenBack;
        let there: Vec<&Said> = rows.iter().filter(is_there).map(|(_, said)| said).collect();
        let places: Vec<&Range<usize>> = rows.iter().filter(is_there).map(|(at, _)| at).collect();
        let mut compactions = compactions(&there).into_iter().peekable();
        let (mut back, mut next) = (Vec::new(), 0);
        for (at, said) in &rows {
            if said.standing == Standing::TakenBack {
                back.extend(told(said, at, teller)?.map(|entry| (at, entry)));
                continue;
            }
            let row = next;
            next += 1;
            take_back(&mut back, teller)?;
            if let Some(compaction) = compactions.peek().filter(|it| it.at <= row) {
                if row + 1 == compaction.end().min(there.len()) {
                    self.compact(compaction, &there, &places, teller)?;
                    compactions.next();
                }
                continue;
            }
            let entry = told(said, at, teller)?;
            self.standing.extend(entry.map(|entry| (row, entry)));
        }
        take_back(&mut back, teller)?;
        self.hide_the_rest(&there, &places, teller)
    }
}

impl Session {
    /// Hides what a compaction took out of which nothing is there any more.
    fn hide_the_rest(
        &mut self,
        rows: &[&Said],
        places: &[&Range<usize>],
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let is_out = |(row, _): &&(usize, StepEntry)| rows[*row].standing == Standing::Compacted;
        let (out, stays): (Vec<&(usize, StepEntry)>, Vec<_>) =
            self.standing.iter().partition(is_out);
        let (Some((_, first)), Some((row, last))) = (out.first(), out.last()) else {
            return Ok(());
        };
        let stays = stays.iter().map(|(_, entry)| *entry).collect();
        let hide = HideStep::of(HideKind::Drop, Cover::Range(*first, *last)).keeping(stays);
        let record = teller.text.span(places[*row]);
        teller.step(Step::new(Action::Hide(hide), record)).map(drop)
    }

    /// Takes what a member says of the session.
    fn told(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id" | "session_id", id) => teller.name(id),
            ("title", title) => teller.end.title = title,
            ("cwd", cwd) => teller.end.cwd = cwd,
            ("model", model) => self.model = model,
            ("system_prompt", text) => {
                self.system = text.map(|text| (text, member.at.clone()));
            }
            ("tools", _) => {
                let tools: Vec<&RawValue> = decode(Some(member.raw)).unwrap_or_default();
                if !tools.is_empty() {
                    teller.end.absent.retain(|it| it != "tool definitions");
                    teller.set("tools", Some(tight(member.raw.get())));
                }
            }
            ("model_config", config) => {
                let config = config.unwrap_or_else(|| member.raw.get().to_owned());
                teller.start.descent.spawned_by = named_in(&config, STARTED_BY);
                self.branched = named_in(&config, BRANCHED_FROM);
            }
            ("parent_session_id", parent) => self.parent = parent,
            ("started_at" | "session_start", _) => {
                self.begun = message::time(Some(member.raw));
                teller.start.descent.begun = self.begun;
            }
            _ => return false,
        }
        true
    }

    /// Takes what all requests came to.
    fn counted(&mut self, model: Option<String>, teller: &mut ObjectTeller<'_, '_>) {
        let Counts {
            input,
            output,
            cached,
            written,
            reasoning,
        } = self.counts;
        // What was reasoned is part of the output.
        let said = output.saturating_sub(reasoning);
        let usage = Usage::apart([input, cached, written], [said, reasoning.min(output)]);
        if let Some(usage) = usage {
            let mut stated = StatedUsage::default();
            stated.add(model.unwrap_or_else(|| PROVIDER.to_owned()), usage);
            teller.end.stated = Some(stated);
        }
    }

    /// Hides what a compaction took out, with what it wrote in its place.
    fn compact(
        &mut self,
        compaction: &Compaction,
        rows: &[&Said],
        places: &[&Range<usize>],
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let stood = std::mem::take(&mut self.standing);
        let ends = stood.first().zip(stood.last());
        let cover = ends.map(|((_, first), (_, last))| Cover::Range(*first, *last));
        let (mut stays, mut put, mut open) = (Vec::new(), Vec::new(), 0);
        let mut replacements: Vec<(Option<StepEntry>, Message)> = Vec::new();
        let mut records = Vec::new();
        let text = teller.text;
        for row in compaction.at..compaction.end().min(rows.len()) {
            if rows[row].message.parts.is_empty() {
                continue;
            }
            let original = compaction.original(row);
            // One that is shortened is another message.
            let original = original.filter(|at| rows[*at].message == rows[row].message);
            let standing = original.and_then(|it| stood.iter().find(|(at, _)| *at == it));
            if let Some((_, entry)) = standing {
                for (place, _) in &mut replacements[open..] {
                    *place = Some(*entry);
                }
                open = replacements.len();
                stays.push(*entry);
                put.push((row, Ok(*entry)));
            } else {
                teller.pair(&rows[row].message, text, places[row])?;
                put.push((row, Err(replacements.len())));
                replacements.push((None, rows[row].message.clone()));
                records.push(text.span(places[row]));
            }
        }
        let Some(cover) = cover else {
            for (row, _) in put {
                let entry = told(rows[row], places[row], teller)?;
                self.standing.extend(entry.map(|entry| (row, entry)));
            }
            return Ok(());
        };
        if records.is_empty() {
            records.extend(places.get(compaction.at).map(|at| text.span(at)));
        }
        let hide = HideStep::of(HideKind::Compaction, cover)
            .keeping(stays)
            .putting(replacements);
        // Of what is written once more some rows keep their times.
        let wrote = &rows[compaction.at..compaction.end().min(rows.len())];
        let time = wrote.iter().filter_map(|row| row.time).max();
        let first = records[0];
        let step = Step::new(Action::Hide(hide), first).by(records).at(time);
        let made = teller.step(step)?.step;
        let put = put.into_iter().map(|(row, entry)| {
            let made = |number| made.replacement(number);
            (row, entry.unwrap_or_else(made))
        });
        self.standing.extend(put);
        Ok(())
    }
}

/// Tells of what a row says; none where that is nothing.
fn told(
    said: &Said,
    at: &Range<usize>,
    teller: &mut ObjectTeller<'_, '_>,
) -> Result<Option<StepEntry>> {
    if said.message.parts.is_empty() {
        teller.end.other(format!("{} (empty)", said.message.role));
        return Ok(None);
    }
    let message = said.message.clone();
    teller.append(message, at, said.time, None).map(Some)
}

/// Hides what the user took back.
fn take_back(
    back: &mut Vec<(&Range<usize>, StepEntry)>,
    teller: &mut ObjectTeller<'_, '_>,
) -> Result<()> {
    let run = std::mem::take(back);
    let (Some((_, first)), Some((at, last))) = (run.first(), run.last()) else {
        return Ok(());
    };
    let hide = HideStep::of(HideKind::Drop, Cover::Range(*first, *last));
    let record = teller.text.span(at);
    teller.step(Step::new(Action::Hide(hide), record)).map(drop)
}
