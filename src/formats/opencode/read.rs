//! The importer: the file's messages, and what the tool does not send any more.

use std::ops::Range;

use serde_json::Value;

use super::message::{Said, said, usage};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Millis, Span, StatedUsage, Usage};
use crate::wire::json::decode;

/// A session, and what of it is sent by now.
#[derive(Default)]
pub(super) struct Session {
    revert: Option<Revert>,
    /// What is sent by now, in order.
    sent: Vec<Sent>,
    cleared: Vec<Cleared>,
    asked: Vec<Asked>,
    /// What all requests came to, titles among them, and what the tool takes them to have cost.
    all: Option<Usage>,
    dollars: f64,
    /// The replies that were counted, each with its model.
    replies: Vec<(String, Usage)>,
    /// What was read and not told yet, each with its time or that of the one before it.
    read: Vec<(Option<Millis>, Said, Span)>,
}

impl Document for Session {
    const RECORDS: &'static str = "messages";

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        if member.key != "info" {
            teller.end.other(member.key);
            return false;
        }
        let info: Value = decode(Some(member.raw)).unwrap_or_default();
        let word = |key: &str| info[key].as_str().map(str::to_owned);
        if let Some(id) = word("id") {
            teller.start.id = id;
        }
        teller.start.descent.spawned_by = word("parentID");
        (teller.end.title, teller.end.cwd) = (word("title"), word("directory"));
        self.revert = Revert::of(&info["revert"]);
        self.all = usage(&info["tokens"]);
        self.dollars = info["cost"].as_f64().unwrap_or_default();
        false
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let span = teller.text.span(at);
        let Some(found) = teller.read(at, |raw, notes| said(raw.get(), span, notes))? else {
            return Ok(());
        };
        if found.steps.is_empty() {
            teller.end.other(found.role.clone() + " (not sent)");
        }
        let before = self.read.last().and_then(|(time, ..)| *time);
        self.read.push((found.created.or(before), found, span));
        Ok(())
    }

    /// Tells the messages by their times: files and exports list them by ids, which wrap.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let mut read = std::mem::take(&mut self.read);
        read.sort_by_key(|(time, ..)| *time);
        for (_, found, span) in read {
            teller.end.started.extend(found.started.iter().cloned());
            self.replies.extend(found.counted.clone());
            self.tell(found, span, teller)?;
        }
        self.clear(None, teller)?;
        let all = self.all.map(|all| StatedUsage::of_all(all, &self.replies));
        let mut stated = all.unwrap_or_default();
        stated.cost(self.dollars);
        teller.end.stated = stated.if_any();
        match self.revert.take() {
            Some(revert) => self.revert(&revert, teller),
            None => Ok(()),
        }
    }
}

/// From where on the tool takes back what was said, until the next prompt makes that final.
struct Revert {
    message: String,
    part: Option<String>,
}

impl Revert {
    fn of(value: &Value) -> Option<Self> {
        Some(Self {
            message: value["messageID"].as_str()?.to_owned(),
            part: value["partID"].as_str().map(str::to_owned),
        })
    }
}

/// An entry that is sent.
struct Sent {
    entry: StepEntry,
    /// The message that it is of, and which of its steps.
    message: String,
    step: usize,
    span: Span,
    /// Each part's id, with its place.
    places: Vec<(String, u32)>,
}

/// An output that was cleared, until the file comes to when that was.
struct Cleared {
    entry: StepEntry,
    part: u32,
    when: Option<Millis>,
    stub: Message,
    span: Span,
}

/// A request for a summary.
#[derive(Clone)]
struct Asked {
    /// Its message's id.
    id: String,
    message: Message,
    /// The message from which on the tool keeps what was said before.
    tail: Option<String>,
}

impl Session {
    fn tell(&mut self, said: Said, span: Span, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        self.clear(said.created, teller)?;
        if let (Some(tail), Some(step)) = (said.compaction, said.steps.first())
            && let Some(message) = step.message()
        {
            self.asked.push(Asked {
                id: said.id.clone(),
                message: message.clone(),
                tail,
            });
        }
        let asked = said.summary_of.as_ref();
        let asked = asked.and_then(|of| self.asked.iter().find(|asked| asked.id == *of).cloned());
        let base = teller.next_step();
        let places = |at: usize| {
            let of_step = said.places.iter().filter(|(_, step, _)| *step == at);
            of_step.map(|(id, _, part)| (id.clone(), *part)).collect()
        };
        for (at, step) in said.steps.into_iter().enumerate() {
            let sent = |entry| Sent {
                entry,
                message: said.id.clone(),
                step: at,
                span,
                places: places(at),
            };
            let left = match asked.as_ref().filter(|_| at == 0) {
                Some(asked) => self.summary(step, asked, &sent, teller)?,
                None => Some(step),
            };
            if let Some(step) = left {
                self.sent.push(sent(teller.step(step)?));
            }
        }
        for (at, part, when, stub) in said.cleared {
            let mut found = self.sent.iter().rev();
            let found = found.find(|sent| sent.message == said.id && sent.step == at);
            if let Some(sent) = found.filter(|sent| sent.entry.step >= base) {
                self.cleared.push(Cleared {
                    entry: sent.entry,
                    part,
                    when,
                    stub,
                    span,
                });
            }
        }
        Ok(())
    }

