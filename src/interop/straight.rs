//! Sessions whose lines follow one another: each is one message, or none.
//!
//! Deliberately absent: what a line says; each format reads its own.

use super::midway::Plain;
use super::records::{LineReader, Record, each_line, each_line_from};
use super::{ImportOptions, Input, Midway, Problem, SessionEnd, SessionStart, Sink, Step};
use crate::error::Result;
use crate::model::{Message, Millis};
use crate::wire::Notes;

/// What a line says.
#[derive(Default)]
pub(super) struct Line {
    /// What it is called where it is no message.
    pub(super) kind: String,
    pub(super) message: Option<Message>,
    pub(super) time: Option<Millis>,
    /// What it says of the session.
    pub(super) id: Option<String>,
    pub(super) title: Option<String>,
    pub(super) cwd: Option<String>,
}

/// How a format's lines are read, and what they lack of what the model was sent.
pub(super) struct Straight {
    pub(super) line: fn(&str, &mut Notes) -> Result<Line, String>,
    pub(super) lacking: &'static [&'static str],
}

impl Straight {
    /// Reads a session.
    pub(super) fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let mut reader = self.reader(options.stem, sink);
        reader.end.lone_surrogates = each_line(input, &mut reader)?;
        reader.finish()
    }

    /// Goes on from the middle.
    pub(super) fn go_on(
        &self,
        input: &dyn Input,
        from: Midway<'_>,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let mut found = Plain::of(sink);
        let mut reader = self.reader(from.id, &mut found);
        // Which session it is has been said.
        reader.open(None)?;
        reader.end.lone_surrogates = each_line_from(input, from.offset, &mut reader)?;
        reader.finish()?;
        Ok(found.is_plain)
    }

    fn reader<'a>(&self, id: &'a str, sink: &'a mut dyn Sink) -> Reader<'a> {
        Reader {
            read: self.line,
            id,
            is_told: false,
            end: SessionEnd::lacking(self.lacking),
            notes: Notes::default(),
            sink,
        }
    }
}

struct Reader<'a> {
    read: fn(&str, &mut Notes) -> Result<Line, String>,
    /// The session's id where the first line says none.
    id: &'a str,
    /// Whether the session was told.
    is_told: bool,
    end: SessionEnd,
    notes: Notes,
    sink: &'a mut dyn Sink,
}

impl Reader<'_> {
    /// Tells of the session, once.
    fn open(&mut self, id: Option<String>) -> Result<()> {
        if std::mem::replace(&mut self.is_told, true) {
            return Ok(());
        }
        let id = id.filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| self.id.to_owned());
        self.sink.session(SessionStart::new(id))
    }

    fn finish(mut self) -> Result<()> {
        self.open(None)?;
        self.end.opaque_blocks = self.notes.opaque_blocks;
        self.sink.end(self.end)
    }
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let text = record.value.get();
        let line = match text.starts_with('{') {
            true => (self.read)(text, &mut self.notes),
            false => Err("not a record".to_owned()),
        };
        let line = match line {
            Ok(line) => line,
            Err(reason) => {
                self.open(None)?;
                return self.sink.problem(Problem::new(record.line, reason));
            }
        };
        self.open(line.id)?;
        self.end.title = self.end.title.take().or(line.title);
        self.end.cwd = self.end.cwd.take().or(line.cwd);
        match line.message {
            Some(message) => self.sink.step(Step {
                time: line.time,
                ..Step::append(message, record.span())
            }),
            None => {
                self.end.other(line.kind);
                Ok(())
            }
        }
    }
}
