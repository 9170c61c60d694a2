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

use super::about::About;
use super::record::{Said, said};
use crate::error::Result;
use crate::interop::list::{Change, Listed, Telling};
use crate::interop::parts::{self, time};
use crate::interop::records::{LineReader, Record, each_line};
use crate::interop::spans::{elements_at, members};
use crate::interop::{Descent, ImportOptions, Input, Problem, SessionStart, Sink};
use crate::wire::Notes;
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

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut lines = Lines {
        telling: Telling::new(sink),
        options,
        is_told: false,
        about: About::new(),
        notes: Notes::default(),
        is_beginning: false,
        parked: None,
    };
    lines.about.end.lone_surrogates = each_line(input, &mut lines)?;
    lines.finish()
}

/// What a session's first line says of others, beside its id, by the name of the folder that it is in.
pub(super) fn descent(first_line: &str, folder: &str) -> Option<(String, Descent)> {
    let head: Head<'_> = serde_json::from_str(first_line).ok()?;
    let id = string(head.session_id).filter(|_| head.is_opening())?;
    Some((id, head.descent(folder)))
}

impl Head<'_> {
    /// A sub-agent's file is in a folder that is called as the session whose agent started it.
    fn descent(&self, folder: &str) -> Descent {
        let is_agents = string(self.kind).is_some_and(|kind| kind == "subagent");
        let parent = Some(folder).filter(|folder| is_agents && !folder.is_empty());
        Descent {
            spawned_by: parent.map(str::to_owned),
            begun: time(self.start_time),
            ..Descent::default()
        }
    }
}

struct Lines<'s> {
    telling: Telling<'s>,
    options: ImportOptions<'s>,
    /// Whether the session was told.
    is_told: bool,
    about: About,
    notes: Notes,
    /// Whether a process has begun to go on with the session.
    is_beginning: bool,
    /// The list with which it began: it counts if anything but another list follows.
    parked: Option<(Vec<Listed>, Change)>,
}

impl Lines<'_> {
    fn other(&mut self, kind: &str) {
        self.about.end.other(kind);
    }

    /// Tells of the session, once.
    fn open(&mut self, head: Option<&Head<'_>>) -> Result<()> {
        if std::mem::replace(&mut self.is_told, true) {
            return Ok(());
        }
        let opening = head.filter(|head| head.is_opening());
        let id = opening.and_then(|head| parts::said(head.session_id));
        let id = id.unwrap_or_else(|| self.options.stem.to_owned());
        self.telling.sink.session(SessionStart {
            descent: opening
                .map_or_else(Descent::default, |head| head.descent(self.options.folder)),
            ..SessionStart::new(id)
        })
    }

    fn line(&mut self, record: &Record<'_>) -> Result<()> {
        let problem = |reason: String| Problem::new(record.line, reason);
        let text = record.value.get();
        let Ok(head) = serde_json::from_str::<Head<'_>>(text) else {
            return self.sink().problem(problem("not a record".into()));
        };
        let span = record.span();
        self.open(Some(&head))?;
        if let Some(id) = string(head.rewind_to) {
            self.begin()?;
            if !self.telling.rewind(&id, Change { span, time: None })? {
                self.other("$rewindTo");
            }
        } else if string(head.id).is_some() {
            match said(text, span, &mut self.notes) {
                Ok(said) => self.message(said, Change { span, time: None })?,
                Err(reason) => self.sink().problem(problem(reason))?,
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
        self.about.record(&said);
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
        let is_list = head
            .messages
            .is_some_and(|list| list.get().starts_with('['));
        if is_list {
            let change = Change {
                span: record.span(),
                time: time(head.last_updated),
            };
            let list = self.list(record, &["$set", "messages"])?;
            let list = list.into_iter().map(|said| said.listed).collect();
            match self.is_beginning && self.parked.is_none() {
                true => self.parked = Some((list, change)),
                false => {
                    (self.is_beginning, self.parked) = (false, None);
                    self.telling.replace(list, change)?;
                }
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
            let value = text
                .get(at)
                .and_then(|text| serde_json::from_str(text).ok());
            self.about.member(&key, value);
        }
    }

    /// The messages of the list that stands in a record at this path.
    fn list(&mut self, record: &Record<'_>, path: &[&str]) -> Result<Vec<Said>> {
        let (text, mut list) = (&record.text, Vec::new());
        for at in elements_at(text.bytes, record.at.start, path) {
            let (notes, span) = (&mut self.notes, text.span(&at));
            let read = |raw: &RawValue| said(raw.get(), span, notes);
            // The line's have been counted.
            let mut counted = 0;
            let sink = &mut *self.telling.sink;
            if let Some(said) = text.message(&at, &mut counted, sink, read)? {
                self.about.listed(&said);
                list.push(said);
            }
        }
        Ok(list)
    }

    fn finish(mut self) -> Result<()> {
        self.open(None)?;
        // A process that was broken off had perhaps said no more than a beginning of what there is.
        if let Some((list, change)) = self.parked.take()
            && !self.telling.begins_with(&list)
        {
            self.telling.replace(list, change)?;
        }
        self.telling.settle()?;
        self.about.end.opaque_blocks = self.notes.opaque_blocks;
        self.telling.sink.end(self.about.finish())
    }
}

impl LineReader for Lines<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.telling.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        self.line(&record)
    }
}
