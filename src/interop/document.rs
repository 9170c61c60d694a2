//! Sessions that are one object: a list of records, and beside it what is known of the session.
//!
//! Deliberately absent: what a member or a record says; each format reads its own. Files with many sessions
//! ([`super::conversations`]), and trees ([`super::ways`]).

use std::ops::{Deref, DerefMut, Range};

use serde_json::value::RawValue;

use super::records::{Held, Text};
use super::spans::{Broken, elements, members};
use super::teller::Teller;
use super::{ImportOptions, Input, Sink, Step, StepEntry};
use crate::error::Result;
use crate::model::{Message, Millis, Usage};
use crate::wire::Notes;
use crate::wire::json::string;

/// How a format's object is read; what is known on the way.
pub(super) trait Document: Default {
    /// The member with the records.
    const RECORDS: &'static str;
    /// What the object lacks of what the model was sent.
    const LACKING: &'static [&'static str] = &["system prompt", "tool definitions"];

    /// A member beside the records; false where it is not read.
    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool;

    /// What is told before the records: the session, where no record says which it is.
    #[allow(unused_variables)]
    fn begin(&mut self, records: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.open()
    }

    /// A record.
    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()>;

    /// What is told behind the records.
    #[allow(unused_variables)]
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        Ok(())
    }
}

/// A member of an object.
pub(super) struct Member<'m> {
    pub(super) key: &'m str,
    pub(super) raw: &'m RawValue,
    pub(super) at: &'m Range<usize>,
}

impl Member<'_> {
    /// Its text, where it is one and not empty.
    pub(super) fn word(&self) -> Option<String> {
        string(Some(self.raw)).filter(|word| !word.is_empty())
    }
}

/// Reads a session.
pub(super) fn import<D: Document>(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let (mut document, mut records) = (D::default(), Vec::new());
    let teller = Teller::of(options.stem, D::LACKING, sink);
    let mut teller = ObjectTeller::of(text, teller);
    for (key, at) in keys {
        if key == D::RECORDS {
            let (found, torn) = elements(text.bytes, at.start);
            records = found;
            broken = torn.or(broken);
        } else if let Ok((raw, lone)) = text.decode(&at) {
            let member = Member {
                key: &key,
                raw: &raw,
                at: &at,
            };
            let is_read = document.member(&member, &mut teller);
            teller.end.lone_surrogates += if is_read { lone } else { 0 };
        }
    }
    document.begin(&records, &mut teller)?;
    for (number, at) in records.iter().enumerate() {
        teller.next = records.get(number + 1).cloned();
        document.record(at, &mut teller)?;
    }
    document.finish(&mut teller)?;
    teller.close(&held, broken, records.len() as u64)
}

/// What tells a sink of a document.
pub(super) struct ObjectTeller<'t, 's> {
    pub(super) text: Text<'t>,
    /// Where the record behind the one that is read stands.
    pub(super) next: Option<Range<usize>>,
    teller: Teller<'s>,
}

impl<'s> Deref for ObjectTeller<'_, 's> {
    type Target = Teller<'s>;

    fn deref(&self) -> &Teller<'s> {
        &self.teller
    }
}

impl DerefMut for ObjectTeller<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.teller
    }
}

impl<'t, 's> ObjectTeller<'t, 's> {
    pub(super) fn of(text: Text<'t>, teller: Teller<'s>) -> Self {
        Self {
            text,
            next: None,
            teller,
        }
    }

    /// Tells that the session ends, and what is wrong behind its so many records.
    pub(super) fn close(self, held: &Held, broken: Option<Broken>, records: u64) -> Result<()> {
        let teller = self.teller;
        held.end(broken, teller.sink)?;
        teller.sink.progress(self.text.bytes.len() as u64, records);
        teller.close()
    }

    /// Reads a record, which must be an object; none where that cannot be, which is told.
    pub(super) fn read<T>(
        &mut self,
        at: &Range<usize>,
        read: impl FnOnce(&RawValue, &mut Notes) -> Result<T, String>,
    ) -> Result<Option<T>> {
        let Teller {
            sink, end, notes, ..
        } = &mut self.teller;
        let read = |raw: &RawValue| read(raw, notes);
        self.text.message(at, &mut end.lone_surrogates, *sink, read)
    }

    pub(super) fn problem(&mut self, at: &Range<usize>, reason: impl Into<String>) -> Result<()> {
        let problem = self.text.problem(at.start, reason);
        self.teller.sink.problem(problem)
    }

    /// Tells of a message at the end, by a record.
    pub(super) fn append(
        &mut self,
        message: Message,
        at: &Range<usize>,
        time: Option<Millis>,
        usage: Option<Usage>,
    ) -> Result<StepEntry> {
        self.teller.pair(&message, self.text, at)?;
        self.teller.step(Step {
            time,
            usage,
            ..Step::append(message, self.text.span(at))
        })
    }
}
