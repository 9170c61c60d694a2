//! The importer: the messages of a conversation as steps, and what the agent does not see any more.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::record::{Kind, Said, kind, said};
use super::{MESSAGES, is_document};
use crate::error::{Error, Result};
use crate::interop::calls::Calls;
use crate::interop::format::FRONT_BYTES;
use crate::interop::records::{Held, LineReader, Record, Text, each_line};
use crate::interop::spans::{elements, members};
use crate::interop::{
    Action, Cover, HideStep, ImportOptions, Input, Moment, Problem, SessionEnd, SessionStart, Sink,
    Step, StepEntry, StepId,
};
use crate::model::{HideKind, Message, Millis, Role, Span};
use crate::wire::Notes;

/// What a session lacks of what the model was sent.
const LACKING: &[&str] = &["system prompt", "tool definitions"];

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let front = input.front(FRONT_BYTES).map_err(Error::io("source"))?;
    match is_document(&front) {
        true => document(input, options, sink),
        false => lines(input, options, sink),
    }
}

/// Reads a session that is one object.
fn document(input: &dyn Input, options: ImportOptions<'_>, sink: &mut dyn Sink) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut end = SessionEnd::lacking(LACKING);
    let mut messages = Vec::new();
    for (key, at) in keys {
        if key == MESSAGES {
            let (found, torn) = elements(text.bytes, at.start);
            messages = found;
            broken = torn.or(broken);
            continue;
        }
        let value: Value = serde_json::from_slice(&text.bytes[at]).unwrap_or_default();
        match (key.as_str(), value.as_str().filter(|it| !it.is_empty())) {
            ("id", Some(id)) => id.clone_into(&mut start.id),
            ("parent_session_id", Some(id)) => start.descent.spawned_by = Some(id.to_owned()),
            _ => told(&mut end, &key, &value),
        }
    }
    sink.session(start)?;
    let of = |at: &Range<usize>| kind(text.decode(at).ok()?.0.get());
    let kinds: Vec<Option<Kind>> = messages.iter().map(of).collect();
    let mut telling = Telling::new(plan(&kinds), sink, end);
    for at in &messages {
        let (notes, lone) = (&mut telling.notes, &mut telling.end.lone_surrogates);
        let read = |raw: &RawValue| said(raw.get(), notes);
        let found = text.message(at, lone, telling.sink, read)?;
        telling.take(found, text, at)?;
    }
    held.end(broken, telling.sink)?;
    let count = messages.len() as u64;
    telling.sink.progress(text.bytes.len() as u64, count);
    telling.finish()
}

/// Reads a session of lines.
fn lines(input: &dyn Input, options: ImportOptions<'_>, sink: &mut dyn Sink) -> Result<()> {
    let mut kinds = Kinds(Vec::new());
    each_line(input, &mut kinds)?;
    sink.session(SessionStart::new(options.stem))?;
    let mut telling = Telling::new(plan(&kinds.0), sink, SessionEnd::lacking(LACKING));
    telling.end.lone_surrogates = each_line(input, &mut telling)?;
    telling.finish()
}

/// The kinds of the records of lines.
struct Kinds(Vec<Option<Kind>>);

impl Sink for Kinds {}

impl LineReader for Kinds {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        self.0.push(kind(record.value.get()));
        Ok(())
    }
}

/// What becomes of a record's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is sent, or a summary is, later.
    Sent,
    /// It is a summary of all before it.
    Summary,
    /// It is not sent, and no summary tells of it.
    Hidden,
}

/// What becomes of each record.
fn plan(kinds: &[Option<Kind>]) -> Vec<Fate> {
    let is_summary = |at: usize| {
        let of = |at: usize, role: Role| {
            let kind = kinds.get(at).copied().flatten();
            kind.is_some_and(|kind| kind.role == role && !kind.seen.by_user)
        };
        // What tells the agent to go on stands behind it.
        of(at, Role::User) && of(at + 1, Role::Assistant)
    };
    let last = (0..kinds.len()).rev().find(|at| is_summary(*at));
    let fate = |at: usize| match kinds[at] {
        _ if is_summary(at) => Fate::Summary,
        Some(kind) if !kind.seen.by_agent && last.is_none_or(|last| at > last) => Fate::Hidden,
        _ => Fate::Sent,
    };
    (0..kinds.len()).map(fate).collect()
}

