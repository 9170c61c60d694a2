//! The importer: the messages of a conversation as steps, and what the agent does not see any more.

use std::ops::Range;

use serde_json::Value;

use super::record::{Kind, Said, kind, said};
use super::{MESSAGES, is_document};
use crate::error::Result;
use crate::formats::shared::document::{self, Document, Member, ObjectTeller};
use crate::formats::shared::records::{LineReader, Record, Text, each_line};
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, Cover, HideStep, SessionEnd, Sink, Source, Step, StepEntry};
use crate::model::{HideKind, Message, Role, Span};

pub(super) fn import(source: Source<'_>) -> Result<()> {
    if source.begins(is_document)? {
        document::import::<Session>(source)
    } else {
        lines(source)
    }
}

/// Reads a session of lines.
fn lines(source: Source<'_>) -> Result<()> {
    let mut kinds = Kinds(Vec::new());
    each_line(source.input, &mut kinds)?;
    let mut lines = Lines {
        session: Session::default(),
        teller: Teller::of(source.stem, Session::LACKING, source.sink),
    };
    lines.session.fates = plan(&kinds.0);
    lines.teller.open()?;
    lines.teller.end.lone_surrogates = each_line(source.input, &mut lines)?;
    lines.session.hide(&mut lines.teller)?;
    lines.teller.close()
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
fn told(end: &mut SessionEnd, key: &str, word: Option<String>) {
    match (key, word) {
        ("name", Some(name)) => end.title = Some(name),
        // Older versions call it so.
        ("description", Some(title)) if end.title.is_none() => end.title = Some(title),
        ("working_dir", Some(place)) => end.cwd = Some(place),
        _ => {}
    }
}

/// An entry that is not hidden.
struct Entry {
    entry: StepEntry,
    is_sent: bool,
    record: Span,
}

/// A session, and what of it is not hidden.
#[derive(Default)]
struct Session {
    fates: Vec<Fate>,
    /// How many records were told.
    records: usize,
    entries: Vec<Entry>,
    /// How many of the last entries are to be hidden together.
    hidden: usize,
}

impl Document for Session {
    const RECORDS: &'static str = MESSAGES;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id", Some(id)) => teller.start.id = id,
            ("parent_session_id", Some(id)) => teller.start.descent.spawned_by = Some(id),
            (key, word) => told(&mut teller.end, key, word),
        }
        false
    }

    fn begin(&mut self, records: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let of = |at: &Range<usize>| kind(teller.text.decode(at).ok()?.0.get());
        let kinds: Vec<Option<Kind>> = records.iter().map(of).collect();
        self.fates = plan(&kinds);
        teller.open()
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let found = teller.read(at, |raw, notes| said(raw.get(), notes))?;
        let text = teller.text;
        self.take(found, text, at, teller)
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        self.hide(teller)
    }
}

impl Session {
    /// The next record; none that could not be read.
    fn take(
        &mut self,
        said: Option<Said>,
        text: Text<'_>,
        at: &Range<usize>,
        teller: &mut Teller<'_>,
    ) -> Result<()> {
        let fate = self.fates.get(self.records).copied();
        let fate = fate.unwrap_or(Fate::Sent);
        self.records += 1;
        let Some(said) = said else {
            return Ok(());
        };
        let Some(message) = said.message else {
            teller.end.other(format!("{} (not sent)", said.kind.role));
            return Ok(());
        };
        teller.pair(&message, text, at)?;
        if fate != Fate::Hidden {
            self.hide(teller)?;
        }
        let action = match fate {
            Fate::Summary if !self.entries.is_empty() => self.summary(message),
            _ => Action::Append(message),
        };
        let record = text.span(at);
        self.entries.push(Entry {
            entry: teller.step(Step::new(action, record).at(said.time))?,
            is_sent: said.kind.seen.by_agent,
            record,
        });
        self.hidden += usize::from(fate == Fate::Hidden);
        Ok(())
    }

    /// What puts a summary in place of all before it but what is sent still.
    fn summary(&mut self, message: Message) -> Action {
        self.entries.retain(|it| it.is_sent);
        let keep = self.entries.iter().map(|it| it.entry).collect();
        Action::Hide(HideStep::summary(Cover::Everything, message).keeping(keep))
    }

    /// Hides the last entries, where they are not sent.
    fn hide(&mut self, teller: &mut Teller<'_>) -> Result<()> {
        let first = self.entries.len() - std::mem::take(&mut self.hidden);
        let run = self.entries.split_off(first);
        let (Some(from), Some(to)) = (run.first(), run.last()) else {
            return Ok(());
        };
        let hide = HideStep::of(HideKind::Drop, Cover::Range(from.entry, to.entry));
        teller
            .step(Step::new(Action::Hide(hide), to.record))
            .map(drop)
    }
}

/// A session of lines.
struct Lines<'s> {
    session: Session,
    teller: Teller<'s>,
}

impl LineReader for Lines<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.teller.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let text = record.value.get();
        if self.session.records == 0 && kind(text).is_none() {
            self.session.records += 1;
            let about: Value = serde_json::from_str(text).unwrap_or_default();
            for (key, value) in about.as_object().into_iter().flatten() {
                let word = value.as_str().filter(|word| !word.is_empty());
                told(&mut self.teller.end, key, word.map(str::to_owned));
            }
            self.teller.end.other("session");
            return Ok(());
        }
        let found = match said(text, &mut self.teller.notes) {
            Ok(found) => Some(found),
            Err(reason) => {
                self.teller.problem_on(record.line, reason)?;
                None
            }
        };
        self.session
            .take(found, record.text, &record.at, &mut self.teller)
    }
}
