//! A live source: bytes in, as they come, and events out.

use super::reader::EventReader;
use crate::error::Result;
use crate::formats::shared::records::{LineReader, Record, each_line};
use crate::formats::{Format, Sink};
use crate::tree::Event;

/// Reads a stream while it comes. However its bytes are split into reads, the events are the same.
pub struct EventStream {
    reader: Box<dyn EventReader>,
    /// What came of a line that is not complete.
    rest: Vec<u8>,
    /// How many lines were read.
    lines: u64,
    session: Option<String>,
}

impl EventStream {
    /// Of a format whose records are events; none of any other.
    pub fn of(format: &Format) -> Option<Self> {
        Some(Self {
            reader: format.events?(),
            rest: Vec::new(),
            lines: 0,
            session: None,
        })
    }

    /// The events that these bytes complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                events.extend(self.line());
            }
        }
        events
    }

    /// The events of what is left when nothing more will come.
    pub fn finish(&mut self) -> Vec<Event> {
        if self.rest.is_empty() {
            Vec::new()
        } else {
            self.line()
        }
    }

    /// The events of one kept record.
    pub fn record(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.rest = bytes.to_vec();
        self.line()
    }

    /// The id of the session, where a record has told it.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// How many bytes have come of a line that is not complete.
    pub fn pending_bytes(&self) -> usize {
        self.rest.len()
    }

    fn line(&mut self) -> Vec<Event> {
        let mut line = std::mem::take(&mut self.rest);
        // A byte order mark is one only where the stream begins.
        if self.lines > 0 && line.starts_with(b"\xef\xbb\xbf") {
            line.insert(0, b' ');
        }
        self.lines += 1;
        let mut taker = Taker {
            reader: &mut *self.reader,
            session: &mut self.session,
            events: Vec::new(),
        };
        let read = each_line(&line.as_slice(), &mut taker);
        read.expect("bytes in memory can be read, and the taker refuses nothing");
        taker.events
    }
}

struct Taker<'a> {
    reader: &'a mut dyn EventReader,
    session: &'a mut Option<String>,
    events: Vec<Event>,
}

/// What is wrong with a line is for whoever imports it to say.
impl Sink for Taker<'_> {}

impl LineReader for Taker<'_> {
    fn may_be_sent(&self) -> bool {
        true
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let told = self.reader.read(record.value);
        if self.session.is_none() {
            *self.session = told.session;
        }
        let time = told.time;
        let dated = told.events.into_iter().map(|event| Event {
            time: event.time.or(time),
            ..event
        });
        self.events.extend(dated);
        Ok(())
    }
}
