//! A stream that was kept, as messages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::messages::{Said, messages};
use super::reader::{EventReader, Telling};
use crate::error::Result;
use crate::interop::records::{LineReader, Record, each_line};
use crate::interop::{
    Action, Cover, HideStep, ImportOptions, Input, Moment, Problem, SessionEnd, SessionStart, Sink,
    Step,
};
use crate::model::{HideKind, Message, Millis, Settings, Span, Usage, depth};
use crate::tree::{Event, Fold, NodeId, Sequence};

/// Reads a whole stream and tells its messages. Its events are held in memory: a late one may
/// belong to an early message.
pub(in crate::interop) fn import(
    reader: Box<dyn EventReader>,
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let lacking = SessionEnd::lacking(&["system prompt", "tool definitions"]);
    let mut read = Reading {
        reader,
        sink,
        lines: Vec::new(),
        events: Vec::new(),
        session: None,
        end: lacking,
    };
    let lone = each_line(input, &mut read)?;
    let Reading {
        sink,
        mut lines,
        events,
        session,
        mut end,
        ..
    } = read;
    end.lone_surrogates = lone;
    let mut fold = Fold::default();
    let mut gave = vec![Vec::new(); lines.len()];
    for (line, event) in in_order(events) {
        let before = fold.last();
        fold.feed(Event {
            place: None,
            ..event
        });
        gave[line].push((before, fold.last()));
    }
    let mut said = Vec::new();
    for message in messages(&fold.settle()) {
        match depth::check_message(&message.message) {
            Ok(()) => said.push(message),
            // Its records are kept behind its neighbours, and shown.
            Err(error) => {
                let told = gave.iter().position(|gave| {
                    let (first, mut gave) = (message.first, gave.iter());
                    gave.any(|(before, last)| *before < first && first <= *last)
                });
                let line = told.map_or(0, |line| lines[line].number);
                sink.problem(Problem::new(line, error.to_string()))?;
            }
        }
    }
    sink.session(SessionStart::new(
        session.unwrap_or(options.stem.to_owned()),
    ))?;
    for step in steps(said, &mut lines, &gave) {
        sink.step(step)?;
    }
    sink.end(end)
}

/// What is known of a record beside its events.
struct Line {
    number: u64,
    span: Span,
    time: Option<Millis>,
    model: Option<String>,
    usage: Option<Usage>,
}

struct Reading<'a> {
    reader: Box<dyn EventReader>,
    sink: &'a mut dyn Sink,
    lines: Vec<Line>,
    /// What happened, and the line that tells it.
    events: Vec<(usize, Event)>,
    session: Option<String>,
    end: SessionEnd,
}

impl LineReader for Reading<'_> {
    fn may_be_sent(&self) -> bool {
        true
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let told: Telling = self.reader.read(record.value);
        let line = self.lines.len();
        self.events
            .extend(told.events.into_iter().map(|event| (line, event)));
        self.lines.push(Line {
            number: record.line,
            span: record.span(),
            time: told.time,
            model: told.model,
            usage: told.usage,
        });
        self.session = self.session.take().or(told.session);
        self.end.cwd = self.end.cwd.take().or(told.cwd);
        if let Some(kind) = told.other {
            self.end.other(kind);
        }
        for (kind, count) in told.notes.opaque_blocks {
            *self.end.opaque_blocks.entry(kind).or_default() += count;
        }
        Ok(())
    }
}

/// The events as a fold takes them in the end: numbered ones by their numbers.
fn in_order(events: Vec<(usize, Event)>) -> Vec<(usize, Event)> {
    let place = |(line, event): (usize, Event)| (event.place, event.id.clone(), (line, event));
    Sequence::in_order(events.into_iter().map(place))
}

/// Each message with the records from its first one up to the next message's; `gave` says of each
/// line between which nodes those lie that it made. So each record is
/// behind a message, and all of them together are the stream.
fn steps(said: Vec<Said>, lines: &mut [Line], gave: &[Vec<(NodeId, NodeId)>]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(said.len());
    let first: Vec<NodeId> = said.iter().map(|said| said.first).collect();
    for (at, Said { message, hides, .. }) in said.into_iter().enumerate() {
        let action = match hides.filter(|_| at > 0) {
            Some(kind) => Action::Hide(hide(kind, message)),
            None => Action::Append(message),
        };
        steps.push(Step {
            was: None,
            action,
            time: None,
            settings: Settings::new(),
            records: Vec::new(),
            usage: None,
        });
    }
    let begun = |id: NodeId| first.partition_point(|first| *first <= id);
    let mut last = NodeId::default();
    for (line, gave) in lines.iter_mut().zip(gave) {
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
        step.usage = line.usage.or(step.usage);
        if let Some(model) = line.model.take() {
            let model = Value::from(model).to_string();
            step.settings.insert("model".to_owned(), model);
        }
    }
    steps
}

fn hide(kind: HideKind, message: Message) -> HideStep {
    HideStep {
        kind,
        cover: Cover::Everything,
        keep: Vec::new(),
        parts: Vec::new(),
        replacements: vec![(None, message)],
        moment: Moment::Here,
    }
}
