//! The JSON Lines that newer versions write: a line that says which session it is, one for each message,
//! and lines that change what was said before.
//!
//! # Source
//!
//! `loadConversationRecord` in `chatRecordingService.ts` of the tool: a message takes the place of the one
//! of its id; `$set` changes what is known of the session, and its `messages` are the whole list from
//! then on; `$rewindTo` takes a message out, and all behind it, or everything where there is no such
//! message. Observed in 0.61: a process that goes on with a session says first which one, with a list of
//! the beginning alone, and then the whole list.

use serde_json::value::RawValue;

use super::about::{About, LACKING, descent_of};
use super::record::{Said, said};
use crate::error::Result;
use crate::formats::shared::list::{Change, Listed, Telling};
use crate::formats::shared::parts::{self, time};
use crate::formats::shared::records::{LineReader, Record, each_line};
use crate::formats::shared::spans::{elements_at, members};
use crate::formats::shared::teller::Teller;
use crate::formats::{Sink, Source};
use crate::wire::json::{decode, string};

lazy! {
    /// What of a line says what it is.
    pub(super) struct Head {
        rewind_to = "$rewindTo", set = "$set", id, r#type, session_id = "sessionId",
        project_hash = "projectHash", kind, start_time = "startTime", messages, last_updated = "lastUpdated",
    }
}

impl Head<'_> {
    /// Whether it says which session it is, and nothing else.
    pub(super) fn is_opening(&self) -> bool {
        string(self.session_id).is_some() && string(self.project_hash).is_some()
    }
}

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let mut lines = Lines {
        telling: Telling::new(Teller::of(source.stem, &LACKING, source.sink)),
        folder: source.folder,
        about: About::default(),
        is_beginning: false,
        parked: None,
    };
    lines.telling.teller.end.lone_surrogates = each_line(source.input, &mut lines)?;
    lines.finish()
}

struct Lines<'s> {
    telling: Telling<'s>,
    /// The name of the folder that it is in.
    folder: &'s str,
    about: About,
    /// Whether a process has begun to go on with the session.
    is_beginning: bool,
    /// The list with which it began: it counts if anything but another list follows.
    parked: Option<(Vec<Listed>, Change)>,
}

impl Lines<'_> {
    fn other(&mut self, kind: &str) {
        self.telling.teller.end.other(kind);
    }

    fn line(&mut self, record: &Record<'_>) -> Result<()> {
        let teller = &mut self.telling.teller;
        let text = record.value.get();
        let Ok(head) = serde_json::from_str::<Head<'_>>(text) else {
            return teller.problem_on(record.line, "not a record");
        };
        let span = record.span();
        teller.open_with(|start| {
            if head.is_opening() {
                let id = parts::said(head.session_id);
                start.id = id.unwrap_or(std::mem::take(&mut start.id));
                let kind = string(head.kind);
                start.descent = descent_of(&start.id, kind, head.start_time, self.folder);
            }
        })?;
        if let Some(id) = string(head.rewind_to) {
            self.begin()?;
            if !self.telling.rewind(&id, Change { span, time: None })? {
                self.other("$rewindTo");
            }
        } else if string(head.id).is_some() {
            match said(text, span, &mut teller.notes) {
                Ok(said) => self.message(said, Change { span, time: None })?,
                Err(reason) => teller.problem_on(record.line, reason)?,
            }
        } else if let Some(set) = head.set {
            self.set(record, set)?;
        } else if head.is_opening() {
            self.is_beginning = !self.telling.is_empty();
            self.members(record.value);
            if head.messages.is_some() {
                for said in self.list(record, &["messages"])? {
                    self.message(said, Change { span, time: None })?;
                }
            }
            self.other("session");
        } else {
            self.other("(no type)");
        }
        Ok(())
    }

    fn message(&mut self, said: Said, change: Change) -> Result<()> {
        self.begin()?;
        self.about.record(&said, &mut self.telling.teller.end);
        let has_steps = !said.listed.steps.is_empty();
        if self.telling.put(said.listed, change)? && has_steps {
            self.other(&format!("{} (said again)", said.kind));
        }
        Ok(())
    }

    /// What is known of the session changes, and perhaps its list.
    fn set(&mut self, record: &Record<'_>, set: &RawValue) -> Result<()> {
        self.members(set);
        let head = decode::<Head<'_>>(Some(set)).unwrap_or_default();
        let list = head.messages.map(RawValue::get);
        if list.is_some_and(|list| list.starts_with('[')) {
            let change = Change {
                span: record.span(),
                time: time(head.last_updated),
            };
            let list = self.list(record, &["$set", "messages"])?;
            let list = list.into_iter().map(|said| said.listed).collect();
            if self.is_beginning && self.parked.is_none() {
                self.parked = Some((list, change))
            } else {
                (self.is_beginning, self.parked) = (false, None);
                self.telling.replace(list, change)?;
            }
        }
        self.other("$set");
        Ok(())
    }

    /// The process that goes on with the session has done so: the list with which it began counts.
    fn begin(&mut self) -> Result<()> {
        self.is_beginning = false;
        match self.parked.take() {
            Some((list, change)) => self.telling.replace(list, change),
            None => Ok(()),
        }
    }

    fn members(&mut self, object: &RawValue) {
        let text = object.get();
        for (key, at) in members(text.as_bytes(), 0).0 {
            let value = text.get(at);
            let value = value.and_then(|text| serde_json::from_str(text).ok());
            let end = &mut self.telling.teller.end;
            self.about.member(&key, value, end);
        }
    }

    /// The messages of the list that stands in a record at this path.
    fn list(&mut self, record: &Record<'_>, path: &[&str]) -> Result<Vec<Said>> {
        let (text, mut list) = (&record.text, Vec::new());
        for at in elements_at(text.bytes, record.at.start, path) {
            let Teller {
                sink, end, notes, ..
            } = &mut self.telling.teller;
            let span = text.span(&at);
            let read = |raw: &RawValue| said(raw.get(), span, notes);
            // The line's have been counted.
            let mut counted = 0;
            if let Some(said) = text.message(&at, &mut counted, *sink, read)? {
                self.about.listed(&said, end);
                list.push(said);
            }
        }
        Ok(list)
    }

    fn finish(mut self) -> Result<()> {
        self.telling.teller.open()?;
        // A process that was broken off had perhaps said no more than a beginning of what there is.
        if let Some((list, change)) = self.parked.take()
            && !self.telling.begins_with(&list)
        {
            self.telling.replace(list, change)?;
        }
        self.telling.settle()?;
        let mut teller = self.telling.teller;
        teller.end.cwd = self.about.cwd();
        teller.close()
    }
}

impl LineReader for Lines<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.telling.teller.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        self.line(&record)
    }
}
