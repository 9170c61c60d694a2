//! The importer: the file's messages, and what the tool does not send any more.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::said::{Said, said};
use crate::error::Result;
use crate::interop::records::Held;
use crate::interop::spans::{elements, members};
use crate::interop::{
    Action, Cover, HideStep, ImportOptions, Input, Moment, SessionEnd, SessionStart, Sink, Step,
    StepEntry, StepId,
};
use crate::model::{HideKind, Message, Millis, Span};
use crate::wire::Notes;

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, broken) = members(text.bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut end = SessionEnd::lacking(&["system prompt", "tool definitions"]);
    let mut revert = None;
    let mut messages: (Vec<Range<usize>>, _) = (Vec::new(), broken);
    for (key, at) in keys {
        match key.as_str() {
            "info" => {
                let info = serde_json::from_slice::<Value>(&text.bytes[at]).unwrap_or_default();
                let word = |key: &str| info[key].as_str().map(str::to_owned);
                start.id = word("id").unwrap_or(start.id);
                start.descent.spawned_by = word("parentID");
                end.title = word("title");
                end.cwd = word("directory");
                revert = Revert::of(&info["revert"]);
            }
            "messages" => {
                let (found, torn) = elements(text.bytes, at.start);
                messages = (found, torn.or(broken));
            }
            key => end.other(key),
        }
    }
    sink.session(start)?;
    let (messages, broken) = messages;
    let mut notes = Notes::default();
    let mut telling = Telling::new(sink);
    for at in &messages {
        let read = |raw: &RawValue| said(raw.get(), text.span(at), &mut notes);
        let found = text.message(at, &mut end.lone_surrogates, telling.sink, read)?;
        let Some(found) = found else {
            continue;
        };
        if found.steps.is_empty() {
            end.other(found.role.clone() + " (not sent)");
        }
        end.started.extend(found.started.iter().cloned());
        telling.tell(found, text.span(at))?;
    }
    telling.clear(None)?;
    if let Some(revert) = revert {
        telling.revert(&revert)?;
    }
    held.end(broken, sink)?;
    sink.progress(text.bytes.len() as u64, messages.len() as u64);
    end.opaque_blocks = notes.opaque_blocks;
    sink.end(end)
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

/// Tells the sink the steps of a file.
struct Telling<'s> {
    sink: &'s mut dyn Sink,
    steps: usize,
    /// What is sent by now, in order.
    sent: Vec<Sent>,
    cleared: Vec<Cleared>,
    asked: Vec<Asked>,
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

impl<'s> Telling<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            steps: 0,
            sent: Vec::new(),
            cleared: Vec::new(),
            asked: Vec::new(),
        }
    }

    fn step(&mut self, step: Step) -> Result<StepId> {
        self.steps += 1;
        self.sink.step(step)?;
        Ok(StepId(self.steps - 1))
    }

    fn tell(&mut self, said: Said, span: Span) -> Result<()> {
        self.clear(said.created)?;
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
        let base = self.steps;
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
                Some(asked) => self.summary(step, asked, &sent)?,
                None => Some(step),
            };
            if let Some(step) = left {
                let step = self.step(step)?;
                self.sent.push(sent(StepEntry {
                    step,
                    replacement: None,
                }));
            }
        }
        for (at, part, when, stub) in said.cleared {
            let mut found = self.sent.iter().rev();
            let found = found.find(|sent| sent.message == said.id && sent.step == at);
            if let Some(sent) = found.filter(|sent| sent.entry.step.0 >= base) {
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
        let hide = |last: usize, keep, replacements| HideStep {
            kind: HideKind::Compaction,
            cover: Cover::Range(entry(0), entry(last)),
            keep,
            parts: Vec::new(),
            replacements,
            moment: Moment::Here,
        };
        let hide = match tail {
            Some(tail) => {
                let before = Some(entry(tail));
                let both = vec![(before, asked.message.clone()), (before, message)];
                hide(at, (tail..at).map(entry).collect(), both)
            }
            None => hide(at - 1, Vec::new(), vec![(None, message)]),
        };
        let step = self.step(Step {
            action: Action::Hide(hide),
            ..step
        })?;
        let replacement = |number| StepEntry {
            step,
            replacement: Some(number),
        };
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
    fn clear(&mut self, until: Option<Millis>) -> Result<()> {
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
        self.step(Step {
            time,
            ..Step::new(Action::Hide(hide), span)
        })
        .map(drop)
    }

    /// What was taken back is not sent with the next prompt.
    fn revert(&mut self, revert: &Revert) -> Result<()> {
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
            kind: HideKind::Drop,
            cover,
            keep: Vec::new(),
            parts,
            replacements: Vec::new(),
            moment: Moment::Here,
        };
        let span = from.span;
        self.step(Step::new(Action::Hide(hide), span)).map(drop)
    }
}
