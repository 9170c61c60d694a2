//! The importer: the events of a session, in their order.

use std::collections::BTreeSet;
use std::ops::Range;

use super::event::{self, Event, Meaning};
use super::{EVENTS, SESSION};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::said;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Millis, Part, Role};
use crate::wire::json::{decode, quoted};

/// A message that is sent still.
struct Told {
    entry: StepEntry,
    invocation: Option<String>,
    time: Option<Millis>,
    /// The calls in it that nothing has answered, by their places among its parts.
    open: Vec<(u32, String)>,
    parts: usize,
}

/// A session.
#[derive(Default)]
pub(super) struct Session {
    told: Vec<Told>,
    lasting: BTreeSet<String>,
}

impl Document for Session {
    const RECORDS: &'static str = EVENTS;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        lazy! { struct Row { app_name, user_id, id } }
        if member.key != SESSION {
            return false;
        }
        let row: Row<'_> = decode(Some(member.raw)).unwrap_or_default();
        let names = [row.app_name, row.user_id, row.id].map(said);
        let names: Option<Vec<String>> = names.into_iter().collect();
        teller.name(names.map(|names| names.join(":")));
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let Some(event) = teller.read(at, event::read)? else {
            return Ok(());
        };
        self.lasting.extend(event.lasting.iter().cloned());
        match &event.meaning {
            Meaning::Nothing(what) => teller.end.other(*what),
            Meaning::Rewind(to) => self.rewind(to, &event, at, teller)?,
            Meaning::Summary(times, messages) => {
                self.summarise(*times, messages, &event, at, teller)?;
            }
            Meaning::Messages(messages) => {
                for message in messages {
                    self.say(message, &event, at, teller)?;
                }
            }
        }
        Ok(())
    }
}

impl Session {
    fn say(
        &mut self,
        message: &Message,
        event: &Event,
        at: &Range<usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let text = teller.text;
        teller.pair(message, text, at)?;
        for call in message.results() {
            let told = self.told.iter_mut().rev();
            let mut asked = told.filter(|told| told.open.iter().any(|(_, id)| id == call));
            if let Some(told) = asked.next() {
                told.open.retain(|(_, id)| id != call);
            }
        }
        if message.role == Role::User {
            self.give_up(event, at, teller)?;
        }
        let is_reply = message.role == Role::Assistant;
        if is_reply {
            teller.set("model", event.model.as_deref().map(quoted));
        }
        let entry = teller.append(
            message.clone(),
            at,
            event.time,
            event.usage.filter(|_| is_reply).map(Into::into),
        );
        let told = self.told(entry?, message, event.time, event);
        self.told.push(told);
        Ok(())
    }

    fn told(
        &self,
        entry: StepEntry,
        message: &Message,
        time: Option<Millis>,
        event: &Event,
    ) -> Told {
        let parts = message.parts.iter().zip(0..);
        let open = parts.filter_map(|(part, at)| match part {
            Part::ToolCall { id, .. } if !self.lasting.contains(id) => Some((at, id.clone())),
            _ => None,
        });
        Told {
            entry,
            invocation: event.invocation.clone(),
            time,
            open: open.collect(),
            parts: message.parts.len(),
        }
    }

    /// Calls that nothing has answered are sent no more once somebody says something else.
    fn give_up(
        &mut self,
        event: &Event,
        at: &Range<usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let (empty, rest): (Vec<Told>, Vec<Told>) = std::mem::take(&mut self.told)
            .into_iter()
            .partition(|told| told.open.len() == told.parts);
        self.told = rest;
        let ranges = empty
            .iter()
            .map(|told| HideStep::of(HideKind::Drop, Cover::Range(told.entry, told.entry)));
        let mut hides: Vec<HideStep> = ranges.collect();
        for told in &mut self.told {
            let parts: Vec<_> = told
                .open
                .drain(..)
                .map(|(part, _)| (told.entry, part, None))
                .collect();
            if !parts.is_empty() {
                hides.push(HideStep::prune(parts));
            }
        }
        for hide in hides {
            let step = Step::new(Action::Hide(hide), teller.text.span(at));
            teller.step(step.at(event.time))?;
        }
        Ok(())
    }

    fn rewind(
        &mut self,
        to: &str,
        event: &Event,
        at: &Range<usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let first = self
            .told
            .iter()
            .position(|told| told.invocation.as_deref() == Some(to));
        let Some(gone) = first.map(|first| self.told.split_off(first)) else {
            return teller.problem(
                at,
                format!("a rewind to before {to}, which is not in the session"),
            );
        };
        let (Some(first), Some(last)) = (gone.first(), gone.last()) else {
            return Ok(());
        };
        let hide = HideStep::of(HideKind::Drop, Cover::Range(first.entry, last.entry));
        let step = Step::new(Action::Hide(hide), teller.text.span(at));
        teller.step(step.at(event.time)).map(drop)
    }

    fn summarise(
        &mut self,
        [start, end]: [Millis; 2],
        messages: &[Message],
        event: &Event,
        at: &Range<usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let is_covered = |told: &Told| told.time.is_some_and(|time| (start..=end).contains(&time));
        let first = self.told.iter().position(is_covered);
        let last = self.told.iter().rposition(is_covered);
        let record = teller.text.span(at);
        let Some((first, last)) = first.zip(last) else {
            for message in messages {
                self.say(message, event, at, teller)?;
            }
            return Ok(());
        };
        let next = self.told.get(last + 1).map(|told| told.entry);
        let gone: Vec<Told> = self.told.splice(first..=last, []).collect();
        let keep = gone
            .iter()
            .filter(|told| !is_covered(told))
            .map(|told| told.entry);
        let cover = Cover::Range(gone[0].entry, gone[gone.len() - 1].entry);
        let placed = messages.iter().map(|message| (next, message.clone()));
        let hide = HideStep::of(HideKind::Compaction, cover)
            .keeping(keep.collect())
            .putting(placed.collect());
        let entry = teller.step(Step::new(Action::Hide(hide), record).at(event.time))?;
        let kept = gone.into_iter().filter(|told| !is_covered(told));
        let new = messages.iter().enumerate().map(|(number, message)| {
            let entry = entry.step.replacement(number);
            self.told(entry, message, Some(end), event)
        });
        let behind: Vec<Told> = kept.chain(new).collect();
        self.told.splice(first..first, behind);
        Ok(())
    }
}