    /// A summary hides what stands before the message that asked for it. Where the tool keeps the end of
    /// that, the two go before what is kept. Gives the step back where there is nothing to hide.
    fn summary(
        &mut self,
        step: Step,
        asked: &Asked,
        sent: &dyn Fn(StepEntry) -> Sent,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<Option<Step>> {
        let at = self.sent.iter().position(|sent| sent.message == asked.id);
        let Some((at, message)) = at.zip(step.message().cloned()) else {
            return Ok(Some(step));
        };
        let tail = asked.tail.as_ref().and_then(|tail| {
            let mut before = self.sent[..at].iter();
            before.position(|sent| sent.message == *tail)
        });
        if tail.is_none() && at == 0 {
            return Ok(Some(step));
        }
        let entry = |at: usize| self.sent[at].entry;
        let hide = |last: usize, keep, replacements| {
            HideStep::of(HideKind::Compaction, Cover::Range(entry(0), entry(last)))
                .keeping(keep)
                .putting(replacements)
        };
        let hide = match tail {
            Some(tail) => {
                let before = Some(entry(tail));
                let both = vec![(before, asked.message.clone()), (before, message)];
                hide(at, (tail..at).map(entry).collect(), both)
            }
            None => hide(at - 1, Vec::new(), vec![(None, message)]),
        };
        let made = teller.step(Step {
            action: Action::Hide(hide),
            ..step
        })?;
        let replacement = |number| made.step.replacement(number);
        match tail {
            Some(tail) => {
                let asked = Sent {
                    entry: replacement(0),
                    ..self.sent.remove(at)
                };
                self.sent.drain(..tail);
                self.sent.splice(..0, [asked, sent(replacement(1))]);
            }
            None => {
                self.sent.drain(..at);
                self.sent.push(sent(replacement(0)));
            }
        }
        Ok(None)
    }

    /// Tells which outputs were cleared until then; all that are left at the end.
    fn clear(&mut self, until: Option<Millis>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let due = |cleared: &Cleared| match (cleared.when, until) {
            (_, None) => true,
            (Some(when), Some(until)) => when <= until,
            (None, Some(_)) => false,
        };
        let due = self.cleared.extract_if(.., |cleared| due(cleared));
        let sent = &self.sent;
        let is_sent = |cleared: &Cleared| sent.iter().any(|sent| sent.entry == cleared.entry);
        let due: Vec<Cleared> = due.filter(is_sent).collect();
        let Some(last) = due.last() else {
            return Ok(());
        };
        let (span, time) = (
            last.span,
            due.iter().filter_map(|cleared| cleared.when).max(),
        );
        let parts = due.into_iter();
        let parts = parts.map(|cleared| (cleared.entry, cleared.part, Some(cleared.stub)));
        let hide = HideStep::prune(parts.collect());
        let step = Step::new(Action::Hide(hide), span);
        teller.step(Step { time, ..step }).map(drop)
    }

    /// What was taken back is not sent with the next prompt.
    fn revert(&mut self, revert: &Revert, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let first = self.sent.iter().position(|sent| {
            let part = revert.part.as_ref();
            let holds = |part: &String| sent.places.iter().any(|(id, _)| id == part);
            sent.message == revert.message && part.is_none_or(holds)
        });
        let Some(first) = first else {
            return Ok(());
        };
        let from = &self.sent[first];
        let place = revert.part.as_ref().and_then(|part| {
            let found = from.places.iter().find(|(id, _)| id == part);
            found.map(|(_, place)| *place).filter(|place| *place > 0)
        });
        let parts = place.iter().flat_map(|place| {
            let later = from.places.iter().map(|(_, at)| *at);
            later.filter(move |at| at >= place)
        });
        let parts = parts.map(|part| (from.entry, part, None)).collect();
        let whole = match place {
            Some(_) => first + 1,
            None => first,
        };
        let cover = match (self.sent.get(whole), self.sent.last()) {
            (Some(first), Some(last)) => Cover::Range(first.entry, last.entry),
            _ => Cover::Nothing,
        };
        let hide = HideStep {
            parts,
            ..HideStep::of(HideKind::Drop, cover)
        };
        let span = from.span;
        teller.step(Step::new(Action::Hide(hide), span)).map(drop)
    }
}
