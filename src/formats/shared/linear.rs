//! Sessions whose lines follow one another: each is one message, or none.
//!
//! Deliberately absent: what a line says; each format reads its own.

use crate::error::Result;
use crate::formats::shared::continuation::Plain;
use crate::formats::shared::records::{LineReader, Record, each_line, each_line_from};
use crate::formats::shared::teller::Teller;
use crate::formats::{Midway, Sink, Source, Step};
use crate::model::{Message, Millis};
use crate::wire::Notes;

/// What a line says.
#[derive(Default)]
pub(in crate::formats) struct Line {
    /// What it is called where it is no message.
    pub(in crate::formats) kind: String,
    pub(in crate::formats) message: Option<Message>,
    pub(in crate::formats) time: Option<Millis>,
    /// What it says of the session.
    pub(in crate::formats) id: Option<String>,
    pub(in crate::formats) title: Option<String>,
    pub(in crate::formats) cwd: Option<String>,
}

/// How a format's lines are read, and what they lack of what the model was sent.
pub(in crate::formats) struct Linear {
    pub(in crate::formats) line: fn(&str, &mut Notes) -> Result<Line, String>,
    pub(in crate::formats) lacking: &'static [&'static str],
}

impl Linear {
    /// Reads a session.
    pub(in crate::formats) fn import(&self, source: Source<'_>) -> Result<()> {
        let mut reader = self.reader(source.stem, source.sink);
        reader.teller.end.lone_surrogates = each_line(source.input, &mut reader)?;
        reader.teller.close()
    }

    /// Goes on from the middle.
    pub(in crate::formats) fn go_on(&self, source: Source<'_>, from: Midway<'_>) -> Result<bool> {
        let mut found = Plain::of(source.sink);
        let mut reader = self.reader(from.id, &mut found);
        // Which session it is has been said.
        reader.teller.open()?;
        reader.teller.end.lone_surrogates = each_line_from(source.input, from.offset, &mut reader)?;
        reader.teller.close()?;
        Ok(found.is_plain)
    }

    /// A session that is called so where its first line says no id.
    fn reader<'a>(&self, id: &str, sink: &'a mut dyn Sink) -> Reader<'a> {
        Reader {
            read: self.line,
            teller: Teller::of(id, self.lacking, sink),
        }
    }
}

struct Reader<'a> {
    read: fn(&str, &mut Notes) -> Result<Line, String>,
    teller: Teller<'a>,
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.teller.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let text = record.value.get();
        let teller = &mut self.teller;
        let line = if text.starts_with('{') {
            (self.read)(text, &mut teller.notes)
        } else {
            Err("not a record".to_owned())
        };
        let line = match line {
            Ok(line) => line,
            Err(reason) => {
                teller.open()?;
                return teller.problem_on(record.line, reason);
            }
        };
        if let Some(id) = line.id.filter(|id| !id.is_empty()) {
            teller.start.id = id;
        }
        teller.open()?;
        teller.end.title = teller.end.title.take().or(line.title);
        teller.end.cwd = teller.end.cwd.take().or(line.cwd);
        let Some(message) = line.message else {
            teller.end.other(line.kind);
            return Ok(());
        };
        let step = Step::append(message, record.span());
        teller.step(step.at(line.time)).map(drop)
    }
}
