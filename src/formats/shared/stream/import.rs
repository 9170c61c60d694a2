//! A stream that was kept, as messages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::messages::{Said, messages};
use super::reader::{EventReader, Telling};
use crate::error::Result;
use crate::formats::shared::records::{LineReader, Record, each_line_from};
use crate::formats::{
    Action, Cover, Exporter, Format, HideStep, Input, Problem, SessionEnd, SessionStart, Shape,
    Sink, Source, Step,
};
use crate::model::{Millis, Span, UsageRecord, depth};
use crate::tree::{Event, Fold, NodeId, Sequence};

/// A format of events, each record of which `R` reads.
pub(in crate::formats) const fn format<R: EventReader + Default + 'static>(
    name: &'static str,
    write: Exporter,
) -> Format {
    Format {
        events: Some(|| Box::new(R::default())),
        ..Format::of(name, Shape::Lines, import::<R>, write)
    }
}

fn import<R: EventReader + Default + 'static>(source: Source<'_>) -> Result<()> {
    read(Box::new(R::default()), source)
}

/// Reads a whole stream and tells its messages. Its events are held in memory: a late one may
/// belong to an early message.
fn read(reader: Box<dyn EventReader>, source: Source<'_>) -> Result<()> {
    let mut records = Records::of(reader);
    let events = records.read(source.input, 0, source.sink)?;
    let mut fold = Fold::default();
    for (line, event) in in_order(events) {
        let before = fold.last();
        fold.feed(Event {
            place: None,
            ..event
        });
        records.lines[line].gave.push((before, fold.last()));
    }
    let mut said = Vec::new();
    for message in messages(&fold.settle(), NodeId::default()) {
        match depth::check_message(&message.message) {
            Ok(()) => said.push(message),
            // Its records are kept behind its neighbours, and shown.
            Err(error) => {
                let told = records.lines.iter().find(|line| {
                    let (first, mut gave) = (message.first, line.gave.iter());
                    gave.any(|(before, last)| *before < first && first <= *last)
                });
                let line = told.map_or(0, |line| line.number);
                source.sink.problem(Problem::new(line, error.to_string()))?;
            }
        }
    }
    source.sink.session(records.start(source.stem))?;
    for step in steps(said, 0, &records.lines) {
        source.sink.step(step)?;
    }
    source.sink.end(records.end)
}

/// What is known of a record beside its events.
pub(super) struct Line {
    number: u64,
    span: Span,
    time: Option<Millis>,
    model: Option<String>,
    usage: Option<UsageRecord>,
    /// Between which nodes those lie that it made, for each of its events.
    pub(super) gave: Vec<(NodeId, NodeId)>,
}

/// What was read of a stream.
pub(super) struct Records {
    reader: Box<dyn EventReader>,
    pub(super) lines: Vec<Line>,
    session: Option<String>,
    pub(super) end: SessionEnd,
}

impl Records {
    pub(super) fn of(reader: Box<dyn EventReader>) -> Self {
        Self {
            reader,
            lines: Vec::new(),
            session: None,
            end: SessionEnd::lacking(&["system prompt", "tool definitions"]),
        }
    }

    /// Reads the lines from `offset` on; gives what happened, and the line that tells each of it.
    pub(super) fn read(
        &mut self,
        input: &dyn Input,
        offset: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<(usize, Event)>> {
        let mut reading = Reading {
            records: self,
            sink,
            events: Vec::new(),
        };
        let lone = each_line_from(input, offset, &mut reading)?;
        let events = reading.events;
        self.end.lone_surrogates += lone;
        Ok(events)
    }

    /// The session: its own id, or else the stem.
    pub(super) fn start(&self, stem: &str) -> SessionStart {
        SessionStart::new(self.session.clone().unwrap_or_else(|| stem.to_owned()))
    }
}

struct Reading<'a> {
    records: &'a mut Records,
    sink: &'a mut dyn Sink,
    events: Vec<(usize, Event)>,
}

impl LineReader for Reading<'_> {
    fn may_be_sent(&self) -> bool {
        true
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let all = &mut *self.records;
        let told: Telling = all.reader.read(record.value);
        let line = all.lines.len();
        self.events
            .extend(told.events.into_iter().map(|event| (line, event)));
        all.lines.push(Line {
            number: record.line,
            span: record.span(),
            time: told.time,
            model: told.model,
            usage: told.usage,
            gave: Vec::new(),
        });
        all.session = all.session.take().or(told.session);
        all.end.cwd = all.end.cwd.take().or(told.cwd);
        all.end.stated = told.stated.or(all.end.stated.take());
        if let Some(kind) = told.other {
            all.end.other(kind);
        }
        for (kind, count) in told.notes.opaque_blocks {
            *all.end.opaque_blocks.entry(kind).or_default() += count;
        }
        Ok(())
    }
}

/// The events as a fold takes them in the end: numbered ones by their numbers.
fn in_order(events: Vec<(usize, Event)>) -> Vec<(usize, Event)> {
    let place = |(line, event): (usize, Event)| (event.place, event.id.clone(), (line, event));
    Sequence::in_order(events.into_iter().map(place))
}

/// Each message with the records from its first one up to the next message's. So each record is
/// behind a message, and all of them together are the stream. So many messages stand before these, and
/// `lines` are those from the one on that the first of them begins in.
pub(super) fn steps(said: Vec<Said>, before: usize, lines: &[Line]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(said.len());
    let first: Vec<NodeId> = said.iter().map(|said| said.first).collect();
    for (at, Said { message, hides, .. }) in said.into_iter().enumerate() {
        let action = match hides.filter(|_| before + at > 0) {
            Some(kind) => {
                let hide = HideStep::of(kind, Cover::Everything);
                Action::Hide(hide.putting(vec![(None, message)]))
            }
            None => Action::Append(message),
        };
        steps.push(Step::new(action, Span::default()).by(Vec::new()));
    }
    let begun = |id: NodeId| first.partition_point(|first| *first <= id);
    let mut last = NodeId::default();
    for line in lines {
        let gave = &line.gave;
        last = gave.last().map_or(last, |(_, last)| *last);
        let at = begun(last).saturating_sub(1);
        // Of a record that tells several messages, each has it.
        let told = gave
            .iter()
            .flat_map(|(before, last)| begun(*before)..begun(*last));
        let told: BTreeSet<usize> = told.collect();
        // When it was said is known as soon as it is said, or else not: what comes later may be
        // read later.
        let dates = |step: &usize| told.contains(step) || begun(last) == 0;
        for step in told.iter().copied().chain([at]).collect::<BTreeSet<_>>() {
            let dates = dates(&step);
            let Some(step) = steps.get_mut(step) else {
                continue;
            };
            step.records.push(line.span);
            step.time = step.time.or(line.time.filter(|_| dates));
        }
        let Some(step) = steps.get_mut(at) else {
            continue;
        };
        if let Some(record) = &line.usage {
            step.usage = Some(record.usage);
            step.detail = record.detail.clone();
        }
        if let Some(model) = &line.model {
            let model = Value::from(model.as_str()).to_string();
            step.settings.insert("model".to_owned(), model);
        }
    }
    steps
}