/// Takes what the session's own members, or its first line, say of it.
fn told(end: &mut SessionEnd, key: &str, value: &Value) {
    let word = value.as_str().filter(|word| !word.is_empty());
    match (key, word) {
        ("name", Some(name)) => end.title = Some(name.to_owned()),
        // Older versions call it so.
        ("description", Some(title)) if end.title.is_none() => end.title = Some(title.to_owned()),
        ("working_dir", Some(place)) => end.cwd = Some(place.to_owned()),
        _ => {}
    }
}

/// An entry that is not hidden.
struct Entry {
    entry: StepEntry,
    is_sent: bool,
    record: Span,
}

struct Telling<'s> {
    sink: &'s mut dyn Sink,
    end: SessionEnd,
    notes: Notes,
    fates: Vec<Fate>,
    /// How many records were told.
    records: usize,
    steps: usize,
    calls: Calls,
    entries: Vec<Entry>,
    /// How many of the last entries are to be hidden together.
    hidden: usize,
}

impl<'s> Telling<'s> {
    fn new(fates: Vec<Fate>, sink: &'s mut dyn Sink, end: SessionEnd) -> Self {
        Self {
            sink,
            end,
            notes: Notes::default(),
            fates,
            records: 0,
            steps: 0,
            calls: Calls::default(),
            entries: Vec::new(),
            hidden: 0,
        }
    }

    /// The next record; none that could not be read.
    fn take(&mut self, said: Option<Said>, text: Text<'_>, at: &Range<usize>) -> Result<()> {
        let fate = self.fates.get(self.records).copied();
        let fate = fate.unwrap_or(Fate::Sent);
        self.records += 1;
        let Some(said) = said else {
            return Ok(());
        };
        let Some(message) = said.message else {
            self.end.other(format!("{} (not sent)", said.kind.role));
            return Ok(());
        };
        self.calls.pair(&message, text, at, self.sink)?;
        if fate != Fate::Hidden {
            self.hide()?;
        }
        let replacement = match fate {
            Fate::Summary if !self.entries.is_empty() => Some(0),
            _ => None,
        };
        let action = match replacement {
            Some(_) => self.summary(message),
            None => Action::Append(message),
        };
        let record = text.span(at);
        self.entries.push(Entry {
            entry: StepEntry {
                step: StepId(self.steps),
                replacement,
            },
            is_sent: said.kind.seen.by_agent,
            record,
        });
        self.hidden += usize::from(fate == Fate::Hidden);
        self.step(action, said.time, record)
    }

    /// What puts a summary in place of all before it but what is sent still.
    fn summary(&mut self, message: Message) -> Action {
        self.entries.retain(|it| it.is_sent);
        Action::Hide(HideStep {
            kind: HideKind::Compaction,
            cover: Cover::Everything,
            keep: self.entries.iter().map(|it| it.entry).collect(),
            parts: Vec::new(),
            replacements: vec![(None, message)],
            moment: Moment::Here,
        })
    }

    /// Hides the last entries, where they are not sent.
    fn hide(&mut self) -> Result<()> {
        let first = self.entries.len() - std::mem::take(&mut self.hidden);
        let run = self.entries.split_off(first);
        let (Some(from), Some(to)) = (run.first(), run.last()) else {
            return Ok(());
        };
        let hide = HideStep {
            kind: HideKind::Drop,
            cover: Cover::Range(from.entry, to.entry),
            keep: Vec::new(),
            parts: Vec::new(),
            replacements: Vec::new(),
            moment: Moment::Here,
        };
        self.step(Action::Hide(hide), None, to.record)
    }

    fn step(&mut self, action: Action, time: Option<Millis>, record: Span) -> Result<()> {
        self.steps += 1;
        self.sink.step(Step {
            time,
            ..Step::new(action, record)
        })
    }

    fn finish(mut self) -> Result<()> {
        self.hide()?;
        self.end.opaque_blocks = self.notes.opaque_blocks;
        self.sink.end(self.end)
    }
}

impl LineReader for Telling<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let text = record.value.get();
        if self.records == 0 && kind(text).is_none() {
            self.records += 1;
            let about: Value = serde_json::from_str(text).unwrap_or_default();
            for (key, value) in about.as_object().into_iter().flatten() {
                told(&mut self.end, key, value);
            }
            self.end.other("session");
            return Ok(());
        }
        let found = match said(text, &mut self.notes) {
            Ok(found) => Some(found),
            Err(reason) => {
                self.sink.problem(Problem::new(record.line, reason))?;
                None
            }
        };
        self.take(found, record.text, &record.at)
    }
}
