//! Histories that programs keep themselves: a list of messages, alone or in an object beside what is known of it. A file
//! holds one of these or many, and has them as one document or as lines.
//!
//! Deliberately absent: what a message says; each format reads its own.

pub(in crate::formats) mod write;

use crate::error::Result;
use crate::formats::Sink;
use crate::formats::Source;
use crate::formats::shared::chat;
use crate::formats::shared::conversations::{self, Names};
use crate::formats::shared::document::{self, Document, ObjectTeller};
use crate::formats::shared::head::{Keys, Layout, SourceHead};
use crate::formats::shared::records::{Held, LineReader, Record, each_line};
use crate::formats::shared::spans::elements;
use crate::formats::shared::teller::Teller;

/// A history. Where its messages are lines, each is told as it is read: [`Document::finish`] is not called then.
pub(in crate::formats) trait History: Document {
    /// Whether an object is a message.
    fn is_message(object: &Keys<'_>) -> bool;
}

/// Whether an object holds messages in its list.
fn holds<D: History>(object: &Keys<'_>) -> bool {
    let mut list = object.list(D::RECORDS).into_iter().flatten();
    list.any(|item| D::is_message(&item))
}

/// The record that shows such a history.
pub(in crate::formats) fn sniff<D: History>(head: &SourceHead<'_>) -> Option<usize> {
    let shows = |object: &Keys<'_>| D::is_message(object) || holds::<D>(object);
    match head.layout {
        Layout::List => head.lists(shows).then_some(0),
        Layout::Object | Layout::Lines => head.first(shows),
    }
}

/// Reads each history of a source.
pub(in crate::formats) fn import<D: History>(source: Source<'_>) -> Result<()> {
    if chat::is_lines(source.input, sniff::<D>)? {
        let mut reader = Lines::<D> {
            stem: source.stem,
            names: Names::default(),
            teller: Some(Teller::of(source.stem, D::LACKING, source.sink)),
            document: None,
        };
        let lone = each_line(source.input, &mut reader)?;
        return reader.close(lone);
    }
    let held = Held::read(source.input)?;
    let text = held.text();
    let is_list = text.bytes.get(held.start) == Some(&b'[');
    let is_one = is_list && {
        let mut found = elements(text.bytes, held.start).0.into_iter();
        found.any(|at| D::is_message(&Keys::of(text.bytes, at.start)))
    };
    if is_one {
        document::import_held::<D>(&held, source)
    } else {
        conversations::import_held::<D>(&held, source)
    }
}

/// Takes lines: all messages are one session, and each object that holds a list of them is another.
struct Lines<'s, D> {
    stem: &'s str,
    names: Names,
    /// Always there between two records.
    teller: Option<Teller<'s>>,
    /// The session of the messages, once there is one.
    document: Option<D>,
}

impl<D: History> Lines<'_, D> {
    fn close(mut self, lone: u64) -> Result<()> {
        match self.teller.take() {
            Some(mut teller) if self.document.is_some() => {
                teller.end.lone_surrogates = lone;
                teller.close()
            }
            _ => Ok(()),
        }
    }
}

impl<D: History> LineReader for Lines<'_, D> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.teller.as_mut().expect("between records").sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let mut teller = self.teller.take().expect("between records");
        let is_alone =
            self.document.is_none() && holds::<D>(&Keys::of(record.text.bytes, record.at.start));
        if is_alone {
            let stem = format!("{}/{}", self.stem, record.line);
            conversations::tell::<D>(record.text, &record.at, &stem, &mut self.names, teller.sink)?;
        } else {
            let mut line = ObjectTeller::of(record.text, teller);
            if self.document.is_none() {
                self.document.insert(D::default()).begin(&[], &mut line)?;
            }
            if let Some(document) = &mut self.document {
                document.record(&record.at, &mut line)?;
            }
            teller = line.into_teller();
        }
        self.teller = Some(teller);
        Ok(())
    }
}
